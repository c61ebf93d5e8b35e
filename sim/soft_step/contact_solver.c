// SPDX-License-Identifier: MIT

// Contacts, CAIRN_LANES side by side. A patch (one manifold) is solved as one body of rows about
// its centre c, in its own frame (t1, t2, n): what its points see of the two bodies is the relative
// velocity u at c and the relative spin, and a normal impulse at c + a t1 + b t2 changes these
// through one 3 x 3 matrix. So the coupled normal rows of a patch are swept in that small space,
// and bodies are read and written once a visit. Friction acts at c, with one row of twist.
//
// Softness, substeps and relaxation: Catto, "Solver2D" (2024); Macklin et al., "Small Steps in
// Physics Simulation" (2019). Clamped accumulated impulses: Catto 2006.

#include "sim/debug/negative_control.h"
#include "sim/limits.h"
#include "sim/soft_step/body_gather.h"

typedef struct point_lanes {
    lanes a, b;       // where it is: c + a t1 + b t2
    lanes separation; // m, at the start of the step
    lanes mass;       // effective, of the normal row by itself
    lanes impulse;    // accumulated, of one substep
} point_lanes;

typedef struct group {
    pair_lanes pair;
    uint32_t point_count; // the most of any lane
    uint32_t bouncy;      // 0 or 1: some lane has restitution
    lanes3 normal;        // from a to b
    lanes3 tangent;       // t1; t2 is normal x t1
    lanes3 arm_a;         // from the centres of mass to c
    lanes3 arm_b;
    lanes k_nn, k_n1, k_n2, k_11, k_12, k_22; // response of (u.n, spin.t1, spin.t2)
    lanes f_11, f_12, f_22;                   // inverse response of (u.t1, u.t2)
    lanes twist_mass;
    lanes friction;
    lanes radius; // m, at which friction resists twist
    lanes friction_impulse[2];
    lanes twist_impulse;
    lanes rate, mass_scale, impulse_scale; // softness
    point_lanes points[CAIRN_MANIFOLD_POINTS_MAX];
    lanes approach[CAIRN_MANIFOLD_POINTS_MAX]; // m/s, before the first substep
    lanes restitution;
} group;

static inline lanes3 lanes3_t2(const group *g) {
    return lanes3_cross(g->normal, g->tangent);
}

static inline void apply(
    const group *g, body_lanes *a, body_lanes *b, lanes3 impulse, lanes3 torque) {
    apply_impulse(a, g->arm_a, b, g->arm_b, impulse, torque);
}

static inline lanes3 relative_velocity(const group *g, const body_lanes *a, const body_lanes *b) {
    return velocity_between(a, g->arm_a, b, g->arm_b);
}

static inline lanes normal_impulse_sum(const group *g) {
    lanes sum = g->points[0].impulse;
    for (uint32_t i = 1; i < g->point_count; ++i) {
        sum = sum + g->points[i].impulse;
    }
    return sum;
}

// Both friction rows together, inside the circle of radius mu N; then twist, up to mu N r.
static inline void solve_friction(group *g, lanes3 t2, body_lanes *a, body_lanes *b) {
    const lanes3 u = relative_velocity(g, a, b);
    const lanes3 spin = lanes3_sub(b->spin, a->spin);
    const lanes u1 = lanes3_dot(u, g->tangent);
    const lanes u2 = lanes3_dot(u, t2);
    const lanes bound = g->friction * normal_impulse_sum(g);
    lanes sum1 = g->friction_impulse[0] - (g->f_11 * u1 + g->f_12 * u2);
    lanes sum2 = g->friction_impulse[1] - (g->f_12 * u1 + g->f_22 * u2);
    const lanes square = sum1 * sum1 + sum2 * sum2;
    const lanes_mask slides = lanes_less(bound * bound, square);
    const lanes one = lanes_all(1.0f);
    const lanes length = lanes_sqrt(lanes_select(slides, square, one));
    const lanes scale = lanes_select(slides, bound / length, one);
    sum1 = sum1 * scale;
    sum2 = sum2 * scale;
    const lanes limit = bound * g->radius;
    const lanes wanted = g->twist_impulse - g->twist_mass * lanes3_dot(spin, g->normal);
    const lanes twist = lanes_min(lanes_max(wanted, lanes_all(0.0f) - limit), limit);
    const lanes3 impulse = lanes3_add_scaled(
        lanes3_scale(g->tangent, sum1 - g->friction_impulse[0]), t2, sum2 - g->friction_impulse[1]);
    const lanes3 torque = lanes3_scale(g->normal, twist - g->twist_impulse);
    g->friction_impulse[0] = sum1;
    g->friction_impulse[1] = sum2;
    g->twist_impulse = twist;
    apply(g, a, b, impulse, torque);
}

