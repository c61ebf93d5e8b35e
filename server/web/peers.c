// SPDX-License-Identifier: MIT
#include "server/web/peers.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "server/threads/datagram_ring.h"
#include "server/web/frame_queue.h"
#include <cairn/server_uv.h>

#define NS_PER_MESSAGE (CAIRN_NS_PER_S / CAIRN_PEER_RATE_HZ)

struct cairn_peer {
    cairn_http_socket *socket;
    cairn_address address;
    uint64_t rate_until_ns; // a clock that each message moves ahead
    // Since the last question whether it goes on.
    uint64_t queued;
    uint64_t dropped;
    uint64_t taken;
    uint32_t quiet; // such questions in a row with nothing to send
    cairn_frame_queue queue;
};

struct cairn_peers {
    cairn_datagram_ring *received;
    uint64_t number; // of the last peer
    cairn_peers_statistics statistics;
    uint32_t capacity;
    cairn_peer *list[];
};

// A socket may be without a session for so many questions.
#define QUIET_MAX 2

cairn_status cairn_peers_create(
    cairn_datagram_ring *received, uint32_t peers_max, uint64_t number, cairn_peers **out) {
    *out = calloc(1, sizeof **out + peers_max * sizeof(cairn_peer *));
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->received = received;
    (*out)->number = number;
    (*out)->capacity = peers_max;
    return CAIRN_OK;
}

void cairn_peers_destroy(cairn_peers *peers) {
    for (uint32_t i = 0; peers != NULL && i < peers->capacity; ++i) {
        free(peers->list[i]);
    }
    free(peers);
}

// Bytes 8 to 13 of an address count the peers, bytes 14 and 15 are the place in the list.
static void set_number(cairn_address *address, uint64_t number, uint32_t place) {
    for (size_t i = 0; i < 6; ++i) {
        address->ip[8 + i] = (uint8_t)(number >> (8 * (5 - i)));
    }
    address->ip[14] = (uint8_t)(place >> 8);
    address->ip[15] = (uint8_t)place;
}

static uint32_t place_of(const cairn_address *address) {
    return (uint32_t)address->ip[14] << 8 | address->ip[15];
}
_Static_assert(CAIRN_CLIENTS_MAX <= UINT16_MAX, "two bytes hold a place");

cairn_peer *cairn_peers_open(
    cairn_peers *peers, cairn_http_socket *socket, const cairn_address *from, uint64_t now_ns) {
    uint32_t place = 0;
    while (place < peers->capacity && peers->list[place] != NULL) {
        ++place;
    }
    cairn_peer *peer = place < peers->capacity ? malloc(sizeof *peer) : NULL;
    if (peer == NULL) {
        return NULL;
    }
    peer->socket = socket;
    peer->rate_until_ns = now_ns;
    peer->queued = 0;
    peer->dropped = 0;
    peer->taken = 0;
    peer->quiet = 0;
    peer->address = (cairn_address){.family = CAIRN_ADDRESS_STREAM, .port = from->port};
    memcpy(peer->address.ip, from->ip, 8);
    set_number(&peer->address, ++peers->number, place);
    cairn_frame_queue_clear(&peer->queue);
    peers->list[place] = peer;
    return peer;
}

void cairn_peers_close(cairn_peers *peers, cairn_peer *peer) {
    const uint32_t place = place_of(&peer->address);
    CAIRN_ASSERT(place < peers->capacity && peers->list[place] == peer);
    peers->list[place] = NULL;
    free(peer);
}

bool cairn_peers_receive(
    cairn_peers *peers, cairn_peer *peer, const uint8_t *bytes, size_t size, uint64_t now_ns) {
    const uint64_t begin_ns = peer->rate_until_ns > now_ns ? peer->rate_until_ns : now_ns;
    if (begin_ns - now_ns > CAIRN_PEER_BURST * NS_PER_MESSAGE) {
        peers->statistics.closed_rate += 1;
        return false;
    }
    peer->rate_until_ns = begin_ns + NS_PER_MESSAGE;
    peers->statistics.received += 1;
    if (!cairn_datagram_ring_add(peers->received, &peer->address, bytes, size)) {
        peers->statistics.received_dropped += 1;
    }
    return true;
}

void cairn_peers_note_malformed(cairn_peers *peers) {
    peers->statistics.malformed += 1;
}

static bool has_waiting(const cairn_peer *peer) {
    return peer->queue.begin < peer->queue.end;
}

void cairn_peers_send(
    cairn_peers *peers, const cairn_address *to, const uint8_t *bytes, size_t size) {
    const uint32_t place = place_of(to);
    cairn_peer *peer = place < peers->capacity ? peers->list[place] : NULL;
    if (peer == NULL || !cairn_address_equal(&peer->address, to)) {
        peers->statistics.unknown += 1;
        return;
    }
    const bool waits = has_waiting(peer);
    peer->queued += 1;
    if (!cairn_frame_queue_add(&peer->queue, bytes, size)) {
        peer->dropped += 1;
        peers->statistics.dropped += 1;
        return;
    }
    if (!waits) {
        cairn_http_socket_wake(peer->socket);
    }
}

size_t cairn_peers_next(cairn_peers *peers, cairn_peer *peer, uint8_t **bytes) {
    const size_t size = cairn_frame_queue_take(&peer->queue, bytes);
    peers->statistics.sent += size > 0 ? 1 : 0;
    peer->taken += size > 0 ? 1 : 0;
    return size;
}

bool cairn_peers_go_on(cairn_peers *peers, cairn_peer *peer) {
    const bool stuck = has_waiting(peer) && peer->taken == 0;
    const bool slow = stuck || peer->dropped * 2 > peer->queued;
    peer->quiet = peer->queued == 0 ? peer->quiet + 1 : 0;
    const bool idle = peer->quiet >= QUIET_MAX;
    peers->statistics.closed_slow += slow ? 1 : 0;
    peers->statistics.closed_idle += idle ? 1 : 0;
    peer->queued = 0;
    peer->dropped = 0;
    peer->taken = 0;
    return !slow && !idle;
}

uint64_t cairn_peers_waiting(const cairn_peers *peers) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < peers->capacity; ++i) {
        const cairn_peer *peer = peers->list[i];
        bytes += peer == NULL ? 0 : peer->queue.end - peer->queue.begin;
    }
    return bytes;
}

const cairn_peers_statistics *cairn_peers_statistics_read(const cairn_peers *peers) {
    return &peers->statistics;
}
