// SPDX-License-Identifier: MIT
#include "schema/snapshot_head.h"

#include "base/assert.h"
#include "base/bytes.h"

// In place of the number of shared words of a keyframe: this is a part.
#define PART_MARK (CAIRN_SHARED_WORDS_MAX + 1)

// The first of three ages is 0 in a keyframe and in a part, which have no others.
size_t cairn_snapshot_head_write(
    const cairn_snapshot_head *head, uint8_t bytes[CAIRN_SNAPSHOT_HEAD_SIZE_MAX]) {
    cairn_writer w = cairn_writer_of(bytes, CAIRN_SNAPSHOT_HEAD_SIZE_MAX);
    const cairn_wire_timing *timing = &head->timing;
    const bool based = head->bases[0] != 0;
    cairn_write_count(&w, head->tick);
    cairn_write_count(&w, head->world_epoch);
    if (head->part) {
        cairn_write_count(&w, 0);
        cairn_write_count(&w, PART_MARK);
    }
    uint64_t later = head->tick;
    for (uint32_t i = 0; i < (head->part ? 1u : 3u) && based; ++i) {
        CAIRN_ASSERT(head->bases[i] <= later && (i > 0 || head->bases[i] < later));
        cairn_write_count(&w, later - head->bases[i]);
        later = head->bases[i];
    }
    if (!based) {
        cairn_write_count(&w, 0);
        cairn_write_count(&w, head->shared_words);
    }
    cairn_write_u32(&w, head->check);
    cairn_write_difference(&w, (int64_t)(head->tick - timing->input_acknowledged));
    cairn_write_difference(&w, timing->lateness_us_worst);
    cairn_write_difference(&w, timing->lateness_us_last);
    cairn_write_count(&w, timing->inputs_late);
    cairn_write_count(&w, timing->inputs_early_refused);
    CAIRN_ASSERT(w.ok);
    return w.at;
}

static uint32_t read_u32(cairn_reader *r) {
    const uint64_t count = cairn_read_count(r);
    r->ok = r->ok && count <= UINT32_MAX;
    return (uint32_t)count;
}

static int32_t read_i32(cairn_reader *r) {
    const int64_t difference = cairn_read_difference(r);
    r->ok = r->ok && difference == (int32_t)difference;
    return (int32_t)difference;
}

static void read_bases(cairn_reader *r, cairn_snapshot_head *out) {
    uint64_t age = cairn_read_count(r);
    if (age == 0) {
        out->shared_words = read_u32(r);
        out->part = out->shared_words == PART_MARK;
    }
    if (out->part) {
        age = cairn_read_count(r);
        out->shared_words = age == 0 ? read_u32(r) : 0;
    }
    r->ok = r->ok && out->shared_words <= CAIRN_SHARED_WORDS_MAX;
    uint64_t later = out->tick;
    const uint32_t count = age == 0 ? 0 : out->part ? 1 : 3;
    for (uint32_t i = 0; i < count; ++i) {
        // A snapshot of tick 0 does not exist.
        r->ok = r->ok && age < later;
        later -= age;
        out->bases[i] = later;
        age = i + 1 < count ? cairn_read_count(r) : 0;
    }
}

size_t cairn_snapshot_head_read(const uint8_t *bytes, size_t size, cairn_snapshot_head *out) {
    cairn_reader r = cairn_reader_of(bytes, size);
    *out = (cairn_snapshot_head){.tick = cairn_read_count(&r)};
    out->world_epoch = read_u32(&r);
    read_bases(&r, out);
    out->check = cairn_read_u32(&r);
    out->timing.input_acknowledged = out->tick - (uint64_t)cairn_read_difference(&r);
    out->timing.lateness_us_worst = read_i32(&r);
    out->timing.lateness_us_last = read_i32(&r);
    out->timing.inputs_late = read_u32(&r);
    out->timing.inputs_early_refused = read_u32(&r);
    return r.ok && out->tick > 0 ? r.at : 0;
}
