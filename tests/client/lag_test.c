// SPDX-License-Identifier: MIT
// The picture that a client shows and the one that the server rebuilds for lag compensation are
// equal, bit for bit.

#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "sim/math/vec.h"
#include "tests/kit/rig.h"
#include <cairn/server_lag.h>

// Snapshots at 20 Hz of ticks at 60.
#define SPAN 3

static void start(rig *p, cairn_client_mode mode) {
    rig_start(p, .seed = 3, .recorded = true);
    cairn_client_config config = cairn_client_config_default();
    assert_int_equal(rig_join(p, &config, NULL), ALICE);
    config.mode = mode;
    config.spectator = true;
    config.interpolation_exact = true;
    assert_int_equal(rig_join(p, &config, NULL), BOB);
    rig_run_ms(p, 1000);
}

static void enable_lag(const rig *p, uint32_t history_ms) {
    assert_int_equal(
        cairn_server_lag_enable(p->system.server, CAIRN_ROOM_MAIN, history_ms), CAIRN_LAG_SHOWN);
}

static cairn_lag_refusal lag_world(
    const rig *p, const cairn_view_time *view_time, const cairn_world **out) {
    return cairn_server_lag_world(p->system.server, CAIRN_ROOM_MAIN, view_time, out);
}

static void expect_same_bodies(const cairn_world *world, const rig_view *client) {
    assert_int_equal(cairn_world_counts_read(world).bodies, client->sample.body_count);
    for (uint32_t i = 0; i < client->sample.body_count; ++i) {
        const cairn_client_body *seen = &client->bodies[i];
        cairn_body_state body;
        assert_int_equal(cairn_body_read(world, seen->id, &body), CAIRN_OK);
        const float shown[7] = {body.position.x, body.position.y, body.position.z, body.rotation.x,
            body.rotation.y, body.rotation.z, body.rotation.w};
        for (int k = 0; k < 7; ++k) {
            const float expected = k < 3 ? seen->position[k] : seen->rotation[k - 3];
            if (!(shown[k] == expected)) {
                fail_msg("body %u, number %d", seen->id, k);
            }
        }
    }
}

// Boxes tumble while a player drives into them.
TEST("the server rebuilds the world that a client shows") {
    SCOPED(rig) p;
    start(&p, CAIRN_CLIENT_INTERPOLATE);
    enable_lag(&p, 500);
    rig_press(&p, ALICE, CAIRN_SANDBOX_SPAWN | CAIRN_SANDBOX_PUSH, 1.0f);
    rig_run_ms(&p, 300);
    for (int i = 0; i < 40; ++i) {
        const uint32_t throws = i % 4 == 0 ? CAIRN_SANDBOX_THROW : 0u;
        rig_press(&p, ALICE, throws, 1.0f);
        rig_run_ms(&p, 26);
        assert_true(rig_look(&p, BOB));
        assert_false(p.views[BOB].sample.extrapolated);
        const double shown_tick = p.views[BOB].sample.tick;
        const uint64_t from = (uint64_t)shown_tick / SPAN * SPAN;
        const cairn_view_time view_time = {.tick = from,
            .span = SPAN,
            .fraction = (float)((shown_tick - (double)from) / SPAN),
            .rounded = true};
        const cairn_hash128 before = cairn_world_hash_read(rig_server_world(&p)).full;
        const cairn_world *world;
        assert_int_equal(lag_world(&p, &view_time, &world), CAIRN_LAG_SHOWN);
        expect_same_bodies(world, &p.views[BOB]);
        assert_true(cairn_hash_equal(cairn_world_hash_read(rig_server_world(&p)).full, before));
    }
}

TEST("the server estimates the tick that a client shows to 1.5 ticks") {
    static const cairn_client_mode modes[] = {CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP};
    for (size_t m = 0; m < 2; ++m) {
        SCOPED(rig) p;
        start(&p, modes[m]);
        rig_run_ms(&p, 4000);
        for (int i = 0; i < 30; ++i) {
            rig_run_ms(&p, 14);
            assert_true(rig_look(&p, BOB));
            cairn_view_time view_time;
            assert_int_equal(cairn_server_lag_view_time_estimate(
                                 p.system.server, BOB, rig_server_now_ns(&p), &view_time),
                CAIRN_LAG_SHOWN);
            const double estimate =
                (double)view_time.tick + (double)view_time.fraction * view_time.span;
            EXPECT_NEAR(estimate, p.views[BOB].sample.tick, 1.5);
        }
    }
}

