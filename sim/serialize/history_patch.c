// SPDX-License-Identifier: MIT
#include "sim/serialize/history_patch.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "sim/serialize/history_table.h"

bool cairn_history_order(const cairn_history *history, uint64_t tick, uint32_t *order) {
    return cairn_history_find(history, tick, order);
}

bool cairn_history_continues(const cairn_history *history) {
    return history->watch.cache != NULL && history->count > 0 &&
           history->base == history->count - 1;
}

uint32_t cairn_history_cells_free(const cairn_history *history) {
    return history->cell_count - history->cells_used;
}

cairn_status cairn_history_keep_sums(cairn_history *history) {
    if (history->sums == NULL) {
        history->sums =
            calloc((size_t)history->ticks_max * CAIRN_ARRAY_COUNT, sizeof *history->sums);
    }
    return history->sums != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

// ----------------------------------------------------------------------------------- reading

// Copies bytes of a block.
static void read_bytes(const cairn_history *history, uint32_t order, const placement *place,
    uint32_t block, size_t begin, size_t size, unsigned char *out) {
    const uint32_t *root = root_at(history, order);
    const uint32_t entry = place->entry + block * place->per_block;
    while (size > 0) {
        const uint32_t part = (uint32_t)(begin / CELL_SIZE);
        const size_t within = begin % CELL_SIZE;
        const size_t some = size < CELL_SIZE - within ? size : CELL_SIZE - within;
        CAIRN_ASSERT(part < place->per_block);
        memcpy(out, cell_at(history, entry_read(history, root, entry + part)) + within, some);
        out += some;
        begin += some;
        size -= some;
    }
}

void cairn_history_read(const cairn_history *history, uint32_t order, cairn_array array,
    uint32_t first, uint32_t count, void *out) {
    const placement *place = &history->places[array];
    const size_t element_size = cairn_array_element_size(array);
    unsigned char *to = out;
    for (uint32_t i = first; i < first + count;) {
        const uint32_t block = i >> place->shift;
        const uint32_t block_end = (block + 1) << place->shift;
        const uint32_t end = block_end < first + count ? block_end : first + count;
        read_bytes(history, order, place, block,
            (size_t)(i - (block << place->shift)) * element_size, (end - i) * element_size, to);
        to += (end - i) * element_size;
        i = end;
    }
}

void cairn_history_read_head(const cairn_history *history, uint32_t order, cairn_array array,
    uint32_t index, size_t size, void *out) {
    const placement *place = &history->places[array];
    const uint32_t block = index >> place->shift;
    read_bytes(history, order, place, block,
        (size_t)(index - (block << place->shift)) * cairn_array_element_size(array), size, out);
}

const void *cairn_history_block(
    const cairn_history *history, uint32_t order, cairn_array array, uint32_t block) {
    const placement *place = &history->places[array];
    CAIRN_ASSERT(place->per_block == 1);
    return cell_at(history, entry_read(history, root_at(history, order), place->entry + block));
}

cairn_hash128 cairn_history_root(cairn_history *history, uint32_t order) {
    if (history->sums != NULL && tick_at(history, order)->summed) {
        return cairn_hash_of_sums(sums_at(history, order)).full;
    }
    cairn_world_hash hash;
    const cairn_status status = cairn_history_hash(history, tick_at(history, order)->tick, &hash);
    CAIRN_ASSERT(status == CAIRN_OK);
    return hash.full;
}

// ---------------------------------------------------------------------------------- ownership

static void log_add(cairn_history *history, uint32_t order, uint32_t entry, uint32_t cell) {
    saved_tick *tick = tick_at(history, order);
    CAIRN_ASSERT(order > 0);
    if (tick->log == CELL_NONE || log_at(history, tick->log)->count == LOG_ENTRIES) {
        const uint32_t taken = cairn_history_take_cell(history);
        log_at(history, taken)->next = tick->log;
        log_at(history, taken)->count = 0;
        tick->log = taken;
    }
    log_piece *piece = log_at(history, tick->log);
    piece->list[piece->count++] = (replaced){.entry = entry, .cell = cell};
}

// What a tick has logged of an entry: something, if it has another cell there than the one before.
static replaced *log_find(cairn_history *history, uint32_t order, uint32_t entry) {
    for (uint32_t at = tick_at(history, order)->log; at != CELL_NONE;
         at = log_at(history, at)->next) {
        log_piece *piece = log_at(history, at);
        for (uint32_t i = 0; i < piece->count; ++i) {
            if (piece->list[i].entry == entry) {
                return &piece->list[i];
            }
        }
    }
    return NULL;
}

// The tick after `order`, if there is one, has replaced the entry: now it replaces this cell.
static void log_correct(cairn_history *history, uint32_t order, uint32_t entry, uint32_t cell) {
    if (order + 1 < history->count) {
        replaced *logged = log_find(history, order + 1, entry);
        CAIRN_ASSERT(logged != NULL);
        logged->cell = cell;
    }
}

static uint32_t copy_of(cairn_history *history, uint32_t cell, int fill) {
    const uint32_t copy = cairn_history_take_cell(history);
    if (cell == CELL_NONE) {
        memset(cell_at(history, copy), fill, CELL_SIZE);
    } else {
        memcpy(cell_at(history, copy), cell_at(history, cell), CELL_SIZE);
    }
    return copy;
}

// Gives a page to the tick alone. Ticks after it that shared it share another copy.
static void own_page(cairn_history *history, uint32_t order, uint32_t page) {
    uint32_t *root = root_at(history, order);
    const uint32_t cell = root[page];
    const bool from_before = root_at(history, order - 1)[page] == cell;
    uint32_t last = order;
    while (last + 1 < history->count && root_at(history, last + 1)[page] == cell) {
        last += 1;
    }
    if (from_before) {
        root[page] = copy_of(history, cell, 0xff);
        log_add(history, order, IS_PAGE | page, cell);
    }
    if (last > order) {
        const uint32_t later = copy_of(history, cell, 0xff);
        log_add(history, order + 1, IS_PAGE | page, root[page]);
        for (uint32_t i = order + 1; i <= last; ++i) {
            root_at(history, i)[page] = later;
        }
    }
    if (from_before || last > order) {
        log_correct(history, last, IS_PAGE | page, root_at(history, last)[page]);
    }
}

static uint32_t *entry_of(cairn_history *history, uint32_t order, uint32_t entry) {
    const uint32_t page = root_at(history, order)[entry / PAGE_ENTRIES];
    CAIRN_ASSERT(page != CELL_NONE); // own_page has made one, and later ticks have no fewer
    return &page_entries(history, page)[entry % PAGE_ENTRIES];
}

// The same for a cell, which is returned.
static uint32_t own_cell(cairn_history *history, uint32_t order, uint32_t entry) {
    const uint32_t cell = entry_read(history, root_at(history, order), entry);
    const bool from_before = entry_read(history, root_at(history, order - 1), entry) == cell;
    uint32_t last = order;
    while (last + 1 < history->count &&
           entry_read(history, root_at(history, last + 1), entry) == cell) {
        last += 1;
    }
    if (!from_before && last == order) {
        return cell;
    }
    own_page(history, order, entry / PAGE_ENTRIES);
    uint32_t *own = entry_of(history, order, entry);
    if (from_before) {
        *own = copy_of(history, cell, 0);
        log_add(history, order, entry, cell);
    }
    if (last > order) {
        const uint32_t later = copy_of(history, cell, 0);
        history->leaves[later] =
            cell == CELL_NONE ? (cairn_hash128){.lo = 0} : history->leaves[cell];
        log_add(history, order + 1, entry, *own);
        for (uint32_t i = order + 1; i <= last; ++i) {
            *entry_of(history, i, entry) = later;
        }
    }
    log_correct(history, last, entry, *entry_of(history, last, entry));
    return *own;
}

// ----------------------------------------------------------------------------------- writing

uint32_t cairn_history_write_cells(const cairn_history *history, cairn_array array) {
    return 8 * history->places[array].per_block; // two cells, pages and logs
}

// The leaf of a block as it is; `size` bytes are in use.
static cairn_hash128 leaf_before(
    const cairn_history *history, uint32_t order, cairn_array array, uint32_t block, size_t size) {
    const placement *place = &history->places[array];
    uint32_t words[CAIRN_ELEMENT_WORDS_MAX * 4];
    if (size == 0) {
        return (cairn_hash128){.lo = 0};
    }
    const uint32_t entry = place->entry + block * place->per_block;
    const cairn_hash128 known =
        history->leaves[entry_read(history, root_at(history, order), entry)];
    if (has_marks(array) && (known.lo != 0 || known.hi != 0)) {
        return known;
    }
    CAIRN_ASSERT(size <= sizeof words);
    read_bytes(history, order, place, block, 0, size, (unsigned char *)words);
    return cairn_hash_cache_leaf(array, block, words, size / sizeof words[0]);
}

void cairn_history_write_block(cairn_history *history, uint32_t order, cairn_array array,
    uint32_t block, const void *bytes, size_t size, size_t size_before) {
    const placement *place = &history->places[array];
    const uint32_t entry = place->entry + block * place->per_block;
    cairn_hash128 leaf = {.lo = 0};
    CAIRN_ASSERT(order > 0 && order < history->count && size <= place->block_size);
    const bool summed = history->sums != NULL && tick_at(history, order)->summed;
    const cairn_hash128 old =
        summed ? leaf_before(history, order, array, block, size_before) : leaf;
    if (size != 0) {
        leaf = cairn_hash_cache_leaf(array, block, bytes, size / sizeof(uint32_t));
    }
    for (uint32_t part = 0; part < place->per_block && size != 0; ++part) {
        const uint32_t cell = own_cell(history, order, entry + part);
        const size_t begin = (size_t)part * CELL_SIZE;
        const size_t left = size > begin ? size - begin : 0;
        if (left > 0) {
            memcpy(cell_at(history, cell), (const unsigned char *)bytes + begin,
                left < CELL_SIZE ? left : CELL_SIZE);
        }
        if (part == 0) {
            history->leaves[cell] = has_marks(array) ? leaf : (cairn_hash128){.lo = 0};
        }
    }
    if (summed) {
        cairn_hash128 *sum = &sums_at(history, order)[array];
        *sum = cairn_hash_add(cairn_hash_remove(*sum, old), leaf);
    }
}
