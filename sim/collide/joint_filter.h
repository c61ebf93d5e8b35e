// SPDX-License-Identifier: MIT
#pragma once

// The joints of a world as pairs of bodies, and which of these pairs a joint keeps from colliding.
// Part of the pair cache, built again when joints change.

#include "sim/state/state.h"

// A joint and its bodies, as slots.
typedef struct cairn_joint_bodies {
    uint32_t joint;
    uint32_t body_a;
    uint32_t body_b;
    uint32_t kind;
} cairn_joint_bodies;

typedef struct cairn_joint_filter {
    cairn_joint_bodies *joints; // joints of enabled bodies, by slot; room for the joint capacity
    uint32_t joint_count;
    uint64_t *pairs; // sorted keys of the pairs that may not collide, in the same memory
    uint32_t pair_count;
    unsigned char *jointed; // by body slot: 1 if a joint holds the body
} cairn_joint_filter;

void cairn_joint_filter_build(cairn_joint_filter *filter, const cairn_state *state);
// Whether a joint keeps the two bodies, given as slots, from colliding.
bool cairn_joint_filter_rejects(const cairn_joint_filter *filter, uint32_t body_a, uint32_t body_b);
