// SPDX-License-Identifier: MIT

// The state of a tick is a table of cells. A block of the hash cache takes one cell or a few, and a
// cell that did not change is in the tables of many ticks. The tables of two ticks are mostly equal
// as well, so a table consists of pages, which are cells too, and only its root is a tick's own:
//
//   tick 7  root: [ A | B | C ]           page A: [ cells of blocks 0 .. 63 ]
//   tick 8  root: [ A | D | C ]           page D: page B with the cells that tick 8 has saved
//
// The log of a tick says what it replaced. So the cells that only the oldest tick uses are those in
// the log of the second one, and dropping the newest tick gives back what replaced the cells in
// its log. Each cell is taken and given back once: no counts of references.
//
// Blocks that may have changed since the newest save are marked (sim/state/hash_cache.h). After a
// restore the marks count from the restored tick, which is called the base.

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/stream_copy.h"
#include "sim/serialize/history_table.h"

// ------------------------------------------------------------------------------------- cells

static void take_cells(cairn_history *history, uint32_t count, uint32_t *cells) {
    const uint32_t free_count = history->free_count < count ? history->free_count : count;
    const uint32_t *free_end = history->free_cells + history->free_count;
    for (uint32_t i = 0; i < free_count; ++i) {
        cells[i] = free_end[-1 - (ptrdiff_t)i];
    }
    for (uint32_t i = free_count; i < count; ++i) {
        cells[i] = history->cells_begun++;
    }
    history->free_count -= free_count;
    history->cells_used += count;
    CAIRN_ASSERT(history->cells_begun <= history->cell_count);
}

uint32_t cairn_history_take_cell(cairn_history *history) {
    uint32_t cell;
    take_cells(history, 1, &cell);
    return cell;
}

static void free_cell(cairn_history *history, uint32_t cell) {
    CAIRN_ASSERT(cell < history->cells_begun && history->cells_used > 0);
    history->free_cells[history->free_count++] = cell;
    history->cells_used -= 1;
}

// ------------------------------------------------------------------------------------- tables

// The order of the newest tick that is at most `tick`; `count` if none is.
static uint32_t order_of(const cairn_history *history, uint64_t tick) {
    uint32_t begin = 0;
    uint32_t end = history->count;
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (tick_at(history, middle)->tick <= tick) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin == 0 ? history->count : begin - 1;
}

bool cairn_history_find(const cairn_history *history, uint64_t tick, uint32_t *order) {
    *order = order_of(history, tick);
    return *order < history->count && tick_at(history, *order)->tick == tick;
}

// The newest tick, while it is written.
typedef struct saver {
    cairn_history *history;
    saved_tick *tick;
    uint32_t *root;
    const uint32_t *before; // root of the tick before; NULL: the only one, which needs no log
    bool large; // most of the state: its cells are not in the cache when they are used again
} saver;

// Room in the log for up to *count more, at least one.
static replaced *log_extend(saver *s, uint32_t *count) {
    cairn_history *history = s->history;
    if (s->tick->log == CELL_NONE || log_at(history, s->tick->log)->count == LOG_ENTRIES) {
        const uint32_t taken = cairn_history_take_cell(history);
        log_at(history, taken)->next = s->tick->log;
        log_at(history, taken)->count = 0;
        s->tick->log = taken;
    }
    log_piece *piece = log_at(history, s->tick->log);
    replaced *room = piece->list + piece->count;
    *count = *count < LOG_ENTRIES - piece->count ? *count : LOG_ENTRIES - piece->count;
    piece->count += *count;
    return room;
}

// The page, which the tick may write: one that it shares with the tick before is copied first.
static uint32_t *own_page(saver *s, uint32_t page) {
    const uint32_t before = s->before == NULL ? CELL_NONE : s->before[page];
    if (s->root[page] == before) {
        const uint32_t copy = cairn_history_take_cell(s->history);
        if (before == CELL_NONE) {
            memset(cell_at(s->history, copy), 0xff, CELL_SIZE);
        } else {
            memcpy(cell_at(s->history, copy), cell_at(s->history, before), CELL_SIZE);
        }
        if (s->before != NULL) {
            uint32_t one = 1;
            *log_extend(s, &one) = (replaced){.entry = IS_PAGE | page, .cell = before};
        }
        s->root[page] = copy;
    }
    return page_entries(s->history, s->root[page]);
}

