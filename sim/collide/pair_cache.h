// SPDX-License-Identifier: MIT
#pragma once

// The pairs of shapes that are close enough to touch soon. Each shape has a fat AABB with a margin
// to move in (after Verlet 1967, section II, whose list of near particles outlives many steps); the
// pairs of a shape stay as they are while its AABB stays inside. All AABBs are those of bodies at
// their reference poses (cairn_reference_pose). The cache is derived data that outlives the step
// and may be dropped at any tick: which pairs are collided depends on the state alone.

#include "sim/collide/cached_pairs.h"
#include "sim/math/limits.h"

// Allocates for a world of this def; *cache must be zero. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_pair_cache_create(
    cairn_pair_cache *cache, const cairn_world_def *def, cairn_allocator *take);
void cairn_pair_cache_destroy(cairn_pair_cache *cache);

// Moves the reference poses of bodies that have left them by more than the recycling distance, and
// updates the list: it then has all pairs in contact, and all pairs that may collide, whose AABBs
// overlap and of which at least one reference pose has changed. Pairs that found no room are
// counted as dropped contacts.
void cairn_pair_cache_update(cairn_world *world);
// The shape in this slot is about to be removed. The next update drops its pairs.
void cairn_pair_cache_remove_shape(cairn_world *world, uint32_t slot);
// The body got or lost a joint, and its reference pose was reset. The next update looks for its
// pairs again, because a joint decides whether its bodies may collide.
void cairn_pair_cache_joint_changed(cairn_world *world, uint32_t body);
// The kind or the filters of a body have changed, and its reference pose was reset. The next update
// looks for its pairs again.
void cairn_pair_cache_body_changed(cairn_world *world, uint32_t body);
// Whether the cache can follow a state that is written over the present one, if it has the same
// shapes, joints, kinds of bodies and centres of mass.
bool cairn_pair_cache_can_follow(const cairn_world *world);
// Then: the reference pose of the body in that slot was written over.
void cairn_pair_cache_restore_body(cairn_world *world, uint32_t body);
// And at last: the state was. `contacts`: so were contacts, and others begin or end. The next
// update looks again for the pairs of bodies that were restored.
void cairn_pair_cache_follow(cairn_world *world, bool contacts);
// Whether a body that impulses move, and that moves by `distance`, m, in a tick, may pass through
// others: then it counts as a bullet in this tick.
static inline bool cairn_body_may_pass(
    const cairn_pair_cache *cache, uint32_t body, float distance) {
    return distance > CAIRN_PASS_HALF_WIDTHS * cache->half_widths[body] &&
           cache->joint_filter.jointed[body] == 0;
}
// Rotation in the world, and offset from the body's centre of mass in world axes, of a shape whose
// body has this rotation.
cairn_quat cairn_pair_cache_shape_rotation(
    const cairn_world *world, uint32_t slot, cairn_quat body_rotation);
cairn_vec3 cairn_pair_cache_shape_offset(
    const cairn_world *world, uint32_t slot, cairn_quat body_rotation);
