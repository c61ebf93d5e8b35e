// SPDX-License-Identifier: MIT
#pragma once

// Writes another state of the world over the present one, block by block of the hash cache. What
// follows from the state and is expensive is kept where it follows from words that are the same:
// the pair cache and the manifolds, as long as shapes, joints, kinds of bodies and centres of mass
// are.

#include "sim/state/world.h"

typedef struct cairn_rewrite {
    cairn_world *world;
    cairn_settings before;
    bool keeps; // pairs and manifolds
    bool differed[CAIRN_ARRAY_COUNT];
} cairn_rewrite;

// Writes the settings, which hold the counts of all arrays. `keep`: the other state does not lie in
// the world's spare block.
cairn_rewrite cairn_rewrite_begin(cairn_world *world, const cairn_settings *settings, bool keep);
// The words of this block will differ, or may; and they were written. The caller marks the hash
// cache and bodies that may be awake now.
void cairn_rewrite_before(cairn_rewrite *rewrite, cairn_array array, uint32_t block);
void cairn_rewrite_after(cairn_rewrite *rewrite, cairn_array array, uint32_t block);
void cairn_rewrite_end(cairn_rewrite *rewrite);
