// SPDX-License-Identifier: MIT
#pragma once

// The anchors of joints: arms from the centres of mass to the anchors, and the offset between the
// anchors. Both follow the bodies through the substeps.

#include "sim/soft_step/body_gather.h"

typedef struct anchor_lanes {
    lanes3 arm_a0; // at the start of the step
    lanes3 arm_b0;
    lanes3 arm_a; // in this substep
    lanes3 arm_b;
    lanes3 centres; // m, from a's centre of mass to b's at the start of the step
    lanes3 offset;  // m, from anchor a to anchor b in this substep
} anchor_lanes;

// A body at the start of the step.
typedef struct joint_pose {
    lanes3 position; // of the centre of mass
    lanes_mat3 rotation;
    lanes3 anchor; // from the centre of mass, body axes
} joint_pose;

typedef struct joint_pose_source {
    const cairn_motion *motion;
    cairn_vec3 anchor;
} joint_pose_source;

static inline joint_pose load_joint_poses(const joint_pose_source *sources) {
    float words[10][CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_motion *motion = sources[i].motion;
        const float values[10] = {motion->position.x, motion->position.y, motion->position.z,
            motion->rotation.x, motion->rotation.y, motion->rotation.z, motion->rotation.w,
            sources[i].anchor.x, sources[i].anchor.y, sources[i].anchor.z};
        for (uint32_t k = 0; k < 10; ++k) {
            words[k][i] = values[k];
        }
    }
    lanes in[10];
    memcpy(in, words, sizeof in);
    return (joint_pose){.position = lanes3_of(in[0], in[1], in[2]),
        .rotation = lanes_mat3_of_quat(in[3], in[4], in[5], in[6]),
        .anchor = lanes3_of(in[7], in[8], in[9])};
}

static inline void prepare_anchors(
    anchor_lanes *anchors, const joint_pose *a, const joint_pose *b) {
    anchors->arm_a0 = lanes_mat3_apply(a->rotation, a->anchor);
    anchors->arm_b0 = lanes_mat3_apply(b->rotation, b->anchor);
    anchors->arm_a = anchors->arm_a0;
    anchors->arm_b = anchors->arm_b0;
    anchors->centres = lanes3_sub(b->position, a->position);
    anchors->offset = lanes3_add(anchors->centres, lanes3_sub(anchors->arm_b, anchors->arm_a));
}

// Rotates v by a small rotation vector, to the second order.
static inline lanes3 rotate_by_vector(lanes3 v, lanes3 rotation) {
    const lanes3 first = lanes3_cross(rotation, v);
    const lanes3 second = lanes3_cross(rotation, first);
    return lanes3_add(v, lanes3_add_scaled(first, second, lanes_all(0.5f)));
}

static inline void update_anchors(
    anchor_lanes *anchors, const delta_lanes *a, const delta_lanes *b) {
    anchors->arm_a = rotate_by_vector(anchors->arm_a0, a->rotation);
    anchors->arm_b = rotate_by_vector(anchors->arm_b0, b->rotation);
    const lanes3 dp = lanes3_sub(b->position, a->position);
    anchors->offset =
        lanes3_add(lanes3_add(anchors->centres, dp), lanes3_sub(anchors->arm_b, anchors->arm_a));
}
