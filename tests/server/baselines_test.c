// SPDX-License-Identifier: MIT
// The snapshots that are kept for deltas get more room as the world grows.
#include "tests/kit/test.h"

#include "server/replicate/snapshots.h"

#define COUNT 8
#define CAPACITY 256

// Body i of the snapshot of tick t is at x = i and y = t.
static void take(cairn_baselines *baselines, cairn_world *world, uint32_t bodies) {
    cairn_body_state states[CAPACITY];
    cairn_world_step(world, NULL, 0);
    for (uint32_t n = cairn_world_bodies(world, states, CAPACITY); n < bodies; ++n) {
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id body;
        def.gravity_scale = 0.0f;
        def.position.x = (float)n;
        assert_int_equal(cairn_body_create(world, &def, &body), CAIRN_OK);
    }
    const uint32_t count = cairn_world_bodies(world, states, CAPACITY);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_pose pose = {
            .position = {(float)i, (float)cairn_world_tick(world), 0.0f}, .rotation = {.w = 1.0f}};
        assert_int_equal(cairn_body_set_pose(world, states[i].id, pose), CAIRN_OK);
    }
    const cairn_room_shapes no_shapes = {.revision = 1};
    assert_true(cairn_baselines_take(baselines, world, &no_shapes));
}

static void expect_held(const cairn_baselines *baselines, uint64_t tick, uint32_t bodies) {
    const cairn_baseline *found = cairn_baselines_find(baselines, tick);
    assert_non_null(found);
    assert_int_equal(found->frame.count, bodies);
    for (uint32_t i = 0; i < bodies; ++i) {
        const cairn_snapshot_body body = cairn_snapshot_frame_body(&found->frame, i);
        assert_true(body.position.x == (float)i);
        assert_true(body.position.y == (float)tick);
    }
}

TEST("snapshots of a growing world keep their bodies") {
    static const uint32_t bodies[] = {1, 2, 2, 3, 40, 41, 60, 100, 100, 256, 256, 256};
    const uint32_t takes = sizeof bodies / sizeof bodies[0];
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = CAPACITY;
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &baselines), CAIRN_OK);
    for (uint32_t round = 0; round < 2; ++round) { // the second finds them wide apart, and old
        const uint64_t before = cairn_world_tick(world);
        for (uint32_t n = 1; n <= takes; ++n) {
            take(baselines, world, round == 0 ? bodies[n - 1] : CAPACITY);
            for (uint32_t k = n > COUNT ? n - COUNT + 1 : 1; k <= n; ++k) {
                expect_held(baselines, before + k, round == 0 ? bodies[k - 1] : CAPACITY);
            }
            assert_int_equal(cairn_baselines_newest(baselines)->frame.tick, before + n);
        }
        assert_null(cairn_baselines_find(baselines, before + takes - COUNT));
        cairn_baselines_forget(baselines);
        assert_null(cairn_baselines_newest(baselines));
        assert_null(cairn_baselines_find(baselines, before + takes));
    }
    cairn_baselines_destroy(baselines);
    cairn_world_destroy(world);
}

TEST("the snapshot before the newest is there from the second on") {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &baselines), CAIRN_OK);
    assert_null(cairn_baselines_before_newest(baselines));
    take(baselines, world, 3);
    assert_null(cairn_baselines_before_newest(baselines));
    for (uint32_t n = 0; n < 2 * COUNT; ++n) {
        take(baselines, world, 3);
        const cairn_baseline *before = cairn_baselines_before_newest(baselines);
        assert_non_null(before);
        assert_int_equal(before->frame.tick, cairn_world_tick(world) - 1);
    }
    cairn_baselines_destroy(baselines);
    cairn_world_destroy(world);
}

TEST("differences from evenly spaced snapshots leave the others room") {
    enum { AGES = 28 };
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    size_t size;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(AGES + 4, &def, &quantisation, &baselines), CAIRN_OK);
    (void)cairn_baselines_velocities(baselines); // wanted from now on
    for (uint32_t n = 0; n < AGES + 4; ++n) {
        take(baselines, world, 3);
        (void)cairn_baselines_velocities(baselines);
    }
    const uint64_t tick = cairn_world_tick(world);
    cairn_quantised_velocity *const velocities[2] = {NULL, cairn_baselines_velocities(baselines)};
    assert_non_null(velocities[1]);
    for (uint32_t k = 0; k < 2; ++k) {
        for (uint32_t age = 1; age <= AGES; ++age) { // the same one again, or as far before it
            const cairn_baseline *near = cairn_baselines_find(baselines, tick - age);
            const cairn_baseline *far = cairn_baselines_find(baselines, tick - 2 * age);
            const cairn_baseline *farthest = cairn_baselines_find(baselines, tick - 3 * age);
            const cairn_baseline *rows[3][3] = {
                {near, near, near}, {near, near, far}, {near, far, farthest}};
            const uint32_t count = 3 * age <= AGES ? 3 : 2 * age <= AGES ? 2 : 1;
            for (uint32_t i = 0; i < count; ++i) {
                assert_non_null(cairn_baselines_delta(baselines, rows[i], velocities[k], &size));
            }
        }
    }
    cairn_snapshots_sent sent = {0};
    const cairn_baseline *bases[3];
    cairn_snapshots_acknowledge(&sent, tick - 4);
    cairn_snapshots_acknowledge(&sent, tick - 3);
    cairn_snapshots_acknowledge(&sent, tick - 1);
    assert_true(cairn_baselines_choose(baselines, &sent, false, bases));
    assert_int_equal(bases[0]->frame.tick, tick - 1);
    assert_int_equal(bases[1]->frame.tick, tick - 3);
    assert_int_equal(bases[2]->frame.tick, tick - 4);
    cairn_baselines_destroy(baselines);
    cairn_world_destroy(world);
}

TEST("velocities are taken while somebody wants them") {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &baselines), CAIRN_OK);
    take(baselines, world, 3);
    for (uint32_t round = 0; round < 2; ++round) {
        assert_null(cairn_baselines_velocities(baselines)); // wanted from now on
        for (uint32_t i = 0; i < 3; ++i) {
            take(baselines, world, 3);
            assert_non_null(cairn_baselines_velocities(baselines));
        }
        take(baselines, world, 3); // wanted before it
        take(baselines, world, 3); // and not any more
    }
    cairn_baselines_destroy(baselines);
    cairn_world_destroy(world);
}

TEST("clients that hold the same snapshots share one difference") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = CAPACITY;
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    size_t sizes[3];
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &baselines), CAIRN_OK);
    for (uint32_t n = 0; n < 4; ++n) {
        take(baselines, world, 20);
    }
    const uint64_t tick = cairn_world_tick(world);
    const cairn_baseline *older[3] = {cairn_baselines_find(baselines, tick - 1),
        cairn_baselines_find(baselines, tick - 2), cairn_baselines_find(baselines, tick - 3)};
    const cairn_baseline *none[3] = {NULL};
    const uint8_t *first = cairn_baselines_delta(baselines, older, NULL, &sizes[0]);
    const uint8_t *whole = cairn_baselines_delta(baselines, none, NULL, &sizes[1]);
    assert_true(sizes[0] < sizes[1] && first != whole);
    assert_ptr_equal(cairn_baselines_delta(baselines, older, NULL, &sizes[2]), first);
    assert_int_equal(sizes[2], sizes[0]);
    assert_ptr_equal(cairn_baselines_delta(baselines, none, NULL, &sizes[2]), whole);
    assert_int_equal(sizes[2], sizes[1]);
    cairn_baselines_destroy(baselines);
    cairn_world_destroy(world);
}
