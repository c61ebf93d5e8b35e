// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "base/bytes.h"

#include <string.h>

enum { MESSAGE_SIZE = 1 + 2 + 4 + 8 + 4 + 4 + 3 };

static const uint8_t tail[3] = {0xaa, 0xbb, 0xcc};

static void write_message(cairn_writer *writer) {
    cairn_write_u8(writer, 0x81);
    cairn_write_u16(writer, 0x8283);
    cairn_write_u32(writer, 0x84858687);
    cairn_write_u64(writer, UINT64_C(0x88898a8b8c8d8e8f));
    cairn_write_i32(writer, INT32_MIN);
    cairn_write_f32(writer, 0.1f);
    cairn_write_bytes(writer, tail, sizeof tail);
}

static bool read_message_is_whole(cairn_reader *reader) {
    uint8_t end[3];
    bool same = cairn_read_u8(reader) == 0x81;
    same = cairn_read_u16(reader) == 0x8283 && same;
    same = cairn_read_u32(reader) == 0x84858687 && same;
    same = cairn_read_u64(reader) == UINT64_C(0x88898a8b8c8d8e8f) && same;
    same = cairn_read_i32(reader) == INT32_MIN && same;
    same = cairn_read_f32(reader) == 0.1f && same;
    cairn_read_bytes(reader, end, sizeof end);
    return memcmp(end, tail, sizeof end) == 0 && same;
}

TEST("written values are read back") {
    uint8_t bytes[MESSAGE_SIZE];
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    write_message(&writer);
    assert_true(writer.ok);
    assert_int_equal(writer.at, MESSAGE_SIZE);
    cairn_reader reader = cairn_reader_of(bytes, sizeof bytes);
    assert_true(read_message_is_whole(&reader));
    assert_true(cairn_reader_done(&reader));
    assert_int_equal(cairn_reader_left(&reader), 0);
}

TEST("a message cut off anywhere is refused") {
    uint8_t bytes[MESSAGE_SIZE];
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    write_message(&writer);
    for (size_t size = 0; size < MESSAGE_SIZE; ++size) {
        cairn_reader reader = cairn_reader_of(bytes, size);
        assert_false(read_message_is_whole(&reader));
        assert_false(reader.ok);
        assert_false(cairn_reader_done(&reader));
        assert_int_equal(cairn_reader_left(&reader), 0);
        assert_true(reader.at <= size);
    }
}

TEST("a byte that is left over is noticed") {
    uint8_t bytes[MESSAGE_SIZE + 1] = {0};
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    write_message(&writer);
    cairn_reader reader = cairn_reader_of(bytes, sizeof bytes);
    assert_true(read_message_is_whole(&reader));
    assert_true(reader.ok);
    assert_false(cairn_reader_done(&reader));
    assert_int_equal(cairn_reader_left(&reader), 1);
}

