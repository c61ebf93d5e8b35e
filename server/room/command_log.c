// SPDX-License-Identifier: MIT
#include "server/room/command_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"

// Commands are stored in blocks, so that a log that grows moves none of them, however large it is.
// A block has room for all that two players send in the ticks that are kept. The system provides
// memory for the part of it that is written.
#define BLOCK_COMMANDS_MIN 4096
// The most blocks that are freed in a tick, so that a log that becomes small delays no tick.
#define BLOCKS_FREED_MAX 4

typedef struct logged_tick {
    cairn_hash128 root;
    uint32_t first; // position of its commands, modulo 2^32; they are in one block
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
    uint32_t block_commands; // that a block has room for: a power of two
    uint32_t block_places;   // a power of two
    cairn_command **blocks;  // [position / block_commands % block_places]
    uint64_t first_block;    // the blocks from here to below `end_block` are there: at least one
    uint64_t end_block;
    uint64_t next; // position behind the last command
};

cairn_status cairn_command_log_create(
    uint32_t ticks, uint32_t commands_per_tick_max, cairn_command_log **out) {
    CAIRN_ASSERT(ticks > 0 && commands_per_tick_max > 0 && commands_per_tick_max <= 1u << 24);
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
    log->block_commands = BLOCK_COMMANDS_MIN;
    while (log->block_commands < commands_per_tick_max) {
        log->block_commands *= 2;
    }
    log->block_places = 4;
    log->blocks = calloc(log->block_places, sizeof *log->blocks);
    if (log->ticks == NULL || log->blocks == NULL ||
        (log->blocks[0] = malloc(log->block_commands * sizeof **log->blocks)) == NULL) {
        cairn_command_log_destroy(log);
        return CAIRN_OUT_OF_MEMORY;
    }
    log->end_block = 1;
    *out = log;
    return CAIRN_OK;
}

static cairn_command **block_at(const cairn_command_log *log, uint64_t number) {
    return &log->blocks[number % log->block_places];
}

void cairn_command_log_destroy(cairn_command_log *log) {
    if (log != NULL) {
        for (uint64_t i = log->first_block; i < log->end_block; ++i) {
            free(*block_at(log, i));
        }
        free((void *)log->blocks);
        free(log->ticks);
        free(log);
    }
}

void cairn_command_log_clear(cairn_command_log *log, uint64_t next_tick) {
    log->keep_from = UINT64_MAX;
    log->oldest = next_tick;
    log->end = next_tick;
    log->first_filled = next_tick;
}

void cairn_command_log_keep(cairn_command_log *log, uint64_t from) {
    log->keep_from = from;
}

size_t cairn_command_log_bytes(const cairn_command_log *log) {
    const size_t commands = (size_t)(log->end_block - log->first_block) * log->block_commands;
    return log->tick_capacity * sizeof(logged_tick) + commands * sizeof(cairn_command);
}

static logged_tick *tick_of(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(log->tick_capacity > 0);
    return &log->ticks[tick % log->tick_capacity];
}

static cairn_command *commands_at(const cairn_command_log *log, uint64_t position) {
    return *block_at(log, position / log->block_commands) + position % log->block_commands;
}

// The oldest block that has commands of a tick that is held; `end_block` if none has.
static uint64_t oldest_needed(cairn_command_log *log) {
    uint64_t tick = log->first_filled > log->oldest ? log->first_filled : log->oldest;
    while (tick < log->end && tick_of(log, tick)->command_count == 0) {
        ++tick;
    }
    log->first_filled = tick;
    if (tick == log->end) {
        return log->end_block;
    }
    const uint32_t before = (uint32_t)log->next - tick_of(log, tick)->first;
    return (log->next - before) / log->block_commands;
}

// Doubles the places for blocks. False: memory is short.
static bool grow_places(cairn_command_log *log) {
    cairn_command **moved = calloc(2 * (size_t)log->block_places, sizeof *moved);
    if (moved == NULL) {
        return false;
    }
    for (uint64_t i = log->first_block; i < log->end_block; ++i) {
        moved[i % (2 * log->block_places)] = *block_at(log, i);
    }
    free((void *)log->blocks);
    log->blocks = moved;
    log->block_places *= 2;
    return true;
}

// Adds a block: the oldest one if no tick that is held needs it. False: the bound is reached, which
// only the ticks that are always kept may pass, or memory is short.
static bool add_block(cairn_command_log *log) {
    const uint64_t count = log->end_block - log->first_block;
    cairn_command *block = NULL;
    if (oldest_needed(log) > log->first_block) {
        block = *block_at(log, log->first_block);
        log->first_block += 1;
    } else {
        const bool bounded = log->end - log->oldest >= log->capacity;
        if ((bounded && (count + 1) * log->block_commands > KEPT_COMMANDS_MAX) ||
            (count == log->block_places && !grow_places(log))) {
            return false;
        }
        block = malloc(log->block_commands * sizeof *block);
    }
    if (block == NULL) {
        return false;
    }
    *block_at(log, log->end_block) = block;
    log->end_block += 1;
    return true;
}

// Finds a place for the commands of a tick: behind the last ones, or at the start of another block.
static bool find_place(cairn_command_log *log, uint32_t count, uint64_t *place) {
    const uint64_t block_end = log->end_block * log->block_commands;
    *place = count <= block_end - log->next ? log->next : block_end;
    return *place < block_end || add_block(log);
}

// Frees blocks that no tick needs.
static void free_blocks(cairn_command_log *log) {
    const uint64_t needed = oldest_needed(log);
    const uint64_t last = log->end_block - 1;
    const uint64_t end = needed < last ? needed : last;
    for (uint32_t i = 0; i < BLOCKS_FREED_MAX && log->first_block < end; ++i) {
        free(*block_at(log, log->first_block));
        log->first_block += 1;
    }
}

// Moves the ticks into a ring of another size, which they fit. False: memory is short.
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

static bool grow_ticks(cairn_command_log *log) {
    const uint32_t twice = 2 * log->tick_capacity;
    return twice <= KEPT_TICKS_MAX && move_ticks(log, twice);
}

// Makes room for another tick in the ring of ticks.
static void drop_old_ticks(cairn_command_log *log) {
    while (log->end - log->oldest >= log->capacity && log->oldest < log->keep_from) {
        log->oldest += 1;
    }
    const uint64_t held = log->end - log->oldest;
    if (log->keep_from == UINT64_MAX && log->tick_capacity > log->capacity) {
        (void)move_ticks(log, log->capacity); // if memory is short, the ring stays large
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
    free_blocks(log);
    uint64_t place = log->next;
    // If memory is short, or the bound is reached, the oldest ticks are dropped instead.
    while (command_count > 0 && !find_place(log, command_count, &place)) {
        CAIRN_ASSERT(log->oldest < log->end);
        log->oldest += 1;
    }
    log->end = tick + 1;
    CAIRN_ASSERT(log->end - log->oldest <= log->tick_capacity);
    *tick_of(log, tick) =
        (logged_tick){.root = root, .first = (uint32_t)place, .command_count = command_count};
    if (command_count > 0) {
        memcpy(commands_at(log, place), commands, command_count * sizeof *commands);
        log->next = place + command_count;
        CAIRN_ASSERT(log->next <= log->end_block * log->block_commands);
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
    return commands_at(log, tick_of(log, tick)->first);
}

uint32_t cairn_command_log_command_count(const cairn_command_log *log, uint64_t tick) {
    CAIRN_ASSERT(holds_tick(log, tick));
    return tick_of(log, tick)->command_count;
}
