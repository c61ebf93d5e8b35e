// SPDX-License-Identifier: MIT
#pragma once

// The material of a contact, from those of its two shapes. Every rule gives the same bits with the
// shapes exchanged.

#include "sim/state/state.h"

// What a contact has beyond sliding friction and restitution.
typedef struct cairn_contact_material {
    float friction;        // while the surfaces slide
    float static_friction; // while they stick, at least that
    float restitution;
    float rolling_resistance; // m: the torque across the normal is at most this times the force
    float spin_resistance;    // m: about the normal, beyond that of friction
} cairn_contact_material;

static inline float combine_by(uint32_t mode, float p, float q) {
    switch (mode) {
    case CAIRN_COMBINE_AVERAGE:
        return 0.5f * (p + q);
    case CAIRN_COMBINE_MINIMUM:
        return float_min(p, q);
    case CAIRN_COMBINE_MULTIPLY:
        return p * q;
    default:
        return float_max(p, q);
    }
}

// The stronger mode of the two shapes holds; they are in order of strength.
static inline uint32_t combine_mode(uint32_t p, uint32_t q) {
    return p > q ? p : q;
}

static inline float combine_friction(uint32_t mode, float p, float q) {
    return mode == CAIRN_COMBINE_USUAL ? float_sqrt(p * q) : combine_by(mode, p, q);
}

// Whether a shape has friction and restitution alone, combined as usual.
static inline bool material_is_plain(const cairn_shape *p) {
    return (p->friction_combine | p->restitution_combine) == 0 && p->static_friction == 0.0f &&
           p->rolling_resistance == 0.0f && p->spin_resistance == 0.0f &&
           vec3_is_zero(p->surface_velocity);
}

static inline cairn_contact_material cairn_contact_material_of(
    const cairn_shape *p, const cairn_shape *q) {
    const uint32_t of_friction = combine_mode(p->friction_combine, q->friction_combine);
    const uint32_t of_restitution = combine_mode(p->restitution_combine, q->restitution_combine);
    const float friction = combine_friction(of_friction, p->friction, q->friction);
    const float sticking = combine_friction(of_friction, float_max(p->static_friction, p->friction),
        float_max(q->static_friction, q->friction));
    return (cairn_contact_material){.friction = friction,
        .static_friction = float_max(sticking, friction),
        .restitution = combine_by(of_restitution, p->restitution, q->restitution),
        .rolling_resistance = float_max(p->rolling_resistance, q->rolling_resistance),
        .spin_resistance = float_max(p->spin_resistance, q->spin_resistance)};
}
