// SPDX-License-Identifier: MIT
#pragma once

// What the pair cache holds (sim/collide/pair_cache.h), for the files that fill parts of it.

#include <stdbool.h>
#include <stddef.h>

#include "sim/collide/broad_phase.h"
#include "sim/collide/joint_filter.h"
#include "sim/state/slot_ranges.h"
#include "sim/state/world.h"

// Flags of a cached pair.
#define CAIRN_PAIR_CONTACTS 0xffffu        // so many of the next contacts in the list are its own
#define CAIRN_PAIR_CONTACT_ENDS (1u << 16) // they must end: a shape is gone, or filters changed
#define CAIRN_PAIR_INVALID (1u << 17)      // after that, the pair must not be collided again

// How the reference pose of a shape's body has changed in this step; a bit set, so that the values
// of two shapes can be combined.
#define CAIRN_REFERENCE_MOVED 1u
#define CAIRN_REFERENCE_RESET 3u // set for the first time: manifolds of the body are void
// The body is fast: its pairs with bodies that impulses do not move are swept along its motion.
#define CAIRN_REFERENCE_FAST 4u
#define CAIRN_REFERENCE_SWEPT 8u // fast, and all its pairs are swept

// Why pairs of a shape slot are looked for again; a bit set.
#define CAIRN_LIST_ENLARGED 1u // its AABB has left the fat AABB
// Its shape was removed, and the slot may have another one by now; or its body got or lost a joint.
#define CAIRN_LIST_REMOVED 2u
// It is fast and may leave its fat AABB in this step. Only while reference poses are updated.
#define CAIRN_LIST_MAY_LEAVE 4u

// Cached pairs without a contact, for each contact that fits the contact list.
#define CAIRN_PAIRS_PER_CONTACT 4
static inline size_t cairn_cached_pairs_max(const cairn_world_def *def) {
    return (size_t)def->contact_capacity * (CAIRN_PAIRS_PER_CONTACT + 1);
}

// The minimum extents of shapes that impulses do not move are above this, m.
#define CAIRN_STATIC_EXTENT 1e8f

// With more obstacles or bullets than this they are not tested one after the other.
#define CAIRN_OBSTACLES_MAX 64u

typedef struct cairn_cached_pair {
    cairn_pair pair;
    uint32_t flags;
} cairn_cached_pair;

// What the cached pairs of a range or block (sim/state/slot_ranges.h) have together.
typedef struct cairn_pairs_sum {
    cairn_slot_range shapes;
    uint32_t contacts;
    bool ends;  // some have CAIRN_PAIR_CONTACT_ENDS
    bool stale; // their flags have changed
} cairn_pairs_sum;

// A shape with its body at the reference pose.
typedef struct cairn_shape_transform {
    cairn_quat rotation; // world
    cairn_vec3 offset;   // from the body's centre of mass, world axes
    uint32_t body;       // slot
    cairn_aabb aabb;     // world, larger by half the contact margin
    uint32_t padding[2];
} cairn_shape_transform;

// How a fast body will move in this tick if nothing changes its velocities.
typedef struct cairn_predicted_motion {
    cairn_vec3 displacement; // m, at most CAIRN_SWEEP_DISTANCE_MAX long
    float turn;              // m, no point moves farther by the rotation
    cairn_vec3 rotation;     // rotation vector, rad, at most CAIRN_SWEEP_ROTATION_MAX long
    uint32_t padding;
} cairn_predicted_motion;

struct cairn_pair_cache {
    void *memory; // the allocation that all arrays lie in
    size_t size;

