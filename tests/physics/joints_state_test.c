// SPDX-License-Identifier: MIT

// Joints as part of the state: a world with a joint of every kind goes on with the same bits after
// a save, a decode and a fork in every tick, with workers and in every width; joints break with an
// event; defs that make no sense are refused.

#include "tests/physics/joint_kit.h"

enum { KINDS = CAIRN_JOINT_ROW };

typedef struct zoo {
    cairn_world *world;
    cairn_joint_id joints[2 * KINDS];
    uint32_t count;
} zoo;

static void zoo_destroy(zoo *z) {
    cairn_world_destroy(z->world);
}
SCOPE_ENDS(zoo, zoo_destroy)

static void zoo_add(zoo *z, const cairn_joint_def *change, float at) {
    const cairn_shape_def small = box(0.1f, 0.1f, 0.1f);
    cairn_joint_def def = *change;
    def.body_a = at < 30.0f ? put(z->world, CAIRN_BODY_DYNAMIC, vec3(at, 4, 0), &small)
                            : put_static(z->world, vec3(at, 4, 0), &small);
    def.body_b = joint_cube(z->world, vec3(at + 0.5f, 4, 0.2f), 0.2f, 3.0f);
    def.anchor_a = vec3(0.5f, 0, 0);
    EXPECT_OK(cairn_body_set_velocity(z->world, def.body_b, vec3(1, 2, -1), vec3(1, -2, 3)));
    z->joints[z->count++] = kit_joint(z->world, &def);
}

// Every kind with every drive that it may have, between two free bodies, and on a static one.
static zoo zoo_create(uint32_t solver) {
    zoo z = {.world = joint_world(solver, 9.81f)};
    kit_ground(z.world);
    for (uint32_t i = 0; i < 2 * KINDS; ++i) {
        cairn_joint_def def = cairn_joint_def_default();
        def.kind = 1 + i % KINDS;
        def.spring = 1;
        def.spring_hertz = 3.0f;
        def.target_rotation = (cairn_quat){.x = 0.6f, .w = 0.8f};
        def.motor = 1;
        def.motor_speed = 2.0f;
        def.motor_velocity = vec3(1, 2, 3);
        def.motor_force = 5.0f;
        def.motor_torque = 5.0f;
        def.limited = 1;
        def.lower = def.kind == CAIRN_JOINT_DISTANCE ? 0.2f : -0.3f;
        def.upper = 0.4f;
        def.steering = 1;
        def.steering_target = 0.3f;
        def.hertz = def.kind == CAIRN_JOINT_MOTOR || def.kind == CAIRN_JOINT_WELD ? 4.0f : 0.0f;
        def.ratio = 2.0f;
        def.fixed_a = vec3(1.5f * (float)i, 8, 0);
        def.fixed_b = vec3(1.5f * (float)i + 1.0f, 8, 0);
        def.length = def.kind == CAIRN_JOINT_PULLEY ? 11.0f : 0.5f;
        def.row.linear_b = vec3(0, 1, 0);
        def.row.linear_a = vec3(0, -1, 0);
        def.row.lower = -20.0f;
        def.row.upper = 30.0f;
        def.axis_a = vec3(0, 1, 0);
        def.axis_b = def.kind == CAIRN_JOINT_WHEEL ? vec3(0, 0, 1) : vec3(0, 1, 0);
        def.normal_a = vec3(0, 0, 1);
        def.normal_b = vec3(1, 0, 0);
        zoo_add(&z, &def, 3.0f * (float)i);
    }
    return z;
}

