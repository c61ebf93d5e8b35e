// SPDX-License-Identifier: MIT
#pragma once

// From manifolds to contact constraints, at the start of a step, as sim/soft_step/contact_solver.c
// describes them.

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/soft_step/contact_material.h"

// A unit vector perpendicular to the unit vector n; vec3_tangent of sim/math/vec.h in lanes.
static inline lanes3 tangent_of(lanes3 n) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask large_x = lanes_less(lanes_all(0.577f * 0.577f), n.x * n.x);
    const lanes3 one = lanes3_of(n.y, zero - n.x, zero);
    const lanes3 other = lanes3_of(zero, n.z, zero - n.y);
    const lanes3 t = lanes3_select(large_x, one, other);
    return lanes3_scale(t, lanes_all(1.0f) / lanes_sqrt(lanes3_dot(t, t)));
}

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
    const cairn_solver_context *context, const wide_contact *wide, manifold_rows *out) {
    const void *manifolds[CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        manifolds[i] = &context->manifolds[context->contact_edges[wide->pair.edge[i]].manifold];
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

// Computes the frame of the manifold, its points in that frame, and their separations.
static void prepare_points(wide_contact *wide, const manifold_lanes *manifold,
    const motion_lanes *motion_a, const motion_lanes *motion_b) {
    const lanes zero = lanes_all(0.0f);
    const lanes count = manifold->point_count;
    const lanes3 apart = lanes3_sub(motion_position(motion_b), motion_position(motion_a));
    const lanes_mat3 dq_a = delta_rotation(motion_rotation(motion_a), manifold->rotation_a);
    const lanes_mat3 dq_b = delta_rotation(motion_rotation(motion_b), manifold->rotation_b);
    lanes3 sum_a = lanes3_of(zero, zero, zero);
    lanes3 sum_b = sum_a;
    wide->normal = manifold->normal;
    wide->tangent = tangent_of(wide->normal);
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        const lanes3 arm_a = manifold->points[i].arm_a;
        const lanes3 arm_b = manifold->points[i].arm_b;
        const lanes3 gap = lanes3_sub(
            lanes3_add(apart, lanes_mat3_apply(dq_b, arm_b)), lanes_mat3_apply(dq_a, arm_a));
        wide->points[i].start = manifold->points[i].separation + lanes3_dot(gap, wide->normal);
        wide->points[i].separation = wide->points[i].start;
        const lanes_mask exists = lanes_less(lanes_all((float)i), count);
        sum_a = lanes3_select(exists, lanes3_add(sum_a, arm_a), sum_a);
        sum_b = lanes3_select(exists, lanes3_add(sum_b, arm_b), sum_b);
    }
    const lanes inverse_count = lanes_all(1.0f) / count;
    wide->arm_a = lanes3_scale(sum_a, inverse_count);
    wide->arm_b = lanes3_scale(sum_b, inverse_count);
    const lanes3 t2 = tangent2_of(wide);
    lanes radius = zero;
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        const lanes3 offset = lanes3_sub(manifold->points[i].arm_a, wide->arm_a);
        const lanes_mask exists = lanes_less(lanes_all((float)i), count);
        const lanes x = lanes3_dot(offset, wide->tangent);
        const lanes y = lanes3_dot(offset, t2);
        wide->points[i].x = lanes_select(exists, x, zero);
        wide->points[i].y = lanes_select(exists, y, zero);
        radius = radius + lanes_select(exists, lanes_sqrt(x * x + y * y), zero);
    }
    wide->radius = radius / count;
}

