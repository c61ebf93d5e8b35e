// SPDX-License-Identifier: MIT
// Edits that set a property of a joint.
#include "sim/edit.h"

#include "base/assert.h"
#include "sim/math/vec.h"

#define OF(kind) (1u << CAIRN_JOINT_##kind)
#define OF_ALL UINT32_MAX
#define OF_AXES (OF(HINGE) | OF(CONE) | OF(PRISMATIC) | OF(WELD) | OF(WHEEL) | OF(MOTOR) | OF(GEAR))
#define OF_MOTORS (OF(HINGE) | OF(PRISMATIC) | OF(WHEEL) | OF(BALL) | OF(CONE))
#define OF_LIMITS (OF(HINGE) | OF(CONE) | OF(PRISMATIC) | OF(WHEEL) | OF(DISTANCE))
#define OF_DRIVES (OF(HINGE) | OF(PRISMATIC) | OF(BALL) | OF(CONE)) // if they are articulated

// The kinds of joint that have a property, as a bit set. Properties that are not listed are checked
// by their setters.
static const uint32_t kinds_with[CAIRN_JOINT_PROPERTY_LAST + 1] = {
    [CAIRN_JOINT_PROPERTY_MOTOR_ON] = OF_MOTORS,
    [CAIRN_JOINT_PROPERTY_MOTOR_VELOCITY] = OF(BALL) | OF(CONE),
    [CAIRN_JOINT_PROPERTY_MOTOR_FORCE] = OF_MOTORS | OF(MOTOR),
    [CAIRN_JOINT_PROPERTY_TARGET_POSITION] = OF(MOTOR),
    [CAIRN_JOINT_PROPERTY_TARGET_ROTATION] = OF(BALL) | OF(CONE) | OF(MOTOR),
    [CAIRN_JOINT_PROPERTY_LIMITED] = OF_LIMITS,
    [CAIRN_JOINT_PROPERTY_CONE] = OF(CONE),
    [CAIRN_JOINT_PROPERTY_BREAK] = OF_ALL,
    [CAIRN_JOINT_PROPERTY_STEERING_SPRING] = OF(WHEEL),
    [CAIRN_JOINT_PROPERTY_RATIO] = OF(GEAR) | OF(PULLEY),
    [CAIRN_JOINT_PROPERTY_LENGTH] = OF(DISTANCE) | OF(PULLEY),
    [CAIRN_JOINT_PROPERTY_DRIVE] = OF_DRIVES,
    [CAIRN_JOINT_PROPERTY_DRIVE_TORQUE] = OF_DRIVES,
    [CAIRN_JOINT_PROPERTY_FRICTION] = OF_DRIVES,
    [CAIRN_JOINT_PROPERTY_ARMATURE] = OF_DRIVES,
    [CAIRN_JOINT_PROPERTY_ANCHOR_A] = OF_ALL,
    [CAIRN_JOINT_PROPERTY_ANCHOR_B] = OF_ALL,
    [CAIRN_JOINT_PROPERTY_AXIS_A] = OF_AXES,
    [CAIRN_JOINT_PROPERTY_AXIS_B] = OF_AXES,
    [CAIRN_JOINT_PROPERTY_NORMAL_A] = OF_AXES,
    [CAIRN_JOINT_PROPERTY_NORMAL_B] = OF_AXES,
    [CAIRN_JOINT_PROPERTY_FIXED_A] = OF(PULLEY),
    [CAIRN_JOINT_PROPERTY_FIXED_B] = OF(PULLEY),
    [CAIRN_JOINT_PROPERTY_USER] = OF_ALL,
    [CAIRN_JOINT_PROPERTY_NAME] = OF_ALL,
    [CAIRN_JOINT_PROPERTY_ROW_LINEAR_A] = OF(ROW),
    [CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A] = OF(ROW),
    [CAIRN_JOINT_PROPERTY_ROW_LINEAR_B] = OF(ROW),
    [CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B] = OF(ROW),
    [CAIRN_JOINT_PROPERTY_ROW_BOUNDS] = OF(ROW),
};

