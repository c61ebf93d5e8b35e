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
// Impacts meet the inertia and the momentum that a body has now, however far it has turned in this
// step. Of the energy that they win see impact_energy.c.

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
    }
    memset(&impact->newton, 0, sizeof impact->newton);
    return (lanes_set(meets) & wide->pair.live) | (lanes_set(nearly_meets) & wide->pair.live)
                                                      << IMPACT_NEARLY_SHIFT;
}

// The lanes of a constraint whose contacts take part in this round.
static uint32_t lanes_found(const cairn_solver_context *context, uint32_t constraint) {
    return context->impact_lanes[constraint] & ALL_LANES;
}

static void mark_met(const cairn_solver_context *context, const uint32_t *offsets, uint32_t which) {
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((which >> i & 1u) != 0) {
            atomic_store_explicit(
                &context->met[body_at(offsets[i])], context->impact_round, memory_order_relaxed);
        }
    }
}

// A bit set: the lanes of `which` in which a gap of the body has closed in this round.
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

// A bit set: the lanes in which the last round has changed one of the two bodies.
static uint32_t lanes_struck(const cairn_solver_context *context, const pair_lanes *pair) {
    uint32_t struck = 0;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const bool here = context->struck[body_at(pair->offset_a[i])] == context->impact_after ||
                          context->struck[body_at(pair->offset_b[i])] == context->impact_after;
        struck |= here ? 1u << i : 0;
    }
    return struck & pair->live;
}

// The lanes that this round examines. The first round of a substep examines all. Each later one
// examines contacts of which the last round struck a body, and contacts that nearly collided in the
// last round: they join if one of their bodies collides with another one. It must not examine the
// other lanes, because results must not depend on which contacts are solved together.
static uint32_t examined_lanes(
    const cairn_solver_context *context, const wide_contact *wide, uint32_t last) {
    if (wide->has_restitution == 0) {
        return 0;
    }
    return context->impact_after == 0
               ? ALL_LANES
               : lanes_struck(context, &wide->pair) | last >> IMPACT_NEARLY_SHIFT;
}

static void find_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && context->impact_after < context->impact_round);
    const wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_contact *wide = &constraints[i];
        const uint32_t examined = examined_lanes(context, wide, context->impact_lanes[i]);
        context->impact_lanes[i] = examined == 0 ? 0
                                                 : find_impact(context, wide, &impacts[i]) &
                                                       (examined | examined << IMPACT_NEARLY_SHIFT);
        const uint32_t found = lanes_found(context, i);
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
        const uint32_t found = lanes_found(context, i) |
                               lanes_met(context, pair->offset_a, nearly & pair->moving_a) |
                               lanes_met(context, pair->offset_b, nearly & pair->moving_b);
        context->impact_lanes[i] = found | nearly << IMPACT_NEARLY_SHIFT;
        for (uint32_t k = 0; k < constraints[i].point_count; ++k) {
            impacts[i].takes_part[k] = lanes_of_set(found, impacts[i].takes_part[k]);
        }
    }
}

// Writes bodies that impulses move. An impact changes the unconstrained velocity as well. Else the
// next substep would apply the change again, as if it were an impulse of this one.
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

