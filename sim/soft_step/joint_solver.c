// SPDX-License-Identifier: MIT

// Joint constraints of the soft-step solver, one joint in each lane, all of one kind: soft while
// biased and exact while relaxed, like contacts (sim/soft_step/contact_solver.c). The linear rows
// are solved first, then the angular rows without violating the linear ones.

#include "base/assert.h"
#include "sim/constraint/joint_frame.h"
#include "sim/soft_step/joint_angular.h"
#include "sim/soft_step/joint_linear.h"

typedef struct wide_joint {
    pair_lanes pair;
    uint32_t kind; // cairn_joint_kind, of every lane
    anchor_lanes anchors;
    linear_part linear;
    angular_part angular; // of hinges and cones; the other kinds never read it
} wide_joint;

static void prepare_linear(const cairn_solver_context *context, wide_joint *wide,
    const body_lanes *a, const body_lanes *b) {
    float words[4][CAIRN_LANES];
    const float warm = context->warm_start != 0 ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_joint *joint =
            &context->joints[context->joint_edges[wide->pair.edge[i]].element];
        words[0][i] = joint->impulse.x * warm;
        words[1][i] = joint->impulse.y * warm;
        words[2][i] = joint->impulse.z * warm;
        words[3][i] = joint->length;
    }
    lanes in[4];
    memcpy(in, words, sizeof in);
    wide->linear.impulse = lanes3_of(in[0], in[1], in[2]);
    wide->linear.length = in[3];
    if (wide->kind == CAIRN_JOINT_DISTANCE) {
        update_distance_row(&wide->linear, &wide->anchors, a, b);
    } else {
        update_ball_mass(&wide->linear, &wide->anchors, a, b);
    }
}

static void load_axes(const cairn_solver_context *context, wide_joint *wide,
    const joint_pose *pose_a, const joint_pose *pose_b, const body_lanes *a, const body_lanes *b) {
    CAIRN_ASSERT(cairn_joint_has_axes(wide->kind));
    float words[CAIRN_JOINT_ANGULAR_WORDS][CAIRN_LANES];
    const float warm = context->warm_start != 0 ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        float values[CAIRN_JOINT_ANGULAR_WORDS];
        angular_words(
            &context->joints[context->joint_edges[wide->pair.edge[i]].element], warm, values);
        for (uint32_t k = 0; k < CAIRN_JOINT_ANGULAR_WORDS; ++k) {
            words[k][i] = values[k];
        }
    }
    lanes in[CAIRN_JOINT_ANGULAR_WORDS];
    memcpy(in, words, sizeof in);
    wide->angular.response = held_response(&wide->linear, &wide->anchors, a, b);
    prepare_angular(&wide->angular, wide->kind, in, pose_a, pose_b);
}

static void prepare_joint(
    const cairn_solver_context *context, const uint32_t *order, wide_joint *wide) {
    joint_pose_source sources_a[CAIRN_LANES];
    joint_pose_source sources_b[CAIRN_LANES];
    fill_pair(context, context->joint_edges, order, &wide->pair);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_constraint_edge *edge = &context->joint_edges[wide->pair.edge[i]];
        const cairn_joint *joint = &context->joints[edge->element];
        sources_a[i] = (joint_pose_source){.motion = &context->motions[edge->body_a],
            .anchor = vec3_sub(joint->anchor_a, context->body_params[edge->body_a].centre)};
        sources_b[i] = (joint_pose_source){.motion = &context->motions[edge->body_b],
            .anchor = vec3_sub(joint->anchor_b, context->body_params[edge->body_b].centre)};
    }
    wide->kind = context->joint_edges[wide->pair.edge[0]].kind;
    CAIRN_ASSERT(wide->kind >= CAIRN_JOINT_BALL && wide->kind < CAIRN_EDGE_KINDS);
    const joint_pose pose_a = load_joint_poses(sources_a);
    const joint_pose pose_b = load_joint_poses(sources_b);
    const body_lanes a = load_body(context, wide->pair.a);
    const body_lanes b = load_body(context, wide->pair.b);
    prepare_anchors(&wide->anchors, &pose_a, &pose_b);
    prepare_linear(context, wide, &a, &b);
    if (cairn_joint_has_axes(wide->kind)) {
        load_axes(context, wide, &pose_a, &pose_b, &a, &b);
    }
}

static void prepare(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        prepare_joint(context, context->joint_order + (size_t)i * CAIRN_LANES, &constraints[i]);
    }
}

static void warm_start(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        wide_joint *wide = &constraints[i];
        body_lanes a = load_body(context, wide->pair.a);
        body_lanes b = load_body(context, wide->pair.b);
        apply_linear_impulse(
            &wide->anchors, &a, &b, accumulated_impulse(&wide->linear, wide->kind));
        if (cairn_joint_has_axes(wide->kind)) {
            apply_torque(&a, &b, accumulated_torque(&wide->angular, wide->kind));
        }
        store_body(context, wide->pair.a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.b, wide->pair.moving_b, &b);
    }
}

