// SPDX-License-Identifier: MIT
// A client that asks for velocities is sent those of the simulation; another one derives them.

#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "client_lib/client_probe.h"
#include "server/core/server_state.h"
#include "tests/kit/rig.h"

enum { COUNT = 60, TICK_RATE_HZ = 60 };
#define GRAVITY (-10.0f)

// Balls fall, each with a speed and a spin of its own.
static void start(cairn_world *world, void *state) {
    (void)state;
    for (uint32_t i = 0; i < COUNT; ++i) {
        cairn_body_def def = cairn_body_def_default();
        def.position = (cairn_vec3){8.0f * (float)i, 1.0f, 0.0f};
        def.linear_velocity = (cairn_vec3){0.3f * (float)(i % 7), 2.0f, 0.05f * (float)i};
        def.angular_velocity = (cairn_vec3){0.5f * (float)(i % 4), 1.0f, 0.0f};
        def.kind = i % 10 == 9 ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC;
        cairn_shape_def ball = cairn_shape_def_default();
        cairn_body_id body = 0;
        cairn_shape_id shape = 0;
        ball.kind = CAIRN_SHAPE_SPHERE;
        (void)cairn_body_create(world, &def, &body);
        (void)cairn_shape_create(world, body, &ball, &shape);
    }
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)command_count;
}

static const cairn_rules falling = {
    .name = "falling", .version = 1, .state_size = 4, .start = start, .step = step};

static const cairn_scene *scene(void) {
    static cairn_scene made;
    made = cairn_scene_default();
    memcpy(made.name, "fall", sizeof "fall");
    made.world.body_capacity = COUNT;
    made.world.shape_capacity = COUNT;
    made.world.contact_capacity = 1;
    made.world.gravity = (cairn_vec3){0.0f, GRAVITY, 0.0f};
    made.world.tick_rate_hz = TICK_RATE_HZ;
    return &made;
}

static void whole(cairn_server_config *config) {
    config->first_room.rules = &falling;
}

static void in_parts(cairn_server_config *config) {
    config->first_room.rules = &falling;
    config->first_room.client_bytes_per_second = 20000;
    config->first_room.view_distance_m = 1e4f;
}

typedef struct errors {
    float linear, angular; // the largest, m/s and rad/s
    uint32_t moving;
} errors;

// Of the newest snapshot. The velocity at its tick follows from the present one.
static errors errors_of(const rig *r, uint32_t client) {
    const cairn_world *world = rig_server_world(r);
    const cairn_snapshot *snapshot =
        cairn_snapshots_newest(cairn_client_probe_of(rig_client(r, client)).snapshots);
    assert_non_null(snapshot);
    assert_int_equal(snapshot->body_count, COUNT);
    const float ticks = (float)(cairn_world_tick(world) - snapshot->tick);
    errors out = {0};
    for (uint32_t i = 0; i < COUNT; ++i) {
        const cairn_snapshot_body *body = &snapshot->bodies[i];
        cairn_body_state state;
        assert_int_equal(cairn_body_read(world, body->id, &state), CAIRN_OK);
        const cairn_vec3 v = body->linear_velocity;
        const cairn_vec3 w = body->angular_velocity;
        if (state.kind == CAIRN_BODY_STATIC) {
            assert_true(v.x == 0.0f && v.y == 0.0f && v.z == 0.0f && w.y == 0.0f);
            continue;
        }
        const float fallen = GRAVITY * ticks / (float)TICK_RATE_HZ;
        const float off[] = {v.x - state.linear_velocity.x,
            v.y - (state.linear_velocity.y - fallen), v.z - state.linear_velocity.z};
        for (uint32_t k = 0; k < 3; ++k) {
            out.linear = fmaxf(out.linear, fabsf(off[k]));
        }
        out.angular = fmaxf(out.angular, fabsf(w.x - state.angular_velocity.x));
        out.angular = fmaxf(out.angular, fabsf(w.y - state.angular_velocity.y));
        out.moving += 1;
    }
    return out;
}

static void play(void (*configure)(cairn_server_config *config), uint32_t loss_permille) {
    cairn_client_config config = rig_config(CAIRN_CLIENT_INTERPOLATE);
    const cairn_virtual_path path = {
        .delay_ns = 20000000, .jitter_ns = 4000000, .loss_permille = loss_permille};
    RIG(r, .seed = 5 + loss_permille, .scene = scene(), .configure = configure);
    rig_join(&r, &config, &path);
    config.velocities = true;
    rig_join(&r, &config, &path);
    rig_wait_to_play(&r);
    rig_run_ms(&r, 1500);
    uint64_t bytes[2];
    for (uint32_t i = 0; i < 20; ++i) {
        rig_run_ms(&r, 37);
        const errors derived = errors_of(&r, 0);
        const errors coded = errors_of(&r, 1);
        assert_int_equal(coded.moving, COUNT - COUNT / 10);
        // Half a step; the world sums up gravity in 32 bits.
        assert_true(coded.linear < 0.5f / 128.0f + 0.001f && coded.angular < 0.5f / 64.0f + 0.001f);
        assert_true(derived.linear > 0.05f);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        expect_playing(&r, i);
        bytes[i] = rig_statistics(&r, i).snapshots.bytes;
    }
    print_message("%u and %u bytes\n", (unsigned)bytes[0], (unsigned)bytes[1]);
    assert_true(bytes[1] > bytes[0]);
}

TEST("whole snapshots have the velocities of the simulation for a client that asks") {
    play(whole, 0);
    play(whole, 100);
}

TEST("parts of snapshots have them, too") {
    play(in_parts, 0);
}