// What a rule may do to joints in a tick.
static void zoo_change(const zoo *z, cairn_world *world, uint32_t tick) {
    for (uint32_t i = 0; i < z->count; ++i) {
        cairn_joint_def def;
        if (cairn_joint_read(world, z->joints[i], &def) != CAIRN_OK || (tick + i) % 7 != 0) {
            continue;
        }
        (void)cairn_joint_set_motor(world, z->joints[i], 0.1f * (float)(tick % 40) - 2.0f, 6.0f);
        (void)cairn_joint_set_steering(world, z->joints[i], 0.01f * (float)(tick % 30));
        (void)cairn_joint_set_target(world, z->joints[i], 0.01f * (float)(tick % 50) + 0.1f);
        if (tick % 21 == 0) {
            EXPECT_OK(cairn_joint_set_enabled(world, z->joints[i], def.disabled != 0));
        }
        if (tick == 60 && i % 5 == 0) {
            EXPECT_OK(cairn_joint_destroy(world, z->joints[i]));
        }
    }
}

TEST("joints of every kind go on with the same bits after a save, a decode and a fork") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(zoo) z = zoo_create(solver);
        SCOPED(cairn_world) *twin = kit_fork(z.world);
        for (uint32_t tick = 0; tick < 90; ++tick) {
            zoo_change(&z, z.world, tick);
            kit_step_beside_reloaded(z.world, twin);
            SCOPED(kit_bytes) encoded = kit_encode(z.world);
            const char *where = "";
            if (cairn_world_decode(twin, encoded.bytes, encoded.size, &where) != CAIRN_OK) {
                fail_msg("tick %u: %s", tick, where);
            }
            if (cairn_world_validate(twin, &where) != CAIRN_OK ||
                cairn_world_validate(z.world, &where) != CAIRN_OK) {
                fail_msg("tick %u: %s", tick, where);
            }
            assert_true(kit_equal(z.world, twin));
        }
        for (uint32_t i = 0; i < z.count; ++i) {
            cairn_joint_def def;
            if (cairn_joint_read(z.world, z.joints[i], &def) == CAIRN_OK) {
                const cairn_vec3 at = kit_read(z.world, def.body_b).position;
                assert_true(vec3_finite(at) && vec3_length(at) < 200.0f);
            }
        }
    }
}

TEST("joints have the same bits in every width") {
    SCOPED(zoo) z = zoo_create(CAIRN_SOLVER_SOFT_STEP);
    SCOPED(cairn_world) *other = kit_fork(z.world);
    EXPECT_OK(cairn_world_set_lanes(other, 1));
    for (uint32_t tick = 0; tick < 30; ++tick) {
        kit_run(z.world, 1);
        kit_run(other, 1);
        assert_true(kit_equal(z.world, other));
    }
}

TEST("what was read can be set and created again, with the same bits") {
    SCOPED(zoo) z = zoo_create(CAIRN_SOLVER_SOFT_STEP);
    kit_run(z.world, 10);
    SCOPED(cairn_world) *twin = kit_fork(z.world);
    for (uint32_t i = 0; i < z.count; ++i) {
        cairn_joint_def def;
        EXPECT_OK(cairn_joint_read(z.world, z.joints[i], &def));
        EXPECT_OK(cairn_joint_set(z.world, z.joints[i], &def));
    }
    assert_true(kit_equal(z.world, twin));
}

// ---- Enumeration, reactions and breaking

TEST("joints of a world and of a body are listed in order") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 0.0f);
    const cairn_body_id base = joint_base(world);
    const cairn_body_id a = joint_cube(world, vec3(1, 0, 0), 0.1f, 1.0f);
    const cairn_body_id b = joint_cube(world, vec3(2, 0, 0), 0.1f, 1.0f);
    const cairn_joint_def first = joint_between(CAIRN_JOINT_WELD, base, a, vec3(1, 0, 0));
    const cairn_joint_def second = joint_between(CAIRN_JOINT_BALL, a, b, vec3(1, 0, 0));
    const cairn_joint_id joints[2] = {kit_joint(world, &first), kit_joint(world, &second)};
    cairn_joint_id listed[2] = {0};
    assert_int_equal(cairn_world_joints(world, listed, 2), 2);
    assert_memory_equal(listed, joints, sizeof joints);
    assert_int_equal(cairn_body_joints(world, a, listed, 1), 2);
    assert_int_equal(listed[0], joints[0]);
    assert_int_equal(cairn_body_joints(world, b, listed, 2), 1);
    assert_int_equal(listed[0], joints[1]);
}

