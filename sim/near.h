// SPDX-License-Identifier: MIT
#pragma once

// Pairs of shapes that are near enough to meet soon. Each shape has a box with room to move in
// (after Verlet 1967, section II, whose list of near particles outlives many steps); as long as it
// stays inside, its pairs stay as they are. Derived data: it outlives the step, but what is told
// depends on the shapes' boxes of the moment alone, and it may be dropped at any tick.

#include <stdbool.h>
#include <stddef.h>

#include "sim/broad_phase.h"
#include "sim/sim.h"

// The box of a shape as it is, grown by half the margin of contact; 32 bytes, to be loaded fast.
typedef struct cairn_tight_box {
    cairn_aabb box;
    uint32_t padding[2];
} cairn_tight_box;

typedef struct cairn_near {
    void *memory; // the allocation that the rest lies in
    size_t size;
    bool valid;              // the roomy boxes and the list hold for what is not moved
    cairn_broad_boxes roomy; // by shape slot
    cairn_tight_box *tight;  // likewise; of shapes whose body does not stir, as it last was
    cairn_pose *poses;       // likewise, in the world
    unsigned char *stirs;    // likewise, 0 or 1
    unsigned char *moved;    // likewise: it has left its roomy box
    uint32_t *bodies;        // that stir, in order
    uint32_t body_count;
    uint32_t *moved_slots;
    uint32_t moved_count;
    cairn_pair *pairs; // in order; everything that may pair, also what sleeps
    cairn_pair *spare;
    uint32_t pair_count;
    uint32_t pair_capacity;
    uint32_t *others; // what one shape meets
    void *broad_phase;
} cairn_near;

// Zero-filled memory for a world of this def.
bool cairn_near_create(cairn_near *near, const cairn_world_def *def);
void cairn_near_destroy(cairn_near *near);
// Overwrites all of it; for tests.
void cairn_near_poison(cairn_near *near, unsigned char byte);

// Poses and boxes of what stirs, and the list brought up to date. Returns how many pairs of which
// at least one stirs overlap, and writes the first `capacity` in order.
uint32_t cairn_near_find(cairn_world *world, cairn_pair *pairs, uint32_t capacity);
