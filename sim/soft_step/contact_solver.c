// SPDX-License-Identifier: MIT

// Contact constraints of the soft-step solver, one manifold in each lane.
//
// In the following, p is a body's centre of mass, q its rotation, v and w its linear and angular
// velocity; n is the contact normal from body a to body b.
//
// Separation of a recycled manifold. The narrow phase computed the manifold at the poses (p0, q0).
// It stored each contact point twice, as the arm rA from a's centre of mass and as rB from b's,
// both in world axes, and measured the separation s0 there. Since then each body has rotated by dq
// = q q0^-1. A point fixed to a and one fixed to b, which were one point then, are now apart by
//
//     d = (pB + dqB rB) - (pA + dqA rA)           zero at (p0, q0)
//     s = s0 + d . n
//
// This is exact for points that stay the closest ones, however the bodies moved, so the manifold
// can be recycled until the bodies have moved by the recycling distance relative to each other.
// `prepare` computes s once for the start of the step. During the step a body moves by dp and
// rotates by the vector dr, both small, and to first order
//
//     s = s_start + (dpB + drB x rB - dpA - drA x rA) . n
//
// Only s follows the bodies. n, rA and rB stay those of (p0, q0) in the velocity rows: a stack that
// leans by a hair would be pushed further that way by arms and normals that lean with it.
//
// Manifold space. Let c be the mean of the points and (t1, t2, n) a right-handed frame; a point
// lies at c + x t1 + y t2. With u the relative velocity at c and w the relative angular velocity,
// the normal velocity at the point is
//
//     (u + w x (x t1 + y t2)) . n = u.n + y w.t1 - x w.t2
//
// So all normal rows of a manifold depend on the three numbers (u.n, w.t1, w.t2) alone, and a
// normal impulse j at the point changes them by K (j, y j, -x j), where K = J M^-1 J^T is a
// symmetric 3 x 3 matrix. The rows are coupled and need several sweeps
// (CAIRN_MANIFOLD_SWEEPS); these take place in that space, and bodies are read and written once.
//
// Friction acts at c: two rows inside a circle of radius mu N, and one row of twist about n, up to
// mu N r with r the mean distance of the points from c. It is solved in the relax pass alone, as in
// Box3D: the velocity that the bias adds is none that friction should resist. Solved in both
// passes, it feeds a swaying of tall towers: a log cabin of 20 layers swings about its axis, by 0.6
// mm more each second. Surfaces that move, static friction and resistance to rolling and spinning
// are solved there, too (has_material).
//
// Bias. A row with s > 0 asks for s / h, so that the gap may close in this substep but not more.
// With s < 0 a biased row is a soft constraint that asks for rate * s, at most the push speed; a
// relaxed row asks for no velocity, which removes what the bias added.
//
// Sources: clamped accumulated impulses, Catto 2006. Soft constraints, Catto, "Soft Constraints"
// (2011). Substeps and relaxation, Macklin et al., "Small Steps in Physics Simulation" (2019), and
// Catto, "Solver2D" (2024).

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/soft_step/contact_impact.h"
#include "sim/soft_step/contact_prepare.h"

// So many constraints of a colour are solved together where that is possible: a visit is one chain
// of dependent operations, which leaves most of the CPU idle. Those of one lane may have no colour,
// and share bodies.
#define CONTACTS_TOGETHER (CAIRN_LANES > 1 ? 2 : 1)

// A constraint and its bodies while they are in registers.
typedef struct contact_visit {
    wide_contact *wide;
    lanes3 t2;
    body_lanes a; // not loaded if it stands still
    body_lanes b;
} contact_visit;

// Bodies that are about to bounce keep their velocity until the next substep: 0 for such points.
static inline lanes relaxed_mass(const cairn_solver_context *context, const wide_contact *wide,
    const wide_point *point, lanes normal_velocity) {
    const lanes zero = lanes_all(0.0f);
    const lanes approach = zero - normal_velocity;
    const lanes_mask waits = lanes_less(lanes_all(context->restitution_threshold), approach) &
                             lanes_less(lanes_all(0.0f), wide->restitution);
    return lanes_select(waits, zero, point->mass);
}

