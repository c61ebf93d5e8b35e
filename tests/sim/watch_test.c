// SPDX-License-Identifier: MIT
// A watch lists every body that differs from when it was asked before, in all golden scenes and
// whatever else is done to the world; and little else, so that it is worth asking.
#include "tests/sim/world_kit.h"

#include <string.h>

#include <cairn/history.h>
#include <cairn/watch.h>

#include "base/random.h"
#include "tests/sim/golden_scenes.h"

enum { BODIES_MAX = 4096, TICKS = 60 };

SCOPE_POINTER_ENDS(cairn_watch, cairn_watch_destroy)

static cairn_watch *new_watch(cairn_world *world) {
    cairn_watch *watch = NULL;
    EXPECT_OK(cairn_watch_create(world, &watch));
    return watch;
}

typedef struct look {
    uint32_t body_count;
    cairn_body_state bodies[BODIES_MAX];
    uint32_t shape_count;
    cairn_shape_id shapes[BODIES_MAX];
} look;

static void look_at(const cairn_world *world, look *out) {
    memset(out, 0, sizeof *out); // padding, too: looks are compared as bytes
    out->body_count = cairn_world_bodies(world, out->bodies, BODIES_MAX);
    out->shape_count = cairn_world_shapes(world, out->shapes, BODIES_MAX);
    assert_true(out->body_count <= BODIES_MAX && out->shape_count <= BODIES_MAX);
}

static const cairn_body_state *body_in(const look *at, cairn_body_id id) {
    for (uint32_t i = 0; i < at->body_count; ++i) {
        if (at->bodies[i].id == id) {
            return &at->bodies[i];
        }
    }
    return NULL;
}

static bool same_body(const cairn_body_state *a, const cairn_body_state *b) {
    return memcmp(&a->position, &b->position, sizeof a->position) == 0 &&
           memcmp(&a->rotation, &b->rotation, sizeof a->rotation) == 0 &&
           memcmp(&a->linear_velocity, &b->linear_velocity, sizeof a->linear_velocity) == 0 &&
           memcmp(&a->angular_velocity, &b->angular_velocity, sizeof a->angular_velocity) == 0 &&
           a->kind == b->kind && a->awake == b->awake && a->enabled == b->enabled &&
           a->owner == b->owner && a->user == b->user && a->teleports == b->teleports;
}

// Asks the watch, and compares with what two looks show.
static void expect_seen(
    const char *name, cairn_watch *watch, const cairn_world *world, look *before, look *now) {
    static cairn_body_id listed[BODIES_MAX];
    const uint32_t count = cairn_watch_bodies(watch, listed, BODIES_MAX);
    look_at(world, now);
    uint32_t next = 0;
    for (uint32_t i = 0; i < now->body_count; ++i) {
        const cairn_body_state *body = &now->bodies[i];
        const cairn_body_state *was = body_in(before, body->id);
        const bool is_listed = next < count && listed[next] == body->id;
        next += is_listed ? 1 : 0;
        if (!is_listed && (was == NULL || !same_body(was, body))) {
            fail_msg("%s, tick %u: body %u changed and is not listed", name,
                (unsigned)cairn_world_tick(world), (unsigned)body->id);
        }
    }
    assert_int_equal(next, count); // in order, and each exists
    const bool same_shapes = before->shape_count == now->shape_count &&
                             memcmp(before->shapes, now->shapes, sizeof now->shapes) == 0;
    assert_true(cairn_watch_shapes(watch) || same_shapes);
    const cairn_world_counts all = cairn_world_counts_read(world);
    const cairn_world_population few = cairn_world_population_read(world);
    assert_int_equal(few.bodies, all.bodies);
    assert_int_equal(few.bodies_awake, all.bodies_awake);
    assert_true(few.contacts >= all.contacts);
    *before = *now;
}

typedef struct play {
    cairn_world *world;
    cairn_history *history;
    kit_bytes past;
    cairn_random random;
} play;

