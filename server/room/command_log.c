// SPDX-License-Identifier: MIT
#include "server/room/command_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

// The ring of commands grows to twice its size when it is full. It begins with room for all that
// two players send in the ticks that are kept; memory that is not written to is not taken.
#define COMMANDS_MIN 4096

typedef struct logged_tick {
    cairn_hash128 root;
    uint32_t first; // of its commands in the ring; they do not wrap around
    uint32_t command_count;
} logged_tick;

struct cairn_command_log {
    uint32_t capacity; // ticks
    uint32_t commands_per_tick_max;
    uint64_t oldest;
    uint64_t end;
    logged_tick *ticks;      // [tick % capacity]
    cairn_command *commands; // a ring: those of the ticks that are held, in their order
    uint32_t command_capacity;
    uint32_t next; // where the commands of the next tick begin, if they fit before the end
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
    log->command_capacity =
        COMMANDS_MIN > commands_per_tick_max ? COMMANDS_MIN : commands_per_tick_max;
    log->commands = malloc(log->command_capacity * sizeof *log->commands);
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
    log->next = 0;
}

static logged_tick *tick_of(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(log->capacity > 0);
    return &log->ticks[tick % log->capacity];
}

// Where the commands of the oldest tick that has any begin; false: no tick that is held has any.
static bool first_command(const cairn_command_log *log, uint32_t *first) {
    for (uint64_t tick = log->oldest; tick < log->end; ++tick) {
        if (tick_of(log, tick)->command_count > 0) {
            *first = tick_of(log, tick)->first;
            return true;
        }
    }
    return false;
}

// Finds a place for `count` commands behind those that are held, or at the start of the ring.
static bool find_place(const cairn_command_log *log, uint32_t count, uint32_t *place) {
    uint32_t first = 0;
    const uint32_t room = log->command_capacity;
    if (!first_command(log, &first)) {
        *place = 0;
        return count <= room;
    }
    *place = log->next;
    if (log->next > first) { // the free room is at both ends
        if (count <= room - log->next) {
            return true;
        }
        *place = 0;
        return count <= first;
    }
    return count <= first - log->next;
}

// Moves the commands into a ring of twice the size. False: memory is short.
static bool grow(cairn_command_log *log) {
    cairn_command *wider = NULL;
    const uint32_t capacity = 2 * log->command_capacity;
    uint32_t used = 0;
    if (log->command_capacity <= UINT32_MAX / 2) {
        wider = malloc((size_t)capacity * sizeof *wider);
    }
    if (wider == NULL) {
        return false;
    }
    for (uint64_t tick = log->oldest; tick < log->end; ++tick) {
        logged_tick *each = tick_of(log, tick);
        memcpy(wider + used, log->commands + each->first, each->command_count * sizeof *wider);
        each->first = used;
        used += each->command_count;
    }
    free(log->commands);
    log->commands = wider;
    log->command_capacity = capacity;
    log->next = used;
    return true;
}

void cairn_command_log_add(cairn_command_log *log, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root) {
    bool empty = log->end == log->oldest;
    CAIRN_ASSERT(empty || tick == log->end);
    CAIRN_ASSERT(command_count <= log->commands_per_tick_max);
    if (empty) {
        cairn_command_log_clear(log, tick);
    }
    if (tick - log->oldest == log->capacity) {
        log->oldest += 1;
    }
    uint32_t place = 0;
    // If memory is short, the oldest ticks are dropped instead.
    while (command_count > 0 && !find_place(log, command_count, &place)) {
        if (!grow(log)) {
            CAIRN_ASSERT(log->oldest < log->end);
            log->oldest += 1;
        }
    }
    log->end = tick + 1;
    CAIRN_ASSERT(log->end - log->oldest <= log->capacity);
    *tick_of(log, tick) =
        (logged_tick){.root = root, .first = place, .command_count = command_count};
    if (command_count > 0) {
        memcpy(log->commands + place, commands, command_count * sizeof *commands);
        log->next = place + command_count;
        CAIRN_ASSERT(log->next <= log->command_capacity);
    }
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
    *out = tick_of(log, tick)->root;
    return true;
}

const cairn_command *cairn_command_log_commands(
    const cairn_command_log *log, uint64_t tick, uint32_t *count) {
    *count = cairn_command_log_command_count(log, tick);
    return log->commands + tick_of(log, tick)->first;
}

uint32_t cairn_command_log_command_count(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(holds_tick(log, tick));
    return tick_of(log, tick)->command_count;
}