// A normal row: it gets the impulse sum - (scale * (velocity + bias) + impulse_scale * sum).
typedef struct normal_row {
    lanes bias, scale, impulse_scale;
} normal_row;

INLINE normal_row normal_row_of(const cairn_solver_context *context, const wide_contact *wide,
    const wide_point *point, lanes normal_velocity, bool biased) {
    const lanes zero = lanes_all(0.0f);
    const lanes closing = point->separation * lanes_all(context->inverse_h);
    if (biased) {
        const lanes_mask apart = lanes_less(zero, point->separation);
        const lanes push =
            lanes_max(point->separation * wide->rate, lanes_all(-CAIRN_PUSH_SPEED_MAX));
        return (normal_row){.bias = lanes_select(apart, closing, push),
            .scale = point->mass * lanes_select(apart, lanes_all(1.0f), wide->mass_scale),
            .impulse_scale = lanes_select(apart, zero, wide->impulse_scale)};
    }
    return (normal_row){.bias = lanes_max(closing, zero),
        .scale = wide->has_restitution != 0 ? relaxed_mass(context, wide, point, normal_velocity)
                                            : point->mass,
        .impulse_scale = zero};
}

// Solves the row and returns what is added to its impulse.
INLINE lanes solve_normal_row(wide_point *point, const normal_row *row, lanes normal_velocity) {
    const lanes before = point->impulse;
    const lanes unclamped =
        before - (row->scale * (normal_velocity + row->bias) + row->impulse_scale * before);
    point->impulse = lanes_max(unclamped, lanes_all(0.0f));
    return point->impulse - before;
}

// Body a, or NULL if it stands still.
INLINE body_lanes *visit_a(contact_visit *visit, const bool still) {
    return still ? NULL : &visit->a;
}

// Each of `count` constraints with as many points, row by row.
INLINE void solve_normals(const cairn_solver_context *context, contact_visit *visits,
    const uint32_t count, const bool still, bool biased) {
    const lanes zero = lanes_all(0.0f);
    const uint32_t point_count = visits[0].wide->point_count;
    normal_space velocity[CONTACTS_TOGETHER];
    normal_space sum[CONTACTS_TOGETHER];
    normal_row rows[CAIRN_MANIFOLD_POINTS_MAX][CONTACTS_TOGETHER];
    CAIRN_ASSERT(point_count >= 1 && point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    for (uint32_t k = 0; k < count; ++k) {
        contact_visit *visit = &visits[k];
        CAIRN_ASSERT(visit->wide->point_count == point_count);
        velocity[k] = to_normal_space(visit->wide, visit->t2,
            relative_velocity(visit->wide, visit_a(visit, still), &visit->b),
            relative_spin(visit_a(visit, still), &visit->b));
        sum[k] = (normal_space){.linear = zero, .angular_1 = zero, .angular_2 = zero};
    }
    ROLLED
    for (uint32_t i = 0; i < point_count; ++i) {
        for (uint32_t k = 0; k < count; ++k) {
            const wide_contact *wide = visits[k].wide;
            rows[i][k] = normal_row_of(context, wide, &wide->points[i],
                normal_velocity_at(velocity[k], &wide->points[i]), biased);
        }
    }
    ROLLED
    for (uint32_t sweep = 0; sweep < CAIRN_MANIFOLD_SWEEPS; ++sweep) {
        ROLLED
        for (uint32_t i = 0; i < point_count; ++i) {
            for (uint32_t k = 0; k < count; ++k) {
                wide_point *point = &visits[k].wide->points[i];
                const lanes added =
                    solve_normal_row(point, &rows[i][k], normal_velocity_at(velocity[k], point));
                apply_normal_impulse(point, added, &velocity[k], &sum[k]);
            }
        }
    }
    for (uint32_t k = 0; k < count; ++k) {
        contact_visit *visit = &visits[k];
        const wide_contact *wide = visit->wide;
        const lanes3 torque = lanes3_add_scaled(
            lanes3_scale(wide->tangent, sum[k].angular_1), visit->t2, sum[k].angular_2);
        apply_at_centre(wide, visit_a(visit, still), &visit->b,
            lanes3_scale(wide->normal, sum[k].linear), torque);
    }
}

// A single point is c: its row needs no second sweep, and neither a rotation nor a torque.
INLINE void solve_single_normal(const cairn_solver_context *context, wide_contact *wide,
    body_lanes *a, body_lanes *b, bool biased) {
    wide_point *point = &wide->points[0];
    const lanes velocity = lanes3_dot(relative_velocity(wide, a, b), wide->normal);
    const normal_row row = normal_row_of(context, wide, point, velocity, biased);
    const lanes added = solve_normal_row(point, &row, velocity);
    push_at_centre(wide, a, b, lanes3_scale(wide->normal, added));
}

// Moves the points to where the bodies are now. `a`: NULL as above, otherwise unused.
INLINE void update_separations(const cairn_solver_context *context, wide_contact *wide, lanes3 t2,
    const body_lanes *a, const bool single) {
    const delta_lanes delta_b = load_delta(context, wide->pair.offset_b);
    lanes3 dp = lanes3_add(delta_b.position, lanes3_cross(delta_b.rotation, wide->arm_b));
    lanes3 dr = delta_b.rotation;
    if (a != NULL) {
        const delta_lanes delta_a = load_delta(context, wide->pair.offset_a);
        dp = lanes3_sub(
            dp, lanes3_add(delta_a.position, lanes3_cross(delta_a.rotation, wide->arm_a)));
        dr = lanes3_sub(dr, delta_a.rotation);
    }
    if (single) {
        wide_point *point = &wide->points[0];
        point->separation = point->start + lanes3_dot(dp, wide->normal);
        return;
    }
    const normal_space displacement = to_normal_space(wide, t2, dp, dr);
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        wide_point *point = &wide->points[i];
        point->separation = point->start + normal_velocity_at(displacement, point);
    }
}