TEST("before all that is held the server estimates the oldest picture, and after it the newest") {
    static const cairn_client_mode modes[] = {CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP};
    for (size_t m = 0; m < 2; ++m) {
        SCOPED(rig) p;
        start(&p, modes[m]);
        const uint64_t newest = cairn_world_tick(rig_server_world(&p));
        const uint64_t moments_ns[] = {0, rig_server_now_ns(&p) + 3600 * CAIRN_NS_PER_S};
        for (size_t i = 0; i < 2; ++i) {
            cairn_view_time view_time;
            assert_int_equal(cairn_server_lag_view_time_estimate(
                                 p.system.server, BOB, moments_ns[i], &view_time),
                CAIRN_LAG_SHOWN);
            assert_int_equal(view_time.span, 1);
            assert_true(view_time.fraction == 0.0f);
            assert_true(i == 0 ? view_time.tick < newest : view_time.tick + SPAN >= newest);
            assert_true(m == 0 || view_time.tick == (i == 0 ? 0 : newest));
        }
    }
}

// No input changes between the sample and the report about it.
TEST("a client reports the picture that it shows, bit for bit") {
    static const cairn_client_mode modes[] = {CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP};
    for (size_t m = 0; m < 2; ++m) {
        SCOPED(rig) p;
        start(&p, modes[m]);
        cairn_view_time view_time;
        assert_int_equal(cairn_server_lag_view_time_reported(p.system.server, BOB, &view_time),
            CAIRN_LAG_NOT_REPORTED);
        enable_lag(&p, 1000);
        rig_press(&p, ALICE, CAIRN_SANDBOX_THROW, 1.0f);
        rig_run_ms(&p, 500);
        for (int i = 0; i < 20; ++i) {
            rig_run_ms(&p, 37);
            assert_true(rig_look(&p, BOB));
            rig_run_ms(&p, 200);
            assert_int_equal(cairn_server_lag_view_time_reported(p.system.server, BOB, &view_time),
                CAIRN_LAG_SHOWN);
            const cairn_client_sample *shown = &p.views[BOB].sample;
            assert_true(view_time.tick == shown->tick_from);
            assert_int_equal(view_time.span, shown->span);
            assert_memory_equal(&view_time.fraction, &shown->share, sizeof view_time.fraction);
            const cairn_world *world;
            assert_int_equal(lag_world(&p, &view_time, &world), CAIRN_LAG_SHOWN);
            expect_same_bodies(world, &p.views[BOB]);
        }
    }
}

static cairn_body_id body_hit_from_above(
    rig *p, const cairn_view_time *view_time, float x, cairn_vec3 from) {
    const cairn_lag_ray ray = {.origin = vec3(x, from.y + 5.0f, from.z),
        .translation = vec3(0.0f, -5.5f, 0.0f),
        .mask = UINT32_MAX};
    cairn_ray_hit hit;
    assert_int_equal(
        cairn_server_lag_ray_cast(p->system.server, CAIRN_ROOM_MAIN, view_time, &ray, &hit),
        CAIRN_LAG_SHOWN);
    return hit.body;
}

