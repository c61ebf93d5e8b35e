// SPDX-License-Identifier: MIT
#pragma once

// A contact constraint of each lane, as sim/soft_step/contact_solver.c describes it.

#include "sim/soft_step/body_gather.h"

// A velocity, displacement or impulse in manifold space: along n at c, and about t1 and t2.
typedef struct normal_space {
    lanes linear, angular_1, angular_2;
} normal_space;

typedef struct wide_point {
    lanes x, y;            // it lies at c + x t1 + y t2
    lanes start;           // m, separation at the start of the step
    lanes separation;      // m, now: bodies move between a biased pass and the relax pass after it
    lanes mass;            // effective mass of its normal row alone
    lanes impulse;         // N s, accumulated in one substep
    normal_space response; // K (1, y, -x): what a unit normal impulse at the point changes
} wide_point;

typedef struct wide_contact {
    pair_lanes pair;
    uint32_t point_count;     // the maximum over the lanes
    uint32_t has_turntable;   // 0 or 1: in some lane a body turns that impulses do not move
    uint32_t has_restitution; // 0 or 1: in some lane
    uint32_t has_material;    // 0 or 1: in some lane, more than friction and restitution
    uint32_t kind;            // as of its edges: a sum of CAIRN_CONTACT_ON_STILL and so on
    lanes3 normal;            // from a to b
    lanes3 tangent;           // t1; t2 is normal x t1
    lanes3 arm_a;             // from the centres of mass to c
    lanes3 arm_b;
    lanes_sym3 inverse_inertia_a;
    lanes_sym3 inverse_inertia_b;
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

// N s and N m s, of one round of impacts.
typedef struct impact_impulses {
    lanes points[CAIRN_MANIFOLD_POINTS_MAX];
    lanes friction[2];
    lanes twist;
    lanes rolling[2];
} impact_impulses;

// An impact of the bodies of a wide contact in one round; see CAIRN_CONSTRAINT_FIND_IMPACTS.
typedef struct wide_impact {
    lanes target[CAIRN_MANIFOLD_POINTS_MAX];     // m/s, normal velocity after the impact
    lanes takes_part[CAIRN_MANIFOLD_POINTS_MAX]; // 0 or 1
    impact_impulses newton;                      // as the targets and friction demand
    impact_impulses stopping;                    // without a bounce; only of limited impacts
} wide_impact;

static inline lanes3 tangent2_of(const wide_contact *wide) {
    return lanes3_cross(wide->normal, wide->tangent);
}

// In the following, body a is NULL if the kind of the contact says that it stands still. Where that
// is a constant, half of the work is left.

// Applies an impulse at c and a torque to b, and the opposite to a.
INLINE void apply_at_centre(
    const wide_contact *wide, body_lanes *a, body_lanes *b, lanes3 impulse, lanes3 torque) {
    if (a != NULL) {
        subtract_impulse(a, impulse, lanes3_add(lanes3_cross(wide->arm_a, impulse), torque));
    }
    add_impulse(b, impulse, lanes3_add(lanes3_cross(wide->arm_b, impulse), torque));
}

// The same without a torque.
INLINE void push_at_centre(const wide_contact *wide, body_lanes *a, body_lanes *b, lanes3 impulse) {
    if (a != NULL) {
        subtract_impulse(a, impulse, lanes3_cross(wide->arm_a, impulse));
    }
    add_impulse(b, impulse, lanes3_cross(wide->arm_b, impulse));
}

// At c.
INLINE lanes3 relative_velocity(
    const wide_contact *wide, const body_lanes *a, const body_lanes *b) {
    return a != NULL ? velocity_between(a, wide->arm_a, b, wide->arm_b)
                     : velocity_at(b, wide->arm_b);
}

INLINE lanes3 relative_spin(const body_lanes *a, const body_lanes *b) {
    return a != NULL ? lanes3_sub(b->angular_velocity, a->angular_velocity) : b->angular_velocity;
}

// K of (u.n, w.t1, w.t2).
typedef struct normal_response {
    lanes nn, n1, n2, t11, t12, t22;
} normal_response;

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
