// SPDX-License-Identifier: MIT
#pragma once

// Reads desync reports (recording/desync_report.h). Apart from writing them, because a client
// writes reports and does not need what reads recordings.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/chunk_reader.h"
#include "recording/recorded_world.h"
#include "schema/recording.h"
#include <cairn/sim.h>

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
