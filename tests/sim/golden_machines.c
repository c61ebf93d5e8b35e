// SPDX-License-Identifier: MIT
#include "tests/sim/golden_scenes.h"

#include "base/assert.h"
#include "sim/math/vec.h"

enum { MACHINE_KINDS = CAIRN_JOINT_ROW, MACHINES = 16 };

static cairn_body_id add_box(cairn_world *world, uint32_t kind, cairn_vec3 position, float half) {
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id id = 0;
    cairn_shape_id shape_id = 0;
    body.kind = kind;
    body.position = position;
    shape.half_extents = vec3(half, half, half);
    CAIRN_ASSERT(cairn_body_create(world, &body, &id) == CAIRN_OK);
    CAIRN_ASSERT(cairn_shape_create(world, id, &shape, &shape_id) == CAIRN_OK);
    return id;
}

// A joint with every drive that its kind may have.
static cairn_joint_def machine_joint(uint32_t kind, float x) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.anchor_a = vec3(0.5f, 0.0f, 0.0f);
    def.anchor_b = vec3(-0.25f, 0.0f, 0.0f);
    def.axis_a = vec3(0.0f, 1.0f, 0.0f);
    def.normal_a = vec3(0.0f, 0.0f, 1.0f);
    def.axis_b = kind == CAIRN_JOINT_WHEEL ? vec3(0.0f, 0.0f, 1.0f) : def.axis_a;
    def.normal_b = kind == CAIRN_JOINT_WHEEL ? vec3(0.0f, 1.0f, 0.0f) : def.normal_a;
    def.cone = 0.75f;
    def.lower = kind == CAIRN_JOINT_DISTANCE ? 0.25f : -0.5f;
    def.upper = 0.5f;
    def.limited = 1;
    def.hertz = kind == CAIRN_JOINT_WELD || kind == CAIRN_JOINT_MOTOR ? 4.0f : 0.0f;
    def.spring = 1;
    def.spring_hertz = 3.0f;
    def.spring_damping = 0.25f;
    def.target = 0.25f;
    def.target_position = vec3(0.5f, 0.5f, 0.0f);
    def.target_rotation = (cairn_quat){.x = 0.0f, .y = 0.6f, .z = 0.0f, .w = 0.8f};
    def.motor = 1;
    def.motor_speed = 3.0f;
    def.motor_velocity = vec3(1.0f, 2.0f, -1.0f);
    def.motor_force = 300.0f;
    def.motor_torque = 100.0f;
    def.steering = 1;
    def.steering_target = 0.25f;
    def.ratio = 2.0f;
    def.fixed_a = vec3(x, 8.0f, 0.0f);
    def.fixed_b = vec3(x + 1.0f, 8.0f, 0.0f);
    def.length = kind == CAIRN_JOINT_PULLEY ? 13.0f : 0.75f;
    def.row = (cairn_joint_row){.linear_a = vec3(0.0f, -1.0f, 0.0f),
        .angular_a = vec3_zero(),
        .linear_b = vec3(0.0f, 1.0f, 0.0f),
        .angular_b = vec3(0.0f, 0.0f, 0.5f),
        .lower = -400.0f,
        .upper = 900.0f,
        .velocity = 0.5f};
    return def;
}

void golden_build_machines(cairn_world *world) {
    cairn_body_def ground = cairn_body_def_default();
    cairn_shape_def plane = cairn_shape_def_default();
    cairn_body_id floor = 0;
    cairn_shape_id shape = 0;
    ground.kind = CAIRN_BODY_STATIC;
    plane.kind = CAIRN_SHAPE_HALF_SPACE;
    CAIRN_ASSERT(cairn_body_create(world, &ground, &floor) == CAIRN_OK);
    CAIRN_ASSERT(cairn_shape_create(world, floor, &plane, &shape) == CAIRN_OK);
    for (uint32_t i = 0; i < MACHINES; ++i) {
        const float x = 2.0f * (float)(i % MACHINE_KINDS);
        const float z = i < MACHINE_KINDS ? 0.0f : 3.0f;
        const uint32_t base = i < MACHINE_KINDS ? CAIRN_BODY_DYNAMIC : CAIRN_BODY_STATIC;
        // The kinds from 5 on once more, on static bodies.
        const uint32_t kind = i < MACHINE_KINDS ? 1 + i : i - MACHINE_KINDS + CAIRN_JOINT_PRISMATIC;
        cairn_joint_def def = machine_joint(kind, x);
        cairn_joint_id joint = 0;
        def.body_a = add_box(world, base, vec3(x, 3.0f, z), 0.25f);
        def.body_b = add_box(world, CAIRN_BODY_DYNAMIC, vec3(x + 0.75f, 3.0f, z), 0.25f);
        def.breakable = i % 3 == 0 ? 1 : 0;
        def.break_force = 4000.0f;
        def.break_torque = 1500.0f;
        CAIRN_ASSERT(cairn_joint_create(world, &def, &joint) == CAIRN_OK);
    }
}

// Every tick some joint is driven elsewhere, switched off or on, or bound by other forces.
void golden_disturb_machines(cairn_world *world, uint64_t tick) {
    cairn_joint_id joints[MACHINES];
    cairn_joint_def def;
    const uint32_t count = cairn_world_joints(world, joints, MACHINES);
    if (count == 0 || tick % 3 != 0) {
        return;
    }
    const cairn_joint_id joint = joints[tick / 3 % count];
    CAIRN_ASSERT(cairn_joint_read(world, joint, &def) == CAIRN_OK);
    def.motor_speed = 0.0f - def.motor_speed;
    def.target = 0.25f - 0.5f * def.target;
    def.row.upper = def.kind == CAIRN_JOINT_ROW ? 500.0f : def.row.upper;
    def.disabled = tick % 30 == 0 ? 1u - def.disabled : def.disabled;
    CAIRN_ASSERT(cairn_joint_set(world, joint, &def) == CAIRN_OK);
}
