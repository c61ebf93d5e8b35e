// SPDX-License-Identifier: MIT
#include "sim/constraint/joint_frame.h"

#include "base/assert.h"
#include "sim/constraint/joint_angle.h"

cairn_vec3 cairn_joint_anchor(const cairn_world *world, uint32_t body, cairn_vec3 anchor) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_BODIES, body));
    const cairn_motion *motion = &world->state.motions[body];
    const cairn_vec3 centre = world->state.bodies[body].centre;
    return vec3_add(motion->position, quat_rotate(motion->rotation, vec3_sub(anchor, centre)));
}

cairn_joint_frame cairn_joint_frame_of(const cairn_world *world, uint32_t slot) {
    CAIRN_ASSERT(cairn_state_has(&world->state, CAIRN_ARRAY_JOINTS, slot));
    const cairn_joint *joint = &world->state.joints[slot];
    const cairn_quat a = world->state.motions[cairn_id_index(joint->body_a)].rotation;
    const cairn_quat b = world->state.motions[cairn_id_index(joint->body_b)].rotation;
    CAIRN_ASSERT(cairn_joint_has_axes(joint->kind));
    return (cairn_joint_frame){.axis_a = quat_rotate(a, joint->axis_a),
        .normal_a = quat_rotate(a, joint->normal_a),
        .axis_b = quat_rotate(b, joint->axis_b),
        .normal_b = quat_rotate(b, joint->normal_b)};
}

// One lane is a float.
static lanes3 lane_of(cairn_vec3 v) {
    return lanes3_of(v.x, v.y, v.z);
}

static axes_lanes lane_of_frame(const cairn_joint_frame *frame) {
    return (axes_lanes){.axis_a = lane_of(frame->axis_a),
        .normal_a = lane_of(frame->normal_a),
        .axis_b = lane_of(frame->axis_b),
        .normal_b = lane_of(frame->normal_b)};
}

float cairn_joint_swing(const cairn_joint_frame *frame) {
    const axes_lanes axes = lane_of_frame(frame);
    return swing_of(&axes);
}

float cairn_joint_twist(const cairn_joint_frame *frame) {
    const axes_lanes axes = lane_of_frame(frame);
    return twist_of(&axes);
}

float cairn_joint_twist_near(const cairn_joint_frame *frame, float lower, float upper) {
    CAIRN_ASSERT(lower <= upper);
    return angle_near(cairn_joint_twist(frame), lower, upper);
}
