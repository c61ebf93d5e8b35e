// SPDX-License-Identifier: MIT
#include <string.h>

#include "sim/pgs/pgs.h"
#include "sim/step.h"

void cairn_batches_begin(cairn_world *world) {
    memset(world->pgs->colours, 0, world->state.settings->body_slots * sizeof *world->pgs->colours);
}

uint32_t cairn_batches_assign(cairn_world *world, uint32_t body_a, uint32_t body_b) {
    const cairn_pgs *pgs = world->pgs;
    const bool moving_a = pgs->bodies[body_a].moving != 0;
    const bool moving_b = pgs->bodies[body_b].moving != 0;
    const uint32_t taken =
        (moving_a ? pgs->colours[body_a] : 0) | (moving_b ? pgs->colours[body_b] : 0);
    uint32_t colour = 0;
    while (colour < CAIRN_COLOURS && (taken >> colour & 1u) != 0) {
        ++colour;
    }
    if (colour < CAIRN_COLOURS) {
        pgs->colours[body_a] |= moving_a ? 1u << colour : 0;
        pgs->colours[body_b] |= moving_b ? 1u << colour : 0;
    }
    return colour;
}

void cairn_batches_place(
    cairn_batches *batches, const uint32_t *batch_of, uint32_t *place_of, uint32_t count) {
    uint32_t next[CAIRN_PGS_BATCHES];
    for (uint32_t batch = 0; batch < CAIRN_PGS_BATCHES; ++batch) {
        next[batch] = batches->start[batch];
        batches->start[batch + 1] += batches->start[batch];
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (batch_of[i] < CAIRN_PGS_BATCHES) {
            place_of[i] = next[batch_of[i]]++;
        }
    }
}