// What the normal rows see: speed or shift along n at c, and about t1 and t2.
typedef struct normal_view {
    lanes along, about_1, about_2;
} normal_view;

static inline normal_view view_of(const group *g, lanes3 t2, lanes3 at_c, lanes3 turn) {
    return (normal_view){.along = lanes3_dot(at_c, g->normal),
        .about_1 = lanes3_dot(turn, g->tangent),
        .about_2 = lanes3_dot(turn, t2)};
}

static inline lanes at_point(normal_view view, const point_lanes *point) {
    const lanes about_1 = point->b * view.about_1;
    const lanes about_2 = point->a * view.about_2;
    return control_sum_reordered() ? view.along + (about_1 - about_2)
                                   : view.along + about_1 - about_2;
}

// Adds `impulse` at the point to the view and to the sum of impulses.
static inline void give(
    const group *g, const point_lanes *point, lanes impulse, normal_view *view, normal_view *sum) {
    const lanes b = point->b;
    const lanes a = point->a;
    view->along = view->along + impulse * (g->k_nn + b * g->k_n1 - a * g->k_n2);
    view->about_1 = view->about_1 + impulse * (g->k_n1 + b * g->k_11 - a * g->k_12);
    view->about_2 = view->about_2 + impulse * (g->k_n2 + b * g->k_12 - a * g->k_22);
    sum->along = sum->along + impulse;
    sum->about_1 = sum->about_1 + b * impulse;
    sum->about_2 = sum->about_2 - a * impulse;
}

static inline void solve_normals(const cairn_solver_context *context, group *g, lanes3 t2,
    body_lanes *a, body_lanes *b, normal_view shift, bool push) {
    normal_view view = view_of(g, t2, relative_velocity(g, a, b), lanes3_sub(b->spin, a->spin));
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    normal_view sum = {.along = zero, .about_1 = zero, .about_2 = zero};
    lanes bias[CAIRN_MANIFOLD_POINTS_MAX];
    lanes scale[CAIRN_MANIFOLD_POINTS_MAX];
    lanes fade[CAIRN_MANIFOLD_POINTS_MAX];
    for (uint32_t i = 0; i < g->point_count; ++i) {
        const point_lanes *point = &g->points[i];
        const lanes separation = point->separation + at_point(shift, point);
        const lanes_mask apart = lanes_less(zero, separation);
        const lanes closing = separation * lanes_all(context->inverse_h);
        if (push) {
            const lanes out = lanes_max(separation * g->rate, lanes_all(-CAIRN_PUSH_SPEED_MAX));
            bias[i] = lanes_select(apart, closing, out);
            scale[i] = point->mass * lanes_select(apart, one, g->mass_scale);
            fade[i] = lanes_select(apart, zero, g->impulse_scale);
        } else {
            bias[i] = lanes_max(closing, zero);
            scale[i] = point->mass;
            fade[i] = zero;
        }
    }
    // A single row is exact at once.
    const uint32_t passes = g->point_count == 1 ? 1 : CAIRN_MANIFOLD_SWEEPS;
    for (uint32_t pass = 0; pass < passes; ++pass) {
        for (uint32_t i = 0; i < g->point_count; ++i) {
            point_lanes *point = &g->points[i];
            const lanes speed = at_point(view, point);
            const lanes wanted =
                point->impulse - (scale[i] * (speed + bias[i]) + fade[i] * point->impulse);
            const lanes impulse = lanes_max(wanted, zero);
            give(g, point, impulse - point->impulse, &view, &sum);
            point->impulse = impulse;
        }
    }
    const lanes3 torque = lanes3_add_scaled(lanes3_scale(g->tangent, sum.about_1), t2, sum.about_2);
    apply(g, a, b, lanes3_scale(g->normal, sum.along), torque);
}

