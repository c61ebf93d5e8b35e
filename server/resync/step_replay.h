// SPDX-License-Identifier: MIT
#pragma once

// Takes a step of a room again from its state history and command log, to show what it computed.

#include <stdint.h>

#include "schema/recording.h"
#include "server/room/room.h"
#include "sim/debug/trace.h"

// The world before the step to `tick`, which the caller destroys. NULL: its state is not held, or
// out of memory. The room's job must not be running (asserted).
cairn_world *cairn_step_replay_world(const cairn_room *room, uint64_t tick);
// The commands of the step that the world takes next; NULL and a count of 0: not held.
const cairn_command *cairn_step_replay_commands(
    const cairn_room *room, const cairn_world *world, uint32_t *count);
// Steps the world and writes a root after each stage of the step. Returns the bytes written; 0: the
// commands are not held, or out of memory.
uint32_t cairn_step_replay_stages(
    const cairn_room *room, cairn_world *world, uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX]);
