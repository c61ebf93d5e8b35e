// SPDX-License-Identifier: MIT
#pragma once

// What a server and each of its rooms count. Counters only grow; a room's last are added to the
// server's when it closes.

#include <stdint.h>

#include "net/link.h"
#include "net/netcode_drop.h"
#include "schema/codec.h"
#include "schema/control.h"
#include "schema/messages.h"

typedef struct cairn_server_room_statistics {
    uint64_t tick;
    uint64_t ticks_skipped; // overload
    uint64_t advances_overloaded;
    uint64_t tick_cost_ns_last; // by clock_ns: 0 without one
    uint64_t tick_cost_ns_p50;
    uint64_t tick_cost_ns_p99;
    uint64_t tick_cost_ns_max;
    uint64_t tick_lateness_ns_p50; // when ticks ran against when they were due
    uint64_t tick_lateness_ns_p99;
    uint64_t tick_lateness_ns_max;
    uint32_t clients; // in the room
    uint32_t players; // with a slot
    uint32_t bodies;
    uint32_t bodies_awake;
    uint64_t joins;
    uint64_t leaves;
    uint64_t inputs_taken;
    uint64_t inputs_late;
    uint64_t inputs_early_refused;
    uint64_t inputs_repeated; // redundant copies, not a fault
    uint64_t inputs_refused;  // what no player can hold
    uint64_t keyframes_sent;
    uint64_t deltas_sent;
    uint64_t snapshot_bytes;      // encoded messages
    uint64_t snapshots_too_large; // keyframes that no message can hold: not sent
    uint64_t ticks_messages_sent;
    uint64_t state_transfers;
    uint64_t state_bytes;
    uint64_t roots_compared; // reported by lockstep clients
    uint64_t roots_differed;
    uint64_t capsules;       // made of them
    uint64_t stages_sent;    // to clients whose step was another
    uint64_t stages_refused; // a tick that is gone, or asked too often
    uint64_t recording_bytes;
    uint64_t input_waits; // announced waits for late inputs
    uint64_t input_wait_ns;
    uint64_t ticks_waited;    // beats that went by meanwhile
    uint64_t slots_given_up;  // players the room does not wait for any more
    uint64_t jobs_stuck;      // turns that took longer than a second
    uint64_t resync_requests; // from clients whose world differs
    uint64_t resync_responses[CAIRN_RESYNC_VERDICT_COUNT];
    uint64_t resync_elements; // that differed
    uint64_t resync_bytes;    // encoded messages
    uint64_t states_resent;   // sent anew because a client asked
    uint64_t clients_unfit;   // not let simulate, by their passport
    uint64_t clients_demoted; // served by snapshots instead
} cairn_server_room_statistics;

// Of all rooms together, closed ones too; `tick` is the first room's, costs and lateness are those
// of the rooms there are.
typedef struct cairn_server_statistics {
    uint64_t tick;
    uint64_t ticks_skipped;
    uint64_t advances_overloaded;
    uint64_t tick_cost_ns_last;
    uint64_t tick_cost_ns_p50;
    uint64_t tick_cost_ns_p99;
    uint64_t tick_cost_ns_max;
    uint64_t tick_lateness_ns_p50;
    uint64_t tick_lateness_ns_p99;
    uint64_t tick_lateness_ns_max;
    uint32_t rooms;
    uint32_t clients; // connected
    uint32_t players;
    uint32_t bodies;
    uint32_t bodies_awake;
    uint64_t joins;
    uint64_t leaves;
    uint64_t inputs_taken;
    uint64_t inputs_late;
    uint64_t inputs_early_refused;
    uint64_t inputs_repeated;
    uint64_t inputs_refused;
    uint64_t protocol_violations; // messages that were malformed or did not fit the state
    uint64_t keyframes_sent;
    uint64_t deltas_sent;
    uint64_t snapshot_bytes;
    uint64_t snapshots_too_large;
    uint64_t ticks_messages_sent;
    uint64_t state_transfers;
    uint64_t state_bytes;
    uint64_t roots_compared;
    uint64_t roots_differed;
    uint64_t datagrams_received;
    uint64_t datagrams_sent;
    uint64_t bytes_received; // datagrams, without UDP and IP headers
    uint64_t bytes_sent;
    uint64_t recording_bytes;
    uint64_t input_waits;
    uint64_t input_wait_ns;
    uint64_t ticks_waited;
    uint64_t slots_given_up;
    uint64_t jobs_stuck;
    uint64_t resync_requests;
    uint64_t resync_responses[CAIRN_RESYNC_VERDICT_COUNT];
    uint64_t resync_elements;
    uint64_t resync_bytes;
    uint64_t states_resent;
    uint64_t clients_unfit;
    uint64_t clients_demoted;
    uint64_t rooms_refused; // could not be created, for whatever reason
    uint64_t controls_done;
    uint64_t controls_refused[CAIRN_CONTROL_REFUSAL_COUNT];
    uint64_t drops_netcode[CAIRN_NETCODE_DROP_COUNT];
    uint64_t drops_link[CAIRN_LINK_DROP_COUNT];
    uint64_t drops_decode[CAIRN_DECODE_REFUSAL_COUNT];
} cairn_server_statistics;