static void solve_friction_turning(const cairn_solver_context *context, wide_contact *wide,
    lanes3 t2, body_lanes *a, body_lanes *b) {
    const lanes3 more_a = turntable_velocity(context, wide->pair.offset_a, a, wide->arm_a);
    const lanes3 more_b = turntable_velocity(context, wide->pair.offset_b, b, wide->arm_b);
    a->velocity = lanes3_add(a->velocity, more_a);
    b->velocity = lanes3_add(b->velocity, more_b);
    solve_friction(wide, t2, a, b, false);
    a->velocity = lanes3_sub(a->velocity, more_a);
    b->velocity = lanes3_sub(b->velocity, more_b);
}

INLINE void load_contact(
    const cairn_solver_context *context, wide_contact *wide, const bool still, contact_visit *out) {
    CAIRN_ASSERT(wide->pair.live != 0);
    out->wide = wide;
    if (!still) {
        out->a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    }
    out->b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    out->t2 = tangent2_of(wide);
}

INLINE void begin_relax(const cairn_solver_context *context, contact_visit *visit, const bool still,
    const bool single) {
    body_lanes *a = visit_a(visit, still);
    update_separations(context, visit->wide, visit->t2, a, single);
    if (a != NULL && visit->wide->has_turntable != 0) {
        solve_friction_turning(context, visit->wide, visit->t2, a, &visit->b);
    } else {
        solve_friction(visit->wide, visit->t2, a, &visit->b, single);
    }
}

INLINE void store_bodies(
    const cairn_solver_context *context, const contact_visit *visit, const bool still) {
    const pair_lanes *pair = &visit->wide->pair;
    if (!still) {
        store_body(context, pair->offset_a, pair->moving_a, &visit->a);
    }
    store_body(context, pair->offset_b, pair->moving_b, &visit->b);
}

