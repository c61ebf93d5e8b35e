// SPDX-License-Identifier: MIT
// Edits that make joints and set what they have.

#include "tests/sim/edit_kit.h"

#include <math.h>
#include <string.h>

#include <cairn/articulation.h>

// Two cubes, the first turned by a quarter about z and fixed; a joint of each kind between them
// holds at once: there is no error to correct.
TEST("a joint of each kind is made where the bodies are") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_PULLEY; ++kind) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        const cairn_vec3 anchor = vec3(1.0f, 5.5f, 0.0f);
        const cairn_vec3 beside = vec3(1.0f, 6.5f, 0.0f);
        const bool apart = kind == CAIRN_JOINT_DISTANCE;
        cairn_command commands[] = {
            edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_BOX, half, vec3(0.0f, 0.0f, 1.57079633f)),
            edit(CAIRN_COMMAND_SPAWN, 0, vec3(0.0f, 5.0f, 0.0f), zero),
            edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(2.0f, 5.0f, 0.0f), half),
            edit(CAIRN_COMMAND_SET_BODY, 1, zero, property(CAIRN_BODY_PROPERTY_KIND)),
            edit(CAIRN_COMMAND_SET_GRAVITY, 0, zero, zero),
            edit(CAIRN_COMMAND_JOINT, 1, anchor, vec3(0.0f, 0.0f, 1.0f)),
            edit(CAIRN_COMMAND_CREATE_JOINT, 2, apart ? beside : anchor,
                vec3((float)kind, 1.0f, 0.0f))};
        step_all(world, commands, LENGTH_OF(commands));
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
        assert_int_equal(cairn_world_counts_read(world).joints, 1);
        float error = 1.0f;
        EXPECT_OK(cairn_joint_error(world, 1, &error));
        cairn_joint_def def;
        EXPECT_OK(cairn_joint_read(world, 1, &def));
        if (!(error < 1e-5f) || def.kind != kind || (apart && def.length != 1.0f)) {
            fail_msg("kind %u: error %g m", kind, (double)error);
        }
        kit_run(world, 60);
        assert_float_equal(kit_read(world, 2).position.x, 2.0f, 1e-4f);
        assert_float_equal(kit_read(world, 2).position.y, 5.0f, 1e-4f);
    }
}

TEST("a joint that is made with a break force breaks at it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    // 9,810 N hang on each.
    for (uint32_t i = 0; i < 2; ++i) {
        const float x = 9.0f * (float)i;
        const cairn_vec3 anchor = vec3(x, 5.0f, 0.0f);
        cairn_command commands[] = {edit(CAIRN_COMMAND_SPAWN_BOX, 0, anchor, half),
            edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(x, 4.0f, 0.0f), half),
            edit(CAIRN_COMMAND_SET_BODY, 1 + 2 * i, zero, property(CAIRN_BODY_PROPERTY_KIND)),
            edit(CAIRN_COMMAND_JOINT, 1 + 2 * i, anchor, zero),
            edit(CAIRN_COMMAND_CREATE_JOINT, 2 + 2 * i, anchor,
                vec3(CAIRN_JOINT_BALL, 0.0f, i == 0 ? 9000.0f : 11000.0f))};
        step_all(world, commands, LENGTH_OF(commands));
    }
    kit_run(world, 60);
    assert_int_equal(cairn_world_counts_read(world).joints, 1);
    assert_true(kit_read(world, 2).position.y < 1.0f);
    assert_float_equal(kit_read(world, 4).position.y, 4.0f, 0.01f);
}

