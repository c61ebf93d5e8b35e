// SPDX-License-Identifier: MIT
#include "schema/tick_payload.h"

#include "base/assert.h"
#include "schema/head_fields.h"

// What the first count of a record says besides the size of its commands.
#define IS_ALONE 1u
#define LEAVES_TICKS_OUT 2u

cairn_ticks_writer cairn_ticks_writer_of(
    const cairn_ticks_head *head, uint8_t *bytes, size_t size) {
    cairn_ticks_writer writer = {
        .bytes = cairn_writer_of(bytes, size), .next_tick = head->first_tick};
    cairn_writer *w = &writer.bytes;
    cairn_write_u8(w, (uint8_t)cairn_head_bits(head->world_epoch, &head->timing));
    cairn_write_count(w, head->first_tick);
    cairn_head_write_epoch(w, head->world_epoch);
    cairn_head_write_timing(w, head->first_tick, &head->timing);
    return writer;
}

void cairn_ticks_write(cairn_ticks_writer *writer, const cairn_tick_record *record) {
    cairn_writer *w = &writer->bytes;
    const bool key = cairn_tick_is_key(record->tick);
    CAIRN_ASSERT(record->tick >= writer->next_tick && (record->alone || !key));
    CAIRN_ASSERT(record->check.full);
    const uint64_t left_out = record->tick - writer->next_tick;
    cairn_write_count(w, (uint64_t)record->commands_size << 2 |
                             (left_out > 0 ? LEAVES_TICKS_OUT : 0) |
                             (record->alone && !key ? IS_ALONE : 0));
    if (left_out > 0) {
        cairn_write_count(w, left_out);
    }
    cairn_write_bytes(w, record->commands, record->commands_size);
    if (key) {
        cairn_write_u64(w, record->check.root.lo);
        cairn_write_u64(w, record->check.root.hi);
    } else {
        cairn_write_u32(w, (uint32_t)record->check.root.lo);
    }
    writer->next_tick = record->tick + 1;
}

bool cairn_ticks_reader_of(const uint8_t *payload, size_t size, cairn_ticks_reader *out) {
    *out = (cairn_ticks_reader){.bytes = cairn_reader_of(payload, size)};
    cairn_reader *r = &out->bytes;
    const uint8_t bits = cairn_read_u8(r);
    out->head.first_tick = cairn_read_count(r);
    out->head.world_epoch = cairn_head_read_epoch(r, bits);
    out->head.timing = cairn_head_read_timing(r, bits, out->head.first_tick);
    out->next_tick = out->head.first_tick;
    r->ok = r->ok && bits < CAIRN_HEAD_OWN;
    return r->ok;
}

bool cairn_ticks_read(cairn_ticks_reader *reader, cairn_tick_record *out) {
    cairn_reader *r = &reader->bytes;
    if (!r->ok || cairn_reader_left(r) == 0) {
        return false;
    }
    const uint64_t begin = cairn_read_count(r);
    const bool leaves_out = (begin & LEAVES_TICKS_OUT) != 0;
    const uint64_t left_out = leaves_out ? cairn_read_count(r) : 0;
    // The tick has a tick of the world after it.
    r->ok = r->ok && leaves_out == (left_out != 0) && left_out < UINT64_MAX - reader->next_tick &&
            begin >> 2 <= CAIRN_MESSAGE_SIZE_MAX;
    if (!r->ok) {
        return false;
    }
    const uint64_t tick = reader->next_tick + left_out;
    const bool key = cairn_tick_is_key(tick);
    const bool alone = (begin & IS_ALONE) != 0;
    *out = (cairn_tick_record){.tick = tick,
        .alone = key || alone,
        .commands_size = (uint32_t)(begin >> 2),
        .check = {.full = key}};
    out->commands = cairn_read_view(r, out->commands_size);
    out->check.root.lo = key ? cairn_read_u64(r) : cairn_read_u32(r);
    out->check.root.hi = key ? cairn_read_u64(r) : 0;
    reader->next_tick = tick + 1;
    r->ok = r->ok && !(key && alone); // a key is alone anyway
    return r->ok;
}

uint64_t cairn_ticks_end(const cairn_ticks_message *message) {
    cairn_ticks_reader reader;
    cairn_tick_record record;
    uint64_t end = 0;
    if (cairn_ticks_reader_of(message->payload, message->payload_size, &reader)) {
        while (cairn_ticks_read(&reader, &record)) {
            end = record.tick + 1;
        }
    }
    return end;
}
