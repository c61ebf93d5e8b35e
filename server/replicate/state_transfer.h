// SPDX-License-Identifier: MIT
#pragma once

// The state that late joiners of a room receive: one encoding in one buffer, shared by all who are
// being sent it. A joiner takes part in the encoding that is there while it is fresh, or while
// others still need it; only one too old to be caught up with is replaced under its readers, who
// then begin again. So a slow reader holds up nobody.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_state_source {
    uint8_t *bytes; // owned
    size_t capacity;
    size_t size;
    uint64_t tick;       // of the state
    uint32_t generation; // 0: nothing encoded yet
    uint32_t readers;
    bool stale; // of another world
} cairn_state_source;

// CAIRN_OUT_OF_MEMORY leaves bytes NULL.
cairn_status cairn_state_source_create(size_t capacity, cairn_state_source *out);
void cairn_state_source_destroy(cairn_state_source *transfer);

// One reader more. Encodes the world unless what is there is at most `fresh_ticks` old, or at most
// `usable_ticks` old and being read. CAIRN_CAPACITY when the state is larger than the buffer; the
// reader is not counted then.
cairn_status cairn_state_source_join(cairn_state_source *transfer, const cairn_world *world,
    uint64_t fresh_ticks, uint64_t usable_ticks);
// The world is another: what was encoded serves nobody any more. No reader is left (asserted).
void cairn_state_source_invalidate(cairn_state_source *transfer);
void cairn_state_source_leave(cairn_state_source *transfer);
