// SPDX-License-Identifier: MIT
#pragma once

// What a server does to find out where its world and a client's parted: it takes the step again
// from the room's past, tells the client the roots of its points when it asks, and, when a client
// reports another root, makes a capsule (recording/capsule.h) of what it knows itself.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "schema/messages.h"

struct cairn_room;
struct cairn_server;
struct cairn_session;

// States kept for it while capsules are wanted.
#define CAIRN_CAPSULES_PAST_MS 1500
// Of one connection: answers about the points of a step, and capsules.
#define CAIRN_CAPSULES_ANSWERS_MAX 8
#define CAIRN_CAPSULES_PER_CLIENT_MAX 2
// Of one server.
#define CAIRN_CAPSULES_PER_SERVER_MAX 64

// What waits until the room's job is back, because its states are not ours until then; and whether
// its past is wanted.
typedef struct cairn_room_desync {
    bool wanted;
    struct cairn_session *asker; // of the points of the step to `asked`; NULL: nobody
    uint64_t asked;
    struct cairn_session *suspect; // whose root of `differing` was another; NULL: nobody's
    uint64_t differing;
    cairn_hash128 root;
} cairn_room_desync;

// What of a client the server remembers for it; zero at first.
typedef struct cairn_session_desync {
    uint32_t answers;
    uint32_t made;
    uint64_t agreed; // newest tick whose root was ours
} cairn_session_desync;

// A doubt that wants the points of a step. What cannot be answered is left unanswered and counted.
void cairn_desync_take_request(
    struct cairn_server *server, struct cairn_session *session, const cairn_resync_request *doubt);
// The client's root of `tick` was ours, or `root` instead.
void cairn_desync_root_agreed(struct cairn_session *session, uint64_t tick);
void cairn_desync_root_differed(
    struct cairn_server *server, struct cairn_session *session, uint64_t tick, cairn_hash128 root);
// The room's job is back.
void cairn_desync_advance(struct cairn_server *server, struct cairn_room *room);
// The client leaves the room.
void cairn_desync_forget(struct cairn_room *room, const struct cairn_session *session);