// A weight m hangs on a joint. It holds if its break force is above m g, and breaks if it is below.
TEST("a joint breaks above its force, with an event, and the weight falls") {
    static const uint32_t kinds[] = {CAIRN_JOINT_BALL, CAIRN_JOINT_DISTANCE, CAIRN_JOINT_HINGE,
        CAIRN_JOINT_CONE, CAIRN_JOINT_WELD, CAIRN_JOINT_PRISMATIC};
    for (uint32_t i = 0; i < 2 * sizeof kinds / sizeof kinds[0]; ++i) {
        SCOPED(cairn_world) *world = joint_world(i % 2, 9.81f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id weight = joint_cube(world, vec3(0, -1, 0), 0.2f, 10.0f);
        cairn_joint_def def = joint_between(kinds[i / 2], base, weight, vec3(0, -1, 0));
        def.anchor_a = kinds[i / 2] == CAIRN_JOINT_DISTANCE ? vec3(0, 0, 0) : vec3(0, -1, 0);
        def.breakable = 1;
        def.break_force = 98.1f * 1.03f;
        const cairn_joint_id joint = kit_joint(world, &def);
        kit_run(world, 2 * JOINT_TICK_RATE);
        uint32_t count;
        (void)cairn_world_joint_events(world, &count);
        assert_int_equal(count, 0);
        expect_near(joint_reaction(world, joint).force.y, 98.1f, 0.2f);
        EXPECT_OK(cairn_body_apply_force(world, weight, vec3(0, -6, 0), vec3(0, 0, 0)));
        kit_run(world, 1);
        const cairn_joint_event *event = cairn_world_joint_events(world, &count);
        assert_int_equal(count, 1);
        assert_int_equal(event->kind, CAIRN_JOINT_BROKE);
        assert_int_equal(event->joint, joint);
        assert_int_equal(event->body_b, weight);
        expect_near(event->force, 104.1f, 0.3f);
        assert_int_equal(cairn_joint_destroy(world, joint), CAIRN_NOT_FOUND);
        kit_run(world, 1);
        (void)cairn_world_joint_events(world, &count);
        assert_int_equal(count, 0);
        const float before = kit_read(world, weight).linear_velocity.y;
        kit_run(world, 30);
        expect_near(kit_read(world, weight).linear_velocity.y - before, -4.905f, 1e-2f);
    }
}

TEST("a joint that breaks in the step after it was made leaves a static body that others land on") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(cairn_world) *world = joint_world(solver, 9.81f);
        const cairn_shape_def slab = box(2.0f, 0.5f, 2.0f);
        const cairn_body_id base = put_static(world, vec3(0, -0.5f, 0), &slab);
        const cairn_body_id weight = joint_cube(world, vec3(4, -6, 0), 0.2f, 10.0f);
        const cairn_body_id faller = joint_cube(world, vec3(0, 1, 0), 0.2f, 1.0f);
        kit_run(world, 1);
        cairn_joint_def def = joint_between(CAIRN_JOINT_WELD, base, weight, vec3(4, -5.5f, 0));
        def.breakable = 1;
        def.break_force = 1.0f;
        kit_joint(world, &def);
        kit_run(world, 1);
        assert_int_equal(cairn_world_joints(world, NULL, 0), 0);
        SCOPED(cairn_world) *twin = kit_fork(world);
        for (int tick = 0; tick < 90; ++tick) {
            kit_step_beside_reloaded(world, twin);
        }
        expect_near(kit_read(world, faller).position.y, 0.2f, 0.02f);
    }
}

