// SPDX-License-Identifier: MIT
#pragma once

// Draws small worlds (a floor, a sensor, a hill, some bodies of every shape, sometimes joints of
// every kind, ordinary and articulated ones, sometimes a laboratory solver), tick rates, paths and
// clocks from a storm's seed.

#include "base/random.h"
#include "schema/scene.h"
#include "storm/network.h"

#define CAIRN_STORM_DRAWN_BODIES_MAX 24
#define CAIRN_STORM_BODY_CAPACITY 64

typedef struct cairn_storm_scene {
    cairn_scene scene; // points into this struct
    cairn_scene_body bodies[CAIRN_STORM_DRAWN_BODIES_MAX + 3];
    cairn_scene_shape shapes[CAIRN_STORM_DRAWN_BODIES_MAX + 3];
    cairn_scene_joint joints[4];
    cairn_scene_hull hull;
    cairn_scene_mesh mesh;
    cairn_vec3 points[8]; // of the hull, then of the mesh
    uint32_t indices[6];
    cairn_scene_height_field field;
    float heights[16];
} cairn_storm_scene;

void cairn_storm_draw_scene(cairn_storm_scene *out, cairn_random *random, const char *rules);
uint32_t cairn_storm_draw_tick_rate(cairn_random *random);
cairn_virtual_clock cairn_storm_draw_clock(cairn_random *random);
// A bad path loses up to `loss_permille_max`. Tick rates above 64 Hz get good paths only.
cairn_virtual_path cairn_storm_draw_path(
    cairn_random *random, uint32_t tick_rate_hz, uint32_t loss_permille_max);
// From a bad mobile network to a home's.
cairn_virtual_bottleneck cairn_storm_draw_bottleneck(cairn_random *random);
