// SPDX-License-Identifier: MIT
// Values that every target must reproduce, for any word size and byte order. They were computed
// from the definitions with integer arithmetic, not by running this code.

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/random.h"

static int failures;

static void check(bool equal, const char *what, size_t row) {
    if (!equal) {
        fprintf(stderr, "%s: row %zu differs\n", what, row);
        failures += 1;
    }
}

// The low halves of SplitMix64 from seed 7.
static void fill_words(uint32_t *words, size_t count) {
    cairn_random random = cairn_random_of(7);
    for (size_t i = 0; i < count; ++i) {
        words[i] = (uint32_t)cairn_random_next(&random);
    }
}

static void check_hash_words(void) {
    static const struct {
        uint64_t key;
        size_t count;
        const char *hash;
    } rows[] = {{0, 0, "0de08437f249f0537ebb08178e3ddb42"},
        {0, 1, "e29d9be441027b58880acb3e8d6d817f"}, {1, 1, "95062096fe4411d5a9f7122ad76804e5"},
        {3, 2, "f24c8fe780e47d9788e9eadb43b718da"}, {0, 3, "0947a034ccd8d232974a5dfb202d9abe"},
        {0, 4, "04457ee74d585c183c8643616c3755b0"}, {0, 5, "f2daac83e2e1c1ea203aee1fb4f8efc7"},
        {UINT64_MAX, 17, "f41eddc9ab13f4ca73372cc7952dc949"},
        {5, 30, "2e620481d8a8aecddb0666edc72d8523"}, {6, 60, "908665cd5b4ec9d10d5e2c99a8ebae48"},
        {42, 64, "95038478b1aea708041d5ef4eab4199d"}};
    uint32_t words[64];
    fill_words(words, 64);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char text[CAIRN_HASH_TEXT_SIZE];
        cairn_hash_print(cairn_hash_words(rows[i].key, words, rows[i].count), text);
        check(strcmp(text, rows[i].hash) == 0, "hash of words", i);
    }
}

static void check_hash_list(void) {
    uint32_t words[3];
    cairn_hash128 leaves[3];
    char text[CAIRN_HASH_TEXT_SIZE];
    fill_words(words, 3);
    for (size_t i = 0; i < 3; ++i) {
        leaves[i] = cairn_hash_words(i, words, i + 1);
    }
    cairn_hash_print(cairn_hash_list(9, leaves, 3), text);
    check(strcmp(text, "34b4df5076a7ba0059bf5ad454092c89") == 0, "hash of a list", 0);
}

// The first values are those that published SplitMix64 implementations agree on for this seed.
static void check_sequence(void) {
    static const uint64_t values[] = {UINT64_C(0x599ed017fb08fc85), UINT64_C(0x2c73f08458540fa5),
        UINT64_C(0x883ebce5a3f27c77), UINT64_C(0x3fbef740e9177b3f), UINT64_C(0xe3b8346708cb5ecd)};
    cairn_random random = cairn_random_of(1234567);
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        check(cairn_random_next(&random) == values[i], "sequence", i);
    }
}

static void check_counter_based(void) {
    static const struct {
        uint64_t at[4];
        uint64_t value;
    } rows[] = {{{0, 0, 0, 0}, UINT64_C(0x2130748aaac80268)},
        {{1, 0, 0, 0}, UINT64_C(0xe28195ddd9ee4956)}, {{0, 1, 0, 0}, UINT64_C(0xd100827aa323c935)},
        {{0, 0, 1, 0}, UINT64_C(0x62a4ed4055d278db)}, {{0, 0, 0, 1}, UINT64_C(0x698dfba9f1fc1b53)},
        {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}, UINT64_C(0xa4a73720451a0c00)}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint64_t *at = rows[i].at;
        check(cairn_random_at(at[0], at[1], at[2], at[3]) == rows[i].value, "counter based", i);
    }
}

static void check_bytes(void) {
    static const uint8_t expected[] = {0x01, 0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x0f, 0x0e, 0x0d,
        0x0c, 0x0b, 0x0a, 0x09, 0x08, 0xfe, 0xff, 0xff, 0xff, 0x00, 0x00, 0xc0, 0xbf};
    uint8_t bytes[sizeof expected];
    cairn_writer writer = cairn_writer_of(bytes, sizeof bytes);
    cairn_write_u8(&writer, 0x01);
    cairn_write_u16(&writer, 0x0203);
    cairn_write_u32(&writer, 0x04050607);
    cairn_write_u64(&writer, UINT64_C(0x08090a0b0c0d0e0f));
    cairn_write_i32(&writer, -2);
    cairn_write_f32(&writer, -1.5f);
    check(writer.ok && writer.at == sizeof expected, "bytes written", 0);
    check(memcmp(bytes, expected, sizeof expected) == 0, "bytes", 0);
}

int main(void) {
    check_hash_words();
    check_hash_list();
    check_sequence();
    check_counter_based();
    check_bytes();
    printf("base vectors: %s\n", failures == 0 ? "all equal" : "DIFFERENT");
    return failures == 0 ? 0 : 1;
}
