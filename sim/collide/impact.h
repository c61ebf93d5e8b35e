// SPDX-License-Identifier: MIT
#pragma once

// When two moving shapes meet (continuous collision).
//
// Before a tick, the pairs of fast bodies are swept along the motion that their velocities predict.
// If a pair will meet within the tick, its contact begins at once, with the manifold of the impact:
// computed at the poses in which the shapes will touch. Its separation follows the bodies, so the
// solver lets the gap close and no more. A pair that passes by gets no contact: nothing is pushed
// by the plane of a contact that it never reaches.
//
// After a tick, a body that moved in another way than predicted, because something pushed it, is
// swept along the way that it took, and stopped where it would have passed through.

#include "sim/collide/manifold_pool.h"
#include "sim/state/world.h"

// How the bodies of a pair move during a tick.
typedef struct cairn_pair_motion {
    cairn_vec3 displacement; // of b's centre of mass relative to that of a, m
    cairn_vec3 rotation_a;   // rotation vectors, rad, at most CAIRN_SWEEP_ROTATION_MAX long
    cairn_vec3 rotation_b;
} cairn_pair_motion;

// How the centre of mass of one body of the pair moves as seen from the other one, the obstacle:
// b's relative to a, m, in world axes as the obstacle is turned when the motion starts. A plate
// that turns comes closer although its centre stays.
cairn_vec3 cairn_pair_motion_beside(
    const cairn_pair_pose *start, const cairn_pair_motion *motion, bool obstacle_is_a);

typedef struct cairn_impact {
    float fraction;  // of the motion, [0, 1]
    cairn_vec3 axis; // unit, from a to b in world axes; zero if the shapes overlapped deeply
} cairn_impact;

// Finds when two shapes that start at this pose overlap by `depth` (m, > 0; at most
// CAIRN_IMPACT_DEPTH_FRACTION of half the least width of either). False if they do not.
// Conservative advancement (Mirtich 1996): the time advances by the distance of the shapes over a
// bound of the speed at which it can shrink, so no impact is missed, until the advances become too
// small.
bool cairn_impact_find(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, float depth, cairn_impact *out);

// By how much the gap along the axis of an impact shrinks from then to the end of the motion, m, if
// the axis turns with the shape that is the obstacle, as the normal of its surface does: so far the
// other shape sinks into it. *axis: the axis at the end; zero if it is not known.
float cairn_impact_sinks(const cairn_shape_view *a, const cairn_shape_view *b,
    const cairn_pair_pose *start, const cairn_pair_motion *motion, const cairn_impact *impact,
    bool obstacle_is_a, cairn_vec3 *axis);

// The rotation by a vector of at most CAIRN_SWEEP_ROTATION_MAX, and the vector of a rotation.
cairn_quat cairn_rotation_of_vector(cairn_vec3 vector);
cairn_vec3 cairn_vector_of_rotation(cairn_quat rotation);
