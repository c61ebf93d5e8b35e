// SPDX-License-Identifier: MIT
#pragma once

// The arithmetic of sim/articulation/spatial.h, and of rotations, in lanes: each expression in the
// order that it has there, so that a lane has the bits of a scalar.

#include "sim/math/trig.h"

typedef struct spatial_lanes {
    lanes3 angular;
    lanes3 linear;
} spatial_lanes;

typedef struct inertia_lanes {
    lanes mass;
    lanes3 moment;
    lanes_sym3 inertia;
} inertia_lanes;

typedef struct articulated_lanes {
    lanes_sym3 angular;
    lanes_mat3 coupling;
    lanes_sym3 linear;
} articulated_lanes;

#define SPATIAL __attribute__((always_inline, unused)) static inline

SPATIAL lanes3 lanes3_zero(void) {
    return lanes3_of(lanes_all(0.0f), lanes_all(0.0f), lanes_all(0.0f));
}
SPATIAL spatial_lanes spatial_lanes_zero(void) {
    return (spatial_lanes){lanes3_zero(), lanes3_zero()};
}
SPATIAL spatial_lanes spatial_lanes_add(spatial_lanes a, spatial_lanes b) {
    return (spatial_lanes){lanes3_add(a.angular, b.angular), lanes3_add(a.linear, b.linear)};
}
SPATIAL spatial_lanes spatial_lanes_sub(spatial_lanes a, spatial_lanes b) {
    return (spatial_lanes){lanes3_sub(a.angular, b.angular), lanes3_sub(a.linear, b.linear)};
}
SPATIAL spatial_lanes spatial_lanes_scale(spatial_lanes a, lanes s) {
    return (spatial_lanes){lanes3_scale(a.angular, s), lanes3_scale(a.linear, s)};
}
SPATIAL spatial_lanes spatial_lanes_add_scaled(spatial_lanes a, spatial_lanes b, lanes s) {
    return (spatial_lanes){
        lanes3_add_scaled(a.angular, b.angular, s), lanes3_add_scaled(a.linear, b.linear, s)};
}
SPATIAL spatial_lanes spatial_lanes_select(lanes_mask mask, spatial_lanes yes, spatial_lanes no) {
    return (spatial_lanes){
        lanes3_select(mask, yes.angular, no.angular), lanes3_select(mask, yes.linear, no.linear)};
}
SPATIAL lanes spatial_lanes_dot(spatial_lanes force, spatial_lanes velocity) {
    return lanes3_dot(force.angular, velocity.angular) + lanes3_dot(force.linear, velocity.linear);
}
SPATIAL spatial_lanes spatial_lanes_of_force(lanes3 at, lanes3 force, lanes3 torque) {
    return (spatial_lanes){lanes3_add(torque, lanes3_cross(at, force)), force};
}
SPATIAL lanes3 spatial_lanes_velocity_at(spatial_lanes velocity, lanes3 at) {
    return lanes3_add(velocity.linear, lanes3_cross(velocity.angular, at));
}

// What the parallel axis theorem adds.
SPATIAL inertia_lanes inertia_lanes_of(lanes mass, lanes3 d, lanes_sym3 inertia) {
    const lanes zero = lanes_all(0.0f);
    const lanes_sym3 more = {.xx = (d.y * d.y + d.z * d.z) * mass,
        .yy = (d.x * d.x + d.z * d.z) * mass,
        .zz = (d.x * d.x + d.y * d.y) * mass,
        .xy = (zero - d.x * d.y) * mass,
        .xz = (zero - d.x * d.z) * mass,
        .yz = (zero - d.y * d.z) * mass};
    return (inertia_lanes){
        .mass = mass, .moment = lanes3_scale(d, mass), .inertia = lanes_sym3_add(inertia, more)};
}
SPATIAL spatial_lanes inertia_lanes_apply(const inertia_lanes *i, spatial_lanes velocity) {
    return (spatial_lanes){lanes3_add(lanes_sym3_apply(i->inertia, velocity.angular),
                               lanes3_cross(i->moment, velocity.linear)),
        lanes3_sub(
            lanes3_scale(velocity.linear, i->mass), lanes3_cross(i->moment, velocity.angular))};
}