TEST("after a failure every read returns zero") {
    const uint8_t bytes[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    uint8_t out[4] = {1, 2, 3, 4};
    const uint8_t zeros[4] = {0};
    cairn_reader reader = cairn_reader_of(bytes, sizeof bytes);
    assert_null(cairn_read_view(&reader, 9));
    assert_int_equal(cairn_read_u8(&reader), 0);
    assert_int_equal(cairn_read_u16(&reader), 0);
    assert_int_equal(cairn_read_u32(&reader), 0);
    assert_true(cairn_read_u64(&reader) == 0);
    assert_int_equal(cairn_read_i32(&reader), 0);
    assert_true(cairn_read_f32(&reader) == 0.0f);
    cairn_read_bytes(&reader, out, sizeof out);
    assert_memory_equal(out, zeros, sizeof out);
    assert_null(cairn_read_view(&reader, 0));
    assert_int_equal(reader.at, 0);
}

TEST("a size near SIZE_MAX does not wrap") {
    uint8_t bytes[4] = {0};
    cairn_reader reader = cairn_reader_of(bytes, sizeof bytes);
    (void)cairn_read_u16(&reader);
    assert_null(cairn_read_view(&reader, SIZE_MAX));
    assert_false(reader.ok);
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    cairn_write_u16(&writer, 0);
    cairn_write_zeros(&writer, SIZE_MAX - 1);
    assert_false(writer.ok);
    assert_int_equal(writer.at, 2);
}

TEST("a writer never writes past the end of its buffer") {
    for (size_t size = 0; size < MESSAGE_SIZE; ++size) {
        uint8_t bytes[MESSAGE_SIZE];
        memset(bytes, 0x55, sizeof bytes);
        cairn_writer writer = cairn_writer_of(bytes, size);
        write_message(&writer);
        assert_false(writer.ok);
        assert_true(writer.at <= size);
        for (size_t i = writer.at; i < sizeof bytes; ++i) {
            assert_int_equal(bytes[i], 0x55);
        }
    }
}

TEST("after a failure nothing more is written") {
    uint8_t bytes[4] = {0x55, 0x55, 0x55, 0x55};
    const uint8_t untouched[4] = {0x55, 0x55, 0x55, 0x55};
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    cairn_write_u64(&writer, 0);
    cairn_write_u8(&writer, 0);
    cairn_write_bytes(&writer, tail, sizeof tail);
    cairn_write_zeros(&writer, 1);
    assert_false(writer.ok);
    assert_memory_equal(bytes, untouched, sizeof bytes);
}

TEST("pieces of every size are written one after the other") {
    uint8_t bytes[9];
    const uint8_t expected[9] = {0xaa, 0xaa, 0, 0xaa, 0xbb, 0, 0, 7, 0x55};
    memset(bytes, 0x55, sizeof bytes);
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    cairn_write_bytes(&writer, tail, 1);
    cairn_write_bytes(&writer, tail, 1);
    cairn_write_zeros(&writer, 1);
    cairn_write_bytes(&writer, tail, 2);
    cairn_write_zeros(&writer, 2);
    cairn_write_u8(&writer, 7);
    assert_true(writer.ok);
    assert_int_equal(writer.at, 8);
    assert_memory_equal(bytes, expected, sizeof bytes);
}

TEST("an empty buffer is a message of size zero") {
    cairn_reader reader = cairn_reader_of(NULL, 0);
    assert_true(cairn_reader_done(&reader));
    assert_non_null(cairn_read_view(&reader, 0));
    cairn_read_bytes(&reader, NULL, 0);
    assert_true(cairn_reader_done(&reader));
    assert_int_equal(cairn_read_u8(&reader), 0);
    assert_false(reader.ok);
    cairn_writer writer = cairn_writer_of(NULL, 0);
    cairn_write_bytes(&writer, NULL, 0);
    cairn_write_zeros(&writer, 0);
    assert_true(writer.ok);
    cairn_write_u8(&writer, 0);
    assert_false(writer.ok);
}

TEST("a float keeps its bits") {
    const uint32_t patterns[] = {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00001,
        0x00000001, 0x007fffff, 0x3f800000, 0x7f7fffff};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; ++i) {
        uint8_t bytes[8];
        cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
        cairn_write_u32(&writer, patterns[i]);
        cairn_reader reader = cairn_reader_of(bytes, 4);
        cairn_write_f32(&writer, cairn_read_f32(&reader));
        assert_memory_equal(bytes, bytes + 4, 4);
    }
}

TEST("a block of words equals single words at any alignment") {
    const uint32_t words[3] = {0x04030201u, 0xfffefdfcu, 0};
    unsigned char odd[1 + sizeof words];
    memcpy(odd + 1, words, sizeof words);
    uint8_t single[sizeof words];
    uint8_t block[sizeof words];
    cairn_writer one_by_one = cairn_writer_of(single, sizeof single);
    cairn_writer at_once = cairn_writer_of(block, sizeof block);
    for (int i = 0; i < 3; ++i) {
        cairn_write_u32(&one_by_one, words[i]);
    }
    cairn_write_u32s(&at_once, odd + 1, 3);
    assert_true(at_once.ok && at_once.at == sizeof block);
    assert_memory_equal(single, block, sizeof block);
    unsigned char back[1 + sizeof words];
    cairn_reader reader = cairn_reader_of(block, sizeof block);
    cairn_read_u32s(&reader, back + 1, 3);
    assert_true(cairn_reader_done(&reader));
    assert_memory_equal(back + 1, words, sizeof words);
}

TEST("words that do not fit are not written and read as zeros") {
    const uint32_t words[2] = {1, 2};
    uint8_t block[7] = {9, 9, 9, 9, 9, 9, 9};
    cairn_writer writer = cairn_writer_of(block, sizeof block);
    cairn_write_u32s(&writer, words, 2);
    assert_false(writer.ok);
    assert_int_equal(block[0], 9);
    uint32_t back[2] = {7, 7};
    cairn_reader reader = cairn_reader_of(block, sizeof block);
    cairn_read_u32s(&reader, back, 2);
    assert_false(reader.ok);
    assert_int_equal(back[0], 0);
    assert_int_equal(back[1], 0);
    cairn_writer wrapping = cairn_writer_of(block, sizeof block);
    cairn_write_u32s(&wrapping, words, SIZE_MAX / 4 + 2);
    assert_false(wrapping.ok);
}
