// SPDX-License-Identifier: MIT
#pragma once

// The list of cached pairs in its order: made from the pairs that the broad phase has found and
// from the contacts, which are pairs as long as they last.

#include "sim/collide/cached_pairs.h"

// Makes the list of the found pairs and those in contact.
void cairn_pair_list_fill(cairn_world *world, uint32_t found_count);
// Removes the pairs of enlarged AABBs and of removed shapes that are not in contact, and merges
// those that were found.
void cairn_pair_list_merge(cairn_world *world, uint32_t found_count);
// The contacts are others than those from which the list was made, because a past state was
// restored: counts them again, and adds the pairs that it lacks. False: it has no room for them,
// and has not changed.
bool cairn_pair_list_tally(cairn_world *world);
// Whether filters and joints let the two shapes collide.
bool cairn_pair_may_collide(const cairn_world *world, cairn_pair pair);
