// SPDX-License-Identifier: MIT
#pragma once

// Capsules: when a client that simulates reports another root than the room's, the server steps
// that tick again and writes what it computed to a file (recording/desync_report.h), for
// cairn-replay explain.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "schema/recording.h"
#include "server/room/task.h"
#include "server/session/hour_budget.h"
#include "server/session/session.h"
#include "sim/debug/trace.h"

// States are kept for this long while capsules are wanted.
#define CAIRN_DESYNC_STATE_HISTORY_MS 1500
// Within an hour, of one client id (its connections together) and of one server: a client that lies
// about its roots neither fills a disk nor keeps others from being reported for long.
#define CAIRN_DESYNC_CAPSULES_PER_CLIENT_MAX 2
#define CAIRN_DESYNC_CAPSULES_MAX 64

// Of a server: where capsules go.
typedef struct cairn_desync_output {
    void (*on_capsule)(void *user, const char *room, uint64_t tick, uint64_t client_id,
        const uint8_t *bytes, size_t size); // NULL: no capsules are made
    void *user;
    cairn_task_runner *runner; // of the tasks that make them
    cairn_hour_budget budget;
} cairn_desync_output;

// Of a room: the report that waits for the room's job, because states are the job's until then.
typedef struct cairn_room_desync {
    struct cairn_session *reporter; // NULL: none waits
    uint64_t tick;
    cairn_hash128 root; // the client's
} cairn_room_desync;

// Of a client; zero at first.
typedef struct cairn_session_desync {
    uint64_t agreed_tick; // the newest tick for which the client reported the room's root
} cairn_session_desync;

void cairn_desync_report_agree(cairn_session_desync *own, uint64_t tick);
// The client's root of `tick` is `root`, which is not the room's.
void cairn_desync_report_differ(cairn_desync_output *output, cairn_room_desync *waiting,
    cairn_session_desync *own, cairn_session *session, uint64_t now_ns, uint64_t tick,
    cairn_hash128 root);
// The room's job is back: makes the capsule that waited for it.
void cairn_desync_report_advance(
    cairn_desync_output *output, cairn_room_desync *waiting, cairn_room *room);

// The commands of the step from `tick` to the next, by the room's log; NULL and a count of 0: they
// are not held. They last until the next tick is added.
const cairn_command *cairn_step_commands(const cairn_room *room, uint64_t tick, uint32_t *count);
