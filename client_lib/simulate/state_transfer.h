// SPDX-License-Identifier: MIT
#pragma once

// Joins the pieces of a full state. The memory is allocated once, when the first piece states the
// whole size, and a second time if the state is packed, and never exceeds what the client's config
// allows.

#include <stdint.h>

#include "schema/messages.h"

typedef struct cairn_state_transfer {
    uint8_t *bytes; // owned; NULL: no transfer is under way
    uint32_t total_size;
    uint32_t unpacked_size; // 0: not packed
    uint32_t received;
    uint64_t tick;
    uint32_t size_max;
    uint64_t started; // transfers, in all
} cairn_state_transfer;

typedef enum cairn_state_verdict {
    CAIRN_STATE_MORE = 0,     // taken; more pieces follow
    CAIRN_STATE_WHOLE,        // bytes[0 .. total_size) is the state of `tick`
    CAIRN_STATE_OUT_OF_ORDER, // does not follow the last piece; ignored
    CAIRN_STATE_TOO_LARGE,    // the whole is larger than size_max
    CAIRN_STATE_NO_MEMORY,
    CAIRN_STATE_MALFORMED, // see unpack
} cairn_state_verdict;

void cairn_state_transfer_start(cairn_state_transfer *transfer, uint32_t size_max);
// A piece at offset 0 begins a new transfer and drops the one under way.
cairn_state_verdict cairn_state_transfer_take(
    cairn_state_transfer *transfer, const cairn_state_message *piece);
// The bytes of a state that is WHOLE become those of the world's encoding, if they are packed.
// STATE_WHOLE, STATE_NO_MEMORY; STATE_MALFORMED: they do not unpack.
cairn_state_verdict cairn_state_transfer_unpack(cairn_state_transfer *transfer);
// Frees the memory.
void cairn_state_transfer_end(cairn_state_transfer *transfer);
