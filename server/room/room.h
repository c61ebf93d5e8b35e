// SPDX-License-Identifier: MIT
#pragma once

// One world and all that only it needs: its inbox, the history of its ticks, the list of its
// shapes, the baselines of its snapshots, the state for late joiners, its scheduler and recording,
// and the list of the clients in it. What it does with time and clients is in turn.c and rooms.c.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "recording/recorder.h"
#include "schema/messages.h"
#include "schema/scene.h"
#include "server/control/control.h"
#include "server/lag/lag_world.h"
#include "server/replicate/baselines.h"
#include "server/replicate/state_transfer.h"
#include "server/resync/resync.h"
#include "server/room/command_log.h"
#include "server/room/histogram.h"
#include "server/room/inbox.h"
#include "server/room/input_wait.h"
#include "server/room/job.h"
#include "server/room/state_history.h"
#include "server/room/statistics.h"
#include "server/room/tick_scheduler.h"
#include "server/room/time_control.h"
#include "server/session/session.h"
#include <cairn/server.h>
#include <cairn/sim.h>
#include <cairn/status.h>

// Ticks of history: 17 seconds at 60 Hz, 4 at 240.
#define CAIRN_ROOM_COMMAND_LOG_TICKS 1024
// Of the states of these, the last two seconds may be kept, in at most this many bytes.
#define CAIRN_ROOM_STATE_HISTORY_SECONDS 2
#define CAIRN_ROOM_STATE_HISTORY_BYTES_MAX ((size_t)64 * 1024 * 1024)

typedef struct cairn_room_config {
    const cairn_scene *scene; // not kept; not looked at when there is a world
    // Becomes the room's, also when the room is refused; NULL: one is built from the scene. Rules
    // and tick rate are the world's then.
    cairn_world *world;
    const char *scene_name;   // of that world; copied
    cairn_hash128 start_root; // likewise
    const cairn_rules *rules; // NULL: those the scene names
    uint32_t tick_rate_hz;    // 0: the scene's
    uint32_t snapshot_rate_hz;
    uint32_t players_max;
    uint32_t input_window_ticks;
    uint32_t catch_up_ticks_max;
    uint32_t wait_ms;   // 0: never waits for inputs
    uint32_t edits_max; // an operator's, of one tick
    uint64_t start_ns;  // when the first tick is due
} cairn_room_config;

typedef struct cairn_room {
    struct cairn_server *server;
    uint32_t id; // of the server's table
    char name[CAIRN_ROOM_NAME_SIZE];
    cairn_session *members;       // in order of their coming
    cairn_session *member_newest; // NULL with `members`
    cairn_tick_scheduler scheduler;
    cairn_time_control time_control;
    cairn_control_wait control_wait; // for the operator who made it run a while
    cairn_recorder *recorder;        // owned; NULL: none
    cairn_room_desync desync;
    cairn_histogram tick_cost_ns;
    cairn_server_room_statistics statistics; // counters that nobody else keeps
    bool closing; // nobody sees it any more; it goes when its job is back
    struct cairn_server_job job;
    cairn_input_wait input_wait;
    // While the job is out (job.running), the world and the past are the job's: who wants something
    // of them waits until it is back. What others may want to know meanwhile is beside them:
    // scheduler.tick, counts, hash.
    cairn_world *world;
    cairn_world_counts counts; // after the last step
    cairn_inbox *inbox;
    cairn_command_log *command_log;
    cairn_lag_compensation lag;
    cairn_room_resync resync;
    cairn_state_history *state_history; // states of the last ticks; none unless somebody wants them
    cairn_baselines *baselines;
    cairn_state_source transfer;
    cairn_world_hash hash; // after the last step
    cairn_hash128 start_root;
    char scene_name[32];
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t body_capacity;
    uint32_t shape_capacity;
    cairn_shape_id *shape_ids; // as the world last told them, in order of index
    cairn_shape_id *shape_ids_now;
    cairn_snapshot_shape *shapes; // [shape_count], in order of index
    uint32_t shape_count;
    uint32_t shapes_revision; // counts changes of the list, from 1
} cairn_room;

// Fills *out but for server, name, id and recorder. On failure `error` says what was refused:
// CAIRN_INVALID_ARGUMENT (rates, slots or window outside their ranges), CAIRN_OUT_OF_MEMORY, or
// what cairn_scene_world_create answers. Destroy is allowed after a failure.
cairn_status cairn_room_create(
    const cairn_room_config *config, cairn_room *out, char error[CAIRN_SCENE_ERROR_SIZE]);
void cairn_room_destroy(cairn_room *room);

// `world` takes the place of the room's, which is destroyed: world, hash, counts and shapes are
// its.
void cairn_room_set_world(cairn_room *room, cairn_world *world);

// The client becomes the last of the members, with room for what it will be told. False: out of
// memory, and it is no member.
bool cairn_room_add_member(cairn_room *room, cairn_session *session);
void cairn_room_remove_member(cairn_room *room, cairn_session *session);

// Takes up what the job says that has been run: its ticks are history, and scheduler, counts, hash
// and shapes are those of the world again.
void cairn_room_take_ticks(cairn_room *room);
// Whether a snapshot is due in the ticks (from, to]; snapshots are spread evenly over ticks.
bool cairn_room_snapshot_due(const cairn_room *room, uint64_t from, uint64_t to);

const char *cairn_room_rules_name(const cairn_room *room); // "" for none
uint32_t cairn_room_rules_version(const cairn_room *room); // 0 for none
