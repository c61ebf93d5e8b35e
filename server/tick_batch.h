// SPDX-License-Identifier: MIT
#pragma once

// What a room does when ticks are due: it gathers their commands, steps and hashes them, records
// them, and sends the changes to its members. Stepping is a job that may run on a thread.

#include <stdint.h>

#include "server/core/server_state.h"

// A job that takes longer is reported as stuck.
#define CAIRN_TICK_BATCH_STUCK_NS CAIRN_NS_PER_S

// Runs what is due, or hands it to the driver. Does nothing while the room's job is out.
void cairn_tick_batch_run(cairn_server *server, cairn_room *room);
// When cairn_tick_batch_run has something to do next.
uint64_t cairn_tick_batch_due_ns(const cairn_room *room);
