// SPDX-License-Identifier: MIT
// What one process writes another reads, and what it never wrote is refused by name.
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "net/archive.h"

static cairn_archive out;

// It replaces the one of the system (CMakeLists.txt): whether the watched block is given back with
// zeros.
void __real_free(void *block);
void __wrap_free(void *block);

static const uint8_t *watched;
static size_t watched_size;
static bool wiped;

void __wrap_free(void *block) {
    if (block != NULL && block == watched) {
        watched = NULL;
        wiped = true;
        for (size_t i = 0; i < watched_size; ++i) {
            wiped = wiped && ((const uint8_t *)block)[i] == 0;
        }
    }
    __real_free(block);
}

BEFORE_EACH {
    out = cairn_archive_writer();
}

AFTER_EACH {
    cairn_archive_free(&out);
}

static cairn_archive written(void) {
    return cairn_archive_reader(out.out, out.size);
}

TEST("numbers, bytes, texts and truth values are read as they were written") {
    uint64_t wide = UINT64_MAX;
    uint32_t narrow = 7;
    bool truths[2] = {true, false};
    char text[8] = "abcdefg";
    uint8_t bytes[3] = {1, 2, 3};
    cairn_archive_u64(&out, "wide", &wide, 0, UINT64_MAX);
    cairn_archive_u32(&out, "narrow", &narrow, 7, 7);
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_archive_bool(&out, "truth", &truths[i]);
        assert_int_equal(truths[i], i == 0); // writing changes nothing
    }
    cairn_archive_text(&out, "text", text, sizeof text);
    cairn_archive_bytes(&out, bytes, sizeof bytes);
    assert_true(wide == UINT64_MAX && narrow == 7 && strcmp(text, "abcdefg") == 0);

    uint64_t wide_in = 0;
    uint32_t narrow_in = 0;
    bool truths_in[2] = {false, true};
    char text_in[8] = "";
    uint8_t bytes_in[3] = {0};
    cairn_archive in = written();
    cairn_archive_u64(&in, "wide", &wide_in, 0, UINT64_MAX);
    cairn_archive_u32(&in, "narrow", &narrow_in, 7, 7);
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_archive_bool(&in, "truth", &truths_in[i]);
        assert_int_equal(truths_in[i], i == 0);
    }
    cairn_archive_text(&in, "text", text_in, sizeof text_in);
    assert_false(cairn_archive_is_done(&in)); // the bytes are left
    cairn_archive_bytes(&in, bytes_in, sizeof bytes_in);
    assert_true(cairn_archive_is_done(&in));
    assert_true(wide_in == UINT64_MAX && narrow_in == 7 && strcmp(text_in, "abcdefg") == 0);
    assert_memory_equal(bytes_in, bytes, sizeof bytes);
}

TEST("a number out of its range is refused by name, and all after it are the least") {
    static const struct {
        uint64_t value;
        bool taken;
    } cases[] = {{4, false}, {5, true}, {9, true}, {10, false}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        cairn_archive_free(&out);
        out = cairn_archive_writer();
        uint64_t value = cases[i].value;
        uint64_t next = 1;
        cairn_archive_u64(&out, "first", &value, 0, UINT64_MAX);
        cairn_archive_u64(&out, "second", &next, 0, UINT64_MAX);
        cairn_archive in = written();
        cairn_archive_u64(&in, "first", &value, 5, 9);
        cairn_archive_u64(&in, "second", &next, 0, 1);
        assert_int_equal(cairn_archive_is_done(&in), cases[i].taken);
        assert_int_equal(value, cases[i].taken ? cases[i].value : 5);
        assert_int_equal(next, cases[i].taken ? 1 : 0);
        assert_int_equal(in.refused != NULL && strcmp(in.refused, "first") == 0, !cases[i].taken);
    }
}

TEST("a truth value is 0 or 1") {
    for (uint64_t value = 0; value < 3; ++value) {
        cairn_archive in = cairn_archive_reader(&value, sizeof value);
        bool truth = value != 1;
        cairn_archive_bool(&in, "truth", &truth);
        assert_int_equal(cairn_archive_is_done(&in), value < 2);
        assert_int_equal(truth, value == 1);
    }
}

TEST("what ends too early is refused and read as zeros") {
    uint64_t value = 3;
    cairn_archive_words(&out, &value, 1);
    for (size_t size = 0; size <= sizeof value; ++size) {
        cairn_archive in = cairn_archive_reader(out.out, size);
        value = 9;
        cairn_archive_words(&in, &value, 1);
        assert_int_equal(value, size == sizeof value ? 3 : 0);
        assert_int_equal(in.refused == NULL, size == sizeof value);
    }
}

TEST("a text is refused if it does not fit or has a zero inside") {
    char text[8] = "abc";
    cairn_archive_text(&out, "text", text, sizeof text);
    char small[4];
    cairn_archive in = written();
    cairn_archive_text(&in, "text", small, sizeof small);
    assert_true(cairn_archive_is_done(&in));
    assert_string_equal(small, "abc");
    in = written();
    cairn_archive_text(&in, "text", small, 3);
    assert_string_equal(in.refused, "text");
    out.out[sizeof(uint64_t) + 1] = '\0';
    in = written();
    cairn_archive_text(&in, "text", text, sizeof text);
    assert_string_equal(in.refused, "text");
}

TEST("an archive grows with what is written, and keeps it") {
    uint8_t bytes[1000];
    for (uint32_t i = 0; i < 100; ++i) {
        memset(bytes, (int)i, sizeof bytes);
        cairn_archive_bytes(&out, bytes, sizeof bytes);
    }
    assert_int_equal(out.size, 100 * sizeof bytes);
    cairn_archive in = written();
    for (uint32_t i = 0; i < 100; ++i) {
        cairn_archive_bytes(&in, bytes, sizeof bytes);
        assert_true(bytes[0] == i && bytes[sizeof bytes - 1] == i);
    }
    assert_true(cairn_archive_is_done(&in));
}

// It carries the keys of sessions.
TEST("what was written is wiped when its memory is given back") {
    uint8_t secret[64];
    memset(secret, 0xa5, sizeof secret);
    cairn_archive_bytes(&out, secret, sizeof secret);
    watched = out.out;
    watched_size = out.size;
    cairn_archive_free(&out);
    assert_null(watched);
    assert_true(wiped);
}
