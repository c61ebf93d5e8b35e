// SPDX-License-Identifier: MIT
#pragma once

// One client from its connection to its end: its identity, its room, and what the features of the
// server keep for it, behind pointers to types that only those features define. What each message
// means in each state is in server/session_dispatch.h.

#include <stdbool.h>
#include <stdint.h>

#include "net/link.h"
#include "net/netcode_server.h"
#include "schema/codec.h"
#include "server/room/room.h"
#include "server/session/byte_budget.h"
#include "server/session/input_timing.h"
#include "server/session/link_conditioner.h"
#include "server/session/message_budget.h"
#include "server/session/payload_budget.h"
#include "server/session/rollback_report.h"
#include <cairn/token.h>

// Room for the fields around a message's long vector.
#define CAIRN_SESSION_ENVELOPE_SIZE 512

typedef enum cairn_session_state {
    CAIRN_SESSION_FREE = 0,  // no client is connected
    CAIRN_SESSION_CONNECTED, // the encrypted channel is open; HELLO must come
    CAIRN_SESSION_WELCOMED,  // admitted to a room; its first snapshot or state is on the way
    CAIRN_SESSION_PLAYING,   // it acknowledged its first snapshot or state
    CAIRN_SESSION_REFUSED,   // the reason is on the way; disconnected when it has arrived
    CAIRN_SESSION_STATE_COUNT
} cairn_session_state;

// What the thread of the server did for the client in this place, since the server began.
typedef struct cairn_session_work {
    uint64_t payloads_read;
    uint64_t payloads_sent;
    uint64_t messages_made; // encoded, or put together from what others are sent
    uint64_t bytes_made;
} cairn_session_work;

// What an operator has paid for its requests so far (server/control/meter.h).
typedef struct cairn_operator_account {
    uint64_t loop_until_ns;  // for the time of the server's thread
    uint64_t tasks_until_ns; // for that of the thread of tasks
} cairn_operator_account;

typedef struct cairn_session {
    cairn_session_state state;
    uint32_t client; // netcode's index
    uint64_t
        *due_ns; // when the server looks at the session next, in a list of all sessions; 0: now
    uint64_t client_id;
    cairn_link *link;     // owned; NULL when no client is connected
    uint32_t link_bodies; // body capacity of the largest room that the link was made for
    // The room it was admitted to, NULL for none, and its neighbours in the list of members.
    cairn_room *room;
    struct cairn_session *member_next;
    struct cairn_session *member_previous;
    uint32_t mode;                       // cairn_mode
    uint32_t slot;                       // CAIRN_SLOT_NONE for spectators
    bool velocities;                     // asks for coded velocities in snapshots
    uint64_t timeout_ns;                 // end of the state's time limit; UINT64_MAX: none
    uint64_t received_ns;                // when the last payload arrived
    cairn_byte_budget budget;            // of what it asks for; of its client id, as the next
    cairn_message_budget message_budget; // of what it tells the rules
    cairn_payload_budget payload_budget; // of all that it sends
    cairn_session_work work;
    uint32_t messages_refused;   // since it was told so
    uint64_t refused_told_ns;    // when that was; 0: never
    bool world_owed;             // the room's world counts as one of those that its id is owed
    bool world_waits;            // it is not owed yet, and the log says so
    uint64_t acknowledged;       // of the reliable stream, in bytes
    uint64_t progress_ns;        // when that grew last, or nothing was unacknowledged
    bool stream_idle;            // nothing was, when the server looked last
    uint64_t messages_held_back; // not sent, because the path had no room for them
    uint32_t violations;         // messages that were malformed or did not fit the state
    uint32_t world_epoch;        // how many replacements of the room's world the client was sent
    bool demoted;                // it simulated once and is served by snapshots now
    uint32_t rights;             // CAIRN_RIGHT_OPERATOR, as its token says
    cairn_user_data user;        // what its token says
    bool user_malformed;         // its token broke the layout that it claims to have
    uint32_t controls_refused;   // for want of the right
    cairn_operator_account operator_account;
    cairn_netcode_disconnect_reason disconnect; // valid once the connection ended
    cairn_link_conditioner *conditioner_in;     // owned; set by an operator; NULL: none
    cairn_link_conditioner *conditioner_out;    // owned
    cairn_input_timing input_timing;
    cairn_rollback_report rollbacks;
    // Owned by the files that define these types; they last as long as the session.
    struct cairn_session_replication *replication;
    struct cairn_session_lag *lag;
    struct cairn_session_resync *resync;
} cairn_session;

// Something happened to the session, or waits to be sent: the server looks at it in its next
// advance and send. A server with a thousand clients looks at none of which it expects nothing.
static inline void cairn_session_touch(cairn_session *session) {
    *session->due_ns = 0;
}

bool cairn_session_is_admitted(const cairn_session *session); // WELCOMED or PLAYING

// The client becomes the last of the room's members.
void cairn_session_join_room(cairn_session *session, cairn_room *room);
void cairn_session_leave_room(cairn_session *session);

// Encodes a message and queues it. Returns its size, 0 when the link has no room for it: send it
// again later.
size_t cairn_session_send_reliable(
    cairn_session *session, cairn_encoder *encoder, const cairn_message *message);
// Whether the path has room for an unreliable message now. If not, it is counted as held back: send
// a later one instead. `after_stream`: the client can use it only when the reliable stream arrived.
bool cairn_session_may_send_unreliable(cairn_session *session, uint64_t now_ns, bool after_stream);
// Returns the size of the message, 0 when it is too large to be sent.
size_t cairn_session_send_unreliable(
    cairn_session *session, cairn_encoder *encoder, const cairn_message *message);
// The same of a message that is encoded.
size_t cairn_session_send_unreliable_bytes(
    cairn_session *session, const uint8_t *bytes, size_t size);
// Sends a notice to every member of the room. A member whose reliable stream is full misses it.
void cairn_session_notify_room(
    const cairn_room *room, cairn_encoder *encoder, const cairn_event_message *notice);

// The next payload to encrypt and send: the link's own, or what comes out of the conditioner that
// an operator put behind it. 0: none is due.
size_t cairn_session_next_payload(cairn_session *session, uint64_t now_ns, uint8_t *payload);
void cairn_session_drop_conditioners(cairn_session *session);
