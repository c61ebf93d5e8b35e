// SPDX-License-Identifier: MIT

// Joint constraints of the soft-step solver, one joint in each lane, all of one kind: soft while
// biased and exact while relaxed, like contacts (sim/soft_step/contact_solver.c). The linear rows
// are solved first, then the angular rows without violating the linear ones.

#include "base/assert.h"
#include "sim/constraint/joint_frame.h"
#include "sim/soft_step/joint_angular.h"
#include "sim/soft_step/joint_linear.h"
#include "sim/soft_step/light_link.h"

// In the order in which a visit reads it.
typedef struct wide_joint {
    pair_lanes pair;
    uint32_t kind;                // cairn_joint_kind, of every lane
    uint32_t joints[CAIRN_LANES]; // slots, and those of the bodies
    uint32_t bodies_a[CAIRN_LANES];
    uint32_t bodies_b[CAIRN_LANES];
    lanes_sym3 inverse_inertia_a;
    lanes_sym3 inverse_inertia_b;
    anchor_lanes anchors;
    linear_part linear;
    // The bodies start a substep with the impulses of the last biased pass, which acted at the arms
    // and along the axes of then: what must be added for those of now.
    pair_impulse missing;
} wide_joint;

// A joint and its angular part, which only hinges and cones have. That is apart, so that the joints
// without one are not spread over more memory than they use.
typedef struct joint_visit {
    wide_joint *wide;
    angular_part *angular;
} joint_visit;

INLINE joint_visit joint_at(const cairn_solver_context *context, uint32_t index) {
    wide_joint *joints = context->joint_constraints;
    angular_part *angular = context->joint_angular;
    return (joint_visit){.wide = &joints[index], .angular = &angular[index]};
}

// The floats of a joint from which on rows of eight are read.
#define JOINT_ANCHORS 7   // anchor_a, anchor_b, length
#define JOINT_IMPULSES 14 // impulse, relax_impulse

_Static_assert(offsetof(cairn_joint, anchor_a) == 4 * JOINT_ANCHORS, "a row begins here");
_Static_assert(offsetof(cairn_joint, length) == 4 * (JOINT_ANCHORS + 6), "follows the anchors");
_Static_assert(offsetof(cairn_joint, impulse) == 4 * JOINT_IMPULSES, "a row begins here");
_Static_assert(offsetof(cairn_joint, relax_impulse) == 4 * (JOINT_IMPULSES + 3), "follows it");

// Of each lane.
typedef struct joint_rows {
    const void *joints[CAIRN_LANES];
    lanes anchors[CAIRN_ROW_FLOATS];
    joint_pose pose_a;
    joint_pose pose_b;
} joint_rows;

static void load_joints(
    const cairn_solver_context *context, const wide_joint *wide, joint_rows *out) {
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        out->joints[i] = &context->joints[wide->joints[i]];
    }
    load_struct_row(out->joints, JOINT_ANCHORS, out->anchors);
    out->pose_a = load_joint_pose(context, wide->bodies_a, lanes3_at(out->anchors));
    out->pose_b = load_joint_pose(context, wide->bodies_b, lanes3_at(out->anchors + 3));
}

// What stays while the graph does.
static void fill_joint(
    const cairn_solver_context *context, const uint32_t *order, wide_joint *wide) {
    fill_pair(context, context->joint_edges, order, &wide->pair);
    wide->kind = context->joint_edges[wide->pair.edge[0]].kind;
    CAIRN_ASSERT(wide->kind >= CAIRN_JOINT_BALL && wide->kind < CAIRN_EDGE_KINDS);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_constraint_edge *edge = &context->joint_edges[wide->pair.edge[i]];
        wide->joints[i] = edge->element;
        wide->bodies_a[i] = edge->body_a;
        wide->bodies_b[i] = edge->body_b;
    }
}

static void prepare_linear(wide_joint *wide, const joint_rows *rows, lanes warm,
    const body_lanes *a, const body_lanes *b) {
    lanes impulses[CAIRN_ROW_FLOATS];
    load_struct_row(rows->joints, JOINT_IMPULSES, impulses);
    wide->linear.impulse = lanes3_scale(lanes3_at(impulses), warm);
    wide->linear.length = rows->anchors[6];
    wide->linear.relax_impulse = lanes3_scale(lanes3_at(impulses + 3), warm);
    if (wide->kind == CAIRN_JOINT_DISTANCE) {
        update_distance_row(&wide->linear, &wide->anchors, a, b);
    } else {
        update_ball_mass(&wide->linear, &wide->anchors, a, b);
    }
}