static inline void visit(const cairn_solver_context *context, group *g, bool push) {
    body_lanes a = load_body(context, g->pair.a);
    body_lanes b = load_body(context, g->pair.b);
    const delta_lanes delta_a = load_delta(context, g->pair.a);
    const delta_lanes delta_b = load_delta(context, g->pair.b);
    const lanes3 t2 = lanes3_t2(g);
    const lanes3 moved_a = lanes3_add(delta_a.position, lanes3_cross(delta_a.rotation, g->arm_a));
    const lanes3 moved_b = lanes3_add(delta_b.position, lanes3_cross(delta_b.rotation, g->arm_b));
    const normal_view shift = view_of(
        g, t2, lanes3_sub(moved_b, moved_a), lanes3_sub(delta_b.rotation, delta_a.rotation));
    solve_friction(g, t2, &a, &b);
    solve_normals(context, g, t2, &a, &b, shift, push);
    store_body(context, g->pair.a, g->pair.moving_a, &a);
    store_body(context, g->pair.b, g->pair.moving_b, &b);
}

static void push(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        visit(context, &groups[i], true);
    }
}

static void relax(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        visit(context, &groups[i], false);
    }
}

static void warm_start(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        const group *g = &groups[i];
        body_lanes a = load_body(context, g->pair.a);
        body_lanes b = load_body(context, g->pair.b);
        const lanes3 t2 = lanes3_t2(g);
        lanes3 impulse = lanes3_scale(g->normal, normal_impulse_sum(g));
        impulse = lanes3_add_scaled(impulse, g->tangent, g->friction_impulse[0]);
        impulse = lanes3_add_scaled(impulse, t2, g->friction_impulse[1]);
        lanes about_1 = lanes_all(0.0f);
        lanes about_2 = lanes_all(0.0f);
        for (uint32_t k = 0; k < g->point_count; ++k) {
            about_1 = about_1 + g->points[k].b * g->points[k].impulse;
            about_2 = about_2 - g->points[k].a * g->points[k].impulse;
        }
        lanes3 torque = lanes3_scale(g->normal, g->twist_impulse);
        torque = lanes3_add_scaled(torque, g->tangent, about_1);
        torque = lanes3_add_scaled(torque, t2, about_2);
        apply(g, &a, &b, impulse, torque);
        store_body(context, g->pair.a, g->pair.moving_a, &a);
        store_body(context, g->pair.b, g->pair.moving_b, &b);
    }
}

