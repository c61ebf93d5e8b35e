// SPDX-License-Identifier: MIT
#pragma once

// Worlds for measuring costs: 60 Hz, gravity 9.81 m/s^2 downwards, density 1000, friction 0.5, no
// restitution, the settings of cairn_world_def_default. Bodies sleep only in scenes that enable it,
// so a figure is the cost of all bodies. Floors and walls are boxes.

#include <cairn/sim.h>

typedef struct bench_scene {
    const char *letter;
    const char *name;
    const char *what;     // one line
    uint32_t warm_up;     // steps before the first one that is measured
    uint32_t steps;       // measured by default
    cairn_world_def size; // only capacities and `sleep`
    void (*build)(cairn_world *world);
    void (*disturb)(cairn_world *world); // before each step; may be NULL
} bench_scene;

// First the scenes that are compared between engines, then larger ones, which show how costs grow
// and are run only if they are named.
extern const bench_scene bench_scenes[];
extern const uint32_t bench_scene_count;
extern const uint32_t bench_peer_scene_count;

// Operations of a server on its state: worlds for single figures.
extern const bench_scene bench_scene_rollback; // cubes901 with 499 cubes
extern const bench_scene bench_scene_field;    // 10000 cubes on a floor, awake
extern const bench_scene bench_scene_drowsy;   // the same, 1000 of them awake after its warm-up
extern const bench_scene bench_scene_sleepers; // the same, none awake after its warm-up
extern const bench_scene bench_scene_hundred;  // 2000 cubes on a floor, 100 of them awake

// Finds a scene by its letter or name. Returns NULL if no scene has it.
const bench_scene *bench_scene_find(const char *name);
// A world with its bodies, after its warm-up. Ends the program if out of memory.
cairn_world *bench_scene_create(const bench_scene *scene);
// Disturbs the world; before each step.
void bench_scene_disturb(const bench_scene *scene, cairn_world *world);
// Disturbs the world and steps it.
void bench_scene_step(const bench_scene *scene, cairn_world *world);
