// SPDX-License-Identifier: MIT

// The rows of each kind of joint. The places of rows depend on the kind alone (and on whether a
// wheel steers): what is switched off keeps its place, so that the impulses of the last step fit.

#include "base/assert.h"
#include "sim/constraint/joint_frame.h"
#include "sim/constraint/joint_rows.h"
#include "sim/math/rotation.h"

#define UNBOUNDED 3.4e38f

typedef struct builder {
    const cairn_joint *joint;
    const cairn_joint_drive *drive;
    const cairn_row_time *time;
    const cairn_row_pose *pose_a;
    const cairn_row_pose *pose_b;
    cairn_joint_rows *rows;
    cairn_joint_frame frame;
    cairn_quat frame_a, frame_b; // axis, normal and their cross product, to the world
    cairn_vec3 arm_a, arm_b;     // from the centres of mass to the anchors
    cairn_vec3 offset;           // from anchor a to anchor b
} builder;

// ---- Rows and blocks

static cairn_jacobian angular_row(cairn_vec3 axis) {
    return (cairn_jacobian){.linear_a = vec3_zero(),
        .angular_a = vec3_negate(axis),
        .linear_b = vec3_zero(),
        .angular_b = axis};
}

// Of the velocity of b's point relative to a's point.
static cairn_jacobian point_row(cairn_vec3 axis, cairn_vec3 arm_a, cairn_vec3 arm_b) {
    return (cairn_jacobian){.linear_a = vec3_negate(axis),
        .angular_a = vec3_negate(vec3_cross(arm_a, axis)),
        .linear_b = axis,
        .angular_b = vec3_cross(arm_b, axis)};
}

// Along an axis that turns with a: a's point is where b's anchor is.
static cairn_jacobian slide_row(const builder *b, cairn_vec3 axis) {
    return point_row(axis, vec3_add(b->arm_a, b->offset), b->arm_b);
}

static cairn_jacobian reversed(cairn_jacobian j) {
    return (cairn_jacobian){.linear_a = vec3_negate(j.linear_a),
        .angular_a = vec3_negate(j.angular_a),
        .linear_b = vec3_negate(j.linear_b),
        .angular_b = vec3_negate(j.angular_b)};
}

static void begin_block(builder *b, cairn_block_kind kind) {
    cairn_joint_rows *rows = b->rows;
    CAIRN_ASSERT(rows->block_count < CAIRN_JOINT_BLOCKS_MAX);
    cairn_row_block *block = &rows->blocks[rows->block_count++];
    block->kind = kind;
    block->first = rows->row_count;
    block->count = 0;
    block->softness = b->time->hold;
    block->lower = -UNBOUNDED;
    block->upper = UNBOUNDED;
}

static cairn_row_block *this_block(builder *b) {
    CAIRN_ASSERT(b->rows->block_count > 0);
    return &b->rows->blocks[b->rows->block_count - 1];
}

// Keeps the impulse that the row has.
static void add_row(builder *b, cairn_jacobian j, float error, float target) {
    CAIRN_ASSERT(b->rows->row_count < CAIRN_JOINT_ROWS_MAX);
    cairn_row *row = &b->rows->rows[b->rows->row_count++];
    row->j = j;
    row->error = error;
    row->target = target;
    row->chord = 0.0f;
    this_block(b)->count += 1;
}

// Rows that hold the bodies together, as firmly as the joint says.
static void begin_hold(builder *b) {
    const bool soft = b->drive->hertz > 0.0f;
    begin_block(b, soft ? CAIRN_BLOCK_SPRING : CAIRN_BLOCK_HOLD);
    if (soft) {
        this_block(b)->softness =
            cairn_spring_softness(b->drive->hertz, b->drive->damping, b->time->h);
    }
}

static void begin_spring(builder *b, float hertz, float damping, bool on) {
    begin_block(b, on ? CAIRN_BLOCK_SPRING : CAIRN_BLOCK_OFF);
    this_block(b)->softness = cairn_spring_softness(hertz, damping, b->time->h);
}