TEST("events of joints are in order of their ids, and part of the state") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id base = joint_base(world);
    for (int i = 0; i < 5; ++i) {
        const cairn_body_id weight = joint_cube(world, vec3((float)i, -1, 0), 0.2f, 10.0f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_WELD, base, weight, vec3((float)i, -1, 0));
        def.breakable = 1;
        def.break_force = i % 2 == 0 ? 50.0f : 500.0f;
        kit_joint(world, &def);
    }
    SCOPED(cairn_world) *twin = kit_fork(world);
    uint32_t broken = 0;
    for (int tick = 0; tick < 30; ++tick) {
        kit_step_beside_reloaded(world, twin);
        uint32_t counts[2];
        const cairn_joint_event *events = cairn_world_joint_events(world, &counts[0]);
        const cairn_joint_event *same = cairn_world_joint_events(twin, &counts[1]);
        assert_int_equal(counts[0], counts[1]);
        for (uint32_t i = 0; i < counts[0]; ++i) {
            assert_memory_equal(&events[i], &same[i], sizeof *events);
            assert_true(i == 0 || events[i].joint > events[i - 1].joint);
        }
        broken += counts[0];
    }
    assert_int_equal(broken, 3);
    assert_int_equal(cairn_world_joints(world, NULL, 0), 2);
}

// ---- Refusals

#define EXPECT_STATUS(expected, change)                                                            \
    do {                                                                                           \
        cairn_joint_def def = good;                                                                \
        cairn_joint_id id = 7;                                                                     \
        change;                                                                                    \
        assert_int_equal(cairn_joint_create(world, &def, &id), (expected));                        \
        assert_true((expected) == CAIRN_OK || id == 0);                                            \
        assert_true((expected) != CAIRN_OK || cairn_joint_destroy(world, id) == CAIRN_OK);         \
    } while (0)

TEST("defs that make no sense are refused, and the world stays as it was") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id base = joint_base(world);
    const cairn_body_id body = joint_cube(world, vec3(1, 0, 0), 0.2f, 1.0f);
    cairn_joint_def good = joint_between(CAIRN_JOINT_PRISMATIC, base, body, vec3(1, 0, 0));
    const cairn_hash128 before = kit_hash(world);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.body_b = base);
    EXPECT_STATUS(CAIRN_NOT_FOUND, def.body_b = 12345);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.kind = 0);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.kind = CAIRN_JOINT_ROW + 1);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.axis_a = vec3(0, 0, 0));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.normal_b = vec3(0, 0, 0));
    EXPECT_STATUS(CAIRN_NON_FINITE, def.axis_b = vec3(NAN, 0, 0));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.lower = 1.0f, def.upper = -1.0f));
    EXPECT_STATUS(CAIRN_NON_FINITE, def.upper = INFINITY);
    EXPECT_STATUS(CAIRN_NON_FINITE, (def.motor = 1, def.motor_speed = NAN));
    EXPECT_STATUS(CAIRN_NON_FINITE, (def.motor = 1, def.motor_force = NAN));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.motor_force = -1.0f);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.motor = 2);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.spring_hertz = -1.0f);
    EXPECT_STATUS(CAIRN_NON_FINITE, def.spring_damping = NAN);
    EXPECT_STATUS(CAIRN_NON_FINITE, def.target = NAN);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.hertz = 1001.0f);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.breakable = 1, def.break_force = 0.0f));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.breakable = 1, def.break_force = -5.0f));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.breakable = 1, def.break_torque = 0.0f));
    EXPECT_STATUS(CAIRN_NON_FINITE, (def.breakable = 1, def.break_torque = NAN));
    good.kind = CAIRN_JOINT_GEAR;
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.ratio = 0.0f);
    EXPECT_STATUS(CAIRN_NON_FINITE, def.ratio = NAN);
    good.kind = CAIRN_JOINT_PULLEY;
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.ratio = -1.0f);
    EXPECT_STATUS(CAIRN_NON_FINITE, def.fixed_a = vec3(0, NAN, 0));
    good.kind = CAIRN_JOINT_ROW;
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.row.lower = 1.0f, def.row.upper = 0.0f));
    EXPECT_STATUS(CAIRN_NON_FINITE, def.row.angular_b = vec3(NAN, 0, 0));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.row.linear_a = vec3(1e5f, 0, 0));
    good.kind = CAIRN_JOINT_MOTOR;
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.hertz = 0.0f);
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.hertz = 1, def.target_rotation.x = 5.0f));
    good.kind = CAIRN_JOINT_WHEEL;
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.steering = 1, def.steering_hertz = 0.0f));
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, def.steering_target = 2.0f);
    good.kind = CAIRN_JOINT_DISTANCE;
    EXPECT_STATUS(CAIRN_INVALID_ARGUMENT, (def.limited = 1, def.lower = 1.0f));
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

