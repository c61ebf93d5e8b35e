// SPDX-License-Identifier: MIT
#pragma once

// Counters of a server and of each of its rooms.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Sizes of the arrays below, each indexed by an enum that is at most as long.
#define CAIRN_SERVER_NETCODE_DROPS_MAX 32    // cairn_netcode_drop of net/netcode_drop.h
#define CAIRN_SERVER_LINK_DROPS_MAX 16       // cairn_link_drop of net/link.h
#define CAIRN_SERVER_DECODE_DROPS_MAX 32     // cairn_decode_refusal of schema/codec.h
#define CAIRN_SERVER_CONTROL_REFUSALS_MAX 32 // cairn_control_refusal of schema/control.h
#define CAIRN_SERVER_RESYNC_VERDICTS_MAX 8   // cairn_resync_verdict of schema/messages.h
#define CAIRN_SERVER_GAME_REFUSALS_MAX 8     // cairn_game_refusal below
#define CAIRN_SERVER_INPUT_REFUSALS_MAX 8    // cairn_input_refusal of cairn/rules.h
#define CAIRN_SERVER_MODES_MAX 8             // cairn_mode of schema/messages.h

// Why a player's message did not reach the rules of the room. Each is counted; the client is told.
typedef enum cairn_game_refusal {
    CAIRN_GAME_TAKEN = 0,
    CAIRN_GAME_REFUSED_NO_RULES,  // the rules take no messages
    CAIRN_GAME_REFUSED_TOO_LARGE, // larger than the rules' message_size_max
    CAIRN_GAME_REFUSED_SPECTATOR, // the client has no slot
    CAIRN_GAME_REFUSED_BUDGET,    // more than a client may send
    CAIRN_GAME_REFUSED_BUSY,      // too many messages of all players wait
    CAIRN_GAME_REFUSAL_COUNT
} cairn_game_refusal;
const char *cairn_game_refusal_text(cairn_game_refusal refusal); // static
const char *cairn_server_mode_text(uint32_t mode); // "predict"; static. NULL: there is no such mode

typedef struct cairn_server_room_statistics {
    uint64_t tick;
    uint64_t tick_cost_ns_last; // by clock_ns of the config; 0 without one
    uint64_t tick_cost_ns_p50;
    uint64_t tick_cost_ns_p99;
    uint64_t tick_cost_ns_max;
    uint64_t tick_lateness_ns_p50; // from the due time of a tick until it ran
    uint64_t tick_lateness_ns_p99;
    uint64_t tick_lateness_ns_max;
    uint32_t clients; // in the room
    uint32_t players; // with a slot
    uint32_t bodies;
    uint32_t bodies_awake;
    uint32_t clients_by_mode[CAIRN_SERVER_MODES_MAX]; // in the room
    uint64_t recording_waiting;                       // bytes that are not written yet
    uint64_t broadcast_waiting;
    // From here on, counters that never decrease.
    uint64_t ticks_skipped; // by overload
    uint64_t ticks_stepped; // also of worlds that were replaced
    uint64_t advances_overloaded;
    uint64_t joins;
    uint64_t leaves;
    uint64_t joins_delayed; // of client ids that joined too often to be sent a world at once
    uint64_t inputs_taken;
    uint64_t inputs_late;
    uint64_t inputs_early_refused;
    uint64_t inputs_repeated; // redundant copies
    uint64_t inputs_refused;  // not finite or out of range
    // By cairn_input_refusal: not of the layout that the rules declare.
    uint64_t inputs_not_of_layout[CAIRN_SERVER_INPUT_REFUSALS_MAX];
    uint64_t keyframes_sent;
    uint64_t deltas_sent;
    uint64_t parts_sent;     // snapshots to clients that do not see all
    uint64_t snapshot_bytes; // encoded messages
    uint64_t bytes_sent;     // datagrams to the room's clients, with all that is in them
    // Snapshots and messages with ticks that were not sent because a client's path had no room for
    // them: a later one takes their place. Large: clients' paths are too slow for the snapshot
    // rate.
    uint64_t messages_held_back;
    uint64_t snapshots_too_large; // keyframes larger than a message: not sent
    uint64_t world_events_sent;   // to clients that interpolate
    uint64_t world_events_missed; // by clients that fell behind
    uint64_t game_messages_taken; // of players, for the rules
    uint64_t game_messages_refused[CAIRN_SERVER_GAME_REFUSALS_MAX];
    uint64_t game_messages_sent;   // of the rules, to all clients they were for
    uint64_t game_messages_missed; // by clients that fell behind
    uint64_t game_events_sent;     // to clients that interpolate
    uint64_t game_events_dropped;  // did not fit their snapshot
    uint64_t game_over_step;       // refused by the world: too many in one step, or malformed
    uint64_t ticks_messages_sent;
    uint64_t states_encoded;  // full states; clients share them
    uint64_t state_transfers; // full states that clients began to be sent
    uint64_t state_bytes;
    uint64_t roots_compared; // reported by clients that simulate
    uint64_t roots_differed;
    uint64_t rollbacks;      // as clients that predict report them: at most 1000 a second each
    uint64_t rollback_ticks; // that these went back, in sum
    uint64_t rollback_reports_bounded; // reports of more than can be true, which were cut
    uint64_t capsules;                 // written about roots that differed
    uint64_t capsules_over_budget;     // not written: too many of the client id or the server
    uint64_t stages_sent;              // hashes of stages, to clients after a step that differed
    uint64_t stages_refused;           // the tick is not held, too many requests, or too many wait
    uint64_t recording_bytes;
    uint64_t input_waits; // announced waits for late inputs
    uint64_t input_wait_ns;
    uint64_t ticks_waited;    // scheduled tick times that passed during waits
    uint64_t slots_given_up;  // slots that delayed the room repeatedly
    uint64_t jobs_stuck;      // tick batches that took longer than a second
    uint64_t resync_requests; // from clients whose world differs
    uint64_t resync_responses[CAIRN_SERVER_RESYNC_VERDICTS_MAX];
    uint64_t resync_elements;     // sent because they differed
    uint64_t resync_bytes;        // encoded messages
    uint64_t states_resent;       // because a client asked
    uint64_t resyncs_over_budget; // requests for more bytes than their client may ask for
    uint64_t resyncs_hopeless;    // sketches not looked at: the client's last ones named nothing
    uint64_t worlds_replaced;     // by operators: resets, loads and seeks
    uint64_t clients_unfit;       // not allowed to simulate, by their passport
    uint64_t clients_demoted;     // served by snapshots from then on
    // Of the recording, beside recording_bytes.
    uint64_t recording_segments;   // files begun: one, and another after each failure or gap
    uint64_t recording_failures;   // files that could not be created, written, synced or closed
    uint64_t recording_gaps;       // too much waited to be written
    uint64_t recording_ticks_lost; // stepped, and in no file
    // The same of the broadcast.
    uint64_t broadcast_bytes;
    uint64_t broadcast_segments;
    uint64_t broadcast_failures;
    uint64_t broadcast_gaps;
    uint64_t broadcast_ticks_lost;
} cairn_server_room_statistics;

