// SPDX-License-Identifier: MIT
// Thin bodies between two hinges or cones. The two joints balance each other's torques about the
// body's long axis, and these are many times what would turn it about that axis: a rod 50 times as
// long as thick has a five-thousandth of its other inertia there. The sweeps leave a small part of
// the torques unbalanced, which then turns the body by any angle: chains of two hinges on tilted
// axes gained a million times their energy. How fast a link spins between two joints matters
// little, so the solver uses a larger inertia about that axis. Other engines advise their users to
// make it ten times as large.

#include <string.h>

#include "sim/constraint/joint_frame.h"
#include "sim/math/limits.h"
#include "sim/math/vec.h"
#include "sim/soft_step/soft_step.h"

// Counts the joints with axes of each body: 0, 1 or more.
static bool count_joints(cairn_soft_step *soft_step) {
    const cairn_constraint_graph *graph = &soft_step->joint_graph;
    unsigned char *counts = soft_step->jointed;
    bool any = false;
    for (uint32_t i = 0; i < graph->edge_count; ++i) {
        const cairn_constraint_edge *edge = &graph->edges[i];
        if (!cairn_joint_has_axes(edge->kind)) {
            continue;
        }
        if (!any) {
            memset(counts, 0, soft_step->body_count * sizeof *counts);
            any = true;
        }
        counts[edge->solver_a] = counts[edge->solver_a] == 0 ? 1 : 2;
        counts[edge->solver_b] = counts[edge->solver_b] == 0 ? 1 : 2;
    }
    return any;
}

// The axis of the greatest eigenvalue of a matrix in which it is many times the others, by powers
// of the matrix.
static cairn_vec3 main_axis(cairn_sym3 m, float trace) {
    const cairn_vec3 along = m.xx >= m.yy && m.xx >= m.zz ? vec3(m.xx, m.xy, m.xz)
                             : m.yy >= m.zz               ? vec3(m.xy, m.yy, m.yz)
                                                          : vec3(m.xz, m.yz, m.zz);
    cairn_vec3 axis = vec3_scale(along, 1.0f / trace);
    for (uint32_t i = 0; i < 4; ++i) {
        axis = vec3_scale(sym3_apply(m, axis), 1.0f / trace);
    }
    return vec3_scale(axis, 1.0f / vec3_length(axis));
}

static void thicken(cairn_solver_body *body) {
    float *inverse = body->inverse_inertia;
    const cairn_sym3 m = {.xx = inverse[0],
        .yy = inverse[1],
        .zz = inverse[2],
        .xy = inverse[3],
        .xz = inverse[4],
        .yz = inverse[5]};
    const float trace = m.xx + m.yy + m.zz;
    const float squares =
        m.xx * m.xx + m.yy * m.yy + m.zz * m.zz + 2.0f * (m.xy * m.xy + m.xz * m.xz + m.yz * m.yz);
    // As if both others were equal: then it is the greatest over their mean that counts.
    const float ratio = CAIRN_THIN_INERTIA_RATIO;
    const float thin = (ratio * ratio + 2.0f) / ((ratio + 2.0f) * (ratio + 2.0f));
    if (!(squares > thin * trace * trace)) {
        return;
    }
    const cairn_vec3 axis = main_axis(m, trace);
    const float greatest = vec3_dot(axis, sym3_apply(m, axis));
    const float excess = greatest - ratio * 0.5f * (trace - greatest);
    if (!(excess > 0.0f)) {
        return;
    }
    inverse[0] -= excess * axis.x * axis.x;
    inverse[1] -= excess * axis.y * axis.y;
    inverse[2] -= excess * axis.z * axis.z;
    inverse[3] -= excess * axis.x * axis.y;
    inverse[4] -= excess * axis.x * axis.z;
    inverse[5] -= excess * axis.y * axis.z;
}

void cairn_thin_links_thicken(cairn_soft_step *soft_step) {
    soft_step->any_axes = count_joints(soft_step);
    if (!soft_step->any_axes) {
        return;
    }
    for (uint32_t i = 0; i < soft_step->moving_count; ++i) {
        if (soft_step->jointed[i] > 1) {
            thicken(&soft_step->bodies[i]);
        }
    }
}
