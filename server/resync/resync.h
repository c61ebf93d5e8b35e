// SPDX-License-Identifier: MIT
#pragma once

// What a server does for clients that simulate and whose world differs from their room's. It
// answers resync requests with the elements that differ or with the roots of a step's stages, sends
// a new state, or serves the client by snapshots instead. docs/PROTOCOL.md, section Healing.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"
#include "server/resync/desync_report.h"
#include "server/resync/inquiry.h"
#include "server/session/context.h"
#include "server/session/session.h"
#include "sim/debug/passport.h"

// States are kept for this long while a client may send requests, as far as the state history has
// room.
#define CAIRN_SERVER_RESYNC_STATE_HISTORY_MS 1500
// A request costs a client this much of its time, a new state four times as much. A client may be
// ahead by the burst (Turner 1986, the leaky bucket as a meter).
#define CAIRN_SERVER_RESYNC_REQUEST_NS UINT64_C(250000000)
#define CAIRN_SERVER_RESYNC_BURST_NS UINT64_C(4000000000)
// Requests that wait for a room's job, or for others to be answered. A client has one for repair
// and the two of a report.
#define CAIRN_SERVER_RESYNC_DEFERRED_MAX 8
#define CAIRN_SERVER_RESYNC_DEFERRED_PER_CLIENT_MAX 3
// Requests for the stages of a step within an hour: of one client id, and of one server.
#define CAIRN_SERVER_RESYNC_STAGES_PER_CLIENT_MAX 8
#define CAIRN_SERVER_RESYNC_STAGES_MAX 256
// A client that needs more answers than this within the time is served by snapshots. A client that
// gives up after its own limit of repairs is never above it: 8 repairs of one count of its own and
// 8 of the next may lie within the time, each of elements and a state or of one vain sketch and a
// state, and twice in it CAIRN_SERVER_RESYNC_HOPELESS_MAX sketches more are in vain.
#define CAIRN_SERVER_RESYNC_ATTEMPTS_MAX 40
#define CAIRN_SERVER_RESYNC_ATTEMPTS_NS UINT64_C(10000000000)
// Within the same time: after so many sketches that named no element the next ones are not looked
// at, and the client is told to ask for the state. It tries three sizes, and one more for a report.
#define CAIRN_SERVER_RESYNC_HOPELESS_MAX 4
// A client that should resync and reports more roots that differ than this within the time, too.
#define CAIRN_SERVER_RESYNC_DIFFERENCES_MAX 64
#define CAIRN_SERVER_RESYNC_DIFFERENCES_NS UINT64_C(10000000000)

// Of a server.
typedef struct cairn_server_resync {
    const cairn_server_context *context;
    cairn_passport passport; // of this process
    cairn_desync_output capsules;
    cairn_hour_budget stages;
} cairn_server_resync;

// A request, or one of its two parts, that waits: until the room's job is back, because states are
// the job's until then, and until the room's inquiry is ready.
typedef struct cairn_resync_deferred {
    cairn_session *requester;     // NULL: free
    uint64_t number;              // in order of arrival
    cairn_resync_request request; // its sketch is the one below
    uint8_t sketch[CAIRN_DIFFERENCE_SKETCH_SIZE_MAX];
} cairn_resync_deferred;

// Of a room. The memory is taken when the first request comes.
typedef struct cairn_room_resync {
    uint32_t states_required;         // by clients that resync
    uint32_t capsule_states_required; // for capsules
    cairn_inquiry *inquiry;           // owned
    cairn_resync_deferred *deferred;  // owned; [CAIRN_SERVER_RESYNC_DEFERRED_MAX]
    uint64_t deferred_count;          // in all
    bool answering;
    cairn_room_desync desync;
} cairn_room_resync;

// Events of a client, counted until a time has passed since the first.
typedef struct cairn_resync_counter {
    uint32_t count;
    uint64_t from_ns;
} cairn_resync_counter;

// Of a client; zero at first.
typedef struct cairn_session_resync {
    uint64_t paid_until_ns; // by its requests so far
    cairn_resync_counter attempts;
    cairn_resync_counter hopeless;    // sketches that named no element
    cairn_resync_counter differences; // roots that differed
    cairn_session_desync desync;
} cairn_session_resync;

void cairn_server_resync_destroy_room(cairn_room *room);
// The room's job is back: requires the states that its members may ask about, and answers what
// waited.
void cairn_server_resync_advance(cairn_server_resync *resync, cairn_room *room);
// Answers what waits and can be answered now. Called when the job of a room is back, and now and
// then while a room is paused.
void cairn_server_resync_answer_waiting(cairn_server_resync *resync, cairn_room *room);
void cairn_server_resync_take_request(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request);
// The client reported the root that the room has for `tick`, or `root` instead.
void cairn_server_resync_root_agreed(cairn_session *session, uint64_t tick);
void cairn_server_resync_root_differed(
    cairn_server_resync *resync, cairn_session *session, uint64_t tick, cairn_hash128 root);
// The client leaves the room, or the room's world was replaced: nothing of it waits any more.
void cairn_server_resync_forget(cairn_session *session);
// From now on a client that simulates is served by snapshots. The event carries `reason`.
void cairn_server_resync_demote(
    cairn_server_resync *resync, cairn_session *session, const char *reason);

// Why a client that wants to simulate must not, by its passport: static text; NULL when it may.
const char *cairn_server_resync_unfit(const cairn_server_resync *resync, const cairn_hello *hello);
