// SPDX-License-Identifier: MIT
#pragma once

// Worlds, commands and differences from the chunks of a recording.

#include <stdbool.h>
#include <stdint.h>

#include "recording/chunk_reader.h"
#include "schema/recording.h"
#include <cairn/sim.h>

// Why no world was created from a recorded state.
typedef enum cairn_recorded_refusal {
    CAIRN_RECORDED_OK = 0,
    CAIRN_RECORDED_VERSION, // another version of the simulation or of the rules is needed, or rules
                            // that are not built in
    CAIRN_RECORDED_STATE,   // the state is refused, or out of memory
} cairn_recorded_refusal;

// The world of a start chunk; the caller destroys it. `rules` must have the name and version that
// the chunk states; NULL: the built-in rules of that name. NULL on refusal: `error` holds one
// sentence.
cairn_world *cairn_recorded_world_of_start(const cairn_chunk_start *start, const cairn_rules *rules,
    cairn_recorded_refusal *refusal, char error[CAIRN_RECORDING_ERROR_SIZE]);
// The same for the state of a keyframe or a replacement. `rules` are those of the start chunk.
cairn_world *cairn_recorded_world_of_keyframe(const cairn_chunk_keyframe *keyframe,
    const cairn_rules *rules, char error[CAIRN_RECORDING_ERROR_SIZE]);
// Checks the commands of one tick of a chunk and copies them, sorted, to `out` (room for
// CAIRN_COMMANDS_PER_TICK_MAX). False if they are too many or one fails cairn_command_check.
bool cairn_recorded_commands(const cairn_chunk_ticks *ticks, const cairn_wire_tick *tick,
    cairn_command *out, uint32_t *count);
#define CAIRN_RECORDED_WORD_SIZE 32
// A word of the state as text: a float as "1.5 (0x3fc00000)", any other word as its bits. Returns
// `text`.
const char *cairn_recorded_word_text(
    uint32_t bits, bool is_float, char text[CAIRN_RECORDED_WORD_SIZE]);
// Writes the first differences of two worlds, with a name for each, as text: section, element,
// field and words.
void cairn_recorded_diff_text(const cairn_world *a, const char *name_a, const cairn_world *b,
    const char *name_b, char error[CAIRN_RECORDING_ERROR_SIZE]);
