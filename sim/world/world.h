// SPDX-License-Identifier: MIT
#pragma once

// The private functions of this folder, some of which decoding uses, too.

#include "sim/state/world.h"

// Allocates a world of a valid def, without a state. Memory from `take` may hold anything and must
// not influence any hash (cairn_world_poison tests this). `lanes`: a width that exists, or 0.
// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_world_allocate(
    const cairn_world_def *def, uint32_t lanes, cairn_allocator *take, cairn_world **out);
// Rebuilds what follows from the arrays that have changed: shape lists, hulls, free-slot hints. The
// caller marks bodies that may be awake now, and drops the pair cache and the manifolds or brings
// them up to date (sim/world/rewrite.h).
void cairn_world_derive(cairn_world *world, const bool changed[CAIRN_ARRAY_COUNT]);
void cairn_world_drop_pairs(cairn_world *world);

// What cairn_body_read reports. `active`: as in sim/state/awake_set.h.
cairn_body_state cairn_body_state_of(
    cairn_body_id id, const cairn_motion *motion, const cairn_body *body, bool active);

// What cairn_body_create refuses for its own sake: any status but CAIRN_CAPACITY.
cairn_status cairn_body_def_check(const cairn_body_def *def);
// CAIRN_CAPACITY, counted as refused, if the world has no room for a body with so many shapes.
cairn_status cairn_compound_check_room(cairn_world *world, uint32_t shape_count);

// Frees the slot and unlinks the shape from its body, whose mass the caller updates.
void cairn_shape_remove(cairn_world *world, uint32_t slot);

// Finds the contacts of the body again in the next step, and wakes it and what it touches.
void cairn_body_find_contacts_again(cairn_world *world, uint32_t slot);
// Writes the velocity of a body as far as its kind and its locks allow one, and ends a target.
void cairn_body_write_velocity(
    cairn_world *world, uint32_t slot, cairn_vec3 linear, cairn_vec3 angular);

// Destroys every joint of the body, in order of slot.
void cairn_joint_destroy_of_body(cairn_world *world, uint32_t body);
void cairn_joint_destroy_at(cairn_world *world, uint32_t slot);
// Gives one end of the joint in that slot to another body, whose frame is turned as that of the
// body before, with an anchor in its frame. The joint starts without impulses. Not of an
// articulated joint.
void cairn_joint_move_end(
    cairn_world *world, uint32_t slot, bool of_b, cairn_body_id body, cairn_vec3 anchor);
// Of the joint in that slot; NULL if it is plain.
cairn_joint_drive *cairn_joint_drive_find(const cairn_state *state, uint32_t slot);
// What the solver in lanes has stored.
void cairn_joint_clear_impulses(cairn_joint *joint);
// Whether axes and normals are unit vectors perpendicular to each other, within CAIRN_AXES_SLACK;
// zero in joints without axes.
bool cairn_joint_axes_ok(const cairn_joint *joint);
// Whether create could have made the joint, whose drive is NULL if it is plain.
bool cairn_joint_state_ok(const cairn_joint *joint, const cairn_joint_drive *drive);

// The state holds the vertices of a hull. Everything else (cairn_hull) is derived from these and
// stored beside the state, by slot.

// The slot of a live hull, CAIRN_INDEX_NONE otherwise.
uint32_t cairn_hull_slot(const cairn_world *world, cairn_hull_id hull);
// Stores a hull that cairn_hull_build_stable made, in the lowest free slot. It may have been built
// in that place of world->hulls. CAIRN_CAPACITY, counted as refused.
cairn_status cairn_hull_store(cairn_world *world, const cairn_hull *hull, cairn_hull_id *out);
// As cairn_hull_create, but returns the hull that has these vertices already, if there is one.
cairn_status cairn_hull_share(
    cairn_world *world, const cairn_vec3 *points, uint32_t count, cairn_hull_id *out);
// Rebuilds each hull whose vertices in the state differ from those it was built from.
void cairn_hulls_derive(cairn_world *world);
// Whether the hull of these vertices has exactly these vertices, bit for bit, as is true of all
// that cairn_hull_create stores.
bool cairn_hull_vertices_ok(const cairn_hull_vertices *points);
