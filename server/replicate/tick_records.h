// SPDX-License-Identifier: MIT
#pragma once

// The encoded commands of a room's last ticks. Every client is sent the same bytes of a tick, so a
// tick is encoded once; only the first tick after a client's state is encoded for it alone.

#include <stddef.h>
#include <stdint.h>

#include "compress/command_coder.h"
#include "schema/tick_payload.h"
#include "server/room/command_log.h"
#include <cairn/status.h>

#define CAIRN_TICK_RECORDS_HELD 128
#define CAIRN_TICK_RECORDS_SIZE (64 * 1024) // of all that are held

// A payload of one tick always fits.
#define CAIRN_TICK_MESSAGE_SIZE_MAX (CAIRN_TICK_COMMANDS_SIZE_MAX + 16384)

// Those of a longer message are not shared.
#define CAIRN_SHARED_RECORDS_SIZE 1000

typedef struct cairn_tick_records {
    uint8_t *bytes;   // owned; a ring, in which each record lies in one piece
    uint8_t *scratch; // owned; of a record that is not kept
    uint8_t *message; // owned; [CAIRN_TICK_MESSAGE_SIZE_MAX], for a payload that is being written
    uint32_t next;    // place of the next record
    // The records of the last unreliable message, as they follow its head: most clients of a room
    // lack the same ticks.
    struct cairn_shared_records {
        uint64_t begin, ticks; // bit i: tick begin + i; no bit: none
        uint64_t alone;        // the tick that is coded alone, as in record_of; UINT64_MAX: none
        uint32_t size;
        uint8_t bytes[CAIRN_SHARED_RECORDS_SIZE];
    } shared;
    // By tick modulo the count; a record that is no longer there has `end_tick` 0.
    struct cairn_held_record {
        uint64_t end_tick; // one more than its tick
        uint32_t place, size;
    } held[CAIRN_TICK_RECORDS_HELD];
} cairn_tick_records;

// CAIRN_OUT_OF_MEMORY; destroy is allowed after a failure.
cairn_status cairn_tick_records_create(cairn_tick_records *records);
void cairn_tick_records_destroy(cairn_tick_records *records);
// The room's world was replaced: its ticks are others now.
void cairn_tick_records_forget(cairn_tick_records *records);

// The record of a tick that the log holds (asserted). `alone`: its receiver has no tick before.
// Valid until the next call.
cairn_tick_record cairn_tick_record_of(
    cairn_tick_records *records, const cairn_command_log *log, uint64_t tick, bool alone);
