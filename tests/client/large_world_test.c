// SPDX-License-Identifier: MIT
// A world of nearly as many bodies as there can be: who joins late shows what has arrived, where it
// is, and at the end all of it.

#include "tests/kit/test.h"

#include <string.h>

#include "client_lib/client_probe.h"
#include "tests/kit/rig.h"

enum {
    SIDE = 255,
    COUNT = SIDE * SIDE + SIDE, // 65,280 of 65,536
    MOVED = 200,                // by each push
    PUSH_TICK = 420,
    STOP_TICK = 450,
};

// A field of bodies without shapes that rest, each with a word of its own.
static void start(cairn_world *world, void *state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT; ++i) {
        cairn_body_def def = cairn_body_def_default();
        def.position = (cairn_vec3){(float)(i % SIDE) * 3.0f, 1.0f, (float)(i / SIDE) * 3.0f};
        def.user = i;
        cairn_body_id body = 0;
        (void)cairn_body_create(world, &def, &body);
    }
}

// Some bodies go and stop.
static void step(cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    static cairn_body_state states[COUNT];
    const uint32_t tick = (uint32_t)cairn_world_tick(world);
    (void)state;
    (void)commands;
    (void)count;
    if (tick != PUSH_TICK && tick != STOP_TICK) {
        return;
    }
    const uint32_t bodies = cairn_world_bodies(world, states, COUNT);
    for (uint32_t i = 0; i < bodies; i += COUNT / MOVED) {
        const cairn_vec3 v = {tick == PUSH_TICK ? 0.5f : 0.0f, 0.0f, 0.0f};
        (void)cairn_body_set_velocity(world, states[i].id, v, (cairn_vec3){0});
    }
}

static const cairn_rules rules = {.name = "plain", .version = 1, .start = start, .step = step};

static const cairn_scene *scene(void) {
    static cairn_scene made;
    made = cairn_scene_default();
    memcpy(made.name, "field", sizeof "field");
    made.world.body_capacity = COUNT;
    made.world.shape_capacity = 1;
    made.world.contact_capacity = 1;
    made.world.gravity = (cairn_vec3){0};
    made.world.tick_rate_hz = 60;
    return &made;
}

static void configure(cairn_server_config *config) {
    config->first_room.rules = &rules;
}

static const cairn_snapshot *newest(const rig *r) {
    return cairn_snapshots_newest(cairn_client_probe_of(rig_client(r, 0)).snapshots);
}

// How many bodies the client shows; each is where the server's is, to a step.
static uint32_t expect_true(const rig *r) {
    static cairn_body_state states[COUNT];
    const cairn_snapshot *snapshot = newest(r);
    const cairn_quantisation q = cairn_quantisation_default();
    const uint32_t count = cairn_world_bodies(rig_server_world(r), states, COUNT);
    assert_int_equal(count, COUNT);
    if (snapshot == NULL) {
        return 0;
    }
    for (uint32_t i = 0; i < snapshot->body_count; ++i) {
        const cairn_snapshot_body *body = &snapshot->bodies[i];
        assert_true(body->user < COUNT);
        const cairn_body_state *state = &states[body->user];
        const cairn_pose pose = {state->position, state->rotation};
        const cairn_quantised_body at = cairn_quantise(&q, pose);
        const cairn_pose shown = cairn_dequantise(&q, &at);
        assert_int_equal(body->id, state->id);
        assert_memory_equal(&shown.position, &body->position, sizeof shown.position);
        assert_memory_equal(&shown.rotation, &body->rotation, sizeof shown.rotation);
    }
    return snapshot->body_count;
}

TEST("who joins a world of 65,280 bodies late shows what has arrived, and then all of it") {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    config.bodies_max = COUNT;
    const cairn_virtual_path path = {.delay_ns = 40000000, .loss_permille = 20};
    RIG(r, .seed = 3, .unwatched = true, .scene = scene(), .configure = configure);
    rig_run_ms(&r, 1000);
    rig_join(&r, &config, &path);
    uint32_t shown = 0, times_grown = 0;
    while (cairn_world_tick(rig_server_world(&r)) < PUSH_TICK - 10) {
        rig_run_ms(&r, 100);
        const uint32_t now = expect_true(&r);
        assert_true(now >= shown);
        times_grown += now > shown ? 1 : 0;
        shown = now;
    }
    assert_int_equal(shown, COUNT);
    assert_in_range(times_grown, 5, 100);
    rig_run_ms(&r, 3000); // some move, and stand again
    assert_int_equal(expect_true(&r), COUNT);
    expect_playing(&r, 0);
    print_message("parts %u, grown %u times\n",
        (unsigned)rig_server_statistics(&r).total.parts_sent, (unsigned)times_grown);
}