    // By shape slot.
    cairn_aabb_array fat_aabbs;
    cairn_shape_transform *transforms;
    unsigned char *reference_change; // CAIRN_REFERENCE flags of this step, or 0
    unsigned char *list_change;      // bits below: what has changed since the list was last updated
    float *minimum_extents;  // m, half the least width; huge for shapes of bodies that do not move
    uint32_t *changed_slots; // shapes whose reference_change is not 0
    uint32_t changed_count;
    uint32_t *enlarged_slots; // CAIRN_LIST_ENLARGED
    uint32_t enlarged_count;
    uint32_t *removed_slots; // CAIRN_LIST_REMOVED
    uint32_t removed_count;
    uint32_t *obstacles; // shapes that no impulse moves, no sensors, in order
    uint32_t obstacle_count;
    // Their fat AABBs when they were last read, if they are few; padded to whole vectors.
    float obstacle_lower[3][CAIRN_OBSTACLES_MAX];
    float obstacle_upper[3][CAIRN_OBSTACLES_MAX];
    uint32_t *bullets; // shapes of dynamic bodies that are CAIRN_REFERENCE_SWEPT in this step
    uint32_t bullet_count;
    uint32_t fast_count;  // shapes in query_hits that may leave their fat AABBs in this step
    bool obstacles_stale; // the list may lack some
    bool obstacle_moved;  // in this step, out of its fat AABB
    float *clearances; // m, by which a fat AABB can grow without meeting more fat ones of obstacles
    // m, by which a fat AABB can grow without meeting any of an obstacle; at most 0: unknown, or it
    // meets one. The next fat AABB of a fast shape inherits it, less what that has grown by.
    float *rooms;

    // By body slot.
    cairn_quat *reference_rotations; // of the reference poses
    float *bounding_radii;           // m, of a ball about the centre of mass
    unsigned char *body_change;      // by index in the awake set: CAIRN_REFERENCE flags, or 0
    cairn_vec3 *half_extents;        // m, of a box about the centre of mass, along the body's axes
    float *turn_radii;               // m, the same of the cores of shapes: rotation moves no sphere
    // m, half the least width of its shapes that may collide with something; huge: none may
    float *half_widths;
    float *fast_distances; // m, the body is fast if a tick takes some point farther
    cairn_predicted_motion *predicted_motions; // of the bodies that are fast in this step
    uint64_t *restored_bodies; // a bit: its reference pose was written over since the last update
    bool restored;             // some state was; the list may differ from the contacts
    bool contacts_restored;    // the list does

    cairn_cached_pair *pairs; // in order
    cairn_cached_pair *list;  // the array in which they lie, perhaps not from its start on
    cairn_pairs_sum *sums;    // of their ranges; only while the awake set is sparse
    cairn_pairs_sum *block_sums;
    uint32_t blocks_summed;   // the first so many blocks, and their ranges, have a sum
    cairn_slot_marks changed; // changed_slots; only while the awake set is sparse
    uint32_t pair_count;
    uint32_t pair_capacity; // of pairs without a contact
    cairn_pair *found;      // scratch of an update
    cairn_cached_pair *spare;
    uint32_t *query_hits; // scratch: shape slots

    cairn_joint_filter joint_filter;
    bool joints_changed; // since the filter was built
    void *broad_phase;
};

static inline cairn_aabb aabb_with_margin(cairn_aabb aabb, float margin) {
    const cairn_vec3 all = vec3(margin, margin, margin);
    return (cairn_aabb){.lower = vec3_sub(aabb.lower, all), .upper = vec3_add(aabb.upper, all)};
}

// Without branches: whether two AABBs overlap is hard to predict.
static inline bool cairn_aabbs_overlap(const cairn_aabb *p, const cairn_aabb *q) {
    return ((uint32_t)(p->lower.x <= q->upper.x) & (uint32_t)(q->lower.x <= p->upper.x) &
               (uint32_t)(p->lower.y <= q->upper.y) & (uint32_t)(q->lower.y <= p->upper.y) &
               (uint32_t)(p->lower.z <= q->upper.z) & (uint32_t)(q->lower.z <= p->upper.z)) != 0;
}

// Whether the AABBs of both shapes overlap.
static inline bool cairn_pair_cache_overlap(const cairn_pair_cache *cache, cairn_pair pair) {
    return cairn_aabbs_overlap(
        &cache->transforms[pair.shape_a].aabb, &cache->transforms[pair.shape_b].aabb);
}
