// SPDX-License-Identifier: MIT
#pragma once

// The private side of <cairn/recording.h>: for programs that embed a player, run its steps on
// several workers, or begin with any of the recorded states. The caller compares recorded hashes
// and keyframes with the world.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/index.h"
#include "recording/recorded_world.h"
#include <cairn/recording.h>
#include <cairn/sim.h>

// Fields are to be read only.
struct cairn_player {
    cairn_chunk_reader walk;
    cairn_world *world; // owned
    const cairn_rules *rules;
    const cairn_wire_tick *tick; // the last one played; valid until the next
    cairn_hash128 recorded_hash; // of the last tick played; zeros before the first
    uint32_t next;               // of the current chunk's ticks
    const cairn_parallel *parallel;
    cairn_recorded_refusal refusal;
    char error[CAIRN_RECORDING_ERROR_SIZE];
};

// Begins with the start chunk. `bytes` are aligned to 8. `parallel` (may be NULL) runs the steps in
// parallel. Both must outlive the player. False: `error` and `refusal` say why, and there is no
// world. Pair with cairn_player_close in any case.
bool cairn_player_open(
    cairn_player *player, const uint8_t *bytes, size_t size, const cairn_parallel *parallel);
void cairn_player_close(cairn_player *player);

// Continues from a state of the same file. False: `error` and `refusal` say why.
bool cairn_player_jump(cairn_player *player, const cairn_recording_entry *state);
// Loads the nearest state before `tick` and steps to it. False: `error` says why.
bool cairn_player_seek(cairn_player *player, const cairn_recording_index *index, uint64_t tick);

// The world of a tick of a recording, which the caller destroys. NULL: the recording does not have
// the tick, is damaged before it, or cannot be played by this program.
cairn_world *cairn_player_world_at(const uint8_t *bytes, size_t size, uint64_t tick);

// The commands of the last tick played, in the order of the chunk.
const cairn_command *cairn_player_commands(const cairn_player *player);
