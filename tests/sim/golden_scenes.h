// SPDX-License-Identifier: MIT
#pragma once

// Worlds whose hashes are recorded in golden.txt and compared on every build. Together they cover
// every pair of shapes, joints, sleep and wake, spawn and despawn, rules and both friction
// models. They are small, because some builds run under an emulator. Only one is so large that
// workers share its steps.

#include <cairn/sim.h>

typedef struct golden_scene {
    const char *name;
    uint32_t ticks;
    void (*define)(cairn_world_def *def);               // changes the default def; may be NULL
    void (*build)(cairn_world *world);                  // before the first tick
    void (*disturb)(cairn_world *world, uint64_t tick); // before each tick; may be NULL
    // Writes the tick's sorted commands, at most CAIRN_COMMANDS_PER_TICK_MAX; may be NULL.
    uint32_t (*command)(uint64_t tick, cairn_command *commands);
} golden_scene;

extern const golden_scene golden_scenes[];
extern const uint32_t golden_scene_count;

// Drawn from the sixteenths in [-1, 1], which are exact in float on every machine.
float golden_draw(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream);
// A body of one shape; 0 if the world is full. Without the shape if there is no place for one.
cairn_body_id golden_place(cairn_world *world, uint32_t kind, cairn_vec3 position,
    cairn_quat rotation, const cairn_shape_def *shape);

// A joint of every kind with springs, motors and limits (tests/sim/golden_machines.c).
void golden_build_machines(cairn_world *world);
void golden_disturb_machines(cairn_world *world, uint64_t tick);

// Articulated figures (tests/sim/golden_articulated.c).
void golden_define_articulated(cairn_world_def *def);
void golden_build_articulated(cairn_world *world);
void golden_define_articulated_single(cairn_world_def *def);
void golden_build_articulated_single(cairn_world *world);
void golden_disturb_articulated(cairn_world *world, uint64_t tick);

// Shapes of all kinds on a mesh, a height field and a mesh that turns (tests/sim/golden_meshes.c).
void golden_build_meshes(cairn_world *world);
void golden_disturb_meshes(cairn_world *world, uint64_t tick);

// Fast bodies of most shapes in a room of thin walls (tests/sim/golden_fast.c).
void golden_define_fast(cairn_world_def *def);
void golden_define_fast_pgs(cairn_world_def *def);
void golden_build_fast(cairn_world *world);
void golden_disturb_fast(cairn_world *world, uint64_t tick);

// Heavy bodies on light ones, and through a heap of them (tests/sim/golden_loads.c).
void golden_build_loads(cairn_world *world);

// Bodies that break, and pieces that break again (tests/sim/golden_fracture.c).
void golden_define_fracture(cairn_world_def *def);
void golden_build_fracture(cairn_world *world);
void golden_disturb_fracture(cairn_world *world, uint64_t tick);

// Long bodies that bounce with friction (tests/sim/golden_bounces.c).
void golden_define_bounces_pgs(cairn_world_def *def);
void golden_build_bounces(cairn_world *world);

// One world with each laboratory solver (tests/sim/golden_laboratory.c).
void golden_define_direct(cairn_world_def *def);
void golden_define_psor(cairn_world_def *def);
void golden_define_pssor(cairn_world_def *def);
void golden_define_split(cairn_world_def *def);
void golden_define_gradient(cairn_world_def *def);
void golden_define_mprgp(cairn_world_def *def);
void golden_define_apgd(cairn_world_def *def);
void golden_build_pile(cairn_world *world, uint32_t bodies);
void golden_build_laboratory(cairn_world *world);
void golden_build_direct(cairn_world *world);

// Asserts that there is such a scene.
const golden_scene *golden_scene_named(const char *name);

// A new world of the scene, without its bodies; NULL if out of memory.
cairn_world *golden_create(const golden_scene *scene);
// A world of the scene after that many ticks. Asserts that there is memory.
cairn_world *golden_world_at(const golden_scene *scene, uint32_t tick);
// One tick: disturb, commands, step.
void golden_step(const golden_scene *scene, cairn_world *world);

// Sandbox inputs, drawn from the seed, of some players that join, play and leave.
uint32_t golden_random_commands(uint64_t seed, uint64_t tick, cairn_command *commands);
