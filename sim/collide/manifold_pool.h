// SPDX-License-Identifier: MIT
#pragma once

// Solver manifolds, which outlive the step while they can be recycled. A contact stores the
// reference poses for which its points were computed, so its manifold is a function of the state:
// a missing manifold, as all are after a load, is computed with the same bits when it is needed.

#include "sim/collide/broad_phase.h"
#include "sim/collide/manifold.h"
#include "sim/constraint/graph.h"
#include "sim/constraint/solver_manifold.h"
#include "sim/math/packed_rotation.h"
#include "sim/state/slot_ranges.h"
#include "sim/state/world.h"

// While contacts begin there may be more manifolds than the contact list has room for.
#define CAIRN_MANIFOLDS_PER_CONTACT 2
#define CAIRN_MANIFOLD_NONE UINT32_MAX
// In place of a manifold: the overlap of a sensor, which has none.
#define CAIRN_MANIFOLD_SENSOR (UINT32_MAX - 1)

// What every step reads of a contact.
typedef struct cairn_contact_ref {
    uint32_t body_a; // slots
    uint32_t body_b;
    uint32_t manifold; // index in the pool; or CAIRN_MANIFOLD_NONE: not computed, or _SENSOR
} cairn_contact_ref;

struct cairn_manifold_pool {
    cairn_solver_manifold *manifolds;
    uint32_t *free_list; // unused indices below `used`
    uint32_t free_count;
    uint32_t used;
    uint32_t capacity;
    cairn_contact_ref *refs;  // by index in the contact list
    cairn_slot_range *ranges; // of the bodies of refs: see sim/state/slot_ranges.h
    cairn_slot_range *blocks;
    uint32_t blocks_known;          // the first so many, and their ranges, are up to date
    bool complete;                  // each contact of a body of the awake set has its manifold
    cairn_contact_ref *refs_before; // while contacts are written over: see manifold_carry.h
    uint64_t *kept;                 // a bit for each block of the hash cache
};

void cairn_manifold_pool_allocate(
    cairn_manifold_pool *pool, cairn_arena *from, const cairn_world_def *def);

// Brings ranges and blocks up to date.
void cairn_manifold_pool_sum_refs(cairn_world *world);
// From `contact` on, which is the first of a range, the first contact of a range with a body of
// the awake set; `end` or more if none before `end` has one. Only while the awake set is sparse.
uint32_t cairn_contact_refs_skip(const cairn_world *world, uint32_t contact, uint32_t end);
// Forgets all manifolds; the contacts stay.
void cairn_manifold_pool_clear(cairn_world *world);
cairn_contact_ref cairn_contact_ref_of(const cairn_contact *contact, uint32_t manifold);
// Returns the index of an unused manifold.
uint32_t cairn_manifold_pool_take(cairn_manifold_pool *pool);
// Does nothing for CAIRN_MANIFOLD_NONE and CAIRN_MANIFOLD_SENSOR.
void cairn_manifold_pool_release(cairn_manifold_pool *pool, uint32_t manifold);

// The poses for which the narrow phase computes a pair of shapes.
typedef struct cairn_pair_pose {
    cairn_vec3 displacement; // from body a's centre of mass to body b's, world axes
    cairn_quat body_rotation_a;
    cairn_quat body_rotation_b;
    cairn_quat shape_rotation_a;
    cairn_quat shape_rotation_b;
    cairn_vec3 shape_offset_a; // from the body's centre of mass, world axes
    cairn_vec3 shape_offset_b;
} cairn_pair_pose;
// With both bodies at their reference poses now.
cairn_pair_pose cairn_pair_reference_pose(const cairn_world *world, cairn_pair pair);
// With the bodies at these rotations, and this displacement from a's centre of mass to b's.
cairn_pair_pose cairn_pair_pose_of(const cairn_world *world, cairn_pair pair,
    cairn_vec3 displacement, cairn_packed_rotation rotation_a, cairn_packed_rotation rotation_b);

// Whether one of the shapes is a mesh or height field.
static inline bool pair_has_mesh(const cairn_world *world, cairn_pair pair) {
    return world->mesh_shapes != 0 && (world->state.shapes[pair.shape_a].geometry.mesh != 0 ||
                                          world->state.shapes[pair.shape_b].geometry.mesh != 0);
}

// Runs the narrow phase of such a pair; the manifolds in the frame of shape a.
void cairn_mesh_pair_collide(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    cairn_manifold_set *out);
// The deepest of these manifolds; without points if they do not touch.
void cairn_mesh_pair_collide_deepest(
    const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose, cairn_manifold *out);

// Runs the narrow phase with this contact margin, which pairs with a mesh do not ask about; *out in
// the frame of shape a.
void cairn_pair_collide(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *pose,
    float margin, uint32_t *axis_hint, cairn_manifold *out);
void cairn_solver_manifold_fill(const cairn_world *world, cairn_pair pair,
    const cairn_pair_pose *pose, const cairn_manifold *manifold, cairn_solver_manifold *out);
// Computes the manifold of a contact from the state alone. Its points are those that the contact
// stores, in their order.
void cairn_contact_compute_manifold(
    const cairn_world *world, const cairn_contact *contact, cairn_solver_manifold *out);
// Computes the missing manifold of a contact of the list.
void cairn_manifold_pool_restore(cairn_world *world, uint32_t contact);
// Whether the manifold is still good enough for bodies at this pose: neither has moved relative to
// the other by more than the recycling distance. Recycling does more than save work: a stack that
// leans by a hair must not be pushed further by points that lean with it.
bool cairn_solver_manifold_can_recycle(const cairn_world *world, const cairn_contact *contact,
    const cairn_solver_manifold *manifold, const cairn_pair_pose *pose);

// A manifold between the bodies in these slots in the world, with them at their current poses.
void cairn_solver_manifold_to_world(const cairn_world *world, const cairn_solver_manifold *manifold,
    uint32_t body_a, uint32_t body_b, cairn_manifold *out);
