// SPDX-License-Identifier: MIT
#pragma once

// Small worlds drawn from a seed: a floor, some stones, sometimes a chain, and the sandbox rules.

#include "base/random.h"
#include "schema/scene.h"

#define STORM_BODIES_MAX 24
#define STORM_BODY_CAPACITY 64

typedef struct storm_scene {
    cairn_scene scene; // points into this struct
    cairn_scene_body bodies[STORM_BODIES_MAX + 1];
    cairn_scene_shape shapes[STORM_BODIES_MAX + 1];
    cairn_scene_joint joints[4];
} storm_scene;

void storm_scene_draw(storm_scene *out, cairn_random *random);
