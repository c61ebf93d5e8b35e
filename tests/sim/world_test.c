// SPDX-License-Identifier: MIT
// Rules of the world around the solver: ids, capacities, checks, events, disabled bodies, queries.

#include "sim/state/world.h"
#include "sim/world/scratch.h"
#include "tests/sim/world_kit.h"

#include <math.h>

static cairn_body_id cube(cairn_world *world, float x, float y) {
    return kit_cube(world, vec3(x, y, 0.0f));
}

static const cairn_vec3 Y_NAN = {.y = NAN};

static bool awake(const cairn_world *world, cairn_body_id body) {
    return kit_read(world, body).awake != 0;
}

// ids

TEST("the lowest free slot is taken first") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id first = cube(world, 0.0f, 1.0f);
    const cairn_body_id second = cube(world, 2.0f, 1.0f);
    const cairn_body_id third = cube(world, 4.0f, 1.0f);
    assert_int_equal(first, 1);
    assert_int_equal(second, 2);
    assert_int_equal(third, 3);
    EXPECT_OK(cairn_body_destroy(world, second));
    EXPECT_OK(cairn_body_destroy(world, first));
    assert_int_equal(cube(world, 0.0f, 1.0f), 1u << 20 | 1);
    assert_int_equal(cube(world, 0.0f, 3.0f), 1u << 20 | 2);
    assert_int_equal(cube(world, 0.0f, 5.0f), 4);
}

TEST("a stale id is not found") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id old = cube(world, 0.0f, 1.0f);
    cairn_body_state body;
    EXPECT_OK(cairn_body_destroy(world, old));
    cube(world, 0.0f, 1.0f);
    assert_false(cairn_body_exists(world, old));
    assert_false(cairn_body_exists(world, 0));
    assert_int_equal(cairn_body_destroy(world, old), CAIRN_NOT_FOUND);
    assert_int_equal(cairn_body_read(world, old, &body), CAIRN_NOT_FOUND);
    assert_int_equal(
        cairn_body_set_velocity(world, old, vec3_zero(), vec3_zero()), CAIRN_NOT_FOUND);
    assert_true(cairn_body_mass(world, old) == 0.0f);
}

TEST("generations wrap and never give the null id") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    for (uint32_t i = 0; i < 4096; ++i) {
        EXPECT_OK(cairn_body_create(world, &def, &body));
        assert_int_equal(body, i << 20 | 1);
        EXPECT_OK(cairn_body_destroy(world, body));
    }
    EXPECT_OK(cairn_body_create(world, &def, &body));
    assert_int_equal(body, 1);
}

// capacities and checks

TEST("a full world refuses creations and counts them") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 3;
    def.shape_capacity = 2;
    def.joint_capacity = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    const cairn_body_id a = cube(world, 0.0f, 1.0f);
    const cairn_body_id b = cube(world, 2.0f, 1.0f);
    const cairn_body_def body = cairn_body_def_default();
    const cairn_shape_def shape = cairn_shape_def_default();
    cairn_joint_def joint = cairn_joint_def_default();
    uint32_t out = 7;
    assert_int_equal(cairn_shape_create(world, a, &shape, &out), CAIRN_CAPACITY);
    assert_int_equal(out, 0);
    EXPECT_OK(cairn_body_create(world, &body, &out));
    assert_int_equal(cairn_body_create(world, &body, &out), CAIRN_CAPACITY);
    assert_int_equal(out, 0);
    joint.body_a = a;
    joint.body_b = b;
    assert_int_equal(cairn_joint_create(world, &joint, &out), CAIRN_CAPACITY);
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 3);
}

TEST("of too many contacts the last pairs are dropped") {
    cairn_world_def def = cairn_world_def_default();
    def.contact_capacity = 3;
    SCOPED(cairn_world) *world = kit_world(&def);
    kit_ground(world);
    for (uint32_t i = 0; i < 5; ++i) {
        cube(world, 2.0f * (float)i, 0.5f);
    }
    kit_run(world, 1);
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(events[i].shape_a, 1);
        assert_int_equal(events[i].shape_b, i + 2);
    }
    assert_int_equal(cairn_world_counters_read(world).contacts_dropped, 2);
}

