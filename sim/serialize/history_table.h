// SPDX-License-Identifier: MIT
#pragma once

// The tables of a history (sim/serialize/history.c), as saving and restoring read them.

#include <string.h>

#include <cairn/history.h>

#include "base/assert.h"
#include "sim/state/hash_cache.h"
#include "sim/state/world.h"

#define CELL_SIZE 256u // bytes
#define CELL_NONE UINT32_MAX
// A block of the largest elements.
#define CELLS_PER_BLOCK_MAX ((CAIRN_ELEMENT_WORDS_MAX * 4u * 4u + CELL_SIZE - 1) / CELL_SIZE)
#define PAGE_ENTRIES (CELL_SIZE / (uint32_t)sizeof(uint32_t))

// What a save has replaced: the cell of an entry, or that of a page.
typedef struct replaced {
    uint32_t entry; // or IS_PAGE plus the page
    uint32_t cell;  // CELL_NONE: there was none
} replaced;
#define IS_PAGE 0x80000000u
#define LOG_ENTRIES (CELL_SIZE / (uint32_t)sizeof(replaced) - 1)

// A piece of a log, in a cell.
typedef struct log_piece {
    uint32_t next; // CELL_NONE: the last one
    uint32_t count;
    replaced list[LOG_ENTRIES];
} log_piece;
_Static_assert(sizeof(log_piece) == CELL_SIZE, "a piece of a log is a cell");

// Where an array lies in the table. Its entries begin a page.
typedef struct placement {
    uint32_t entry;      // of its first cell
    uint32_t per_block;  // cells
    uint32_t shift;      // a block has 1 << shift elements
    uint32_t block_size; // bytes
} placement;

typedef struct saved_tick {
    uint64_t tick;
    uint32_t log;   // CELL_NONE: empty
    uint32_t place; // in the ring, and of its root and sums
    bool summed;    // its sums are known
} saved_tick;

struct cairn_history {
    cairn_mark_watch watch;
    cairn_world *world; // valid while the watch has a cache
    placement places[CAIRN_ARRAY_COUNT];
    uint32_t page_count;
    uint32_t block_cells; // cells of all blocks, each for one tick
    size_t fixed_size;
    void *memory;          // of the cells; owned
    unsigned char *cells;  // aligned to cache lines
    cairn_hash128 *leaves; // what a cell's block hashes to; zero: it is not known. Only that of the
                           // first cell of a block
    uint32_t cell_count;
    uint32_t cells_begun; // cells from here on were never taken
    uint32_t *free_cells;
    uint32_t free_count;
    uint32_t cells_used;
    uint32_t *roots;     // page_count entries of each place
    cairn_hash128 *sums; // of the arrays' leaves, of each place; owned; NULL: not wanted
    saved_tick *ticks;   // a ring
    uint32_t ticks_max;
    uint32_t first;
    uint32_t count;
    uint32_t base;     // order of the tick from which the marks count; valid if count > 0
    uint32_t *changed; // blocks to be saved, array by array
    uint32_t changed_end[CAIRN_ARRAY_COUNT];
};

static inline unsigned char *cell_at(const cairn_history *history, uint32_t cell) {
    return history->cells + (size_t)cell * CELL_SIZE;
}

static inline saved_tick *tick_at(const cairn_history *history, uint32_t order) {
    CAIRN_ASSERT(order < history->count);
    return &history->ticks[(history->first + order) % history->ticks_max];
}

static inline uint32_t *root_at(const cairn_history *history, uint32_t order) {
    return history->roots + (size_t)tick_at(history, order)->place * history->page_count;
}

static inline uint32_t *page_entries(const cairn_history *history, uint32_t cell) {
    return (uint32_t *)(void *)cell_at(history, cell);
}

static inline uint32_t entry_read(
    const cairn_history *history, const uint32_t *root, uint32_t entry) {
    const uint32_t page = root[entry / PAGE_ENTRIES];
    return page == CELL_NONE ? CELL_NONE : page_entries(history, page)[entry % PAGE_ENTRIES];
}

static inline log_piece *log_at(const cairn_history *history, uint32_t cell) {
    return (log_piece *)(void *)cell_at(history, cell);
}

static inline cairn_settings settings_of_tick(const cairn_history *history, uint32_t order) {
    cairn_settings settings;
    const placement *place = &history->places[CAIRN_ARRAY_SETTINGS];
    for (size_t begin = 0, part = 0; begin < sizeof settings; begin += CELL_SIZE, ++part) {
        const uint32_t entry = place->entry + (uint32_t)part;
        const size_t left = sizeof settings - begin;
        memcpy((unsigned char *)&settings + begin,
            cell_at(history, entry_read(history, root_at(history, order), entry)),
            left < CELL_SIZE ? left : CELL_SIZE);
    }
    return settings;
}

// Bytes of the `part`-th cell of a block that are in use, in an array of `count` elements.
static inline size_t cell_bytes(
    const placement *place, size_t element_size, uint32_t count, uint32_t block, uint32_t part) {
    const size_t live = (size_t)count * element_size - (size_t)block * place->block_size;
    const size_t block_end = live < place->block_size ? live : place->block_size;
    const size_t begin = (size_t)part * CELL_SIZE;
    const size_t left = block_end > begin ? block_end - begin : 0;
    return left < CELL_SIZE ? left : CELL_SIZE;
}

// Settings and rules have none: they are compared.
static inline bool has_marks(cairn_array array) {
    return array != CAIRN_ARRAY_SETTINGS && array != CAIRN_ARRAY_RULES;
}

// The sums of a tick; only of a history that has them.
static inline cairn_hash128 *sums_at(const cairn_history *history, uint32_t order) {
    return history->sums + (size_t)tick_at(history, order)->place * CAIRN_ARRAY_COUNT;
}

uint32_t cairn_history_take_cell(cairn_history *history);
// Whether the tick is held, and its order.
bool cairn_history_find(const cairn_history *history, uint64_t tick, uint32_t *order);
