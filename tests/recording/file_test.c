// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "recording/file.h"
#include "tests/kit/exact.h"

// A recording of three chunks with payloads of 5, 16 and 3 bytes: every padding but 0.
enum { FILE_SIZE_MAX = 320, CHUNKS = 3 };

typedef struct recording {
    _Alignas(8) uint8_t bytes[FILE_SIZE_MAX];
    size_t size;
    size_t chunk_end[CHUNKS];
} recording;

static void append(recording *r, const void *bytes, size_t size) {
    assert_true(r->size + size <= FILE_SIZE_MAX);
    memcpy(r->bytes + r->size, bytes, size);
    r->size += size;
}

static void append_chunk(recording *r, cairn_chunk_kind kind, const char *payload) {
    const size_t size = strlen(payload);
    const cairn_recording_piece piece = {.kind = kind,
        .tick = 7,
        .tick_count = 3,
        .payload = (const uint8_t *)payload,
        .size = size,
        .raw_size = size};
    const cairn_recording_frame frame = cairn_recording_frame_of(&piece);
    append(r, frame.head, sizeof frame.head);
    append(r, payload, size);
    append(r, frame.tail, frame.tail_size);
}

static void break_byte(recording *r, size_t at) {
    r->bytes[at] ^= 0x40;
}

static recording start_recording(void) {
    recording r = {.size = CAIRN_RECORDING_HEAD_SIZE};
    cairn_recording_head(r.bytes);
    return r;
}

static recording whole_recording(void) {
    static const struct {
        cairn_chunk_kind kind;
        const char *payload;
    } chunks[CHUNKS] = {{CAIRN_CHUNK_START, "start"}, {CAIRN_CHUNK_TICKS, "sixteen bytes ok"},
        {CAIRN_CHUNK_END, "end"}};
    recording r = start_recording();
    for (size_t i = 0; i < CHUNKS; ++i) {
        append_chunk(&r, chunks[i].kind, chunks[i].payload);
        r.chunk_end[i] = r.size;
    }
    return r;
}

// Reads a copy that is exactly as large, so that a sanitizer sees a read past its end.
static cairn_recording_reader walk(const uint8_t *bytes, size_t size) {
    uint8_t *copy = kit_exact_copy(bytes, size);
    cairn_recording_reader reader = cairn_recording_reader_of(copy, size);
    cairn_recording_piece piece;
    while (cairn_recording_next(&reader, &piece)) {
        assert_true((uintptr_t)piece.payload % 8 == 0);
        assert_true(piece.offset + piece.size < reader.at);
        assert_true(piece.payload + piece.size <= copy + size);
    }
    assert_int_equal(piece.kind, CAIRN_CHUNK_NONE);
    free(copy);
    return reader;
}

TEST("a complete recording has a clean end") {
    const recording r = whole_recording();
    const cairn_recording_reader reader = walk(r.bytes, r.size);
    assert_int_equal(reader.end, CAIRN_RECORDING_CLEAN);
    assert_int_equal(reader.chunk_count, CHUNKS);
    assert_int_equal(reader.at, r.size);
}

TEST("a piece has the fields and bytes that were written") {
    const recording r = whole_recording();
    cairn_recording_reader reader = cairn_recording_reader_of(r.bytes, r.size);
    cairn_recording_piece piece;
    assert_true(cairn_recording_next(&reader, &piece));
    assert_int_equal(piece.kind, CAIRN_CHUNK_START);
    assert_int_equal(piece.size, 5);
    assert_memory_equal(piece.payload, "start", 5);
    assert_int_equal(piece.offset, CAIRN_RECORDING_HEAD_SIZE);
    assert_int_equal(piece.tick, 7);
    assert_int_equal(piece.tick_count, 3);
    assert_int_equal(piece.packing, CAIRN_PACKING_NONE);
}