// base.world_settings tests the ranges.
TEST("no world is created from a bad def") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_world *out = world;
    def.gravity.y = NAN;
    assert_int_equal(cairn_world_create(&def, &out), CAIRN_NON_FINITE);
    assert_null(out);
}

TEST("bad values are refused and change nothing") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id body = cube(world, 0.0f, 5.0f);
    const cairn_hash128 before = kit_hash(world);
    const cairn_vec3 far = vec3(2e5f, 0.0f, 0.0f);
    const cairn_vec3 huge = vec3(3e38f, 0.0f, 0.0f);
    const cairn_pose away = {.position = far, .rotation = quat_identity()};
    const cairn_pose crooked = {.rotation = {.w = 0.5f}};
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    uint32_t out = 0;
    assert_int_equal(cairn_body_set_pose(world, body, away), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_body_set_pose(world, body, crooked), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_body_set_velocity(world, body, Y_NAN, Y_NAN), CAIRN_NON_FINITE);
    assert_int_equal(cairn_body_apply_force(world, body, Y_NAN, vec3_zero()), CAIRN_NON_FINITE);
    assert_int_equal(cairn_body_apply_impulse(world, body, huge, huge), CAIRN_NON_FINITE);
    assert_int_equal(cairn_body_set_owner(world, body, CAIRN_SLOTS_MAX), CAIRN_INVALID_ARGUMENT);
    def.position = far;
    assert_int_equal(cairn_body_create(world, &def, &out), CAIRN_INVALID_ARGUMENT);
    shape.density = 0.0f;
    assert_int_equal(cairn_shape_create(world, body, &shape, &out), CAIRN_INVALID_ARGUMENT);
    shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    assert_int_equal(cairn_shape_create(world, body, &shape, &out), CAIRN_INVALID_ARGUMENT);
    shape.kind = 200;
    assert_int_equal(cairn_shape_create(world, body, &shape, &out), CAIRN_INVALID_ARGUMENT);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

// mass

TEST("mass and centre of mass change with the shapes") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id body = cube(world, 1.0f, 5.0f);
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_shape_id second = 0;
    shape.pose.position = vec3(1.0f, 0.0f, 0.0f);
    EXPECT_OK(cairn_shape_create(world, body, &shape, &second));
    assert_float_equal(cairn_body_mass(world, body), 2000.0f, 0.1f);
    assert_float_equal(kit_read(world, body).position.x, 1.0f, 0.0f);
    // About the middle of the two, 1.5, a push at x = 1 turns it and a push at the middle does not.
    EXPECT_OK(
        cairn_body_apply_impulse(world, body, vec3(0.0f, 100.0f, 0.0f), vec3(1.5f, 5.0f, 0.0f)));
    assert_true(vec3_length(kit_read(world, body).angular_velocity) < 1e-6f);
    EXPECT_OK(cairn_shape_destroy(world, second));
    assert_float_equal(cairn_body_mass(world, body), 1000.0f, 0.1f);
}

// Sums over shapes run in order of slots, not of creation, so that a restored world has equal sums.
TEST("mass does not depend on the order of creation") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    cairn_shape_id ids[5] = {0};
    EXPECT_OK(cairn_body_create(world, &def, &body));
    for (uint32_t i = 0; i < 5; ++i) {
        cairn_shape_def shape = cairn_shape_def_default();
        shape.pose.position = vec3(0.37f * (float)i, 0.11f * (float)(i * i), 0.05f);
        shape.density = 313.0f + 77.7f * (float)i;
        EXPECT_OK(cairn_shape_create(world, body, &shape, &ids[i]));
    }
    EXPECT_OK(cairn_shape_destroy(world, ids[1]));
    cairn_shape_def again = cairn_shape_def_default();
    again.pose.position = vec3(0.91f, 0.73f, 0.19f);
    EXPECT_OK(cairn_shape_create(world, body, &again, &ids[1]));
    SCOPED(kit_bytes) saved = kit_save(world);
    EXPECT_OK(cairn_shape_destroy(world, ids[4]));
    const cairn_hash128 before = kit_hash(world);
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    EXPECT_OK(cairn_shape_destroy(world, ids[4]));
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

