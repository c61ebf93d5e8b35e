// SPDX-License-Identifier: MIT

// What a joint def may say, and how the state stores it: fields that the kind ignores are zero.

#include "sim/world/joint_def.h"

#include <string.h>

#include "base/assert.h"
#include "base/check.h"
#include "base/joint_defaults.h"
#include "base/world_settings.h"
#include "sim/constraint/joint_frame.h"

cairn_joint_def cairn_joint_def_default(void) {
    return cairn_joint_defaults();
}

// ---- Which fields a kind uses

typedef enum field_group {
    USES_LENGTH = 1 << 0,
    USES_LIMITS = 1 << 1,
    USES_SPRING = 1 << 2,
    USES_TARGET = 1 << 3,   // the number
    USES_ROTATION = 1 << 4, // target_rotation
    USES_MOTOR = 1 << 5,    // motor_speed and motor_force
    USES_SPIN = 1 << 6,     // motor_velocity and motor_force
    USES_HERTZ = 1 << 7,
    USES_ANGLES = 1 << 8, // limits and target are angles
} field_group;

static uint32_t groups_of(uint32_t kind) {
    static const uint32_t groups[] = {
        [CAIRN_JOINT_BALL] = USES_SPRING | USES_ROTATION | USES_SPIN | USES_HERTZ,
        [CAIRN_JOINT_DISTANCE] = USES_LENGTH | USES_LIMITS | USES_SPRING | USES_HERTZ,
        [CAIRN_JOINT_HINGE] =
            USES_LIMITS | USES_SPRING | USES_TARGET | USES_MOTOR | USES_HERTZ | USES_ANGLES,
        [CAIRN_JOINT_CONE] =
            USES_LIMITS | USES_SPRING | USES_ROTATION | USES_SPIN | USES_HERTZ | USES_ANGLES,
        [CAIRN_JOINT_PRISMATIC] = USES_LIMITS | USES_SPRING | USES_TARGET | USES_MOTOR | USES_HERTZ,
        [CAIRN_JOINT_WELD] = USES_HERTZ,
        [CAIRN_JOINT_WHEEL] = USES_LIMITS | USES_SPRING | USES_TARGET | USES_MOTOR | USES_HERTZ,
        [CAIRN_JOINT_MOTOR] = USES_ROTATION | USES_HERTZ,
        [CAIRN_JOINT_GEAR] = USES_HERTZ,
        [CAIRN_JOINT_PULLEY] = USES_LENGTH,
        [CAIRN_JOINT_ROW] = 0,
    };
    CAIRN_ASSERT(kind < sizeof groups / sizeof groups[0]);
    return groups[kind];
}

bool cairn_joint_def_uses_motor(const cairn_joint_def *def) {
    return (groups_of(def->kind) & USES_MOTOR) != 0;
}
bool cairn_joint_def_uses_limits(const cairn_joint_def *def) {
    return (groups_of(def->kind) & USES_LIMITS) != 0;
}
bool cairn_joint_def_uses_spring(const cairn_joint_def *def) {
    return (groups_of(def->kind) & USES_SPRING) != 0;
}
bool cairn_joint_def_uses_target(const cairn_joint_def *def) {
    return (groups_of(def->kind) & USES_TARGET) != 0;
}
bool cairn_joint_def_uses_hertz(const cairn_joint_def *def) {
    return (groups_of(def->kind) & USES_HERTZ) != 0;
}

// ---- Checks

#define CHECK_ALL(checks) cairn_check_all(checks, sizeof(checks) / sizeof(checks)[0])