static void bound_block(builder *b, float lower, float upper) {
    CAIRN_ASSERT(lower <= upper);
    this_block(b)->lower = lower * b->time->h;
    this_block(b)->upper = upper * b->time->h;
}

static void add_limit(builder *b, cairn_jacobian j, float slack, bool on) {
    begin_block(b, on ? CAIRN_BLOCK_LIMIT : CAIRN_BLOCK_OFF);
    this_block(b)->lower = 0.0f;
    add_row(b, j, slack, 0.0f);
}

static bool has(const builder *b, uint32_t flag) {
    return (b->drive->flags & flag) != 0;
}

static void add_motor(builder *b, cairn_jacobian j) {
    begin_block(b, has(b, CAIRN_DRIVE_MOTOR) ? CAIRN_BLOCK_MOTOR : CAIRN_BLOCK_OFF);
    bound_block(b, 0.0f - b->drive->motor_force, b->drive->motor_force);
    add_row(b, j, 0.0f, b->drive->motor_speed);
}

static void add_spring(builder *b, cairn_jacobian j, float error) {
    begin_spring(b, b->drive->spring_hertz, b->drive->spring_damping, has(b, CAIRN_DRIVE_SPRING));
    add_row(b, j, error, 0.0f);
}

static void add_limits(builder *b, cairn_jacobian j, float position) {
    const bool limited = b->joint->limited != 0;
    add_limit(b, j, position - b->joint->lower, limited);
    add_limit(b, reversed(j), b->joint->upper - position, limited);
}

// ---- Angles

static float wrapped(float angle) {
    return angle > CAIRN_PI ? angle - 2.0f * CAIRN_PI
                            : (angle < -CAIRN_PI ? angle + 2.0f * CAIRN_PI : angle);
}

// The rotation of b's frame relative to `target` in a's frame, as a vector in world axes.
static cairn_vec3 turn_from(const builder *b, cairn_quat target) {
    const cairn_quat wanted = quat_multiply(b->frame_a, target);
    return vector_of_quat(quat_multiply(b->frame_b, quat_conjugate(wanted)));
}

// ---- Parts of kinds

// The anchors stay together: rows along the axes of the world.
static void add_anchor_rows(builder *b) {
    const float offset[3] = {b->offset.x, b->offset.y, b->offset.z};
    for (uint32_t i = 0; i < 3; ++i) {
        add_row(b, point_row(vec3_along_axis(i, 1.0f), b->arm_a, b->arm_b), offset[i], 0.0f);
    }
}

static void add_turn_rows(builder *b, cairn_vec3 turn, cairn_vec3 velocity) {
    for (uint32_t i = 0; i < 3; ++i) {
        add_row(b, angular_row(vec3_along_axis(i, 1.0f)), vec3_component(turn, i),
            vec3_component(velocity, i));
    }
}

// b's anchor stays on the axis through anchor a.
static void add_line_rows(builder *b) {
    const cairn_vec3 first = b->frame.normal_a;
    const cairn_vec3 second = vec3_cross(b->frame.axis_a, first);
    add_row(b, slide_row(b, first), vec3_dot(first, b->offset), 0.0f);
    add_row(b, slide_row(b, second), vec3_dot(second, b->offset), 0.0f);
}

static void add_turn_drives(builder *b) {
    const cairn_vec3 turn = turn_from(b, b->drive->target_rotation);
    begin_spring(b, b->drive->spring_hertz, b->drive->spring_damping, has(b, CAIRN_DRIVE_SPRING));
    add_turn_rows(b, turn, vec3_zero());
    begin_block(b, has(b, CAIRN_DRIVE_MOTOR) ? CAIRN_BLOCK_MOTOR : CAIRN_BLOCK_OFF);
    bound_block(b, 0.0f, b->drive->motor_force);
    add_turn_rows(b, vec3_zero(), quat_rotate(b->frame_a, b->drive->motor_velocity));
}

