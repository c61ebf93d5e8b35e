// SPDX-License-Identifier: MIT
#include "sim/pgs/pgs.h"

#include "sim/step.h"

void cairn_pgs_carve(cairn_pgs *pgs, cairn_carver *from, const cairn_world_def *def) {
    const size_t bodies = def->body_capacity;
    const size_t contacts = def->contact_capacity;
    const size_t joints = def->joint_capacity;
    const size_t constraints = contacts > joints ? contacts : joints;
    pgs->touches = cairn_carve(from, contacts, sizeof *pgs->touches);
    pgs->bodies = cairn_carve(from, bodies, sizeof *pgs->bodies);
    pgs->body_points = cairn_carve(from, bodies, sizeof *pgs->body_points);
    pgs->colours = cairn_carve(from, bodies, sizeof *pgs->colours);
    pgs->batch_of = cairn_carve(from, constraints, sizeof *pgs->batch_of);
    pgs->place_of = cairn_carve(from, constraints, sizeof *pgs->place_of);
    pgs->contact_constraints = cairn_carve(from, contacts, sizeof *pgs->contact_constraints);
    pgs->joint_constraints = cairn_carve(from, joints, sizeof *pgs->joint_constraints);
}

// The impulses so far, where a trace can see them; nothing reads them there before the end.
static void show(cairn_world *world, uint32_t sweep) {
    if (cairn_traced(world)) {
        cairn_joints_store(world);
        cairn_contacts_store(world);
        cairn_trace_show(world, CAIRN_STAGE_SOLVE, sweep, CAIRN_PASS_SWEEP);
    }
}

void cairn_pgs_solve(cairn_world *world) {
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
