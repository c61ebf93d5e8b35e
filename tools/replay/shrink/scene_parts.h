// SPDX-License-Identifier: MIT
#pragma once

// Scenes of worlds, and parts of scenes. The vertices of hulls and meshes are made once and shared
// by all scenes that come from one world; they stay until the program ends.

#include <stdbool.h>
#include <stdint.h>

#include "schema/scene.h"
#include "tools/replay/shrink/repro.h"

// Ids of bodies and joints before and after.
typedef struct cairn_renumbering {
    uint32_t *bodies; // by old index: the new id, or null; owned by the caller
    uint32_t *joints;
    uint32_t body_count, joint_count; // of old indices
    uint32_t bodies_left, joints_left;
} cairn_renumbering;

// Fills the ids as well. NULL: out of memory, or something that a scene cannot say.
cairn_scene *cairn_scene_parts_of_world(const cairn_world *world, cairn_renumbering *ids);
// The bodies and joints that have an id, and the hulls and meshes that they use.
cairn_scene *cairn_scene_parts_copy(
    const cairn_scene *from, const uint32_t *bodies, const uint32_t *joints);
void cairn_scene_parts_end(cairn_scene *scene); // NULL is allowed

// Applies new ids to the commands, the predicate and the bodies that must stay.
void cairn_repro_renumber(cairn_repro *out, const cairn_renumbering *ids);
