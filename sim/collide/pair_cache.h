// SPDX-License-Identifier: MIT
#pragma once

// The pairs of shapes that are close enough to touch soon. Each shape has a fat AABB with a margin
// to move in (after Verlet 1967, section II, whose list of near particles outlives many steps); the
// pairs of a shape stay as they are while its AABB stays inside. All AABBs are those of bodies at
// their reference poses (cairn_reference_pose). The cache is derived data that outlives the step
// and may be dropped at any tick: which pairs are collided depends on the state alone.

#include <stdbool.h>
#include <stddef.h>

#include "sim/collide/broad_phase.h"
#include "sim/collide/joint_filter.h"
#include "sim/state/world.h"

// Flags of a cached pair.
#define CAIRN_PAIR_CONTACTS 0xffffu        // so many of the next contacts in the list are its own
#define CAIRN_PAIR_CONTACT_ENDS (1u << 16) // they must end: a shape is gone, or filters changed
#define CAIRN_PAIR_INVALID (1u << 17)      // after that, the pair must not be collided again

// How the reference pose of a shape's body has changed in this step; a bit set, so that the values
// of two shapes can be combined.
#define CAIRN_REFERENCE_MOVED 1u
#define CAIRN_REFERENCE_RESET 3u // set for the first time: manifolds of the body are void

// Why pairs of a shape slot are looked for again; a bit set.
#define CAIRN_LIST_ENLARGED 1u // its AABB has left the fat AABB
// Its shape was removed, and the slot may have another one by now; or its body got or lost a joint.
#define CAIRN_LIST_REMOVED 2u

typedef struct cairn_cached_pair {
    cairn_pair pair;
    uint32_t flags;
} cairn_cached_pair;

// A shape with its body at the reference pose.
typedef struct cairn_shape_transform {
    cairn_quat rotation; // world
    cairn_vec3 offset;   // from the body's centre of mass, world axes
    uint32_t body;       // slot
    cairn_aabb aabb;     // world, larger by half the contact margin
    uint32_t padding[2];
} cairn_shape_transform;

struct cairn_pair_cache {
    void *memory; // the allocation that all arrays lie in
    size_t size;

    // By shape slot.
    cairn_aabb_array fat_aabbs;
    cairn_shape_transform *transforms;
    unsigned char *reference_change; // CAIRN_REFERENCE_MOVED or _RESET in this step, or 0
    unsigned char *list_change;      // bits below: what has changed since the list was last updated
    float *minimum_extents;  // m, half the least width; huge for shapes of bodies that do not move
    uint32_t *changed_slots; // shapes whose reference_change is not 0
    uint32_t changed_count;
    uint32_t *enlarged_slots; // CAIRN_LIST_ENLARGED
    uint32_t enlarged_count;
    uint32_t *removed_slots; // CAIRN_LIST_REMOVED
    uint32_t removed_count;

    // By body slot.
    cairn_quat *reference_rotations; // of the reference poses
    float *bounding_radii;           // m, of a ball about the centre of mass
    unsigned char *body_change;      // by index in the awake set: CAIRN_REFERENCE flags, or 0
    cairn_vec3 *half_extents;        // m, of a box about the centre of mass, along the body's axes

    cairn_cached_pair *pairs; // in order
    uint32_t pair_count;
    uint32_t pair_capacity; // of pairs without a contact
    cairn_pair *found;      // scratch of an update
    cairn_cached_pair *spare;
    uint32_t *query_hits; // scratch: shape slots

    cairn_joint_filter joint_filter;
    bool joints_changed; // since the filter was built
    void *broad_phase;
};

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
// Rotation in the world, and offset from the body's centre of mass in world axes, of a shape whose
// body has this rotation.
cairn_quat cairn_pair_cache_shape_rotation(
    const cairn_world *world, uint32_t slot, cairn_quat body_rotation);
cairn_vec3 cairn_pair_cache_shape_offset(
    const cairn_world *world, uint32_t slot, cairn_quat body_rotation);
// Whether the AABBs of both shapes overlap.
bool cairn_pair_cache_overlap(const cairn_pair_cache *cache, cairn_pair pair);
