// SPDX-License-Identifier: MIT

// What joints do to their bodies: positions, forces, and which joints break by them.

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/constraint/joint_frame.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"
#include "sim/state/slots.h"
#include "sim/world/joint_def.h"

static uint32_t joint_slot(const cairn_world *world, cairn_joint_id joint) {
    return cairn_slot_find(world->state.joint_ids, world->state.settings->joint_slots, joint);
}

static cairn_vec3 anchor_at(const cairn_world *world, const cairn_joint *joint, bool of_b) {
    const cairn_body_id body = of_b ? joint->body_b : joint->body_a;
    return cairn_joint_anchor(
        world, cairn_id_index(body), of_b ? joint->anchor_b : joint->anchor_a);
}

static cairn_vec3 point_velocity(const cairn_world *world, cairn_body_id body, cairn_vec3 point) {
    const cairn_motion *motion = &world->state.motions[cairn_id_index(body)];
    return vec3_add(motion->linear_velocity,
        vec3_cross(motion->angular_velocity, vec3_sub(point, motion->position)));
}

static cairn_vec3 turn_velocity(const cairn_world *world, const cairn_joint *joint) {
    return vec3_sub(world->state.motions[cairn_id_index(joint->body_b)].angular_velocity,
        world->state.motions[cairn_id_index(joint->body_a)].angular_velocity);
}

static cairn_joint_travel read_pulley(const cairn_world *world, uint32_t slot) {
    const cairn_joint *joint = &world->state.joints[slot];
    const cairn_joint_drive *drive = cairn_joint_drive_find(&world->state, slot);
    cairn_joint_travel travel = {.position = 0.0f};
    CAIRN_ASSERT(drive != NULL);
    for (int i = 0; i < 2; ++i) {
        const cairn_vec3 at = anchor_at(world, joint, i == 1);
        const cairn_vec3 rope = vec3_sub(at, i == 1 ? drive->fixed_b : drive->fixed_a);
        const cairn_vec3 along = vec3_normalize(rope, vec3(0.0f, -1.0f, 0.0f));
        const float ratio = i == 1 ? drive->ratio : 1.0f;
        travel.position += ratio * vec3_length(rope);
        travel.velocity += ratio * vec3_dot(along, point_velocity(world,
                                                       i == 1 ? joint->body_b : joint->body_a, at));
    }
    return travel;
}

static cairn_joint_travel read_slide(
    const cairn_world *world, const cairn_joint *joint, bool along_axis) {
    const cairn_vec3 at_a = anchor_at(world, joint, false);
    const cairn_vec3 at_b = anchor_at(world, joint, true);
    const cairn_vec3 offset = vec3_sub(at_b, at_a);
    const cairn_quat q = world->state.motions[cairn_id_index(joint->body_a)].rotation;
    const cairn_vec3 axis =
        along_axis ? quat_rotate(q, joint->axis_a) : vec3_normalize(offset, vec3(0.0f, 1.0f, 0.0f));
    // An axis turns with a: what moves with a at b's anchor has no velocity along it.
    const cairn_vec3 velocity = vec3_sub(point_velocity(world, joint->body_b, at_b),
        point_velocity(world, joint->body_a, along_axis ? at_b : at_a));
    return (cairn_joint_travel){
        .position = vec3_dot(axis, offset), .velocity = vec3_dot(axis, velocity)};
}

static cairn_joint_travel read_turn(const cairn_world *world, uint32_t slot) {
    const cairn_joint *joint = &world->state.joints[slot];
    const cairn_joint_frame frame = cairn_joint_frame_of(world, slot);
    return (cairn_joint_travel){.position = cairn_joint_twist(&frame),
        .velocity = vec3_dot(frame.axis_a, turn_velocity(world, joint))};
}

cairn_status cairn_joint_travel_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_travel *out) {
    *out = (cairn_joint_travel){.position = 0.0f};
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_joint *source = &world->state.joints[slot];
    switch (source->kind) {
    case CAIRN_JOINT_HINGE:
        *out = read_turn(world, slot);
        break;
    case CAIRN_JOINT_PRISMATIC:
    case CAIRN_JOINT_WHEEL:
    case CAIRN_JOINT_DISTANCE:
        *out = read_slide(world, source, source->kind != CAIRN_JOINT_DISTANCE);
        break;
    case CAIRN_JOINT_PULLEY:
        *out = read_pulley(world, slot);
        break;
    default:
        return CAIRN_INVALID_ARGUMENT;
    }
    out->position += 0.0f;
    out->velocity += 0.0f;
    return CAIRN_OK;
}