static void rotate_rows(
    const cairn_solver_context *context, wide_joint *wide, body_lanes *a, body_lanes *b) {
    CAIRN_ASSERT(wide->pair.live != 0);
    const delta_lanes delta_a = load_delta(context, wide->pair.a);
    const delta_lanes delta_b = load_delta(context, wide->pair.b);
    rotate_linear_rows(&wide->linear, wide->kind, &wide->anchors, &delta_a, &delta_b, a, b);
    if (cairn_joint_has_axes(wide->kind)) {
        rotate_angular_rows(
            &wide->angular, wide->kind, &wide->linear, &wide->anchors, &delta_a, &delta_b, a, b);
    }
}

static void solve_joint(const cairn_solver_context *context, wide_joint *wide, bool biased) {
    CAIRN_ASSERT(wide->pair.live != 0);
    body_lanes a = load_body(context, wide->pair.a);
    body_lanes b = load_body(context, wide->pair.b);
    if (biased) {
        rotate_rows(context, wide, &a, &b);
    } else if (cairn_joint_has_axes(wide->kind)) {
        const delta_lanes delta_a = load_delta(context, wide->pair.a);
        const delta_lanes delta_b = load_delta(context, wide->pair.b);
        update_slack(&wide->angular, &delta_a, &delta_b);
    }
    if (wide->kind == CAIRN_JOINT_DISTANCE) {
        solve_distance(context, &wide->linear, &wide->anchors, &a, &b, biased);
    } else {
        solve_ball(context, &wide->linear, &wide->anchors, &a, &b, biased);
    }
    if (cairn_joint_has_axes(wide->kind)) {
        solve_angular(
            context, &wide->angular, wide->kind, &wide->linear, &wide->anchors, &a, &b, biased);
    }
    store_body(context, wide->pair.a, wide->pair.moving_a, &a);
    store_body(context, wide->pair.b, wide->pair.moving_b, &b);
}

static void solve_biased(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        solve_joint(context, &constraints[i], true);
    }
}

static void relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        solve_joint(context, &constraints[i], false);
    }
}

static cairn_joint *joint_of(
    const cairn_solver_context *context, const wide_joint *wide, uint32_t lane) {
    CAIRN_ASSERT(lane < CAIRN_LANES);
    return &context->joints[context->joint_edges[wide->pair.edge[lane]].element];
}

static void store_angular(const cairn_solver_context *context, const wide_joint *wide) {
    CAIRN_ASSERT(cairn_joint_has_axes(wide->kind));
    const angular_part *angular = &wide->angular;
    lanes3 swing = lanes3_scale(angular->swing_axes[0], angular->swing_impulse[0]);
    swing = lanes3_add_scaled(swing, angular->swing_axes[1], angular->swing_impulse[1]);
    const bool hinge = wide->kind == CAIRN_JOINT_HINGE;
    const lanes none = lanes_all(0.0f);
    const lanes values[6] = {hinge ? finite_or_zero(swing.x) : none,
        hinge ? finite_or_zero(swing.y) : none, hinge ? finite_or_zero(swing.z) : none,
        hinge ? none : finite_or_zero(angular->swing.impulse),
        finite_or_zero(angular->lower.impulse), finite_or_zero(angular->upper.impulse)};
    float impulse[6][CAIRN_LANES];
    memcpy(impulse, values, sizeof impulse);
    for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
        if ((wide->pair.live >> k & 1u) != 0) {
            cairn_joint *joint = joint_of(context, wide, k);
            joint->angular_impulse = vec3(impulse[0][k], impulse[1][k], impulse[2][k]);
            joint->swing_impulse = impulse[3][k];
            joint->lower_impulse = impulse[4][k];
            joint->upper_impulse = impulse[5][k];
        }
    }
}

static void store(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    const wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const lanes3 linear = constraints[i].linear.impulse;
        const lanes values[3] = {
            finite_or_zero(linear.x), finite_or_zero(linear.y), finite_or_zero(linear.z)};
        float impulse[3][CAIRN_LANES];
        memcpy(impulse, values, sizeof impulse);
        for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
            if ((constraints[i].pair.live >> k & 1u) != 0) {
                joint_of(context, &constraints[i], k)->impulse =
                    vec3(impulse[0][k], impulse[1][k], impulse[2][k]);
            }
        }
        if (cairn_joint_has_axes(constraints[i].kind)) {
            store_angular(context, &constraints[i]);
        }
    }
}

extern const cairn_constraint_kernel CAIRN_KERNEL(joint);
const cairn_constraint_kernel CAIRN_KERNEL(joint) = {
    .constraint_size = sizeof(wide_joint),
    .stages = {[CAIRN_CONSTRAINT_PREPARE] = prepare,
        [CAIRN_CONSTRAINT_WARM_START] = warm_start,
        [CAIRN_CONSTRAINT_SOLVE_BIASED] = solve_biased,
        [CAIRN_CONSTRAINT_RELAX] = relax,
        [CAIRN_CONSTRAINT_STORE] = store},
};