// Solves `count` constraints of one colour and kind, with as many points. The kind is a constant
// where this is inlined, so that a contact costs only what its kind needs.
INLINE void solve_together(const cairn_solver_context *context, wide_contact *wides,
    const uint32_t count, const uint32_t kind, bool biased) {
    const bool single = (kind & CAIRN_CONTACT_OF_POINTS) == 0;
    const bool still = (kind & CAIRN_CONTACT_ON_STILL) != 0;
    contact_visit visits[CONTACTS_TOGETHER];
    for (uint32_t k = 0; k < count; ++k) {
        CAIRN_ASSERT(wides[k].kind == kind);
        load_contact(context, &wides[k], still, &visits[k]);
    }
    for (uint32_t k = 0; k < count && !biased; ++k) {
        begin_relax(context, &visits[k], still, single);
    }
    if (single) {
        for (uint32_t k = 0; k < count; ++k) {
            solve_single_normal(
                context, &wides[k], visit_a(&visits[k], still), &visits[k].b, biased);
        }
    } else {
        solve_normals(context, visits, count, still, biased);
    }
    for (uint32_t k = 0; k < count; ++k) {
        store_bodies(context, &visits[k], still);
    }
}

INLINE void solve_of_kind(const cairn_solver_context *context, wide_contact *wides,
    const uint32_t kind, bool several, bool biased) {
    if (several) {
        solve_together(context, wides, CONTACTS_TOGETHER, kind, biased);
    } else {
        solve_together(context, wides, 1, kind, biased);
    }
}

INLINE void solve_contacts(
    const cairn_solver_context *context, uint32_t begin, uint32_t end, bool biased) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *wides = context->contact_constraints;
    for (uint32_t i = begin; i < end;) {
        const bool several = CONTACTS_TOGETHER > 1 && i + 1 < end &&
                             wides[i].kind == wides[i + 1].kind &&
                             wides[i].point_count == wides[i + 1].point_count;
        switch (wides[i].kind) {
        case 0:
            solve_of_kind(context, &wides[i], 0, several, biased);
            break;
        case CAIRN_CONTACT_OF_POINTS:
            solve_of_kind(context, &wides[i], CAIRN_CONTACT_OF_POINTS, several, biased);
            break;
        case CAIRN_CONTACT_ON_STILL:
            solve_of_kind(context, &wides[i], CAIRN_CONTACT_ON_STILL, several, biased);
            break;
        default:
            solve_of_kind(context, &wides[i], CAIRN_CONTACT_OF_POINTS | CAIRN_CONTACT_ON_STILL,
                several, biased);
            break;
        }
        i += several ? CONTACTS_TOGETHER : 1;
    }
}

static void solve_biased(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    solve_contacts(context, begin, end, true);
}

static void relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    solve_contacts(context, begin, end, false);
}

static void warm_start(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *constraints = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const wide_contact *wide = &constraints[i];
        CAIRN_ASSERT(wide->point_count >= 1);
        body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
        body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
        const contact_wrench wrench = wrench_of(wide, tangent2_of(wide));
        apply_at_centre(wide, &a, &b, wrench.linear, wrench.torque);
        store_body(context, wide->pair.offset_a, wide->pair.moving_a, &a);
        store_body(context, wide->pair.offset_b, wide->pair.moving_b, &b);
    }
}

// Each substep applies the accumulated impulse once.
static void sum_impulses(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end && context->contact_impulses != NULL);
    wide_contact *constraints = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        wide_contact *wide = &constraints[i];
        wide->summed_impulse = wide->summed_impulse + normal_impulse_sum(wide);
    }
}

// Workers may mark the same body, with the same value.
static void mark_pushed(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    const wide_contact *constraints = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const pair_lanes *pair = &constraints[i].pair;
        const uint32_t pushes =
            lanes_set(lanes_less(lanes_all(0.0f), normal_impulse_sum(&constraints[i])));
        for (uint32_t k = 0; k < CAIRN_LANES; ++k) {
            if ((pushes & pair->moving_a) >> k & 1u) {
                atomic_store_explicit(
                    &context->pushed[body_at(pair->offset_a[k])], 1, memory_order_relaxed);
            }
            if ((pushes & pair->moving_b) >> k & 1u) {
                atomic_store_explicit(
                    &context->pushed[body_at(pair->offset_b[k])], 1, memory_order_relaxed);
            }
        }
    }
}

