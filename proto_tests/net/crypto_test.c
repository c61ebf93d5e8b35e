// SPDX-License-Identifier: MIT
// The bytes of payloads are those of libsodium's own AEAD, which is not used for them.
#include "tests/kit/test.h"

#include <string.h>

#include "base/limits.h"
#include "base/random.h"
#include "net/crypto.h"

int crypto_aead_chacha20poly1305_ietf_encrypt(unsigned char *out, unsigned long long *out_size,
    const unsigned char *text, unsigned long long size, const unsigned char *associated,
    unsigned long long associated_size, const unsigned char *unused, const unsigned char *nonce,
    const unsigned char *key);

// The sequence that `nonce` stands for.
static uint64_t sequence_of(uint32_t number, uint8_t nonce[12]) {
    const uint64_t sequence = (uint64_t)number * UINT64_C(0x123456789);
    memset(nonce, 0, 12);
    for (uint32_t i = 0; i < 8; ++i) {
        nonce[4 + i] = (uint8_t)(sequence >> 8 * i);
    }
    return sequence;
}

static void expect_same(size_t size, size_t associated_size, uint32_t number) {
    static uint8_t text[4096], expected[4096], bytes[4096], back[4096];
    uint8_t nonce[12], key[CAIRN_AEAD_KEY_SIZE], associated[64];
    cairn_random random = cairn_random_of(number);
    cairn_random_fill(&random, text, size);
    cairn_random_fill(&random, key, sizeof key);
    cairn_random_fill(&random, associated, sizeof associated);
    const uint64_t sequence = sequence_of(number, nonce);
    const cairn_associated_data data = {associated_size > 0 ? associated : NULL, associated_size};
    assert_int_equal(crypto_aead_chacha20poly1305_ietf_encrypt(
                         expected, NULL, text, size, associated, associated_size, NULL, nonce, key),
        0);
    memcpy(bytes, text, size);
    bytes[size + CAIRN_AEAD_MAC_SIZE] = 77;
    cairn_aead_encrypt(bytes, size, data, sequence, key);
    assert_memory_equal(bytes, expected, size + CAIRN_AEAD_MAC_SIZE);
    assert_int_equal(bytes[size + CAIRN_AEAD_MAC_SIZE], 77);
    assert_true(cairn_aead_decrypt(bytes, size + CAIRN_AEAD_MAC_SIZE, data, sequence, key, back));
    assert_memory_equal(back, text, size);
    assert_false(
        cairn_aead_decrypt(bytes, size + CAIRN_AEAD_MAC_SIZE, data, sequence + 1, key, back));
    assert_true( // in place
        cairn_aead_decrypt(bytes, size + CAIRN_AEAD_MAC_SIZE, data, sequence, key, bytes));
    assert_memory_equal(bytes, text, size);
}

TEST("texts of every length are encrypted as libsodium does it") {
    static const size_t associated[] = {0, 1, 15, 16, 17, 22, 31, 32, 33, 64};
    assert_true(cairn_crypto_start());
    for (uint32_t i = 0; i < sizeof associated / sizeof associated[0]; ++i) {
        for (uint32_t size = 0; size <= CAIRN_PAYLOAD_SIZE_MAX + 40; size += size < 300 ? 1 : 7) {
            expect_same(size, associated[i], size);
        }
        expect_same(CAIRN_PAYLOAD_SIZE_MAX, associated[i], 1);
        expect_same(CAIRN_PAYLOAD_SIZE_MAX + 1, associated[i], 2);
    }
}

TEST("a changed bit anywhere is refused, and nothing is given out") {
    enum { SIZE = 70 };
    uint8_t bytes[SIZE + CAIRN_AEAD_MAC_SIZE] = {1, 2, 3}, out[SIZE] = {0}, zeros[SIZE] = {0};
    uint8_t associated[22] = {4}, key[CAIRN_AEAD_KEY_SIZE] = {5};
    const cairn_associated_data data = {associated, sizeof associated};
    assert_true(cairn_crypto_start());
    cairn_aead_encrypt(bytes, SIZE, data, 9, key);
    for (uint32_t bit = 0; bit < 8 * sizeof bytes; ++bit) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(cairn_aead_decrypt(bytes, sizeof bytes, data, 9, key, out));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (uint32_t bit = 0; bit < 8 * sizeof associated; ++bit) {
        associated[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_false(cairn_aead_decrypt(bytes, sizeof bytes, data, 9, key, out));
        associated[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t size = 0; size < sizeof bytes; ++size) {
        assert_false(cairn_aead_decrypt(bytes, size, data, 9, key, out));
    }
    assert_memory_equal(out, zeros, SIZE);
    assert_true(cairn_aead_decrypt(bytes, sizeof bytes, data, 9, key, out));
}
