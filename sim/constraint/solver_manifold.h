// SPDX-License-Identifier: MIT
#pragma once

// A contact manifold as the soft-step solver reads it: normal and arms in world axes at the poses
// for which it was computed, and the rotations of both bodies at that time. While it is recycled,
// its geometry stays frozen and only the separations follow the bodies
// (sim/soft_step/contact_solver.c). All floats, in rows of eight, because the solver reads several
// manifolds at once (sim/math/lanes.h).

#include <stddef.h>

#include "sim/math/limits.h"
#include <cairn/types.h>

typedef struct cairn_solver_manifold_point {
    cairn_vec3 arm_a; // from a's centre of mass; both arms ended in one point when computed
    cairn_vec3 arm_b;
    float separation; // m, negative inside
} cairn_solver_manifold_point;

// The kind of a contact as an edge of the constraint graph: a sum of these.
#define CAIRN_CONTACT_OF_POINTS 1u // it has more than one point
#define CAIRN_CONTACT_ON_STILL 2u  // body a neither moves nor takes impulses

typedef struct cairn_solver_manifold {
    cairn_vec3 normal; // unit, from a to b
    float point_count; // a float like the rest of its row
    cairn_solver_manifold_point points[CAIRN_MANIFOLD_POINTS_MAX];
    float friction;
    float restitution;
    // 0: the contact has friction and restitution alone, and what follows is 0.
    float static_friction;       // while sticking, at least `friction`
    float rolling_resistance;    // m
    float spin_resistance;       // m
    cairn_vec3 surface_velocity; // m/s, world, of b's surface less that of a's: beyond the bodies'
    cairn_quat rotation_a;       // of the bodies when the manifold was computed
    cairn_quat rotation_b;
} cairn_solver_manifold;

#define CAIRN_SOLVER_MANIFOLD_ROWS 6
_Static_assert(sizeof(cairn_solver_manifold) == CAIRN_SOLVER_MANIFOLD_ROWS * 8 * sizeof(float),
    "whole rows, no padding");