static void prepare(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    wide_contact *constraints = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        prepare_contact(context, context->contact_order + (size_t)i * CAIRN_LANES, &constraints[i]);
    }
}

// For hit events.
static void store_summed(const cairn_solver_context *context, const wide_contact *wide) {
    const lanes total = finite_or_zero(wide->summed_impulse);
    float summed[CAIRN_LANES];
    memcpy(summed, &total, sizeof summed);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((wide->pair.live >> i & 1u) != 0) {
            context->contact_impulses[context->contact_edges[wide->pair.edge[i]].element] =
                summed[i];
        }
    }
}

static void store_contact(const cairn_solver_context *context, const wide_contact *wide) {
    const lanes3 t2 = tangent2_of(wide);
    const lanes3 friction = lanes3_add_scaled(
        lanes3_scale(wide->tangent, wide->friction_impulse[0]), t2, wide->friction_impulse[1]);
    const lanes normal = normal_impulse_sum(wide);
    lanes row[CAIRN_ROW_FLOATS] = {stored_friction(friction.x, normal),
        stored_friction(friction.y, normal), stored_friction(friction.z, normal),
        stored_impulse(wide->twist_impulse)};
    for (uint32_t k = 0; k < wide->point_count; ++k) {
        row[4 + k] = stored_impulse(wide->points[k].impulse);
    }
    float stored[CAIRN_LANES][CAIRN_ROW_FLOATS];
    lanes_store_rows(row, stored);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((wide->pair.live >> i & 1u) == 0) {
            continue;
        }
        cairn_contact *contact =
            &context->contacts[context->contact_edges[wide->pair.edge[i]].element];
        CAIRN_ASSERT(contact->point_count <= wide->point_count);
        for (uint32_t k = 0; k < contact->point_count; ++k) {
            contact->points[k].normal_impulse = stored[i][4 + k];
        }
        memcpy(contact->tangent_impulse, stored[i], 4 * sizeof(float));
    }
}

static void store(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    CAIRN_ASSERT(begin <= end);
    const wide_contact *constraints = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        store_contact(context, &constraints[i]);
        if (constraints[i].has_material != 0) {
            store_rolling(context, &constraints[i]);
        }
        if (context->contact_impulses != NULL) {
            store_summed(context, &constraints[i]);
        }
    }
}

static void fetch(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    const wide_contact *constraints = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        fetch_pair(context, &constraints[i].pair);
    }
}

extern const cairn_constraint_kernel CAIRN_KERNEL(contact);
const cairn_constraint_kernel CAIRN_KERNEL(contact) = {
    .constraint_size = sizeof(wide_contact),
    .apart_size = sizeof(wide_impact),
    .stages = {[CAIRN_CONSTRAINT_PREPARE] = prepare,
        [CAIRN_CONSTRAINT_WARM_START] = warm_start,
        [CAIRN_CONSTRAINT_SOLVE_BIASED] = solve_biased,
        [CAIRN_CONSTRAINT_RELAX] = relax,
        [CAIRN_CONSTRAINT_SUM_IMPULSES] = sum_impulses,
        [CAIRN_CONSTRAINT_MARK_PUSHED] = mark_pushed,
        [CAIRN_CONSTRAINT_FIND_IMPACTS] = find_impacts,
        [CAIRN_CONSTRAINT_JOIN_IMPACTS] = join_impacts,
        [CAIRN_CONSTRAINT_SOLVE_IMPACTS] = solve_impacts,
        [CAIRN_CONSTRAINT_MEASURE_IMPACTS] = measure_impacts,
        [CAIRN_CONSTRAINT_STOP_IMPACTS] = stop_impacts,
        [CAIRN_CONSTRAINT_MEASURE_STOP] = measure_stops,
        [CAIRN_CONSTRAINT_REFLECT_IMPACTS] = reflect_impacts,
        [CAIRN_CONSTRAINT_MEASURE_REFLECTION] = measure_reflections,
        [CAIRN_CONSTRAINT_MIX_IMPACTS] = mix_impacts,
        [CAIRN_CONSTRAINT_STORE] = store,
        [CAIRN_CONSTRAINT_FETCH] = fetch},
};
