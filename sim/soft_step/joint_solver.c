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
    lanes_sym3 inverse_inertia_a;
    lanes_sym3 inverse_inertia_b;
    anchor_lanes anchors;
    linear_part linear;
    angular_part angular; // of hinges and cones; the other kinds never read it
    // The bodies start a substep with the impulses of the last biased pass, which acted at the arms
    // and along the axes of then: what must be added for those of now.
    pair_impulse missing;
} wide_joint;

static void prepare_linear(const cairn_solver_context *context, wide_joint *wide,
    const body_lanes *a, const body_lanes *b) {
    float words[7][CAIRN_LANES];
    const float warm = context->warm_start != 0 ? 1.0f : 0.0f;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_joint *joint =
            &context->joints[context->joint_edges[wide->pair.edge[i]].element];
        words[0][i] = joint->impulse.x * warm;
        words[1][i] = joint->impulse.y * warm;
        words[2][i] = joint->impulse.z * warm;
        words[3][i] = joint->length;
        words[4][i] = joint->relax_impulse.x * warm;
        words[5][i] = joint->relax_impulse.y * warm;
        words[6][i] = joint->relax_impulse.z * warm;
    }
    lanes in[7];
    memcpy(in, words, sizeof in);
    wide->linear.impulse = lanes3_of(in[0], in[1], in[2]);
    wide->linear.length = in[3];
    wide->linear.relax_impulse = lanes3_of(in[4], in[5], in[6]);
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
    const body_lanes a = load_body(context, wide->pair.offset_a);
    const body_lanes b = load_body(context, wide->pair.offset_b);
    wide->inverse_inertia_a = a.inverse_inertia;
    wide->inverse_inertia_b = b.inverse_inertia;
    prepare_anchors(&wide->anchors, &pose_a, &pose_b);
    prepare_linear(context, wide, &a, &b);
    update_chord(context, wide->kind, &wide->linear, &wide->anchors, &a, &b);
    const lanes zero = lanes_all(0.0f);
    const lanes3 none = lanes3_of(zero, zero, zero);
    wide->missing = (pair_impulse){.linear = none, .torque_a = none, .torque_b = none};
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

static void warm_start_relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_joint *wide = &constraints[i];
        body_lanes a = load_body(context, wide->pair.offset_a);
        body_lanes b = load_body(context, wide->pair.offset_b);
        apply_linear_impulse(&wide->anchors, &a, &b,
            impulse_vector(&wide->linear, wide->kind, wide->linear.relax_impulse));
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
    }
}

static void warm_start(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_joint *wide = &constraints[i];
        const linear_part *linear = &wide->linear;
        body_lanes a = load_body(context, wide->pair.offset_a);
        body_lanes b = load_body(context, wide->pair.offset_b);
        apply_linear_impulse(&wide->anchors, &a, &b,
            impulse_vector(linear, wide->kind, lanes3_sub(linear->impulse, linear->relax_impulse)));
        if (cairn_joint_has_axes(wide->kind)) {
            apply_torque(&a, &b, torque_vector(&wide->angular, wide->kind, wide->angular.impulse));
        }
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
    }
}

// The kind is a constant where these functions are inlined for ball joints, whose bodies then stay
// in registers throughout a visit.

INLINE void solve_rows(const cairn_solver_context *context, wide_joint *wide, uint32_t kind,
    body_lanes *a, body_lanes *b, bool biased) {
    CAIRN_ASSERT(wide->pair.live != 0);
    if (kind == CAIRN_JOINT_DISTANCE) {
        solve_distance(context, &wide->linear, &wide->anchors, a, b, biased);
    } else {
        solve_ball(context, &wide->linear, &wide->anchors, a, b, biased);
    }
    if (cairn_joint_has_axes(kind)) {
        solve_angular(context, &wide->angular, kind, &wide->linear, &wide->anchors, a, b, biased);
    }
}

// Leaves the impulses of the last biased pass, and adds what is missing of them.
INLINE void begin_biased_rows(wide_joint *wide, uint32_t kind, body_lanes *a, body_lanes *b) {
    linear_part *linear = &wide->linear;
    angular_part *angular = &wide->angular;
    linear->impulse = lanes3_sub(linear->impulse, linear->relax_impulse);
    for (uint32_t i = 0; cairn_joint_has_axes(kind) && i < ANGULAR_ROW_COUNT; ++i) {
        angular->impulse[i] = angular->impulse[i] - angular->relax_impulse[i];
    }
    if (kind == CAIRN_JOINT_DISTANCE) {
        apply_pair_impulse(a, b, &wide->missing);
    } else {
        apply_torques(a, b, wide->missing.torque_a, wide->missing.torque_b);
    }
}

// Updates the rows to the poses of the bodies, and adds the impulses of the last relax pass.
INLINE void begin_relax_rows(const cairn_solver_context *context, wide_joint *wide, uint32_t kind,
    body_lanes *a, body_lanes *b) {
    linear_part *linear = &wide->linear;
    angular_part *angular = &wide->angular;
    const pair_motion motion = load_pair_motion(context, &wide->pair);
    if (kind == CAIRN_JOINT_DISTANCE) {
        rotate_distance_row(linear, &wide->anchors, &motion, &wide->missing, a, b);
    } else {
        rotate_ball_rows(linear, &wide->anchors, &motion, &wide->missing, a, b);
    }
    linear->biased_impulse = linear->impulse;
    linear->impulse = lanes3_add(linear->impulse, linear->relax_impulse);
    if (cairn_joint_has_axes(kind)) {
        const lanes3 missing =
            rotate_angular_rows(angular, kind, linear, &wide->anchors, &motion, a, b);
        wide->missing.torque_a = lanes3_add(wide->missing.torque_a, missing);
        wide->missing.torque_b = lanes3_add(wide->missing.torque_b, missing);
        for (uint32_t i = 0; i < ANGULAR_ROW_COUNT; ++i) {
            angular->biased_impulse[i] = angular->impulse[i];
            angular->impulse[i] = angular->impulse[i] + angular->relax_impulse[i];
        }
    }
}

