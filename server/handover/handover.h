// SPDX-License-Identifier: MIT
#pragma once

// Hands the rooms and clients of a server over to a server in another process on the same machine,
// which may be another build. No socket and no clock: records of bytes in one order, which a
// program carries.
//
//   gives                                  takes
//   room, for each room  ------------->    creates it with the same state
//   ticks, after each turn  ---------->    steps the same commands, compares every root
//   clients, when both agree  -------->    goes on; the side that gave sends nothing any more
//
// What is derived from the world (snapshots that are bases of others, shapes, states of the past,
// the log of commands) is not handed over: the taking side makes it while it steps beside. What it
// reads is checked; what it refuses is said in `why`, and the other side goes on as before.

#include <stdbool.h>
#include <stdint.h>

#include "net/archive.h"
#include "server/handover/links.h"
#include <cairn/server.h>

// Of the records; changes whenever they do.
#define CAIRN_HANDOVER_VERSION 5
#define CAIRN_HANDOVER_WHY_SIZE 320

// One side; zero at first.
typedef struct cairn_handover {
    struct cairn_handover_room *rooms; // owned; [rooms_max of the server]
    uint32_t room_count;
    cairn_handover_links links;        // of the side that takes
    uint64_t ticks;                    // compared by the side that takes
    uint64_t ticks_min;                // of the room with the fewest; paused rooms are left out
    char why[CAIRN_HANDOVER_WHY_SIZE]; // why it cannot go on; "": it can
} cairn_handover;

void cairn_handover_end(cairn_handover *handover); // may be called again

// The side that gives. Each returns false with handover->why when it cannot go on: it ends then.

// The rooms that exist now.
bool cairn_handover_begin(cairn_handover *handover, cairn_server *server);
// Writes room `index`. *later: it is being stepped, nothing was written, try again.
bool cairn_handover_give_room(cairn_handover *handover, cairn_server *server, uint32_t index,
    cairn_archive *out, bool *later);
// Writes what happened in the rooms since the last call. *any: something was written.
bool cairn_handover_give_ticks(
    cairn_handover *handover, cairn_server *server, cairn_archive *out, bool *any);
// From now on no room begins a batch, until `hold` is false. Not for long.
void cairn_handover_hold(cairn_server *server, bool hold);
// Whether nothing is under way that cannot be handed over: a batch on a thread, a datagram that was
// encrypted and not sent.
bool cairn_handover_is_quiet(const cairn_server *server);
// Bytes that the record of the clients will take, about: memory for it can be had before.
size_t cairn_handover_clients_size(const cairn_handover *handover, const cairn_server *server);
// Writes the clients and what waits for the rooms' next ticks. The server is quiet, and
// every tick was given (asserted). It may go on as if nothing had happened until it is told to
// leave.
void cairn_handover_give_clients(
    cairn_handover *handover, cairn_server *server, uint64_t now_ns, cairn_archive *out);
// The other side goes on: from now on this server takes and sends nothing. Its recordings are
// completed; drive it until cairn_server_drained.
void cairn_handover_leave(cairn_server *server, uint64_t now_ns);

// The side that takes: a server without rooms, which was not driven yet. Each returns false with
// handover->why; the server is then only fit to be destroyed.

bool cairn_handover_take_room(
    cairn_handover *handover, cairn_server *server, uint64_t now_ns, cairn_archive *in);
bool cairn_handover_take_ticks(cairn_handover *handover, cairn_server *server, cairn_archive *in);
bool cairn_handover_take_clients(
    cairn_handover *handover, cairn_server *server, uint64_t now_ns, cairn_archive *in);
// The other side has left: begins the recordings and broadcasts. `recorded`: whether a room that
// was recorded there is to be recorded here, too.
void cairn_handover_record(cairn_handover *handover, cairn_server *server,
    bool (*recorded)(void *user, const char *room), void *user);
