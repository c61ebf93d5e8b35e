// SPDX-License-Identifier: MIT
#include "storm/attacker.h"

#include <string.h>

#include "net/packet.h"

static const uint32_t request_size = 1078; // netcode 1.02, connection request
static const uint64_t act_delay_ns = 1000000;
// Datagrams seen since, besides the owner's first ones of a session, so that storms stay as they
// were. They alone tell nothing: a hostile client sends more in one moment, while the request is
// lost (seed 28003299).
static const uint32_t token_used_after = 400;

void cairn_attacker_init(cairn_attacker *attacker, uint64_t seed, const cairn_address *own) {
    memset(attacker, 0, sizeof *attacker);
    attacker->random = cairn_random_of(seed);
    attacker->address = *own;
}

static bool is_request(const uint8_t *bytes, size_t size) {
    return size == request_size && bytes[0] == CAIRN_PACKET_REQUEST;
}

// Only a client with a session sends such datagrams, and the server made it of the client's token.
static bool is_of_session(const uint8_t *bytes, size_t size) {
    const unsigned type = size > 0 ? bytes[0] & 15u : CAIRN_PACKET_REQUEST;
    return type == CAIRN_PACKET_KEEP_ALIVE || type == CAIRN_PACKET_PAYLOAD;
}

static void note_session(cairn_attacker *attacker, const cairn_address *client) {
    for (uint32_t i = 0; i < attacker->held_count; i++) {
        attacker->held[i].used =
            attacker->held[i].used || cairn_address_equal(&attacker->held[i].from, client);
    }
}

void cairn_attacker_observe(void *user, const cairn_address *from, const cairn_address *to,
    const uint8_t *bytes, size_t size) {
    cairn_attacker *attacker = user;
    if (is_of_session(bytes, size)) {
        note_session(attacker, from);
    }
    // Handshakes come first and are kept longest; later traffic replaces half of the entries.
    const uint32_t half = CAIRN_ATTACKER_HELD_MAX / 2;
    const uint32_t seen = attacker->seen++;
    if (seen >= CAIRN_ATTACKER_HELD_MAX && seen % 17 != 0) {
        return;
    }
    const uint32_t entry = seen < CAIRN_ATTACKER_HELD_MAX ? seen : half + seen / 17 % half;
    attacker->held_count = seen < CAIRN_ATTACKER_HELD_MAX ? seen + 1 : attacker->held_count;
    attacker->held[entry].from = *from;
    attacker->held[entry].to = *to;
    attacker->held[entry].size = (uint32_t)size;
    attacker->held[entry].seen_at = seen;
    attacker->held[entry].used = false;
    memcpy(attacker->held[entry].bytes, bytes, size);
}

// A connection request that is valid up to its encrypted part.
static size_t forge_request(cairn_attacker *attacker, uint8_t *bytes) {
    cairn_random_fill(&attacker->random, bytes, request_size);
    for (uint32_t i = 0; i < attacker->held_count; i++) {
        if (is_request(attacker->held[i].bytes, attacker->held[i].size)) {
            memcpy(bytes, attacker->held[i].bytes, 54);
            return request_size;
        }
    }
    bytes[0] = 0;
    memcpy(bytes + 1, "NETCODE 1.02", 13);
    return request_size;
}

static void send_random(
    cairn_attacker *attacker, cairn_virtual_network *network, const cairn_address *victim) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size = cairn_random_below(&attacker->random, CAIRN_DATAGRAM_SIZE_MAX + 1);
    if (cairn_random_below(&attacker->random, 2) == 0) {
        size = forge_request(attacker, bytes);
    } else {
        cairn_random_fill(&attacker->random, bytes, size);
    }
    cairn_virtual_inject(network, &attacker->address, victim, bytes, size, act_delay_ns);
}

void cairn_attacker_send(
    cairn_attacker *attacker, cairn_virtual_network *network, const cairn_address *victim) {
    const uint64_t act = cairn_random_below(&attacker->random, 6);
    if (act == 0 || attacker->held_count == 0) {
        send_random(attacker, network, victim);
        return;
    }
    const uint64_t entry = cairn_random_below(&attacker->random, attacker->held_count);
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size = attacker->held[entry].size;
    const bool token_unused =
        is_request(attacker->held[entry].bytes, size) &&
        (!attacker->held[entry].used ||
            attacker->seen - attacker->held[entry].seen_at < token_used_after);
    // From the true sender's address, or from the attacker's own.
    const bool spoofed = act >= 2 || token_unused;
    memcpy(bytes, attacker->held[entry].bytes, size);
    if (act >= 3 && size > 0 && act != 5) {
        const uint64_t bit = cairn_random_below(&attacker->random, 8 * size);
        bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
    }
    if (act == 5) {
        size = cairn_random_below(&attacker->random, size + 1);
    }
    cairn_virtual_inject(network, spoofed ? &attacker->held[entry].from : &attacker->address,
        &attacker->held[entry].to, bytes, size, act_delay_ns);
}
