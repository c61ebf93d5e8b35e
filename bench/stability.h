// SPDX-License-Identifier: MIT
#pragma once

// The stability suite: worlds that a weak solver cannot keep standing, with the settings of the
// cost benchmarks and without sleep, and bounds on how far their bodies may move.

#include <stdbool.h>
#include <stdio.h>

#include <cairn/sim.h>

// Bounds of a trial; lengths in m, speeds in m/s. 0: no bound.
typedef struct bench_bounds {
    float drift;
    float sink;
    float last_speed;
    float last_depth;
    float joint;
    float last_joint;
    float swing;      // the highest body is this far off its first height when it is highest again
    bool stands;      // the highest body keeps 85 % of its height
    bool wall;        // a body with x > 0 has passed through the wall and is lost
    uint32_t toppled; // exactly this many bodies have toppled at the end
} bench_bounds;

typedef struct bench_trial {
    const char *name;
    const char *what; // one line
    uint32_t steps;
    bool slow;            // takes longer than a test of every build may
    cairn_world_def size; // only capacities
    float parameter;
    void (*build)(cairn_world *world, float parameter);
    bench_bounds bounds;
} bench_trial;

extern const bench_trial bench_trials[];
extern const uint32_t bench_trial_count;

// Results of a trial. "last" is the largest value within the last second.
typedef struct bench_verdict {
    int64_t fell_at;  // the first step at which the highest body had lost 15 % of its height; -1
    float drift;      // the largest sideways distance of a body's origin from its start, m
    float sink;       // loss of height of the highest body, m
    float last_speed; // m/s
    float last_spin;  // rad/s
    float depth;      // of the deepest pair at every tenth step, m
    float last_depth;
    float joint; // the largest error of a joint, m
    float last_joint;
    float top;        // greatest height of that body in the last quarter, less its first height, m
    uint32_t toppled; // bodies whose own y axis is more than 60 degrees off the vertical
    uint32_t lost;    // bodies disabled, below the floor or behind the wall
} bench_verdict;

bench_verdict bench_try(const bench_trial *trial);

// The first bound that is exceeded, as static text; NULL if all hold.
const char *bench_broken_bound(const bench_trial *trial, const bench_verdict *verdict);

// The depth of the deepest pair of shapes, m, computed without the world's own contact list
// (overlap.c); 0 if all are apart. Shapes that collide with nothing and pairs that a joint connects
// are ignored. Boxes by the fifteen axes of Gottschalk, Lin and Manocha 1996, others by the narrow
// phase.
float bench_deepest(const cairn_world *world);

// Worlds of stability_piles.c: layers, planks, height of a storey, kind of joint, restitution, half
// the thickness of a wall and of a deck.
void bench_build_cabin(cairn_world *world, float layers);
void bench_build_planks(cairn_world *world, float count);
void bench_build_scaffold(cairn_world *world, float storey);
void bench_build_pendulum(cairn_world *world, float kind);
void bench_build_bounce(cairn_world *world, float restitution);
void bench_build_wall(cairn_world *world, float half_thickness);
void bench_build_deck(cairn_world *world, float half_thickness);

// All trials as a table on standard output; true if every bound holds.
bool bench_stability(void);
