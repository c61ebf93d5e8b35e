// SPDX-License-Identifier: MIT
#include "server/room/command_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

typedef struct past_tick {
    cairn_hash128 root;
    uint64_t digest; // low half of cairn_commands_digest
    uint32_t command_count;
} past_tick;

struct cairn_command_log {
    uint32_t capacity;
    uint32_t commands_per_tick_max;
    uint64_t oldest;
    uint64_t end;
    past_tick *ticks;        // [tick % capacity]
    cairn_command *commands; // [tick % capacity][commands_per_tick_max]
};

cairn_status cairn_command_log_create(
    uint32_t ticks, uint32_t commands_per_tick_max, cairn_command_log **out) {
    CAIRN_ASSERT(ticks > 0 && commands_per_tick_max > 0);
    *out = NULL;
    cairn_command_log *history = calloc(1, sizeof *history);
    if (history == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    history->capacity = ticks;
    history->commands_per_tick_max = commands_per_tick_max;
    history->ticks = calloc(ticks, sizeof *history->ticks);
    history->commands = calloc((size_t)ticks * commands_per_tick_max, sizeof *history->commands);
    if (history->ticks == NULL || history->commands == NULL) {
        cairn_command_log_destroy(history);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = history;
    return CAIRN_OK;
}

void cairn_command_log_destroy(cairn_command_log *history) {
    if (history != NULL) {
        free(history->commands);
        free(history->ticks);
        free(history);
    }
}

void cairn_command_log_clear(cairn_command_log *history) {
    history->oldest = history->end;
}

static cairn_command *commands_of(const cairn_command_log *history, uint64_t tick) {
    return history->commands + tick % history->capacity * history->commands_per_tick_max;
}

void cairn_command_log_add(cairn_command_log *history, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root) {
    bool empty = history->end == history->oldest;
    CAIRN_ASSERT(empty || tick == history->end);
    CAIRN_ASSERT(command_count <= history->commands_per_tick_max);
    if (empty) {
        history->oldest = tick;
    }
    history->end = tick + 1;
    if (history->end - history->oldest > history->capacity) {
        history->oldest += 1;
    }
    history->ticks[tick % history->capacity] = (past_tick){.root = root,
        .digest = cairn_commands_digest(tick, commands, command_count).lo,
        .command_count = command_count};
    memcpy(commands_of(history, tick), commands, command_count * sizeof *commands);
}

uint32_t cairn_command_log_capacity(const cairn_command_log *history) {
    return history->capacity;
}

uint64_t cairn_command_log_oldest(const cairn_command_log *history) {
    return history->oldest;
}

uint64_t cairn_command_log_end(const cairn_command_log *history) {
    return history->end;
}

static bool holds(const cairn_command_log *history, uint64_t tick) {
    return tick >= history->oldest && tick < history->end;
}

bool cairn_command_log_root(const cairn_command_log *history, uint64_t tick, cairn_hash128 *out) {
    if (!holds(history, tick)) {
        return false;
    }
    *out = history->ticks[tick % history->capacity].root;
    return true;
}

const cairn_command *cairn_command_log_commands(
    const cairn_command_log *history, uint64_t tick, uint32_t *count) {
    *count = cairn_command_log_command_count(history, tick);
    return commands_of(history, tick);
}

uint32_t cairn_command_log_command_count(const cairn_command_log *history, uint64_t tick) {
    CAIRN_ASSERT(holds(history, tick));
    return history->ticks[tick % history->capacity].command_count;
}

void cairn_command_log_read(
    const cairn_command_log *history, uint64_t from, cairn_command_log_span *run) {
    CAIRN_ASSERT(run->command_capacity >= history->commands_per_tick_max);
    run->tick_count = 0;
    run->command_count = 0;
    for (uint64_t tick = from; holds(history, tick) && run->tick_count < run->tick_capacity;
         ++tick) {
        const past_tick *past = &history->ticks[tick % history->capacity];
        if (past->command_count > run->command_capacity - run->command_count) {
            return;
        }
        if (run->digests != NULL) {
            run->digests[run->tick_count] = past->digest;
        }
        run->ticks[run->tick_count++] = (cairn_wire_tick){.tick = tick,
            .root_lo = past->root.lo,
            .root_hi = past->root.hi,
            .first_command = run->command_count,
            .command_count = past->command_count};
        memcpy(run->commands + run->command_count, commands_of(history, tick),
            past->command_count * sizeof *run->commands);
        run->command_count += past->command_count;
    }
}
