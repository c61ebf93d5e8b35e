// SPDX-License-Identifier: MIT
#pragma once

// Where a step reports its progress: to the probe that measures stages, and to a trace
// (sim/debug/trace.h).

#include "base/assert.h"
#include "sim/state/world.h"

// Parts of a substep.
typedef enum cairn_pass {
    CAIRN_PASS_NONE = 0,             // not within the solver
    CAIRN_PASS_INTEGRATE_VELOCITIES, // forces, damping, and the last impulses again (warm start)
    CAIRN_PASS_SOLVE_BIASED,         // impacts, and removes position error by a bias
    CAIRN_PASS_INTEGRATE_POSITIONS,  // moves bodies by their velocities
    CAIRN_PASS_RELAX,                // removes the velocity that the bias added
    CAIRN_PASS_SWEEP, // a sweep of the PGS solver over all rows; sweep 0 is the warm start
    CAIRN_PASS_COUNT
} cairn_pass;

// Called on the main thread, while no helper works. Must not write to the world.
struct cairn_trace_hook {
    void (*observe)(struct cairn_trace_hook *hook, const cairn_world *world, uint32_t stage,
        uint32_t substep, cairn_pass pass);
};

static inline bool cairn_traced(const cairn_world *world) {
    return world->trace_hook != NULL;
}

static inline void cairn_stage_done(const cairn_world *world, cairn_stage stage) {
    CAIRN_ASSERT(stage < CAIRN_STAGE_COUNT);
    if (world->stage_probe != NULL) {
        world->stage_probe(world->stage_context, stage);
    }
    if (cairn_traced(world)) {
        world->trace_hook->observe(world->trace_hook, world, stage, 0, CAIRN_PASS_NONE);
    }
}

// After a pass of the solver, in a traced step. Substeps and sweeps count from 1, sweep 0 is the
// warm start.
static inline void cairn_trace_pass_done(
    const cairn_world *world, uint32_t substep, cairn_pass pass) {
    CAIRN_ASSERT(cairn_traced(world) && pass < CAIRN_PASS_COUNT);
    world->trace_hook->observe(world->trace_hook, world, CAIRN_STAGE_SOLVE, substep, pass);
}
