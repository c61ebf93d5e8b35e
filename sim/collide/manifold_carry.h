// SPDX-License-Identifier: MIT
#pragma once

// Contacts that are written over, between two steps, by those of a past state. A manifold is a
// function of what its contact stores and of the shapes, so it is carried over to the contact of
// the same shapes if both store the same; impulses do not matter.

#include "sim/collide/manifold_pool.h"

// Before contacts are written over: of `before` contacts by `after`.
void cairn_manifold_carry_begin(cairn_world *world);
// The contacts of a block of the hash cache are about to be written over. The first call for a
// block keeps them in the spare state.
void cairn_manifold_carry_keep(cairn_world *world, uint32_t block);
// The list, which had `before` contacts, is complete. The shapes are as they were. Manifolds that
// are missing now are computed when they are needed. Returns whether other contacts than those
// before are in the list, or in other places.
bool cairn_manifold_carry_finish(cairn_world *world, uint32_t before);
