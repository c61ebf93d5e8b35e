// SPDX-License-Identifier: MIT
#pragma once

// Rotations by angular velocities, exact at any speed. For files that are not compiled in widths.

#include "sim/math/trig.h"
#include "sim/math/vec.h"

#if CAIRN_LANES != 1
#error "kernels use lanes_quat_of_vector"
#endif

// The rotation by the angle |rotation| about its direction.
static inline cairn_quat quat_of_vector(cairn_vec3 rotation) {
    const lanes_quat q = lanes_quat_of_vector(lanes3_of(rotation.x, rotation.y, rotation.z));
    return (cairn_quat){.x = q.x, .y = q.y, .z = q.z, .w = q.w};
}

// The rotation vector of a unit quaternion, at most half a turn long.
static inline cairn_vec3 vector_of_quat(cairn_quat q) {
    const cairn_vec3 axis = vec3_scale(quat_vector(q), q.w < 0.0f ? -1.0f : 1.0f);
    const float sine = vec3_length(axis);
    const float angle = 2.0f * lanes_atan2(sine, float_abs(q.w));
    return vec3_scale(axis, sine > 1e-15f ? angle / sine : 2.0f);
}

// q after `time` seconds at this angular velocity (world, rad/s).
static inline cairn_quat quat_integrate(cairn_quat q, cairn_vec3 angular_velocity, float time) {
    return quat_normalize(quat_multiply(quat_of_vector(vec3_scale(angular_velocity, time)), q));
}

// The rotation that takes the x axis to `x` and the y axis to `y`: unit, and perpendicular.
static inline cairn_quat quat_of_axes(cairn_vec3 x, cairn_vec3 y) {
    const cairn_vec3 z = vec3_cross(x, y);
    const float trace = x.x + y.y + z.z;
    cairn_quat q;
    if (trace > 0.0f) {
        q = (cairn_quat){.x = y.z - z.y, .y = z.x - x.z, .z = x.y - y.x, .w = 1.0f + trace};
    } else if (x.x >= y.y && x.x >= z.z) {
        q = (cairn_quat){
            .x = 1.0f + x.x - y.y - z.z, .y = x.y + y.x, .z = z.x + x.z, .w = y.z - z.y};
    } else if (y.y >= z.z) {
        q = (cairn_quat){
            .x = x.y + y.x, .y = 1.0f - x.x + y.y - z.z, .z = y.z + z.y, .w = z.x - x.z};
    } else {
        q = (cairn_quat){
            .x = z.x + x.z, .y = y.z + z.y, .z = 1.0f - x.x - y.y + z.z, .w = x.y - y.x};
    }
    return quat_normalize(q);
}