// How long something took, since the room began: the distribution over fixed bounds, 16 us to 0.5
// s.
#define CAIRN_SERVER_TIME_BOUNDS 16
#define CAIRN_SERVER_TIME_BOUND_NS(i) (UINT64_C(16384) << (i))
typedef struct cairn_server_times {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t within[CAIRN_SERVER_TIME_BOUNDS]; // how many took less than bound i
} cairn_server_times;

typedef struct cairn_server_room_times {
    cairn_server_times cost;     // of a tick; nothing without clock_ns of the config
    cairn_server_times lateness; // from the due time of a tick until it ran
} cairn_server_room_times;

typedef struct cairn_server_statistics {
    // Sums over all rooms, including those that closed. `tick` is the first room's; costs and
    // lateness are those of the rooms that exist.
    cairn_server_room_statistics total;
    uint32_t rooms;
    uint32_t clients;              // connected
    uint32_t jobs_out;             // ticks of rooms that threads step or that wait for one
    uint32_t tasks_out;            // pieces of recordings that a thread writes or that wait for it
    uint64_t path_changes;         // clients that said they are at another address
    uint64_t protocol_violations;  // messages that were malformed or did not fit the state
    uint64_t payloads_over_budget; // dropped: their client sends more than it may
    uint64_t clients_flooding;     // disconnected because they did so for five seconds
    uint64_t streams_failed; // clients disconnected because they can or will not take what waits
    uint64_t datagrams_received;
    uint64_t datagrams_sent;
    uint64_t bytes_received; // datagrams, without UDP and IP headers
    uint64_t bytes_sent;
    uint64_t clock_jumps;     // of the wall clock, by a second or more
    int64_t clock_jump_ms;    // the last of these; < 0: backwards
    uint64_t clock_warnings;  // events "clock_suspect": times of genuine tokens are refused
    uint64_t rooms_refused;   // could not be created
    uint64_t rooms_on_demand; // made of a template
    uint64_t rooms_idle;      // closed because nobody was in them
    uint64_t rooms_over;      // closed by a server that is to end, because their match was over
    uint64_t
        load_permille; // of one processor that the rooms' ticks take at their rates, as measured
    uint64_t controls_done;
    uint64_t controls_refused[CAIRN_SERVER_CONTROL_REFUSALS_MAX];
    uint64_t drops_netcode[CAIRN_SERVER_NETCODE_DROPS_MAX];
    uint64_t drops_link[CAIRN_SERVER_LINK_DROPS_MAX];
    uint64_t drops_decode[CAIRN_SERVER_DECODE_DROPS_MAX];
} cairn_server_statistics;

// One reason for which datagrams, payloads or messages were dropped.
typedef struct cairn_server_drop {
    const char *layer;  // "netcode", "session", "link", "message", "game" or "input"; static
    const char *reason; // static text, a lower-case phrase
    uint64_t count;
} cairn_server_drop;
// More than there are reasons.
#define CAIRN_SERVER_DROPS_MAX 80
// Writes the reasons that have a count above 0. Returns how many it wrote.
uint32_t cairn_server_drops_read(
    const cairn_server_statistics *statistics, cairn_server_drop out[CAIRN_SERVER_DROPS_MAX]);

#ifdef __cplusplus
}
#endif