TEST("a ray hits a moving player where another client saw it") {
    SCOPED(rig) p;
    start(&p, CAIRN_CLIENT_INTERPOLATE);
    cairn_body_state bodies[64];
    const uint32_t body_count = cairn_world_bodies(rig_server_world(&p), bodies, 64);
    const cairn_body_id player = bodies[body_count - 1].id;
    enable_lag(&p, 1000);
    rig_press(&p, ALICE, 0, -1.0f);
    rig_run_ms(&p, 1000);
    cairn_view_time view_time;
    const uint64_t now_ns = rig_server_now_ns(&p);
    assert_int_equal(
        cairn_server_lag_view_time_estimate(p.system.server, BOB, now_ns - 300000000, &view_time),
        CAIRN_LAG_SHOWN);
    const cairn_world *world;
    assert_int_equal(lag_world(&p, &view_time, &world), CAIRN_LAG_SHOWN);
    cairn_body_state past, body;
    assert_int_equal(cairn_body_read(world, player, &past), CAIRN_OK);
    assert_int_equal(cairn_body_read(rig_server_world(&p), player, &body), CAIRN_OK);
    const float then = past.position.x;
    const float now = body.position.x;
    assert_true(fabsf(now - then) > 1.0f);
    const cairn_view_time present = {
        .tick = cairn_world_tick(rig_server_world(&p)), .span = 1, .fraction = 0.0f};
    assert_int_equal(body_hit_from_above(&p, &view_time, then, body.position), player);
    assert_int_not_equal(body_hit_from_above(&p, &view_time, now, body.position), player);
    assert_int_equal(body_hit_from_above(&p, &present, now, body.position), player);
    assert_int_not_equal(body_hit_from_above(&p, &present, then, body.position), player);

    cairn_shape_def box = cairn_shape_def_default();
    cairn_shape_id touched[8];
    uint32_t count = 0;
    const cairn_lag_probe probe = {.shape = &box,
        .pose = {.position = vec3(then, body.position.y - 0.01f, body.position.z), // in the ground
            .rotation = quat_identity()},
        .mask = UINT32_MAX};
    assert_int_equal(cairn_server_lag_overlap(
                         p.system.server, CAIRN_ROOM_MAIN, &view_time, &probe, touched, 8, &count),
        CAIRN_LAG_SHOWN);
    const uint32_t at_then = count;
    assert_int_equal(cairn_server_lag_overlap(
                         p.system.server, CAIRN_ROOM_MAIN, &present, &probe, touched, 8, &count),
        CAIRN_LAG_SHOWN);
    assert_int_equal(at_then, count + 1);
}

TEST("lag compensation names and counts its refusals") {
    SCOPED(rig) p;
    start(&p, CAIRN_CLIENT_INTERPOLATE);
    const cairn_world *world;
    uint64_t counts[CAIRN_LAG_REFUSAL_COUNT];
    cairn_view_time view_time = {.tick = cairn_world_tick(rig_server_world(&p)), .span = 1};
    assert_int_equal(lag_world(&p, &view_time, &world), CAIRN_LAG_OFF);
    assert_int_equal(
        cairn_server_lag_world(p.system.server, 99, &view_time, &world), CAIRN_LAG_NO_ROOM);
    assert_int_equal(cairn_server_lag_enable(p.system.server, 99, 100), CAIRN_LAG_NO_ROOM);
    assert_int_equal(cairn_server_lag_view_time_estimate(p.system.server, 7, 0, &view_time),
        CAIRN_LAG_NO_CLIENT);
    assert_int_equal(cairn_server_lag_view_time_estimate(p.system.server, 70000, 0, &view_time),
        CAIRN_LAG_NO_CLIENT);
    assert_int_equal(
        cairn_server_lag_view_time_reported(p.system.server, 7, &view_time), CAIRN_LAG_NO_CLIENT);

    enable_lag(&p, 100);
    view_time.tick = cairn_world_tick(rig_server_world(&p));
    assert_int_equal(lag_world(&p, &view_time, &world), CAIRN_LAG_NOT_HELD);
    rig_run_ms(&p, 500);
    const uint64_t newest = cairn_world_tick(rig_server_world(&p));
    const struct {
        uint64_t tick;
        cairn_lag_refusal expected;
    } rows[] = {{newest, CAIRN_LAG_SHOWN}, {newest + 1, CAIRN_LAG_FUTURE},
        {newest - 6, CAIRN_LAG_SHOWN}, {newest - 7, CAIRN_LAG_TOO_OLD}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        view_time.tick = rows[i].tick;
        assert_int_equal(lag_world(&p, &view_time, &world), rows[i].expected);
    }
    assert_true(cairn_server_lag_counts_read(p.system.server, CAIRN_ROOM_MAIN, counts));
    assert_int_equal(counts[CAIRN_LAG_SHOWN], 2);
    assert_int_equal(counts[CAIRN_LAG_OFF], 1);
    assert_int_equal(counts[CAIRN_LAG_NOT_HELD], 1);
    assert_int_equal(counts[CAIRN_LAG_FUTURE], 1);
    assert_int_equal(counts[CAIRN_LAG_TOO_OLD], 1);
    memset(counts, 0xff, sizeof counts);
    assert_false(cairn_server_lag_counts_read(p.system.server, 99, counts));
    for (uint32_t i = 0; i < CAIRN_LAG_REFUSAL_COUNT; ++i) {
        assert_int_equal(counts[i], 0);
    }

    enable_lag(&p, 0);
    assert_int_equal(lag_world(&p, &view_time, &world), CAIRN_LAG_OFF);
}
