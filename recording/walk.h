// SPDX-License-Identifier: MIT
#pragma once

// A recording read chunk by chunk, each verified, unpacked and decoded once, and the worlds that
// its states and ticks stand for.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/file.h"
#include "recording/pack.h"
#include "schema/recording.h"
#include <cairn/sim.h>

#define CAIRN_REPLAY_WORDS_SIZE 512

// Fields are to be read only.
typedef struct cairn_replay_walk {
    cairn_recording_reader reader;
    cairn_recording_piece piece; // the current one
    cairn_chunk chunk;           // what it holds; lasts until the next
    const uint8_t *payload;      // its bytes, unpacked
    size_t payload_size;
    bool sound; // false: `words` says what is wrong with the current chunk
    char words[CAIRN_REPLAY_WORDS_SIZE];
    cairn_unpacker *unpacker; // the walk's own, made when first needed
    uint8_t *room;
    size_t room_size;
} cairn_replay_walk;

// `bytes` start on 8 bytes and outlive the walk. Pair with cairn_replay_walk_end.
cairn_replay_walk cairn_replay_walk_of(const uint8_t *bytes, size_t size);
void cairn_replay_walk_end(cairn_replay_walk *walk);
// False at the end and at a chunk that cannot be understood.
bool cairn_replay_next(cairn_replay_walk *walk);
// One sentence on how the file ends, with the offset where that matters.
void cairn_replay_end_text(const cairn_replay_walk *walk, char words[CAIRN_REPLAY_WORDS_SIZE]);

// Why a start chunk's world cannot be had.
typedef enum cairn_replay_refusal {
    CAIRN_REPLAY_OK = 0,
    CAIRN_REPLAY_VERSION, // another version of the simulation or of the rules is needed, or rules
                          // that are not built in
    CAIRN_REPLAY_STATE,   // its state is refused, or there is no memory for it
} cairn_replay_refusal;

// The world of a start chunk; destroy it. NULL after a refusal and one sentence in `words`.
cairn_world *cairn_replay_world(const cairn_chunk_start *start, cairn_replay_refusal *refusal,
    char words[CAIRN_REPLAY_WORDS_SIZE]);
// As above for the state of a keyframe or a replacement, which follows the rules of its recording's
// start.
cairn_world *cairn_replay_keyframe_world(const cairn_chunk_keyframe *keyframe,
    const cairn_rules *rules, char words[CAIRN_REPLAY_WORDS_SIZE]);
// The commands of one tick of a chunk, checked, into `out` (room for CAIRN_COMMANDS_PER_TICK_MAX).
// False when no world takes them.
bool cairn_replay_commands(const cairn_chunk_ticks *ticks, const cairn_wire_tick *tick,
    cairn_command *out, uint32_t *count);
// The first differences of two worlds, down to section, element, field and bits.
void cairn_replay_difference(
    const cairn_world *recorded, const cairn_world *stepped, char words[CAIRN_REPLAY_WORDS_SIZE]);
// The same with a word for each of the two.
void cairn_replay_difference_of(const cairn_world *a, const char *name_a, const cairn_world *b,
    const char *name_b, char words[CAIRN_REPLAY_WORDS_SIZE]);
