// SPDX-License-Identifier: MIT
#pragma once

#include "sim/state/world.h"

// Kinetic energy of all bodies, J.
static inline double kinetic_energy(const cairn_world *world) {
    double sum = 0.0;
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        const cairn_body *body = &world->state.bodies[i];
        const cairn_motion *motion = &world->state.motions[i];
        const cairn_sym3 inertia = sym3_inverse_scaled(body->inverse_inertia);
        const cairn_vec3 w = quat_rotate_inverse(motion->rotation, motion->angular_velocity);
        sum += 0.5 * (double)(body->mass * vec3_length_squared(motion->linear_velocity));
        sum += 0.5 * (double)vec3_dot(w, sym3_apply(inertia, w));
    }
    return sum;
}

// Kinetic and potential energy of all bodies, J, for gravity of 9.81 m/s^2 along -y.
static inline double energy(const cairn_world *world) {
    double sum = kinetic_energy(world);
    for (uint32_t i = 0; i < world->state.settings->body_slots; ++i) {
        const float weight = world->state.bodies[i].mass * 9.81f;
        sum += (double)(weight * world->state.motions[i].position.y);
    }
    return sum;
}
