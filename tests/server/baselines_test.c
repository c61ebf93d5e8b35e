// SPDX-License-Identifier: MIT
// The snapshots that are kept for deltas get more room as the world grows.
#include "tests/kit/test.h"

#include "base/random.h"
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
    assert_true(cairn_baselines_take(baselines, world, &no_shapes, NULL));
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

TEST("the snapshots around a tick are found wherever in the ring they are") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = CAPACITY;
    cairn_world *world = NULL;
    cairn_baselines *baselines = NULL;
    const cairn_baseline *before, *after;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &baselines), CAIRN_OK);
    for (uint32_t n = 0; n < 2 * (COUNT + 3); ++n) {
        const uint32_t taken = n % (COUNT + 3) + 1;
        if (taken == 1) {
            cairn_baselines_forget(baselines); // the next one lies in the middle of the ring
        }
        take(baselines, world, 1);
        const uint64_t newest = cairn_world_tick(world);
        const uint64_t oldest = newest + 1 - (taken < COUNT ? taken : COUNT);
        for (uint64_t tick = oldest; tick <= newest; ++tick) {
            cairn_baselines_around(baselines, (double)tick + 0.5, &before, &after);
            assert_int_equal(before->frame.tick, tick);
            assert_true(tick < newest ? after->frame.tick == tick + 1 : after == NULL);
        }
        cairn_baselines_around(baselines, (double)oldest - 0.5, &before, &after);
        assert_null(before);
        assert_int_equal(after->frame.tick, oldest);
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

// ------------------------------------------------------------------------- what a watch leaves out

static bool out_of_memory;

// Replaces that of compress (CMakeLists.txt).
cairn_status __real_cairn_snapshot_frame_create(cairn_snapshot_frame *frame, uint32_t capacity);
cairn_status __wrap_cairn_snapshot_frame_create(cairn_snapshot_frame *frame, uint32_t capacity);
cairn_status __wrap_cairn_snapshot_frame_create(cairn_snapshot_frame *frame, uint32_t capacity) {
    *frame = (cairn_snapshot_frame){.capacity = 0};
    return out_of_memory ? CAIRN_OUT_OF_MEMORY
                         : __real_cairn_snapshot_frame_create(frame, capacity);
}

// Two rings of snapshots of one world: by a watch, and by reading all of it.
typedef struct twins {
    cairn_world *world;
    cairn_watch *watch;
    cairn_room_shapes shapes;
    cairn_baselines *watched, *whole;
    cairn_random random;
    cairn_body_id ground, point, statue; // the second without a shape, the others static
} twins;

static cairn_body_id drop_box(cairn_world *world, float x, float y) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def box = cairn_shape_def_default();
    cairn_body_id body = 0;
    cairn_shape_id shape;
    def.position = (cairn_vec3){x, y, 0.0f};
    box.kind = CAIRN_SHAPE_BOX;
    box.half_extents = (cairn_vec3){0.5f, 0.5f, 0.5f};
    if (cairn_body_create(world, &def, &body) == CAIRN_OK) {
        assert_int_equal(cairn_shape_create(world, body, &box, &shape), CAIRN_OK);
    }
    return body;
}

// A body without a shape goes, and another one has its place.
static void exchange_point(twins *t) {
    const cairn_body_def def = cairn_body_def_default();
    (void)cairn_body_destroy(t->world, t->point);
    assert_int_equal(cairn_body_create(t->world, &def, &t->point), CAIRN_OK);
}

static void start_twins(twins *t, uint32_t boxes) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = CAPACITY;
    def.shape_capacity = 2 * CAPACITY;
    const cairn_quantisation quantisation = cairn_quantisation_default();
    *t = (twins){.random = cairn_random_of(5)};
    assert_int_equal(cairn_world_create(&def, &t->world), CAIRN_OK);
    cairn_body_def ground = cairn_body_def_default();
    cairn_shape_def plane = cairn_shape_def_default();
    cairn_shape_id shape;
    ground.kind = CAIRN_BODY_STATIC;
    plane.kind = CAIRN_SHAPE_HALF_SPACE;
    assert_int_equal(cairn_body_create(t->world, &ground, &t->ground), CAIRN_OK);
    assert_int_equal(cairn_shape_create(t->world, t->ground, &plane, &shape), CAIRN_OK);
    for (uint32_t i = 0; i < boxes; ++i) {
        (void)drop_box(t->world, 3.0f * (float)i, 0.5f);
    }
    assert_int_equal(cairn_body_create(t->world, &ground, &t->statue), CAIRN_OK);
    exchange_point(t);
    assert_int_equal(cairn_watch_create(t->world, &t->watch), CAIRN_OK);
    assert_true(cairn_room_shapes_create(def.shape_capacity, t->world, &t->shapes));
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &t->watched), CAIRN_OK);
    assert_int_equal(cairn_baselines_create(COUNT, &def, &quantisation, &t->whole), CAIRN_OK);
}

static void end_twins(twins *t) {
    cairn_baselines_destroy(t->watched);
    cairn_baselines_destroy(t->whole);
    cairn_room_shapes_destroy(&t->shapes);
    cairn_watch_destroy(t->watch);
    cairn_world_destroy(t->world);
}

