// SPDX-License-Identifier: MIT
#pragma once

// How many connections a web server has, in all and from each network (an IPv4 address, a /64 of
// IPv6), and how fast each network may ask. One network can neither take all places nor keep the
// loop busy.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

// Connections that carry requests; those that became WebSockets are not among them.
#define CAIRN_WEB_REQUESTS_MAX 64
#define CAIRN_WEB_REQUESTS_PER_NETWORK_MAX 16
// Requests of one network in a second, on average and at once.
#define CAIRN_WEB_REQUEST_RATE_HZ 200
#define CAIRN_WEB_REQUEST_BURST 400

typedef struct cairn_admission cairn_admission;

// CAIRN_OUT_OF_MEMORY: *out is NULL. Nothing is allocated later.
cairn_status cairn_admission_create(
    uint32_t sockets_max, uint32_t sockets_per_network_max, cairn_admission **out);
void cairn_admission_destroy(cairn_admission *admission); // NULL is allowed
// For those that ask from now on.
void cairn_admission_set_sockets_per_network(cairn_admission *admission, uint32_t sockets_max);

#define CAIRN_ADMISSION_NONE UINT32_MAX
// Returns the number of a connection from this address, or CAIRN_ADMISSION_NONE: there are too
// many.
uint32_t cairn_admission_add(cairn_admission *admission, const cairn_address *from);
void cairn_admission_remove(cairn_admission *admission, uint32_t connection);
// The connection becomes a WebSocket. False: there are too many of them, and it does not.
bool cairn_admission_upgrade(cairn_admission *admission, uint32_t connection);
// Whether the network of the connection may ask now; if so, this counts as `count` requests.
bool cairn_admission_take(
    cairn_admission *admission, uint32_t connection, uint64_t now_ns, uint32_t count);

uint32_t cairn_admission_sockets(const cairn_admission *admission); // WebSockets now
const cairn_address *cairn_admission_address(const cairn_admission *admission, uint32_t connection);
