// SPDX-License-Identifier: MIT
#pragma once

// Where the ends of a group of joints are: arms from the centres of mass to the anchors, and the
// gap between the anchors, which both follow the bodies through the substeps.

#include "sim/soft_step/body_gather.h"

typedef struct ends_lanes {
    lanes3 start_a; // arms at the start of the step
    lanes3 start_b;
    lanes3 arm_a; // and in this substep
    lanes3 arm_b;
    lanes3 centres; // m, from a's centre of mass to b's at the start of the step
    lanes3 offset;  // m, from anchor a to anchor b in this substep
} ends_lanes;

// A body at the start of the step.
typedef struct place_lanes {
    lanes3 position; // of the centre of mass
    lanes_mat3 rotation;
    lanes3 anchor; // from the centre of mass, body axes
} place_lanes;

typedef struct place_view {
    const cairn_motion *motion;
    cairn_vec3 anchor;
} place_view;

static inline place_lanes load_place(const place_view *views) {
    float words[10][CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_motion *motion = views[i].motion;
        const float values[10] = {motion->position.x, motion->position.y, motion->position.z,
            motion->rotation.x, motion->rotation.y, motion->rotation.z, motion->rotation.w,
            views[i].anchor.x, views[i].anchor.y, views[i].anchor.z};
        for (uint32_t k = 0; k < 10; ++k) {
            words[k][i] = values[k];
        }
    }
    lanes in[10];
    memcpy(in, words, sizeof in);
    return (place_lanes){.position = lanes3_of(in[0], in[1], in[2]),
        .rotation = lanes_mat3_of_quat(in[3], in[4], in[5], in[6]),
        .anchor = lanes3_of(in[7], in[8], in[9])};
}

static inline void place_ends(ends_lanes *ends, const place_lanes *a, const place_lanes *b) {
    ends->start_a = lanes_mat3_apply(a->rotation, a->anchor);
    ends->start_b = lanes_mat3_apply(b->rotation, b->anchor);
    ends->arm_a = ends->start_a;
    ends->arm_b = ends->start_b;
    ends->centres = lanes3_sub(b->position, a->position);
    ends->offset = lanes3_add(ends->centres, lanes3_sub(ends->arm_b, ends->arm_a));
}

// `v` turned by the rotation vector `turn`, to the second order.
static inline lanes3 turned_by(lanes3 v, lanes3 turn) {
    const lanes3 first = lanes3_cross(turn, v);
    const lanes3 second = lanes3_cross(turn, first);
    return lanes3_add(v, lanes3_add_scaled(first, second, lanes_all(0.5f)));
}

static inline void follow_ends(ends_lanes *ends, const delta_lanes *a, const delta_lanes *b) {
    ends->arm_a = turned_by(ends->start_a, a->rotation);
    ends->arm_b = turned_by(ends->start_b, b->rotation);
    const lanes3 moved = lanes3_sub(b->position, a->position);
    ends->offset =
        lanes3_add(lanes3_add(ends->centres, moved), lanes3_sub(ends->arm_b, ends->arm_a));
}
