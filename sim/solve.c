// SPDX-License-Identifier: MIT
#include "sim/step.h"

void cairn_step_solve(cairn_world *world) {
    cairn_joints_prepare(world);
    cairn_contacts_prepare(world);
    cairn_stage_done(world, CAIRN_STAGE_PREPARE);
    cairn_joints_warm_start(world);
    cairn_contacts_warm_start(world);
    for (uint32_t i = 0; i < world->def.iterations; ++i) {
        cairn_joints_iterate(world);
        cairn_contacts_iterate(world);
    }
    cairn_joints_store(world);
    cairn_contacts_store(world);
}
