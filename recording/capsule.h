// SPDX-License-Identifier: MIT
#pragma once

// A capsule: one step that a client and its server took differently, as a recording of one tick.
// Start chunk: the state before it, as its writer had it. Ticks chunk: the commands and the root
// the server has. Keyframe: the state that the client came to, where the writer knows it; so
// cairn-replay verify finds what differs. Desync chunk: what both sides found out.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/walk.h"
#include "schema/recording.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_capsule {
    const char *scene_name;    // "" where it is not known
    const cairn_world *before; // its tick is desync.head.tick - 1
    const cairn_command *commands;
    uint32_t command_count;
    const cairn_world *after; // the client's, of tick desync.head.tick; NULL: not known
    cairn_chunk_desync desync;
} cairn_capsule;

// The whole file, in memory that the caller frees. CAIRN_OUT_OF_MEMORY: *bytes is NULL.
cairn_status cairn_capsule_encode(const cairn_capsule *capsule, uint8_t **bytes, size_t *size);

// A capsule read. Worlds are owned; the desync chunk's texts and arrays are those of the bytes.
typedef struct cairn_capsule_content {
    cairn_replay_walk walk; // private
    bool ticked;            // likewise: the ticks chunk was there
    char build[256];        // of the writer
    cairn_world *before;
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t command_count;
    cairn_world *after; // NULL: not in the file, or no world takes it: `after_refused` says why
    char after_refused[CAIRN_REPLAY_WORDS_SIZE]; // "" otherwise
    cairn_chunk_desync desync;
} cairn_capsule_content;

// `bytes` start on 8 bytes and outlive the content. `rules`: those to step with, which must be of
// the name and version in the file; NULL: those built in, by name. False: one sentence in `words`
// says why. Pair with cairn_capsule_close in any case.
bool cairn_capsule_open(cairn_capsule_content *content, const uint8_t *bytes, size_t size,
    const cairn_rules *rules, char words[CAIRN_REPLAY_WORDS_SIZE]);
void cairn_capsule_close(cairn_capsule_content *content);
