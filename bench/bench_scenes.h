// SPDX-License-Identifier: MIT
#pragma once

// Worlds that costs are measured with. Nothing sleeps but where a scene says so: a figure is then
// the cost of all its bodies.

#include "sim/sim.h"

typedef struct bench_scene {
    const char *name;
    const char *what; // one line
    uint32_t warm_up; // steps before the first one that is measured
    uint32_t steps;   // measured, unless told otherwise
    void (*define)(cairn_world_def *def);
    void (*build)(cairn_world *world);
    void (*disturb)(cairn_world *world); // before each step; may be NULL
} bench_scene;

extern const bench_scene bench_scenes[];
extern const uint32_t bench_scene_count;

// NULL when there is none of that name.
const bench_scene *bench_scene_find(const char *name);
// A world with its bodies; the program ends when there is no memory.
cairn_world *bench_scene_create(const bench_scene *scene);
void bench_scene_step(const bench_scene *scene, cairn_world *world);
