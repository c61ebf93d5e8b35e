// SPDX-License-Identifier: MIT
#pragma once

// A recording read chunk by chunk, each verified once.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/file.h"
#include "schema/recording.h"
#include "sim/sim.h"

#define CAIRN_REPLAY_WORDS_SIZE 512

typedef struct cairn_replay_walk {
    cairn_recording_reader reader;
    cairn_chunk chunk; // the current one
    bool sound;        // false: `words` says what is wrong with the current chunk
    char words[CAIRN_REPLAY_WORDS_SIZE];
} cairn_replay_walk;

// `bytes` start on 8 bytes and outlive the walk.
cairn_replay_walk cairn_replay_walk_of(const uint8_t *bytes, size_t size);
// False at the end and at a chunk that cannot be understood.
bool cairn_replay_next(cairn_replay_walk *walk);
// One sentence on how the file ends, with the offset where that matters.
void cairn_replay_end_text(const cairn_replay_walk *walk, char words[CAIRN_REPLAY_WORDS_SIZE]);

// The world of a start chunk; destroy it. NULL after one sentence in `words`.
cairn_world *cairn_replay_world(
    const cairn_chunk_start *start, char words[CAIRN_REPLAY_WORDS_SIZE]);
// As above for a keyframe's state, which follows the rules of its recording's start.
cairn_world *cairn_replay_keyframe_world(const cairn_chunk_keyframe *keyframe,
    const cairn_rules *rules, char words[CAIRN_REPLAY_WORDS_SIZE]);
// The commands of one tick of a chunk, checked, into `out` (room for CAIRN_COMMANDS_PER_TICK_MAX).
// False when no world takes them.
bool cairn_replay_commands(const cairn_chunk_ticks *ticks, const cairn_wire_tick *tick,
    cairn_command *out, uint32_t *count);
// The first differences of two worlds, down to section, element, field and bits.
void cairn_replay_difference(
    const cairn_world *recorded, const cairn_world *stepped, char words[CAIRN_REPLAY_WORDS_SIZE]);
