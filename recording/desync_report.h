// SPDX-License-Identifier: MIT
#pragma once

// A desync report, which users know as a capsule: one step that a client and its server took
// differently, as a recording of one tick. Start chunk: the state before the step, as the writer
// had it. Ticks chunk: the commands and the server's root. Keyframe: the state that the client
// reached, if the writer has it, so that cairn-replay verify finds what differs. Desync chunk: what
// both sides measured.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/chunk_reader.h"
#include "recording/recorded_world.h"
#include "schema/recording.h"
#include <cairn/sim.h>
#include <cairn/status.h>

typedef struct cairn_desync_report {
    const char *scene_name;    // "" if unknown
    const cairn_world *before; // its tick is desync.head.tick - 1
    const cairn_command *commands;
    uint32_t command_count;
    const cairn_world *after; // the client's, of tick desync.head.tick; NULL: not known
    cairn_chunk_desync desync;
} cairn_desync_report;

// Encodes a complete file into *bytes, which the caller frees. CAIRN_OUT_OF_MEMORY: *bytes is NULL.
cairn_status cairn_desync_report_encode(
    const cairn_desync_report *report, uint8_t **bytes, size_t *size);

// A report that was read. It owns the worlds; texts and arrays of `desync` point into the bytes.
typedef struct cairn_desync_report_content {
    cairn_chunk_reader walk; // private
    bool has_tick;           // private: the ticks chunk was read
    char build[256];         // of the writer
    cairn_world *before;
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t command_count;
    cairn_world *after; // NULL: not in the file, or invalid: `after_refused` says why
    char after_refused[CAIRN_RECORDING_ERROR_SIZE]; // "" otherwise
    cairn_chunk_desync desync;
} cairn_desync_report_content;

// Reads a report. `bytes` are aligned to 8 and must outlive the content. `rules` must have the name
// and version that the file states; NULL: the built-in rules of that name. False: one sentence in
// `error` says why. Pair with cairn_desync_report_close in any case.
bool cairn_desync_report_open(cairn_desync_report_content *content, const uint8_t *bytes,
    size_t size, const cairn_rules *rules, char error[CAIRN_RECORDING_ERROR_SIZE]);
void cairn_desync_report_close(cairn_desync_report_content *content);