// kinematic bodies

TEST("a kinematic body pushes others and is not pushed") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_body_id box = cube(world, 0.0f, 0.5f);
    kit_run(world, 120);
    assert_false(awake(world, box));
    const cairn_vec3 start = vec3(-1.5f, 0.6f, 0.0f);
    const cairn_body_id pusher = kit_kinematic(world, start, vec3(1.0f, 0.0f, 0.0f));
    kit_run(world, 120);
    assert_float_equal(kit_read(world, pusher).position.x, 0.5f, 1e-3f);
    assert_float_equal(kit_read(world, box).position.x, 1.5f, 0.05f);
    assert_true(awake(world, box));
}

// events

TEST("contact events name the bodies") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    uint32_t count = 0;
    kit_ground(world);
    const cairn_body_id first = cube(world, 0.0f, 0.5f);
    const cairn_body_id second = cube(world, 3.0f, 0.5f);
    kit_run(world, 1);
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    assert_int_equal(count, 2);
    assert_int_equal(events[0].kind, CAIRN_CONTACT_BEGIN);
    assert_int_equal(events[0].body_b, first);
    assert_int_equal(events[1].body_b, second);
    kit_run(world, 1);
    (void)cairn_world_contact_events(world, &count);
    assert_int_equal(count, 0);
    // The slot is used again in the same tick: the contact of the old shape ends, that of the new
    // begins.
    EXPECT_OK(cairn_body_destroy(world, first));
    const cairn_body_id third = cube(world, 0.0f, 0.5f);
    kit_run(world, 1);
    events = cairn_world_contact_events(world, &count);
    assert_int_equal(count, 2);
    assert_int_equal(events[0].kind, CAIRN_CONTACT_END);
    assert_int_equal(events[0].body_b, first);
    assert_int_equal(events[1].kind, CAIRN_CONTACT_BEGIN);
    assert_int_equal(events[1].body_b, third);
}

// Each of the two shapes must accept the other: its mask must have the category of that one.
TEST("two shapes collide if each accepts the other") {
    for (uint32_t i = 0; i < 8; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_body_def def = cairn_body_def_default();
        cairn_shape_def shapes[2] = {cairn_shape_def_default(), cairn_shape_def_default()};
        const bool ground_first = (i & 4u) != 0;
        shapes[0].category = 4;
        shapes[0].mask = (i & 1u) != 0 ? 8 : 16;
        shapes[1].kind = CAIRN_SHAPE_HALF_SPACE;
        shapes[1].category = 8;
        shapes[1].mask = (i & 2u) != 0 ? 4 : 32;
        cairn_body_id cube_id = 0;
        for (uint32_t k = 0; k < 2; ++k) {
            const bool ground = (k == 0) == ground_first;
            def.kind = ground ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC;
            def.position.y = ground ? 0.0f : 0.6f;
            const cairn_body_id body = kit_body(world, &def, &shapes[ground ? 1 : 0]);
            cube_id = ground ? cube_id : body;
        }
        kit_run(world, 60);
        const bool stands = kit_read(world, cube_id).position.y > 0.4f;
        assert_int_equal(stands, (i & 3u) == 3);
    }
}

TEST("ticks are counted beyond four thousand million") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    world->state.settings->tick_low = UINT32_MAX;
    kit_run(world, 1);
    assert_true(cairn_world_tick(world) == UINT64_C(1) << 32);
    kit_run(world, 1);
    assert_true(cairn_world_tick(world) == (UINT64_C(1) << 32) + 1);
}

// disabled bodies