// The swing and, along the bisector of the axes, the twist (sim/soft_step/joint_angular.h).
static void add_cone_limits(builder *b) {
    const cairn_vec3 error = vec3_cross(b->frame.axis_a, b->frame.axis_b);
    const cairn_vec3 inward = vec3_negate(vec3_normalize(error, b->frame.normal_a));
    add_limit(b, angular_row(inward), b->joint->cone - cairn_joint_swing(&b->frame), true);
    const cairn_vec3 sum = vec3_add(b->frame.axis_a, b->frame.axis_b);
    const float length = vec3_length(sum);
    const cairn_vec3 axis =
        vec3_select(length > 0.01f, vec3_scale(sum, 1.0f / float_max(length, 0.01f)), vec3_zero());
    const float scale = 0.5f * length;
    const float twist = cairn_joint_twist_near(&b->frame, b->joint->lower, b->joint->upper);
    const bool limited = b->joint->limited != 0;
    add_limit(b, angular_row(axis), (twist - b->joint->lower) * scale, limited);
    add_limit(b, angular_row(vec3_negate(axis)), (b->joint->upper - twist) * scale, limited);
}

// ---- Kinds

static void build_ball(builder *b) {
    begin_hold(b);
    add_anchor_rows(b);
    add_turn_drives(b);
    if (b->joint->kind == CAIRN_JOINT_CONE) {
        add_cone_limits(b);
    }
}

static void build_hinge(builder *b) {
    const cairn_vec3 axis = b->frame.axis_a;
    const cairn_vec3 first = b->frame.normal_a;
    const cairn_vec3 second = vec3_cross(axis, first);
    const cairn_vec3 error = vec3_cross(axis, b->frame.axis_b);
    const bool limited = b->joint->limited != 0;
    const float angle = limited
                            ? cairn_joint_twist_near(&b->frame, b->joint->lower, b->joint->upper)
                            : cairn_joint_twist(&b->frame);
    begin_hold(b);
    add_anchor_rows(b);
    add_row(b, angular_row(first), vec3_dot(error, first), 0.0f);
    add_row(b, angular_row(second), vec3_dot(error, second), 0.0f);
    add_spring(b, angular_row(axis),
        limited ? angle - b->drive->target : wrapped(angle - b->drive->target));
    add_motor(b, angular_row(axis));
    add_limits(b, angular_row(axis), angle);
}

static void build_prismatic(builder *b) {
    const cairn_jacobian along = slide_row(b, b->frame.axis_a);
    const float way = vec3_dot(b->frame.axis_a, b->offset);
    begin_hold(b);
    add_line_rows(b);
    add_turn_rows(b, turn_from(b, quat_identity()), vec3_zero());
    add_spring(b, along, way - b->drive->target);
    add_motor(b, along);
    add_limits(b, along, way);
}

static void build_weld(builder *b) {
    begin_hold(b);
    add_anchor_rows(b);
    add_turn_rows(b, turn_from(b, quat_identity()), vec3_zero());
}

static void build_distance(builder *b) {
    const float length = vec3_length(b->offset);
    const cairn_vec3 axis = vec3_normalize(b->offset, vec3(0.0f, 1.0f, 0.0f));
    const cairn_jacobian along = point_row(axis, b->arm_a, b->arm_b);
    if (has(b, CAIRN_DRIVE_SPRING) || b->joint->limited != 0) {
        begin_block(b, CAIRN_BLOCK_OFF);
    } else {
        begin_hold(b);
    }
    add_row(b, along, length - b->joint->length, 0.0f);
    add_spring(b, along, length - b->joint->length);
    add_limits(b, along, length);
}

