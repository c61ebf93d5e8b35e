// SPDX-License-Identifier: MIT
#pragma once

// Ticks that a history holds, read element by element and written block by block: what a rollback
// of a part of a world corrects (sim/rollback). A block that is written is given to its tick alone
// first; the ticks beside it keep what they have.

#include "sim/state/state_array.h"
#include <cairn/history.h>

// The order of a tick, for the functions below. False: it is not held.
bool cairn_history_order(const cairn_history *history, uint64_t tick, uint32_t *order);
// Whether the newest tick is the one from which the world's marks count: the world was stepped from
// it, or is at it.
bool cairn_history_continues(const cairn_history *history);
// Cells that are free.
uint32_t cairn_history_cells_free(const cairn_history *history);
// From now on each tick that is saved knows the sums of its leaves. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_history_keep_sums(cairn_history *history);
// The full hash of a tick.
cairn_hash128 cairn_history_root(cairn_history *history, uint32_t order);

// Copies elements of a tick.
void cairn_history_read(const cairn_history *history, uint32_t order, cairn_array array,
    uint32_t first, uint32_t count, void *out);
// The first bytes of an element.
void cairn_history_read_head(const cairn_history *history, uint32_t order, cairn_array array,
    uint32_t index, size_t size, void *out);
// Returns a pointer to the elements of a block of a tick, which are not copied. The blocks of the
// array must fit into a cell.
const void *cairn_history_block(
    const cairn_history *history, uint32_t order, cairn_array array, uint32_t block);
// Cells that one write may take at most.
uint32_t cairn_history_write_cells(const cairn_history *history, cairn_array array);
// Replaces a block of a tick that is not the oldest. `size`, `size_before`: bytes of it that are in
// use; 0: it is beyond the live range. Counts are in the settings, which the caller writes, too.
void cairn_history_write_block(cairn_history *history, uint32_t order, cairn_array array,
    uint32_t block, const void *bytes, size_t size, size_t size_before);
