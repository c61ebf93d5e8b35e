// SPDX-License-Identifier: MIT
#pragma once

// The rows of a contact: friction and twist, and normal velocities and impulses in manifold space,
// as sim/soft_step/contact_solver.c describes them.

#include "sim/soft_step/contact_material.h"

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

// What all impulses of a contact are together: along a line through c, and a torque.
typedef struct contact_wrench {
    lanes3 linear, torque;
} contact_wrench;

static inline contact_wrench wrench_of(const wide_contact *wide, lanes3 t2) {
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
    return (contact_wrench){.linear = impulse, .torque = torque};
}