TEST("an edit of a joint is checked by its property") {
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const edit_case cases[] = {{CAIRN_COMMAND_SET_JOINT, vec3(0.5f, 0.0f, 0.0f),
                                   property(CAIRN_JOINT_PROPERTY_ENABLED), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, vec3(-3.0f, 1e12f, 0.0f), property(CAIRN_JOINT_PROPERTY_MOTOR),
            CAIRN_OK},
        {CAIRN_COMMAND_SET_JOINT, vec3(-3.0f, 1.0f, 0.0f), property(CAIRN_JOINT_PROPERTY_TARGET),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, vec3(NAN, 0.0f, 0.0f), property(CAIRN_JOINT_PROPERTY_TARGET),
            CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SET_JOINT, x, property(CAIRN_JOINT_PROPERTY_LAST + 1),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, zero, vec3(CAIRN_JOINT_PROPERTY_NAME, 65535.0f, 1.0f), CAIRN_OK},
        {CAIRN_COMMAND_SET_JOINT, x, vec3(CAIRN_JOINT_PROPERTY_NAME, 1.0f, 1.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, x, vec3(CAIRN_JOINT_PROPERTY_CONE, 1.0f, 0.0f),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, vec3(-1.0f, 0.0f, 0.0f), property(CAIRN_JOINT_PROPERTY_BREAK),
            CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_SET_JOINT, vec3(1.0f, 1.0f, NAN),
            property(CAIRN_JOINT_PROPERTY_STEERING_SPRING), CAIRN_NON_FINITE},
        {CAIRN_COMMAND_SET_JOINT, vec3(0.0f, 0.0f, -1e4f),
            property(CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B), CAIRN_OK},
        {CAIRN_COMMAND_SET_JOINT, vec3(0.0f, 0.0f, 1.01e4f),
            property(CAIRN_JOINT_PROPERTY_ROW_BOUNDS), CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_DESTROY_JOINT, x, zero, CAIRN_INVALID_ARGUMENT}};
    expect_checks(cases, LENGTH_OF(cases));
}

TEST("an edit hangs a body on another in joint coordinates") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    const cairn_body_id on = kit_body(world, &fixed, NULL);
    const cairn_body_id body = kit_cube(world, vec3(1.5f, 0.0f, 0.0f));
    const cairn_vec3 anchor = vec3(0.75f, 0.0f, 0.0f);
    const cairn_vec3 hinge = vec3((float)CAIRN_JOINT_HINGE, 0.0f, CAIRN_BREAK_FORCE_ARTICULATED);
    const cairn_command create[] = {edit(CAIRN_COMMAND_JOINT, on, anchor, vec3(0.0f, 0.0f, 1.0f)),
        edit(CAIRN_COMMAND_CREATE_JOINT, body, anchor, hinge)};
    cairn_edit_made made;
    assert_int_equal(cairn_command_check(&create[1]), CAIRN_OK);
    EXPECT_OK(cairn_world_apply_edit(world, create, 2, &made));
    cairn_joint_def def;
    EXPECT_OK(cairn_joint_read(world, made.joint, &def));
    assert_true(def.articulated == 1 && def.breakable == 0 && def.break_force == 0.0f);
    // It hangs already.
    assert_int_equal(cairn_world_apply_edit(world, create, 2, &made), CAIRN_INVALID_ARGUMENT);
    kit_run(world, 60);
    cairn_articulation tree;
    EXPECT_OK(cairn_articulation_read(world, body, &tree));
    assert_true(tree.axis_count == 1 && tree.base == on);
}

// A joint between a static body and a cube.
static cairn_joint_id joint_of(cairn_world *world, uint32_t kind, uint32_t articulated) {
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = kit_body(world, &fixed, NULL);
    def.body_b = kit_cube(world, zero);
    def.hertz = kind == CAIRN_JOINT_MOTOR ? 5.0f : 0.0f;
    def.articulated = articulated;
    def.spring = articulated != 0 ? 0 : 1;
    def.motor = def.spring;
    return kit_joint(world, &def);
}

#define FIELD(member) offsetof(cairn_joint_def, member)

