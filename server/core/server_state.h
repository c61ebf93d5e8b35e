// SPDX-License-Identifier: MIT
#pragma once

// The inside of a server, for the files at the top of server/ and for control, which may change
// everything. The functions of all other folders take only what they need.

#include "net/crypto.h"
#include "net/netcode_drop.h"
#include "server/core/hosted_room.h"
#include "server/core/room_recording.h"
#include "server/core/room_table.h"
#include "server/resync/resync.h"
#include "server/session/budget_ledger.h"
#include "server/session/context.h"
#include "server/session/session.h"
#include <cairn/server.h>

struct cairn_server {
    cairn_server_config config; // what points to the caller's memory is valid during create alone
    cairn_server_context context;
    cairn_task_runner tasks;
    cairn_recordings recordings;
    cairn_recordings broadcasts;
    cairn_room_table rooms;
    cairn_server_resync resync;
    struct cairn_control_queue *control;     // NULL: control is closed
    cairn_session *sessions;                 // owned; [clients_max], by netcode's index
    cairn_budget_ledger budgets;             // of clients that left
    struct cairn_session_features *features; // owned; [clients_max], what the sessions point to
    uint32_t jobs_out;                       // handed to the driver and not yet back

    uint64_t clock_read_ns;   // when the wall clock was last read
    uint64_t clock_offset_ns; // the wall clock minus the driver's, modulo 2^64
    // Refused handshakes that the log already has, by reason (net/netcode_drop.h), and when it was
    // written.
    uint64_t refusals_told[CAIRN_NETCODE_DROP_COUNT];
    uint64_t refusals_told_ns;
    uint64_t clock_warned_ns; // when clock_suspect was last emitted

    uint64_t idle_looked_ns; // when rooms that nobody is in were last looked for

    bool ends_soon; // no client and no room is admitted any more
    bool draining;
    bool holding; // no room begins a batch: a hand-over is at its end
    bool left;    // another process has its place: nothing is taken or sent any more
    uint64_t drain_end_ns;
    bool sent_all; // the last send found nothing

    // Each link leaves out other sequences (net/link.h).
    uint8_t skip_key[CAIRN_SIPHASH_KEY_SIZE];
    uint64_t links_created;
    cairn_link_blocks link_blocks;

    uint64_t *due_ns; // of each session (server/session/session.h); UINT64_MAX: free

    // Encrypting a payload may queue a keep-alive before it; then the payload waits here.
    uint32_t send_next; // the session that has the turn to send
    uint32_t send_run;  // payloads that it has sent in this turn
    size_t held_size;
    cairn_address held_to;
    uint8_t held[CAIRN_DATAGRAM_SIZE_MAX];

    cairn_server_statistics statistics; // counters that no other member keeps
};
