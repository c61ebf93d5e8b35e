// SPDX-License-Identifier: MIT
// Packed bytes are unpacked unchanged; bytes that are not a frame, or are one of another size, are
// refused with the reason.
#include "tests/kit/test.h"

#include "recording/pack.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { SIZE = 4096 };

static cairn_packer *packer;
static cairn_unpacker *unpacker;

BEFORE_ALL {
    assert_int_equal(cairn_packer_create(&packer), CAIRN_OK);
    assert_int_equal(cairn_unpacker_create(&unpacker), CAIRN_OK);
}

AFTER_ALL {
    cairn_packer_destroy(packer);
    cairn_unpacker_destroy(unpacker);
}

// An exact allocation, so that a sanitizer sees a write past its end.
static cairn_unpack_refusal unpack(const uint8_t *packed, size_t size, size_t raw_size) {
    uint8_t *out = malloc(raw_size > 0 ? raw_size : 1);
    assert_non_null(out);
    cairn_unpack_refusal refusal = cairn_unpack(unpacker, packed, size, out, raw_size);
    free(out);
    return refusal;
}

static size_t pack_zeros(uint8_t out[SIZE]) {
    static const uint8_t zeros[SIZE];
    return cairn_pack(packer, zeros, SIZE, out, SIZE);
}

TEST("packed bytes come back") {
    uint8_t raw[SIZE], packed[SIZE], back[SIZE];
    for (size_t i = 0; i < SIZE; ++i) {
        raw[i] = (uint8_t)(i / 48 % 7);
    }
    size_t size = cairn_pack(packer, raw, SIZE, packed, SIZE);
    assert_in_range(size, 1, SIZE - 1);
    assert_int_equal(cairn_unpack(unpacker, packed, size, back, SIZE), CAIRN_UNPACK_OK);
    assert_memory_equal(back, raw, SIZE);
}

TEST("data that does not compress is stored as it is") {
    uint8_t raw[SIZE], packed[SIZE];
    cairn_random random = cairn_random_of(5);
    cairn_random_fill(&random, raw, SIZE);
    assert_int_equal(cairn_pack(packer, raw, SIZE, packed, SIZE - 1), 0);
}

TEST("a size that differs from the header is refused") {
    uint8_t packed[SIZE];
    size_t size = pack_zeros(packed);
    assert_int_equal(unpack(packed, size, SIZE), CAIRN_UNPACK_OK);
    assert_int_equal(unpack(packed, size, SIZE - 1), CAIRN_UNPACK_WRONG_SIZE);
    assert_int_equal(unpack(packed, size, SIZE + 1), CAIRN_UNPACK_WRONG_SIZE);
    assert_int_equal(unpack(packed, size, 0), CAIRN_UNPACK_WRONG_SIZE);
}

// A frame whose head is changed to say that it holds 16 bytes, while its blocks hold 4096.
TEST("a frame with a false size writes nothing past its buffer") {
    uint8_t packed[SIZE];
    size_t size = pack_zeros(packed);
    // RFC 8878, 3.1.1.1: magic, descriptor with a two-byte size (less 256) and no window.
    assert_int_equal(packed[4] & 0xe0, 0x60);
    packed[5] = 0;
    packed[6] = 0;
    assert_int_equal(unpack(packed, size, 256), CAIRN_UNPACK_DAMAGED);
    assert_int_equal(unpack(packed, size, SIZE), CAIRN_UNPACK_WRONG_SIZE);
}

TEST("only exactly one frame is accepted") {
    uint8_t packed[2 * SIZE];
    size_t size = pack_zeros(packed);
    for (size_t cut = 0; cut < size; ++cut) {
        assert_int_equal(unpack(packed, cut, SIZE), CAIRN_UNPACK_NO_FRAME);
    }
    memcpy(packed + size, packed, size);
    assert_int_equal(unpack(packed, 2 * size, SIZE), CAIRN_UNPACK_NO_FRAME);
    assert_int_equal(unpack(packed, 2 * size, 2 * SIZE), CAIRN_UNPACK_NO_FRAME);
    packed[size] = 0;
    assert_int_equal(unpack(packed, size + 1, SIZE), CAIRN_UNPACK_NO_FRAME);
    packed[0] ^= 1;
    assert_int_equal(unpack(packed, size, SIZE), CAIRN_UNPACK_NO_FRAME);
}

TEST("every refusal has a text") {
    for (int i = 0; i < CAIRN_UNPACK_REFUSAL_COUNT; ++i) {
        assert_true(strlen(cairn_unpack_refusal_text((cairn_unpack_refusal)i)) > 0);
    }
    assert_string_equal(cairn_unpack_refusal_text(CAIRN_UNPACK_REFUSAL_COUNT), "unknown refusal");
}
