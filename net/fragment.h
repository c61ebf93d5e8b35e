// SPDX-License-Identifier: MIT
#pragma once

// Puts fragments of unreliable messages together. All fragments of a message leave under
// consecutive sequences, so the first one's sequence names the message and costs no bytes. Several
// messages may be under way, since a path that reorders interleaves them. When a new one finds no
// room, the oldest is given up for it if it had its time; otherwise the new one is. If the newer
// always won, a path that interleaves more messages than there is room for would carry none.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/link_header.h"

#define CAIRN_ASSEMBLIES_MAX 8

typedef struct cairn_assembly {
    uint8_t *bytes; // not owned, room for size_max; starts on 8 bytes
    uint64_t first; // sequence of fragment 0
    uint64_t begun_ns;
    uint32_t size; // of the message; 0: free
    uint32_t missing;
    uint64_t have[(CAIRN_LINK_FRAGMENTS_MAX + 63) / 64];
} cairn_assembly;

typedef struct cairn_assemblies {
    cairn_assembly slots[CAIRN_ASSEMBLIES_MAX];
    uint32_t count;       // slots in use, 1 .. CAIRN_ASSEMBLIES_MAX
    uint32_t size_max;    // of a message
    uint64_t given_up;    // no message whose first sequence is below this is begun any more
    uint64_t lost;        // messages begun and given up
    cairn_assembly *done; // the message completed by the last take; free again at the next
} cairn_assemblies;

void cairn_assemblies_reset(cairn_assemblies *assemblies);

typedef struct cairn_fragment {
    uint64_t sequence;
    uint32_t index;       // 0 ..
    uint32_t size;        // of the whole message
    const uint8_t *bytes; // of this fragment
    uint32_t bytes_size;
} cairn_fragment;

// Writes the part header of a fragment.
void cairn_fragment_write(uint32_t index, uint32_t size, uint8_t *bytes);
// Reads the bytes after the link header.
cairn_fragment cairn_fragment_read(uint64_t sequence, const uint8_t *body, size_t body_size);

uint32_t cairn_fragment_count(uint32_t message_size);
uint32_t cairn_fragment_size(uint32_t message_size, uint32_t index);

// CAIRN_LINK_TAKEN, CAIRN_LINK_DROP_FRAGMENT or CAIRN_LINK_DROP_MESSAGE_SIZE. When the message is
// whole now, `done` points to it until the next take. A message that has waited `patience_ns` for
// its fragments may be given up for another.
cairn_link_drop cairn_assemblies_take(cairn_assemblies *assemblies, uint64_t now_ns,
    uint64_t patience_ns, const cairn_fragment *fragment);
