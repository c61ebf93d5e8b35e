// SPDX-License-Identifier: MIT
#pragma once

// From a scene to the world it describes. Bodies are created in the scene's order, grids unrolled x
// fastest, then y, then z, each body followed by its shapes, joints last: so every machine creates
// the same ids.

#include "schema/scene.h"
#include <cairn/sim.h>
#include <cairn/status.h>

// The settings of a scene. `rules` NULL: those that the scene names.
cairn_world_def cairn_scene_world_def(const cairn_scene *scene, const cairn_rules *rules);

// Builds the world; pair with cairn_world_destroy. On failure *out is NULL and `error` says what
// was refused: CAIRN_NOT_FOUND (unknown rules, a joint's body index), CAIRN_CAPACITY, or the
// status of the world's create function.
cairn_status cairn_scene_world_create(const cairn_scene *scene, const cairn_rules *rules,
    cairn_world **out, char error[CAIRN_SCENE_ERROR_SIZE]);
