// SPDX-License-Identifier: MIT
#pragma once

// Sweeps after the tick (sim/collide/impact.h): stops bodies that would have passed through
// another.

#include "sim/state/world.h"

// For bodies that impulses moved, in order of slot; their new poses are in the state. A body that
// moved otherwise than predicted, by more than CAIRN_SWEEP_FRACTION of its least half width, is
// swept from its reference pose to its new one, against all that impulses do not move, and if it is
// a bullet against everything. So is any other body against meshes, with which impacts are not
// predicted, and against kinematic bodies that turn under it. Where it meets something it stops;
// its velocity stays, and the next tick finds the contact. `kinematic`: some body of the awake set
// may be.
void cairn_bodies_sweep(cairn_world *world, const uint32_t *slots, uint32_t count, bool kinematic);
// Whether other bodies than those that moved otherwise than predicted have to be swept.
bool cairn_sweep_is_of_all(const cairn_world *world);
