// SPDX-License-Identifier: MIT
#pragma once

// Spatial vectors and inertias (Featherstone, Rigid Body Dynamics Algorithms, 2008, chapter 2), all
// in world axes and about one reference point that they share, which does not move. So nothing is
// transformed from link to link: what two links have is added as it is.

#include "sim/math/vec.h"

// A velocity: rad/s, and m/s of the point of the body that is at the reference point. Or a force: N
// m about the reference point, and N. Or their changes and impulses.
typedef struct cairn_spatial {
    cairn_vec3 angular;
    cairn_vec3 linear;
} cairn_spatial;

// Of a rigid body, about the reference point.
typedef struct cairn_spatial_inertia {
    float mass;         // kg
    cairn_vec3 moment;  // kg m: mass times the place of the centre of mass
    cairn_sym3 inertia; // kg m^2
} cairn_spatial_inertia;

// Of a body with others that hang on it: force = [angular coupling; coupling^T linear] velocity.
typedef struct cairn_articulated_inertia {
    cairn_sym3 angular;
    cairn_mat3 coupling;
    cairn_sym3 linear;
} cairn_articulated_inertia;

static inline cairn_spatial spatial(cairn_vec3 angular, cairn_vec3 linear) {
    return (cairn_spatial){.angular = angular, .linear = linear};
}
static inline cairn_spatial spatial_zero(void) {
    return spatial(vec3_zero(), vec3_zero());
}
static inline cairn_spatial spatial_add(cairn_spatial a, cairn_spatial b) {
    return spatial(vec3_add(a.angular, b.angular), vec3_add(a.linear, b.linear));
}
static inline cairn_spatial spatial_sub(cairn_spatial a, cairn_spatial b) {
    return spatial(vec3_sub(a.angular, b.angular), vec3_sub(a.linear, b.linear));
}
static inline cairn_spatial spatial_add_scaled(cairn_spatial a, cairn_spatial b, float s) {
    return spatial(
        vec3_add_scaled(a.angular, b.angular, s), vec3_add_scaled(a.linear, b.linear, s));
}
// The power of a force and a velocity.
static inline float spatial_dot(cairn_spatial force, cairn_spatial velocity) {
    return vec3_dot(force.angular, velocity.angular) + vec3_dot(force.linear, velocity.linear);
}
// How a velocity fixed in a frame that moves changes, and how a force does.
static inline cairn_spatial spatial_cross(cairn_spatial frame, cairn_spatial velocity) {
    return spatial(vec3_cross(frame.angular, velocity.angular),
        vec3_add(vec3_cross(frame.angular, velocity.linear),
            vec3_cross(frame.linear, velocity.angular)));
}
static inline cairn_spatial spatial_cross_force(cairn_spatial frame, cairn_spatial force) {
    return spatial(
        vec3_add(vec3_cross(frame.angular, force.angular), vec3_cross(frame.linear, force.linear)),
        vec3_cross(frame.angular, force.linear));
}

// Velocities and forces at a point `at` from the reference point.
static inline cairn_spatial spatial_of_velocity(
    cairn_vec3 at, cairn_vec3 linear, cairn_vec3 angular) {
    return spatial(angular, vec3_add(linear, vec3_cross(at, angular)));
}
static inline cairn_vec3 spatial_velocity_at(cairn_spatial velocity, cairn_vec3 at) {
    return vec3_add(velocity.linear, vec3_cross(velocity.angular, at));
}
static inline cairn_spatial spatial_of_force(cairn_vec3 at, cairn_vec3 force, cairn_vec3 torque) {
    return spatial(vec3_add(torque, vec3_cross(at, force)), force);
}

// `inertia` about the centre of mass, in world axes; `centre` from the reference point.
static inline cairn_spatial_inertia spatial_inertia(
    float mass, cairn_vec3 centre, cairn_sym3 inertia) {
    return (cairn_spatial_inertia){.mass = mass,
        .moment = vec3_scale(centre, mass),
        .inertia = sym3_add(inertia, sym3_parallel_axis(mass, centre))};
}
static inline cairn_spatial spatial_inertia_apply(
    const cairn_spatial_inertia *i, cairn_spatial velocity) {
    return spatial(
        vec3_add(sym3_apply(i->inertia, velocity.angular), vec3_cross(i->moment, velocity.linear)),
        vec3_sub(vec3_scale(velocity.linear, i->mass), vec3_cross(i->moment, velocity.angular)));
}
static inline cairn_spatial_inertia spatial_inertia_add(
    cairn_spatial_inertia a, cairn_spatial_inertia b) {
    return (cairn_spatial_inertia){.mass = a.mass + b.mass,
        .moment = vec3_add(a.moment, b.moment),
        .inertia = sym3_add(a.inertia, b.inertia)};
}

static inline cairn_articulated_inertia articulated_inertia_of(const cairn_spatial_inertia *i) {
    return (cairn_articulated_inertia){.angular = i->inertia,
        .coupling = mat3_cross(i->moment),
        .linear = sym3_diagonal(i->mass, i->mass, i->mass)};
}
static inline cairn_articulated_inertia articulated_inertia_add(
    const cairn_articulated_inertia *a, const cairn_articulated_inertia *b) {
    return (cairn_articulated_inertia){.angular = sym3_add(a->angular, b->angular),
        .coupling = {.x = vec3_add(a->coupling.x, b->coupling.x),
            .y = vec3_add(a->coupling.y, b->coupling.y),
            .z = vec3_add(a->coupling.z, b->coupling.z)},
        .linear = sym3_add(a->linear, b->linear)};
}
static inline cairn_spatial articulated_inertia_apply(
    const cairn_articulated_inertia *i, cairn_spatial velocity) {
    return spatial(vec3_add(sym3_apply(i->angular, velocity.angular),
                       mat3_apply(i->coupling, velocity.linear)),
        vec3_add(mat3_apply_transposed(i->coupling, velocity.angular),
            sym3_apply(i->linear, velocity.linear)));
}

static inline cairn_sym3 sym3_sub_square(cairn_sym3 m, cairn_vec3 v, float s) {
    const cairn_vec3 w = vec3_scale(v, s);
    return (cairn_sym3){.xx = m.xx - w.x * v.x,
        .yy = m.yy - w.y * v.y,
        .zz = m.zz - w.z * v.z,
        .xy = m.xy - w.x * v.y,
        .xz = m.xz - w.x * v.z,
        .yz = m.yz - w.y * v.z};
}
// inertia - scale u u^T
static inline cairn_articulated_inertia articulated_inertia_sub_square(
    const cairn_articulated_inertia *i, cairn_spatial u, float scale) {
    const cairn_vec3 row = vec3_scale(u.linear, scale);
    return (cairn_articulated_inertia){.angular = sym3_sub_square(i->angular, u.angular, scale),
        .coupling = {.x = vec3_sub_scaled(i->coupling.x, row, u.angular.x),
            .y = vec3_sub_scaled(i->coupling.y, row, u.angular.y),
            .z = vec3_sub_scaled(i->coupling.z, row, u.angular.z)},
        .linear = sym3_sub_square(i->linear, u.linear, scale)};
}
// inertia + a b^T + b a^T
static inline cairn_articulated_inertia articulated_inertia_add_products(
    const cairn_articulated_inertia *i, cairn_spatial a, cairn_spatial b) {
    const cairn_articulated_inertia less =
        articulated_inertia_sub_square(i, spatial_sub(a, b), 0.5f);
    return articulated_inertia_sub_square(&less, spatial_add(a, b), -0.5f);
}