TEST("a skip reads only heads and a jump goes back") {
    recording r = whole_recording();
    break_byte(&r, CAIRN_RECORDING_HEAD_SIZE + CAIRN_RECORDING_CHUNK_HEAD_SIZE);
    cairn_recording_reader reader = cairn_recording_reader_of(r.bytes, r.size);
    cairn_recording_piece piece;
    assert_true(cairn_recording_skip(&reader, &piece));
    assert_true(cairn_recording_skip(&reader, &piece));
    size_t second = piece.offset;
    assert_true(cairn_recording_skip(&reader, &piece));
    assert_false(cairn_recording_skip(&reader, &piece));
    assert_int_equal(reader.end, CAIRN_RECORDING_CLEAN);
    cairn_recording_jump(&reader, second);
    assert_true(cairn_recording_next(&reader, &piece));
    assert_int_equal(piece.offset, second);
    assert_memory_equal(piece.payload, "sixteen bytes ok", 16);
    cairn_recording_jump(&reader, CAIRN_RECORDING_HEAD_SIZE);
    assert_false(cairn_recording_next(&reader, &piece));
    assert_int_equal(reader.end, CAIRN_RECORDING_DAMAGED_PAYLOAD);
}

// As version 1 wrote it: heads of 24 bytes, nothing packed.
static recording version_1_recording(void) {
    recording r = {.size = 0};
    append(&r, "CRNREC\r\n\1\0\0\0\0\0\0\0", 16);
    for (uint32_t kind = CAIRN_CHUNK_START; kind <= CAIRN_CHUNK_END; ++kind) {
        uint8_t head[24];
        cairn_writer writer = cairn_writer_of(head, sizeof head);
        cairn_write_u32(&writer, 8);
        cairn_write_u32(&writer, kind);
        cairn_write_u64(&writer, cairn_checksum("payload!", 8));
        cairn_write_u64(&writer, cairn_checksum(head, 16));
        append(&r, head, sizeof head);
        append(&r, "payload!", 8);
    }
    return r;
}

TEST("a file of version 1 can be read and its damage is detected") {
    const recording r = version_1_recording();
    const cairn_recording_reader reader = walk(r.bytes, r.size);
    assert_int_equal(reader.end, CAIRN_RECORDING_CLEAN);
    assert_int_equal(reader.version, 1);
    assert_int_equal(reader.chunk_count, 3);
    for (size_t i = 0; i < r.size * 8; ++i) {
        recording broken = r;
        broken.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        const cairn_recording_end end = walk(broken.bytes, broken.size).end;
        assert_true(end != CAIRN_RECORDING_CLEAN && end != CAIRN_RECORDING_CUT);
    }
}

TEST("a file cut at any byte is read up to its last whole chunk") {
    const recording r = whole_recording();
    for (size_t cut = 0; cut < r.size; ++cut) {
        uint32_t whole = 0;
        size_t expected_at = cut < CAIRN_RECORDING_HEAD_SIZE ? 0 : CAIRN_RECORDING_HEAD_SIZE;
        for (; whole < CHUNKS && r.chunk_end[whole] <= cut; ++whole) {
            expected_at = r.chunk_end[whole];
        }
        const cairn_recording_reader reader = walk(r.bytes, cut);
        assert_int_equal(reader.end, CAIRN_RECORDING_CUT);
        assert_int_equal(reader.chunk_count, whole);
        assert_int_equal(reader.at, expected_at);
    }
}

TEST("any changed bit is detected before its chunk is returned") {
    const recording r = whole_recording();
    for (size_t i = 0; i < r.size * 8; ++i) {
        recording broken = r;
        broken.bytes[i / 8] ^= (uint8_t)(1u << i % 8);
        const cairn_recording_reader reader = walk(broken.bytes, broken.size);
        assert_int_not_equal(reader.end, CAIRN_RECORDING_CLEAN);
        assert_int_not_equal(reader.end, CAIRN_RECORDING_CUT);
        assert_true(reader.at <= i / 8);
    }
}

// Writes the checksum of a changed head, so that the reader checks its fields.
static void seal_head(recording *r, size_t at) {
    cairn_writer writer = cairn_writer_of(r->bytes + at + 32, 8);
    cairn_write_u64(&writer, cairn_checksum(r->bytes + at, 32));
}

static void write_raw_size(uint8_t *head, size_t size) {
    for (uint32_t i = 0; i < 4; ++i) {
        head[8 + i] = (uint8_t)(size >> (8 * i));
    }
}

// Changes the head of the second chunk.
#define CHANGE_SECOND_HEAD(...)                                                                    \
    do {                                                                                           \
        uint8_t *head = r.bytes + r.chunk_end[0];                                                  \
        __VA_ARGS__;                                                                               \
        seal_head(&r, r.chunk_end[0]);                                                             \
    } while (0)

// Damages a complete recording r by the statements.
#define EXPECT_END(name, wanted, chunks, ...)                                                      \
    do {                                                                                           \
        recording r = whole_recording();                                                           \
        __VA_ARGS__;                                                                               \
        expect_end(&r, name, wanted, chunks);                                                      \
    } while (0)