// A force is kept only with a motor that is on, and a target rotation only with a spring that is
// on: otherwise setting it would have no effect, so it is refused.
static bool has_property(const cairn_joint_def *def, uint32_t property, cairn_vec3 value) {
    const bool of_kind = (kinds_with[property] >> def->kind & 1u) != 0;
    const bool of_articulated = kinds_with[property] == OF_DRIVES;
    const bool free = def->kind != CAIRN_JOINT_MOTOR;
    switch (property) {
    case CAIRN_JOINT_PROPERTY_MOTOR_FORCE:
        return of_kind && !(free && (value.y != 0.0f || def->motor == 0));
    case CAIRN_JOINT_PROPERTY_TARGET_ROTATION:
        return of_kind && !(free && def->spring == 0 && def->articulated == 0);
    default:
        return of_kind && (!of_articulated || def->articulated != 0);
    }
}

// Turns axis and normal by the shortest rotation that takes the old axis to the new one, so that
// they stay perpendicular. An axis that is not of unit length is refused later.
static void turn_frame(cairn_vec3 *axis, cairn_vec3 *normal, cairn_vec3 to) {
    const cairn_vec3 unit = vec3_normalize(to, *axis);
    const float along = vec3_dot(*axis, unit);
    const float out = vec3_dot(*normal, unit);
    *normal = along > -0.75f ? vec3_sub_scaled(*normal, vec3_add(*axis, unit), out / (1.0f + along))
                             : vec3_normalize(vec3_sub_scaled(*normal, unit, out), *normal);
    *axis = to;
}

static void set_row(cairn_joint_row *row, uint32_t property, cairn_vec3 value) {
    switch (property) {
    case CAIRN_JOINT_PROPERTY_ROW_LINEAR_A:
        row->linear_a = value;
        break;
    case CAIRN_JOINT_PROPERTY_ROW_ANGULAR_A:
        row->angular_a = value;
        break;
    case CAIRN_JOINT_PROPERTY_ROW_LINEAR_B:
        row->linear_b = value;
        break;
    case CAIRN_JOINT_PROPERTY_ROW_ANGULAR_B:
        row->angular_b = value;
        break;
    default:
        CAIRN_ASSERT(property == CAIRN_JOINT_PROPERTY_ROW_BOUNDS);
        row->lower = value.x;
        row->upper = value.y;
        row->velocity = value.z;
        break;
    }
}

static void set_frame(cairn_joint_def *def, uint32_t property, cairn_vec3 value) {
    switch (property) {
    case CAIRN_JOINT_PROPERTY_ANCHOR_A:
        def->anchor_a = value;
        break;
    case CAIRN_JOINT_PROPERTY_ANCHOR_B:
        def->anchor_b = value;
        break;
    case CAIRN_JOINT_PROPERTY_AXIS_A:
        turn_frame(&def->axis_a, &def->normal_a, value);
        break;
    case CAIRN_JOINT_PROPERTY_AXIS_B:
        turn_frame(&def->axis_b, &def->normal_b, value);
        break;
    case CAIRN_JOINT_PROPERTY_NORMAL_A:
        def->normal_a = value;
        break;
    case CAIRN_JOINT_PROPERTY_NORMAL_B:
        def->normal_b = value;
        break;
    case CAIRN_JOINT_PROPERTY_FIXED_A:
        def->fixed_a = value;
        break;
    case CAIRN_JOINT_PROPERTY_FIXED_B:
        def->fixed_b = value;
        break;
    default:
        set_row(&def->row, property, value);
        break;
    }
}

// A bound of 0 means unbounded.
static float bound_of(float given) {
    return given > 0.0f ? given : CAIRN_FORCE_MAX;
}

static void set_strength(cairn_joint_def *def, uint32_t property, cairn_vec3 value) {
    switch (property) {
    case CAIRN_JOINT_PROPERTY_BREAK:
        def->breakable = value.x > 0.0f || value.y > 0.0f ? 1 : 0;
        def->break_force = bound_of(value.x);
        def->break_torque = bound_of(value.y);
        break;
    case CAIRN_JOINT_PROPERTY_STEERING_SPRING:
        def->steering = value.x > 0.0f ? 1 : 0;
        def->steering_hertz = value.x;
        def->steering_damping = value.y;
        def->steering_torque = value.z;
        break;
    case CAIRN_JOINT_PROPERTY_DRIVE:
        def->drive_stiffness = value.x;
        def->drive_damping = value.y;
        break;
    case CAIRN_JOINT_PROPERTY_DRIVE_TORQUE:
        def->drive_torque = value;
        break;
    case CAIRN_JOINT_PROPERTY_FRICTION:
        def->joint_friction = value.x;
        break;
    case CAIRN_JOINT_PROPERTY_ARMATURE:
        def->armature = value.x;
        break;
    default:
        set_frame(def, property, value);
        break;
    }
}

