// SPDX-License-Identifier: MIT
#pragma once

// What the rules of a game send to a client: messages over the reliable stream, events with the
// snapshots. Clients that simulate see the events in their own world.

#include <stdbool.h>
#include <stdint.h>

#include "server/session/context.h"
#include "server/session/session.h"

typedef struct cairn_game_sent {
    uint64_t next;       // number of the next message to send
    uint64_t next_event; // and of the next event
    uint64_t missed;     // messages since the last that was sent
    bool begun;          // the numbers are set
} cairn_game_sent;

// The client receives the messages that the rules send after this call.
void cairn_game_sent_begin(cairn_game_sent *sent, const cairn_room *room);
// Sends the messages that are new in the room. What finds no room in the stream waits.
void cairn_game_messages_send(
    const cairn_server_context *context, cairn_session *session, cairn_game_sent *sent);
// Events that a snapshot carries. They are few: what is beyond `items` is dropped.
typedef struct cairn_packed_events {
    uint32_t count;
    uint32_t size;
    uint64_t dropped;
    uint64_t next; // number of the event after these
    uint8_t items[1024];
} cairn_packed_events;

// Packs the events that were not sent yet for a snapshot of `tick`.
void cairn_game_events_pack(const cairn_session *session, const cairn_game_sent *sent,
    uint64_t tick, cairn_packed_events *out);
// The snapshot was sent.
void cairn_game_events_sent(
    cairn_session *session, cairn_game_sent *sent, const cairn_packed_events *events);
