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

// One part in 16 of CAIRN_COMMAND_LOG_KEPT_BYTES_MAX is for the ticks.
#define KEPT_TICKS_BYTES (CAIRN_COMMAND_LOG_KEPT_BYTES_MAX / 16)
#define KEPT_TICKS_MAX (uint32_t)(KEPT_TICKS_BYTES / sizeof(logged_tick))
#define KEPT_COMMANDS_MAX                                                                          \
    (uint32_t)((CAIRN_COMMAND_LOG_KEPT_BYTES_MAX - KEPT_TICKS_BYTES) / sizeof(cairn_command))

struct cairn_command_log {
    uint32_t capacity; // ticks that are always kept
    uint32_t commands_per_tick_max;
    uint64_t keep_from; // ticks from here on are kept as well; UINT64_MAX: none
    uint64_t oldest;
    uint64_t end;
    uint64_t first_filled; // no tick from `oldest` to below this one has commands
    uint32_t tick_capacity;
    logged_tick *ticks;      // [tick % tick_capacity]
    cairn_command *commands; // a ring: those of the ticks that are held, in their order
    uint32_t command_capacity;
    uint32_t next; // where the commands of the next tick begin, if they fit before the end
};

static uint32_t commands_min(const cairn_command_log *log) {
    return COMMANDS_MIN > log->commands_per_tick_max ? COMMANDS_MIN : log->commands_per_tick_max;
}

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
    log->keep_from = UINT64_MAX;
    log->tick_capacity = ticks;
    log->ticks = malloc(ticks * sizeof *log->ticks); // pages that no tick needs are not touched
    log->command_capacity = commands_min(log);
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
    log->keep_from = UINT64_MAX;
    log->oldest = next_tick;
    log->end = next_tick;
    log->first_filled = next_tick;
    log->next = 0;
}

void cairn_command_log_keep(cairn_command_log *log, uint64_t from) {
    log->keep_from = from;
}

static size_t bytes_of(uint32_t ticks, uint32_t commands) {
    return ticks * sizeof(logged_tick) + commands * sizeof(cairn_command);
}

size_t cairn_command_log_bytes(const cairn_command_log *log) {
    return bytes_of(log->tick_capacity, log->command_capacity);
}

static logged_tick *tick_of(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(log->tick_capacity > 0);
    return &log->ticks[tick % log->tick_capacity];
}

// Where the commands of the oldest tick that has any begin; false: no tick that is held has any.
static bool first_command(cairn_command_log *log, uint32_t *first) {
    uint64_t tick = log->first_filled > log->oldest ? log->first_filled : log->oldest;
    while (tick < log->end && tick_of(log, tick)->command_count == 0) {
        ++tick;
    }
    log->first_filled = tick;
    *first = tick < log->end ? tick_of(log, tick)->first : 0;
    return tick < log->end;
}

// Finds a place for `count` commands behind those that are held, or at the start of the ring.
static bool find_place(cairn_command_log *log, uint32_t count, uint32_t *place) {
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

// Moves the commands into a ring of another size, which they fit. False: memory is short.
static bool move_commands(cairn_command_log *log, uint32_t capacity) {
    cairn_command *moved = malloc(capacity * sizeof *moved);
    uint32_t used = 0;
    if (moved == NULL) {
        return false;
    }
    for (uint64_t tick = log->oldest; tick < log->end; ++tick) {
        logged_tick *each = tick_of(log, tick);
        CAIRN_ASSERT(each->command_count <= capacity - used);
        memcpy(moved + used, log->commands + each->first, each->command_count * sizeof *moved);
        each->first = used;
        used += each->command_count;
    }
    free(log->commands);
    log->commands = moved;
    log->command_capacity = capacity;
    log->next = used;
    return true;
}

// The same for the ticks.
static bool move_ticks(cairn_command_log *log, uint32_t capacity) {
    CAIRN_ASSERT(log->end - log->oldest <= capacity);
    logged_tick *moved = calloc(capacity, sizeof *moved);
    if (moved == NULL) {
        return false;
    }
    for (uint64_t tick = log->oldest; tick < log->end; ++tick) {
        moved[tick % capacity] = *tick_of(log, tick);
    }
    free(log->ticks);
    log->ticks = moved;
    log->tick_capacity = capacity;
    return true;
}

// Only the ticks that are always kept may take more than the bound.
static bool grow_commands(cairn_command_log *log) {
    const uint32_t twice = 2 * log->command_capacity;
    const bool bounded = log->end - log->oldest >= log->capacity;
    const uint32_t capacity = bounded && twice > KEPT_COMMANDS_MAX ? KEPT_COMMANDS_MAX : twice;
    return log->command_capacity <= UINT32_MAX / 2 && capacity > log->command_capacity &&
           move_commands(log, capacity);
}

static bool grow_ticks(cairn_command_log *log) {
    const uint32_t twice = 2 * log->tick_capacity;
    return twice <= KEPT_TICKS_MAX && move_ticks(log, twice);
}

// After more ticks were kept, gives back what they took. Without memory for that it stays.
static void shrink(cairn_command_log *log) {
    size_t used = 0;
    for (uint64_t tick = log->oldest; tick < log->end; ++tick) {
        used += tick_of(log, tick)->command_count;
    }
    uint32_t capacity = commands_min(log);
    while (capacity < 2 * used) {
        capacity *= 2;
    }
    CAIRN_ASSERT(log->end - log->oldest < log->capacity);
    if (move_ticks(log, log->capacity) && capacity < log->command_capacity) {
        (void)move_commands(log, capacity);
    }
}

// Makes room for another tick in the ring of ticks.
static void drop_old_ticks(cairn_command_log *log) {
    while (log->end - log->oldest >= log->capacity && log->oldest < log->keep_from) {
        log->oldest += 1;
    }
    const uint64_t held = log->end - log->oldest;
    if (log->keep_from == UINT64_MAX && log->tick_capacity > log->capacity) {
        shrink(log);
    }
    if (held == log->tick_capacity && !grow_ticks(log)) {
        log->oldest += 1;
    }
}

void cairn_command_log_add(cairn_command_log *log, uint64_t tick, const cairn_command *commands,
    uint32_t command_count, cairn_hash128 root) {
    bool empty = log->end == log->oldest;
    CAIRN_ASSERT(empty || tick == log->end);
    CAIRN_ASSERT(command_count <= log->commands_per_tick_max);
    if (empty) {
        const uint64_t keep_from = log->keep_from;
        cairn_command_log_clear(log, tick);
        log->keep_from = keep_from;
    }
    drop_old_ticks(log);
    uint32_t place = 0;
    // If memory is short, or the bound is reached, the oldest ticks are dropped instead.
    while (command_count > 0 && !find_place(log, command_count, &place)) {
        if (!grow_commands(log)) {
            CAIRN_ASSERT(log->oldest < log->end);
            log->oldest += 1;
        }
    }
    log->end = tick + 1;
    CAIRN_ASSERT(log->end - log->oldest <= log->tick_capacity);
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