static void prepare_joint(
    const cairn_solver_context *context, const uint32_t *order, const joint_visit *visit) {
    wide_joint *wide = visit->wide;
    joint_rows rows;
    if (context->joint_pairs_known == 0) {
        fill_joint(context, order, wide);
    }
    load_joints(context, wide, &rows);
    const lanes warm = lanes_all(context->warm_start != 0 ? 1.0f : 0.0f);
    const lanes closing_a =
        load_inverse_inertia(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    const lanes closing_b =
        load_inverse_inertia(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    wide->linear.closing = lanes_max(closing_a, closing_b);
    const body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    const body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    prepare_anchors(&wide->anchors, &rows.pose_a, &rows.pose_b);
    prepare_linear(wide, &rows, warm, &a, &b);
    (void)update_chord(context, wide->kind, &wide->linear, &wide->anchors, &a, &b);
    const lanes zero = lanes_all(0.0f);
    wide->linear.faded = zero; // of what the joint stores
    const lanes3 none = lanes3_of(zero, zero, zero);
    wide->missing = (pair_impulse){.linear = none, .torque_a = none, .torque_b = none};
    if (cairn_joint_has_axes(wide->kind)) {
        const angular_words words = load_angular_words(rows.joints);
        update_response(visit->angular, &wide->anchors, &a, &b);
        prepare_angular(visit->angular, wide->kind, warm, &words, &rows.pose_a, &rows.pose_b);
    }
}

static void prepare(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; ++i) {
        const joint_visit visit = joint_at(context, i);
        prepare_joint(context, context->joint_order + (size_t)i * CAIRN_LANES, &visit);
    }
}

static void warm_start_relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_joint *constraints = context->joint_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_joint *wide = &constraints[i];
        body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
        body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
        apply_linear_impulse(&wide->anchors, &a, &b,
            impulse_vector(&wide->linear, wide->kind, wide->linear.relax_impulse));
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
    }
}

static void warm_start(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; ++i) {
        const joint_visit visit = joint_at(context, i);
        const wide_joint *wide = visit.wide;
        const linear_part *linear = &wide->linear;
        body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
        body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
        apply_linear_impulse(&wide->anchors, &a, &b,
            impulse_vector(linear, wide->kind, lanes3_sub(linear->impulse, linear->relax_impulse)));
        if (cairn_joint_has_axes(wide->kind)) {
            apply_torque(&a, &b, torque_vector(visit.angular, wide->kind, visit.angular->impulse));
        }
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
    }
}

// The kind is a constant where these functions are inlined for ball joints, whose bodies then stay
// in registers throughout a visit.

INLINE void solve_rows(const cairn_solver_context *context, const joint_visit *visit, uint32_t kind,
    body_lanes *a, body_lanes *b, bool biased) {
    wide_joint *wide = visit->wide;
    CAIRN_ASSERT(wide->pair.live != 0);
    if (kind == CAIRN_JOINT_DISTANCE) {
        solve_distance(context, &wide->linear, &wide->anchors, a, b, biased);
    } else {
        solve_ball(
            context, &wide->linear, &wide->anchors, a, b, biased, !cairn_joint_has_axes(kind));
    }
    if (cairn_joint_has_axes(kind)) {
        solve_angular(context, visit->angular, kind, &wide->linear, &wide->anchors, a, b, biased);
        if (biased) {
            soften_joint(context, visit->angular, kind, &wide->linear, &wide->anchors, a, b);
        }
    }
}

// Leaves the impulses of the last biased pass, and adds what is missing of them.
INLINE void begin_biased_rows(
    const joint_visit *visit, uint32_t kind, body_lanes *a, body_lanes *b) {
    wide_joint *wide = visit->wide;
    linear_part *linear = &wide->linear;
    angular_part *angular = visit->angular;
    const lanes3 faded = impulse_vector(linear, kind, faded_impulse(linear));
    linear->impulse =
        lanes3_add(lanes3_sub(linear->impulse, linear->relax_impulse), faded_impulse(linear));
    for (uint32_t i = 0; cairn_joint_has_axes(kind) && i < ANGULAR_ROW_COUNT; ++i) {
        angular->impulse[i] = angular->impulse[i] - angular->relax_impulse[i];
    }
    pair_impulse missing = {.linear = faded,
        .torque_a = lanes3_add(wide->missing.torque_a, lanes3_cross(wide->anchors.arm_a, faded)),
        .torque_b = lanes3_add(wide->missing.torque_b, lanes3_cross(wide->anchors.arm_b, faded))};
    if (kind == CAIRN_JOINT_DISTANCE) {
        missing.linear = lanes3_add(missing.linear, wide->missing.linear);
    }
    apply_pair_impulse(a, b, &missing);
}

