// SPDX-License-Identifier: MIT
#pragma once

// An impact is a collision of two bodies with restitution that takes no time. It happens in the
// substep in which the gap closes. In each round all points that meet too fast get their bounce at
// once, as the velocities at the start of the round demand. What a bounce sets off is the matter of
// the next round: so a shock passes along a row of balls from one to the next, and a box that lands
// flat on two tiles does not turn. (Smith et al., "Reflections on Simultaneous Impact", 2012.)
//
// The bounce is computed from the velocities without the forces of this substep and holds after
// them. So a ball of restitution 1 climbs in as many substeps as it fell, to the same height.

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/soft_step/contact_rows.h"

// Where in an element of impact_lanes the second set begins.
#define IMPACT_NEARLY_SHIFT 16
_Static_assert(CAIRN_LANES <= IMPACT_NEARLY_SHIFT, "two sets of lanes in a word");

// The velocities before this substep's forces.
static inline body_lanes without_forces(
    const cairn_solver_context *context, const uint32_t *offsets, body_lanes body) {
    static const float none[CAIRN_ROW_FLOATS] = {0.0f};
    const float *rows[CAIRN_LANES];
    lanes change[CAIRN_ROW_FLOATS];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const uint32_t index = body_at(offsets[i]);
        const bool moving = index < context->moving_count;
        rows[i] = moving ? context->integration[index].velocity_change : none;
    }
    lanes_load_rows(rows, change);
    body.velocity = lanes3_sub(body.velocity, lanes3_of(change[0], change[1], change[2]));
    body.angular_velocity =
        lanes3_sub(body.angular_velocity, lanes3_of(change[4], change[5], change[6]));
    return body;
}

static inline normal_space normal_velocity(
    const wide_contact *wide, const body_lanes *a, const body_lanes *b) {
    return to_normal_space(
        wide, tangent2_of(wide), relative_velocity(wide, a, b), relative_spin(a, b));
}

// Begins a round: which points meet, and with which velocity they part. Returns bits: the
// first ones tell the lanes in which the bodies collide, those from IMPACT_NEARLY_SHIFT on the
// lanes in which they nearly do. Most contacts are at rest and are left at once.
static uint32_t find_impact(
    const cairn_solver_context *context, const wide_contact *wide, wide_impact *impact) {
    const lanes zero = lanes_all(0.0f);
    const lanes threshold = lanes_all(context->restitution_threshold);
    const lanes nearly = lanes_all(CAIRN_IMPACT_NEARLY * context->restitution_threshold);
    const body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    const body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    const normal_space velocity = normal_velocity(wide, &a, &b);
    lanes_mask fast[CAIRN_MANIFOLD_POINTS_MAX];
    lanes_mask any = lanes_less(zero, zero);
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        const wide_point *point = &wide->points[i];
        fast[i] = lanes_less(nearly, zero - normal_velocity_at(velocity, point)) &
                  lanes_less(zero, point->mass) & lanes_less(zero, wide->restitution);
        any = any | fast[i];
    }
    if (lanes_set(any) == 0) {
        return 0;
    }
    const body_lanes a_before = without_forces(context, wide->pair.offset_a, a);
    const body_lanes b_before = without_forces(context, wide->pair.offset_b, b);
    const normal_space before = normal_velocity(wide, &a_before, &b_before);
    lanes_mask meets = lanes_less(zero, zero);
    lanes_mask nearly_meets = meets;
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        const wide_point *point = &wide->points[i];
        const lanes travel = zero - normal_velocity_at(velocity, point) * lanes_all(context->h);
        const lanes approach = zero - normal_velocity_at(before, point);
        fast[i] = fast[i] & lanes_less(threshold, approach);
        meets = meets | (fast[i] & lanes_less(point->separation, travel));
        const lanes_mask follows =
            fast[i] & lanes_less(point->separation, travel + lanes_all(CAIRN_IMPACT_SLACK));
        nearly_meets = nearly_meets | follows;
        impact->target[i] = wide->restitution * approach;
        impact->mass[i] = lanes_select(follows, point->mass, zero);
        impact->impulse[i] = zero;
    }
    impact->friction_impulse[0] = zero;
    impact->friction_impulse[1] = zero;
    impact->twist_impulse = zero;
    impact->rolling_impulse[0] = zero;
    impact->rolling_impulse[1] = zero;
    return (lanes_set(meets) & wide->pair.live) | (lanes_set(nearly_meets) & wide->pair.live)
                                                      << IMPACT_NEARLY_SHIFT;
}

static void mark_met(const cairn_solver_context *context, const uint32_t *offsets, uint32_t which) {
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((which >> i & 1u) != 0) {
            atomic_store_explicit(
                &context->met[body_at(offsets[i])], context->impact_round, memory_order_relaxed);
        }
    }
}

// The bit set of those lanes of `which` whose body has met another one in this round.
static uint32_t lanes_met(
    const cairn_solver_context *context, const uint32_t *offsets, uint32_t which) {
    uint32_t met = 0;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const bool here =
            (which >> i & 1u) != 0 && atomic_load_explicit(&context->met[body_at(offsets[i])],
                                          memory_order_relaxed) == context->impact_round;
        met |= here ? 1u << i : 0;
    }
    return met;
}

// Whether the last round has changed a body of the constraint.
static bool was_struck(const cairn_solver_context *context, const pair_lanes *pair) {
    bool struck = false;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        struck = struck || context->struck[body_at(pair->offset_a[i])] == context->impact_after ||
                 context->struck[body_at(pair->offset_b[i])] == context->impact_after;
    }
    return struck;
}