static float beyond(float value, float lower, float upper) {
    return float_max(float_max(lower - value, value - upper), 0.0f);
}

// How far the position of a slide is from where the joint holds it.
static float slide_error(const cairn_world *world, const cairn_joint *joint) {
    const cairn_vec3 offset =
        vec3_sub(anchor_at(world, joint, true), anchor_at(world, joint, false));
    const cairn_quat q = world->state.motions[cairn_id_index(joint->body_a)].rotation;
    const cairn_vec3 axis = quat_rotate(q, joint->axis_a);
    const float way = vec3_dot(axis, offset);
    const float across = vec3_length(vec3_sub_scaled(offset, axis, way));
    const float along = joint->limited != 0 ? beyond(way, joint->lower, joint->upper) : 0.0f;
    return float_sqrt(across * across + along * along);
}

static float position_error(const cairn_world *world, uint32_t slot) {
    const cairn_joint *joint = &world->state.joints[slot];
    const float length =
        vec3_distance(anchor_at(world, joint, false), anchor_at(world, joint, true));
    const cairn_joint_drive *drive =
        joint->extent != CAIRN_JOINT_PLAIN ? cairn_joint_drive_find(&world->state, slot) : NULL;
    switch (joint->kind) {
    case CAIRN_JOINT_PRISMATIC:
    case CAIRN_JOINT_WHEEL:
        return slide_error(world, joint);
    case CAIRN_JOINT_PULLEY:
        return beyond(read_pulley(world, slot).position, 0.0f, joint->length);
    case CAIRN_JOINT_MOTOR:
    case CAIRN_JOINT_GEAR:
    case CAIRN_JOINT_ROW:
        return 0.0f;
    default:
        break;
    }
    if (joint->limited != 0 && joint->kind == CAIRN_JOINT_DISTANCE) {
        return beyond(length, joint->lower, joint->upper);
    }
    const bool free = drive != NULL && (drive->flags & CAIRN_DRIVE_SPRING) != 0 &&
                      joint->kind == CAIRN_JOINT_DISTANCE;
    return free ? 0.0f : float_abs(length - joint->length);
}

cairn_status cairn_joint_error(const cairn_world *world, cairn_joint_id joint, float *out) {
    *out = 0.0f;
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    *out = position_error(world, slot);
    return CAIRN_OK;
}