static void bounce(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->contact_constraints;
    const lanes zero = lanes_all(0.0f);
    const lanes least = lanes_all(control_lanes_meddle() ? -1.0f : 0.0f);
    for (uint32_t i = begin; i < end; ++i) {
        group *g = &groups[i];
        if (g->bouncy == 0) {
            continue;
        }
        body_lanes a = load_body(context, g->pair.a);
        body_lanes b = load_body(context, g->pair.b);
        const lanes3 t2 = lanes3_t2(g);
        normal_view view = view_of(g, t2, relative_velocity(g, &a, &b), lanes3_sub(b.spin, a.spin));
        normal_view sum = {.along = zero, .about_1 = zero, .about_2 = zero};
        for (uint32_t k = 0; k < g->point_count; ++k) {
            point_lanes *point = &g->points[k];
            const lanes target = g->restitution * g->approach[k];
            const lanes_mask bounces =
                lanes_less(lanes_all(context->restitution_threshold), g->approach[k]) &
                lanes_less(zero, point->impulse) & lanes_less(least, g->restitution);
            const lanes wanted = point->impulse + point->mass * (target - at_point(view, point));
            const lanes impulse = lanes_select(bounces, lanes_max(wanted, zero), point->impulse);
            give(g, point, impulse - point->impulse, &view, &sum);
            point->impulse = impulse;
        }
        const lanes3 torque =
            lanes3_add_scaled(lanes3_scale(g->tangent, sum.about_1), t2, sum.about_2);
        apply(g, &a, &b, lanes3_scale(g->normal, sum.along), torque);
        store_body(context, g->pair.a, g->pair.moving_a, &a);
        store_body(context, g->pair.b, g->pair.moving_b, &b);
    }
}

// ---- from patches to groups

// vec3_tangent of sim/math/vec.h: across the normal, by its larger part.
static inline lanes3 across(lanes3 n) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask wide = lanes_less(lanes_all(0.577f * 0.577f), n.x * n.x);
    const lanes3 one = lanes3_of(n.y, zero - n.x, zero);
    const lanes3 other = lanes3_of(zero, n.z, zero - n.y);
    const lanes3 t = lanes3_select(wide, one, other);
    return lanes3_scale(t, lanes_all(1.0f) / lanes_sqrt(lanes3_dot(t, t)));
}

// A cairn_solver_manifold of each lane.
typedef struct manifold_lanes {
    lanes3 normal;
    lanes point_count;
    struct {
        lanes3 arm_a;
        lanes3 arm_b;
        lanes separation;
    } points[CAIRN_MANIFOLD_POINTS_MAX];
    lanes friction;
    lanes restitution;
    lanes padding[6];
    lanes_quat rotation_a;
    lanes_quat rotation_b;
} manifold_lanes;

typedef union manifold_rows {
    lanes rows[CAIRN_SOLVER_MANIFOLD_ROWS][CAIRN_ROW_FLOATS];
    manifold_lanes manifold;
} manifold_rows;

_Static_assert(sizeof(manifold_rows) == CAIRN_LANES * sizeof(cairn_solver_manifold),
    "a lane for each float of the manifold");
_Static_assert(offsetof(manifold_lanes, rotation_a) ==
                   CAIRN_LANES * offsetof(cairn_solver_manifold, rotation_a),
    "in the same order");

static void load_manifolds(
    const cairn_solver_context *context, const group *g, manifold_rows *out) {
    const void *manifolds[CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        manifolds[i] = &context->manifolds[context->contact_edges[g->pair.edge[i]].manifold];
    }
    for (uint32_t row = 0; row < CAIRN_SOLVER_MANIFOLD_ROWS; ++row) {
        load_struct_row(manifolds, row * CAIRN_ROW_FLOATS, out->rows[row]);
    }
}

// The rotation from q0 to q, as a matrix.
static lanes_mat3 delta_rotation(lanes_quat q, lanes_quat q0) {
    const lanes x = q.x * q0.w - q.w * q0.x - q.y * q0.z + q.z * q0.y;
    const lanes y = q.y * q0.w - q.w * q0.y - q.z * q0.x + q.x * q0.z;
    const lanes z = q.z * q0.w - q.w * q0.z - q.x * q0.y + q.y * q0.x;
    const lanes w = q.w * q0.w + q.x * q0.x + q.y * q0.y + q.z * q0.z;
    return lanes_mat3_of_quat(x, y, z, w);
}