TEST("a body with invalid state is disabled and harms no other") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    SCOPED(cairn_world) *twin = kit_world(NULL);
    cairn_world *both[2] = {world, twin};
    cairn_body_id wild = 0;
    cairn_body_id quiet = 0;
    for (int i = 0; i < 2; ++i) {
        kit_ground(both[i]);
        quiet = cube(both[i], 0.0f, 0.5f);
        wild = cube(both[i], 5.0f, 0.5f);
        kit_run(both[i], 10);
    }
    EXPECT_OK(cairn_body_apply_force(world, wild, vec3(3e38f, 0.0f, 0.0f), vec3_zero()));
    kit_run(world, 30);
    kit_run(twin, 30);
    const cairn_body_state end = kit_read(world, wild);
    assert_int_equal(end.kind, CAIRN_BODY_STATIC);
    assert_float_equal(end.position.x, 5.0f, 0.01f);
    assert_true(vec3_length(end.linear_velocity) == 0.0f);
    assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 1);
    const cairn_body_state beside_wild = kit_read(world, quiet);
    const cairn_body_state alone = kit_read(twin, quiet);
    assert_memory_equal(&beside_wild, &alone, sizeof alone);
}

TEST("a body that becomes invalid in a stack leaves the stack standing") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_body_id lower = cube(world, 0.0f, 0.5f);
    const cairn_body_id upper = cube(world, 0.0f, 1.5f);
    kit_run(world, 120);
    EXPECT_OK(cairn_body_apply_force(world, lower, vec3(0.0f, 3e38f, 0.0f), vec3_zero()));
    kit_run(world, 120);
    assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 1);
    assert_int_equal(kit_read(world, lower).kind, CAIRN_BODY_STATIC);
    assert_float_equal(kit_read(world, upper).position.y, 1.5f, 0.02f);
    assert_int_equal(kit_read(world, upper).kind, CAIRN_BODY_DYNAMIC);
}

// queries

// A room has four worlds, and a server many rooms.
TEST("a small world takes less than a megabyte to be stepped") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = 32;
    def.joint_capacity = 8;
    def.contact_capacity = 64;
    SCOPED(cairn_world) *world = kit_world(&def);
    assert_in_range(world->scratch->size, 1, 1 << 20);
}

TEST("a ray hits the nearest shape") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    kit_ground(world);
    const cairn_body_id near = cube(world, 2.0f, 0.5f);
    const cairn_body_id far = cube(world, 5.0f, 0.5f);
    const cairn_vec3 from = vec3(0.0f, 0.5f, 0.0f);
    const cairn_vec3 along = vec3(10.0f, 0.0f, 0.0f);
    cairn_ray_hit hit;
    EXPECT_OK(cairn_world_ray_cast(world, from, along, UINT32_MAX, 0, &hit));
    assert_int_equal(hit.body, near);
    assert_float_equal(hit.fraction, 0.15f, 1e-5f);
    assert_float_equal(hit.point.x, 1.5f, 1e-5f);
    assert_float_equal(hit.normal.x, -1.0f, 1e-5f);
    EXPECT_OK(cairn_world_ray_cast(world, from, along, UINT32_MAX, near, &hit));
    assert_int_equal(hit.body, far);
    assert_int_equal(cairn_world_ray_cast(world, from, along, 2, 0, &hit), CAIRN_NOT_FOUND);
    assert_int_equal(
        cairn_world_ray_cast(world, from, vec3(NAN, 0.0f, 0.0f), 1, 0, &hit), CAIRN_NON_FINITE);
}

TEST("an overlap query lists shapes in order") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    for (uint32_t i = 0; i < 4; ++i) {
        cube(world, 1.5f * (float)i, 0.5f);
    }
    cairn_shape_def probe = cairn_shape_def_default();
    const cairn_pose at = {.position = vec3(2.25f, 0.5f, 0.0f), .rotation = quat_identity()};
    cairn_shape_id found[4] = {0};
    assert_int_equal(cairn_world_overlap(world, &probe, at, UINT32_MAX, found, 4), 2);
    assert_int_equal(found[0], 2);
    assert_int_equal(found[1], 3);
    assert_int_equal(cairn_world_overlap(world, &probe, at, UINT32_MAX, found, 0), 2);
    probe.half_extents.x = -1.0f;
    assert_int_equal(cairn_world_overlap(world, &probe, at, UINT32_MAX, found, 4), 0);
}