SPATIAL articulated_lanes articulated_lanes_of(const inertia_lanes *i) {
    const lanes zero = lanes_all(0.0f);
    const lanes3 m = i->moment;
    return (articulated_lanes){.angular = i->inertia,
        .coupling = {lanes3_of(zero, zero - m.z, m.y), lanes3_of(m.z, zero, zero - m.x),
            lanes3_of(zero - m.y, m.x, zero)},
        .linear = {i->mass, i->mass, i->mass, zero, zero, zero}};
}
SPATIAL spatial_lanes articulated_lanes_apply(const articulated_lanes *i, spatial_lanes v) {
    const lanes_mat3 *c = &i->coupling;
    const lanes3 w = v.angular;
    const lanes3 back = lanes3_of(c->x.x * w.x + c->y.x * w.y + c->z.x * w.z,
        c->x.y * w.x + c->y.y * w.y + c->z.y * w.z, c->x.z * w.x + c->y.z * w.y + c->z.z * w.z);
    return (spatial_lanes){
        lanes3_add(lanes_sym3_apply(i->angular, w), lanes_mat3_apply(*c, v.linear)),
        lanes3_add(back, lanes_sym3_apply(i->linear, v.linear))};
}
SPATIAL lanes_sym3 lanes_sym3_sub_square(lanes_sym3 m, lanes3 v, lanes s) {
    const lanes3 w = lanes3_scale(v, s);
    return (lanes_sym3){.xx = m.xx - w.x * v.x,
        .yy = m.yy - w.y * v.y,
        .zz = m.zz - w.z * v.z,
        .xy = m.xy - w.x * v.y,
        .xz = m.xz - w.x * v.z,
        .yz = m.yz - w.y * v.z};
}
SPATIAL lanes_sym3 lanes_sym3_select(lanes_mask mask, lanes_sym3 yes, lanes_sym3 no) {
    return (lanes_sym3){lanes_select(mask, yes.xx, no.xx), lanes_select(mask, yes.yy, no.yy),
        lanes_select(mask, yes.zz, no.zz), lanes_select(mask, yes.xy, no.xy),
        lanes_select(mask, yes.xz, no.xz), lanes_select(mask, yes.yz, no.yz)};
}
SPATIAL articulated_lanes articulated_lanes_select(
    lanes_mask mask, articulated_lanes yes, articulated_lanes no) {
    return (articulated_lanes){.angular = lanes_sym3_select(mask, yes.angular, no.angular),
        .coupling = {lanes3_select(mask, yes.coupling.x, no.coupling.x),
            lanes3_select(mask, yes.coupling.y, no.coupling.y),
            lanes3_select(mask, yes.coupling.z, no.coupling.z)},
        .linear = lanes_sym3_select(mask, yes.linear, no.linear)};
}
SPATIAL articulated_lanes articulated_lanes_add(
    const articulated_lanes *a, const articulated_lanes *b) {
    return (articulated_lanes){.angular = lanes_sym3_add(a->angular, b->angular),
        .coupling = {lanes3_add(a->coupling.x, b->coupling.x),
            lanes3_add(a->coupling.y, b->coupling.y), lanes3_add(a->coupling.z, b->coupling.z)},
        .linear = lanes_sym3_add(a->linear, b->linear)};
}
// inertia - scale u u^T
SPATIAL void articulated_lanes_sub_square(articulated_lanes *i, spatial_lanes u, lanes scale) {
    const lanes3 row = lanes3_scale(u.linear, scale);
    i->angular = lanes_sym3_sub_square(i->angular, u.angular, scale);
    i->coupling.x = lanes3_sub_scaled(i->coupling.x, row, u.angular.x);
    i->coupling.y = lanes3_sub_scaled(i->coupling.y, row, u.angular.y);
    i->coupling.z = lanes3_sub_scaled(i->coupling.z, row, u.angular.z);
    i->linear = lanes_sym3_sub_square(i->linear, u.linear, scale);
}

// ---- Rotations, as in cairn/math.h

