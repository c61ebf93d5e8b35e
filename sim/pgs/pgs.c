// SPDX-License-Identifier: MIT
#include "sim/step.h"

// The impulses so far, where a trace can see them; nothing reads them there before the end.
static void show(cairn_world *world, uint32_t sweep) {
    if (cairn_traced(world)) {
        cairn_joints_store(world);
        cairn_contacts_store(world);
        cairn_trace_show(world, CAIRN_STAGE_SOLVE, sweep, CAIRN_PASS_SWEEP);
    }
}

void cairn_step_solve(cairn_world *world) {
    cairn_joints_prepare(world);
    cairn_contacts_prepare(world);
    cairn_stage_done(world, CAIRN_STAGE_PREPARE);
    cairn_joints_warm_start(world);
    cairn_contacts_warm_start(world);
    show(world, 0);
    for (uint32_t i = 0; i < world->def.iterations; ++i) {
        cairn_joints_iterate(world);
        cairn_contacts_iterate(world);
        show(world, i + 1);
    }
    cairn_joints_store(world);
    cairn_contacts_store(world);
}
