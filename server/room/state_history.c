// SPDX-License-Identifier: MIT
#include "server/room/state_history.h"

#include <stdlib.h>

#include "base/assert.h"
#include <cairn/history.h>

struct cairn_state_history {
    uint32_t ticks_max;
    size_t bytes_max;
    uint32_t required_by[CAIRN_STATE_HISTORY_USER_COUNT]; // states
    uint32_t required;                                    // the largest of them, at most ticks_max
    cairn_history *states;                                // owned; NULL: none are held
    uint64_t generation;
    uint64_t saves_refused;
};

cairn_status cairn_state_history_create(
    uint32_t ticks_max, size_t bytes_max, cairn_state_history **out) {
    *out = NULL;
    if (ticks_max == 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_state_history *history = calloc(1, sizeof *history);
    if (history == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    history->ticks_max = ticks_max;
    history->bytes_max = bytes_max;
    *out = history;
    return CAIRN_OK;
}

void cairn_state_history_destroy(cairn_state_history *history) {
    if (history != NULL) {
        cairn_history_destroy(history->states);
        free(history);
    }
}

uint64_t cairn_state_history_generation(const cairn_state_history *history) {
    return history->generation;
}

static void count_clearing(cairn_state_history *history) {
    history->generation += cairn_state_history_statistics_read(history).ticks > 0 ? 1 : 0;
}

void cairn_state_history_clear(cairn_state_history *history) {
    count_clearing(history);
    cairn_history_destroy(history->states);
    history->states = NULL;
}

cairn_status cairn_state_history_create_like(
    const cairn_state_history *like, cairn_state_history **out) {
    const cairn_status status = cairn_state_history_create(like->ticks_max, like->bytes_max, out);
    if (status == CAIRN_OK) {
        (*out)->required = like->required;
    }
    return status;
}

void cairn_state_history_exchange(cairn_state_history *history, cairn_state_history *other) {
    cairn_history *states = history->states;
    CAIRN_ASSERT(history != other);
    count_clearing(history);
    count_clearing(other);
    history->states = other->states;
    other->states = states;
}

static void drop_beyond(cairn_state_history *history, uint32_t count) {
    const cairn_history_statistics held = cairn_history_statistics_read(history->states);
    if (held.ticks > count) {
        cairn_history_drop_before(history->states, held.newest - count + 1);
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
    if (history->required == 0) {
        cairn_history_destroy(history->states);
        history->states = NULL;
    } else if (history->states != NULL) {
        drop_beyond(history, history->required);
    }
}

static cairn_status save(cairn_state_history *history, cairn_world *world) {
    cairn_status status = CAIRN_OK;
    if (history->states == NULL) {
        status = cairn_history_create(world, history->ticks_max,
            history->bytes_max == 0 ? 1 : history->bytes_max, &history->states);
    }
    return status == CAIRN_OK ? cairn_history_save(history->states, UINT64_MAX) : status;
}

void cairn_state_history_save(cairn_state_history *history, cairn_world *world) {
    if (history->required == 0) {
        return;
    }
    const cairn_state_history_statistics held = cairn_state_history_statistics_read(history);
    if (history->states != NULL &&
        (!cairn_history_is_of(history->states, world) ||
            (held.ticks > 0 && cairn_world_tick(world) != held.newest + 1))) {
        cairn_state_history_clear(history);
    }
    if (save(history, world) != CAIRN_OK) {
        history->saves_refused += 1;
        cairn_state_history_clear(history);
        return;
    }
    drop_beyond(history, history->required);
}

bool cairn_state_history_holds(const cairn_state_history *history, uint64_t tick) {
    return history->states != NULL && cairn_history_holds(history->states, tick);
}

cairn_status cairn_state_history_load(
    const cairn_state_history *history, uint64_t tick, cairn_world *world) {
    if (history->states == NULL) {
        return CAIRN_NOT_FOUND;
    }
    const cairn_status status = cairn_history_load(history->states, tick, world);
    return status == CAIRN_INVALID_ARGUMENT ? CAIRN_MALFORMED : status;
}

cairn_state_history_statistics cairn_state_history_statistics_read(
    const cairn_state_history *history) {
    cairn_history_statistics held = {.ticks = 0};
    if (history->states != NULL) {
        held = cairn_history_statistics_read(history->states);
    }
    return (cairn_state_history_statistics){.ticks = held.ticks,
        .oldest = held.oldest,
        .newest = held.newest,
        .bytes = held.bytes,
        .memory = held.memory,
        .reserved = held.reserved,
        .saves_refused = history->saves_refused};
}
