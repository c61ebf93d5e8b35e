// SPDX-License-Identifier: MIT
#include "server/room/state_history.h"

#include <stdlib.h>

#include "base/assert.h"

typedef struct block {
    uint8_t *bytes;
    size_t capacity;
    size_t size; // of the state in it
} block;

struct cairn_state_history {
    uint32_t ticks_max;
    size_t bytes_max;
    size_t bytes;                                         // capacity of all blocks
    uint32_t required_by[CAIRN_STATE_HISTORY_USER_COUNT]; // states
    uint32_t required;                                    // the largest of them, at most ticks_max
    uint64_t newest;                                      // tick
    uint32_t first;                                       // index of the oldest state in the ring
    uint32_t count;
    uint64_t generation;
    uint64_t saves_refused;
    block spare;    // memory of the state that was dropped last
    block blocks[]; // [ticks_max]
};

cairn_status cairn_state_history_create(
    uint32_t ticks_max, size_t bytes_max, cairn_state_history **out) {
    *out = NULL;
    if (ticks_max == 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_state_history *history =
        calloc(1, sizeof *history + ticks_max * sizeof history->blocks[0]);
    if (history == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    history->ticks_max = ticks_max;
    history->bytes_max = bytes_max;
    *out = history;
    return CAIRN_OK;
}

static void free_block(cairn_state_history *history, block *memory) {
    CAIRN_ASSERT(history->bytes >= memory->capacity);
    history->bytes -= memory->capacity;
    free(memory->bytes);
    *memory = (block){0};
}

void cairn_state_history_destroy(cairn_state_history *history) {
    if (history != NULL) {
        history->required = 0;
        cairn_state_history_clear(history);
        CAIRN_ASSERT(history->bytes == 0);
        free(history);
    }
}

static block *block_at(cairn_state_history *history, uint32_t age_order) {
    CAIRN_ASSERT(age_order < history->ticks_max);
    return &history->blocks[(history->first + age_order) % history->ticks_max];
}

// Drops the oldest state and keeps one block for the next state.
static void drop_oldest(cairn_state_history *history) {
    CAIRN_ASSERT(history->count > 0);
    block *oldest = block_at(history, 0);
    if (history->spare.bytes == NULL) {
        history->spare = *oldest;
        *oldest = (block){0};
    } else {
        free_block(history, oldest);
    }
    history->first = (history->first + 1) % history->ticks_max;
    history->count -= 1;
}

uint64_t cairn_state_history_generation(const cairn_state_history *history) {
    return history->generation;
}

void cairn_state_history_clear(cairn_state_history *history) {
    history->generation += history->count > 0 ? 1 : 0;
    while (history->count > 0) {
        drop_oldest(history);
    }
    if (history->required == 0) {
        free_block(history, &history->spare);
    }
}

void cairn_state_history_require(
    cairn_state_history *history, cairn_state_history_user user, uint32_t ticks) {
    CAIRN_ASSERT(user < CAIRN_STATE_HISTORY_USER_COUNT);
    history->required_by[user] = ticks;
    history->required = 0;
    for (uint32_t i = 0; i < CAIRN_STATE_HISTORY_USER_COUNT; ++i) {
        history->required = history->required_by[i] > history->required ? history->required_by[i]
                                                                        : history->required;
    }
    history->required =
        history->required < history->ticks_max ? history->required : history->ticks_max;
    if (history->count > history->required) {
        while (history->count > history->required) {
            drop_oldest(history);
        }
        free_block(history, &history->spare);
    }
}

// Makes the spare block large enough for a state of `size` bytes, and a little larger, so that a
// world that grows slowly does not allocate each time. Drops the oldest states until it fits.
static bool reserve_spare(cairn_state_history *history, size_t size) {
    const size_t capacity = size + size / 8;
    if (history->spare.capacity >= size) {
        return true;
    }
    free_block(history, &history->spare);
    while (history->count > 0 && history->bytes + capacity > history->bytes_max) {
        drop_oldest(history);
        free_block(history, &history->spare);
    }
    if (history->bytes + capacity > history->bytes_max) {
        return false;
    }
    history->spare.bytes = malloc(capacity);
    if (history->spare.bytes == NULL) {
        return false;
    }
    history->spare.capacity = capacity;
    history->bytes += capacity;
    CAIRN_ASSERT(history->bytes <= history->bytes_max);
    return true;
}

void cairn_state_history_save(cairn_state_history *history, const cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world);
    if (history->required == 0) {
        return;
    }
    if (history->count > 0 && tick != history->newest + 1) {
        cairn_state_history_clear(history);
    }
    if (history->count == history->required) {
        drop_oldest(history);
    }
    const size_t size = cairn_world_save_size(world);
    if (!reserve_spare(history, size)) {
        history->saves_refused += 1;
        cairn_state_history_clear(history);
        return;
    }
    history->spare.size = cairn_world_save(world, history->spare.bytes, history->spare.capacity);
    CAIRN_ASSERT(history->spare.size == size);
    *block_at(history, history->count) = history->spare;
    history->spare = (block){0};
    history->count += 1;
    CAIRN_ASSERT(history->count <= history->required);
    history->newest = tick;
}

bool cairn_state_history_holds(const cairn_state_history *history, uint64_t tick) {
    return tick <= history->newest && history->newest - tick < history->count;
}

cairn_status cairn_state_history_load(
    const cairn_state_history *history, uint64_t tick, cairn_world *world) {
    if (!cairn_state_history_holds(history, tick)) {
        return CAIRN_NOT_FOUND;
    }
    const uint32_t order = history->count - 1 - (uint32_t)(history->newest - tick);
    CAIRN_ASSERT(order < history->count);
    const block *held = &history->blocks[(history->first + order) % history->ticks_max];
    return cairn_world_load(world, held->bytes, held->size);
}

cairn_state_history_statistics cairn_state_history_statistics_read(
    const cairn_state_history *history) {
    return (cairn_state_history_statistics){.ticks = history->count,
        .oldest = history->count > 0 ? history->newest - (history->count - 1) : 0,
        .newest = history->count > 0 ? history->newest : 0,
        .bytes = history->bytes,
        .saves_refused = history->saves_refused};
}