static void move_or_set(cairn_world *world, cairn_body_id body, uint64_t drawn) {
    if (drawn == 0) {
        (void)cairn_body_apply_impulse_at_centre(world, body, vec3(4.0f, 9.0f, 0.0f));
    } else if (drawn == 1) {
        (void)cairn_body_destroy(world, body);
    } else if (drawn == 2) {
        (void)cairn_body_set_user(world, body, (uint32_t)cairn_world_tick(world));
    } else if (drawn == 3) {
        (void)cairn_body_set_awake(world, body, false);
    } else if (drawn == 4) {
        (void)cairn_body_set_enabled(world, body, cairn_world_tick(world) % 2 == 0);
    } else {
        const cairn_body_def def = cairn_body_def_default();
        (void)cairn_body_create(world, &def, &body);
    }
}

static void interfere(play *p) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(p->world, bodies, 64);
    const uint64_t drawn = cairn_random_below(&p->random, 16);
    if (drawn < 6 && count > 0) {
        const uint64_t one = cairn_random_below(&p->random, count < 64 ? count : 64);
        move_or_set(p->world, bodies[one].id, drawn);
    } else if (drawn == 6) {
        EXPECT_OK(cairn_world_load(p->world, p->past.bytes, p->past.size));
    } else if (drawn == 7) {
        SCOPED(kit_bytes) bytes = kit_encode(p->world);
        EXPECT_OK(cairn_world_decode(p->world, bytes.bytes, bytes.size, NULL));
    } else if (drawn == 8) {
        const cairn_history_statistics held = cairn_history_statistics_read(p->history);
        EXPECT_OK(cairn_history_restore(p->history, held.oldest));
    }
    if (drawn >= 12) {
        (void)cairn_world_hash_read(p->world); // it takes the same marks
    }
}

TEST("every body that changed is listed, in every golden scene") {
    static look before, now;
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        const golden_scene *scene = &golden_scenes[i];
        play p = {.world = golden_world_at(scene, 0), .random = cairn_random_of(3 + i)};
        EXPECT_OK(cairn_history_create(p.world, 8, 0, &p.history));
        p.past = kit_save(p.world);
        cairn_watch *watch = new_watch(p.world);
        memset(&before, 0, sizeof before); // the first call lists all
        for (uint32_t tick = 0; tick < TICKS; ++tick) {
            EXPECT_OK(cairn_history_save(p.history, UINT64_MAX));
            if (tick % 3 != 1) { // not after every tick
                expect_seen(scene->name, watch, p.world, &before, &now);
            }
            interfere(&p);
            if (tick % 3 == 0) { // what only an edit has written
                expect_seen(scene->name, watch, p.world, &before, &now);
            }
            golden_step(scene, p.world);
        }
        cairn_watch_destroy(watch);
        cairn_history_destroy(p.history);
        kit_free(&p.past);
        cairn_world_destroy(p.world);
    }
}

// A row of cubes on the ground, far apart; all sleep.
static cairn_world *sleeping_row(uint32_t count, cairn_body_id *bodies) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = kit_world(&def);
    (void)kit_ground(world);
    for (uint32_t i = 0; i < count; ++i) {
        bodies[i] = kit_cube(world, vec3(4.0f * (float)i, 0.5f, 0.0f));
    }
    kit_run(world, 120);
    assert_int_equal(cairn_world_population_read(world).bodies_awake, 0);
    return world;
}

TEST("where one body of many moves, it and its neighbours in memory are listed") {
    enum { COUNT = 200 };
    cairn_body_id bodies[COUNT], listed[COUNT + 1];
    SCOPED(cairn_world) *world = sleeping_row(COUNT, bodies);
    SCOPED(cairn_watch) *watch = new_watch(world);
    assert_int_equal(cairn_watch_bodies(watch, listed, COUNT + 1), COUNT + 1);
    assert_true(cairn_watch_shapes(watch));
    kit_run(world, 3);
    assert_int_equal(cairn_watch_bodies(watch, listed, COUNT + 1), 0);
    assert_false(cairn_watch_shapes(watch));
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, bodies[100], vec3(0.0f, 1.0f, 0.0f)));
    kit_run(world, 1);
    assert_in_range(cairn_watch_bodies(watch, listed, COUNT + 1), 1, 16);
    assert_int_equal(cairn_world_population_read(world).bodies_awake, 1);
    kit_run(world, 180);
    assert_in_range(cairn_watch_bodies(watch, listed, COUNT + 1), 1, 16); // it fell asleep
    assert_int_equal(cairn_watch_bodies(watch, NULL, 0), 0);
}