INLINE void rotate_rows_with_axes(const joint_visit *visit, uint32_t kind,
    const pair_motion *motion, body_lanes *a, body_lanes *b) {
    anchor_lanes *anchors = &visit->wide->anchors;
    pair_impulse *missing = &visit->wide->missing;
    rotate_ball_rows(&visit->wide->linear, anchors, motion, missing, a, b);
    const lanes3 torque = rotate_angular_rows(visit->angular, kind, anchors, motion, a, b);
    missing->torque_a = lanes3_add(missing->torque_a, torque);
    missing->torque_b = lanes3_add(missing->torque_b, torque);
}

// Updates the rows to the poses of the bodies, and adds the impulses of the last relax pass.
INLINE void begin_relax_rows(const cairn_solver_context *context, const joint_visit *visit,
    uint32_t kind, body_lanes *a, body_lanes *b) {
    wide_joint *wide = visit->wide;
    linear_part *linear = &wide->linear;
    angular_part *angular = visit->angular;
    const pair_motion motion = load_pair_motion(context, &wide->pair);
    if (kind == CAIRN_JOINT_DISTANCE) {
        rotate_distance_row(linear, &wide->anchors, &motion, &wide->missing, a, b);
    } else if (kind == CAIRN_JOINT_BALL) {
        rotate_ball_rows(linear, &wide->anchors, &motion, &wide->missing, a, b);
    } else {
        rotate_rows_with_axes(visit, kind, &motion, a, b);
    }
    linear->biased_impulse = linear->impulse;
    linear->impulse = lanes3_add(linear->impulse, linear->relax_impulse);
    for (uint32_t i = 0; cairn_joint_has_axes(kind) && i < ANGULAR_ROW_COUNT; ++i) {
        angular->biased_impulse[i] = angular->impulse[i];
        angular->impulse[i] = angular->impulse[i] + angular->relax_impulse[i];
    }
}

INLINE void end_relax_rows(const cairn_solver_context *context, const joint_visit *visit,
    uint32_t kind, const body_lanes *a, const body_lanes *b) {
    linear_part *linear = &visit->wide->linear;
    angular_part *angular = visit->angular;
    const lanes kept = lanes_all(CAIRN_RELAX_KEPT);
    linear->relax_impulse = lanes3_scale(lanes3_sub(linear->impulse, linear->biased_impulse), kept);
    for (uint32_t i = 0; cairn_joint_has_axes(kind) && i < ANGULAR_ROW_COUNT; ++i) {
        angular->relax_impulse[i] = (angular->impulse[i] - angular->biased_impulse[i]) * kept;
    }
    linear->faded = update_chord(context, kind, linear, &visit->wide->anchors, a, b);
}

// One joint of a sweep, with what comes before or after its rows are solved.
INLINE void visit_joint(const cairn_solver_context *context, const joint_visit *visit,
    uint32_t kind, cairn_constraint_stage stage) {
    wide_joint *wide = visit->wide;
    if (stage == CAIRN_CONSTRAINT_BEGIN_RELAX &&
        atomic_load_explicit(context->turning_found, memory_order_relaxed) != 0) {
        load_inverse_inertia(context, wide->pair.offset_a, &wide->inverse_inertia_a);
        load_inverse_inertia(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    }
    body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    if (stage == CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED) {
        begin_biased_rows(visit, kind, &a, &b);
    } else if (stage == CAIRN_CONSTRAINT_BEGIN_RELAX) {
        begin_relax_rows(context, visit, kind, &a, &b);
    }
    solve_rows(context, visit, kind, &a, &b,
        stage == CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED || stage == CAIRN_CONSTRAINT_SOLVE_BIASED);
    if (stage == CAIRN_CONSTRAINT_RELAX) {
        end_relax_rows(context, visit, kind, &a, &b);
    }
    store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
    store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
}

INLINE void visit_joints(const cairn_solver_context *context, uint32_t begin, uint32_t end,
    cairn_constraint_stage stage) {
    CAIRN_ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; ++i) {
        const joint_visit visit = joint_at(context, i);
        switch (visit.wide->kind) {
        case CAIRN_JOINT_BALL:
            visit_joint(context, &visit, CAIRN_JOINT_BALL, stage);
            break;
        case CAIRN_JOINT_HINGE:
            visit_joint(context, &visit, CAIRN_JOINT_HINGE, stage);
            break;
        case CAIRN_JOINT_CONE:
            visit_joint(context, &visit, CAIRN_JOINT_CONE, stage);
            break;
        default:
            visit_joint(context, &visit, CAIRN_JOINT_DISTANCE, stage);
            break;
        }
    }
}

