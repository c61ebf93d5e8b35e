// SPDX-License-Identifier: MIT
#include "tests/virtual/witness.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/wire.h"

cairn_witness *cairn_witness_create(uint32_t body_capacity) {
    cairn_witness *past = calloc(1, sizeof *past);
    if (past == NULL) {
        return NULL;
    }
    past->body_capacity = body_capacity;
    past->bodies = malloc((size_t)CAIRN_WITNESS_TICKS * body_capacity * sizeof *past->bodies);
    past->scratch = malloc(body_capacity * sizeof *past->scratch);
    if (past->bodies == NULL || past->scratch == NULL) {
        cairn_witness_destroy(past);
        return NULL;
    }
    for (uint32_t i = 0; i < CAIRN_WITNESS_TICKS; i++) {
        past->ticks[i].bodies = past->bodies + (size_t)i * body_capacity;
    }
    cairn_witness_forget(past);
    return past;
}

void cairn_witness_destroy(cairn_witness *past) {
    if (past != NULL) {
        free(past->bodies);
        free(past->scratch);
        free(past);
    }
}

void cairn_witness_forget(cairn_witness *past) {
    for (uint32_t i = 0; i < CAIRN_WITNESS_TICKS; i++) {
        past->ticks[i].tick = UINT64_MAX;
    }
}

void cairn_witness_note(cairn_witness *past, const cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world);
    cairn_witness_tick *t = &past->ticks[tick % CAIRN_WITNESS_TICKS];
    t->tick = tick;
    t->root = cairn_world_hash_read(world).full;
    t->body_count = cairn_world_wire_bodies(world, past->scratch, t->bodies, past->body_capacity);
    CAIRN_ASSERT(t->body_count <= past->body_capacity);
}

const cairn_witness_tick *cairn_witness_find(const cairn_witness *past, uint64_t tick) {
    const cairn_witness_tick *t = &past->ticks[tick % CAIRN_WITNESS_TICKS];
    return t->tick == tick ? t : NULL;
}

bool cairn_witness_bodies_equal(
    const cairn_witness_tick *tick, const cairn_wire_body *bodies, uint32_t body_count) {
    return body_count == tick->body_count &&
           memcmp(bodies, tick->bodies, body_count * sizeof *bodies) == 0;
}
