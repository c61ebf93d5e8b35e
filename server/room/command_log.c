// SPDX-License-Identifier: MIT
#include "server/room/command_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

typedef struct logged_tick {
    cairn_hash128 root;
    uint64_t digest; // low half of cairn_commands_digest
    uint32_t command_count;
} logged_tick;

struct cairn_command_log {
    uint32_t capacity;
    uint32_t commands_per_tick_max;
    uint64_t oldest;
    uint64_t end;
    logged_tick *ticks;      // [tick % capacity]
    cairn_command *commands; // [tick % capacity][commands_per_tick_max]
};

cairn_status cairn_command_log_create(
    uint32_t ticks, uint32_t commands_per_tick_max, cairn_command_log **out) {
    CAIRN_ASSERT(ticks > 0 && commands_per_tick_max > 0);
    *out = NULL;
    cairn_command_log *log = calloc(1, sizeof *log);
    if (log == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    log->capacity = ticks;
    log->commands_per_tick_max = commands_per_tick_max;
    log->ticks = calloc(ticks, sizeof *log->ticks);
    log->commands = calloc((size_t)ticks * commands_per_tick_max, sizeof *log->commands);
    if (log->ticks == NULL || log->commands == NULL) {
        cairn_command_log_destroy(log);
        return CAIRN_OUT_OF_MEMORY;
    }
    *out = log;
    return CAIRN_OK;
}

void cairn_command_log_destroy(cairn_command_log *log) {
    if (log != NULL) {
        free(log->commands);
        free(log->ticks);
        free(log);
    }
}

void cairn_command_log_clear(cairn_command_log *log, uint64_t next_tick) {
    log->oldest = next_tick;
    log->end = next_tick;
}

static cairn_command *commands_of(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(log->capacity > 0);
    return log->commands + tick % log->capacity * log->commands_per_tick_max;
}

void cairn_command_log_add(cairn_command_log *log, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root) {
    bool empty = log->end == log->oldest;
    CAIRN_ASSERT(empty || tick == log->end);
    CAIRN_ASSERT(command_count <= log->commands_per_tick_max);
    if (empty) {
        log->oldest = tick;
    }
    log->end = tick + 1;
    if (log->end - log->oldest > log->capacity) {
        log->oldest += 1;
    }
    CAIRN_ASSERT(log->end - log->oldest <= log->capacity);
    log->ticks[tick % log->capacity] = (logged_tick){.root = root,
        .digest = cairn_commands_digest(tick, commands, command_count).lo,
        .command_count = command_count};
    memcpy(commands_of(log, tick), commands, command_count * sizeof *commands);
}

uint64_t cairn_command_log_oldest(const cairn_command_log *log) {
    return log->oldest;
}

uint64_t cairn_command_log_end(const cairn_command_log *log) {
    return log->end;
}

static bool holds_tick(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(log->oldest <= log->end);
    return tick >= log->oldest && tick < log->end;
}

bool cairn_command_log_root(const cairn_command_log *log, uint64_t tick, cairn_hash128 *out) {
    if (!holds_tick(log, tick)) {
        return false;
    }
    *out = log->ticks[tick % log->capacity].root;
    return true;
}

const cairn_command *cairn_command_log_commands(
    const cairn_command_log *log, uint64_t tick, uint32_t *count) {
    *count = cairn_command_log_command_count(log, tick);
    return commands_of(log, tick);
}

uint32_t cairn_command_log_command_count(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(holds_tick(log, tick));
    return log->ticks[tick % log->capacity].command_count;
}

void cairn_command_log_read(
    const cairn_command_log *log, uint64_t from, cairn_command_log_span *span) {
    CAIRN_ASSERT(span->ticks != NULL && span->commands != NULL);
    CAIRN_ASSERT(span->command_capacity >= log->commands_per_tick_max);
    span->tick_count = 0;
    span->command_count = 0;
    for (uint64_t tick = from; holds_tick(log, tick) && span->tick_count < span->tick_capacity;
         ++tick) {
        const logged_tick *each = &log->ticks[tick % log->capacity];
        if (each->command_count > span->command_capacity - span->command_count) {
            return;
        }
        if (span->digests != NULL) {
            span->digests[span->tick_count] = each->digest;
        }
        span->ticks[span->tick_count++] = (cairn_wire_tick){.tick = tick,
            .root_lo = each->root.lo,
            .root_hi = each->root.hi,
            .first_command = span->command_count,
            .command_count = each->command_count};
        memcpy(span->commands + span->command_count, commands_of(log, tick),
            each->command_count * sizeof *span->commands);
        span->command_count += each->command_count;
        CAIRN_ASSERT(span->command_count <= span->command_capacity);
    }
}