// ---- Light links

// One joint of a light link, rigid. `held`: its inverse response while the other one holds the
// link, which is right again only after that one was solved; NULL: alone.
static void solve_of_link(const cairn_solver_context *context, const joint_visit *visit,
    const lanes_sym3 *held, bool biased) {
    wide_joint *wide = visit->wide;
    linear_part linear = wide->linear;
    body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    linear.inverse = held != NULL ? *held : linear.inverse;
    solve_ball(context, &linear, &wide->anchors, &a, &b, biased, false);
    if (held == NULL && cairn_joint_has_axes(wide->kind)) {
        solve_angular(context, visit->angular, wide->kind, &linear, &wide->anchors, &a, &b, biased);
    }
    wide->linear.impulse = linear.impulse;
    store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
    store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
}

// Asks for the chord of the present velocities. Returns whether it asked for nearly that before.
static bool follow_arc(const cairn_solver_context *context, wide_joint *wide) {
    const body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    const body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    const pair_motion motion = load_pair_motion(context, &wide->pair);
    return update_arc_chord(context, &motion, &wide->linear, &wide->anchors, &a, &b);
}

// The inverse response of the outer joint while the inner one holds the link.
static lanes_sym3 inverse_while_held(
    const cairn_solver_context *context, const joint_visit *inner, const joint_visit *outer) {
    const wide_joint *in = inner->wide;
    const wide_joint *out = outer->wide;
    const bool link_is_b = in->pair.moving_b != 0;
    const uint32_t link = link_is_b ? in->bodies_b[0] : in->bodies_a[0];
    const lanes3 arm = link_is_b ? in->anchors.arm_b : in->anchors.arm_a;
    body_lanes a = load_body(context, out->pair.offset_a, &out->inverse_inertia_a);
    body_lanes b = load_body(context, out->pair.offset_b, &out->inverse_inertia_b);
    anchor_lanes anchors = out->anchors;
    body_lanes *held = out->bodies_b[0] == link ? &b : &a;
    lanes3 *from = out->bodies_b[0] == link ? &anchors.arm_b : &anchors.arm_a;
    lanes_sym3 inverse = inverse_inertia_about(held, arm);
    if (in->kind == CAIRN_JOINT_HINGE) {
        inverse = inverse_inertia_about_axis(inverse, inner->angular->axis);
    }
    *from = lanes3_sub(*from, arm);
    held->inverse_mass = lanes_all(0.0f);
    held->inverse_inertia = &inverse;
    return inverse_of_k(response_at_anchors(&anchors, &a, &b));
}

static void solve_light_link(const cairn_solver_context *context, const joint_visit *inner,
    const joint_visit *outer, const lanes_sym3 *held, bool biased) {
    solve_of_link(context, inner, NULL, biased);
    solve_of_link(context, outer, held, biased);
    solve_of_link(context, inner, NULL, biased);
    if (cairn_joint_has_axes(outer->wide->kind)) {
        solve_of_link(context, outer, NULL, biased);
        solve_of_link(context, inner, NULL, biased);
    }
}

// If the rounds do not settle, because the link turns round within the substep, the chords of its
// last velocities are asked for, which loses energy.
static void bias_light_link(const cairn_solver_context *context, const joint_visit *inner,
    const joint_visit *outer, const lanes_sym3 *held) {
    const lanes3 chords[2] = {inner->wide->linear.chord, outer->wide->linear.chord};
    bool settled = false;
    for (uint32_t round = 0; round < CAIRN_LIGHT_LINK_ROUNDS && !settled; ++round) {
        solve_light_link(context, inner, outer, held, true);
        const bool inner_settled = follow_arc(context, inner->wide);
        settled = follow_arc(context, outer->wide) && inner_settled;
    }
    if (!settled) {
        inner->wide->linear.chord = chords[0];
        outer->wide->linear.chord = chords[1];
        solve_light_link(context, inner, outer, held, true);
    }
}

