// SPDX-License-Identifier: MIT
#include "sim/world/scratch.h"

#include "base/arena.h"

uint32_t cairn_scratch_pair_capacity(const cairn_world_def *def) {
    return def->contact_capacity * CAIRN_PAIRS_PER_CONTACT;
}

static void carve_plan(
    cairn_plan *plan, cairn_carver *from, uint32_t bodies, uint32_t links, uint32_t lanes) {
    plan->links = cairn_carve(from, links, sizeof *plan->links);
    plan->taken = cairn_carve(from, bodies, sizeof *plan->taken);
    plan->order =
        cairn_carve(from, (size_t)cairn_plan_groups_max(links, lanes) * lanes, sizeof *plan->order);
    plan->single_order = cairn_carve(from, links, sizeof *plan->single_order);
}

static void carve_substeps(
    cairn_substeps *substeps, cairn_carver *from, const cairn_world_def *def) {
    const cairn_kernel *wide = &substeps->wide;
    const cairn_kernel *single = &substeps->single;
    const uint32_t bodies = def->body_capacity + 1;
    const uint32_t contacts = def->contact_capacity;
    const uint32_t joints = def->joint_capacity;
    substeps->bodies = cairn_carve(from, bodies, sizeof *substeps->bodies);
    substeps->drives = cairn_carve(from, bodies, sizeof *substeps->drives);
    substeps->solver_of = cairn_carve(from, bodies, sizeof *substeps->solver_of);
    substeps->slot_of = cairn_carve(from, bodies, sizeof *substeps->slot_of);
    substeps->lost = cairn_carve(from, bodies, sizeof *substeps->lost);
    carve_plan(&substeps->touches, from, bodies, contacts, wide->lanes);
    carve_plan(&substeps->joints, from, bodies, joints, wide->lanes);
    substeps->contact_groups =
        cairn_carve(from, cairn_plan_groups_max(contacts, wide->lanes), wide->contacts->group_size);
    substeps->joint_groups =
        cairn_carve(from, cairn_plan_groups_max(joints, wide->lanes), wide->joints->group_size);
    substeps->single_contact_groups = cairn_carve(from, contacts, single->contacts->group_size);
    substeps->single_joint_groups = cairn_carve(from, joints, single->joints->group_size);
}

static void carve_all(cairn_scratch *scratch, cairn_carver *from, const cairn_world_def *def) {
    const size_t bodies = def->body_capacity;
    const size_t joints = def->joint_capacity;
    const size_t contacts = def->contact_capacity;
    const size_t constraints = contacts > joints ? contacts : joints;
    cairn_patches *patches = &scratch->patches;
    const size_t patch_count = CAIRN_PATCHES_PER_CONTACT * contacts;
    patches->patches = cairn_carve(from, patch_count, sizeof *patches->patches);
    patches->free = cairn_carve(from, patch_count, sizeof *patches->free);
    patches->links = cairn_carve(from, contacts, sizeof *patches->links);
    scratch->born = cairn_carve(from, contacts, sizeof *scratch->born);
    scratch->stretches = cairn_carve(from, 2 * contacts + 1, sizeof *scratch->stretches);
    scratch->moving = cairn_carve(from, bodies, sizeof *scratch->moving);
    scratch->stirs = cairn_carve(from, bodies, sizeof *scratch->stirs);
    scratch->island = cairn_carve(from, bodies, sizeof *scratch->island);
    scratch->island_awake = cairn_carve(from, bodies, sizeof *scratch->island_awake);
    scratch->island_ticks = cairn_carve(from, bodies, sizeof *scratch->island_ticks);
    scratch->bodies = cairn_carve(from, bodies, sizeof *scratch->bodies);
    scratch->body_points = cairn_carve(from, bodies, sizeof *scratch->body_points);
    scratch->colours = cairn_carve(from, bodies, sizeof *scratch->colours);
    scratch->batch_of = cairn_carve(from, constraints, sizeof *scratch->batch_of);
    scratch->place_of = cairn_carve(from, constraints, sizeof *scratch->place_of);
    scratch->contact_constraints =
        cairn_carve(from, contacts, sizeof *scratch->contact_constraints);
    scratch->joint_constraints = cairn_carve(from, joints, sizeof *scratch->joint_constraints);
    carve_substeps(&scratch->substeps, from, def);
}

bool cairn_scratch_create(
    cairn_scratch *scratch, const cairn_world_def *def, uint32_t lanes, cairn_allocator *take) {
    cairn_kernel_of(lanes, &scratch->substeps.wide);
    cairn_kernel_of(1, &scratch->substeps.single);
    cairn_carver measure = {.memory = NULL};
    carve_all(scratch, &measure, def);
    scratch->size = measure.at + CAIRN_CACHE_LINE;
    // Zero pages that nobody has touched cost nothing, so the memory is not cleared by hand.
    scratch->memory = take(1, scratch->size);
    if (scratch->memory == NULL) {
        return false;
    }
    const uintptr_t past = (uintptr_t)scratch->memory % CAIRN_CACHE_LINE;
    cairn_carver cut = {.memory = (unsigned char *)scratch->memory + (CAIRN_CACHE_LINE - past)};
    carve_all(scratch, &cut, def);
    return true;
}