// The inverse inertia of bodies turns with them during the step. Not that of bodies with a locked
// axis, nor where it hardly changes: by how far its values are apart, as a part of them, times the
// angle. Returns the lanes in which it does; in others no bit differs.
static lanes_mask turn_inertia_by_delta(
    const cairn_solver_context *context, const uint32_t *offsets, lanes_sym3 *inverse_inertia) {
    const lanes zero = lanes_all(0.0f);
    const lanes_sym3 m = *inverse_inertia;
    const lanes3 rotation = load_delta(context, offsets).rotation;
    const lanes angle_squared = lanes3_dot(rotation, rotation);
    const lanes_mask far =
        lanes_less(lanes_all(CAIRN_IMPACT_TURN_MIN * CAIRN_IMPACT_TURN_MIN), angle_squared);
    if (lanes_set(far) == 0) { // values are not further apart than their sum
        return far;
    }
    const lanes trace = m.xx + m.yy + m.zz;
    const lanes squares = m.xx * m.xx + m.yy * m.yy + m.zz * m.zz +
                          lanes_all(2.0f) * (m.xy * m.xy + m.xz * m.xz + m.yz * m.yz);
    const lanes apart = squares - lanes_all(1.0f / 3.0f) * trace * trace;
    const lanes least = lanes_all(CAIRN_IMPACT_TURN_MIN * CAIRN_IMPACT_TURN_MIN) * trace * trace;
    const lanes_mask turns = far & lanes_less(least, apart * angle_squared) &
                             lanes_less(zero, m.xx) & lanes_less(zero, m.yy) &
                             lanes_less(zero, m.zz);
    if (lanes_set(turns) != 0) {
        const lanes3 turn = lanes3_select(turns, rotation, lanes3_of(zero, zero, zero));
        const lanes_quat q = lanes_quat_of_vector(turn);
        *inverse_inertia = lanes_sym3_rotate(m, lanes_mat3_of_quat(q.x, q.y, q.z, q.w));
    }
    return turns;
}

// A contact as its impact sees it.
typedef struct struck_contact {
    wide_contact wide; // with the inertia that its bodies have now, and the impulses of the round
    lanes3 t2;
    body_lanes a, b;
    lanes mass[CAIRN_MANIFOLD_POINTS_MAX]; // effective; 0: the point takes no part
} struck_contact;

static void compute_turned_masses(struck_contact *struck) {
    wide_contact *wide = &struck->wide;
    const lanes zero = lanes_all(0.0f);
    lanes count = zero;
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        const lanes_mask exists = lanes_less(zero, wide->points[i].mass);
        count = count + lanes_select(exists, lanes_all(1.0f), zero);
    }
    const normal_response response = compute_effective_masses(wide, &struck->a, &struck->b, count);
    if (wide->has_material != 0) {
        set_rolling_masses(wide, &response);
    }
}

static void load_struck(const cairn_solver_context *context, const wide_contact *constraint,
    const wide_impact *impact, const impact_impulses *impulses, struck_contact *out) {
    const lanes zero = lanes_all(0.0f);
    wide_contact *wide = &out->wide;
    *wide = *constraint;
    out->t2 = tangent2_of(wide);
    const lanes_mask turns =
        turn_inertia_by_delta(context, wide->pair.offset_a, &wide->inverse_inertia_a) |
        turn_inertia_by_delta(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    out->a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    out->b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    if (lanes_set(turns) != 0) {
        compute_turned_masses(out);
    }
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        wide->points[i].impulse = impulses->points[i];
        out->mass[i] =
            lanes_select(lanes_less(zero, impact->takes_part[i]), wide->points[i].mass, zero);
    }
    wide->friction_impulse[0] = impulses->friction[0];
    wide->friction_impulse[1] = impulses->friction[1];
    wide->twist_impulse = impulses->twist;
    wide->rolling_impulse[0] = impulses->rolling[0];
    wide->rolling_impulse[1] = impulses->rolling[1];
}

static void keep_impulses(const wide_contact *struck, impact_impulses *out) {
    for (uint32_t i = 0; i < struck->point_count; ++i) {
        out->points[i] = struck->points[i].impulse;
    }
    out->friction[0] = struck->friction_impulse[0];
    out->friction[1] = struck->friction_impulse[1];
    out->twist = struck->twist_impulse;
    out->rolling[0] = struck->rolling_impulse[0];
    out->rolling[1] = struck->rolling_impulse[1];
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
    load_struck(context, wide, impact, &impact->newton, &struck);
    const body_lanes a = struck.a;
    const body_lanes b = struck.b;
    const lanes before = normal_impulse_sum(&struck.wide);
    sweep_impact(&struck, impact->target);
    wide->summed_impulse = wide->summed_impulse + (normal_impulse_sum(&struck.wide) - before);
    keep_impulses(&struck.wide, &impact->newton);
    store_after_impact(context, wide->pair.offset_a, wide->pair.moving_a & found, &a, &struck.a);
    store_after_impact(context, wide->pair.offset_b, wide->pair.moving_b & found, &b, &struck.b);
}

