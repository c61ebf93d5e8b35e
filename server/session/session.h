// SPDX-License-Identifier: MIT
#pragma once

// One client from its connection to its end: who it is, how far it has been served, and the table
// that says what each message means in each state.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "net/link.h"
#include "net/netcode_server.h"
#include "schema/messages.h"
#include "server/resync/desync_report.h"
#include "server/resync/resync.h"
#include "server/session/link_conditioner.h"

struct cairn_room;
struct cairn_server;

typedef enum cairn_session_state {
    CAIRN_SESSION_FREE = 0,  // nobody is there
    CAIRN_SESSION_CONNECTED, // sealed channel stands; HELLO has to come
    CAIRN_SESSION_WELCOMED,  // admitted; its first snapshot or state is on the way
    CAIRN_SESSION_PLAYING,   // it acknowledged its first snapshot or state
    CAIRN_SESSION_REFUSED,   // told why not; disconnected when that has arrived
    CAIRN_SESSION_STATE_COUNT
} cairn_session_state;

typedef enum cairn_session_event {
    CAIRN_SESSION_EVENT_CONNECT = 0, // netcode says somebody is there
    CAIRN_SESSION_EVENT_HELLO,
    CAIRN_SESSION_EVENT_INPUT,
    CAIRN_SESSION_EVENT_ROOTS,
    CAIRN_SESSION_EVENT_RESYNC_REQUEST,
    CAIRN_SESSION_EVENT_CONTROL,
    CAIRN_SESSION_EVENT_MALFORMED,        // a message or payload that no client of ours sends
    CAIRN_SESSION_EVENT_TIMEOUT,          // the state's time limit passed
    CAIRN_SESSION_EVENT_ALL_ACKNOWLEDGED, // everything sent reliably has arrived
    CAIRN_SESSION_EVENT_ROOM_CLOSED,      // its room is about to be closed
    CAIRN_SESSION_EVENT_DISCONNECT,       // netcode says nobody is there any more
    CAIRN_SESSION_EVENT_COUNT
} cairn_session_event;

// Messages that do not fit their state, or are no messages, before a client is shown the door.
#define CAIRN_SESSION_FAULTS_MAX 16
// Ten copies of a lost hello fit, also over a path that loses three in ten; in five seconds six do,
// and one such join in some hundreds was shown the door unheard.
#define CAIRN_SESSION_HELLO_NS UINT64_C(15000000000)
#define CAIRN_SESSION_REFUSED_NS UINT64_C(1000000000)

typedef struct cairn_session {
    cairn_session_state state;
    uint32_t client; // netcode's index
    uint64_t client_id;
    cairn_link *link;     // owned; NULL when nobody is there
    uint32_t link_bodies; // of the largest room it was made for
    // The room it was welcomed to, NULL for none, and its neighbours among the room's members.
    struct cairn_room *room;
    struct cairn_session *member_next;
    struct cairn_session *member_previous;
    uint32_t mode;        // cairn_mode
    uint32_t slot;        // CAIRN_SLOT_NONE for spectators
    uint64_t timeout_ns;  // when CAIRN_SESSION_EVENT_TIMEOUT comes; UINT64_MAX: never
    uint64_t received_ns; // when its last payload came
    uint32_t faults;
    cairn_link_conditioner *faults_in; // owned; an operator's wish; NULL: none
    cairn_link_conditioner *faults_out;
    uint32_t world_epoch;      // how often it was told that the room's world is another
    uint32_t rights;           // CAIRN_RIGHT_OPERATOR, as its token says
    uint32_t controls_refused; // for want of the right

    cairn_session_desync desync;

    // How its inputs land.
    int32_t lateness_us_last;
    int32_t lateness_us_worst; // since the last message that told it
    bool lateness_fresh;       // an input came since then
    uint32_t inputs_late;
    uint32_t inputs_early_refused;

    // What its player was shown when it last spoke; a span of 0: it did not say.
    uint64_t shown_tick;
    uint32_t shown_span;
    float shown_share;
    uint64_t shown_at_us; // of the client's clock, when it said so

    // Interpolating: what it holds.
    uint64_t snapshot_acknowledged;       // 0: none
    uint64_t keyframe_tick;               // sent reliably and not yet acknowledged; 0: none
    uint32_t *shapes_told;                // owned; the id told at each index of the room's world;
                                          // 0: none. NULL outside a room
    uint32_t shapes_revision;             // of the room's list when all of it was told
    cairn_netcode_disconnect_reason gone; // why, once its connection ended

    // Lockstep: how far it is.
    bool demoted;                 // it simulated once and does no more
    bool state_requested;         // it asked for the state anew
    bool state_sent;              // every piece of the state was queued
    bool transferring;            // counted as a reader of the room's transfer
    uint32_t transfer_generation; // which encoding its pieces come from
    uint32_t transfer_offset;
    uint64_t ticks_from;         // the tick of the state it was sent
    uint64_t ticks_acknowledged; // it holds all ticks below
    cairn_session_resync resync;
    uint64_t ticks_queued; // overdue ticks below went to the reliable stream
} cairn_session;

// Feeds one event to the table. `message` is the decoded message of HELLO, INPUT, ROOTS and
// DOUBT and CONTROL, the NOTICE to send of CLOSED, NULL otherwise.
void cairn_session_dispatch(struct cairn_server *server, cairn_session *session,
    cairn_session_event event, const cairn_message *message);

// What of a client's word the server has to say back in each snapshot and ticks message. The worst
// lateness is told once.
cairn_wire_timing cairn_session_timing(cairn_session *session);

// The names used in the table's tests and in events.
const char *cairn_session_state_text(cairn_session_state state);
