// SPDX-License-Identifier: MIT
#pragma once

// Which boxes overlap. A pure function of the boxes: pairs come out in total order (lower index,
// higher index), independent of the contents of the scratch.

#include <stddef.h>
#include <stdint.h>

#include "sim/shape/geometry.h"
#include "sim/task/task_scheduler.h"

// What else decides whether two boxes pair.
typedef struct cairn_broad_phase_filter {
    uint32_t category;
    uint32_t mask;
    uint32_t body;   // shapes of one body never pair
    uint32_t active; // 0: pairs of two inactive boxes are left out
} cairn_broad_phase_filter;

// AABBs by index of shape, component by component. Bounds are finite. An index without a shape has
// an empty AABB: lower > upper.
typedef struct cairn_aabb_array {
    float *lower[3];
    float *upper[3]; // half-spaces give very large boxes
    cairn_broad_phase_filter *filters;
    uint32_t count;
} cairn_aabb_array;

typedef struct cairn_pair {
    uint32_t shape_a; // < shape_b
    uint32_t shape_b;
} cairn_pair;

// Floats that each component of `count` boxes needs: a few more than there are boxes, which are
// read but have no effect.
size_t cairn_broad_phase_stride(uint32_t count);
void cairn_aabb_array_set(const cairn_aabb_array *boxes, uint32_t index, cairn_aabb box);
void cairn_aabb_array_clear(const cairn_aabb_array *boxes, uint32_t index);

// Bytes of scratch for that many boxes and pairs; the scratch must be aligned for uint32_t.
size_t cairn_broad_phase_scratch_size(uint32_t box_count, uint32_t pair_capacity);
// Returns how many pairs there are; writes the first `capacity` of the sorted list. Boxes that
// share only a boundary overlap. Sort and sweep (Baraff 1992, section 7.2.1).
uint32_t cairn_broad_phase_find_pairs(cairn_task_scheduler *scheduler,
    const cairn_aabb_array *boxes, void *scratch, cairn_pair *pairs, uint32_t capacity);
// Finds the boxes from `first` on that pair with box `index`, in order, by testing each of them:
// for updates of a few boxes among many. Writes at most `capacity` indices, returns how many.
uint32_t cairn_broad_phase_query(const cairn_aabb_array *boxes, uint32_t index, uint32_t first,
    uint32_t *others, uint32_t capacity);
// Sorts `count` pairs of these boxes; the scratch must be large enough for that many.
void cairn_broad_phase_sort_pairs(
    const cairn_aabb_array *boxes, void *scratch, cairn_pair *pairs, uint32_t count);
