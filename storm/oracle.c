// SPDX-License-Identifier: MIT
#include "storm/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/wire.h"

cairn_witness *cairn_witness_create(uint32_t body_capacity) {
    cairn_witness *witness = calloc(1, sizeof *witness);
    if (witness == NULL) {
        return NULL;
    }
    witness->body_capacity = body_capacity;
    const size_t tick_size = body_capacity * sizeof *witness->bodies;
    const size_t room = CAIRN_WITNESS_BYTES_MAX / tick_size + 1;
    witness->whole_ticks = room < CAIRN_WITNESS_TICKS ? (uint32_t)room : CAIRN_WITNESS_TICKS;
    witness->bodies = malloc(witness->whole_ticks * tick_size);
    witness->scratch = malloc(body_capacity * sizeof *witness->scratch);
    if (witness->bodies == NULL || witness->scratch == NULL) {
        cairn_witness_destroy(witness);
        return NULL;
    }
    cairn_witness_forget(witness);
    return witness;
}

void cairn_witness_destroy(cairn_witness *witness) {
    if (witness != NULL) {
        free(witness->bodies);
        free(witness->scratch);
        free(witness);
    }
}

void cairn_witness_forget(cairn_witness *witness) {
    for (uint32_t i = 0; i < CAIRN_WITNESS_TICKS; i++) {
        witness->ticks[i].tick = UINT64_MAX;
    }
}

// The tick's place; whose bodies it takes has only its root from now on.
static cairn_witness_tick *place_of(cairn_witness *witness, uint64_t tick) {
    if (tick >= witness->whole_ticks) {
        witness->ticks[(tick - witness->whole_ticks) % CAIRN_WITNESS_TICKS].whole = false;
    }
    return &witness->ticks[tick % CAIRN_WITNESS_TICKS];
}

void cairn_witness_note(cairn_witness *witness, const cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world);
    cairn_wire_body *bodies =
        witness->bodies + (size_t)(tick % witness->whole_ticks) * witness->body_capacity;
    const uint32_t count =
        cairn_world_wire_bodies(world, witness->scratch, bodies, witness->body_capacity);
    CAIRN_ASSERT(count <= witness->body_capacity);
    *place_of(witness, tick) = (cairn_witness_tick){.tick = tick,
        .root = cairn_world_hash_read(world).full,
        .whole = true,
        .body_count = count,
        .bodies = bodies};
}

void cairn_witness_note_root(cairn_witness *witness, uint64_t tick, cairn_hash128 root) {
    *place_of(witness, tick) = (cairn_witness_tick){.tick = tick, .root = root};
}

const cairn_witness_tick *cairn_witness_find(const cairn_witness *witness, uint64_t tick) {
    const cairn_witness_tick *t = &witness->ticks[tick % CAIRN_WITNESS_TICKS];
    return t->tick == tick ? t : NULL;
}

bool cairn_witness_bodies_equal(
    const cairn_witness_tick *tick, const cairn_wire_body *bodies, uint32_t body_count) {
    return body_count == tick->body_count &&
           memcmp(bodies, tick->bodies, body_count * sizeof *bodies) == 0;
}
