// SPDX-License-Identifier: MIT
#pragma once

// Contacts of a shape with a mesh or height field: one for each direction in which they touch. They
// follow one another in the contact list, and their pair in the pair cache counts them. The first
// one, part 0, stands for the pair: it exists while they touch, so it alone makes begin and end
// events.

#include "sim/body/shape.h"
#include "sim/collide/contact_list.h"
#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"

// Brings the contacts of the pair up to date, after the reference pose of a body has changed.
void cairn_mesh_contact_update(cairn_world *world, cairn_contact_edit *edit,
    cairn_cached_pair *entry, uint32_t reference_change);
