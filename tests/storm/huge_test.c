// SPDX-License-Identifier: MIT
// Storms over worlds of more bodies than a snapshot has: they arrive in parts, through losses, cuts
// and restarts, and in quiescence each client holds all that it is owed.
#include "tests/kit/test.h"

#include <string.h>

#include "schema/scene.h"
#include <cairn/rules.h>
#include <cairn/sim.h>
#include <cairn/storm.h>

enum {
    SIDE = 131,
    COUNT = SIDE * SIDE, // 17,161; a keyframe has 16,384 at most
    PUSHED_EVERY = 70,   // bodies
    PUSH_TICKS = 40,     // they go for half of this, and rest
};

// A field of bodies without shapes.
static void start(cairn_world *world, void *state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT; ++i) {
        cairn_body_def def = cairn_body_def_default();
        def.position = (cairn_vec3){(float)(i % SIDE) * 2.0f, 1.0f, (float)(i / SIDE) * 2.0f};
        def.user = i;
        cairn_body_id body = 0;
        (void)cairn_body_create(world, &def, &body);
    }
}

static void step(cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    static cairn_body_state states[COUNT];
    const uint64_t tick = cairn_world_tick(world);
    (void)state;
    (void)commands;
    (void)count;
    if (tick % (PUSH_TICKS / 2) != 0) {
        return;
    }
    const cairn_vec3 v = {tick % PUSH_TICKS == 0 ? 1.0f : 0.0f, 0.0f, 0.0f};
    const uint32_t bodies = cairn_world_bodies(world, states, COUNT);
    for (uint32_t i = (uint32_t)(tick / PUSH_TICKS % PUSHED_EVERY); i < bodies; i += PUSHED_EVERY) {
        (void)cairn_body_set_velocity(world, states[i].id, v, (cairn_vec3){0});
    }
}

static const cairn_rules field = {.name = "field", .version = 1, .start = start, .step = step};

static cairn_storm_report run(uint64_t seed, uint32_t view_permille) {
    static cairn_scene scene;
    scene = cairn_scene_default();
    memcpy(scene.name, "field", sizeof "field");
    scene.world.body_capacity = COUNT;
    scene.world.shape_capacity = 1;
    scene.world.contact_capacity = 1;
    scene.world.gravity = (cairn_vec3){0};
    cairn_storm_config config = cairn_storm_config_default();
    config.seed = seed;
    config.seconds = 24;
    config.rules = &field;
    config.scene = &scene;
    config.tick_rate_hz = 15; // the oracle keeps so many bodies for three seconds
    config.modes = 1u << CAIRN_CLIENT_INTERPOLATE;
    config.client_slots = 2;
    config.bottleneck_permille = 0;
    config.view_permille = view_permille;
    cairn_storm_report report;
    assert_true(cairn_storm_run(&config, &report));
    print_message("seed %u: %u samples, %u views: %s\n", (unsigned)seed,
        (unsigned)report.view_samples_compared, (unsigned)report.views_compared, report.words);
    assert_int_equal(report.finding, CAIRN_STORM_FOUND_NOTHING);
    return report;
}

TEST("a world of more bodies than a snapshot has arrives whole") {
    uint64_t samples = 0;
    uint64_t views = 0;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        const cairn_storm_report report = run(seed, 0);
        samples += report.view_samples_compared;
        views += report.views_compared;
    }
    assert_true(samples > 3 * COUNT && views > 10);
}

TEST("of a large world a client is sent what it can afford") {
    uint64_t samples = 0;
    for (uint64_t seed = 1; seed <= 2; ++seed) {
        samples += run(seed, 1000).view_samples_compared;
    }
    assert_true(samples > 10000);
}
