// SPDX-License-Identifier: MIT
#pragma once

// Somebody hostile on the network: it sees what passes, holds a few datagrams, and sends them back
// from wrong addresses, or late, or changed, or makes up its own. It holds no key. One thing it
// leaves alone: to win the race with a connect token it has just seen. The standard lets whoever
// sends a token first have it, so that would be no finding.

#include <stddef.h>
#include <stdint.h>

#include "storm/network.h"

#define CAIRN_STRANGER_HELD_MAX 32

typedef struct cairn_stranger {
    cairn_random random;
    cairn_address address; // its own
    uint32_t held_count;
    uint32_t seen; // taps since create
    struct {
        cairn_address from;
        cairn_address to;
        uint32_t size;
        uint32_t seen_at; // value of `seen`
        uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    } held[CAIRN_STRANGER_HELD_MAX];
} cairn_stranger;

void cairn_stranger_init(cairn_stranger *stranger, uint64_t seed);
// The network's tap: keeps a sample of what passes.
void cairn_stranger_see(void *stranger, const cairn_address *from, const cairn_address *to,
    const uint8_t *bytes, size_t size);
// One hostile datagram to `victim`, or to whom a held one was for.
void cairn_stranger_act(
    cairn_stranger *stranger, cairn_virtual_network *network, const cairn_address *victim);