cairn_status cairn_joint_angles_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_angles *out) {
    *out = (cairn_joint_angles){.swing = 0.0f};
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    if (!cairn_joint_has_axes(world->state.joints[slot].kind)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    const cairn_joint_frame frame = cairn_joint_frame_of(world, slot);
    *out = (cairn_joint_angles){
        .swing = cairn_joint_swing(&frame), .twist = cairn_joint_twist(&frame)};
    return CAIRN_OK;
}

// ---- Reactions: impulses on b, of the last substep or step

typedef struct reaction {
    cairn_vec3 force;
    cairn_vec3 torque;
} reaction;

static cairn_vec3 turning_impulse(const cairn_world *world, uint32_t slot) {
    const cairn_joint *joint = &world->state.joints[slot];
    const cairn_joint_frame frame = cairn_joint_frame_of(world, slot);
    const float twist = joint->lower_impulse - joint->upper_impulse;
    if (joint->kind == CAIRN_JOINT_HINGE) {
        return vec3_add_scaled(joint->angular_impulse, frame.axis_a, twist);
    }
    const cairn_vec3 middle = vec3_normalize(vec3_add(frame.axis_a, frame.axis_b), frame.axis_a);
    const cairn_vec3 out = vec3_normalize(vec3_cross(frame.axis_a, frame.axis_b), frame.normal_a);
    return vec3_sub_scaled(vec3_scale(middle, twist), out, joint->swing_impulse);
}

static reaction reaction_of(const cairn_world *world, uint32_t slot) {
    const cairn_joint *joint = &world->state.joints[slot];
    if (joint->extent == CAIRN_JOINT_DRIVEN) {
        const cairn_joint_drive *drive = cairn_joint_drive_find(&world->state, slot);
        CAIRN_ASSERT(drive != NULL);
        return (reaction){.force = drive->reaction_force, .torque = drive->reaction_torque};
    }
    if (joint->kind == CAIRN_JOINT_DISTANCE) {
        const cairn_vec3 offset =
            vec3_sub(anchor_at(world, joint, true), anchor_at(world, joint, false));
        const cairn_vec3 axis = vec3_normalize(offset, vec3(0.0f, 1.0f, 0.0f));
        return (reaction){.force = vec3_scale(axis, joint->impulse.x), .torque = vec3_zero()};
    }
    const bool turns = cairn_joint_has_axes(joint->kind);
    return (reaction){
        .force = joint->impulse, .torque = turns ? turning_impulse(world, slot) : vec3_zero()};
}

// 1/s: from an impulse to a mean force.
static float impulse_rate(const cairn_world *world) {
    const bool substeps = world->def.solver == CAIRN_SOLVER_SOFT_STEP;
    return world_step_rate(world) * (float)(substeps ? world->def.substeps : 1u);
}

cairn_status cairn_joint_reaction_read(
    const cairn_world *world, cairn_joint_id joint, cairn_joint_reaction *out) {
    *out = (cairn_joint_reaction){.force = vec3_zero(), .torque = vec3_zero()};
    const uint32_t slot = joint_slot(world, joint);
    if (slot == CAIRN_INDEX_NONE) {
        return CAIRN_NOT_FOUND;
    }
    const reaction sum = reaction_of(world, slot);
    out->force = vec3_clean(vec3_scale(sum.force, impulse_rate(world)));
    out->torque = vec3_clean(vec3_scale(sum.torque, impulse_rate(world)));
    return CAIRN_OK;
}

// ---- Breaking

// A joint between sleeping bodies holds what it held when they fell asleep.
static bool is_solved(const cairn_world *world, const cairn_joint *joint) {
    return cairn_body_is_active(world, cairn_id_index(joint->body_a)) ||
           cairn_body_is_active(world, cairn_id_index(joint->body_b));
}

static float length_or_zero(cairn_vec3 value, float scale) {
    const float length = vec3_length(value) * scale;
    return float_finite(length) ? length : 0.0f;
}

void cairn_joints_break(cairn_world *world) {
    cairn_settings *settings = world->state.settings;
    CAIRN_ASSERT(settings->joint_event_count == 0);
    for (uint32_t i = 0; i < settings->joint_drive_count;) {
        const cairn_joint_drive *drive = &world->state.joint_drives[i];
        const uint32_t slot = drive->joint;
        const cairn_joint *joint = &world->state.joints[slot];
        const bool may_break = (drive->flags & CAIRN_DRIVE_BREAKABLE) != 0 &&
                               (drive->flags & CAIRN_DRIVE_DISABLED) == 0 &&
                               is_solved(world, joint);
        const reaction sum =
            may_break ? reaction_of(world, slot) : (reaction){.force = vec3_zero()};
        const float force = length_or_zero(sum.force, impulse_rate(world));
        const float torque = length_or_zero(sum.torque, impulse_rate(world));
        if (!may_break || (force <= drive->break_force && torque <= drive->break_torque)) {
            ++i;
            continue;
        }
        const uint32_t index = settings->joint_event_count++;
        CAIRN_ASSERT(index < world->def.joint_capacity);
        cairn_hash_cache_mark(world, CAIRN_ARRAY_JOINT_EVENTS, index);
        world->state.joint_events[index] = (cairn_joint_event){.kind = CAIRN_JOINT_BROKE,
            .joint = cairn_slot_id(world->state.joint_ids, slot),
            .body_a = joint->body_a,
            .body_b = joint->body_b,
            .force = force,
            .torque = torque};
        cairn_joint_destroy_at(world, slot); // the next drive is now the i-th
    }
}

const cairn_joint_event *cairn_world_joint_events(const cairn_world *world, uint32_t *count) {
    CAIRN_ASSERT(world->state.settings->joint_event_count <= world->def.joint_capacity);
    *count = world->state.settings->joint_event_count;
    return world->state.joint_events;
}