// The frame of the manifold and where its points are in it.
static void place_points(group *g, const manifold_lanes *manifold, const motion_lanes *motion_a,
    const motion_lanes *motion_b) {
    const lanes zero = lanes_all(0.0f);
    const lanes count = manifold->point_count;
    const lanes3 apart = lanes3_sub(motion_position(motion_b), motion_position(motion_a));
    const lanes_mat3 turn_a = delta_rotation(motion_rotation(motion_a), manifold->rotation_a);
    const lanes_mat3 turn_b = delta_rotation(motion_rotation(motion_b), manifold->rotation_b);
    lanes3 sum_a = lanes3_of(zero, zero, zero);
    lanes3 sum_b = sum_a;
    g->normal = manifold->normal;
    g->tangent = across(g->normal);
    for (uint32_t i = 0; i < g->point_count; ++i) {
        const lanes3 arm_a = manifold->points[i].arm_a;
        const lanes3 arm_b = manifold->points[i].arm_b;
        const lanes3 gap = lanes3_sub(
            lanes3_add(apart, lanes_mat3_apply(turn_b, arm_b)), lanes_mat3_apply(turn_a, arm_a));
        g->points[i].separation = manifold->points[i].separation + lanes3_dot(gap, g->normal);
        const lanes_mask there = lanes_less(lanes_all((float)i), count);
        sum_a = lanes3_select(there, lanes3_add(sum_a, arm_a), sum_a);
        sum_b = lanes3_select(there, lanes3_add(sum_b, arm_b), sum_b);
    }
    const lanes share = lanes_all(1.0f) / count;
    g->arm_a = lanes3_scale(sum_a, share);
    g->arm_b = lanes3_scale(sum_b, share);
    const lanes3 t2 = lanes3_t2(g);
    lanes radius = zero;
    for (uint32_t i = 0; i < g->point_count; ++i) {
        const lanes3 offset = lanes3_sub(manifold->points[i].arm_a, g->arm_a);
        const lanes_mask there = lanes_less(lanes_all((float)i), count);
        const lanes a1 = lanes3_dot(offset, g->tangent);
        const lanes b1 = lanes3_dot(offset, t2);
        g->points[i].a = lanes_select(there, a1, zero);
        g->points[i].b = lanes_select(there, b1, zero);
        radius = radius + lanes_select(there, lanes_sqrt(a1 * a1 + b1 * b1), zero);
    }
    g->radius = radius / count;
}

// The responses of the normal view, of friction and of twist, J M^-1 J^T of Catto 2005.
static void weigh(group *g, const body_lanes *a, const body_lanes *b, lanes count) {
    const lanes3 t1 = g->tangent;
    const lanes3 t2 = lanes3_t2(g);
    const lanes3 na = lanes3_cross(g->arm_a, g->normal);
    const lanes3 nb = lanes3_cross(g->arm_b, g->normal);
    const lanes3 turn_a = lanes_sym3_apply(a->inverse_inertia, na);
    const lanes3 turn_b = lanes_sym3_apply(b->inverse_inertia, nb);
    const lanes3 turn = lanes3_add(turn_a, turn_b);
    const lanes_sym3 both = lanes_sym3_add(a->inverse_inertia, b->inverse_inertia);
    const lanes3 both_1 = lanes_sym3_apply(both, t1);
    const lanes3 both_2 = lanes_sym3_apply(both, t2);
    const lanes mass = a->inverse_mass + b->inverse_mass;
    g->k_nn = mass + lanes3_dot(na, turn_a) + lanes3_dot(nb, turn_b);
    g->k_n1 = lanes3_dot(turn, t1);
    g->k_n2 = lanes3_dot(turn, t2);
    g->k_11 = lanes3_dot(t1, both_1);
    g->k_12 = lanes3_dot(t2, both_1);
    g->k_22 = lanes3_dot(t2, both_2);
    g->twist_mass = inverse_or_zero(lanes3_dot(g->normal, lanes_sym3_apply(both, g->normal)));
    const lanes3 a1 = lanes3_cross(g->arm_a, t1);
    const lanes3 a2 = lanes3_cross(g->arm_a, t2);
    const lanes3 b1 = lanes3_cross(g->arm_b, t1);
    const lanes3 b2 = lanes3_cross(g->arm_b, t2);
    const lanes3 turn_a1 = lanes_sym3_apply(a->inverse_inertia, a1);
    const lanes3 turn_a2 = lanes_sym3_apply(a->inverse_inertia, a2);
    const lanes3 turn_b1 = lanes_sym3_apply(b->inverse_inertia, b1);
    const lanes3 turn_b2 = lanes_sym3_apply(b->inverse_inertia, b2);
    const lanes k11 = mass + lanes3_dot(a1, turn_a1) + lanes3_dot(b1, turn_b1);
    const lanes k12 = lanes3_dot(a1, turn_a2) + lanes3_dot(b1, turn_b2);
    const lanes k22 = mass + lanes3_dot(a2, turn_a2) + lanes3_dot(b2, turn_b2);
    const lanes inverse = inverse_or_zero(k11 * k22 - k12 * k12);
    g->f_11 = k22 * inverse;
    g->f_12 = lanes_all(0.0f) - k12 * inverse;
    g->f_22 = k11 * inverse;
    for (uint32_t i = 0; i < g->point_count; ++i) {
        point_lanes *point = &g->points[i];
        const lanes pa = point->a;
        const lanes pb = point->b;
        const lanes row = g->k_nn + pb * (g->k_n1 + pb * g->k_11 + g->k_n1) -
                          pa * (g->k_n2 - pa * g->k_22 + g->k_n2) - pa * pb * (g->k_12 + g->k_12);
        const lanes_mask there = lanes_less(lanes_all((float)i), count);
        point->mass = lanes_select(there, inverse_or_zero(row), lanes_all(0.0f));
    }
}

