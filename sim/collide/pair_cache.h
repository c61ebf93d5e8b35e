// SPDX-License-Identifier: MIT
#pragma once

// Pairs of shapes that are near enough to meet soon. Each shape has a box with room to move in
// (after Verlet 1967, section II, whose list of near particles outlives many steps); as long as it
// stays inside, its pairs stay as they are. All of it is about bodies where they are anchored
// (cairn_reference_pose), and is derived data: it outlives the step, but which pairs are looked at
// depends on the state alone, and it may be dropped at any tick.

#include <stdbool.h>
#include <stddef.h>

#include "sim/collide/broad_phase.h"
#include "sim/state/world.h"

// What a pair of the list is besides near.
#define CAIRN_NEAR_TOUCH 1u // the next contact of the state's list is its
#define CAIRN_NEAR_OVER 2u  // that contact's shapes are gone or may no longer meet
#define CAIRN_NEAR_GONE 4u  // nor is there anything to look at once it has ended

#define CAIRN_NEAR_RENEWED 3u

typedef struct cairn_near_pair {
    cairn_pair pair;
    uint32_t flags;
} cairn_near_pair;

// Where a shape is, with its body at its anchor.
typedef struct cairn_place {
    cairn_quat rotation; // world
    cairn_vec3 offset;   // from the body's centre of mass, world axes
    uint32_t body;       // slot
    cairn_aabb box;      // world, grown by half the margin of contact
    uint32_t padding[2];
} cairn_place;

// A joint and its bodies, all of them slots.
typedef struct cairn_joined_bodies {
    uint32_t joint;
    uint32_t body_a;
    uint32_t body_b;
} cairn_joined_bodies;

struct cairn_near {
    void *memory; // the allocation that the rest lies in
    size_t size;
    bool valid;              // all that is said below holds for the state as it is
    cairn_broad_boxes roomy; // by shape slot
    cairn_place *places;     // likewise
    unsigned char *shifted; // likewise: anchored in this step, anew (1) or as if for the first time
                            // (CAIRN_NEAR_RENEWED): what was known of its pairs is void
    unsigned char *moved;   // likewise: it has left its roomy box
    uint32_t *shifted_slots;
    uint32_t shifted_count;
    uint32_t *moved_slots;
    uint32_t moved_count;
    cairn_quat *turns; // by body slot: the rotation of the anchor
    float *reaches;    // by body slot: m from the centre of mass to the farthest point
    float *thinness; // by shape slot: m, half the least width; of what no impulse moves, boundless
    cairn_near_pair *pairs; // in order
    uint32_t pair_count;
    uint32_t pair_capacity; // of those that are near; with the contacts there may be more
    cairn_pair *found;
    cairn_near_pair *spare;
    uint32_t *others; // what one shape meets
    uint64_t *joined; // sorted keys of the pairs of bodies that a joint keeps from colliding
    uint32_t joined_count;
    cairn_joined_bodies *joints; // of all joints
    uint32_t joint_count;
    void *broad_phase;
};

// Memory for a world of this def; *near must be zero.
bool cairn_near_create(cairn_near *near, const cairn_world_def *def, cairn_allocator *take);
void cairn_near_destroy(cairn_near *near);
// Overwrites all of it; for tests.
void cairn_near_poison(cairn_near *near, unsigned char byte);

// Anchors what has moved too far from where it was, and brings the list up to date: all pairs that
// are in touch, and all that may come in touch and overlap of which at least one was anchored anew.
// Returns how many of those there was no room for.
uint32_t cairn_near_update(cairn_world *world);
// The shape, with its body turned so.
cairn_quat cairn_near_shape_rotation(const cairn_world *world, uint32_t slot, cairn_quat turn);
cairn_vec3 cairn_near_shape_offset(const cairn_world *world, uint32_t slot, cairn_quat turn);
// Whether the boxes of both overlap.
bool cairn_near_overlap(const cairn_near *near, cairn_pair pair);
