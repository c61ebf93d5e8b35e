// SPDX-License-Identifier: MIT
#pragma once

// One world and what belongs to it alone: its inbox, the log of its commands, the history of its
// states, its schedule and its job. A room depends on neither clients nor the server. What
// other modules keep for a room is behind pointers to types that only those modules define.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/histogram.h"
#include "compress/quantised_body.h"
#include "schema/scene.h"
#include "server/room/command_log.h"
#include "server/room/inbox.h"
#include "server/room/job.h"
#include "server/room/state_history.h"
#include "server/room/tick_scheduler.h"
#include "server/room/time_control.h"
#include <cairn/server.h>
#include <cairn/sim.h>
#include <cairn/status.h>
#include <cairn/watch.h>

struct cairn_room_recording;
struct cairn_saved_world;

// Ticks of the command log: 17 seconds at 60 Hz, 4 at 240. For a client that has not caught up with
// its state yet it keeps those of more seconds, within CAIRN_COMMAND_LOG_KEPT_BYTES_MAX: enough for
// a state that takes two minutes. The client has so much time in all.
#define CAIRN_ROOM_COMMAND_LOG_TICKS 1024
#define CAIRN_ROOM_CATCH_UP_LOG_SECONDS 180
#define CAIRN_ROOM_CATCH_UP_NS (15 * 60 * CAIRN_NS_PER_S)
// The state history holds at most this many seconds, in at most this many bytes.
#define CAIRN_ROOM_STATE_HISTORY_SECONDS 2
#define CAIRN_ROOM_STATE_HISTORY_BYTES_MAX ((size_t)64 * 1024 * 1024)

// A copy of the room's world in which operators' edits are tried before they are taken.
typedef struct cairn_edit_trial {
    cairn_world *world; // owned, kept for the next edits; NULL: none yet
    bool filled;        // false: memory for a copy
    cairn_hash128 root; // of the room's world when it was copied
    uint32_t edits; // how many of the inbox's are applied; UINT32_MAX: it has to be copied again
} cairn_edit_trial;

typedef struct cairn_room {
    uint32_t id; // in the server's table
    char name[CAIRN_ROOM_NAME_SIZE];
    char scene_name[32];
    // As the room was created, with every default filled in. Name, scene and rules are NULL.
    cairn_server_room_config settings;
    cairn_hash128 start_root; // full root of the world at its first tick
    uint32_t body_capacity;
    uint32_t shape_capacity;
    uint32_t mesh_capacity;
    bool closing; // not found by name or id; freed when its job is back

    // While the job is out (job.running) the world and the state history are the job's, and other
    // code waits until it is back. It may read the scheduler's tick, population and hash meanwhile.
    struct cairn_server_job job;
    cairn_world *world;
    cairn_watch *watch;                 // of the world; NULL until somebody asks what changed
    cairn_state_history *state_history; // empty unless a feature requires states
    cairn_world_population population;  // after the last step
    cairn_world_hash hash;              // after the last step

    cairn_inbox *inbox;
    uint64_t left_clients[CAIRN_SLOTS_MAX]; // ids of the players that left the slots in left_slots,
    cairn_slot_set left_slots;              // nobody has taken these since
    cairn_command_log *command_log;
    cairn_tick_scheduler scheduler;
    cairn_time_control time_control;
    cairn_edit_trial trial;
    cairn_control_wait control_wait; // the operator's request that ends when the room pauses
    cairn_histogram tick_cost_ns;
    uint64_t mean_cost_ns;      // of recent ticks; 0: none was measured
    uint64_t replaced_until_ns; // paid by the replacements of its world so far
    uint64_t control_until_ns;  // paid by the requests of operators so far (server/control/meter.h)
    uint64_t over_since_ns;  // since when its rules say so, if the server is to end; 0: they do not
    uint64_t empty_since_ns; // since when it has no client, if it closes then; 0: it has one
    cairn_server_room_statistics statistics; // counters that no other member keeps

    // Owned by the files that define these types.
    struct cairn_session *members; // clients, in order of joining
    struct cairn_session *member_last;
    struct cairn_input_wait *input_wait;
    struct cairn_room_replication *replication;
    struct cairn_lag_compensation *lag;
    struct cairn_room_resync *resync;
    struct cairn_room_recording *recording; // NULL: not recorded
    struct cairn_saved_world *saved;        // while it is opened: of its world; NULL: none was made
    struct cairn_room_recording *broadcast; // NULL: none
} cairn_room;

// Where a room's world comes from, and what its server decides for it.
typedef struct cairn_room_source {
    // Becomes the room's, even when the room is refused; NULL: one is built from the config's
    // scene. With a world, the config's scene, rules and tick rate are ignored.
    cairn_world *world;
    struct cairn_saved_world *saved; // of that world, for the recording; NULL: none was made
    const char *scene_name;          // of that world
    cairn_hash128 start_root;        // of that world
    uint32_t edits_max;              // operator's edits of one tick
    uint64_t server_start_ns;        // when the server was created
    uint64_t now_ns; // the first tick is due soon after (cairn_tick_scheduler_start_ns)
} cairn_room_source;

// Fills *out except name, id and the pointers of others. On failure `error` says what was refused:
// CAIRN_INVALID_ARGUMENT (a number of the config is outside its range), CAIRN_OUT_OF_MEMORY, or
// what cairn_scene_world_create returns. Destroying is allowed after a failure.
cairn_status cairn_room_create(const cairn_server_room_config *config,
    const cairn_room_source *source, cairn_room *out, char error[CAIRN_SCENE_ERROR_SIZE]);
void cairn_room_destroy(cairn_room *room);

// How its snapshots round poses.
cairn_quantisation cairn_room_quantisation(const cairn_room *room);

// `world`, which has `population`, replaces the room's. Returns the world before, which is the
// caller's.
cairn_world *cairn_room_set_world(
    cairn_room *room, cairn_world *world, const cairn_world_population *population);
// What watches the room's world, for the snapshots and the list of shapes; others would miss what
// these have seen. NULL: no memory, or the world has no room for a watch.
cairn_watch *cairn_room_watch(cairn_room *room);
// After the job ran: its ticks enter the command log; scheduler, population and hash follow the
// world.
void cairn_room_finish_job(cairn_room *room);
// Asks its rules whether the match is over, at `now_ns`. Its job must not be out.
void cairn_room_observe_end(cairn_room *room, uint64_t now_ns);
// Whether a snapshot is due in the ticks (from, to]; snapshots are spread evenly over ticks.
bool cairn_room_snapshot_is_due(const cairn_room *room, uint64_t from, uint64_t to);

const char *cairn_room_rules_name(const cairn_room *room); // "" for none
uint32_t cairn_room_rules_version(const cairn_room *room); // 0 for none