SPATIAL lanes_quat quat_lanes_multiply(lanes_quat a, lanes_quat b) {
    return (lanes_quat){a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
        a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
SPATIAL lanes_quat quat_lanes_select(lanes_mask mask, lanes_quat yes, lanes_quat no) {
    return (lanes_quat){lanes_select(mask, yes.x, no.x), lanes_select(mask, yes.y, no.y),
        lanes_select(mask, yes.z, no.z), lanes_select(mask, yes.w, no.w)};
}
// a (x, 0, 0, w)
SPATIAL lanes_quat quat_lanes_twist(lanes_quat a, lanes x, lanes w) {
    return (lanes_quat){a.w * x + a.x * w, a.y * w + a.z * x, a.z * w - a.y * x, a.w * w - a.x * x};
}
SPATIAL lanes_quat quat_lanes_conjugate(lanes_quat q) {
    const lanes zero = lanes_all(0.0f);
    return (lanes_quat){zero - q.x, zero - q.y, zero - q.z, q.w};
}
SPATIAL lanes_quat quat_lanes_normalize(lanes_quat q) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    const lanes_mask valid =
        lanes_less(lanes_all(1e-30f), square) & lanes_less(square, lanes_all(INFINITY));
    const lanes inverse = one / lanes_sqrt(lanes_select(valid, square, one));
    return (lanes_quat){lanes_select(valid, q.x * inverse, zero) + zero,
        lanes_select(valid, q.y * inverse, zero) + zero,
        lanes_select(valid, q.z * inverse, zero) + zero,
        lanes_select(valid, q.w * inverse, one) + zero};
}
SPATIAL lanes3 quat_lanes_rotate(lanes_quat q, lanes3 v) {
    const lanes3 u = lanes3_of(q.x, q.y, q.z);
    const lanes3 t = lanes3_scale(lanes3_cross(u, v), lanes_all(2.0f));
    return lanes3_add(lanes3_add_scaled(v, t, q.w), lanes3_cross(u, t));
}
// The image of the x axis.
SPATIAL lanes3 quat_lanes_x_axis(lanes_quat q) {
    const lanes ty = lanes_all(2.0f) * q.z;
    const lanes tz = lanes_all(-2.0f) * q.y;
    return lanes3_of(
        lanes_all(1.0f) + (q.y * tz - q.z * ty), ty * q.w - q.x * tz, tz * q.w + q.x * ty);
}
SPATIAL lanes3 quat_lanes_rotate_inverse(lanes_quat q, lanes3 v) {
    return quat_lanes_rotate(quat_lanes_conjugate(q), v);
}
// quat_integrate of sim/math/rotation.h.
SPATIAL lanes_quat quat_lanes_integrate(lanes_quat q, lanes3 angular_velocity, lanes time) {
    return quat_lanes_normalize(
        quat_lanes_multiply(lanes_quat_of_vector(lanes3_scale(angular_velocity, time)), q));
}
// vector_of_quat of the same.
SPATIAL lanes3 vector_of_quat_lanes(lanes_quat q) {
    const lanes zero = lanes_all(0.0f);
    const lanes one = lanes_all(1.0f);
    const lanes3 axis = lanes3_scale(
        lanes3_of(q.x, q.y, q.z), lanes_select(lanes_less(q.w, zero), lanes_all(-1.0f), one));
    const lanes sine = lanes_sqrt(lanes3_dot(axis, axis));
    const lanes angle = lanes_all(2.0f) * lanes_atan2(sine, lanes_max(q.w, zero - q.w));
    const lanes_mask turns = lanes_less(lanes_all(1e-15f), sine);
    return lanes3_scale(
        axis, lanes_select(turns, angle / lanes_select(turns, sine, one), lanes_all(2.0f)));
}
// An angle within a turn of [-pi, pi], in it.
SPATIAL lanes lanes_wrapped(lanes angle) {
    const lanes pi = lanes_all(CAIRN_PI);
    const lanes turn = lanes_all(2.0f * CAIRN_PI);
    return lanes_select(lanes_less(pi, angle), angle - turn,
        lanes_select(lanes_less(angle, lanes_all(-CAIRN_PI)), angle + turn, angle));
}
