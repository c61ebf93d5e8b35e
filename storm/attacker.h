// SPDX-License-Identifier: MIT
#pragma once

// An attacker on the network path. It sees every datagram, keeps a few, and sends them again from
// wrong addresses, late or changed, or invents its own. It has no key. It never races the owner of
// a connect token that has made no session yet: the standard gives the token to the first sender,
// so winning that race would not be a finding.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "storm/network.h"

#define CAIRN_ATTACKER_HELD_MAX 32

typedef struct cairn_attacker {
    cairn_random random;
    cairn_address address; // its own source address
    uint32_t held_count;
    uint32_t seen; // taps since create
    struct {
        cairn_address from;
        cairn_address to;
        uint32_t size;
        uint32_t seen_at; // value of `seen`
        bool used;        // a connection request whose sender has a session since
        uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    } held[CAIRN_ATTACKER_HELD_MAX];
} cairn_attacker;

void cairn_attacker_init(cairn_attacker *attacker, uint64_t seed, const cairn_address *own);
// The network's tap: keeps a sample of what passes.
void cairn_attacker_observe(void *attacker, const cairn_address *from, const cairn_address *to,
    const uint8_t *bytes, size_t size);
// Sends one hostile datagram to `victim`, or to the receiver of a kept one.
void cairn_attacker_send(
    cairn_attacker *attacker, cairn_virtual_network *network, const cairn_address *victim);