static void build_wheel(builder *b) {
    const cairn_vec3 up = b->frame.axis_a;
    const cairn_vec3 spin = b->frame.axis_b;
    const cairn_vec3 ahead = b->frame.normal_a;
    const bool steers = has(b, CAIRN_DRIVE_STEERING);
    const float angle = lanes_atan2(vec3_dot(spin, vec3_cross(up, ahead)), vec3_dot(spin, ahead));
    const cairn_jacobian along = slide_row(b, up);
    const float way = vec3_dot(up, b->offset);
    begin_hold(b);
    add_line_rows(b);
    add_row(b, angular_row(vec3_normalize(vec3_cross(spin, up), vec3_zero())), vec3_dot(up, spin),
        0.0f);
    if (!steers) {
        add_row(b, angular_row(up), angle, 0.0f);
    }
    add_spring(b, along, way - b->drive->target);
    add_limits(b, along, way);
    add_motor(b, angular_row(spin));
    if (steers) {
        begin_spring(b, b->drive->steering_hertz, b->drive->steering_damping, true);
        bound_block(b, 0.0f - b->drive->steering_torque, b->drive->steering_torque);
        add_row(b, angular_row(up), wrapped(angle - b->drive->steering_target), 0.0f);
    }
}

static void build_motor(builder *b) {
    const cairn_vec3 wanted = quat_rotate(b->pose_a->rotation, b->drive->target_position);
    b->arm_a = vec3_add(b->arm_a, wanted);
    b->offset = vec3_sub(b->offset, wanted);
    begin_spring(b, b->drive->hertz, b->drive->damping, true);
    bound_block(b, 0.0f, b->drive->motor_force);
    add_anchor_rows(b);
    begin_spring(b, b->drive->hertz, b->drive->damping, true);
    bound_block(b, 0.0f, b->drive->motor_torque);
    add_turn_rows(b, turn_from(b, b->drive->target_rotation), vec3_zero());
}

static void build_gear(builder *b) {
    const cairn_jacobian j = {.linear_a = vec3_zero(),
        .angular_a = vec3_scale(b->frame.axis_a, b->drive->ratio),
        .linear_b = vec3_zero(),
        .angular_b = b->frame.axis_b};
    begin_hold(b);
    add_row(b, j, b->drive->phase, 0.0f);
}

static float pulley_length(const builder *b, cairn_vec3 *along_a, cairn_vec3 *along_b) {
    const cairn_vec3 down = vec3(0.0f, -1.0f, 0.0f);
    const cairn_vec3 rope_a = vec3_sub(vec3_add(b->pose_a->position, b->arm_a), b->drive->fixed_a);
    const cairn_vec3 rope_b = vec3_sub(vec3_add(b->pose_b->position, b->arm_b), b->drive->fixed_b);
    *along_a = vec3_normalize(rope_a, down);
    *along_b = vec3_normalize(rope_b, down);
    return vec3_length(rope_a) + b->drive->ratio * vec3_length(rope_b);
}

// A rope pulls and never pushes.
static void build_pulley(builder *b) {
    cairn_vec3 along_a;
    cairn_vec3 along_b;
    const float length = pulley_length(b, &along_a, &along_b);
    along_b = vec3_scale(along_b, b->drive->ratio);
    const cairn_jacobian shorter = {.linear_a = vec3_negate(along_a),
        .angular_a = vec3_negate(vec3_cross(b->arm_a, along_a)),
        .linear_b = vec3_negate(along_b),
        .angular_b = vec3_negate(vec3_cross(b->arm_b, along_b))};
    add_limit(b, shorter, b->joint->length - length, true);
}

static void build_row(builder *b) {
    const cairn_joint_row *row = &b->drive->row;
    const cairn_jacobian j = {.linear_a = row->linear_a,
        .angular_a = row->angular_a,
        .linear_b = row->linear_b,
        .angular_b = row->angular_b};
    begin_block(b, CAIRN_BLOCK_MOTOR);
    bound_block(b, row->lower, row->upper);
    add_row(b, j, 0.0f, row->velocity);
}