// --------------------------------------------------------------------------------- dropping

static void drop_all(cairn_history *history) {
    history->count = 0;
    history->first = 0;
    history->base = 0;
    history->cells_begun = 0;
    history->free_count = 0;
    history->cells_used = 0;
}

// What the second tick has replaced is in no table any more.
static void drop_oldest(cairn_history *history) {
    CAIRN_ASSERT(history->count > 0);
    if (history->count == 1) {
        drop_all(history);
        return;
    }
    CAIRN_ASSERT(history->base > 0);
    saved_tick *second = tick_at(history, 1);
    for (uint32_t at = second->log; at != CELL_NONE;) {
        const log_piece *piece = log_at(history, at);
        uint32_t freed = history->free_count;
        for (uint32_t i = piece->count; i > 0; --i) { // they are taken again in the old order
            history->free_cells[freed] = piece->list[i - 1].cell;
            freed += piece->list[i - 1].cell != CELL_NONE ? 1u : 0u;
        }
        history->cells_used -= freed - history->free_count;
        history->free_count = freed;
        const uint32_t next = piece->next;
        free_cell(history, at);
        at = next;
    }
    second->log = CELL_NONE;
    history->first = (history->first + 1) % history->ticks_max;
    history->count -= 1;
    history->base -= 1;
}

// Marks the block of that entry for this history.
static void mark_entry(cairn_history *history, uint32_t entry) {
    cairn_array array = 0;
    while (array + 1 < CAIRN_ARRAY_COUNT && history->places[array + 1].entry <= entry) {
        array += 1;
    }
    const placement *place = &history->places[array];
    const uint32_t block = (entry - place->entry) / place->per_block;
    history->watch.cache->arrays[array].marks[block] |= history->watch.bit;
}

// What the newest tick has put in the place of other cells is in no table any more. If the marks
// count from it, they count from the tick before then, so what it has replaced is marked.
static void drop_newest(cairn_history *history) {
    CAIRN_ASSERT(history->count > 0);
    if (history->count == 1) {
        drop_all(history);
        return;
    }
    const uint32_t newest = history->count - 1;
    const uint32_t *root = root_at(history, newest);
    const bool is_base = history->base == newest;
    for (int pages = 0; pages < 2; ++pages) { // pages last: entries are read from them
        for (uint32_t at = tick_at(history, newest)->log; at != CELL_NONE;) {
            const log_piece *piece = log_at(history, at);
            for (uint32_t i = 0; i < piece->count; ++i) {
                const uint32_t entry = piece->list[i].entry;
                if (pages != 0 && (entry & IS_PAGE) != 0) {
                    free_cell(history, root[entry & ~IS_PAGE]);
                } else if (pages == 0 && (entry & IS_PAGE) == 0) {
                    free_cell(history, entry_read(history, root, entry));
                    if (is_base && history->watch.cache != NULL) {
                        mark_entry(history, entry);
                    }
                }
            }
            const uint32_t next = piece->next;
            if (pages != 0) {
                free_cell(history, at);
            }
            at = next;
        }
    }
    history->count -= 1;
    history->base -= is_base ? 1u : 0u;
}

bool cairn_history_is_of(const cairn_history *history, const cairn_world *world) {
    return history->watch.cache != NULL && history->world == world;
}

bool cairn_history_holds(const cairn_history *history, uint64_t tick) {
    uint32_t order;
    return cairn_history_find(history, tick, &order);
}

void cairn_history_drop_from(cairn_history *history, uint64_t tick) {
    while (history->count > 0 && tick_at(history, history->count - 1)->tick >= tick) {
        drop_newest(history);
    }
}

