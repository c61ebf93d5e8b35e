// SPDX-License-Identifier: MIT
// A mixer learns which of its contexts predicts decisions, and decoders learn the same.
#include "tests/kit/test.h"

#include <stdlib.h>

#include "base/random.h"
#include "compress/bit_mixer.h"

#define DECISIONS 4000

// Codes decisions that depend on the value of one input alone; the others' values are random.
// Returns the bytes, and fails unless they come back.
static size_t code(uint32_t telling) {
    static uint8_t bytes[DECISIONS];
    cairn_bit_mixer *mixer = malloc(sizeof *mixer);
    assert_non_null(mixer);
    size_t size = 0;
    for (uint32_t pass = 0; pass < 2; ++pass) {
        cairn_random random = cairn_random_of(3);
        cairn_range_coder coder =
            pass == 0 ? cairn_range_encoder(bytes, sizeof bytes) : cairn_range_decoder(bytes, size);
        cairn_bit_mixer_init(mixer);
        for (uint32_t i = 0; i < DECISIONS; ++i) {
            uint32_t values[3];
            for (uint32_t k = 0; k < 3; ++k) {
                values[k] = (uint32_t)cairn_random_below(&random, 16);
            }
            const bool bit =
                telling < 3 ? (values[telling] & 1) != 0 : cairn_random_below(&random, 2) != 0;
            const cairn_contexts contexts = cairn_contexts_of(values[0], values[1], values[2]);
            const bool got =
                pass == 0
                    ? cairn_mix_bit(CAIRN_CODER_ENCODE, &coder, mixer, &contexts, 1, 9, bit)
                    : cairn_mix_bit(CAIRN_CODER_DECODE, &coder, mixer, &contexts, 1, 9, false);
            assert_int_equal(got, bit);
        }
        size = pass == 0 ? cairn_range_finish(&coder) : size;
    }
    free(mixer);
    return size;
}

TEST("whichever context tells a decision, the mixer believes it") {
    for (uint32_t telling = 0; telling < 3; ++telling) {
        assert_in_range(code(telling), 1, DECISIONS / 8 / 10);
    }
}

TEST("what no context tells costs hardly more than a bit") {
    assert_in_range(code(3), DECISIONS / 8 - 8, DECISIONS / 8 * 103 / 100);
}

TEST("what was learnt before a reset is forgotten, however often") {
    static cairn_bit_mixer mixer;
    cairn_bit_mixer_init(&mixer);
    const cairn_contexts contexts = cairn_contexts_of(1, 2, 3);
    size_t first = 0;
    for (uint32_t i = 0; i < 600; ++i) {
        uint8_t bytes[64];
        cairn_range_coder coder = cairn_range_encoder(bytes, sizeof bytes);
        for (uint32_t k = 0; k < 100; ++k) {
            cairn_mix_bit(CAIRN_CODER_ENCODE, &coder, &mixer, &contexts, 0, 5, k % 3 == 0);
        }
        const size_t size = cairn_range_finish(&coder);
        first = i == 0 ? size : first;
        assert_int_equal(size, first);
        cairn_bit_mixer_reset(&mixer);
    }
}

TEST("what is squashed is stretched back, and both grow") {
    static cairn_bit_mixer mixer;
    cairn_bit_mixer_init(&mixer);
    for (int32_t x = -CAIRN_MIXER_STRETCH_MAX; x < CAIRN_MIXER_STRETCH_MAX; ++x) {
        assert_true(mixer.squashed[x + 2048] <= mixer.squashed[x + 2049]);
    }
    for (uint32_t i = 0; i + 1 < 4096; ++i) {
        assert_true(mixer.stretched[i] <= mixer.stretched[i + 1]);
        const uint32_t back = mixer.squashed[mixer.stretched[i] + 2048];
        assert_in_range(back, i << 4, (i << 4) + 64);
    }
}