// K of manifold space, and the effective masses of friction, of twist and of each normal row: all
// of them J M^-1 J^T (Catto 2005), inverted where a row is solved by itself. Returns K.
static normal_response compute_effective_masses(
    wide_contact *wide, const body_lanes *a, const body_lanes *b, lanes count) {
    const lanes3 t1 = wide->tangent;
    const lanes3 t2 = tangent2_of(wide);
    const lanes3 na = lanes3_cross(wide->arm_a, wide->normal);
    const lanes3 nb = lanes3_cross(wide->arm_b, wide->normal);
    const lanes3 dw_a = lanes_sym3_apply(*a->inverse_inertia, na);
    const lanes3 dw_b = lanes_sym3_apply(*b->inverse_inertia, nb);
    const lanes3 dw = lanes3_add(dw_a, dw_b);
    const lanes_sym3 both = lanes_sym3_add(*a->inverse_inertia, *b->inverse_inertia);
    const lanes3 both_1 = lanes_sym3_apply(both, t1);
    const lanes3 both_2 = lanes_sym3_apply(both, t2);
    const lanes mass = a->inverse_mass + b->inverse_mass;
    const normal_response k = {.nn = mass + lanes3_dot(na, dw_a) + lanes3_dot(nb, dw_b),
        .n1 = lanes3_dot(dw, t1),
        .n2 = lanes3_dot(dw, t2),
        .t11 = lanes3_dot(t1, both_1),
        .t12 = lanes3_dot(t2, both_1),
        .t22 = lanes3_dot(t2, both_2)};
    wide->twist_mass =
        inverse_or_zero(lanes3_dot(wide->normal, lanes_sym3_apply(both, wide->normal)));
    const lanes3 a1 = lanes3_cross(wide->arm_a, t1);
    const lanes3 a2 = lanes3_cross(wide->arm_a, t2);
    const lanes3 b1 = lanes3_cross(wide->arm_b, t1);
    const lanes3 b2 = lanes3_cross(wide->arm_b, t2);
    const lanes3 dw_a1 = lanes_sym3_apply(*a->inverse_inertia, a1);
    const lanes3 dw_a2 = lanes_sym3_apply(*a->inverse_inertia, a2);
    const lanes3 dw_b1 = lanes_sym3_apply(*b->inverse_inertia, b1);
    const lanes3 dw_b2 = lanes_sym3_apply(*b->inverse_inertia, b2);
    const lanes k11 = mass + lanes3_dot(a1, dw_a1) + lanes3_dot(b1, dw_b1);
    const lanes k12 = lanes3_dot(a1, dw_a2) + lanes3_dot(b1, dw_b2);
    const lanes k22 = mass + lanes3_dot(a2, dw_a2) + lanes3_dot(b2, dw_b2);
    const lanes inverse = inverse_or_zero(k11 * k22 - k12 * k12);
    wide->tangent_mass_11 = k22 * inverse;
    wide->tangent_mass_12 = lanes_all(0.0f) - k12 * inverse;
    wide->tangent_mass_22 = k11 * inverse;
    for (uint32_t i = 0; i < wide->point_count; ++i) {
        wide_point *point = &wide->points[i];
        const lanes x = point->x;
        const lanes y = point->y;
        const lanes row = k.nn + y * (k.n1 + y * k.t11 + k.n1) - x * (k.n2 - x * k.t22 + k.n2) -
                          x * y * (k.t12 + k.t12);
        const lanes_mask exists = lanes_less(lanes_all((float)i), count);
        point->mass = lanes_select(exists, inverse_or_zero(row), lanes_all(0.0f));
        point->response = (normal_space){.linear = k.nn + y * k.n1 - x * k.n2,
            .angular_1 = k.n1 + y * k.t11 - x * k.t12,
            .angular_2 = k.n2 + y * k.t12 - x * k.t22};
    }
    return k;
}

// The floats of a contact from which on rows of eight are read.
#define CONTACT_POINTS (offsetof(cairn_contact, points) / sizeof(float))
#define CONTACT_TANGENTS (offsetof(cairn_contact, tangent_impulse) / sizeof(float))

_Static_assert(sizeof(cairn_contact_point) == 2 * sizeof(float), "four points are a row");
_Static_assert(offsetof(cairn_contact_point, normal_impulse) == sizeof(float), "every second one");
_Static_assert(CAIRN_MANIFOLD_POINTS_MAX == 4, "four points");