TEST("setters refuse what create refuses, other kinds and stale ids, and leave the joint alone") {
    SCOPED(cairn_world) *world = joint_world(CAIRN_SOLVER_SOFT_STEP, 9.81f);
    const cairn_body_id base = joint_base(world);
    const cairn_body_id body = joint_cube(world, vec3(1, 0, 0), 0.2f, 1.0f);
    const cairn_joint_def def = joint_between(CAIRN_JOINT_PRISMATIC, base, body, vec3(1, 0, 0));
    const cairn_joint_id joint = kit_joint(world, &def);
    const cairn_hash128 before = kit_hash(world);
    cairn_joint_row row = {.lower = 0.0f};
    assert_int_equal(cairn_joint_set_motor(world, joint, NAN, 1.0f), CAIRN_NON_FINITE);
    assert_int_equal(cairn_joint_set_motor(world, joint, 1.0f, -1.0f), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_joint_set_limits(world, joint, 1.0f, 0.0f), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_joint_set_row(world, joint, &row), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_joint_set_steering(world, joint, 0.0f), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_joint_set_target(world, joint + 1, 0.0f), CAIRN_NOT_FOUND);
    cairn_joint_def other = def;
    other.kind = CAIRN_JOINT_WELD;
    assert_int_equal(cairn_joint_set(world, joint, &other), CAIRN_INVALID_ARGUMENT);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
}

TEST("a disabled joint lets its bodies fall, and a sleeping body wakes only for a change") {
    cairn_world_def world_def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&world_def);
    const cairn_body_id base = joint_base(world);
    const cairn_body_id body = joint_cube(world, vec3(0, -1, 0), 0.2f, 1.0f);
    const cairn_joint_def def = joint_between(CAIRN_JOINT_WELD, base, body, vec3(0, -1, 0));
    const cairn_joint_id joint = kit_joint(world, &def);
    kit_run(world, 120);
    assert_false(kit_read(world, body).awake);
    EXPECT_OK(cairn_joint_set_enabled(world, joint, true));
    assert_false(kit_read(world, body).awake);
    EXPECT_OK(cairn_joint_set_enabled(world, joint, false));
    assert_true(kit_read(world, body).awake);
    kit_run(world, 60);
    expect_near(kit_read(world, body).linear_velocity.y, -9.81f, 1e-3f);
}

// Forces beyond all bounds end in a disabled body, not in NaN.
TEST("a joint with immense forces leaves a valid world") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(cairn_world) *world = joint_world(solver, 9.81f);
        const cairn_body_id base = joint_base(world);
        const cairn_body_id body = joint_cube(world, vec3(1, 0, 0), 0.05f, 1e-3f);
        cairn_joint_def def = joint_between(CAIRN_JOINT_ROW, base, body, vec3(1, 0, 0));
        def.row.linear_b = vec3(1e4f, 1e4f, 0);
        def.row.angular_b = vec3(1e4f, 0, 1e4f);
        def.row.lower = CAIRN_FORCE_MAX;
        def.row.upper = CAIRN_FORCE_MAX;
        kit_joint(world, &def);
        kit_run(world, 10);
        const char *where = "";
        EXPECT_OK(cairn_world_validate(world, &where));
    }
}
