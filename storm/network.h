// SPDX-License-Identifier: MIT
#pragma once

// A virtual network and its clocks. One seed decides when, how often and how intact each datagram
// arrives. Events have one total order (time, then sequence), so the same calls give the same run
// on every machine. Memory is bounded at create.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/random.h"
#include <cairn/types.h>

typedef struct cairn_virtual_network cairn_virtual_network;

#define CAIRN_VIRTUAL_ENDPOINTS_MAX 64
#define CAIRN_VIRTUAL_BOTTLENECKS_MAX 32

// The clock of an endpoint reads offset + t * (1 + drift / 10^6) at virtual t.
typedef struct cairn_virtual_clock {
    int32_t drift_ppm; // |drift| <= 100000
    uint64_t offset_ns;
} cairn_virtual_clock;

// One direction between two endpoints.
typedef struct cairn_virtual_path {
    uint32_t loss_permille;
    uint32_t repeat_permille;  // a second copy with its own delay
    uint32_t corrupt_permille; // some bits flipped
    bool cut;                  // nothing passes
    uint64_t delay_ns;
    uint64_t jitter_ns;        // added to each delay, uniform in [0, jitter): reorders
    uint32_t size_max;         // MTU: longer datagrams are lost; 0: no limit
    uint32_t bottleneck;       // that the path leads through; 0: none, no limit
    uint64_t stalled_until_ns; // datagrams sent before are released then, all at once
} cairn_virtual_path;

// A line of limited rate with a queue that drops what arrives when it is full. Several paths may
// lead through one; they share its rate and its queue.
typedef struct cairn_virtual_bottleneck {
    uint32_t bytes_per_s; // of UDP payload, at least 1
    uint64_t queue_ns;    // a datagram that would wait so long or longer is lost
} cairn_virtual_bottleneck;

// What went from one endpoint to another.
typedef struct cairn_virtual_traffic {
    uint64_t datagrams;  // sent
    uint64_t bytes;      // sent
    uint64_t queue_full; // datagrams of these that a bottleneck lost
    uint64_t bytes_lost; // in these
} cairn_virtual_traffic;

// Every datagram that entered is counted in one of these or is still in flight.
typedef struct cairn_virtual_counters {
    uint64_t sent;
    uint64_t injected; // by an attacker
    uint64_t repeated;
    uint64_t corrupted; // and delivered
    uint64_t delivered;
    uint64_t lost;
    uint64_t cut;
    uint64_t queue_full;
    uint64_t too_large; // for the path
    uint64_t nowhere;   // no endpoint has that address
    uint64_t overflow;  // more in flight than the network was created for
    uint64_t in_flight;
} cairn_virtual_counters;

typedef struct cairn_virtual_datagram {
    uint32_t to; // endpoint
    cairn_address from;
    uint32_t size;
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
} cairn_virtual_datagram;

// `datagrams_max` may be in flight at once. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_virtual_network_create(
    uint64_t seed, uint32_t datagrams_max, cairn_virtual_network **out);
void cairn_virtual_network_destroy(cairn_virtual_network *network);

// Returns the endpoint's number: 0, 1, 2, ... Paths to and from it start perfect, with no delay.
uint32_t cairn_virtual_endpoint(
    cairn_virtual_network *network, const cairn_address *address, cairn_virtual_clock clock);
const cairn_address *cairn_virtual_address(const cairn_virtual_network *network, uint32_t endpoint);
// A new address for an endpoint: datagrams in flight to it still arrive.
void cairn_virtual_move(
    cairn_virtual_network *network, uint32_t endpoint, const cairn_address *address);
cairn_virtual_path *cairn_virtual_path_between(
    cairn_virtual_network *network, uint32_t from, uint32_t to);
// Both directions.
void cairn_virtual_connect(
    cairn_virtual_network *network, uint32_t a, uint32_t b, const cairn_virtual_path *path);
// Returns the bottleneck's number: 1, 2, ...
uint32_t cairn_virtual_bottleneck_add(
    cairn_virtual_network *network, cairn_virtual_bottleneck bottleneck);
// Rate and queue may change while the network runs. What waits already leaves when it would have.
cairn_virtual_bottleneck *cairn_virtual_bottleneck_at(
    cairn_virtual_network *network, uint32_t number);
cairn_virtual_traffic cairn_virtual_traffic_between(
    const cairn_virtual_network *network, uint32_t from, uint32_t to);
void cairn_virtual_cut(cairn_virtual_network *network, uint32_t a, uint32_t b, bool cut);
// Holds back everything sent in either direction for so long; 0 ends a stall.
void cairn_virtual_stall(cairn_virtual_network *network, uint32_t a, uint32_t b, uint64_t stall_ns);

uint64_t cairn_virtual_now_ns(const cairn_virtual_network *network);
// What the endpoint's clock reads now.
uint64_t cairn_virtual_local_ns(const cairn_virtual_network *network, uint32_t endpoint);
// The first virtual time at which the endpoint's clock reads `local_ns` or more; UINT64_MAX stays.
uint64_t cairn_virtual_time_of(
    const cairn_virtual_network *network, uint32_t endpoint, uint64_t local_ns);

void cairn_virtual_send(cairn_virtual_network *network, uint32_t from, const cairn_address *to,
    const uint8_t *bytes, size_t size);
// A datagram with a forged sender address; it arrives intact after `delay_ns`.
void cairn_virtual_inject(cairn_virtual_network *network, const cairn_address *from,
    const cairn_address *to, const uint8_t *bytes, size_t size, uint64_t delay_ns);

// When the next datagram arrives; UINT64_MAX for never.
uint64_t cairn_virtual_next_ns(const cairn_virtual_network *network);
// Moves time to the next arrival that is not after `until_ns` and returns the datagram in *out,
// valid until the next call. If nothing arrives, moves time to `until_ns` and returns false.
bool cairn_virtual_deliver(
    cairn_virtual_network *network, uint64_t until_ns, const cairn_virtual_datagram **out);

cairn_virtual_counters cairn_virtual_counters_read(const cairn_virtual_network *network);
// Whether every datagram is accounted for.
bool cairn_virtual_adds_up(const cairn_virtual_network *network);
// A tap sees every datagram except those sent into a cut path, before loss is drawn, so also those
// that are lost. NULL removes it.
void cairn_virtual_tap(cairn_virtual_network *network,
    void (*tap)(void *user, const cairn_address *from, const cairn_address *to,
        const uint8_t *bytes, size_t size),
    void *user);
