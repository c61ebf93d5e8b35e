// SPDX-License-Identifier: MIT
#pragma once

// Draws small worlds (a floor, a sensor, some bodies, sometimes a chain), tick rates, paths and
// clocks from a storm's seed.

#include "base/random.h"
#include "schema/scene.h"
#include "storm/network.h"

#define CAIRN_STORM_DRAWN_BODIES_MAX 24
#define CAIRN_STORM_BODY_CAPACITY 64

typedef struct cairn_storm_scene {
    cairn_scene scene; // points into this struct
    cairn_scene_body bodies[CAIRN_STORM_DRAWN_BODIES_MAX + 2];
    cairn_scene_shape shapes[CAIRN_STORM_DRAWN_BODIES_MAX + 2];
    cairn_scene_joint joints[4];
} cairn_storm_scene;

void cairn_storm_draw_scene(cairn_storm_scene *out, cairn_random *random, const char *rules);
uint32_t cairn_storm_draw_tick_rate(cairn_random *random);
cairn_virtual_clock cairn_storm_draw_clock(cairn_random *random);
// A bad path loses up to `loss_permille_max`. Tick rates above 64 Hz get good paths only.
cairn_virtual_path cairn_storm_draw_path(
    cairn_random *random, uint32_t tick_rate_hz, uint32_t loss_permille_max);