// Each property with a kind that has it, and the first field that it sets, as that reads
// afterwards.
static const struct {
    uint32_t property, kind;
    cairn_vec3 value;
    size_t field;
    uint32_t count; // floats
} joint_sets[] = {
    {CAIRN_JOINT_PROPERTY_MOTOR, CAIRN_JOINT_HINGE, {2.0f, 0.0f, 0.0f}, FIELD(motor_speed), 1},
    {CAIRN_JOINT_PROPERTY_TARGET, CAIRN_JOINT_WHEEL, {0.5f, 0.0f, 0.0f}, FIELD(target), 1},
    {CAIRN_JOINT_PROPERTY_LIMITS, CAIRN_JOINT_CONE, {-0.5f, 0.25f, 0.0f}, FIELD(lower), 2},
    {CAIRN_JOINT_PROPERTY_SPRING, CAIRN_JOINT_BALL, {2.0f, 0.25f, 0.0f}, FIELD(spring_hertz), 2},
    {CAIRN_JOINT_PROPERTY_SOFTNESS, CAIRN_JOINT_WELD, {5.0f, 0.5f, 0.0f}, FIELD(hertz), 2},
    {CAIRN_JOINT_PROPERTY_STEERING, CAIRN_JOINT_WHEEL, {0.5f, 0.0f, 0.0f}, FIELD(steering_target),
        1},
    {CAIRN_JOINT_PROPERTY_MOTOR_VELOCITY, CAIRN_JOINT_BALL, {1.0f, -2.0f, 3.0f},
        FIELD(motor_velocity), 3},
    {CAIRN_JOINT_PROPERTY_MOTOR_FORCE, CAIRN_JOINT_MOTOR, {7.0f, 9.0f, 0.0f}, FIELD(motor_force),
        2},
    {CAIRN_JOINT_PROPERTY_MOTOR_FORCE, CAIRN_JOINT_HINGE, {7.0f, 0.0f, 0.0f}, FIELD(motor_force),
        1},
    {CAIRN_JOINT_PROPERTY_TARGET_POSITION, CAIRN_JOINT_MOTOR, {1.0f, 2.0f, 3.0f},
        FIELD(target_position), 3},
    {CAIRN_JOINT_PROPERTY_CONE, CAIRN_JOINT_CONE, {0.75f, 0.0f, 0.0f}, FIELD(cone), 1},
    {CAIRN_JOINT_PROPERTY_BREAK, CAIRN_JOINT_GEAR, {100.0f, 20.0f, 0.0f}, FIELD(break_force), 2},
    {CAIRN_JOINT_PROPERTY_STEERING_SPRING, CAIRN_JOINT_WHEEL, {4.0f, 0.5f, 0.0f},
        FIELD(steering_hertz), 2},
    {CAIRN_JOINT_PROPERTY_RATIO, CAIRN_JOINT_GEAR, {2.5f, 0.0f, 0.0f}, FIELD(ratio), 1},
    {CAIRN_JOINT_PROPERTY_LENGTH, CAIRN_JOINT_PULLEY, {3.0f, 0.0f, 0.0f}, FIELD(length), 1},
    {CAIRN_JOINT_PROPERTY_ANCHOR_A, CAIRN_JOINT_BALL, {1.0f, 2.0f, 3.0f}, FIELD(anchor_a), 3},
    {CAIRN_JOINT_PROPERTY_ANCHOR_B, CAIRN_JOINT_HINGE, {1.0f, 2.0f, 3.0f}, FIELD(anchor_b), 3},
    {CAIRN_JOINT_PROPERTY_AXIS_A, CAIRN_JOINT_HINGE, {0.0f, 1.0f, 0.0f}, FIELD(axis_a), 3},
    {CAIRN_JOINT_PROPERTY_AXIS_B, CAIRN_JOINT_WELD, {-1.0f, 0.0f, 0.0f}, FIELD(axis_b), 3},
    {CAIRN_JOINT_PROPERTY_NORMAL_A, CAIRN_JOINT_CONE, {0.0f, 0.0f, 1.0f}, FIELD(normal_a), 3},
    {CAIRN_JOINT_PROPERTY_NORMAL_B, CAIRN_JOINT_MOTOR, {0.0f, 0.0f, -1.0f}, FIELD(normal_b), 3},
    {CAIRN_JOINT_PROPERTY_FIXED_A, CAIRN_JOINT_PULLEY, {1.0f, 2.0f, 3.0f}, FIELD(fixed_a), 3},
    {CAIRN_JOINT_PROPERTY_FIXED_B, CAIRN_JOINT_PULLEY, {1.0f, 2.0f, 3.0f}, FIELD(fixed_b), 3},
    {CAIRN_JOINT_PROPERTY_ROW_LINEAR_A, CAIRN_JOINT_ROW, {1.0f, 2.0f, 3.0f}, FIELD(row.linear_a),
        3},
    {CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A, CAIRN_JOINT_ROW, {1.0f, 2.0f, 3.0f}, FIELD(row.angular_a),
        3},
    {CAIRN_JOINT_PROPERTY_ROW_LINEAR_B, CAIRN_JOINT_ROW, {1.0f, 2.0f, 3.0f}, FIELD(row.linear_b),
        3},
    {CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B, CAIRN_JOINT_ROW, {1.0f, 2.0f, 3.0f}, FIELD(row.angular_b),
        3},
    {CAIRN_JOINT_PROPERTY_ROW_BOUNDS, CAIRN_JOINT_ROW, {-1.0f, 2.0f, 3.0f}, FIELD(row.lower), 3},
};

