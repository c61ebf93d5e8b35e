// SPDX-License-Identifier: MIT
#include "schema/head_fields.h"

unsigned cairn_head_bits(uint32_t world_epoch, const cairn_wire_timing *timing) {
    return (world_epoch != 0 ? CAIRN_HEAD_EPOCH : 0u) |
           (timing->lateness_us_last != timing->lateness_us_worst ? CAIRN_HEAD_LATENESS_LAST : 0u) |
           (timing->inputs_late != 0 ? CAIRN_HEAD_LATE : 0u) |
           (timing->inputs_early_refused != 0 ? CAIRN_HEAD_EARLY : 0u);
}

// 0 is left out.
static void write_u32(cairn_writer *w, uint32_t value) {
    if (value != 0) {
        cairn_write_count(w, value);
    }
}

void cairn_head_write_epoch(cairn_writer *w, uint32_t world_epoch) {
    write_u32(w, world_epoch);
}

void cairn_head_write_timing(cairn_writer *w, uint64_t tick, const cairn_wire_timing *timing) {
    cairn_write_difference(w, (int64_t)(tick - timing->input_acknowledged));
    cairn_write_difference(w, timing->lateness_us_worst);
    if (timing->lateness_us_last != timing->lateness_us_worst) {
        cairn_write_difference(w, timing->lateness_us_last);
    }
    write_u32(w, timing->inputs_late);
    write_u32(w, timing->inputs_early_refused);
}

// A field that is there is not 0, so that there is one way to write a head.
static uint32_t read_u32(cairn_reader *r, bool there) {
    const uint64_t count = there ? cairn_read_count(r) : 0;
    r->ok = r->ok && count <= UINT32_MAX && there == (count != 0);
    return (uint32_t)count;
}

static int32_t read_i32(cairn_reader *r) {
    const int64_t difference = cairn_read_difference(r);
    r->ok = r->ok && difference == (int32_t)difference;
    return (int32_t)difference;
}

uint32_t cairn_head_read_epoch(cairn_reader *r, unsigned bits) {
    return read_u32(r, (bits & CAIRN_HEAD_EPOCH) != 0);
}

cairn_wire_timing cairn_head_read_timing(cairn_reader *r, unsigned bits, uint64_t tick) {
    cairn_wire_timing timing = {.input_acknowledged = tick - (uint64_t)cairn_read_difference(r)};
    timing.lateness_us_worst = read_i32(r);
    const bool other = (bits & CAIRN_HEAD_LATENESS_LAST) != 0;
    timing.lateness_us_last = other ? read_i32(r) : timing.lateness_us_worst;
    r->ok = r->ok && other == (timing.lateness_us_last != timing.lateness_us_worst);
    timing.inputs_late = read_u32(r, (bits & CAIRN_HEAD_LATE) != 0);
    timing.inputs_early_refused = read_u32(r, (bits & CAIRN_HEAD_EARLY) != 0);
    return timing;
}
