// SPDX-License-Identifier: MIT
// The head of a snapshot and the rules' shared part; the bodies between them are tested in
// tests/compress.
#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "schema/shared_words.h"
#include "schema/snapshot_head.h"

TEST("a head comes back as it was, and takes few bytes where its numbers are near") {
    const cairn_snapshot_head heads[] = {
        {.tick = 1},
        {.tick = 100000,
            .bases = {99994, 99988, 99982},
            .check = 0x12345678,
            .timing = {.input_acknowledged = 100003, .lateness_us_worst = -2000}},
        {.tick = UINT64_MAX,
            .world_epoch = UINT32_MAX,
            .bases = {UINT64_MAX - 1, 1, 1},
            .check = UINT32_MAX,
            .timing = {.input_acknowledged = 0,
                .lateness_us_worst = INT32_MIN,
                .lateness_us_last = INT32_MAX,
                .inputs_late = UINT32_MAX,
                .inputs_early_refused = UINT32_MAX}},
        {.tick = 5,
            .shared_words = CAIRN_SHARED_WORDS_MAX,
            .timing = {.input_acknowledged = UINT64_MAX}},
        {.tick = 1000, .bases = {994, 991, 990}, .timing = {.input_acknowledged = 1003}},
        {.part = true, .tick = 1000, .bases = {994}, .timing = {.input_acknowledged = 1003}},
        {.tick = 0}, // a room that stands there
        {.part = true, .standing = true, .tick = 0, .shared_words = 3},
        {.part = true, .standing = true, .tick = 1000, .timing = {.input_acknowledged = 1003}},
    };
    const size_t sizes[] = {10, 14, 0, 0, 12, 10, 10, 10, 11};
    for (uint32_t i = 0; i < sizeof heads / sizeof *heads; ++i) {
        uint8_t bytes[CAIRN_SNAPSHOT_HEAD_SIZE_MAX];
        cairn_snapshot_head read;
        const size_t size = cairn_snapshot_head_write(&heads[i], bytes);
        assert_true(sizes[i] == 0 || size == sizes[i]);
        assert_int_equal(cairn_snapshot_head_read(bytes, size, &read), size);
        assert_int_equal(read.tick, heads[i].tick);
        assert_int_equal(read.part, heads[i].part);
        assert_int_equal(read.standing, heads[i].standing);
        assert_memory_equal(read.bases, heads[i].bases, sizeof read.bases);
        assert_int_equal(read.check, heads[i].check);
        assert_int_equal(read.world_epoch, heads[i].world_epoch);
        assert_int_equal(read.shared_words, heads[i].shared_words);
        assert_memory_equal(&read.timing, &heads[i].timing, sizeof read.timing);
        for (size_t cut = 0; cut < size; ++cut) {
            assert_int_equal(cairn_snapshot_head_read(bytes, cut, &read), 0);
        }
    }
}

TEST("numbers that no head has are refused") {
    const struct {
        uint8_t bytes[16];
        const char *what;
    } rows[] = {
        {{16, 0, 0, 0, 1, 2, 3, 4, 0, 0}, "a part of tick 0 that is to be acknowledged"},
        {{0, 9, 9, 1, 1, 2, 3, 4, 0, 0}, "a base of tick 0"},
        {{0, 9, 3, 3, 1, 2, 3, 4, 0, 0}, "the last base is tick 0"},
        {{32, 9, 2, 2, 2, 1, 2, 3, 4, 0, 0}, "a third age that is the second one"},
        {{32, 9, 0, 0, 1, 2, 3, 4, 0, 0}, "a third age of a keyframe"},
        {{48, 9, 3, 1, 2, 3, 4, 0, 0}, "a base of a part that may be one of several"},
        {{1, 9, 0xff, 0xff, 0xff, 0xff, 0x1f, 0, 0, 1, 2, 3, 4, 0, 0}, "an epoch of 33 bits"},
        {{1, 9, 0, 0, 0, 1, 2, 3, 4, 0, 0}, "an epoch that is there and 0"},
        {{0, 9, 0, 0x81, 8, 1, 2, 3, 4, 0, 0}, "1025 shared words"},
        {{16, 9, 9, 1, 2, 3, 4, 0, 0}, "a part's base of tick 0"},
        {{2, 9, 0, 0, 1, 2, 3, 4, 0, 4, 4}, "a last lateness that is the worst one"},
        {{64, 9, 0, 0, 1, 2, 3, 4, 0, 0}, "a bit that no field has"},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_snapshot_head read;
        if (cairn_snapshot_head_read(rows[i].bytes, sizeof rows[i].bytes, &read) != 0) {
            fail_msg("%s", rows[i].what);
        }
    }
}

TEST("words that changed are packed, and nothing costs nothing") {
    enum { COUNT = 300 };
    static const struct {
        uint32_t at, change;
        size_t size; // of the payload
    } rows[] = {{0, 1, 2}, {0, UINT32_MAX, 2}, {5, 63, 2}, {5, 64, 3}, {200, 1, 3},
        {299, 0x7fffffff, 7}, {7, 0x80000000, 6}};
    uint32_t before[COUNT];
    uint32_t after[COUNT];
    uint32_t read[COUNT];
    uint8_t bytes[6 * COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        before[i] = i * 2654435761u;
    }
    assert_int_equal(cairn_words_encode(before, before, COUNT, bytes, sizeof bytes), 0);
    assert_int_equal(cairn_words_apply(before, COUNT, NULL, 0, read), CAIRN_OK);
    assert_memory_equal(before, read, sizeof read);
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        memcpy(after, before, sizeof after);
        after[rows[i].at] += rows[i].change;
        const size_t size = cairn_words_encode(before, after, COUNT, bytes, sizeof bytes);
        assert_int_equal(size, rows[i].size);
        assert_int_equal(cairn_words_apply(before, COUNT, bytes, size, read), CAIRN_OK);
        assert_memory_equal(after, read, sizeof read);
        assert_int_equal(cairn_words_apply(before, COUNT, bytes, size - 1, read), CAIRN_MALFORMED);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        after[i] = ~before[i] + i; // every word, by much
    }
    const size_t size = cairn_words_encode(before, after, COUNT, bytes, sizeof bytes);
    assert_int_equal(cairn_words_apply(before, COUNT, bytes, size, read), CAIRN_OK);
    assert_memory_equal(after, read, sizeof read);
}

TEST("words beyond the end and changes by nothing are refused") {
    static const struct {
        uint8_t bytes[6];
        size_t size;
    } rows[] = {{{3, 2}, 2}, {{0, 0}, 2}, {{0x80, 0x80, 0x80, 0x80, 0x80, 1}, 6}, {{1}, 1},
        {{2, 2, 0, 2}, 4}};
    const uint32_t before[3] = {1, 2, 3};
    uint32_t after[3];
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(
            cairn_words_apply(before, 3, rows[i].bytes, rows[i].size, after), CAIRN_MALFORMED);
    }
    assert_int_equal(cairn_words_apply(before, 0, rows[0].bytes, 2, after), CAIRN_MALFORMED);
}