static cairn_status check_flag(uint32_t flag) {
    return flag <= 1 ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

// Axis and normal may be roughly unit and perpendicular: set_axes corrects them.
static cairn_status check_frame(cairn_vec3 axis, cairn_vec3 normal) {
    if (!vec3_finite(axis) || !vec3_finite(normal)) {
        return CAIRN_NON_FINITE;
    }
    const float along = vec3_length_squared(axis);
    const float across = vec3_length_squared(normal);
    const bool unit = along >= 0.81f && along <= 1.21f && across >= 0.81f && across <= 1.21f;
    const bool perpendicular = float_abs(vec3_dot(axis, normal)) <= 0.1f;
    return unit && perpendicular ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

static cairn_status check_axes(const cairn_joint_def *def) {
    const cairn_status checks[] = {
        check_frame(def->axis_a, def->normal_a), check_frame(def->axis_b, def->normal_b)};
    const cairn_status status = CHECK_ALL(checks);
    return status == CAIRN_OK && def->kind == CAIRN_JOINT_CONE
               ? cairn_check_float(def->cone, 0.0f, CAIRN_ANGLE_MAX)
               : status;
}

static cairn_status check_limits(const cairn_joint_def *def) {
    const bool angles = (groups_of(def->kind) & USES_ANGLES) != 0;
    const float most = angles ? CAIRN_ANGLE_MAX : CAIRN_SHAPE_SIZE_MAX;
    const cairn_status checks[] = {cairn_check_float(def->lower, 0.0f - most, most),
        cairn_check_float(def->upper, def->lower, most), check_flag(def->limited)};
    return CHECK_ALL(checks);
}

static cairn_status check_turn(cairn_quat q) {
    const bool none = q.x == 0.0f && q.y == 0.0f && q.z == 0.0f && q.w == 0.0f;
    return none ? CAIRN_OK : cairn_check_rotation(q);
}

static cairn_status check_spring(const cairn_joint_def *def) {
    const uint32_t groups = groups_of(def->kind);
    const float most = (groups & USES_ANGLES) != 0 ? CAIRN_ANGLE_MAX : CAIRN_SHAPE_SIZE_MAX;
    const cairn_status checks[] = {check_flag(def->spring),
        cairn_check_float(def->spring_hertz, 0.0f, CAIRN_HERTZ_MAX),
        cairn_check_float(def->spring_damping, 0.0f, CAIRN_DAMPING_RATIO_MAX),
        (groups & USES_TARGET) != 0 ? cairn_check_float(def->target, 0.0f - most, most) : CAIRN_OK};
    return CHECK_ALL(checks);
}

static cairn_status check_motor(const cairn_joint_def *def) {
    const cairn_status checks[] = {check_flag(def->motor),
        cairn_check_float(def->motor_speed, -CAIRN_SPEED_MAX, CAIRN_SPEED_MAX),
        cairn_check_vec3(def->motor_velocity, CAIRN_SPEED_MAX),
        cairn_check_float(def->motor_force, 0.0f, CAIRN_FORCE_MAX)};
    return CHECK_ALL(checks);
}

static cairn_status check_wheel(const cairn_joint_def *def) {
    const cairn_status checks[] = {check_flag(def->steering),
        cairn_check_float(
            def->steering_hertz, def->steering != 0 ? CAIRN_SETTING_MIN : 0.0f, CAIRN_HERTZ_MAX),
        cairn_check_float(def->steering_damping, 0.0f, CAIRN_DAMPING_RATIO_MAX),
        cairn_check_float(def->steering_target, -0.5f * CAIRN_ANGLE_MAX, 0.5f * CAIRN_ANGLE_MAX),
        cairn_check_float(def->steering_torque, 0.0f, CAIRN_FORCE_MAX)};
    return CHECK_ALL(checks);
}

static cairn_status check_row(const cairn_joint_row *row) {
    const cairn_status checks[] = {cairn_check_vec3(row->linear_a, CAIRN_ROW_MAX),
        cairn_check_vec3(row->angular_a, CAIRN_ROW_MAX),
        cairn_check_vec3(row->linear_b, CAIRN_ROW_MAX),
        cairn_check_vec3(row->angular_b, CAIRN_ROW_MAX),
        cairn_check_float(row->lower, -CAIRN_FORCE_MAX, CAIRN_FORCE_MAX),
        cairn_check_float(row->upper, row->lower, CAIRN_FORCE_MAX),
        cairn_check_float(row->velocity, -CAIRN_SPEED_MAX, CAIRN_SPEED_MAX)};
    return CHECK_ALL(checks);
}

// What only one kind has.
static cairn_status check_kind(const cairn_joint_def *def) {
    const cairn_status motor[] = {cairn_check_vec3(def->target_position, CAIRN_DISTANCE_MAX),
        cairn_check_float(def->motor_force, 0.0f, CAIRN_FORCE_MAX),
        cairn_check_float(def->motor_torque, 0.0f, CAIRN_FORCE_MAX),
        cairn_check_float(def->hertz, CAIRN_SETTING_MIN, CAIRN_HERTZ_MAX)};
    const float ratio = float_abs(def->ratio);
    const cairn_status pulley[] = {cairn_check_vec3(def->fixed_a, CAIRN_DISTANCE_MAX),
        cairn_check_vec3(def->fixed_b, CAIRN_DISTANCE_MAX),
        cairn_check_float(def->ratio, CAIRN_SETTING_MIN, CAIRN_ROW_MAX)};
    switch (def->kind) {
    case CAIRN_JOINT_WHEEL:
        return check_wheel(def);
    case CAIRN_JOINT_MOTOR:
        return CHECK_ALL(motor);
    case CAIRN_JOINT_GEAR:
        return cairn_check_float(ratio, CAIRN_SETTING_MIN, CAIRN_ROW_MAX);
    case CAIRN_JOINT_PULLEY:
        return CHECK_ALL(pulley);
    case CAIRN_JOINT_ROW:
        return check_row(&def->row);
    default:
        return CAIRN_OK;
    }
}

static cairn_status check_breaking(const cairn_joint_def *def) {
    if (def->breakable == 0) {
        return CAIRN_OK;
    }
    const cairn_status checks[] = {check_flag(def->breakable),
        cairn_check_float(def->break_force, CAIRN_SETTING_MIN, CAIRN_FORCE_MAX),
        cairn_check_float(def->break_torque, CAIRN_SETTING_MIN, CAIRN_FORCE_MAX)};
    return CHECK_ALL(checks);
}

static cairn_status check_articulated(const cairn_joint_def *def) {
    const uint32_t kind = def->kind;
    const bool known = kind == CAIRN_JOINT_HINGE || kind == CAIRN_JOINT_PRISMATIC ||
                       kind == CAIRN_JOINT_BALL || kind == CAIRN_JOINT_CONE ||
                       kind == CAIRN_JOINT_WELD;
    const bool otherwise = def->hertz > 0.0f || def->breakable != 0 || def->disabled != 0 ||
                           ((groups_of(kind) & USES_SPRING) != 0 && def->spring != 0);
    const cairn_status checks[] = {known && !otherwise ? CAIRN_OK : CAIRN_INVALID_ARGUMENT,
        check_flag(def->articulated),
        cairn_check_float(def->drive_stiffness, 0.0f, CAIRN_FORCE_MAX),
        cairn_check_float(def->drive_damping, 0.0f, CAIRN_FORCE_MAX),
        cairn_check_vec3(def->drive_torque, CAIRN_FORCE_MAX),
        cairn_check_float(def->joint_friction, 0.0f, CAIRN_FORCE_MAX),
        cairn_check_float(def->armature, 0.0f, CAIRN_MASS_MAX)};
    return CHECK_ALL(checks);
}

cairn_status cairn_joint_def_check(const cairn_joint_def *def) {
    const bool known = def->kind >= CAIRN_JOINT_BALL && def->kind <= CAIRN_JOINT_ROW;
    if (!known || def->collide_connected > 1 || def->disabled > 1) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const uint32_t groups = groups_of(def->kind);
    const bool turns = (groups & (USES_MOTOR | USES_SPIN)) != 0;
    const cairn_status checks[] = {
        cairn_check_vec3(def->anchor_a, CAIRN_DISTANCE_MAX),
        cairn_check_vec3(def->anchor_b, CAIRN_DISTANCE_MAX),
        cairn_check_float(def->length, 0.0f, CAIRN_SHAPE_SIZE_MAX),
        cairn_joint_has_axes(def->kind) ? check_axes(def) : CAIRN_OK,
        (groups & USES_LIMITS) != 0 ? check_limits(def) : CAIRN_OK,
        (groups & USES_SPRING) != 0 ? check_spring(def) : CAIRN_OK,
        (groups & USES_ROTATION) != 0 ? check_turn(def->target_rotation) : CAIRN_OK,
        turns ? check_motor(def) : CAIRN_OK,
        cairn_check_float(def->hertz, 0.0f, CAIRN_HERTZ_MAX),
        cairn_check_float(def->damping, 0.0f, CAIRN_DAMPING_RATIO_MAX),
        check_kind(def),
        check_breaking(def),
        def->articulated != 0 ? check_articulated(def) : CAIRN_OK,
    };
    return CHECK_ALL(checks);
}

// ---- To the state

static cairn_vec3 perpendicular_to_axis(cairn_vec3 normal, cairn_vec3 axis) {
    const cairn_vec3 across = vec3_sub_scaled(normal, axis, vec3_dot(normal, axis));
    return vec3_clean(vec3_normalize(across, vec3_tangent(axis)));
}

// A frame that comes from the state keeps its bits.
static void set_axes(cairn_joint *joint, const cairn_joint_def *def) {
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    joint->axis_a = vec3_clean(vec3_normalize(def->axis_a, x));
    joint->axis_b = vec3_clean(vec3_normalize(def->axis_b, x));
    joint->normal_a = perpendicular_to_axis(def->normal_a, joint->axis_a);
    joint->normal_b = perpendicular_to_axis(def->normal_b, joint->axis_b);
}

static uint32_t extent_of(const cairn_joint_def *def) {
    const uint32_t groups = groups_of(def->kind);
    const bool spring = (groups & USES_SPRING) != 0 && def->spring != 0;
    const bool motor = (groups & (USES_MOTOR | USES_SPIN)) != 0 && def->motor != 0;
    const bool soft = (groups & USES_HERTZ) != 0 && def->hertz > 0.0f;
    const bool range = def->kind == CAIRN_JOINT_DISTANCE && def->limited != 0;
    if (def->articulated != 0) {
        return CAIRN_JOINT_ARTICULATED;
    }
    if (def->kind > CAIRN_JOINT_CONE || spring || motor || soft || range || def->disabled != 0) {
        return CAIRN_JOINT_DRIVEN;
    }
    return def->breakable != 0 ? CAIRN_JOINT_BREAKS : CAIRN_JOINT_PLAIN;
}

void cairn_joint_set_base(cairn_joint *joint, const cairn_joint_def *def) {
    const uint32_t groups = groups_of(def->kind);
    joint->kind = def->kind;
    joint->extent = extent_of(def);
    joint->collide_connected = def->collide_connected;
    joint->user = def->user;
    joint->name = def->name;
    joint->body_a = def->body_a;
    joint->body_b = def->body_b;
    joint->anchor_a = vec3_clean(def->anchor_a);
    joint->anchor_b = vec3_clean(def->anchor_b);
    joint->length = (groups & USES_LENGTH) != 0 ? def->length + 0.0f : 0.0f;
    if (cairn_joint_has_axes(def->kind)) {
        set_axes(joint, def);
    }
    if ((groups & USES_LIMITS) != 0) {
        joint->lower = def->lower + 0.0f;
        joint->upper = def->upper + 0.0f;
        joint->limited = def->limited;
    }
    joint->cone = def->kind == CAIRN_JOINT_CONE ? def->cone + 0.0f : 0.0f;
    CAIRN_ASSERT(cairn_joint_axes_ok(joint));
}

void cairn_joint_clear_impulses(cairn_joint *joint) {
    joint->impulse = vec3_zero();
    joint->relax_impulse = vec3_zero();
    joint->angular_impulse = vec3_zero();
    joint->swing_impulse = 0.0f;
    joint->lower_impulse = 0.0f;
    joint->upper_impulse = 0.0f;
}

static cairn_quat unit_or_identity(cairn_quat q) {
    const cairn_quat unit = quat_normalize(q);
    const bool none = q.x == 0.0f && q.y == 0.0f && q.z == 0.0f && q.w == 0.0f;
    return none ? quat_identity()
                : (cairn_quat){.x = unit.x + 0.0f,
                      .y = unit.y + 0.0f,
                      .z = unit.z + 0.0f,
                      .w = unit.w + 0.0f};
}

static void set_motor_and_spring(cairn_joint_drive *drive, const cairn_joint_def *def) {
    const uint32_t groups = groups_of(def->kind);
    if ((groups & USES_SPRING) != 0) {
        drive->flags |= def->spring != 0 ? CAIRN_DRIVE_SPRING : 0u;
        drive->spring_hertz = def->spring_hertz + 0.0f;
        drive->spring_damping = def->spring_damping + 0.0f;
        drive->target = (groups & USES_TARGET) != 0 ? def->target + 0.0f : 0.0f;
    }
    if ((groups & USES_ROTATION) != 0) {
        drive->target_rotation = unit_or_identity(def->target_rotation);
    }
    if ((groups & (USES_MOTOR | USES_SPIN)) != 0) {
        drive->flags |= def->motor != 0 ? CAIRN_DRIVE_MOTOR : 0u;
        drive->motor_force = def->motor_force + 0.0f;
        drive->motor_speed = (groups & USES_MOTOR) != 0 ? def->motor_speed + 0.0f : 0.0f;
        drive->motor_velocity =
            (groups & USES_SPIN) != 0 ? vec3_clean(def->motor_velocity) : vec3_zero();
    }
}

static void set_kind(cairn_joint_drive *drive, const cairn_joint_def *def) {
    switch (def->kind) {
    case CAIRN_JOINT_WHEEL:
        drive->flags |= def->steering != 0 ? CAIRN_DRIVE_STEERING : 0u;
        drive->steering_hertz = def->steering_hertz + 0.0f;
        drive->steering_damping = def->steering_damping + 0.0f;
        drive->steering_target = def->steering_target + 0.0f;
        drive->steering_torque = def->steering_torque + 0.0f;
        break;
    case CAIRN_JOINT_MOTOR:
        drive->target_position = vec3_clean(def->target_position);
        drive->motor_force = def->motor_force + 0.0f;
        drive->motor_torque = def->motor_torque + 0.0f;
        break;
    case CAIRN_JOINT_PULLEY:
        drive->fixed_a = vec3_clean(def->fixed_a);
        drive->fixed_b = vec3_clean(def->fixed_b);
        drive->ratio = def->ratio + 0.0f;
        break;
    case CAIRN_JOINT_GEAR:
        drive->ratio = def->ratio + 0.0f;
        break;
    case CAIRN_JOINT_ROW:
        drive->row = (cairn_joint_row){.linear_a = vec3_clean(def->row.linear_a),
            .angular_a = vec3_clean(def->row.angular_a),
            .linear_b = vec3_clean(def->row.linear_b),
            .angular_b = vec3_clean(def->row.angular_b),
            .lower = def->row.lower + 0.0f,
            .upper = def->row.upper + 0.0f,
            .velocity = def->row.velocity + 0.0f};
        break;
    default:
        break;
    }
}

void cairn_joint_drive_set(cairn_joint_drive *drive, const cairn_joint_def *def) {
    const cairn_joint_drive old = *drive;
    *drive = (cairn_joint_drive){.joint = old.joint,
        .phase = old.phase,
        .reaction_force = old.reaction_force,
        .reaction_torque = old.reaction_torque};
    memcpy(drive->impulses, old.impulses, sizeof drive->impulses);
    drive->flags = def->disabled != 0 ? CAIRN_DRIVE_DISABLED : 0u;
    if ((groups_of(def->kind) & USES_HERTZ) != 0) {
        drive->hertz = def->hertz + 0.0f;
        drive->damping = def->damping + 0.0f;
    }
    set_motor_and_spring(drive, def);
    set_kind(drive, def);
    if (def->articulated != 0) {
        drive->flags |= CAIRN_DRIVE_ARTICULATED;
        drive->drive_stiffness = def->drive_stiffness + 0.0f;
        drive->drive_damping = def->drive_damping + 0.0f;
        drive->drive_torque = vec3_clean(def->drive_torque);
        drive->joint_friction = def->joint_friction + 0.0f;
        drive->armature = def->armature + 0.0f;
    }
    if (def->breakable != 0) {
        drive->flags |= CAIRN_DRIVE_BREAKABLE;
        drive->break_force = def->break_force + 0.0f;
        drive->break_torque = def->break_torque + 0.0f;
    }
}

// ---- And back

static bool flag(const cairn_joint_drive *drive, uint32_t bit) {
    return (drive->flags & bit) != 0;
}

void cairn_joint_def_of(
    const cairn_joint *joint, const cairn_joint_drive *drive, cairn_joint_def *def) {
    *def = (cairn_joint_def){.kind = joint->kind,
        .body_a = joint->body_a,
        .body_b = joint->body_b,
        .anchor_a = joint->anchor_a,
        .anchor_b = joint->anchor_b,
        .length = joint->length,
        .collide_connected = joint->collide_connected,
        .user = joint->user,
        .name = joint->name,
        .axis_a = joint->axis_a,
        .axis_b = joint->axis_b,
        .normal_a = joint->normal_a,
        .normal_b = joint->normal_b,
        .cone = joint->cone,
        .lower = joint->lower,
        .upper = joint->upper,
        .limited = joint->limited};
    if (drive == NULL) {
        return;
    }
    def->disabled = flag(drive, CAIRN_DRIVE_DISABLED) ? 1 : 0;
    def->hertz = drive->hertz;
    def->damping = drive->damping;
    def->spring = flag(drive, CAIRN_DRIVE_SPRING) ? 1 : 0;
    def->spring_hertz = drive->spring_hertz;
    def->spring_damping = drive->spring_damping;
    def->target = drive->target;
    def->target_position = drive->target_position;
    def->target_rotation = drive->target_rotation;
    def->motor = flag(drive, CAIRN_DRIVE_MOTOR) ? 1 : 0;
    def->motor_speed = drive->motor_speed;
    def->motor_velocity = drive->motor_velocity;
    def->motor_force = drive->motor_force;
    def->motor_torque = drive->motor_torque;
    def->steering = flag(drive, CAIRN_DRIVE_STEERING) ? 1 : 0;
    def->steering_hertz = drive->steering_hertz;
    def->steering_damping = drive->steering_damping;
    def->steering_target = drive->steering_target;
    def->steering_torque = drive->steering_torque;
    def->ratio = drive->ratio;
    def->fixed_a = drive->fixed_a;
    def->fixed_b = drive->fixed_b;
    def->row = drive->row;
    def->breakable = flag(drive, CAIRN_DRIVE_BREAKABLE) ? 1 : 0;
    def->break_force = drive->break_force;
    def->break_torque = drive->break_torque;
    def->articulated = flag(drive, CAIRN_DRIVE_ARTICULATED) ? 1 : 0;
    def->drive_stiffness = drive->drive_stiffness;
    def->drive_damping = drive->drive_damping;
    def->drive_torque = drive->drive_torque;
    def->joint_friction = drive->joint_friction;
    def->armature = drive->armature;
}

// ---- What a decoded state may hold

static bool frame_ok(cairn_vec3 axis, cairn_vec3 normal) {
    return float_abs(vec3_length_squared(axis) - 1.0f) <= CAIRN_AXES_SLACK &&
           float_abs(vec3_length_squared(normal) - 1.0f) <= CAIRN_AXES_SLACK &&
           float_abs(vec3_dot(axis, normal)) <= CAIRN_AXES_SLACK;
}

bool cairn_joint_axes_ok(const cairn_joint *joint) {
    if (cairn_joint_has_axes(joint->kind)) {
        return frame_ok(joint->axis_a, joint->normal_a) && frame_ok(joint->axis_b, joint->normal_b);
    }
    const cairn_vec3 axes[] = {joint->axis_a, joint->normal_a, joint->axis_b, joint->normal_b};
    bool zero = true;
    for (uint32_t i = 0; i < 4; ++i) {
        zero = zero && vec3_is_zero(axes[i]);
    }
    return zero;
}

// The state is as if the joint had been created from its own def.
bool cairn_joint_state_ok(const cairn_joint *joint, const cairn_joint_drive *drive) {
    cairn_joint_def def;
    cairn_joint_def_of(joint, drive, &def);
    if (cairn_joint_def_check(&def) != CAIRN_OK || extent_of(&def) != joint->extent ||
        (joint->extent == CAIRN_JOINT_PLAIN) != (drive == NULL) || !cairn_joint_axes_ok(joint)) {
        return false;
    }
    cairn_joint base = *joint;
    cairn_joint_set_base(&base, &def);
    base.axis_a = joint->axis_a; // normalised once more, they may differ in the last bit
    base.axis_b = joint->axis_b;
    base.normal_a = joint->normal_a;
    base.normal_b = joint->normal_b;
    if (memcmp(&base, joint, sizeof base) != 0) {
        return false;
    }
    if (drive == NULL) {
        return true;
    }
    cairn_joint_drive other = *drive;
    cairn_joint_drive_set(&other, &def);
    other.target_rotation = drive->target_rotation;
    return memcmp(&other, drive, sizeof other) == 0;
}