static void load_impulses(const cairn_solver_context *context, group *g) {
    float normal[CAIRN_MANIFOLD_POINTS_MAX][CAIRN_LANES];
    float tangent[4][CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_contact *contact =
            &context->contacts[context->contact_edges[g->pair.edge[i]].element];
        for (uint32_t k = 0; k < CAIRN_MANIFOLD_POINTS_MAX; ++k) {
            normal[k][i] = contact->points[k].normal_impulse;
            tangent[k][i] = contact->tangent_impulse[k];
        }
    }
    const lanes warm = lanes_all(context->warm_start != 0 ? 1.0f : 0.0f);
    for (uint32_t k = 0; k < g->point_count; ++k) {
        memcpy(&g->points[k].impulse, normal[k], sizeof normal[k]);
        g->points[k].impulse = g->points[k].impulse * warm;
    }
    lanes last[4];
    memcpy(last, tangent, sizeof last);
    const lanes3 friction = lanes3_of(last[0], last[1], last[2]);
    g->friction_impulse[0] = lanes3_dot(friction, g->tangent) * warm;
    g->friction_impulse[1] = lanes3_dot(friction, lanes3_t2(g)) * warm;
    g->twist_impulse = last[3] * warm;
}

static void soften(
    const cairn_solver_context *context, group *g, const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask free = lanes_less(zero, a->inverse_mass) & lanes_less(zero, b->inverse_mass);
    const cairn_softness *soft = &context->contact_softness;
    const cairn_softness *fixed = &context->static_softness;
    g->rate = lanes_select(free, lanes_all(soft->rate), lanes_all(fixed->rate));
    g->mass_scale = lanes_select(free, lanes_all(soft->mass_scale), lanes_all(fixed->mass_scale));
    g->impulse_scale =
        lanes_select(free, lanes_all(soft->impulse_scale), lanes_all(fixed->impulse_scale));
}

static void prepare_bounce(group *g, const body_lanes *a, const body_lanes *b) {
    const normal_view view =
        view_of(g, lanes3_t2(g), relative_velocity(g, a, b), lanes3_sub(b->spin, a->spin));
    for (uint32_t i = 0; i < g->point_count; ++i) {
        g->approach[i] = lanes_all(0.0f) - at_point(view, &g->points[i]);
    }
}

