// SPDX-License-Identifier: MIT
#include "server/replicate/state_transfer.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/assert.h"

cairn_status cairn_state_source_create(size_t capacity, cairn_state_source *out) {
    *out = (cairn_state_source){.bytes = malloc(capacity), .capacity = capacity};
    return out->bytes == NULL ? CAIRN_OUT_OF_MEMORY : CAIRN_OK;
}

void cairn_state_source_destroy(cairn_state_source *transfer) {
    free(transfer->bytes);
    *transfer = (cairn_state_source){0};
}

cairn_status cairn_state_source_join(cairn_state_source *transfer, const cairn_world *world,
    uint64_t fresh_ticks, uint64_t usable_ticks) {
    uint64_t age = cairn_world_tick(world) - transfer->tick;
    bool serves = age <= fresh_ticks || (transfer->readers > 0 && age <= usable_ticks);
    if (transfer->generation == 0 || transfer->stale || !serves) {
        size_t size = cairn_world_encode(world, transfer->bytes, transfer->capacity);
        if (size == 0) {
            return CAIRN_CAPACITY;
        }
        transfer->size = size;
        transfer->tick = cairn_world_tick(world);
        transfer->generation += 1;
        transfer->stale = false;
    }
    transfer->readers += 1;
    return CAIRN_OK;
}

void cairn_state_source_invalidate(cairn_state_source *transfer) {
    CAIRN_ASSERT(transfer->readers == 0);
    transfer->stale = true;
}

void cairn_state_source_leave(cairn_state_source *transfer) {
    CAIRN_ASSERT(transfer->readers > 0);
    transfer->readers -= 1;
}