TEST("a platform that moves among sleepers is listed") {
    cairn_body_id bodies[100], listed[102];
    SCOPED(cairn_world) *world = sleeping_row(100, bodies);
    const cairn_body_id platform = kit_kinematic(world, vec3(0.0f, 50.0f, 0.0f), vec3_zero());
    SCOPED(cairn_watch) *watch = new_watch(world);
    kit_run(world, 2);
    (void)cairn_watch_bodies(watch, listed, 102);
    EXPECT_OK(cairn_body_set_velocity(world, platform, vec3(0.0f, 0.0f, 1.0f), vec3_zero()));
    for (uint32_t i = 0; i < 5; ++i) {
        kit_run(world, 1);
        const uint32_t count = cairn_watch_bodies(watch, listed, 102);
        assert_in_range(count, 1, 16);
        assert_int_equal(listed[count - 1], platform);
    }
}

TEST("more bodies than there is room for are counted") {
    enum { COUNT = 20 };
    cairn_body_id bodies[COUNT], listed[COUNT];
    SCOPED(cairn_world) *world = sleeping_row(COUNT, bodies);
    SCOPED(cairn_watch) *watch = new_watch(world);
    listed[5] = 0;
    assert_int_equal(cairn_watch_bodies(watch, listed, 5), COUNT + 1);
    assert_int_equal(listed[4], bodies[3]);
    assert_int_equal(listed[5], 0);
    assert_int_equal(cairn_watch_bodies(watch, listed, 5), 0);
}

TEST("a shape that comes or goes is noticed, its body's motion is not") {
    cairn_body_id body;
    cairn_shape_id shape;
    SCOPED(cairn_world) *world = sleeping_row(1, &body);
    SCOPED(cairn_watch) *watch = new_watch(world);
    cairn_shape_def def = cairn_shape_def_default();
    def.kind = CAIRN_SHAPE_SPHERE;
    def.radius = 0.5f;
    (void)cairn_watch_shapes(watch);
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, body, vec3(0.0f, 1.0f, 0.0f)));
    kit_run(world, 2);
    assert_false(cairn_watch_shapes(watch));
    EXPECT_OK(cairn_shape_create(world, body, &def, &shape));
    assert_true(cairn_watch_shapes(watch));
    assert_false(cairn_watch_shapes(watch));
    EXPECT_OK(cairn_shape_destroy(world, shape));
    assert_true(cairn_watch_shapes(watch));
    assert_false(cairn_watch_shapes(watch));
}

TEST("a world has seven watches and histories, and may be destroyed before them") {
    cairn_world *world = kit_world(NULL);
    cairn_watch *watches[CAIRN_HISTORIES_PER_WORLD_MAX];
    cairn_watch *one_more = NULL;
    for (uint32_t i = 0; i < CAIRN_HISTORIES_PER_WORLD_MAX; ++i) {
        watches[i] = new_watch(world);
    }
    assert_int_equal(cairn_watch_create(world, &one_more), CAIRN_CAPACITY);
    assert_null(one_more);
    cairn_watch_destroy(watches[0]);
    watches[0] = new_watch(world);
    assert_true(cairn_watch_is_of(watches[0], world));
    cairn_world_destroy(world);
    cairn_world *other = kit_world(NULL);
    for (uint32_t i = 0; i < CAIRN_HISTORIES_PER_WORLD_MAX; ++i) {
        assert_false(cairn_watch_is_of(watches[i], other));
        cairn_watch_destroy(watches[i]);
    }
    cairn_watch_destroy(NULL);
    cairn_world_destroy(other);
}
