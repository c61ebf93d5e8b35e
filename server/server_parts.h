// SPDX-License-Identifier: MIT
#pragma once

// The inside of a server, shared by the files that make it up. Nobody else includes this.

#include "net/netcode_server.h"
#include "schema/codec.h"
#include "server/daemon/log.h"
#include "server/room/room.h"
#include "server/session/session.h"
#include "sim/debug/passport.h"
#include <cairn/server.h>

// A ticks message stays near this many commands and ticks; one more tick may always ride.
#define CAIRN_REPLICATION_TICKS_MAX 64
#define CAIRN_REPLICATION_COMMANDS_MAX 512
_Static_assert(CAIRN_REPLICATION_COMMANDS_MAX >= CAIRN_INBOX_COMMANDS_MAX, "one tick always fits");

struct cairn_server {
    cairn_server_config config; // scene, name, key, entropy, addresses: not valid after create
    cairn_netcode_server *netcode;
    struct cairn_room_place *places; // [rooms_max], of rooms.c
    cairn_room **rooms;              // [room_count], in order of their coming; also closing ones
    uint32_t room_count;
    uint32_t jobs_out; // handed to the driver and not yet back
    cairn_encoder *encoder;
    struct cairn_control_desk *desk; // of control.c; NULL: control is closed
    cairn_session *sessions;         // [clients_max], by netcode's index
    uint64_t now_ns;                 // newest that the driver told

    uint32_t capsules_made;

    bool draining;
    uint64_t drain_end_ns;
    bool dry; // the last send found nothing

    // Sealing a payload may put a keep-alive before it; the payload waits here then.
    uint32_t send_next; // session whose turn it is
    size_t held_size;
    cairn_address held_to;
    uint8_t held[CAIRN_DATAGRAM_SIZE_MAX];

    cairn_passport passport;            // this process's own
    cairn_server_statistics statistics; // counters that nobody else keeps
    cairn_wire_tick ticks[CAIRN_REPLICATION_TICKS_MAX];
    uint64_t digests[CAIRN_REPLICATION_TICKS_MAX];
    cairn_command commands[CAIRN_REPLICATION_COMMANDS_MAX];
};

// Tells the driver what happened. `room` NULL: in no room; `client_id` 0: about no client.
void cairn_server_emit_event(cairn_server *server, const cairn_room *room, cairn_log_level level,
    const char *name, uint64_t client_id, const char *detail, int64_t value);

// Encodes a message and queues it. Returns its size, 0 when the link has no room for it: try again
// later.
size_t cairn_server_send_reliable(
    cairn_server *server, cairn_session *session, const cairn_message *message);
// Returns the size of the message, 0 when it is too large to be sent.
size_t cairn_server_send_unreliable(
    cairn_server *server, cairn_session *session, const cairn_message *message);

// Tells everybody in the room who was welcomed. Whose reliable stream is full is not told.
void cairn_server_notify_room(
    cairn_server *server, const cairn_room *room, const cairn_event_message *notice);

// Keeps what a room that is about to be freed has counted.
void cairn_statistics_close_room(cairn_server *server, const cairn_room *room);
