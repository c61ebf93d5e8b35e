// SPDX-License-Identifier: MIT
#include "schema/input_payload.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

// Ticks are near the newest of what the client holds.
static uint64_t held_tick(const cairn_input_head *head) {
    return head->ticks_acknowledged > head->snapshot_acknowledged ? head->ticks_acknowledged
                                                                  : head->snapshot_acknowledged;
}

// The first byte: which of these fields follow, the others are 0, and the number of the message.
#define HAS_EPOCH 1u
#define HAS_SNAPSHOT 2u
#define HAS_EARLY 4u
#define HAS_SHOWN 8u
#define NUMBER_SHIFT 4

static void write_if(cairn_writer *w, uint64_t value) {
    if (value != 0) {
        cairn_write_count(w, value);
    }
}

size_t cairn_input_head_write(
    const cairn_input_head *head, uint8_t bytes[CAIRN_INPUT_HEAD_SIZE_MAX]) {
    cairn_writer w = cairn_writer_of(bytes, CAIRN_INPUT_HEAD_SIZE_MAX);
    const uint64_t held = held_tick(head);
    CAIRN_ASSERT(head->parts >= 1 && head->parts <= CAIRN_INPUT_COMMANDS_MAX);
    cairn_write_u8(
        &w, (uint8_t)((uint32_t)head->number << NUMBER_SHIFT |
                      (head->world_epoch != 0 ? HAS_EPOCH : 0) |
                      (head->snapshot_acknowledged != 0 ? HAS_SNAPSHOT : 0) |
                      (head->early != 0 ? HAS_EARLY : 0) | (head->reports_shown ? HAS_SHOWN : 0)));
    write_if(&w, head->world_epoch);
    write_if(&w, head->snapshot_acknowledged);
    cairn_write_count(&w, head->ticks_acknowledged);
    write_if(&w, head->early);
    if (head->reports_shown) {
        cairn_write_count(&w, head->shown_span);
    }
    if (head->reports_shown && head->shown_span > 0) {
        cairn_write_difference(&w, (int64_t)(head->shown_tick - held));
        cairn_write_f32(&w, head->shown_share);
    }
    cairn_write_count(
        &w, (head->input_count * CAIRN_INPUT_COMMANDS_MAX + head->parts - 1) * 2 + head->based);
    if (head->input_count > 0) {
        cairn_write_difference(&w, (int64_t)(head->first_tick - held));
    }
    CAIRN_ASSERT(w.ok);
    return w.at;
}

static uint32_t read_at_most(cairn_reader *r, uint32_t most) {
    const uint64_t count = cairn_read_count(r);
    r->ok = r->ok && count <= most;
    return (uint32_t)count;
}

// A field that is there is not 0, so that there is one way to write a head.
static uint64_t read_if(cairn_reader *r, bool there) {
    const uint64_t count = there ? cairn_read_count(r) : 0;
    r->ok = r->ok && there == (count != 0);
    return count;
}

static void read_shown(cairn_reader *r, cairn_input_head *out) {
    out->reports_shown = true;
    out->shown_span = read_at_most(r, CAIRN_SHOWN_SPAN_MAX);
    if (out->shown_span > 0) {
        out->shown_tick = held_tick(out) + (uint64_t)cairn_read_difference(r);
        const uint32_t bits = cairn_read_u32(r);
        memcpy(&out->shown_share, &bits, sizeof bits);
        // By the bits: a fast-math build removes comparisons with NaN. No -0.
        r->ok = r->ok && bits <= 0x3f800000u;
    }
}

size_t cairn_input_head_read(const uint8_t *bytes, size_t size, cairn_input_head *out) {
    cairn_reader r = cairn_reader_of(bytes, size);
    const uint8_t has = cairn_read_u8(&r);
    *out = (cairn_input_head){.number = has >> NUMBER_SHIFT};
    const uint64_t epoch = read_if(&r, (has & HAS_EPOCH) != 0);
    out->world_epoch = (uint32_t)epoch;
    out->snapshot_acknowledged = read_if(&r, (has & HAS_SNAPSHOT) != 0);
    out->ticks_acknowledged = cairn_read_count(&r);
    out->early = read_if(&r, (has & HAS_EARLY) != 0);
    if ((has & HAS_SHOWN) != 0) {
        read_shown(&r, out);
    }
    const uint32_t inputs = read_at_most(
        &r, ((CAIRN_INPUTS_PER_MESSAGE_MAX + 1) * CAIRN_INPUT_COMMANDS_MAX - 1) * 2 + 1);
    out->based = (inputs & 1) != 0;
    out->parts = inputs / 2 % CAIRN_INPUT_COMMANDS_MAX + 1;
    out->input_count = inputs / 2 / CAIRN_INPUT_COMMANDS_MAX;
    if (out->input_count > 0) {
        out->first_tick = held_tick(out) + (uint64_t)cairn_read_difference(&r);
    }
    // No tick of an input wraps, and there is a tick that the first is coded against.
    r.ok = r.ok && epoch <= UINT32_MAX &&
           out->first_tick <= UINT64_MAX - CAIRN_INPUTS_PER_MESSAGE_MAX &&
           !(out->based && (out->ticks_acknowledged == 0 || out->input_count == 0));
    return r.ok ? r.at : 0;
}
