// SPDX-License-Identifier: MIT
#pragma once

// Worlds in which each hazard leaves a trace, for capsules made without a network.

#include "tests/sim/world_kit.h"

// A leaning stack of boxes that presses, slides and turns, and a body that drifts so slowly in free
// space that its speeds are subnormal numbers; 40 ticks old. `rules` may be NULL.
static inline cairn_world *capsule_world(const cairn_rules *rules) {
    static const cairn_vec3 half = {.x = 0.5f, .y = 0.4f, .z = 0.3f};
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 64;
    def.shape_capacity = 64;
    def.contact_capacity = 256;
    def.sleep = 0;
    def.rules = rules;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    for (int i = 0; i < 8; ++i) {
        const float at = (float)i;
        kit_box(world, vec3(0.07f * at, 0.4f + 0.81f * at, 0.03f * at), half, 1000.0f);
    }
    cairn_body_def drifting = cairn_body_def_default();
    drifting.position = vec3(0.0f, 50.0f, 0.0f);
    drifting.gravity_scale = 0.0f;
    drifting.linear_damping = 0.5f;
    drifting.linear_velocity = vec3(3e-39f, 0.0f, 1e-39f);
    kit_body(world, &drifting, NULL);
    kit_run(world, 40);
    return world;
}