void cairn_history_drop_before(cairn_history *history, uint64_t tick) {
    while (history->count > 0 && tick_at(history, 0)->tick < tick) {
        if (history->base == 0) { // the marks count from it: those after it are not continued
            while (history->count > 1) {
                drop_newest(history);
            }
        }
        drop_oldest(history);
    }
}

// ----------------------------------------------------------------------------------- saving

// Settings and rules have no marks: they are compared.
static bool block_differs(const cairn_history *history, cairn_array array, uint32_t block) {
    const placement *place = &history->places[array];
    const size_t element_size = cairn_array_element_size(array);
    const cairn_state *state = &history->world->state;
    const uint32_t count = cairn_array_count(state->settings, array);
    const uint32_t cell = entry_read(
        history, root_at(history, history->base), place->entry + block * place->per_block);
    return cell == CELL_NONE || memcmp(cell_at(history, cell),
                                    (const unsigned char *)cairn_state_array(state, array) +
                                        (size_t)block * place->block_size,
                                    cell_bytes(place, element_size, count, block, 0)) != 0;
}

// Lists the blocks of an array that must be saved. Elements that came into existence have no mark.
// `base`: the settings of the tick that is compared with, if there is one.
static uint32_t list_array(
    cairn_history *history, const cairn_settings *base, cairn_array array, uint32_t at) {
    const cairn_hash_cache_array *marks = &history->watch.cache->arrays[array];
    const placement *place = &history->places[array];
    const uint32_t count = cairn_array_count(history->world->state.settings, array);
    const uint32_t end = hash_cache_blocks(count, place->shift);
    if (history->count == 0 || !has_marks(array)) {
        for (uint32_t block = 0; block < end; ++block) {
            if (history->count == 0 || block_differs(history, array, block)) {
                history->changed[at++] = block;
            }
        }
        return at;
    }
    const uint32_t before = cairn_array_count(base, array);
    const uint32_t less = count < before ? count : before;
    const uint32_t same = count == before ? end : less >> place->shift;
    at += cairn_hash_cache_list_marked(marks, same, history->watch.bit, history->changed + at);
    for (uint32_t block = same; block < end; ++block) {
        history->changed[at++] = block;
    }
    return at;
}

// Returns how many cells the blocks to be saved take at most, with their pages and the log.
static uint64_t list_changed(cairn_history *history) {
    uint32_t at = 0;
    uint64_t cells = 0;
    cairn_settings base = {0};
    if (history->count > 0) {
        base = settings_of_tick(history, history->base);
    }
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const uint32_t begin = at;
        at = list_array(history, &base, array, at);
        history->changed_end[array] = at;
        cells += (uint64_t)(at - begin) * history->places[array].per_block;
    }
    cells += cells < history->page_count ? cells : history->page_count;
    return cells + cells / LOG_ENTRIES + 1;
}

// Puts new cells, in order, into entries begin .. end - 1, and logs those that they replace.
static void replace_entries(saver *s, uint32_t begin, uint32_t end, const uint32_t *cells) {
    while (begin < end) {
        uint32_t *at = own_page(s, begin / PAGE_ENTRIES) + begin % PAGE_ENTRIES;
        const uint32_t page_end = (begin / PAGE_ENTRIES + 1) * PAGE_ENTRIES;
        uint32_t count = (end < page_end ? end : page_end) - begin;
        if (s->before != NULL) {
            replaced *log = log_extend(s, &count);
            for (uint32_t i = 0; i < count; ++i) {
                log[i] = (replaced){.entry = begin + i, .cell = at[i]};
            }
        }
        memcpy(at, cells, count * sizeof *at);
        begin += count;
        cells += count;
    }
}

static void replace_cells(saver *s, const placement *place, const uint32_t *blocks,
    uint32_t block_count, const uint32_t *cells) {
    for (uint32_t i = 0; i < block_count;) {
        const uint32_t first = i;
        while (++i < block_count && blocks[i] == blocks[i - 1] + 1) {}
        const uint32_t entry = place->entry + blocks[first] * place->per_block;
        replace_entries(
            s, entry, entry + (i - first) * place->per_block, cells + first * place->per_block);
    }
}