// A motor that was off and has no force gets an unbounded one.
static void switch_motor(cairn_joint_def *def, bool on) {
    if (on && def->motor == 0 && def->motor_force == 0.0f) {
        def->motor_force = CAIRN_FORCE_MAX;
    }
    def->motor = on ? 1 : 0;
}

static void set_field(cairn_joint_def *def, uint32_t property, cairn_vec3 value, uint32_t word) {
    switch (property) {
    case CAIRN_JOINT_PROPERTY_MOTOR_ON:
        switch_motor(def, value.x != 0.0f);
        break;
    case CAIRN_JOINT_PROPERTY_MOTOR_VELOCITY:
        switch_motor(def, true);
        def->motor_velocity = value;
        break;
    case CAIRN_JOINT_PROPERTY_MOTOR_FORCE:
        def->motor_force = value.x;
        def->motor_torque = value.y;
        break;
    case CAIRN_JOINT_PROPERTY_TARGET_POSITION:
        def->target_position = value;
        break;
    case CAIRN_JOINT_PROPERTY_TARGET_ROTATION:
        def->target_rotation = cairn_quat_of_rotation_vector(value);
        break;
    case CAIRN_JOINT_PROPERTY_LIMITED:
        def->limited = value.x != 0.0f ? 1 : 0;
        break;
    case CAIRN_JOINT_PROPERTY_CONE:
        def->cone = value.x;
        break;
    case CAIRN_JOINT_PROPERTY_RATIO:
        def->ratio = value.x;
        break;
    case CAIRN_JOINT_PROPERTY_LENGTH:
        def->length = value.x;
        break;
    case CAIRN_JOINT_PROPERTY_USER:
        def->user = word;
        break;
    case CAIRN_JOINT_PROPERTY_NAME:
        def->name = word;
        break;
    default:
        set_strength(def, property, value);
        break;
    }
}

static cairn_status set_any(cairn_world *world, const cairn_command *edit, uint32_t property) {
    cairn_joint_def def;
    const cairn_status status = cairn_joint_read(world, edit->buttons, &def);
    if (status != CAIRN_OK) {
        return status;
    }
    if (!has_property(&def, property, edit->move)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    set_field(&def, property, edit->move, (uint32_t)edit->aim.y | (uint32_t)edit->aim.z << 16);
    return cairn_joint_set(world, edit->buttons, &def);
}

cairn_status cairn_edit_set_joint(cairn_world *world, const cairn_command *edit) {
    const cairn_joint_id joint = edit->buttons;
    const uint32_t property = (uint32_t)edit->aim.x;
    const float x = edit->move.x;
    const float y = edit->move.y;
    switch (property) {
    case CAIRN_JOINT_PROPERTY_ENABLED:
        return cairn_joint_set_enabled(world, joint, x != 0.0f);
    case CAIRN_JOINT_PROPERTY_MOTOR:
        return cairn_joint_set_motor(world, joint, x, y);
    case CAIRN_JOINT_PROPERTY_TARGET:
        return cairn_joint_set_target(world, joint, x);
    case CAIRN_JOINT_PROPERTY_LIMITS:
        return cairn_joint_set_limits(world, joint, x, y);
    case CAIRN_JOINT_PROPERTY_SPRING:
        return cairn_joint_set_spring(world, joint, x, y);
    case CAIRN_JOINT_PROPERTY_SOFTNESS:
        return cairn_joint_set_softness(world, joint, x, y);
    case CAIRN_JOINT_PROPERTY_STEERING:
        return cairn_joint_set_steering(world, joint, x);
    default:
        return set_any(world, edit, property);
    }
}
