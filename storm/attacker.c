// SPDX-License-Identifier: MIT
#include "storm/attacker.h"

#include <string.h>

static const uint32_t request_size = 1078; // netcode 1.02, connection request
static const uint64_t act_delay_ns = 1000000;
// Datagrams seen since: by then the token's owner has used it or lost its path altogether.
static const uint32_t token_used_after = 400;

void cairn_stranger_init(cairn_stranger *stranger, uint64_t seed) {
    memset(stranger, 0, sizeof *stranger);
    stranger->random = cairn_random_of(seed);
    cairn_address_parse("203.0.113.66:6666", &stranger->address);
}

void cairn_stranger_see(void *user, const cairn_address *from, const cairn_address *to,
    const uint8_t *bytes, size_t size) {
    cairn_stranger *stranger = user;
    // Handshakes pass first and are kept longest; later traffic replaces half of the places.
    const uint32_t half = CAIRN_STRANGER_HELD_MAX / 2;
    const uint32_t seen = stranger->seen++;
    if (seen >= CAIRN_STRANGER_HELD_MAX && seen % 17 != 0) {
        return;
    }
    const uint32_t place = seen < CAIRN_STRANGER_HELD_MAX ? seen : half + seen / 17 % half;
    stranger->held_count = seen < CAIRN_STRANGER_HELD_MAX ? seen + 1 : stranger->held_count;
    stranger->held[place].from = *from;
    stranger->held[place].to = *to;
    stranger->held[place].size = (uint32_t)size;
    stranger->held[place].seen_at = seen;
    memcpy(stranger->held[place].bytes, bytes, size);
}

static bool token_unused(const cairn_stranger *stranger, uint64_t place) {
    return stranger->held[place].size == request_size && stranger->held[place].bytes[0] == 0 &&
           stranger->seen - stranger->held[place].seen_at < token_used_after;
}

static void random_bytes(cairn_stranger *stranger, uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)cairn_random_next(&stranger->random);
    }
}

// A request that is right up to the sealed part.
static size_t forge_request(cairn_stranger *stranger, uint8_t *bytes) {
    random_bytes(stranger, bytes, request_size);
    for (uint32_t i = 0; i < stranger->held_count; i++) {
        if (stranger->held[i].size == request_size && stranger->held[i].bytes[0] == 0) {
            memcpy(bytes, stranger->held[i].bytes, 54);
            return request_size;
        }
    }
    bytes[0] = 0;
    memcpy(bytes + 1, "NETCODE 1.02", 13);
    return request_size;
}

static void made_up(
    cairn_stranger *stranger, cairn_virtual_network *network, const cairn_address *victim) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size = cairn_random_below(&stranger->random, CAIRN_DATAGRAM_SIZE_MAX + 1);
    if (cairn_random_below(&stranger->random, 2) == 0) {
        size = forge_request(stranger, bytes);
    } else {
        random_bytes(stranger, bytes, size);
    }
    cairn_virtual_inject(network, &stranger->address, victim, bytes, size, act_delay_ns);
}

void cairn_stranger_act(
    cairn_stranger *stranger, cairn_virtual_network *network, const cairn_address *victim) {
    const uint64_t act = cairn_random_below(&stranger->random, 6);
    if (act == 0 || stranger->held_count == 0) {
        made_up(stranger, network, victim);
        return;
    }
    const uint64_t place = cairn_random_below(&stranger->random, stranger->held_count);
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size = stranger->held[place].size;
    // The true sender's address, or its own.
    const bool spoofed = act >= 2 || token_unused(stranger, place);
    memcpy(bytes, stranger->held[place].bytes, size);
    if (act >= 3 && size > 0 && act != 5) {
        const uint64_t bit = cairn_random_below(&stranger->random, 8 * size);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    if (act == 5) {
        size = cairn_random_below(&stranger->random, size + 1);
    }
    cairn_virtual_inject(network, spoofed ? &stranger->held[place].from : &stranger->address,
        &stranger->held[place].to, bytes, size, act_delay_ns);
}