static void solve_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t found = lanes_found(context, i);
        if (found != 0) {
            solve_impact(context, &constraints[i], found, &impacts[i]);
        }
    }
}

// ---- energy

// A body with a velocity from rows by solver body. One that impulses do not move has only its own.
static body_lanes with_velocity(const cairn_solver_context *context,
    const cairn_impact_velocity *velocities, const uint32_t *offsets, body_lanes body) {
    const float *rows[CAIRN_LANES];
    lanes row[CAIRN_ROW_FLOATS];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const uint32_t index = body_at(offsets[i]);
        rows[i] = index < context->moving_count ? velocities[index].row
                                                : context->bodies[index].linear_velocity;
    }
    lanes_load_rows(rows, row);
    body.velocity = lanes3_of(row[0], row[1], row[2]);
    body.angular_velocity = lanes3_of(row[4], row[5], row[6]);
    return body;
}

// Of b relative to a: the velocity at c and the spin, as seen from a surface that moves.
static contact_wrench motion_between(
    const struck_contact *struck, const body_lanes *a, const body_lanes *b) {
    const wide_contact *wide = &struck->wide;
    lanes3 linear = relative_velocity(wide, a, b);
    if (wide->has_material != 0) {
        linear = lanes3_add_scaled(linear, wide->tangent, wide->surface_velocity[0]);
        linear = lanes3_add_scaled(linear, struck->t2, wide->surface_velocity[1]);
    }
    return (contact_wrench){.linear = linear, .torque = relative_spin(a, b)};
}

static contact_wrench motion_in(const cairn_solver_context *context, const struck_contact *struck,
    const cairn_impact_velocity *velocities) {
    const pair_lanes *pair = &struck->wide.pair;
    const body_lanes a = with_velocity(context, velocities, pair->offset_a, struck->a);
    const body_lanes b = with_velocity(context, velocities, pair->offset_b, struck->b);
    return motion_between(struck, &a, &b);
}

// Before the round, without forces: that is what the bounce is computed from.
static contact_wrench motion_before(
    const cairn_solver_context *context, const struck_contact *struck) {
    const pair_lanes *pair = &struck->wide.pair;
    const body_lanes a = without_forces(context, pair->offset_a,
        with_velocity(context, context->before_impact, pair->offset_a, struck->a));
    const body_lanes b = without_forces(context, pair->offset_b,
        with_velocity(context, context->before_impact, pair->offset_b, struck->b));
    return motion_between(struck, &a, &b);
}

// Twice the energy that an impulse gives to what moves first in one way and then in the other.
static lanes work_of(
    const contact_wrench *impulse, const contact_wrench *first, const contact_wrench *then) {
    return lanes3_dot(impulse->linear, lanes3_add(first->linear, then->linear)) +
           lanes3_dot(impulse->torque, lanes3_add(first->torque, then->torque));
}

static cairn_impact_work *work_at(
    const cairn_solver_context *context, const wide_contact *wide, uint32_t lane) {
    return &context->impact_work[wide->pair.edge[lane]];
}