static void load_impulses(const cairn_solver_context *context, wide_contact *wide) {
    const void *contacts[CAIRN_LANES];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        contacts[i] = &context->contacts[context->contact_edges[wide->pair.edge[i]].element];
    }
    lanes points[CAIRN_ROW_FLOATS];
    lanes stored[CAIRN_ROW_FLOATS]; // friction as a world vector, and twist
    load_struct_row(contacts, CONTACT_POINTS, points);
    load_struct_row(contacts, CONTACT_TANGENTS, stored);
    const lanes warm = lanes_all(context->warm_start != 0 ? 1.0f : 0.0f);
    for (uint32_t k = 0; k < wide->point_count; ++k) {
        wide->points[k].impulse = points[2 * k + 1] * warm;
    }
    const lanes3 friction = lanes3_of(stored[0], stored[1], stored[2]);
    wide->friction_impulse[0] = lanes3_dot(friction, wide->tangent) * warm;
    wide->friction_impulse[1] = lanes3_dot(friction, tangent2_of(wide)) * warm;
    wide->twist_impulse = stored[3] * warm;
}

static void set_softness(const cairn_solver_context *context, wide_contact *wide,
    const body_lanes *a, const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes_mask both_move =
        lanes_less(zero, a->inverse_mass) & lanes_less(zero, b->inverse_mass);
    const cairn_softness *soft = &context->contact_softness;
    const cairn_softness *fixed = &context->static_softness;
    wide->rate = lanes_select(both_move, lanes_all(soft->rate), lanes_all(fixed->rate));
    wide->mass_scale =
        lanes_select(both_move, lanes_all(soft->mass_scale), lanes_all(fixed->mass_scale));
    wide->impulse_scale =
        lanes_select(both_move, lanes_all(soft->impulse_scale), lanes_all(fixed->impulse_scale));
}

static void prepare_contact(
    const cairn_solver_context *context, const uint32_t *order, wide_contact *wide) {
    const void *motions_a[CAIRN_LANES];
    const void *motions_b[CAIRN_LANES];
    uint32_t point_count = 0;
    uint32_t has_restitution = 0;
    uint32_t has_material = 0;
    fill_pair(context, context->contact_edges, order, &wide->pair);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_constraint_edge *edge = &context->contact_edges[wide->pair.edge[i]];
        const cairn_solver_manifold *manifold = &context->manifolds[edge->manifold];
        motions_a[i] = &context->motions[edge->body_a];
        motions_b[i] = &context->motions[edge->body_b];
        const uint32_t points = (uint32_t)manifold->point_count;
        point_count = points > point_count ? points : point_count;
        has_restitution |= manifold->restitution > 0.0f ? 1u : 0u;
        has_material |= manifold->static_friction > 0.0f ? 1u : 0u;
    }
    CAIRN_ASSERT(point_count >= 1 && point_count <= CAIRN_MANIFOLD_POINTS_MAX);
    wide->point_count = point_count;
    wide->kind = context->contact_edges[wide->pair.edge[0]].kind;
    CAIRN_ASSERT(((wide->kind & CAIRN_CONTACT_OF_POINTS) != 0) == (point_count > 1));
    wide->has_restitution = has_restitution;
    wide->has_material = has_material;
    wide->summed_impulse = lanes_all(0.0f);
    manifold_rows in;
    load_manifolds(context, wide, &in);
    const manifold_lanes *manifold = &in.manifold;
    const motion_lanes motion_a = load_motions(motions_a);
    const motion_lanes motion_b = load_motions(motions_b);
    wide->friction = manifold->friction;
    wide->restitution = manifold->restitution;
    prepare_points(wide, manifold, &motion_a, &motion_b);
    load_inverse_inertia(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    load_inverse_inertia(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    const body_lanes a = load_body(context, wide->pair.offset_a, &wide->inverse_inertia_a);
    const body_lanes b = load_body(context, wide->pair.offset_b, &wide->inverse_inertia_b);
    wide->has_turntable = any_turntable(&a) | any_turntable(&b);
    const normal_response response = compute_effective_masses(wide, &a, &b, manifold->point_count);
    set_softness(context, wide, &a, &b);
    load_impulses(context, wide);
    if (has_material != 0) {
        prepare_material(context, wide, manifold, &response, &a, &b);
    }
    if (has_restitution != 0) {
        atomic_store_explicit(context->restitution_found, 1, memory_order_relaxed);
    }
}
