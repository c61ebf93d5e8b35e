// SPDX-License-Identifier: MIT
#pragma once

// A client whose address changes (a NAT that forgot it, another network) stays connected: the
// server's side. docs/PROTOCOL.md, Paths that change, has the packets and the threats.
//
// A client that says that it is at another address, in the newest packet of its session, is
// believed at once for what it sends from there, and for as many bytes as it sends from there. When
// it has answered a challenge there, the address is the client's.

#include "net/netcode_slots.h"
#include "net/packet.h"

typedef struct cairn_netcode_path {
    cairn_netcode_slots *slots;
    const cairn_address *from;
    uint64_t now_ns;
    uint64_t protocol_id;
    const uint8_t *number_key; // CAIRN_SIPHASH_KEY_SIZE: challenges cannot be guessed without it
    uint8_t *body;             // room for CAIRN_PAYLOAD_SIZE_MAX bytes
} cairn_netcode_path;

// Takes a path packet from any address. If it is taken, `*client` is its client and `*answer` the
// packet to send to it: a challenge, a keep-alive (the address is the client's now), or none (type
// CAIRN_PACKET_REQUEST).
cairn_netcode_drop cairn_netcode_path_receive(const cairn_netcode_path *path, const uint8_t *bytes,
    size_t size, uint32_t *client, cairn_packet *answer);

// The client that says that it is at an address, or CAIRN_LOOKUP_NONE.
uint32_t cairn_netcode_path_find(
    cairn_netcode_slots *slots, const cairn_address *from, uint64_t now_ns);

// Where a datagram to the client goes: to an address that it has not proved yet only as much as
// came from there, so that a forged source address gains nothing.
const cairn_address *cairn_netcode_path_route(cairn_netcode_slot *slot, size_t size);
