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
//
// Energy. Let u be the velocity at the contact before an impact, u' after it and p its impulse: the
// bodies win the energy p . (u + u') / 2. Newton's law u'n = -e un with Coulomb's friction can make
// that positive, if sliding turns back during the impact (Kane, "A dynamics puzzle", 1983; Stronge,
// "Rigid body collisions with friction", 1990). It never is for the impulse (1 + e) q, where q
// stops the approach without a bounce, with friction: the law holds for it, and it lies in the cone
// of friction since q does. All that is linear or convex, so each mean of p and (1 + e) q obeys
// both, too. An impact that would win energy gets the mean nearest to p that does not.

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/math/trig.h"
#include "sim/soft_step/contact_prepare.h"
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
        impact->takes_part[i] = lanes_select(follows, lanes_all(1.0f), zero);
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

// Tells whether a body takes part with one constraint or with several. Whoever is not the first one
// stores last.
static void count_parts(
    const cairn_solver_context *context, const uint32_t *offsets, uint32_t which) {
    const uint32_t once = 2 * context->impact_round;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        _Atomic uint32_t *shared = &context->shared[body_at(offsets[i])];
        if ((which >> i & 1u) != 0 &&
            atomic_exchange_explicit(shared, once, memory_order_relaxed) / 2 ==
                context->impact_round) {
            atomic_store_explicit(shared, once + 1, memory_order_relaxed);
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
            impacts[i].takes_part[k] = lanes_of_set(found, impacts[i].takes_part[k]);
        }
        count_parts(context, pair->offset_a, found & pair->moving_a);
        count_parts(context, pair->offset_b, found & pair->moving_b);
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

// Inverse inertia of the bodies at the offsets turns with them during the step. That of bodies with
// a locked axis stays.
static void turn_inertia_by_delta(
    const cairn_solver_context *context, const uint32_t *offsets, lanes_sym3 *inverse_inertia) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask turns = lanes_less(zero, inverse_inertia->xx) &
                             lanes_less(zero, inverse_inertia->yy) &
                             lanes_less(zero, inverse_inertia->zz);
    const lanes3 rotation =
        lanes3_select(turns, load_delta(context, offsets).rotation, lanes3_of(zero, zero, zero));
    const lanes_quat q = lanes_quat_of_vector(rotation);
    *inverse_inertia = lanes_sym3_rotate(*inverse_inertia, lanes_mat3_of_quat(q.x, q.y, q.z, q.w));
}

// A contact as its impact sees it.
typedef struct struck_contact {
    wide_contact wide; // with the inertia that its bodies have now, and the impulses of the round
    lanes3 t2;
    body_lanes a, b;
    lanes mass[CAIRN_MANIFOLD_POINTS_MAX]; // effective; 0: the point takes no part
} struck_contact;

static void load_struck(const cairn_solver_context *context, const wide_contact *constraint,
    const wide_impact *impact, struck_contact *out) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    wide_contact *wide = &out->wide;
    *wide = *constraint;
    out->t2 = tangent2_of(wide);
    turn_inertia_by_delta(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    turn_inertia_by_delta(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    out->a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    out->b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    lanes count = zero;
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        count = count + lanes_select(lanes_less(zero, wide->points[i].mass), one, zero);
        wide->points[i].impulse = impact->impulse[i];
    }
    const normal_response response = compute_effective_masses(wide, &out->a, &out->b, count);
    if (wide->has_material != 0) {
        set_rolling_masses(wide, &response);
    }
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        out->mass[i] =
            lanes_select(lanes_less(zero, impact->takes_part[i]), wide->points[i].mass, zero);
    }
    wide->friction_impulse[0] = impact->friction_impulse[0];
    wide->friction_impulse[1] = impact->friction_impulse[1];
    wide->twist_impulse = impact->twist_impulse;
    wide->rolling_impulse[0] = impact->rolling_impulse[0];
    wide->rolling_impulse[1] = impact->rolling_impulse[1];
}