// Cells are written long after they were last used.
static void prefetch_cells(const cairn_history *history, const uint32_t *cells, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const unsigned char *to = cell_at(history, cells[i]);
        __builtin_prefetch(to, 1);
        __builtin_prefetch(to + CAIRN_CACHE_LINE, 1);
        __builtin_prefetch(to + 2 * CAIRN_CACHE_LINE, 1);
        __builtin_prefetch(to + 3 * CAIRN_CACHE_LINE, 1);
    }
}

// Cells that follow each other in memory as the bytes of the world do are copied at once.
typedef struct cell_run {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
    bool streams;
} cell_run;

static inline void copy_run(cell_run *run, unsigned char *to, const unsigned char *from) {
    if (run->size > 0 && run->to + run->size == to && run->from + run->size == from) {
        run->size += CELL_SIZE;
        return;
    }
    if (run->streams) {
        cairn_stream_copy(run->to, run->from, run->size);
    } else if (run->size == CELL_SIZE) {
        memcpy(run->to, run->from, CELL_SIZE);
    } else if (run->size > 0) {
        memcpy(run->to, run->from, run->size);
    }
    run->to = to;
    run->from = from;
    run->size = CELL_SIZE;
}

// Copies blocks into their new cells. Only the last part of a block may be shorter than a cell.
static void fill_cells(const saver *s, cairn_array array, const uint32_t *blocks,
    uint32_t block_count, const uint32_t *cells) {
    const cairn_history *history = s->history;
    const placement *place = &history->places[array];
    const cairn_state *state = &history->world->state;
    const unsigned char *elements = cairn_state_array(state, array);
    const size_t live = cairn_array_count(state->settings, array) * cairn_array_element_size(array);
    cell_run run = {.streams = s->large};
    for (uint32_t i = 0; i < block_count; ++i) {
        const size_t begin = (size_t)blocks[i] * place->block_size;
        const size_t end = begin + place->block_size < live ? begin + place->block_size : live;
        for (uint32_t part = 0; part < place->per_block; ++part) {
            const size_t at = begin + (size_t)part * CELL_SIZE;
            unsigned char *to = cell_at(history, *cells++);
            if (at + CELL_SIZE <= end) {
                copy_run(&run, to, elements + at);
            } else if (at < end) {
                memcpy(to, elements + at, end - at);
            }
        }
    }
    copy_run(&run, NULL, NULL);
}

// Keeps what is known of the hash of these blocks, and clears their marks.
static void fill_leaves(const cairn_history *history, cairn_array array, const uint32_t *blocks,
    uint32_t block_count, const uint32_t *cells) {
    const uint32_t per_block = history->places[array].per_block;
    cairn_hash_cache_array *cache = &history->watch.cache->arrays[array];
    const uint32_t count = cairn_array_count(history->world->state.settings, array);
    const unsigned char seen = (unsigned char)~history->watch.bit;
    for (uint32_t i = 0; i < block_count; ++i) {
        const bool known = has_marks(array) && hash_cache_leaf_known(cache, blocks[i], count);
        history->leaves[cells[i * per_block]] =
            known ? cache->leaves[blocks[i]] : (cairn_hash128){.lo = 0};
        cache->marks[blocks[i]] &= seen;
    }
}

#define BATCH 32u // blocks
#define LARGE_BLOCKS 1000

static void save_blocks(saver *s, cairn_array array, const uint32_t *blocks, uint32_t count) {
    uint32_t cells[BATCH * CELLS_PER_BLOCK_MAX];
    const placement *place = &s->history->places[array];
    for (uint32_t i = 0; i < count; i += BATCH) {
        const uint32_t some = count - i < BATCH ? count - i : BATCH;
        take_cells(s->history, some * place->per_block, cells);
        if (!s->large) {
            prefetch_cells(s->history, cells, some * place->per_block);
        }
        replace_cells(s, place, blocks + i, some, cells);
        fill_cells(s, array, blocks + i, some, cells);
        fill_leaves(s->history, array, blocks + i, some, cells);
    }
}

