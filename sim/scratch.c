// SPDX-License-Identifier: MIT
#include "sim/scratch.h"

#include <stdlib.h>

uint32_t cairn_scratch_pair_capacity(const cairn_world_def *def) {
    return def->contact_capacity * CAIRN_PAIRS_PER_CONTACT;
}

// Hands out pieces of one allocation; with no memory yet it only adds up.
typedef struct carver {
    unsigned char *memory;
    size_t at;
} carver;

static void *carve(carver *from, size_t count, size_t size) {
    void *piece = from->memory == NULL ? NULL : from->memory + from->at;
    from->at += (count * size + 15) / 16 * 16;
    return piece;
}

static void carve_all(cairn_scratch *scratch, carver *from, const cairn_world_def *def) {
    const size_t bodies = def->body_capacity;
    const size_t joints = def->joint_capacity;
    const size_t contacts = def->contact_capacity;
    const size_t constraints = contacts > joints ? contacts : joints;
    scratch->pairs = carve(from, cairn_scratch_pair_capacity(def), sizeof *scratch->pairs);
    scratch->joined = carve(from, joints, sizeof *scratch->joined);
    scratch->manifolds = carve(from, contacts, sizeof *scratch->manifolds);
    scratch->carried = carve(from, contacts, sizeof *scratch->carried);
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
}

bool cairn_scratch_create(
    cairn_scratch *scratch, const cairn_world_def *def, cairn_contact *contacts) {
    carver measure = {.memory = NULL};
    carve_all(scratch, &measure, def);
    scratch->memory = calloc(1, measure.at);
    scratch->size = measure.at;
    if (scratch->memory == NULL) {
        return false;
    }
    carver cut = {.memory = scratch->memory};
    carve_all(scratch, &cut, def);
    scratch->contacts = contacts;
    return true;
}
