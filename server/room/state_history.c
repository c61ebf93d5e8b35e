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
    size_t bytes;                                    // capacities of all blocks
    uint32_t wishes[CAIRN_STATE_HISTORY_USER_COUNT]; // ticks
    uint32_t wanted;                                 // the longest wish, at most ticks_max
    uint64_t newest;                                 // tick
    uint32_t first;                                  // the oldest state's place in the ring
    uint32_t count;
    uint64_t epoch;
    uint64_t saves_refused;
    block spare;    // of the state that gave way last
    block blocks[]; // [ticks_max]
};

cairn_status cairn_state_history_create(
    uint32_t ticks_max, size_t bytes_max, cairn_state_history **out) {
    *out = NULL;
    if (ticks_max == 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_state_history *past = calloc(1, sizeof *past + ticks_max * sizeof past->blocks[0]);
    if (past == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    past->ticks_max = ticks_max;
    past->bytes_max = bytes_max;
    *out = past;
    return CAIRN_OK;
}

static void give_back(cairn_state_history *past, block *memory) {
    past->bytes -= memory->capacity;
    free(memory->bytes);
    *memory = (block){0};
}

void cairn_state_history_destroy(cairn_state_history *past) {
    if (past != NULL) {
        past->wanted = 0;
        cairn_state_history_clear(past);
        CAIRN_ASSERT(past->bytes == 0);
        free(past);
    }
}

static block *block_at(cairn_state_history *past, uint32_t age_order) {
    return &past->blocks[(past->first + age_order) % past->ticks_max];
}

// The oldest state goes; one block stays for the next state.
static void drop_oldest(cairn_state_history *past) {
    block *oldest = block_at(past, 0);
    if (past->spare.bytes == NULL) {
        past->spare = *oldest;
        *oldest = (block){0};
    } else {
        give_back(past, oldest);
    }
    past->first = (past->first + 1) % past->ticks_max;
    past->count -= 1;
}

uint64_t cairn_state_history_generation(const cairn_state_history *past) {
    return past->epoch;
}

void cairn_state_history_clear(cairn_state_history *past) {
    past->epoch += past->count > 0 ? 1 : 0;
    while (past->count > 0) {
        drop_oldest(past);
    }
    if (past->wanted == 0) {
        give_back(past, &past->spare);
    }
}

void cairn_state_history_require(
    cairn_state_history *past, cairn_state_history_user who, uint32_t ticks) {
    CAIRN_ASSERT(who < CAIRN_STATE_HISTORY_USER_COUNT);
    past->wishes[who] = ticks;
    past->wanted = 0;
    for (uint32_t i = 0; i < CAIRN_STATE_HISTORY_USER_COUNT; ++i) {
        past->wanted = past->wishes[i] > past->wanted ? past->wishes[i] : past->wanted;
    }
    past->wanted = past->wanted < past->ticks_max ? past->wanted : past->ticks_max;
    if (past->count > past->wanted) {
        while (past->count > past->wanted) {
            drop_oldest(past);
        }
        give_back(past, &past->spare);
    }
}

// The spare block, large enough for a state of `size` bytes: the oldest states give way until it
// may be. Some more, so that a world that grows slowly does not grow it each time.
static bool make_room(cairn_state_history *past, size_t size) {
    const size_t capacity = size + size / 8;
    if (past->spare.capacity >= size) {
        return true;
    }
    give_back(past, &past->spare);
    while (past->count > 0 && past->bytes + capacity > past->bytes_max) {
        drop_oldest(past);
        give_back(past, &past->spare);
    }
    if (past->bytes + capacity > past->bytes_max) {
        return false;
    }
    past->spare.bytes = malloc(capacity);
    if (past->spare.bytes == NULL) {
        return false;
    }
    past->spare.capacity = capacity;
    past->bytes += capacity;
    return true;
}

void cairn_state_history_save(cairn_state_history *past, const cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world);
    if (past->wanted == 0) {
        return;
    }
    if (past->count > 0 && tick != past->newest + 1) {
        cairn_state_history_clear(past);
    }
    if (past->count == past->wanted) {
        drop_oldest(past);
    }
    const size_t size = cairn_world_save_size(world);
    if (!make_room(past, size)) {
        past->saves_refused += 1;
        cairn_state_history_clear(past);
        return;
    }
    past->spare.size = cairn_world_save(world, past->spare.bytes, past->spare.capacity);
    CAIRN_ASSERT(past->spare.size == size);
    *block_at(past, past->count) = past->spare;
    past->spare = (block){0};
    past->count += 1;
    past->newest = tick;
}

bool cairn_state_history_holds(const cairn_state_history *past, uint64_t tick) {
    return tick <= past->newest && past->newest - tick < past->count;
}

cairn_status cairn_state_history_load(
    const cairn_state_history *past, uint64_t tick, cairn_world *world) {
    if (!cairn_state_history_holds(past, tick)) {
        return CAIRN_NOT_FOUND;
    }
    const uint32_t order = past->count - 1 - (uint32_t)(past->newest - tick);
    const block *held = &past->blocks[(past->first + order) % past->ticks_max];
    return cairn_world_load(world, held->bytes, held->size);
}

cairn_state_history_statistics cairn_state_history_statistics_read(
    const cairn_state_history *past) {
    return (cairn_state_history_statistics){.ticks = past->count,
        .oldest = past->count > 0 ? past->newest - (past->count - 1) : 0,
        .newest = past->count > 0 ? past->newest : 0,
        .bytes = past->bytes,
        .saves_refused = past->saves_refused};
}