// Makes room for a tick and for what is to be saved of it.
static cairn_status make_room(cairn_history *history, uint64_t keep_from) {
    uint64_t cells = list_changed(history);
    while (
        history->count == history->ticks_max || history->cell_count - history->cells_used < cells) {
        if (history->count == 0 || tick_at(history, 0)->tick >= keep_from) {
            return CAIRN_CAPACITY;
        }
        drop_oldest(history);
        if (history->count == 0) {
            cells = list_changed(history); // everything
        }
    }
    return CAIRN_OK;
}

// The newest tick is that of the world. Costs little if the world was hashed before.
static void keep_sums(cairn_history *history) {
    const cairn_state *state = &history->world->state;
    cairn_hash128 *sums = sums_at(history, history->count - 1);
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        sums[array] = has_marks(array) ? cairn_hash_cache_sum(history->watch.cache, state, array)
                                       : cairn_hash_cache_fresh_sum(state, array);
    }
    tick_at(history, history->count - 1)->summed = true;
}

cairn_status cairn_history_save(cairn_history *history, uint64_t keep_from) {
    if (history->watch.cache == NULL) {
        return CAIRN_WRONG_STATE;
    }
    const uint64_t tick = cairn_world_tick(history->world);
    while (history->count > 0 && history->base + 1 < history->count) {
        drop_newest(history);
    }
    cairn_history_drop_from(history, tick);
    const cairn_status status = make_room(history, keep_from);
    if (status != CAIRN_OK) {
        return status;
    }
    const uint32_t place = (history->first + history->count) % history->ticks_max;
    uint32_t *root = history->roots + (size_t)place * history->page_count;
    if (history->count == 0) {
        memset(root, 0xff, history->page_count * sizeof *root);
    } else {
        memcpy(root, root_at(history, history->base), history->page_count * sizeof *root);
    }
    history->ticks[place] = (saved_tick){.tick = tick, .log = CELL_NONE, .place = place};
    history->count += 1;
    history->base = history->count - 1;
    saver s = {.history = history,
        .tick = &history->ticks[place],
        .root = root,
        .before = history->count > 1 ? root_at(history, history->count - 2) : NULL,
        .large = history->changed_end[CAIRN_ARRAY_COUNT - 1] >= LARGE_BLOCKS};
    if (history->sums != NULL) {
        keep_sums(history);
    }
    uint32_t begin = 0;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        const uint32_t end = history->changed_end[array];
        save_blocks(&s, array, history->changed + begin, end - begin);
        begin = end;
    }
    cairn_stream_end();
    return CAIRN_OK;
}

// --------------------------------------------------------------------------------- creating

static uint32_t place_arrays(cairn_history *history, const cairn_settings *settings) {
    uint32_t entry = 0;
    uint32_t blocks_all = 0;
    for (cairn_array array = 0; array < CAIRN_ARRAY_COUNT; ++array) {
        placement *place = &history->places[array];
        place->entry = entry;
        place->shift = cairn_hash_cache_block_shift(array);
        place->block_size = (uint32_t)cairn_array_element_size(array) << place->shift;
        place->per_block = (place->block_size + CELL_SIZE - 1) / CELL_SIZE;
        CAIRN_ASSERT(place->per_block <= CELLS_PER_BLOCK_MAX);
        const uint32_t blocks =
            hash_cache_blocks(cairn_array_capacity(settings, array), place->shift);
        const uint32_t entries = blocks * place->per_block;
        history->block_cells += entries;
        entry += (entries + PAGE_ENTRIES - 1) / PAGE_ENTRIES * PAGE_ENTRIES;
        blocks_all += blocks;
    }
    history->page_count = entry / PAGE_ENTRIES;
    return blocks_all;
}