TEST("a property of a joint is set, or refused and nothing changes") {
    for (size_t i = 0; i < LENGTH_OF(joint_sets); ++i) {
        for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_ROW; ++kind) {
            SCOPED(cairn_world) *world = kit_world(NULL);
            const cairn_joint_id joint = joint_of(world, kind, 0);
            const cairn_command command = edit(CAIRN_COMMAND_SET_JOINT, joint, joint_sets[i].value,
                property(joint_sets[i].property));
            cairn_joint_def before;
            cairn_joint_def after;
            cairn_edit_made made;
            EXPECT_OK(cairn_command_check(&command));
            EXPECT_OK(cairn_joint_read(world, joint, &before));
            const cairn_status status = cairn_world_apply_edit(world, &command, 1, &made);
            EXPECT_OK(cairn_joint_read(world, joint, &after));
            const unsigned char *field = (const unsigned char *)&after + joint_sets[i].field;
            const size_t size = joint_sets[i].count * sizeof(float);
            const bool of_distance = joint_sets[i].property == CAIRN_JOINT_PROPERTY_TARGET &&
                                     kind == CAIRN_JOINT_DISTANCE; // its target is its length
            const bool set = memcmp(field, &joint_sets[i].value, size) == 0 || of_distance;
            const bool same = memcmp(&before, &after, sizeof after) == 0;
            if (status == CAIRN_OK ? !set : !same || kind == joint_sets[i].kind) {
                fail_msg("set %u of kind %u", (unsigned)i, (unsigned)kind);
            }
        }
    }
}