static void (*const builds[])(builder *b) = {[CAIRN_JOINT_BALL] = build_ball,
    [CAIRN_JOINT_DISTANCE] = build_distance,
    [CAIRN_JOINT_HINGE] = build_hinge,
    [CAIRN_JOINT_CONE] = build_ball,
    [CAIRN_JOINT_PRISMATIC] = build_prismatic,
    [CAIRN_JOINT_WELD] = build_weld,
    [CAIRN_JOINT_WHEEL] = build_wheel,
    [CAIRN_JOINT_MOTOR] = build_motor,
    [CAIRN_JOINT_GEAR] = build_gear,
    [CAIRN_JOINT_PULLEY] = build_pulley,
    [CAIRN_JOINT_ROW] = build_row};

static cairn_vec3 arm_of(
    const cairn_world *world, const cairn_row_pose *pose, uint32_t body, cairn_vec3 anchor) {
    return quat_rotate(pose->rotation, vec3_sub(anchor, world->state.bodies[body].centre));
}

static void set_frames(builder *b) {
    const cairn_joint *joint = b->joint;
    const cairn_quat q_a = b->pose_a->rotation;
    const cairn_quat q_b = b->pose_b->rotation;
    const bool axes = cairn_joint_has_axes(joint->kind);
    const cairn_vec3 x = vec3(1.0f, 0.0f, 0.0f);
    const cairn_vec3 y = vec3(0.0f, 1.0f, 0.0f);
    b->frame = (cairn_joint_frame){.axis_a = quat_rotate(q_a, axes ? joint->axis_a : x),
        .normal_a = quat_rotate(q_a, axes ? joint->normal_a : y),
        .axis_b = quat_rotate(q_b, axes ? joint->axis_b : x),
        .normal_b = quat_rotate(q_b, axes ? joint->normal_b : y)};
    b->frame_a = axes ? quat_of_axes(b->frame.axis_a, b->frame.normal_a) : q_a;
    b->frame_b = axes ? quat_of_axes(b->frame.axis_b, b->frame.normal_b) : q_b;
}

void cairn_joint_rows_build(const cairn_world *world, const cairn_row_time *time,
    const cairn_row_pose *pose_a, const cairn_row_pose *pose_b, const cairn_row_body *a,
    const cairn_row_body *b, cairn_joint_rows *rows) {
    const cairn_joint_drive *drive = &world->state.joint_drives[rows->drive];
    const cairn_joint *joint = &world->state.joints[drive->joint];
    CAIRN_ASSERT(joint->kind >= CAIRN_JOINT_BALL && joint->kind <= CAIRN_JOINT_ROW);
    builder build = {.joint = joint,
        .drive = drive,
        .time = time,
        .pose_a = pose_a,
        .pose_b = pose_b,
        .rows = rows,
        .arm_a = arm_of(world, pose_a, rows->body_a, joint->anchor_a),
        .arm_b = arm_of(world, pose_b, rows->body_b, joint->anchor_b)};
    build.offset =
        vec3_add(vec3_sub(pose_b->position, pose_a->position), vec3_sub(build.arm_b, build.arm_a));
    set_frames(&build);
    rows->row_count = 0;
    rows->block_count = 0;
    builds[joint->kind](&build);
    const bool slides = joint->kind == CAIRN_JOINT_PRISMATIC || joint->kind == CAIRN_JOINT_WHEEL;
    rows->arm_a = slides ? vec3_add(build.arm_a, build.offset) : build.arm_a;
    rows->arm_b = build.arm_b;
    rows->slide = slides ? build.frame.axis_a : vec3_zero();
    // Gears, pulleys and rows act on the centres of mass.
    const bool anchored = joint->kind <= CAIRN_JOINT_MOTOR;
    rows->anchor_b = anchored ? build.arm_b : vec3_zero();
    cairn_joint_rows_factor(a, b, rows);
}
