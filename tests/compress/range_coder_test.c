// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "compress/range_coder.h"

enum { DECISIONS = 20000 };

typedef struct script {
    cairn_probability likely[DECISIONS];
    bool bits[DECISIONS];
    double cost_bytes; // by the entropy of the probabilities
} script;

// Decisions that are as likely as the coder is told, from nearly never to nearly always.
static void draw(script *s, uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    s->cost_bytes = 0.0;
    for (uint32_t i = 0; i < DECISIONS; ++i) {
        s->likely[i] = (cairn_probability)(1 + cairn_random_below(&random, 65535));
        s->bits[i] = cairn_random_below(&random, 65536) < s->likely[i];
        const double share = s->likely[i] / 65536.0;
        s->cost_bytes -= log2(s->bits[i] ? share : 1.0 - share) / 8.0;
    }
}

static size_t encode(const script *s, uint32_t count, uint8_t *bytes, size_t size) {
    cairn_range_coder encoder = cairn_range_encoder(bytes, size);
    for (uint32_t i = 0; i < count; ++i) {
        cairn_code_bit(&encoder, &s->likely[i], s->bits[i]);
    }
    return cairn_range_finish(&encoder);
}

TEST("what is coded comes back, for its entropy and at most four bytes more") {
    static script s;
    static uint8_t bytes[DECISIONS];
    for (uint64_t seed = 1; seed <= 5; ++seed) {
        draw(&s, seed);
        const size_t size = encode(&s, DECISIONS, bytes, sizeof bytes);
        assert_true((double)size < s.cost_bytes * 1.0005 + 4.0);
        cairn_range_coder decoder = cairn_range_decoder(bytes, size);
        for (uint32_t i = 0; i < DECISIONS; ++i) {
            assert_int_equal(cairn_code_bit(&decoder, &s.likely[i], false), s.bits[i]);
        }
    }
}

TEST("raw numbers of every width come back") {
    uint8_t bytes[256];
    cairn_range_coder encoder = cairn_range_encoder(bytes, sizeof bytes);
    for (uint32_t bits = 0; bits <= 32; ++bits) {
        const uint32_t value = (uint32_t)(0xdeadbeefu & ((UINT64_C(1) << bits) - 1));
        cairn_code_raw(&encoder, bits, value);
    }
    const size_t size = cairn_range_finish(&encoder);
    cairn_range_coder decoder = cairn_range_decoder(bytes, size);
    for (uint32_t bits = 0; bits <= 32; ++bits) {
        const uint32_t value = (uint32_t)(0xdeadbeefu & ((UINT64_C(1) << bits) - 1));
        assert_int_equal(cairn_code_raw(&decoder, bits, 0), value);
    }
}

// The last bytes may be zeros: none is left out.
TEST("a tail comes back after any decisions, and costs at most three bytes more than itself") {
    static script s;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        cairn_random random = cairn_random_of(seed);
        uint8_t tail[64], bytes[256], again[256], found[64];
        const uint32_t count = (uint32_t)(seed % 60);
        const size_t tail_size = 1 + (size_t)cairn_random_below(&random, sizeof tail);
        draw(&s, seed);
        cairn_random_fill(&random, tail, tail_size);
        tail[0] = seed % 3 == 0 ? 0 : tail[0];
        const size_t without = encode(&s, count, bytes, sizeof bytes);
        cairn_range_coder encoder = cairn_range_encoder(bytes, sizeof bytes);
        cairn_range_coder narrow = cairn_range_encoder(again, 0);
        for (uint32_t i = 0; i < count; ++i) {
            cairn_code_bit(&encoder, &s.likely[i], s.bits[i]);
            cairn_code_bit(&narrow, &s.likely[i], s.bits[i]);
        }
        encoder.tail = narrow.tail = tail;
        encoder.tail_size = narrow.tail_size = tail_size;
        const size_t size = cairn_range_finish(&encoder);
        assert_in_range(size, tail_size, without + tail_size + 3);
        cairn_range_coder decoder = cairn_range_decoder(bytes, size);
        for (uint32_t i = 0; i < count; ++i) {
            assert_int_equal(cairn_code_bit(&decoder, &s.likely[i], false), s.bits[i]);
        }
        assert_int_equal(cairn_range_tail(&decoder, found, tail_size), tail_size);
        assert_memory_equal(found, tail, tail_size);
        narrow.bytes = again;
        narrow.size = size - 1;
        assert_true(cairn_range_finish(&narrow) == SIZE_MAX);
    }
}

TEST("decisions that were sure take no bytes") {
    const cairn_probability sure = 65535;
    uint8_t bytes[16];
    cairn_range_coder encoder = cairn_range_encoder(bytes, sizeof bytes);
    cairn_code_bit(&encoder, &sure, true);
    assert_int_equal(cairn_range_finish(&encoder), 0);
}

TEST("a buffer of just the size is enough, one byte less is not") {
    static script s;
    draw(&s, 8);
    for (uint32_t count = 1; count < 100; ++count) {
        uint8_t bytes[256], again[256];
        const size_t size = encode(&s, count, bytes, sizeof bytes);
        assert_int_equal(encode(&s, count, again, size), size);
        assert_memory_equal(bytes, again, size);
        assert_true(size == 0 || encode(&s, count, again, size - 1) == SIZE_MAX);
    }
}

TEST("a buffer that is too small is reported, and nothing is written after its end") {
    static script s;
    draw(&s, 9);
    uint8_t bytes[64];
    memset(bytes, 0xab, sizeof bytes);
    assert_true(encode(&s, DECISIONS, bytes, 32) == SIZE_MAX);
    for (uint32_t i = 32; i < sizeof bytes; ++i) {
        assert_int_equal(bytes[i], 0xab);
    }
}
