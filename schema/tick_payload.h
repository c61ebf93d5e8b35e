// SPDX-License-Identifier: MIT
#pragma once

// The payload of TICKS: what is the same for all its ticks, then a record for each. A record's
// commands are coded against those of the tick before (compress/command_coder.h), so a receiver
// reads them in order of ticks. docs/PROTOCOL.md, "Ticks payload", has the layout.

#include "base/bytes.h"
#include "schema/messages.h"

typedef struct cairn_ticks_head {
    uint64_t first_tick;
    uint32_t world_epoch; // as in cairn_input_head
    cairn_wire_timing timing;
} cairn_ticks_head;

typedef struct cairn_tick_record {
    uint64_t tick; // the world's tick before the step
    bool alone;    // its commands are coded without those of the tick before
    const uint8_t *commands;
    uint32_t commands_size;
    cairn_root_check check; // of the root after the step
} cairn_tick_record;

#define CAIRN_TICKS_HEAD_SIZE_MAX 64
// Of a record, besides its commands.
#define CAIRN_TICK_RECORD_SIZE_MAX 48

// Every so many ticks a record has the whole root, and commands that are coded alone: the last tick
// before the world's tick is a multiple of it.
#define CAIRN_TICKS_PER_KEY 64
static inline bool cairn_tick_is_key(uint64_t tick) {
    return tick % CAIRN_TICKS_PER_KEY == CAIRN_TICKS_PER_KEY - 1;
}

// Writes a payload: the head, then records in order of ticks.
typedef struct cairn_ticks_writer {
    cairn_writer bytes;
    uint64_t next_tick; // after the last record
} cairn_ticks_writer;
cairn_ticks_writer cairn_ticks_writer_of(const cairn_ticks_head *head, uint8_t *bytes, size_t size);
// `record->check` is full; only what the record holds of it is written.
void cairn_ticks_write(cairn_ticks_writer *writer, const cairn_tick_record *record);

// Reads one.
typedef struct cairn_ticks_reader {
    cairn_ticks_head head;
    cairn_reader bytes;
    uint64_t next_tick;
} cairn_ticks_reader;
// False: the payload does not begin with a head.
bool cairn_ticks_reader_of(const uint8_t *payload, size_t size, cairn_ticks_reader *out);
// False: there is no further record; `bytes.ok` says whether the payload ended as it should.
bool cairn_ticks_read(cairn_ticks_reader *reader, cairn_tick_record *out);

// The tick after the last record of a payload that was checked; 0: there is no record.
uint64_t cairn_ticks_end(const cairn_ticks_message *message);
