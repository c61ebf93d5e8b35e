// SPDX-License-Identifier: MIT
#pragma once

// Manifolds while they are kept. A contact says how its bodies were placed when its points were
// computed, so its manifold is a function of the state: patches outlive the step, and one that is
// missing, as all are after a load, is computed when it is next wanted, with the same bits.

#include "sim/collide/broad_phase.h"
#include "sim/constraint/graph.h"
#include "sim/constraint/solver_manifold.h"
#include "sim/state/world.h"

// Manifolds, kept for as long as the anchors stay. While contacts begin there may be more than the
// list has room for.
#define CAIRN_PATCHES_PER_CONTACT 2
#define CAIRN_PATCH_NONE UINT32_MAX

// What is wanted of a contact in each step.
typedef struct cairn_patch_link {
    uint32_t body_a; // slots
    uint32_t body_b;
    uint32_t patch; // CAIRN_PATCH_NONE: not computed
} cairn_patch_link;

struct cairn_patches {
    cairn_patch *patches;
    uint32_t *free; // those below `used` that nobody has
    uint32_t free_count;
    uint32_t used;
    uint32_t capacity;
    cairn_patch_link *links; // by index in the list
    bool complete;           // what stirs has its patches
};

void cairn_patches_carve(cairn_patches *patches, cairn_carver *from, const cairn_world_def *def);

// Forgets all patches; the contacts stay.
void cairn_patches_forget(cairn_world *world);
cairn_patch_link cairn_patch_link_of(const cairn_contact *contact, uint32_t patch);
uint32_t cairn_patch_take(cairn_patches *patches);
// Nothing happens for CAIRN_PATCH_NONE.
void cairn_patch_release(cairn_patches *patches, uint32_t patch);

// How two shapes lie to each other when they are collided.
typedef struct cairn_pair_pose {
    cairn_vec3 way;    // from a's centre of mass to b's, world axes
    cairn_quat turn_a; // of the bodies
    cairn_quat turn_b;
    cairn_quat rotation_a; // of the shapes
    cairn_quat rotation_b;
    cairn_vec3 offset_a; // of the shapes from the centres of mass, world axes
    cairn_vec3 offset_b;
} cairn_pair_pose;
// As they are anchored; and as they were when the contact's points were computed.
cairn_pair_pose cairn_pair_reference_pose(const cairn_world *world, cairn_pair pair);
cairn_pair_pose cairn_pair_contact_pose(const cairn_world *world, const cairn_contact *contact);

// *out in the frame of shape a.
void cairn_pair_collide(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *at,
    uint32_t *axis_hint, cairn_manifold *out);
void cairn_patch_fill(const cairn_world *world, cairn_pair pair, const cairn_pair_pose *at,
    const cairn_manifold *manifold, cairn_patch *patch);
// Computes the contact's patch, which it has not.
void cairn_patch_restore(cairn_world *world, uint32_t contact);
// Whether the patch may stay for bodies that lie so: a stack that leans by a hair must not be
// pushed further by points that lean with it, and what moves along with what it stands on has the
// points that it had.
bool cairn_patch_holds(const cairn_world *world, const cairn_contact *contact,
    const cairn_patch *patch, const cairn_pair_pose *now);

// The manifold of a patch in the world, with the bodies where they are now.
void cairn_patch_manifold(const cairn_world *world, const cairn_link *touch, cairn_manifold *out);