static cairn_body_id any_body(twins *t) {
    static cairn_body_state states[CAPACITY];
    const uint32_t count = cairn_world_bodies(t->world, states, CAPACITY);
    return states[cairn_random_below(&t->random, count)].id;
}

static void disturb(twins *t) {
    const cairn_body_id body = any_body(t);
    const cairn_shape_def ball = cairn_shape_def_default();
    cairn_shape_id shape;
    switch (cairn_random_below(&t->random, 10)) {
    case 0:
        (void)cairn_body_apply_impulse_at_centre(
            t->world, body, (cairn_vec3){300.0f, 900.0f, 0.0f});
        break;
    case 1:
        (void)cairn_body_set_user(t->world, body, (uint32_t)cairn_world_tick(t->world));
        break;
    case 2:
        (void)cairn_body_destroy(t->world, body);
        break;
    case 3:
        (void)drop_box(t->world, 3.0f * (float)cairn_random_below(&t->random, 200), 4.0f);
        break;
    case 4: // the number of bodies stays
        (void)cairn_body_destroy(t->world, body);
        (void)drop_box(t->world, 0.0f, 20.0f);
        break;
    case 5:
        (void)cairn_shape_create(t->world, body, &ball, &shape); // its extents change
        break;
    case 6:
        (void)cairn_shape_create(t->world, t->statue, &ball, &shape);
        break;
    case 7:
        exchange_point(t);
        break;
    default:
        break;
    }
}

static void expect_same_frames(const cairn_snapshot_frame *a, const cairn_snapshot_frame *b) {
    const size_t count = a->count;
    assert_true(a->tick == b->tick);
    assert_int_equal(a->count, b->count);
    assert_memory_equal(a->ids, b->ids, count * sizeof *a->ids);
    assert_memory_equal(a->flags, b->flags, count * sizeof *a->flags);
    assert_memory_equal(a->users, b->users, count * sizeof *a->users);
    assert_memory_equal(a->poses, b->poses, count * sizeof *a->poses);
    assert_memory_equal(a->exact, b->exact, count * sizeof *a->exact);
    for (uint32_t i = 0; i < count; ++i) {
        assert_memory_equal(
            &a->bodies[i].half_extents, &b->bodies[i].half_extents, sizeof(cairn_vec3));
        assert_int_equal(a->bodies[i].leader, b->bodies[i].leader);
    }
    assert_int_equal(cairn_snapshot_frame_check(a), cairn_snapshot_frame_check(b));
}

TEST("a snapshot of what changed is that of the whole world") {
    twins t;
    start_twins(&t, 200);
    for (uint32_t n = 0; n < 900; ++n) {
        if (n > 100 && n % 5 == 0) {
            disturb(&t);
        }
        cairn_world_step(t.world, NULL, 0);
        cairn_room_shapes_update(&t.shapes, t.world);
        if (cairn_random_below(&t.random, 3) == 0) {
            continue;
        }
        // Some are read whole in between, as when a server takes over.
        cairn_watch *watch = cairn_random_below(&t.random, 16) == 0 ? NULL : t.watch;
        assert_true(cairn_baselines_take(t.watched, t.world, &t.shapes, watch));
        assert_true(cairn_baselines_take(t.whole, t.world, &t.shapes, NULL));
        const cairn_baseline *a = cairn_baselines_newest(t.watched);
        const cairn_baseline *b = cairn_baselines_newest(t.whole);
        expect_same_frames(&a->frame, &b->frame);
        if (n % 200 == 199) {
            cairn_baselines_forget(t.watched); // nobody is shown snapshots for a while
        }
    }
    end_twins(&t);
}

TEST("what changed before a snapshot that failed is in the next one") {
    enum { MORE = 60 }; // than there is room for
    cairn_body_id bodies[MORE] = {0};
    twins t;
    start_twins(&t, 100);
    for (uint32_t n = 0; n < 120; ++n) { // each frame has its room, and all sleep
        cairn_world_step(t.world, NULL, 0);
        assert_true(cairn_baselines_take(t.watched, t.world, &t.shapes, t.watch));
    }
    for (uint32_t i = 0; i < MORE; ++i) {
        bodies[i] = drop_box(t.world, 3.0f * (float)i, 9.0f);
    }
    cairn_world_step(t.world, NULL, 0);
    assert_int_equal(cairn_body_set_user(t.world, t.ground, 77), CAIRN_OK);
    out_of_memory = true;
    assert_false(cairn_baselines_take(t.watched, t.world, &t.shapes, t.watch));
    out_of_memory = false;
    for (uint32_t i = 0; i < MORE; ++i) { // as many as in the last snapshot
        (void)cairn_body_destroy(t.world, bodies[i]);
    }
    cairn_world_step(t.world, NULL, 0);
    cairn_room_shapes_update(&t.shapes, t.world);
    assert_true(cairn_baselines_take(t.watched, t.world, &t.shapes, t.watch));
    assert_true(cairn_baselines_take(t.whole, t.world, &t.shapes, NULL));
    expect_same_frames(
        &cairn_baselines_newest(t.watched)->frame, &cairn_baselines_newest(t.whole)->frame);
    end_twins(&t);
}
