// SPDX-License-Identifier: MIT
// A fork and a copy continue as their original does, and independently of it.

#include "tests/sim/world_kit.h"

#include <string.h>

#include "sim/debug/poison.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"
#include "tests/sim/golden_scenes.h"

enum { TICKS_TOGETHER = 20 };

static void expect_equal(const cairn_world *a, const cairn_world *b, const char *name) {
    if (!kit_equal(a, b) ||
        !cairn_hash_equal(cairn_world_hash_fresh(a).full, cairn_world_hash_fresh(b).full)) {
        fail_msg("%s: they differ at tick %u", name, (unsigned)cairn_world_tick(a));
    }
}

static void step_both(const golden_scene *scene, cairn_world *a, cairn_world *b) {
    expect_equal(a, b, scene->name);
    for (int i = 0; i < TICKS_TOGETHER; ++i) {
        golden_step(scene, a);
        golden_step(scene, b);
        expect_equal(a, b, scene->name);
    }
}

TEST("a fork and a copy of a running scene stay equal to it") {
    for (uint32_t i = 0; i < golden_scene_count; ++i) {
        const golden_scene *scene = &golden_scenes[i];
        if (strcmp(scene->name, "field") == 0) { // too large
            continue;
        }
        SCOPED(cairn_world) *world = golden_world_at(scene, scene->ticks / 2);
        (void)kit_hash(world); // some leaves of its cache become stale in the next step
        golden_step(scene, world);
        cairn_world *fork = kit_fork(world);
        step_both(scene, world, fork);
        cairn_world_poison(fork, 0xaa);
        SCOPED(cairn_world) *again = kit_fork(fork);
        cairn_world_destroy(fork);
        step_both(scene, world, again);
        SCOPED(cairn_world) *copy = golden_create(scene);
        assert_non_null(copy);
        EXPECT_OK(cairn_world_copy(copy, world));
        step_both(scene, world, copy);
        golden_step(scene, copy);
        EXPECT_OK(cairn_world_copy(copy, world));
        step_both(scene, world, copy);
    }
}

static cairn_world *falling_spheres(void) {
    cairn_world *world = kit_world(NULL);
    kit_ground(world);
    for (int i = 0; i < 10; ++i) {
        kit_sphere(world, vec3(0.0f, 1.0f + (float)i, 0.0f), 0.5f);
    }
    kit_run(world, 30);
    return world;
}

TEST("a change of one world does not change the other") {
    cairn_world *world = falling_spheres();
    const cairn_hash128 before = kit_hash(world);
    SCOPED(cairn_world) *fork = kit_fork(world);
    EXPECT_OK(cairn_body_destroy(fork, 3));
    kit_sphere(fork, vec3(4.0f, 1.0f, 0.0f), 0.5f);
    kit_run(fork, 10);
    const cairn_hash128 forked = kit_hash(fork);
    assert_true(cairn_hash_equal(kit_hash(world), before));
    assert_false(cairn_hash_equal(forked, before));
    kit_run(world, 10);
    assert_true(cairn_hash_equal(kit_hash(fork), forked));
    cairn_world_destroy(world);
    kit_run(fork, 10);
}

// Both take the free slots in the same order.
TEST("a fork creates bodies with the same ids") {
    SCOPED(cairn_world) *world = falling_spheres();
    EXPECT_OK(cairn_body_destroy(world, 4));
    EXPECT_OK(cairn_body_destroy(world, 7));
    SCOPED(cairn_world) *fork = kit_fork(world);
    for (int i = 0; i < 4; ++i) {
        const cairn_vec3 at = vec3(0.0f, 20.0f + (float)i, 0.0f);
        assert_int_equal(kit_sphere(world, at, 0.5f), kit_sphere(fork, at, 0.5f));
    }
    expect_equal(world, fork, "falling spheres");
}

TEST("a fork has the same SIMD width and the same events") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    EXPECT_OK(cairn_world_set_lanes(world, 1));
    kit_ground(world);
    kit_sphere(world, vec3(0.0f, 0.5f, 0.0f), 0.5f);
    kit_run(world, 1);
    uint32_t count = 0;
    (void)cairn_world_contact_events(world, &count);
    assert_int_equal(count, 1);
    SCOPED(cairn_world) *fork = kit_fork(world);
    assert_int_equal(cairn_world_lanes(fork), 1);
    (void)cairn_world_contact_events(fork, &count);
    assert_int_equal(count, 1);
}

TEST("a copy between worlds of other settings is refused") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = falling_spheres();
    def.seed = 1;
    SCOPED(cairn_world) *other = kit_world(&def);
    const cairn_hash128 before = kit_hash(other);
    assert_int_equal(cairn_world_copy(other, world), CAIRN_INVALID_ARGUMENT);
    assert_true(cairn_hash_equal(kit_hash(other), before));
    EXPECT_OK(cairn_world_copy(world, world));
}

// For a world that is queried and not stepped. A load undoes it.
TEST("placing a body wakes nothing") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_body_id body = kit_sphere(world, vec3(0.0f, 0.5f, 0.0f), 0.5f);
    kit_run(world, 60);
    const cairn_hash128 before = kit_hash(world);
    SCOPED(kit_bytes) saved = kit_save(world);
    cairn_pose pose = {
        .position = vec3(1e6f, 3.0f, 0.0f), .rotation = {.x = 0.6f, .w = 0.8000001f}};
    EXPECT_OK(cairn_body_place(world, body, pose));
    const cairn_body_state placed = kit_read(world, body);
    assert_int_equal(placed.awake, 0);
    assert_true(placed.position.x == 1e6f && placed.rotation.w == 0.8000001f);
    assert_true(cairn_hash_equal(kit_hash(world), cairn_world_hash_fresh(world).full));
    assert_false(cairn_hash_equal(kit_hash(world), before));
    pose.position.y = 1.1e7f;
    assert_int_equal(cairn_body_place(world, body, pose), CAIRN_INVALID_ARGUMENT);
    pose.position.y = 0.0f;
    pose.rotation.w = 0.0f;
    assert_int_equal(cairn_body_place(world, body, pose), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_body_place(world, 99, pose), CAIRN_NOT_FOUND);
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    assert_true(cairn_hash_equal(kit_hash(world), before));
}