static void prepare_group(const cairn_solver_context *context, const uint32_t *order, group *g) {
    const void *motions_a[CAIRN_LANES];
    const void *motions_b[CAIRN_LANES];
    uint32_t most = 0;
    uint32_t bouncy = 0;
    fill_pair(context, context->contact_edges, order, &g->pair);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_constraint_edge *edge = &context->contact_edges[g->pair.edge[i]];
        const cairn_solver_manifold *manifold = &context->manifolds[edge->manifold];
        motions_a[i] = &context->motions[edge->body_a];
        motions_b[i] = &context->motions[edge->body_b];
        const uint32_t points = (uint32_t)manifold->point_count;
        most = points > most ? points : most;
        bouncy |= manifold->restitution > 0.0f ? 1u : 0u;
    }
    g->point_count = most;
    g->bouncy = bouncy;
    manifold_rows in;
    load_manifolds(context, g, &in);
    const manifold_lanes *manifold = &in.manifold;
    const motion_lanes motion_a = load_motions(motions_a);
    const motion_lanes motion_b = load_motions(motions_b);
    g->friction = manifold->friction;
    g->restitution = manifold->restitution;
    place_points(g, manifold, &motion_a, &motion_b);
    const body_lanes a = load_body(context, g->pair.a);
    const body_lanes b = load_body(context, g->pair.b);
    weigh(g, &a, &b, manifold->point_count);
    soften(context, g, &a, &b);
    load_impulses(context, g);
    if (bouncy != 0) {
        prepare_bounce(g, &a, &b);
    }
}

static void prepare(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    group *groups = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        prepare_group(context, context->contact_order + (size_t)i * CAIRN_LANES, &groups[i]);
    }
}

static void store_group(const cairn_solver_context *context, const group *g) {
    const lanes3 t2 = lanes3_t2(g);
    const lanes3 friction = lanes3_add_scaled(
        lanes3_scale(g->tangent, g->friction_impulse[0]), t2, g->friction_impulse[1]);
    const lanes values[4] = {
        kept(friction.x), kept(friction.y), kept(friction.z), kept(g->twist_impulse)};
    float tangent[4][CAIRN_LANES];
    float normal[CAIRN_MANIFOLD_POINTS_MAX][CAIRN_LANES];
    memcpy(tangent, values, sizeof tangent);
    for (uint32_t k = 0; k < g->point_count; ++k) {
        const lanes impulse = kept(g->points[k].impulse);
        memcpy(normal[k], &impulse, sizeof normal[k]);
    }
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        if ((g->pair.live >> i & 1u) == 0) {
            continue;
        }
        cairn_contact *contact =
            &context->contacts[context->contact_edges[g->pair.edge[i]].element];
        for (uint32_t k = 0; k < contact->point_count; ++k) {
            contact->points[k].normal_impulse = normal[k][i];
        }
        for (uint32_t k = 0; k < 4; ++k) {
            contact->tangent_impulse[k] = tangent[k][i];
        }
    }
}

static void store(const cairn_solver_context *context, uint32_t begin, uint32_t end) {
    const group *groups = context->contact_constraints;
    for (uint32_t i = begin; i < end; ++i) {
        store_group(context, &groups[i]);
    }
}

extern const cairn_constraint_kernel CAIRN_KERNEL(contact);
const cairn_constraint_kernel CAIRN_KERNEL(contact) = {
    .constraint_size = sizeof(group),
    .stages = {[CAIRN_CONSTRAINT_PREPARE] = prepare,
        [CAIRN_CONSTRAINT_WARM_START] = warm_start,
        [CAIRN_CONSTRAINT_SOLVE_BIASED] = push,
        [CAIRN_CONSTRAINT_RELAX] = relax,
        [CAIRN_CONSTRAINT_RESTITUTION] = bounce,
        [CAIRN_CONSTRAINT_STORE] = store},
};