static cairn_joint_def set_joint(
    cairn_world *world, cairn_joint_id joint, uint32_t name, cairn_vec3 value) {
    cairn_joint_def def;
    step(world, edit(CAIRN_COMMAND_SET_JOINT, joint, value, property(name)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    EXPECT_OK(cairn_joint_read(world, joint, &def));
    return def;
}

TEST("edits switch what a joint has on and off") {
    const cairn_vec3 on = vec3(1.0f, 0.0f, 0.0f);
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_joint_id joint = joint_of(world, CAIRN_JOINT_HINGE, 0);
    assert_int_equal(set_joint(world, joint, CAIRN_JOINT_PROPERTY_MOTOR_ON, on).motor, 1);
    assert_int_equal(set_joint(world, joint, CAIRN_JOINT_PROPERTY_MOTOR_ON, zero).motor, 0);
    assert_int_equal(set_joint(world, joint, CAIRN_JOINT_PROPERTY_LIMITED, on).limited, 1);
    assert_int_equal(set_joint(world, joint, CAIRN_JOINT_PROPERTY_LIMITED, zero).limited, 0);
    cairn_joint_def def =
        set_joint(world, joint, CAIRN_JOINT_PROPERTY_BREAK, vec3(0.0f, 1e6f, 0.0f));
    assert_true(def.breakable == 1 && def.break_force == CAIRN_FORCE_MAX);
    assert_int_equal(set_joint(world, joint, CAIRN_JOINT_PROPERTY_BREAK, zero).breakable, 0);
    joint = joint_of(world, CAIRN_JOINT_WHEEL, 0);
    def = set_joint(world, joint, CAIRN_JOINT_PROPERTY_STEERING_SPRING, vec3(4.0f, 1.0f, 70.0f));
    assert_true(def.steering == 1 && def.steering_torque == 70.0f);
    def = set_joint(world, joint, CAIRN_JOINT_PROPERTY_STEERING_SPRING, zero);
    assert_int_equal(def.steering, 0);
    joint = joint_of(world, CAIRN_JOINT_BALL, 0);
    def = set_joint(world, joint, CAIRN_JOINT_PROPERTY_TARGET_ROTATION, vec3(0.0f, 0.6f, 0.0f));
    assert_float_equal(def.target_rotation.y, sinf(0.3f), 1e-6f);
}

// A joint that has neither keeps nothing of the two (cairn_joint_read).
TEST("a motor that is off takes no force, and a spring that is off no rotation") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_joint_id joint = joint_of(world, CAIRN_JOINT_BALL, 0);
    const cairn_vec3 x = vec3(0.5f, 0.0f, 0.0f);
    (void)set_joint(world, joint, CAIRN_JOINT_PROPERTY_SPRING, zero);
    (void)set_joint(world, joint, CAIRN_JOINT_PROPERTY_MOTOR_ON, zero);
    step(
        world, edit(CAIRN_COMMAND_SET_JOINT, joint, x, property(CAIRN_JOINT_PROPERTY_MOTOR_FORCE)));
    step(world,
        edit(CAIRN_COMMAND_SET_JOINT, joint, x, property(CAIRN_JOINT_PROPERTY_TARGET_ROTATION)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 2);
    step(world, edit(CAIRN_COMMAND_SET_JOINT, joint, vec3(1.0f, 0.0f, 0.0f),
                    property(CAIRN_JOINT_PROPERTY_MOTOR_ON)));
    cairn_joint_def def;
    EXPECT_OK(cairn_joint_read(world, joint, &def));
    assert_true(def.motor == 1 && def.motor_force == CAIRN_FORCE_MAX);
}

TEST("edits name a joint and drive an articulated one") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_joint_id joint = joint_of(world, CAIRN_JOINT_PRISMATIC, 1);
    const uint32_t name = cairn_name_hash("slide");
    const cairn_vec3 aim =
        vec3(CAIRN_JOINT_PROPERTY_NAME, (float)(name & 0xffffu), (float)(name >> 16));
    step(world, edit(CAIRN_COMMAND_SET_JOINT, joint, zero, aim));
    assert_int_equal(cairn_world_find_joint(world, "slide"), joint);
    (void)set_joint(world, joint, CAIRN_JOINT_PROPERTY_DRIVE, vec3(50.0f, 5.0f, 0.0f));
    (void)set_joint(world, joint, CAIRN_JOINT_PROPERTY_DRIVE_TORQUE, vec3(2.0f, 0.0f, 0.0f));
    (void)set_joint(world, joint, CAIRN_JOINT_PROPERTY_FRICTION, vec3(3.0f, 0.0f, 0.0f));
    const cairn_joint_def def =
        set_joint(world, joint, CAIRN_JOINT_PROPERTY_ARMATURE, vec3(4.0f, 0.0f, 0.0f));
    assert_true(def.drive_stiffness == 50.0f && def.drive_damping == 5.0f);
    assert_true(def.drive_torque.x == 2.0f && def.joint_friction == 3.0f && def.armature == 4.0f);
    // An articulated joint does not break, and others have no drive.
    step(world, edit(CAIRN_COMMAND_SET_JOINT, joint, vec3(9.0f, 0.0f, 0.0f),
                    property(CAIRN_JOINT_PROPERTY_BREAK)));
    const cairn_joint_id plain = joint_of(world, CAIRN_JOINT_PRISMATIC, 0);
    step(world, edit(CAIRN_COMMAND_SET_JOINT, plain, zero, property(CAIRN_JOINT_PROPERTY_DRIVE)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 2);
}

// Unit mass would fall; the row holds it up with at most its weight.
TEST("edits make a row that carries a body") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    const cairn_body_id on = kit_body(world, &fixed, NULL);
    const cairn_body_id body = kit_cube(world, vec3(0.0f, 50.0f, 0.0f));
    const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
    cairn_command commands[] = {edit(CAIRN_COMMAND_JOINT, on, zero, zero),
        edit(CAIRN_COMMAND_CREATE_JOINT, body, zero, vec3(CAIRN_JOINT_ROW, 0.0f, 0.0f)),
        edit(CAIRN_COMMAND_SET_JOINT, 1, up, property(CAIRN_JOINT_PROPERTY_ROW_LINEAR_B)),
        edit(CAIRN_COMMAND_SET_JOINT, 1, vec3(0.0f, 2e4f, 0.5f),
            property(CAIRN_JOINT_PROPERTY_ROW_BOUNDS))};
    step_all(world, commands, LENGTH_OF(commands));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    kit_run(world, 60);
    assert_float_equal(kit_read(world, body).linear_velocity.y, 0.5f, 1e-3f);
    // Lower above upper.
    step(world, edit(CAIRN_COMMAND_SET_JOINT, 1, vec3(2.0f, 1.0f, 0.0f),
                    property(CAIRN_JOINT_PROPERTY_ROW_BOUNDS)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
}

TEST("edits drive a joint, switch it off and destroy it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_PRISMATIC;
    def.body_a = kit_body(world, &fixed, NULL);
    def.body_b = kit_cube(world, vec3_zero());
    const cairn_joint_id joint = kit_joint(world, &def);
    const struct {
        uint32_t property;
        cairn_vec3 value;
    } sets[] = {{CAIRN_JOINT_PROPERTY_MOTOR, {2.0f, 1e6f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_LIMITS, {-1.0f, 3.0f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_TARGET, {0.5f, 0.0f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_SPRING, {2.0f, 0.25f, 0.0f}},
        {CAIRN_JOINT_PROPERTY_SOFTNESS, {5.0f, 0.5f, 0.0f}}};
    for (size_t i = 0; i < LENGTH_OF(sets); ++i) {
        step(
            world, edit(CAIRN_COMMAND_SET_JOINT, joint, sets[i].value, property(sets[i].property)));
    }
    EXPECT_OK(cairn_joint_read(world, joint, &def));
    assert_true(def.motor == 1 && def.motor_speed == 2.0f && def.motor_force == 1e6f);
    assert_true(def.limited == 1 && def.lower == -1.0f && def.upper == 3.0f);
    assert_true(def.target == 0.5f && def.spring_hertz == 2.0f && def.spring_damping == 0.25f);
    assert_true(def.hertz == 5.0f && def.damping == 0.5f);
    step(world, edit(CAIRN_COMMAND_SET_JOINT, joint, zero, property(CAIRN_JOINT_PROPERTY_ENABLED)));
    EXPECT_OK(cairn_joint_read(world, joint, &def));
    assert_int_equal(def.disabled, 1);
    // A prismatic joint does not steer.
    step(
        world, edit(CAIRN_COMMAND_SET_JOINT, joint, zero, property(CAIRN_JOINT_PROPERTY_STEERING)));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
    step(world, edit(CAIRN_COMMAND_DESTROY_JOINT, joint, zero, zero));
    assert_int_equal(cairn_world_joints(world, NULL, 0), 0);
    step(world, edit(CAIRN_COMMAND_DESTROY_JOINT, joint, zero, zero));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 2);
}
