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

// Solves both friction rows at once and the row of twist. The rows of surfaces that move ask for
// the velocity at which these rest on each other. `material`: the constraint has_material. A single
// point has no lever against twist.
INLINE void solve_friction_rows(wide_contact *wide, lanes3 t2, body_lanes *a, body_lanes *b,
    const bool material, const bool single) {
    const lanes normal = single ? wide->points[0].impulse : normal_impulse_sum(wide);
    if (material) {
        solve_rolling(wide, t2, normal, a, b);
    }
    const lanes3 u = relative_velocity(wide, a, b);
    lanes u1 = lanes3_dot(u, wide->tangent);
    lanes u2 = lanes3_dot(u, t2);
    const lanes bound = wide->friction * normal;
    if (material) {
        u1 = u1 + wide->surface_velocity[0];
        u2 = u2 + wide->surface_velocity[1];
    }
    lanes sum1 =
        wide->friction_impulse[0] - (wide->tangent_mass_11 * u1 + wide->tangent_mass_12 * u2);
    lanes sum2 =
        wide->friction_impulse[1] - (wide->tangent_mass_12 * u1 + wide->tangent_mass_22 * u2);
    const lanes square = sum1 * sum1 + sum2 * sum2;
    const lanes_mask slides = lanes_less(bound * bound, square);
    const lanes one = lanes_all(1.0f);
    const lanes length = lanes_sqrt(lanes_select(slides, square, one));
    const lanes scale = lanes_select(slides, bound / length, one);
    sum1 = sum1 * scale;
    sum2 = sum2 * scale;
    lanes twist = lanes_all(0.0f);
    if (material || !single) {
        lanes limit = bound * wide->radius;
        if (material) {
            limit = limit + wide->spin_resistance * normal;
        }
        const lanes3 w = relative_spin(a, b);
        const lanes unclamped =
            wide->twist_impulse - wide->twist_mass * lanes3_dot(w, wide->normal);
        twist = lanes_min(lanes_max(unclamped, lanes_all(0.0f) - limit), limit);
    }
    const lanes3 impulse =
        lanes3_add_scaled(lanes3_scale(wide->tangent, sum1 - wide->friction_impulse[0]), t2,
            sum2 - wide->friction_impulse[1]);
    const lanes3 torque = lanes3_scale(wide->normal, twist - wide->twist_impulse);
    wide->friction_impulse[0] = sum1;
    wide->friction_impulse[1] = sum2;
    wide->twist_impulse = twist;
    apply_at_centre(wide, a, b, impulse, torque);
}

// Apart from the friction of all other contacts, which then costs as much as without materials.
__attribute__((noinline)) static void solve_friction_of_material(
    wide_contact *wide, body_lanes *a, body_lanes *b) {
    solve_friction_rows(wide, tangent2_of(wide), a, b, true, false);
}

INLINE void solve_friction(
    wide_contact *wide, lanes3 t2, body_lanes *a, body_lanes *b, const bool single) {
    if (wide->has_material != 0) {
        solve_friction_of_material(wide, a, b);
    } else {
        solve_friction_rows(wide, t2, a, b, false, single);
    }
}

static inline normal_space to_normal_space(
    const wide_contact *wide, lanes3 t2, lanes3 at_centre, lanes3 angular) {
    return (normal_space){.linear = lanes3_dot(at_centre, wide->normal),
        .angular_1 = lanes3_dot(angular, wide->tangent),
        .angular_2 = lanes3_dot(angular, t2)};
}

// Along the normal at a point; works for displacements as well.
static inline lanes normal_velocity_at(normal_space velocity, const wide_point *point) {
    const lanes angular_1 = point->y * velocity.angular_1;
    const lanes angular_2 = point->x * velocity.angular_2;
    return velocity.linear + angular_1 - angular_2;
}

// Adds the effect of a normal impulse at the point to *velocity, and the impulse to *sum.
static inline void apply_normal_impulse(
    const wide_point *point, lanes impulse, normal_space *velocity, normal_space *sum) {
    velocity->linear = velocity->linear + impulse * point->response.linear;
    velocity->angular_1 = velocity->angular_1 + impulse * point->response.angular_1;
    velocity->angular_2 = velocity->angular_2 + impulse * point->response.angular_2;
    sum->linear = sum->linear + impulse;
    sum->angular_1 = sum->angular_1 + point->y * impulse;
    sum->angular_2 = sum->angular_2 - point->x * impulse;
}

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
        const lanes3 t2 = tangent2_of(wide);
        lanes3 impulse = lanes3_scale(wide->normal, normal_impulse_sum(wide));
        impulse = lanes3_add_scaled(impulse, wide->tangent, wide->friction_impulse[0]);
        impulse = lanes3_add_scaled(impulse, t2, wide->friction_impulse[1]);
        lanes angular_1 = lanes_all(0.0f);
        lanes angular_2 = lanes_all(0.0f);
        for (uint32_t k = 0; k < wide->point_count; ++k) {
            angular_1 = angular_1 + wide->points[k].y * wide->points[k].impulse;
            angular_2 = angular_2 - wide->points[k].x * wide->points[k].impulse;
        }
        lanes3 torque = lanes3_scale(wide->normal, wide->twist_impulse);
        torque = lanes3_add_scaled(torque, wide->tangent, angular_1);
        torque = lanes3_add_scaled(torque, t2, angular_2);
        if (wide->has_material != 0) {
            torque = lanes3_add_scaled(torque, wide->tangent, wide->rolling_impulse[0]);
            torque = lanes3_add_scaled(torque, t2, wide->rolling_impulse[1]);
        }
        apply_at_centre(wide, &a, &b, impulse, torque);
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

// ---- impacts
//
// An impact is a collision of two bodies with restitution that takes no time. It happens in the
// substep in which the gap closes. In each round all points that meet too fast get their bounce at
// once, as the velocities at the start of the round demand. What a bounce sets off is the matter of
// the next round: so a shock passes along a row of balls from one to the next, and a box that lands
// flat on two tiles does not turn. (Smith et al., "Reflections on Simultaneous Impact", 2012.)
//
// The bounce is computed from the velocities without the forces of this substep and holds after
// them. So a ball of restitution 1 climbs in as many substeps as it fell, to the same height.

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
    lanes row[CAIRN_ROW_FLOATS] = {finite_or_zero(friction.x), finite_or_zero(friction.y),
        finite_or_zero(friction.z), finite_or_zero(wide->twist_impulse)};
    for (uint32_t k = 0; k < wide->point_count; ++k) {
        row[4 + k] = finite_or_zero(wide->points[k].impulse);
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
        [CAIRN_CONSTRAINT_STORE] = store},
};
