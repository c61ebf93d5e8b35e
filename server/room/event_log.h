// SPDX-License-Identifier: MIT
#pragma once

// The last events of a room's world that clients without a world of their own are told
// (bridge/world_events.h). Written by the job that steps; read while it does not run.

#include <stdint.h>

#include "schema/messages.h"
#include <cairn/sim.h>

// A burst of two batches of messages to each client.
#define CAIRN_EVENT_LOG_CAPACITY 1024

typedef struct cairn_event_log {
    cairn_wire_event *ring; // owned; event number n is at n % CAIRN_EVENT_LOG_CAPACITY
    uint64_t written;       // events since the room began, the number of the next one
} cairn_event_log;

// CAIRN_OUT_OF_MEMORY; destroying is allowed then.
cairn_status cairn_event_log_create(cairn_event_log *log);
void cairn_event_log_destroy(cairn_event_log *log);
// Adds the events of the step that the world has just made. The oldest ones are overwritten.
void cairn_event_log_add(cairn_event_log *log, const cairn_world *world);
// Copies events from number *next on, at most `capacity`, and moves *next past them. Returns how
// many. Those that were overwritten are skipped and added to *missed.
uint32_t cairn_event_log_read(const cairn_event_log *log, uint64_t *next, cairn_wire_event *out,
    uint32_t capacity, uint32_t *missed);
