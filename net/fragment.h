// SPDX-License-Identifier: MIT
#pragma once

// Reassembles unreliable messages from fragments. All fragments of a message are sent with
// consecutive sequences, so the first one's sequence identifies the message and needs no bytes of
// its own. Several messages are assembled at a time, because a path that reorders interleaves them.
// If all slots are in use when a new message arrives, the oldest is dropped if it waited long
// enough; otherwise the new message is dropped. If the newer message always won, a path that
// interleaves more messages than there are slots would deliver none.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/link_header.h"

#define CAIRN_ASSEMBLIES_MAX 8

typedef struct cairn_assembly {
    uint8_t *bytes; // not owned, room for size_max; aligned to 8 bytes
    uint64_t first; // sequence of fragment 0
    uint64_t begun_ns;
    uint32_t size;    // of the message; 0: free
    uint32_t missing; // fragments not received yet
    uint64_t have[(CAIRN_LINK_FRAGMENTS_MAX + 63) / 64];
} cairn_assembly;

typedef struct cairn_assemblies {
    cairn_assembly slots[CAIRN_ASSEMBLIES_MAX];
    uint32_t count;       // slots in use, 1 .. CAIRN_ASSEMBLIES_MAX
    uint32_t size_max;    // of a message
    uint64_t given_up;    // no message with a first sequence below this is begun
    uint64_t lost;        // messages begun and given up
    cairn_assembly *done; // the message completed by the last take; its slot is free at the next
} cairn_assemblies;

void cairn_assemblies_reset(cairn_assemblies *assemblies);

typedef struct cairn_fragment {
    uint64_t sequence;
    uint32_t index;       // from 0
    uint32_t size;        // of the complete message
    const uint8_t *bytes; // of this fragment
    uint32_t bytes_size;
} cairn_fragment;

// Writes the part header of a fragment.
void cairn_fragment_write(uint32_t index, uint32_t size, uint8_t *bytes);
// Reads the bytes after the link header.
cairn_fragment cairn_fragment_read(uint64_t sequence, const uint8_t *body, size_t body_size);

uint32_t cairn_fragment_count(uint32_t message_size);
uint32_t cairn_fragment_size(uint32_t message_size, uint32_t index);

// Takes one fragment: CAIRN_LINK_TAKEN, CAIRN_LINK_DROP_FRAGMENT or CAIRN_LINK_DROP_MESSAGE_SIZE.
// If the message is now complete, `done` points to it until the next take. A message that has
// waited `wait_ns` for its fragments may be given up for another.
cairn_link_drop cairn_assemblies_take(cairn_assemblies *assemblies, uint64_t now_ns,
    uint64_t wait_ns, const cairn_fragment *fragment);