// Memory beside the cells.
static size_t fixed_size(const cairn_history *history, uint32_t blocks) {
    return sizeof *history + (size_t)history->ticks_max * sizeof *history->ticks +
           (size_t)history->ticks_max * history->page_count * sizeof *history->roots +
           ((size_t)blocks + 8) * sizeof *history->changed + CAIRN_CACHE_LINE;
}

// So many cells that no save is ever refused: each tick may replace everything.
static uint64_t cells_at_worst(const cairn_history *history) {
    uint64_t cells = (uint64_t)history->page_count + history->block_cells;
    cells += cells / LOG_ENTRIES + 1;
    return cells * history->ticks_max;
}

#define BYTES_PER_CELL (CELL_SIZE + sizeof(cairn_hash128) + sizeof(uint32_t))

// The system gives memory when it is touched for the first time.
static bool allocate_cells(cairn_history *history, size_t bytes) {
    const uint64_t worst = cells_at_worst(history);
    const uint64_t bound = bytes == 0 ? worst
                           : bytes <= history->fixed_size
                               ? 0
                               : (bytes - history->fixed_size) / BYTES_PER_CELL;
    const uint64_t count = bound < worst ? bound : worst;
    if (count >= IS_PAGE || count > (SIZE_MAX - CAIRN_CACHE_LINE) / BYTES_PER_CELL) {
        return false;
    }
    history->cell_count = (uint32_t)count;
    history->memory = malloc((size_t)count * BYTES_PER_CELL + CAIRN_CACHE_LINE);
    if (history->memory == NULL) {
        return false;
    }
    const size_t past = (uintptr_t)history->memory % CAIRN_CACHE_LINE;
    history->cells = (unsigned char *)history->memory + (CAIRN_CACHE_LINE - past);
    history->leaves = (cairn_hash128 *)(void *)(history->cells + (size_t)count * CELL_SIZE);
    history->free_cells = (uint32_t *)(void *)(history->leaves + count);
    return true;
}

cairn_status cairn_history_create(
    cairn_world *world, uint32_t ticks, size_t bytes, cairn_history **out) {
    *out = NULL;
    if (world == NULL || ticks == 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_history *history = calloc(1, sizeof *history);
    if (history == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    history->world = world;
    history->ticks_max = ticks;
    const uint32_t blocks = place_arrays(history, world->state.settings);
    history->fixed_size = fixed_size(history, blocks);
    history->roots = malloc((size_t)ticks * history->page_count * sizeof *history->roots);
    history->ticks = calloc(ticks, sizeof *history->ticks);
    history->changed = malloc(((size_t)blocks + 8) * sizeof *history->changed);
    if (history->roots == NULL || history->ticks == NULL || history->changed == NULL ||
        !allocate_cells(history, bytes)) {
        cairn_history_destroy(history);
        return CAIRN_OUT_OF_MEMORY;
    }
    const cairn_status status = cairn_mark_watch_begin(&history->watch, world->hash_cache);
    if (status != CAIRN_OK) {
        cairn_history_destroy(history);
        return status;
    }
    *out = history;
    return CAIRN_OK;
}

void cairn_history_destroy(cairn_history *history) {
    if (history == NULL) {
        return;
    }
    cairn_mark_watch_end(&history->watch);
    free(history->memory);
    free(history->roots);
    free(history->sums);
    free(history->ticks);
    free(history->changed);
    free(history);
}

cairn_history_statistics cairn_history_statistics_read(const cairn_history *history) {
    const uint32_t count = history->count;
    return (cairn_history_statistics){.ticks = count,
        .oldest = count > 0 ? tick_at(history, 0)->tick : 0,
        .newest = count > 0 ? tick_at(history, count - 1)->tick : 0,
        .bytes = history->cells_used * BYTES_PER_CELL +
                 (size_t)count * history->page_count * sizeof history->roots[0],
        .memory = history->fixed_size + history->cells_begun * BYTES_PER_CELL,
        .reserved = history->fixed_size + (size_t)history->cell_count * BYTES_PER_CELL};
}