// Friction acts in an impact as in a contact: bounded by the normal impulses of the impact.
static void sweep_impact(struck_contact *struck, const lanes *target) {
    wide_contact *wide = &struck->wide;
    solve_friction(wide, struck->t2, &struck->a, &struck->b, false);
    normal_space velocity = normal_velocity(wide, &struck->a, &struck->b);
    const lanes zero = lanes_all(0.0f);
    normal_space sum = {.linear = zero, .angular_1 = zero, .angular_2 = zero};
    const uint32_t sweeps = wide->point_count == 1 ? 1 : CAIRN_IMPACT_MANIFOLD_SWEEPS;
    for (uint32_t sweep = 0; sweep < sweeps; ++sweep) {
        for (uint32_t i = 0; i < wide->point_count; ++i) {
            wide_point *point = &wide->points[i];
            const lanes vn = normal_velocity_at(velocity, point);
            const lanes unclamped = point->impulse + struck->mass[i] * (target[i] - vn);
            const lanes impulse = lanes_max(unclamped, zero);
            apply_normal_impulse(point, impulse - point->impulse, &velocity, &sum);
            point->impulse = impulse;
        }
    }
    const lanes3 torque =
        lanes3_add_scaled(lanes3_scale(wide->tangent, sum.angular_1), struck->t2, sum.angular_2);
    apply_at_centre(wide, &struck->a, &struck->b, lanes3_scale(wide->normal, sum.linear), torque);
}

static void solve_impact(
    const cairn_solver_context *context, wide_contact *wide, uint32_t found, wide_impact *impact) {
    struck_contact struck;
    load_struck(context, wide, impact, &struck);
    const body_lanes a = struck.a;
    const body_lanes b = struck.b;
    const lanes before = normal_impulse_sum(&struck.wide);
    sweep_impact(&struck, impact->target);
    wide->summed_impulse = wide->summed_impulse + (normal_impulse_sum(&struck.wide) - before);
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        impact->impulse[i] = struck.wide.points[i].impulse;
    }
    impact->friction_impulse[0] = struck.wide.friction_impulse[0];
    impact->friction_impulse[1] = struck.wide.friction_impulse[1];
    impact->twist_impulse = struck.wide.twist_impulse;
    impact->rolling_impulse[0] = struck.wide.rolling_impulse[0];
    impact->rolling_impulse[1] = struck.wide.rolling_impulse[1];
    store_after_impact(context, wide->pair.offset_a, wide->pair.moving_a & found, &a, &struck.a);
    store_after_impact(context, wide->pair.offset_b, wide->pair.moving_b & found, &b, &struck.b);
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

// Of the lanes those whose bodies take part in no other impact of this round, and are no links of
// articulations, which others move as well.
static uint32_t lanes_alone(
    const cairn_solver_context *context, const pair_lanes *pair, uint32_t found) {
    const uint32_t once = 2 * context->impact_round;
    uint32_t alone = 0;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        bool here = (found >> i & 1u) != 0;
        for (uint32_t k = 0; k < 2 && here; ++k) {
            const uint32_t body = body_at(k == 0 ? pair->offset_a[i] : pair->offset_b[i]);
            here = body >= context->moving_count ||
                   (context->bodies[body].closing == 0.0f &&
                       atomic_load_explicit(&context->shared[body], memory_order_relaxed) == once);
        }
        alone |= here ? 1u << i : 0;
    }
    return alone;
}

// Twice the mean velocity at c, of b relative to a, and twice the mean spin.
static contact_wrench motion_sum(const struck_contact *struck, const contact_wrench *before,
    const body_lanes *a, const body_lanes *b) {
    const wide_contact *wide = &struck->wide;
    lanes3 linear = lanes3_add(before->linear, relative_velocity(wide, a, b));
    if (wide->has_material != 0) { // as seen from the surface that moves
        linear = lanes3_add_scaled(linear, wide->tangent, 2.0f * wide->surface_velocity[0]);
        linear = lanes3_add_scaled(linear, struck->t2, 2.0f * wide->surface_velocity[1]);
    }
    return (contact_wrench){
        .linear = linear, .torque = lanes3_add(before->torque, relative_spin(a, b))};
}

static lanes product(const contact_wrench *impulse, const contact_wrench *motion) {
    return lanes3_dot(impulse->linear, motion->linear) +
           lanes3_dot(impulse->torque, motion->torque);
}

// Of p (1 - x)^2 + q (1 - x) x + r x^2 with p > 0 and r <= 0 the first root in [0, 1]; 1 if
// rounding leaves none.
static lanes share_without_gain(lanes p, lanes q, lanes r) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes linear = p + p - q;
    const lanes square = lanes_max(linear * linear - 4.0f * (p - q + r) * p, zero);
    const lanes below = linear + lanes_sqrt(square);
    const lanes_mask meets = lanes_less(zero, below);
    return lanes_select(meets, lanes_min((p + p) / lanes_select(meets, below, one), one), one);
}