static void solve_light_links(const cairn_solver_context *context, bool biased) {
    CAIRN_ASSERT(CAIRN_LANES == 1);
    for (uint32_t i = 0; i < context->light_link_count; ++i) {
        const joint_visit inner = joint_at(context, 2 * i);
        const joint_visit outer = joint_at(context, 2 * i + 1);
        const lanes_sym3 held = inverse_while_held(context, &inner, &outer);
        if (biased) {
            bias_light_link(context, &inner, &outer, &held);
        } else {
            solve_light_link(context, &inner, &outer, &held, false);
            solve_light_link(context, &inner, &outer, &held, false);
        }
    }
}

static void begin_biased(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED);
}

static void solve_biased(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_SOLVE_BIASED);
    if (CAIRN_LANES == 1 && context->light_link_count > 0) {
        solve_light_links(context, true);
    }
}

static void begin_relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_BEGIN_RELAX);
    if (CAIRN_LANES == 1 && context->light_link_count > 0) {
        solve_light_links(context, false);
    }
}

static void relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    visit_joints(context, begin, end, CAIRN_CONSTRAINT_RELAX);
}

// 1 in the lanes in which one of the two bodies is marked as pushed; 0 in the others.
static lanes pushed_lanes(const cairn_solver_context *context, const pair_lanes *pair) {
    uint32_t set = 0;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const unsigned a = atomic_load_explicit(
            &context->pushed[body_at(pair->offset_a[i])], memory_order_relaxed);
        const unsigned b = atomic_load_explicit(
            &context->pushed[body_at(pair->offset_b[i])], memory_order_relaxed);
        set |= (a | b) << i;
    }
    return lanes_of_set(set, lanes_all(1.0f));
}

static void damp(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; ++i) {
        const joint_visit visit = joint_at(context, i);
        const wide_joint *wide = visit.wide;
        if (!cairn_joint_has_axes(wide->kind)) {
            continue;
        }
        body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
        body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
        damp_rotation(context, visit.angular, wide->kind, &wide->anchors,
            pushed_lanes(context, &wide->pair), &a, &b);
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
    }
}

// Writes six lanes to that many floats of each live joint, from float `first` on.
static void store_floats(const cairn_solver_context *context, const wide_joint *wide,
    const lanes values[6], uint32_t first) {
    lanes row[CAIRN_ROW_FLOATS] = {0};
    for (uint32_t k = 0; k < 6; ++k) {
        row[k] = finite_or_zero(values[k]);
    }
    float stored[CAIRN_LANES][CAIRN_ROW_FLOATS];
    lanes_store_rows(row, stored);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((wide->pair.live >> i & 1u) != 0) {
            float *joint = (float *)&context->joints[wide->joints[i]];
            memcpy(joint + first, stored[i], 6 * sizeof(float));
        }
    }
}

static void store(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    for (uint32_t i = begin; i < end; ++i) {
        const joint_visit visit = joint_at(context, i);
        const wide_joint *wide = visit.wide;
        const lanes3 sum = wide->linear.impulse;
        const lanes3 relaxed = lanes3_sub(wide->linear.relax_impulse, faded_impulse(&wide->linear));
        const lanes linear[6] = {sum.x, sum.y, sum.z, relaxed.x, relaxed.y, relaxed.z};
        store_floats(context, wide, linear, JOINT_IMPULSES);
        if (cairn_joint_has_axes(wide->kind)) {
            lanes angular[6];
            list_angular_impulses(visit.angular, wide->kind, angular);
            store_floats(context, wide, angular, JOINT_SUMS + 2);
        }
    }
}

static void fetch(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i) {
        fetch_pair(context, &joint_at(context, i).wide->pair);
    }
}

extern const cairn_constraint_kernel CAIRN_KERNEL(joint);
const cairn_constraint_kernel CAIRN_KERNEL(joint) = {
    .constraint_size = sizeof(wide_joint),
    .apart_size = sizeof(angular_part),
    .stages = {[CAIRN_CONSTRAINT_PREPARE] = prepare,
        [CAIRN_CONSTRAINT_WARM_START_RELAX] = warm_start_relax,
        [CAIRN_CONSTRAINT_WARM_START] = warm_start,
        [CAIRN_CONSTRAINT_BEGIN_SOLVE_BIASED] = begin_biased,
        [CAIRN_CONSTRAINT_SOLVE_BIASED] = solve_biased,
        [CAIRN_CONSTRAINT_BEGIN_RELAX] = begin_relax,
        [CAIRN_CONSTRAINT_RELAX] = relax,
        [CAIRN_CONSTRAINT_DAMP] = damp,
        [CAIRN_CONSTRAINT_STORE] = store,
        [CAIRN_CONSTRAINT_FETCH] = fetch},
};