INLINE void end_relax_rows(const cairn_solver_context *context, wide_joint *wide, uint32_t kind,
    const body_lanes *a, const body_lanes *b) {
    linear_part *linear = &wide->linear;
    angular_part *angular = &wide->angular;
    const lanes kept = lanes_all(CAIRN_RELAX_KEPT);
    linear->relax_impulse = lanes3_scale(lanes3_sub(linear->impulse, linear->biased_impulse), kept);
    for (uint32_t i = 0; cairn_joint_has_axes(kind) && i < ANGULAR_ROW_COUNT; ++i) {
        angular->relax_impulse[i] = (angular->impulse[i] - angular->biased_impulse[i]) * kept;
    }
    update_chord(context, kind, linear, &wide->anchors, a, b);
}

// One joint of a sweep, with what comes before or after its rows are solved.
INLINE void visit_joint(const cairn_solver_context *context, wide_joint *wide, uint32_t kind,
    cairn_constraint_stage stage) {
    body_lanes a = load_velocities(context, wide->pair.offset_a, wide->inverse_inertia_a);
    body_lanes b = load_velocities(context, wide->pair.offset_b, wide->inverse_inertia_b);
    if (stage == CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED) {
        begin_biased_rows(wide, kind, &a, &b);
    } else if (stage == CAIRN_CONSTRAINT_BEGIN_RELAX) {
        begin_relax_rows(context, wide, kind, &a, &b);
    }
    solve_rows(context, wide, kind, &a, &b,
        stage == CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED || stage == CAIRN_CONSTRAINT_SOLVE_BIASED);
    if (stage == CAIRN_CONSTRAINT_RELAX) {
        end_relax_rows(context, wide, kind, &a, &b);
    }
    store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
    store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
}

INLINE void visit_joints(const cairn_solver_context *context, uint32_t begin, uint32_t end,
    cairn_constraint_stage stage) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        wide_joint *wide = &constraints[i];
        switch (wide->kind) {
        case CAIRN_JOINT_BALL:
            visit_joint(context, wide, CAIRN_JOINT_BALL, stage);
            break;
        case CAIRN_JOINT_HINGE:
            visit_joint(context, wide, CAIRN_JOINT_HINGE, stage);
            break;
        case CAIRN_JOINT_CONE:
            visit_joint(context, wide, CAIRN_JOINT_CONE, stage);
            break;
        default:
            visit_joint(context, wide, CAIRN_JOINT_DISTANCE, stage);
            break;
        }
    }
}

static void begin_biased(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED);
}

static void solve_biased(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_SOLVE_BIASED);
}

static void begin_relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_BEGIN_RELAX);
}

static void relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_RELAX);
}

static void damp(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_joint *wide = &constraints[i];
        if (!cairn_joint_has_axes(wide->kind)) {
            continue;
        }
        body_lanes a = load_velocities(context, wide->pair.offset_a, wide->inverse_inertia_a);
        body_lanes b = load_velocities(context, wide->pair.offset_b, wide->inverse_inertia_b);
        damp_rotation(context, &wide->angular, wide->kind, &wide->linear, &wide->anchors, &a, &b);
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
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
    const lanes *sums = angular->impulse;
    lanes3 swing = lanes3_scale(angular->swing_axes[0], sums[HINGE_ROW_1]);
    swing = lanes3_add_scaled(swing, angular->swing_axes[1], sums[HINGE_ROW_2]);
    const bool hinge = wide->kind == CAIRN_JOINT_HINGE;
    const lanes none = lanes_all(0.0f);
    const lanes values[6] = {hinge ? finite_or_zero(swing.x) : none,
        hinge ? finite_or_zero(swing.y) : none, hinge ? finite_or_zero(swing.z) : none,
        hinge ? none : finite_or_zero(sums[SWING_LIMIT]), finite_or_zero(sums[LOWER_LIMIT]),
        finite_or_zero(sums[UPPER_LIMIT])};
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
        const lanes3 sum = constraints[i].linear.impulse;
        const lanes3 relaxed = constraints[i].linear.relax_impulse;
        const lanes values[6] = {finite_or_zero(sum.x), finite_or_zero(sum.y),
            finite_or_zero(sum.z), finite_or_zero(relaxed.x), finite_or_zero(relaxed.y),
            finite_or_zero(relaxed.z)};
        float impulse[6][CAIRN_LANES];
        memcpy(impulse, values, sizeof impulse);
        for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
            if ((constraints[i].pair.live >> k & 1u) != 0) {
                cairn_joint *joint = joint_of(context, &constraints[i], k);
                joint->impulse = vec3(impulse[0][k], impulse[1][k], impulse[2][k]);
                joint->relax_impulse = vec3(impulse[3][k], impulse[4][k], impulse[5][k]);
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
        [CAIRN_CONSTRAINT_WARM_START_RELAX] = warm_start_relax,
        [CAIRN_CONSTRAINT_WARM_START] = warm_start,
        [CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED] = begin_biased,
        [CAIRN_CONSTRAINT_SOLVE_BIASED] = solve_biased,
        [CAIRN_CONSTRAINT_BEGIN_RELAX] = begin_relax,
        [CAIRN_CONSTRAINT_RELAX] = relax,
        [CAIRN_CONSTRAINT_DAMP] = damp,
        [CAIRN_CONSTRAINT_STORE] = store},
};