static void add_wrench(struck_contact *struck, const contact_wrench *wrench, lanes scale) {
    apply_at_centre(&struck->wide, &struck->a, &struck->b, lanes3_scale(wrench->linear, scale),
        lanes3_scale(wrench->torque, scale));
}

// The impulse that stops the approach, with friction, times 1 + e; `struck` is as before the
// impact.
static contact_wrench reflect(struck_contact *struck, const wide_impact *impact) {
    wide_contact *wide = &struck->wide;
    const lanes zero = lanes_all(0.0f);
    const lanes factor = lanes_all(1.0f) + wide->restitution;
    const normal_space velocity = normal_velocity(wide, &struck->a, &struck->b);
    lanes target[CAIRN_MANIFOLD_POINTS_MAX];
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        // 0 without forces; with them what makes the bounce hold after them.
        target[i] = (impact->target[i] +
                        wide->restitution * normal_velocity_at(velocity, &wide->points[i])) /
                    factor;
        wide->points[i].impulse = zero;
    }
    wide->friction_impulse[0] = wide->friction_impulse[1] = wide->twist_impulse = zero;
    wide->rolling_impulse[0] = wide->rolling_impulse[1] = zero;
    for (uint32_t k = 0; k < CAIRN_IMPACT_SWEEPS; ++k) {
        sweep_impact(struck, target);
    }
    contact_wrench wrench = wrench_of(wide, struck->t2);
    wrench.linear = lanes3_scale(wrench.linear, factor);
    wrench.torque = lanes3_scale(wrench.torque, factor);
    return wrench;
}

// See "Energy" above.
static void limit_impact(const cairn_solver_context *context, wide_contact *wide, uint32_t alone,
    const wide_impact *impact) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    struck_contact struck;
    load_struck(context, wide, impact, &struck);
    const body_lanes a = struck.a;
    const body_lanes b = struck.b;
    const contact_wrench newton = wrench_of(&struck.wide, struck.t2);
    add_wrench(&struck, &newton, zero - one);
    struck_contact start = struck;
    const body_lanes a_before = without_forces(context, wide->pair.offset_a, struck.a);
    const body_lanes b_before = without_forces(context, wide->pair.offset_b, struck.b);
    const contact_wrench before = {.linear = relative_velocity(wide, &a_before, &b_before),
        .torque = relative_spin(&a_before, &b_before)};
    const contact_wrench newton_sum = motion_sum(&struck, &before, &a, &b);
    const lanes gain = product(&newton, &newton_sum);
    lanes bounced = zero;
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        bounced = bounced + impact->impulse[i] * impact->target[i];
    }
    const uint32_t gains =
        lanes_set(lanes_less(lanes_all(CAIRN_IMPACT_GAIN_MIN) * bounced, gain)) & alone;
    if (gains == 0) {
        return;
    }
    const lanes before_sum = normal_impulse_sum(&struck.wide);
    const contact_wrench reflected = reflect(&struck, impact);
    const lanes more = (one + wide->restitution) * normal_impulse_sum(&struck.wide) - before_sum;
    add_wrench(&start, &reflected, one);
    const contact_wrench reflected_sum = motion_sum(&start, &before, &start.a, &start.b);
    const lanes share =
        lanes_of_set(gains, share_without_gain(gain,
                                product(&newton, &reflected_sum) + product(&reflected, &newton_sum),
                                product(&reflected, &reflected_sum)));
    struck.a = a;
    struck.b = b;
    add_wrench(&struck, &newton, zero - share);
    add_wrench(&struck, &reflected, share);
    wide->summed_impulse = wide->summed_impulse + share * more;
    store_after_impact(context, wide->pair.offset_a, wide->pair.moving_a & gains, &a, &struck.a);
    store_after_impact(context, wide->pair.offset_b, wide->pair.moving_b & gains, &b, &struck.b);
}

static void limit_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *constraints = context->contact_constraints;
    const wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t alone = lanes_alone(context, &constraints[i].pair, context->impact_lanes[i]);
        if (alone != 0) {
            limit_impact(context, &constraints[i], alone, &impacts[i]);
        }
    }
}
