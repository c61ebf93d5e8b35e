// SPDX-License-Identifier: MIT
#pragma once

// Whether two shapes are in contact: close to each other at their reference poses, or about to meet
// within the tick.

#include "sim/collide/manifold_pool.h"
#include "sim/collide/pair_cache.h"

// A contact that was found, and what the state must hold to compute its manifold again.
typedef struct cairn_found_contact {
    cairn_pair_pose pose;             // in: the reference pose; out: that of the manifold
    bool predicted;                   // the pose is not the reference pose
    cairn_packed_rotation rotation_a; // if so, its rotations
    cairn_packed_rotation rotation_b;
    float margin;
    uint32_t axis_hint; // in: that of the last contact, or 0
    cairn_manifold manifold;
} cairn_found_contact;

// Whether the motion of a pair counts in this step; `change`: the CAIRN_REFERENCE flags of both
// shapes. Two bodies that impulses move are swept only if one asks for it.
static inline bool cairn_pair_is_swept(
    const cairn_pair_cache *cache, cairn_pair pair, uint32_t change) {
    return (change & CAIRN_REFERENCE_SWEPT) != 0 ||
           ((change & CAIRN_REFERENCE_FAST) != 0 &&
               (cache->minimum_extents[pair.shape_a] > CAIRN_STATIC_EXTENT ||
                   cache->minimum_extents[pair.shape_b] > CAIRN_STATIC_EXTENT));
}

// Whether a pair that is swept may meet in this step; a bound.
bool cairn_pair_may_meet(const cairn_world *world, cairn_pair pair);
// Fill *out; the caller sets its pose and hint. False: no contact. At the reference poses alone,
// and for a pair that is swept.
bool cairn_pair_collide_at_rest(
    const cairn_world *world, cairn_pair pair, cairn_found_contact *out);
bool cairn_pair_collide_swept(
    const cairn_world *world, cairn_pair pair, bool in_contact, cairn_found_contact *out);
// For a pair that was in contact in the last step, or whose AABBs overlap, or that may meet.
// `change`: the CAIRN_REFERENCE flags of both shapes.
static inline bool cairn_pair_contact_find(const cairn_world *world, cairn_pair pair,
    uint32_t change, bool in_contact, cairn_found_contact *out) {
    return cairn_pair_is_swept(world->pair_cache, pair, change)
               ? cairn_pair_collide_swept(world, pair, in_contact, out)
               : cairn_pair_collide_at_rest(world, pair, out);
}
