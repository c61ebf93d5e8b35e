// SPDX-License-Identifier: MIT
#pragma once

// A recording lived again: a world that begins with one of its states and takes its ticks, one at a
// time. What the recorded roots and keyframes say to it is the caller's to compare.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/index.h"
#include "recording/walk.h"
#include <cairn/sim.h>

typedef enum cairn_player_event {
    CAIRN_PLAYER_END = 0,  // no whole chunk follows; cairn_replay_end_text tells how it ends
    CAIRN_PLAYER_TICK,     // the world took `tick`
    CAIRN_PLAYER_KEYFRAME, // the state recorded here is walk.chunk.keyframe; the world is as it was
    CAIRN_PLAYER_REPLACED, // the world became another, by an operator's word
    CAIRN_PLAYER_REFUSED,  // what follows does not belong here, or no world takes it: `words`
} cairn_player_event;

// Fields are to be read only.
typedef struct cairn_player {
    cairn_replay_walk walk;
    cairn_world *world; // the player's own; may be taken away: set it to NULL then
    const cairn_rules *rules;
    const cairn_wire_tick *tick; // the newest that was taken; lasts until the next
    uint32_t next;               // of the current chunk's ticks
    const cairn_parallel *parallel;
    cairn_replay_refusal refusal;
    char words[CAIRN_REPLAY_WORDS_SIZE];
} cairn_player;

// Begins with the start chunk. `bytes` start on 8 bytes and outlive the player; `parallel` (may be
// NULL) shares the steps out and outlives it as well. False: `words` and `refusal` say why, and
// there is no world. Pair with cairn_player_close in any case.
bool cairn_player_open(
    cairn_player *player, const uint8_t *bytes, size_t size, const cairn_parallel *parallel);
void cairn_player_close(cairn_player *player);

// Goes on from a state of the same file. False as for open.
bool cairn_player_go(cairn_player *player, const cairn_recording_entry *state);
// From the nearest state to the world of `tick`, by stepping. False: `words` say why.
bool cairn_player_seek(cairn_player *player, const cairn_recording_index *index, uint64_t tick);

// Takes the next tick or state. After END and REFUSED it answers the same again.
cairn_player_event cairn_player_next(cairn_player *player);
// The commands of `tick`, as they stand in the chunk.
const cairn_command *cairn_player_commands(const cairn_player *player);
