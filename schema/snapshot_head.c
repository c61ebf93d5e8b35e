// SPDX-License-Identifier: MIT
#include "schema/snapshot_head.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "schema/head_fields.h"

#define IS_PART CAIRN_HEAD_OWN
#define HAS_THIRD_AGE (2 * CAIRN_HEAD_OWN) // else the third age is the second one
#define IS_STANDING HAS_THIRD_AGE          // of a part
#define BITS_END (4 * CAIRN_HEAD_OWN)

static bool has_third_age(const cairn_snapshot_head *head) {
    const uint64_t *bases = head->bases;
    return !head->part && bases[0] != 0 && bases[0] - bases[1] != bases[1] - bases[2];
}

// The first of three ages is 0 in a keyframe, and in a part without a base.
size_t cairn_snapshot_head_write(
    const cairn_snapshot_head *head, uint8_t bytes[CAIRN_SNAPSHOT_HEAD_SIZE_MAX]) {
    cairn_writer w = cairn_writer_of(bytes, CAIRN_SNAPSHOT_HEAD_SIZE_MAX);
    CAIRN_ASSERT(!head->standing || (head->part && head->bases[0] == 0));
    const uint32_t ages = head->part ? 1 : has_third_age(head) ? 3 : 2;
    cairn_write_u8(&w,
        (uint8_t)(cairn_head_bits(head->world_epoch, &head->timing) | (head->part ? IS_PART : 0u) |
                  (ages == 3 ? HAS_THIRD_AGE : 0u) | (head->standing ? IS_STANDING : 0u)));
    cairn_write_count(&w, head->tick);
    cairn_head_write_epoch(&w, head->world_epoch);
    uint64_t later = head->tick;
    for (uint32_t i = 0; i < ages && head->bases[0] != 0; ++i) {
        CAIRN_ASSERT(head->bases[i] <= later && (i > 0 || head->bases[i] < later));
        cairn_write_count(&w, later - head->bases[i]);
        later = head->bases[i];
    }
    if (head->bases[0] == 0) {
        cairn_write_count(&w, 0);
        cairn_write_count(&w, head->shared_words);
    }
    cairn_write_u32(&w, head->check);
    cairn_head_write_timing(&w, head->tick, &head->timing);
    CAIRN_ASSERT(w.ok);
    return w.at;
}

static void read_bases(cairn_reader *r, unsigned bits, cairn_snapshot_head *out) {
    uint64_t age = cairn_read_count(r);
    if (age == 0) {
        const uint64_t words = cairn_read_count(r);
        r->ok =
            r->ok && words <= CAIRN_SHARED_WORDS_MAX && (out->part || (bits & HAS_THIRD_AGE) == 0);
        out->shared_words = r->ok ? (uint32_t)words : 0;
        return;
    }
    const uint32_t count = out->part ? 1 : 3;
    uint64_t later = out->tick;
    for (uint32_t i = 0; i < count; ++i) {
        // Nobody acknowledges a snapshot of tick 0.
        r->ok = r->ok && age < later;
        later -= age;
        out->bases[i] = later;
        if (i == 0 && !out->part) {
            age = cairn_read_count(r);
        } else if (i == 1 && (bits & HAS_THIRD_AGE) != 0) {
            const uint64_t second = age;
            age = cairn_read_count(r);
            r->ok = r->ok && age != second;
        }
    }
}

size_t cairn_snapshot_head_read(const uint8_t *bytes, size_t size, cairn_snapshot_head *out) {
    cairn_reader r = cairn_reader_of(bytes, size);
    const unsigned bits = cairn_read_u8(&r);
    *out = (cairn_snapshot_head){.tick = cairn_read_count(&r)};
    out->world_epoch = cairn_head_read_epoch(&r, bits);
    out->part = (bits & IS_PART) != 0;
    out->standing = out->part && (bits & IS_STANDING) != 0;
    read_bases(&r, bits, out);
    out->check = cairn_read_u32(&r);
    out->timing = cairn_head_read_timing(&r, bits, out->tick);
    r.ok = r.ok && bits < BITS_END && !(out->standing && out->bases[0] != 0);
    // Tick 0 is not acknowledged, so only what needs no acknowledgement is of it.
    return r.ok && (out->tick > 0 || !out->part || out->standing) ? r.at : 0;
}