// Rounds after the first one of a substep look only at contacts of bodies that the last one struck.
static void find_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && context->impact_after < context->impact_round);
    const wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_contact *wide = &constraints[i];
        const bool may = wide->has_restitution != 0 &&
                         (context->impact_after == 0 || was_struck(context, &wide->pair));
        context->impact_lanes[i] = may ? find_impact(context, wide, &impacts[i]) : 0;
        const uint32_t found = context->impact_lanes[i] & ALL_LANES;
        if (found != 0) {
            atomic_store_explicit(context->impact_found, 1, memory_order_relaxed);
            mark_met(context, wide->pair.offset_a, found & wide->pair.moving_a);
            mark_met(context, wide->pair.offset_b, found & wide->pair.moving_b);
        }
    }
}

// A body of several shapes that lands flat meets the floor with all of them at once, and so does
// one that lands on several others: rounding must not make it turn.
static void join_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    const wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const pair_lanes *pair = &constraints[i].pair;
        const uint32_t nearly = context->impact_lanes[i] >> IMPACT_NEARLY_SHIFT;
        if (nearly == 0) {
            continue;
        }
        const uint32_t found = (context->impact_lanes[i] & ALL_LANES) |
                               lanes_met(context, pair->offset_a, nearly & pair->moving_a) |
                               lanes_met(context, pair->offset_b, nearly & pair->moving_b);
        context->impact_lanes[i] = found;
        for (uint32_t k = 0; k < constraints[i].point_count; ++k) {
            impacts[i].mass[k] = lanes_of_set(found, impacts[i].mass[k]);
        }
    }
}

// Writes bodies that impulses move. What an impact changes is no impulse of this substep that the
// next one would apply again.
static void store_after_impact(const cairn_solver_context *context, const uint32_t *offsets,
    uint32_t moving, const body_lanes *before, const body_lanes *body) {
    const lanes3 dv = lanes3_sub(body->velocity, before->velocity);
    const lanes3 dw = lanes3_sub(body->angular_velocity, before->angular_velocity);
    const lanes zero = lanes_all(0.0f);
    const lanes change[CAIRN_ROW_FLOATS] = {dv.x, dv.y, dv.z, zero, dw.x, dw.y, dw.z, zero};
    float rows[CAIRN_LANES][CAIRN_ROW_FLOATS];
    lanes_store_rows(change, rows);
    store_body(context, offsets, moving, body);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((moving >> i & 1u) == 0) {
            continue;
        }
        const uint32_t index = body_at(offsets[i]);
        const uint32_t locks = context->has_locks != 0 ? linear_locks(context, offsets[i]) : 0;
        for (uint32_t k = 0; locks != 0 && k < 3; ++k) {
            rows[i][k] = (locks >> k & 1u) != 0 ? 0.0f : rows[i][k];
        }
        context->struck[index] = context->impact_round;
        for (uint32_t k = 0; k < CAIRN_ROW_FLOATS; ++k) {
            context->integration[index].unconstrained_velocity[k] += rows[i][k];
        }
    }
}

// Friction acts in an impact as in a contact: bounded by the normal impulses of the impact.
static void solve_impact(
    const cairn_solver_context *context, wide_contact *wide, uint32_t found, wide_impact *impact) {
    const body_lanes a_before = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    const body_lanes b_before = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    body_lanes a = a_before;
    body_lanes b = b_before;
    wide_contact struck = *wide; // with the impulses of the impact
    struck.friction_impulse[0] = impact->friction_impulse[0];
    struck.friction_impulse[1] = impact->friction_impulse[1];
    struck.twist_impulse = impact->twist_impulse;
    struck.rolling_impulse[0] = impact->rolling_impulse[0];
    struck.rolling_impulse[1] = impact->rolling_impulse[1];
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        struck.points[i].impulse = impact->impulse[i];
    }
    const lanes3 t2 = tangent2_of(wide);
    solve_friction(&struck, t2, &a, &b, false);
    normal_space velocity = normal_velocity(wide, &a, &b);
    const lanes zero = lanes_all(0.0f);
    normal_space sum = {.linear = zero, .angular_1 = zero, .angular_2 = zero};
    const uint32_t sweeps = wide->point_count == 1 ? 1 : CAIRN_IMPACT_MANIFOLD_SWEEPS;
    for (uint32_t sweep = 0; sweep < sweeps; ++sweep) {
        for (uint32_t i = 0; i < wide->point_count; ++i) {
            const wide_point *point = &wide->points[i];
            const lanes vn = normal_velocity_at(velocity, point);
            const lanes unclamped = impact->impulse[i] + impact->mass[i] * (impact->target[i] - vn);
            const lanes impulse = lanes_max(unclamped, zero);
            apply_normal_impulse(point, impulse - impact->impulse[i], &velocity, &sum);
            impact->impulse[i] = impulse;
        }
    }
    const lanes3 torque =
        lanes3_add_scaled(lanes3_scale(wide->tangent, sum.angular_1), t2, sum.angular_2);
    apply_at_centre(wide, &a, &b, lanes3_scale(wide->normal, sum.linear), torque);
    wide->summed_impulse = wide->summed_impulse + sum.linear;
    impact->friction_impulse[0] = struck.friction_impulse[0];
    impact->friction_impulse[1] = struck.friction_impulse[1];
    impact->twist_impulse = struck.twist_impulse;
    impact->rolling_impulse[0] = struck.rolling_impulse[0];
    impact->rolling_impulse[1] = struck.rolling_impulse[1];
    store_after_impact(context, wide->pair.offset_a, wide->pair.moving_a & found, &a_before, &a);
    store_after_impact(context, wide->pair.offset_b, wide->pair.moving_b & found, &b_before, &b);
}

static void solve_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        if (context->impact_lanes[i] != 0) {
            solve_impact(context, &constraints[i], context->impact_lanes[i], &impacts[i]);
        }
    }
}