static void expect_end(
    const recording *r, const char *name, cairn_recording_end wanted, uint32_t chunk_count) {
    const cairn_recording_reader reader = walk(r->bytes, r->size);
    if (reader.end != wanted || reader.chunk_count != chunk_count) {
        fail_msg("%s: %s", name, cairn_recording_end_text(reader.end));
    }
    assert_string_not_equal(cairn_recording_end_text(reader.end), "unknown end");
}

TEST("each way a file can end is distinguished") {
    EXPECT_END("break magic", CAIRN_RECORDING_FOREIGN, 0, break_byte(&r, 0));
    EXPECT_END("break version", CAIRN_RECORDING_VERSION_MISMATCH, 0, break_byte(&r, 8));
    EXPECT_END(
        "break head", CAIRN_RECORDING_DAMAGED_HEAD, 0, break_byte(&r, CAIRN_RECORDING_HEAD_SIZE));
    EXPECT_END("break payload", CAIRN_RECORDING_DAMAGED_PAYLOAD, 0,
        break_byte(&r, CAIRN_RECORDING_HEAD_SIZE + CAIRN_RECORDING_CHUNK_HEAD_SIZE));
    EXPECT_END(
        "break padding", CAIRN_RECORDING_DAMAGED_PADDING, 0, break_byte(&r, r.chunk_end[0] - 1));
    EXPECT_END("write unknown kind", CAIRN_RECORDING_CHUNK_KIND, 1,
        CHANGE_SECOND_HEAD(head[4] = CAIRN_CHUNK_KIND_COUNT));
    EXPECT_END("write second start", CAIRN_RECORDING_CHUNK_KIND, 1,
        CHANGE_SECOND_HEAD(head[4] = CAIRN_CHUNK_START));
    EXPECT_END("leave out the start", CAIRN_RECORDING_CHUNK_KIND, 0, r = start_recording();
               append_chunk(&r, CAIRN_CHUNK_TICKS, "ticks"));
    EXPECT_END("write empty chunk", CAIRN_RECORDING_CHUNK_SIZE, 1,
        CHANGE_SECOND_HEAD(memset(head, 0, 4); memset(head + 8, 0, 4)));
    EXPECT_END("write huge chunk", CAIRN_RECORDING_CHUNK_SIZE, 1,
        CHANGE_SECOND_HEAD(memset(head, 0xff, 4); memset(head + 8, 0xff, 4)));
    EXPECT_END("write unknown packing", CAIRN_RECORDING_CHUNK_PACKING, 1,
        CHANGE_SECOND_HEAD(head[6] = CAIRN_PACKING_COUNT));
    // 16 bytes that say they unpack to a gigabyte.
    EXPECT_END("write bomb", CAIRN_RECORDING_CHUNK_SIZE, 1,
        CHANGE_SECOND_HEAD(head[6] = CAIRN_PACKING_ZSTD; head[11] = 0x40));
    EXPECT_END("unpack to the most", CAIRN_RECORDING_CLEAN, 3,
        CHANGE_SECOND_HEAD(head[6] = CAIRN_PACKING_ZSTD;
                           write_raw_size(head, CAIRN_RECORDING_PAYLOAD_SIZE_MAX)));
    EXPECT_END("unpack to one more", CAIRN_RECORDING_CHUNK_SIZE, 1,
        CHANGE_SECOND_HEAD(head[6] = CAIRN_PACKING_ZSTD;
                           write_raw_size(head, CAIRN_RECORDING_PAYLOAD_SIZE_MAX + 1)));
    EXPECT_END("pack for nothing", CAIRN_RECORDING_CHUNK_SIZE, 1,
        CHANGE_SECOND_HEAD(head[6] = CAIRN_PACKING_ZSTD));
    EXPECT_END(
        "grow without packing", CAIRN_RECORDING_CHUNK_SIZE, 1, CHANGE_SECOND_HEAD(head[8] += 1));
    EXPECT_END("write after the end", CAIRN_RECORDING_TRAILING, 3, append(&r, "", 1));
    EXPECT_END("leave out the end", CAIRN_RECORDING_CUT, 2, r.size = r.chunk_end[1]);
}

TEST("the checksum is xxh3") {
    assert_int_equal(cairn_checksum(NULL, 0), UINT64_C(0x2d06800538d394c2));
}
