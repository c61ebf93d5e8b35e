// SPDX-License-Identifier: MIT
#pragma once

// What the requests of operators may take of the thread that drives the server. Most take little,
// but some copy a world or put another in its place, and while they do no other room is stepped. So
// one turn carries out only so much of that, and in a server of several rooms each operator, and
// all requests about one room, get at most a share of the thread's time (Turner 1986, the leaky
// bucket as a meter). What exceeds it waits. What a request takes is estimated by the size of the
// world, so that a server without a clock decides the same.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/control.h>

struct cairn_room;

// One in so many; a room has twice as much as an operator, so that one of them leaves another the
// half. And how far ahead of the share an operator or a room may be.
#define CAIRN_CONTROL_SHARE 20
#define CAIRN_CONTROL_ROOM_SHARE (CAIRN_CONTROL_SHARE / 2)
#define CAIRN_CONTROL_BURST_NS UINT64_C(200000000)
// The requests of one turn; one that takes longer by itself has a turn alone.
#define CAIRN_CONTROL_TURN_NS UINT64_C(500000)
// A request that takes less is not metered. The number of requests is (CAIRN_CONTROL_QUEUE_MAX, and
// the payloads that a client may send).
#define CAIRN_CONTROL_FREE_NS UINT64_C(25000)
// Bytes of an encoded world that the thread copies; and what it takes to open a room, or to close
// one.
#define CAIRN_CONTROL_COPIED_PER_US 4000
#define CAIRN_CONTROL_OPEN_NS UINT64_C(200000)

// What the request takes; room NULL: it is about none. The room's job is not running (asserted).
uint64_t cairn_control_cost_ns(const struct cairn_room *room, const cairn_control_request *request);

// Whether what `paid_until_ns` has paid so far allows another request; and pays for it.
bool cairn_control_meter_allows(uint64_t paid_until_ns, uint64_t now_ns);
void cairn_control_meter_pay(
    uint64_t *paid_until_ns, uint64_t now_ns, uint64_t cost_ns, uint32_t share);
