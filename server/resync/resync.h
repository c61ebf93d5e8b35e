// SPDX-License-Identifier: MIT
#pragma once

// What a server does for clients that simulate and whose world differs: it answers their doubts
// with the elements that differ, sends the state anew, or has them served by snapshots instead.
// docs/PROTOCOL.md, section Healing.

#include <stdbool.h>
#include <stdint.h>

#include "schema/messages.h"
#include <cairn/sim.h>

struct cairn_room;
struct cairn_server;
struct cairn_session;

// States kept for doubts: those of this long, as far as the room's past has room.
#define CAIRN_SERVER_RESYNC_STATE_HISTORY_MS 1500
// A doubt costs a client this much of its time, a new state four times as much; it may be ahead by
// the burst.
#define CAIRN_SERVER_RESYNC_REQUEST_NS UINT64_C(250000000)
#define CAIRN_SERVER_RESYNC_BURST_NS UINT64_C(4000000000)
// A payload larger than this is said to be too much: a new state is as good.
#define CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX (48 * 1024)
// Repairs and states within this time after which a client is served by snapshots.
#define CAIRN_SERVER_RESYNC_ATTEMPTS_MAX 16
#define CAIRN_SERVER_RESYNC_ATTEMPTS_NS UINT64_C(10000000000)

// Reported roots that differ within this time after which one that should heal is served so, too.
#define CAIRN_SERVER_RESYNC_DIFFERENCES_MAX 64
#define CAIRN_SERVER_RESYNC_DIFFERENCES_NS UINT64_C(10000000000)

// What a room has for it; all but `wanted` made when the first doubt comes.
typedef struct cairn_room_resync {
    bool wanted;                 // states are kept
    cairn_world *world;          // owned; for states of the past
    uint8_t *payload;            // owned
    uint8_t *sketch;             // owned; of the doubt that waits
    cairn_resync_request doubt;  // that waits until the room's job is back
    struct cairn_session *asker; // whose it is; NULL: none waits
} cairn_room_resync;

// What of a client the server remembers for it; zero at first.
typedef struct cairn_session_resync {
    uint64_t paid_until_ns; // doubts so far
    uint32_t cures;         // repairs and states in the present stretch of time
    uint64_t cures_from_ns;
    uint32_t differences; // roots reported, likewise
    uint64_t differences_from_ns;
} cairn_session_resync;

void cairn_server_resync_destroy(cairn_room_resync *heal);
// The room's job is back: wishes about the past are brought up to date, a doubt that waited is
// answered.
void cairn_server_resync_advance(struct cairn_server *server, struct cairn_room *room);
void cairn_server_resync_take_request(
    struct cairn_server *server, struct cairn_session *session, const cairn_resync_request *doubt);
// The client reported a root that is not ours. One that heals reports one, and no more until it
// has.
void cairn_server_resync_root_differed(struct cairn_server *server, struct cairn_session *session);
// The client leaves the room.
void cairn_server_resync_forget(struct cairn_room *room, const struct cairn_session *session);
// From now on a client that simulates is served by snapshots, and told why.
void cairn_server_resync_demote(
    struct cairn_server *server, struct cairn_session *session, const char *words);

// Why a client that wants to simulate must not, by its passport: a static sentence; NULL when it
// may.
const char *cairn_server_resync_unfit(const struct cairn_server *server, const cairn_hello *hello);