static void measure_impact(const cairn_solver_context *context, const wide_contact *wide,
    uint32_t found, const wide_impact *impact) {
    struck_contact struck;
    load_struck(context, wide, impact, &impact->newton, &struck);
    const contact_wrench newton = wrench_of(&struck.wide, struck.t2);
    const contact_wrench before = motion_before(context, &struck);
    const contact_wrench after = motion_between(&struck, &struck.a, &struck.b);
    const lanes gain = work_of(&newton, &before, &after);
    lanes bounced = lanes_all(0.0f);
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        bounced = bounced + impact->newton.points[i] * impact->target[i];
    }
    float gains[CAIRN_LANES], bounces[CAIRN_LANES];
    memcpy(gains, &gain, sizeof gains);
    memcpy(bounces, &bounced, sizeof bounces);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((found >> i & 1u) != 0) {
            *work_at(context, wide, i) = (cairn_impact_work){
                .round = context->impact_round, .gain = gains[i], .bounced = bounces[i]};
            if (gains[i] > CAIRN_IMPACT_GAIN_MIN * bounces[i]) {
                atomic_store_explicit(context->impact_gains, 1, memory_order_relaxed);
            }
        }
    }
}

static void measure_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    const wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t found = lanes_found(context, i);
        if (found != 0) {
            measure_impact(context, &constraints[i], found, &impacts[i]);
            memset(&impacts[i].stopping, 0, sizeof impacts[i].stopping);
        }
    }
}

// Of the lanes that take part those whose impacts are limited.
static uint32_t limited_lanes(
    const cairn_solver_context *context, const wide_contact *wide, uint32_t found) {
    uint32_t limited = 0;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        limited |= (found >> i & 1u) & work_at(context, wide, i)->limited ? 1u << i : 0;
    }
    return limited;
}

static void store_limited(
    const cairn_solver_context *context, const struck_contact *struck, uint32_t limited) {
    const pair_lanes *pair = &struck->wide.pair;
    store_body(context, pair->offset_a, pair->moving_a & limited, &struck->a);
    store_body(context, pair->offset_b, pair->moving_b & limited, &struck->b);
}

// One sweep towards the impulses that stop the approach.
static void stop_impact(const cairn_solver_context *context, wide_contact *wide, uint32_t limited,
    wide_impact *impact) {
    struck_contact struck;
    load_struck(context, wide, impact, &impact->stopping, &struck);
    const lanes one = lanes_all(1.0f);
    const body_lanes a =
        with_velocity(context, context->before_impact, wide->pair.offset_a, struck.a);
    const body_lanes b =
        with_velocity(context, context->before_impact, wide->pair.offset_b, struck.b);
    const normal_space before = normal_velocity(wide, &a, &b);
    lanes target[CAIRN_MANIFOLD_POINTS_MAX];
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        // 0 without forces; with them what makes the bounce hold after them.
        target[i] =
            (impact->target[i] + wide->restitution * normal_velocity_at(before, &wide->points[i])) /
            (one + wide->restitution);
    }
    sweep_impact(&struck, target);
    keep_impulses(&struck.wide, &impact->stopping);
    store_limited(context, &struck, limited);
}

static void keep_floats(const cairn_solver_context *context, const wide_contact *wide,
    uint32_t limited, size_t offset, lanes values) {
    float floats[CAIRN_LANES];
    memcpy(floats, &values, sizeof floats);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((limited >> i & 1u) != 0) {
            memcpy((char *)work_at(context, wide, i) + offset, &floats[i], sizeof floats[i]);
        }
    }
}

#define KEEP_WORK(context, wide, limited, field, values)                                           \
    keep_floats(context, wide, limited, offsetof(cairn_impact_work, field), values)

static void measure_stop(const cairn_solver_context *context, wide_contact *wide, uint32_t limited,
    wide_impact *impact) {
    struck_contact struck;
    load_struck(context, wide, impact, &impact->stopping, &struck);
    const contact_wrench stopping = wrench_of(&struck.wide, struck.t2);
    const contact_wrench before = motion_before(context, &struck);
    const contact_wrench start = motion_in(context, &struck, context->before_impact);
    const contact_wrench after = motion_between(&struck, &struck.a, &struck.b);
    const lanes stop = work_of(&stopping, &before, &start);
    KEEP_WORK(context, wide, limited, stop, stop);
    KEEP_WORK(context, wide, limited, stop_change, work_of(&stopping, &before, &after) - stop);
}

