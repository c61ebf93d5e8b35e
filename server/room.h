// SPDX-License-Identifier: MIT
#pragma once

// One world and all that only it needs: its inbox, the history of its ticks, the list of its
// shapes, the baselines of its snapshots, the state for late joiners. No network, no time.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/status.h"
#include "schema/messages.h"
#include "schema/scene.h"
#include "server/baselines.h"
#include "server/history.h"
#include "server/inbox.h"
#include "server/transfer.h"
#include "sim/sim.h"

// Ticks of history: 17 seconds at 60 Hz, 4 at 240.
#define CAIRN_ROOM_HISTORY_TICKS 1024

typedef struct cairn_room_config {
    const cairn_scene *scene; // not kept
    const cairn_rules *rules; // NULL: those the scene names
    uint32_t tick_rate_hz;    // 0: the scene's
    uint32_t snapshot_rate_hz;
    uint32_t players_max;
    uint32_t input_window_ticks;
} cairn_room_config;

typedef struct cairn_room {
    cairn_world *world;
    cairn_inbox *inbox;
    cairn_history *history;
    cairn_baselines *baselines;
    cairn_transfer transfer;
    cairn_world_hash hash; // after the last step
    cairn_hash128 start_root;
    char scene_name[32];
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t shape_capacity;
    cairn_shape_id *shape_ids; // as the world last told them, in order of index
    cairn_shape_id *shape_ids_now;
    cairn_wire_shape *shapes; // [shape_count], in order of index
    uint32_t shape_count;
    uint32_t shapes_revision; // counts changes of the list, from 1
} cairn_room;

// Fills *out. On failure `error` says what was refused: CAIRN_INVALID_ARGUMENT (rates, slots or
// window outside their ranges), CAIRN_OUT_OF_MEMORY, or what cairn_scene_world_create answers.
// Destroy is allowed after a failure.
cairn_status cairn_room_create(
    const cairn_room_config *config, cairn_room *out, char error[CAIRN_SCENE_ERROR_SIZE]);
void cairn_room_destroy(cairn_room *room);

// One tick: commands from the inbox, step, hash, history.
void cairn_room_step(cairn_room *room);
// Whether a snapshot is due in the ticks (from, to]; snapshots are spread evenly over ticks.
bool cairn_room_snapshot_due(const cairn_room *room, uint64_t from, uint64_t to);

const char *cairn_room_rules_name(const cairn_room *room); // "" for none
uint32_t cairn_room_rules_version(const cairn_room *room); // 0 for none
