// SPDX-License-Identifier: MIT
#pragma once

// Which boxes overlap. Scratch: rebuilt from the boxes each step; the result depends on them
// alone. Pairs come out in total order (lower index, higher index).

#include <stddef.h>
#include <stdint.h>

#include "sim/geometry.h"

typedef struct cairn_broad_box {
    cairn_aabb box; // finite, lower <= upper; half-spaces give very large boxes
    uint32_t shape; // index; unique, the array comes in increasing order of it
    uint32_t category;
    uint32_t mask;
    uint32_t body;   // index; shapes of one body never pair
    uint32_t active; // 0: pairs of two inactive boxes (static or asleep) are left out
} cairn_broad_box;

typedef struct cairn_pair {
    uint32_t shape_a; // < shape_b
    uint32_t shape_b;
} cairn_pair;

// Bytes of scratch that `box_count` boxes need; aligned for uint32_t, its content does not matter.
size_t cairn_broad_phase_scratch_size(uint32_t box_count);
// Returns how many pairs there are; writes the first `capacity` of the sorted list. Boxes that
// share no more than a boundary overlap. Sort and sweep (Baraff 1992, section 7.2.1).
uint32_t cairn_broad_phase_pairs(const cairn_broad_box *boxes, uint32_t box_count, void *scratch,
    cairn_pair *pairs, uint32_t capacity);
