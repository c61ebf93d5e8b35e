// SPDX-License-Identifier: MIT
#pragma once

// Limits the time that requests of operators take of the server's thread. Most take little. Some
// copy a world or replace it, and no other room is stepped meanwhile. So one turn of the loop has a
// limit, and in a server of several rooms each operator has one, and each room: a share of the
// thread's time (a leaky bucket as a meter: Turner 1986). An operator also has a share of the
// thread of tasks, which packs a world that replaces a room's for its clients. A request that
// exceeds a limit waits. Its time is estimated from the size of the world, so the decision does not
// depend on a clock.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/session.h"
#include <cairn/control.h>

struct cairn_room;

// An operator gets one part in CAIRN_CONTROL_SHARE of the thread's time, and a room twice as much,
// so that one operator cannot use up a room's share. Either may be this far ahead of its share.
#define CAIRN_CONTROL_SHARE 20
#define CAIRN_CONTROL_ROOM_SHARE (CAIRN_CONTROL_SHARE / 2)
#define CAIRN_CONTROL_TASK_SHARE 4
#define CAIRN_CONTROL_BURST_NS UINT64_C(200000000)
// The limit of one turn. A request that takes longer is carried out alone in its turn.
#define CAIRN_CONTROL_TURN_NS UINT64_C(500000)
// Requests that take less are not metered: CAIRN_CONTROL_QUEUE_MAX and the payload budget of a
// client limit their number.
#define CAIRN_CONTROL_FREE_NS UINT64_C(25000)
// Estimates: bytes of an encoded world that are copied in a microsecond, or made and packed by
// tasks, and the time to open or close a room.
#define CAIRN_CONTROL_COPIED_PER_US 4000
#define CAIRN_CONTROL_PACKED_PER_US 50
#define CAIRN_CONTROL_OPEN_NS UINT64_C(200000)
// The time to find and build one piece of a body that breaks (docs/PHYSICS.md, Fracture).
#define CAIRN_CONTROL_PIECE_NS UINT64_C(250000)

// The estimated time of a request on the server's thread. `room`: the one that it names; NULL: it
// names none. The room's job must not be running (asserted).
uint64_t cairn_control_cost_ns(const struct cairn_room *room, const cairn_control_request *request);
// The same, of the thread of tasks; 0 for requests that do not replace a world.
uint64_t cairn_control_task_cost_ns(
    const struct cairn_room *room, const cairn_control_request *request);

// Whether another request may begin at `now_ns`.
bool cairn_control_meter_allows(uint64_t paid_until_ns, uint64_t now_ns);
bool cairn_control_account_allows(const cairn_operator_account *account, uint64_t now_ns);
// Adds a request to the meter: its cost times `share`, from now or from what is paid already.
void cairn_control_meter_pay(
    uint64_t *paid_until_ns, uint64_t now_ns, uint64_t cost_ns, uint32_t share);
