// SPDX-License-Identifier: MIT
#include "sim/scratch.h"

#include <stdlib.h>

uint32_t cairn_scratch_pair_capacity(const cairn_world_def *def) {
    return def->contact_capacity * CAIRN_PAIRS_PER_CONTACT;
}

#define CAIRN_CACHE_LINE 64

// Hands out pieces of one allocation; with no memory yet it only adds up.
typedef struct carver {
    unsigned char *memory;
    size_t at;
} carver;

static void *carve(carver *from, size_t count, size_t size) {
    void *piece = from->memory == NULL ? NULL : from->memory + from->at;
    from->at += (count * size + CAIRN_CACHE_LINE - 1) / CAIRN_CACHE_LINE * CAIRN_CACHE_LINE;
    return piece;
}

static void carve_plan(
    cairn_plan *plan, carver *from, uint32_t bodies, uint32_t links, uint32_t lanes) {
    plan->links = carve(from, links, sizeof *plan->links);
    plan->taken = carve(from, bodies, sizeof *plan->taken);
    plan->order =
        carve(from, (size_t)cairn_plan_groups_max(links, lanes) * lanes, sizeof *plan->order);
    plan->single_order = carve(from, links, sizeof *plan->single_order);
}

static void carve_substeps(cairn_substeps *substeps, carver *from, const cairn_world_def *def) {
    const cairn_kernel *wide = &substeps->wide;
    const cairn_kernel *single = &substeps->single;
    const uint32_t bodies = def->body_capacity + 1;
    const uint32_t contacts = def->contact_capacity;
    const uint32_t joints = def->joint_capacity;
    substeps->bodies = carve(from, bodies, sizeof *substeps->bodies);
    substeps->drives = carve(from, bodies, sizeof *substeps->drives);
    substeps->solver_of = carve(from, bodies, sizeof *substeps->solver_of);
    substeps->slot_of = carve(from, bodies, sizeof *substeps->slot_of);
    substeps->lost = carve(from, bodies, sizeof *substeps->lost);
    carve_plan(&substeps->touches, from, bodies, contacts, wide->lanes);
    carve_plan(&substeps->joints, from, bodies, joints, wide->lanes);
    substeps->contact_groups =
        carve(from, cairn_plan_groups_max(contacts, wide->lanes), wide->contacts->group_size);
    substeps->joint_groups =
        carve(from, cairn_plan_groups_max(joints, wide->lanes), wide->joints->group_size);
    substeps->single_contact_groups = carve(from, contacts, single->contacts->group_size);
    substeps->single_joint_groups = carve(from, joints, single->joints->group_size);
}

static void carve_all(cairn_scratch *scratch, carver *from, const cairn_world_def *def) {
    const size_t bodies = def->body_capacity;
    const size_t joints = def->joint_capacity;
    const size_t contacts = def->contact_capacity;
    const size_t constraints = contacts > joints ? contacts : joints;
    cairn_patches *patches = &scratch->patches;
    const size_t patch_count = CAIRN_PATCHES_PER_CONTACT * contacts;
    patches->patches = carve(from, patch_count, sizeof *patches->patches);
    patches->free = carve(from, patch_count, sizeof *patches->free);
    patches->links = carve(from, contacts, sizeof *patches->links);
    scratch->born = carve(from, contacts, sizeof *scratch->born);
    scratch->stretches = carve(from, 2 * contacts + 1, sizeof *scratch->stretches);
    scratch->moving = carve(from, bodies, sizeof *scratch->moving);
    scratch->stirs = carve(from, bodies, sizeof *scratch->stirs);
    scratch->island = carve(from, bodies, sizeof *scratch->island);
    scratch->island_awake = carve(from, bodies, sizeof *scratch->island_awake);
    scratch->island_ticks = carve(from, bodies, sizeof *scratch->island_ticks);
    scratch->bodies = carve(from, bodies, sizeof *scratch->bodies);
    scratch->body_points = carve(from, bodies, sizeof *scratch->body_points);
    scratch->colours = carve(from, bodies, sizeof *scratch->colours);
    scratch->batch_of = carve(from, constraints, sizeof *scratch->batch_of);
    scratch->place_of = carve(from, constraints, sizeof *scratch->place_of);
    scratch->contact_constraints = carve(from, contacts, sizeof *scratch->contact_constraints);
    scratch->joint_constraints = carve(from, joints, sizeof *scratch->joint_constraints);
    carve_substeps(&scratch->substeps, from, def);
}

bool cairn_scratch_create(cairn_scratch *scratch, const cairn_world_def *def, uint32_t lanes) {
    cairn_kernel_of(lanes, &scratch->substeps.wide);
    cairn_kernel_of(1, &scratch->substeps.single);
    carver measure = {.memory = NULL};
    carve_all(scratch, &measure, def);
    scratch->size = measure.at + CAIRN_CACHE_LINE;
    scratch->memory = malloc(scratch->size);
    if (scratch->memory == NULL) {
        return false;
    }
    const uintptr_t past = (uintptr_t)scratch->memory % CAIRN_CACHE_LINE;
    carver cut = {.memory = (unsigned char *)scratch->memory + (CAIRN_CACHE_LINE - past)};
    carve_all(scratch, &cut, def);
    return true;
}
