// SPDX-License-Identifier: MIT
#pragma once

// What a room does when its time has come: the ticks that are due, their recording, and what its
// members are told of them. The stepping itself is a job that may be done elsewhere meanwhile.

#include <stdint.h>

#include "server/room/room.h"

struct cairn_server;

// A turn that takes longer is reported as stuck.
#define CAIRN_TICK_BATCH_STUCK_NS UINT64_C(1000000000)

// Runs what is due, or hands it to the driver. Nothing while a job is out.
void cairn_tick_batch_run(struct cairn_server *server, cairn_room *room, uint64_t now_ns);
// When cairn_tick_batch_run has something to do next.
uint64_t cairn_tick_batch_due_ns(const cairn_room *room);