// How often the reflected impulses are those that stop the approach.
static lanes reflection_of(
    const cairn_solver_context *context, const wide_contact *wide, uint32_t limited) {
    float scales[CAIRN_LANES];
    lanes scale;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        scales[i] = (limited >> i & 1u) != 0 ? work_at(context, wide, i)->scale : 1.0f;
    }
    memcpy(&scale, scales, sizeof scale);
    return lanes_min(lanes_all(1.0f) + wide->restitution, scale);
}

// What stops the approach has acted once.
static void reflect_impact(const cairn_solver_context *context, wide_contact *wide,
    uint32_t limited, wide_impact *impact) {
    struck_contact struck;
    load_struck(context, wide, impact, &impact->stopping, &struck);
    const contact_wrench stopping = wrench_of(&struck.wide, struck.t2);
    const lanes more = reflection_of(context, wide, limited) - lanes_all(1.0f);
    apply_at_centre(&struck.wide, &struck.a, &struck.b, lanes3_scale(stopping.linear, more),
        lanes3_scale(stopping.torque, more));
    store_limited(context, &struck, limited);
}

static void measure_reflection(const cairn_solver_context *context, wide_contact *wide,
    uint32_t limited, wide_impact *impact) {
    struck_contact struck;
    load_struck(context, wide, impact, &impact->newton, &struck);
    const contact_wrench newton = wrench_of(&struck.wide, struck.t2);
    load_struck(context, wide, impact, &impact->stopping, &struck);
    const contact_wrench stopping = wrench_of(&struck.wide, struck.t2);
    const contact_wrench before = motion_before(context, &struck);
    const contact_wrench newton_after = motion_in(context, &struck, context->after_impact);
    const contact_wrench after = motion_between(&struck, &struck.a, &struck.b);
    const lanes factor = reflection_of(context, wide, limited);
    KEEP_WORK(context, wide, limited, mixed,
        work_of(&newton, &before, &after) + factor * work_of(&stopping, &before, &newton_after));
    KEEP_WORK(context, wide, limited, reflected, factor * work_of(&stopping, &before, &after));
}

// Hit events tell the impulse of the mean. The bodies have their velocities already.
static void mix_impact(const cairn_solver_context *context, wide_contact *wide, uint32_t limited,
    wide_impact *impact) {
    float shares[CAIRN_LANES] = {0.0f};
    lanes share, newton = lanes_all(0.0f), stopping = newton;
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        shares[i] = (limited >> i & 1u) != 0 ? work_at(context, wide, i)->share : 0.0f;
    }
    memcpy(&share, shares, sizeof share);
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        newton = newton + impact->newton.points[i];
        stopping = stopping + impact->stopping.points[i];
    }
    const lanes reflected = reflection_of(context, wide, limited) * stopping;
    wide->summed_impulse = wide->summed_impulse + share * (reflected - newton);
}

typedef void limited_pass(
    const cairn_solver_context *context, wide_contact *wide, uint32_t limited, wide_impact *impact);

INLINE void for_each_limited(
    const cairn_solver_context *context, uint32_t begin, uint32_t end, limited_pass *const pass) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *constraints = context->contact_constraints;
    wide_impact *impacts = context->contact_impacts;
    for (uint32_t i = begin; i < end; ++i) {
        const uint32_t found = lanes_found(context, i);
        const uint32_t limited = found != 0 ? limited_lanes(context, &constraints[i], found) : 0;
        if (limited != 0) {
            pass(context, &constraints[i], limited, &impacts[i]);
        }
    }
}

static void stop_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for_each_limited(context, begin, end, stop_impact);
}

static void measure_stops(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for_each_limited(context, begin, end, measure_stop);
}

static void reflect_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for_each_limited(context, begin, end, reflect_impact);
}

static void measure_reflections(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for_each_limited(context, begin, end, measure_reflection);
}

static void mix_impacts(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    for_each_limited(context, begin, end, mix_impact);
}
