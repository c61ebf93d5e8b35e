// SPDX-License-Identifier: MIT
#pragma once

// A desync report, which users know as a capsule: one step that a client and its server took
// differently, as a recording of one tick. Start chunk: the state before the step, as the writer
// had it. Ticks chunk: the commands and the server's root. Keyframe: the state that the client
// reached, if the writer has it, so that cairn-replay verify finds what differs. Desync chunk: what
// both sides measured.

#include <stddef.h>
#include <stdint.h>

#include "recording/packing.h"
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
    const cairn_packing_functions *packing; // NULL: the file is not packed
} cairn_desync_report;

// Encodes a complete file into *bytes, which the caller frees. CAIRN_OUT_OF_MEMORY: *bytes is NULL.
cairn_status cairn_desync_report_encode(
    const cairn_desync_report *report, uint8_t **bytes, size_t *size);
