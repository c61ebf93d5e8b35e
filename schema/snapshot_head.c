// SPDX-License-Identifier: MIT
#include "schema/snapshot_head.h"

#include "base/assert.h"
#include "base/bytes.h"

// The first of three ages is 0 in a keyframe, which has no others.
size_t cairn_snapshot_head_write(
    const cairn_snapshot_head *head, uint8_t bytes[CAIRN_SNAPSHOT_HEAD_SIZE_MAX]) {
    cairn_writer w = cairn_writer_of(bytes, CAIRN_SNAPSHOT_HEAD_SIZE_MAX);
    const cairn_wire_timing *timing = &head->timing;
    const bool keyframe = head->bases[0] == 0;
    cairn_write_count(&w, head->tick);
    cairn_write_count(&w, head->world_epoch);
    uint64_t later = head->tick;
    for (uint32_t i = 0; i < 3 && !keyframe; ++i) {
        CAIRN_ASSERT(head->bases[i] <= later && (i > 0 || head->bases[i] < later));
        cairn_write_count(&w, later - head->bases[i]);
        later = head->bases[i];
    }
    if (keyframe) {
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

size_t cairn_snapshot_head_read(const uint8_t *bytes, size_t size, cairn_snapshot_head *out) {
    cairn_reader r = cairn_reader_of(bytes, size);
    *out = (cairn_snapshot_head){.tick = cairn_read_count(&r)};
    out->world_epoch = read_u32(&r);
    uint64_t later = out->tick;
    for (uint32_t i = 0; i < 3; ++i) {
        const uint64_t age = cairn_read_count(&r);
        if (i == 0 && age == 0) {
            out->shared_words = read_u32(&r);
            r.ok = r.ok && out->shared_words <= CAIRN_SHARED_WORDS_MAX;
            break;
        }
        // A snapshot of tick 0 does not exist.
        r.ok = r.ok && age < later;
        later -= age;
        out->bases[i] = later;
    }
    out->check = cairn_read_u32(&r);
    out->timing.input_acknowledged = out->tick - (uint64_t)cairn_read_difference(&r);
    out->timing.lateness_us_worst = read_i32(&r);
    out->timing.lateness_us_last = read_i32(&r);
    out->timing.inputs_late = read_u32(&r);
    out->timing.inputs_early_refused = read_u32(&r);
    return r.ok && out->tick > 0 ? r.at : 0;
}
