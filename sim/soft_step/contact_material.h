// SPDX-License-Identifier: MIT
#pragma once

// The part of a contact's friction that most contacts do without (has_material): static friction,
// surfaces that move, resistance to rolling.

#include "base/assert.h"
#include "sim/math/limits.h"
#include "sim/soft_step/wide_contact.h"

// Resists rolling: a torque across the normal of at most the normal impulse times a length.
static inline void solve_rolling(
    wide_contact *wide, lanes3 t2, lanes normal, body_lanes *a, body_lanes *b) {
    const lanes3 w = relative_spin(a, b);
    const lanes w1 = lanes3_dot(w, wide->tangent);
    const lanes w2 = lanes3_dot(w, t2);
    const lanes bound = wide->rolling_resistance * normal;
    lanes sum1 =
        wide->rolling_impulse[0] - (wide->rolling_mass_11 * w1 + wide->rolling_mass_12 * w2);
    lanes sum2 =
        wide->rolling_impulse[1] - (wide->rolling_mass_12 * w1 + wide->rolling_mass_22 * w2);
    const lanes square = sum1 * sum1 + sum2 * sum2;
    const lanes_mask rolls = lanes_less(bound * bound, square);
    const lanes one = lanes_all(1.0f);
    const lanes scale =
        lanes_select(rolls, bound / lanes_sqrt(lanes_select(rolls, square, one)), one);
    sum1 = sum1 * scale;
    sum2 = sum2 * scale;
    const lanes3 torque =
        lanes3_add_scaled(lanes3_scale(wide->tangent, sum1 - wide->rolling_impulse[0]), t2,
            sum2 - wide->rolling_impulse[1]);
    wide->rolling_impulse[0] = sum1;
    wide->rolling_impulse[1] = sum2;
    if (a != NULL) {
        a->angular_velocity =
            lanes3_sub(a->angular_velocity, lanes_sym3_apply(*a->inverse_inertia, torque));
    }
    b->angular_velocity =
        lanes3_add(b->angular_velocity, lanes_sym3_apply(*b->inverse_inertia, torque));
}

static inline void set_rolling_masses(wide_contact *wide, const normal_response *response) {
    const lanes inverse =
        inverse_or_zero(response->t11 * response->t22 - response->t12 * response->t12);
    wide->rolling_mass_11 = response->t22 * inverse;
    wide->rolling_mass_12 = lanes_all(0.0f) - response->t12 * inverse;
    wide->rolling_mass_22 = response->t11 * inverse;
}

// The part of a contact that most do without. The stored impulse of a lane without resistance to
// rolling is left alone, so that no result depends on what lies beside it in a vector.
static void prepare_material(const cairn_solver_context *context, wide_contact *wide,
    const manifold_lanes *manifold, const normal_response *response, const body_lanes *a,
    const body_lanes *b) {
    const lanes zero = lanes_all(0.0f);
    const lanes3 t2 = tangent2_of(wide);
    const lanes warm = lanes_all(context->warm_start != 0 ? 1.0f : 0.0f);
    float stored[3][CAIRN_LANES];
    lanes rolling[3];
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        const cairn_contact *contact =
            &context->contacts[context->contact_edges[wide->pair.edge[i]].element];
        for (uint32_t k = 0; k < 3; ++k) {
            stored[k][i] = contact->tangent_impulse[4 + k];
        }
    }
    memcpy(rolling, stored, sizeof rolling);
    const lanes3 impulse = lanes3_select(lanes_less(zero, manifold->rolling_resistance),
        lanes3_of(rolling[0] * warm, rolling[1] * warm, rolling[2] * warm),
        lanes3_of(zero, zero, zero));
    wide->rolling_resistance = manifold->rolling_resistance;
    wide->spin_resistance = manifold->spin_resistance;
    wide->surface_velocity[0] = lanes3_dot(manifold->surface_velocity, wide->tangent);
    wide->surface_velocity[1] = lanes3_dot(manifold->surface_velocity, t2);
    wide->rolling_impulse[0] = lanes3_dot(impulse, wide->tangent);
    wide->rolling_impulse[1] = lanes3_dot(impulse, t2);
    const lanes3 u = relative_velocity(wide, a, b);
    const lanes slip_1 = lanes3_dot(u, wide->tangent) + wide->surface_velocity[0];
    const lanes slip_2 = lanes3_dot(u, t2) + wide->surface_velocity[1];
    const lanes_mask sticks = lanes_less(
        slip_1 * slip_1 + slip_2 * slip_2, lanes_all(CAIRN_STICKING_SPEED * CAIRN_STICKING_SPEED));
    wide->friction = lanes_select(
        sticks, lanes_max(manifold->static_friction, manifold->friction), manifold->friction);
    set_rolling_masses(wide, response);
}

static void store_rolling(const cairn_solver_context *context, const wide_contact *wide) {
    const lanes3 t2 = tangent2_of(wide);
    const lanes3 rolling = lanes3_add_scaled(
        lanes3_scale(wide->tangent, wide->rolling_impulse[0]), t2, wide->rolling_impulse[1]);
    const lanes values[4] = {stored_impulse(rolling.x), stored_impulse(rolling.y),
        stored_impulse(rolling.z), wide->rolling_resistance};
    float stored[4][CAIRN_LANES];
    memcpy(stored, values, sizeof stored);
    for (uint32_t i = 0; i < CAIRN_LANES; ++i) {
        cairn_contact *contact =
            &context->contacts[context->contact_edges[wide->pair.edge[i]].element];
        for (uint32_t k = 0; k < 3 && (wide->pair.live >> i & 1u) != 0 && stored[3][i] > 0.0f;
             ++k) {
            contact->tangent_impulse[4 + k] = stored[k][i];
        }
    }
}
