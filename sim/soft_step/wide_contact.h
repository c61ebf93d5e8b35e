// SPDX-License-Identifier: MIT
#pragma once

// A contact constraint of each lane, as sim/soft_step/contact_solver.c describes it.

#include "sim/soft_step/body_gather.h"

typedef struct wide_point {
    lanes x, y;       // it lies at c + x t1 + y t2
    lanes separation; // m, at the start of the step
    lanes mass;       // effective mass of its normal row alone
    lanes impulse;    // N s, accumulated in one substep
} wide_point;

typedef struct wide_contact {
    pair_lanes pair;
    uint32_t point_count;     // the maximum over the lanes
    uint32_t has_turntable;   // 0 or 1: in some lane a body turns that impulses do not move
    uint32_t has_restitution; // 0 or 1: in some lane
    uint32_t has_material;    // 0 or 1: in some lane, more than friction and restitution
    lanes3 normal;            // from a to b
    lanes3 tangent;           // t1; t2 is normal x t1
    lanes3 arm_a;             // from the centres of mass to c
    lanes3 arm_b;
    lanes k_nn, k_n1, k_n2, k_11, k_12, k_22;                // K of (u.n, w.t1, w.t2)
    lanes tangent_mass_11, tangent_mass_12, tangent_mass_22; // inverse response of (u.t1, u.t2)
    lanes twist_mass;
    lanes friction;
    lanes radius; // m, lever arm of friction against twist
    lanes friction_impulse[2];
    lanes twist_impulse;
    lanes rate, mass_scale, impulse_scale; // softness
    wide_point points[CAIRN_MANIFOLD_POINTS_MAX];
    lanes summed_impulse; // N s, normal, of the substeps and impacts so far; for hit events
    lanes restitution;
    // Read and written only with has_material.
    lanes rolling_resistance;
    lanes spin_resistance;
    lanes surface_velocity[2]; // along t1 and t2, of b's surface relative to a's
    lanes rolling_mass_11, rolling_mass_12, rolling_mass_22;
    lanes rolling_impulse[2]; // N m s, about t1 and t2
} wide_contact;

// An impact of the bodies of a wide contact in one round; see CAIRN_CONSTRAINT_FIND_IMPACTS.
typedef struct wide_impact {
    lanes target[CAIRN_MANIFOLD_POINTS_MAX];  // m/s, normal velocity after the impact
    lanes mass[CAIRN_MANIFOLD_POINTS_MAX];    // effective; 0: the point takes no part
    lanes impulse[CAIRN_MANIFOLD_POINTS_MAX]; // N s, accumulated in the round, like the following
    lanes friction_impulse[2];
    lanes twist_impulse;
    lanes rolling_impulse[2];
} wide_impact;

static inline lanes3 tangent2_of(const wide_contact *wide) {
    return lanes3_cross(wide->normal, wide->tangent);
}

static inline void apply_at_centre(
    const wide_contact *wide, body_lanes *a, body_lanes *b, lanes3 impulse, lanes3 torque) {
    apply_impulse(a, wide->arm_a, b, wide->arm_b, impulse, torque);
}

static inline lanes3 relative_velocity(
    const wide_contact *wide, const body_lanes *a, const body_lanes *b) {
    return velocity_between(a, wide->arm_a, b, wide->arm_b);
}

static inline lanes normal_impulse_sum(const wide_contact *wide) {
    lanes sum = wide->points[0].impulse;
    for (uint32_t i = 1; i < wide->point_count; ++i) {
        sum = sum + wide->points[i].impulse;
    }
    return sum;
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
    lanes static_friction;
    lanes rolling_resistance;
    lanes spin_resistance;
    lanes3 surface_velocity;
    lanes_quat rotation_a;
    lanes_quat rotation_b;
} manifold_lanes;
