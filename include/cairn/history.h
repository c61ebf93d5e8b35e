// SPDX-License-Identifier: MIT
#pragma once

// The states of a world's last ticks, for rollback, rewinding and comparison. A tick shares with
// the one before it all blocks of the state that did not change, so a save costs what changed, and
// a restore what differs. Method: blocks are never overwritten; a tick is a tree of two levels that
// names its blocks, as in a file system that copies on write.

#include <cairn/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_history cairn_history;

// At most seven of one world, together with watches (cairn/watch.h).
#define CAIRN_HISTORIES_PER_WORLD_MAX 7

// Holds up to `ticks` states (at least 1) of `world`, in at most `bytes` of memory; 0: as much as
// they can need at worst. All memory is taken here, and touched when it is needed.
// CAIRN_INVALID_ARGUMENT; CAIRN_CAPACITY: the world has seven histories; CAIRN_OUT_OF_MEMORY. *out
// is then NULL. Pair with cairn_history_destroy. The world may be destroyed before: states can then
// still be loaded and compared.
cairn_status cairn_history_create(
    cairn_world *world, uint32_t ticks, size_t bytes, cairn_history **out);
void cairn_history_destroy(cairn_history *history); // NULL is allowed

// Saves the state of the world under its tick. States of this tick and later ones are dropped
// first, then the oldest ones as far as room is needed, but none of a tick from `keep_from` on (0:
// none at all; UINT64_MAX: any).
// CAIRN_CAPACITY: the memory is too small, either for this state alone or for this state beside
// those that `keep_from` protects. The state was not saved, and older ones may have been dropped.
// CAIRN_WRONG_STATE: the world was destroyed.
cairn_status cairn_history_save(cairn_history *history, uint64_t keep_from);

// The world gets the state of that tick, as by cairn_world_load. States of later ticks are kept
// until the next save. CAIRN_NOT_FOUND: the tick is not held. CAIRN_WRONG_STATE: the world was
// destroyed.
cairn_status cairn_history_restore(cairn_history *history, uint64_t tick);
// The same for another world of equal def. CAIRN_NOT_FOUND; CAIRN_INVALID_ARGUMENT: the def
// differs. `into` is then unchanged.
cairn_status cairn_history_load(const cairn_history *history, uint64_t tick, cairn_world *into);
// The hash of the state of that tick (cairn_world_hash_read). Blocks that were hashed before they
// were saved are not hashed again. CAIRN_NOT_FOUND.
cairn_status cairn_history_hash(const cairn_history *history, uint64_t tick, cairn_world_hash *out);

// Whether it holds states of that world, which was not destroyed.
bool cairn_history_is_of(const cairn_history *history, const cairn_world *world);
bool cairn_history_holds(const cairn_history *history, uint64_t tick);
// Drops the states of `tick` and later, or those before it.
void cairn_history_drop_from(cairn_history *history, uint64_t tick);
void cairn_history_drop_before(cairn_history *history, uint64_t tick);

typedef struct cairn_history_statistics {
    uint32_t ticks;  // held
    uint64_t oldest; // valid if ticks > 0
    uint64_t newest; // valid if ticks > 0
    size_t bytes;    // in use by states
    size_t memory;   // of the bound that was ever touched
    size_t reserved; // taken at create
} cairn_history_statistics;
cairn_history_statistics cairn_history_statistics_read(const cairn_history *history);

#ifdef __cplusplus
}
#endif
