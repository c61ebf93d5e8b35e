// SPDX-License-Identifier: MIT
#pragma once

// The points of a contact as the state holds them: features and impulses.

#include "sim/collide/manifold_pool.h"

// Sets the points of a contact, without impulses.
void cairn_contact_set_points(const cairn_manifold *manifold, cairn_contact *contact);
// Copies impulses of old points by feature. With `before`, the old solver manifold, the impulse of
// an old point that is gone passes to the nearest new one of `now`.
void cairn_contact_take_impulses(const cairn_world *world, const cairn_contact *old,
    const cairn_solver_manifold *before, cairn_contact *contact, const cairn_solver_manifold *now);
