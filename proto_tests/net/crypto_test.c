// SPDX-License-Identifier: MIT
// Encryption of packets: every size gives what libsodium's own function of the same construction
// gives, and nothing that was changed is taken.
#include "tests/kit/test.h"

#include <string.h>

#include "base/bytes.h"
#include "net/crypto.h"

#define SIZE_MAX_TRIED 1480

static const uint8_t key[CAIRN_AEAD_KEY_SIZE] = {1, 2, 3, 250, 251, 252};
static const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE] = {9};

typedef struct trial {
    uint8_t text[SIZE_MAX_TRIED];
    uint8_t associated[48];
    uint64_t sequence;
} trial;

static trial trial_of(size_t size) {
    trial t;
    for (size_t i = 0; i < sizeof t.text; ++i) {
        t.text[i] = (uint8_t)(7 * i + size);
    }
    for (size_t i = 0; i < sizeof t.associated; ++i) {
        t.associated[i] = (uint8_t)(3 * i + size);
    }
    t.sequence = (uint64_t)size * UINT64_C(0x100000001);
    return t;
}

// Encrypts each size with so much associated data and decrypts it. Returns a hash of all that was
// written, one into the next.
static uint64_t hash_all(size_t associated_size, size_t size_max) {
    uint8_t hashed[8 + SIZE_MAX_TRIED + CAIRN_AEAD_MAC_SIZE];
    uint8_t *bytes = hashed + 8;
    uint8_t back[SIZE_MAX_TRIED];
    uint64_t hash = 0;
    for (size_t size = 0; size <= size_max; ++size) {
        const trial t = trial_of(size);
        const cairn_associated_data associated = {t.associated, associated_size};
        cairn_writer before = cairn_writer_of(hashed, 8);
        cairn_write_u64(&before, hash);
        memcpy(bytes, t.text, size);
        cairn_aead_encrypt(bytes, size, associated, t.sequence, key);
        assert_true(cairn_aead_decrypt(
            bytes, size + CAIRN_AEAD_MAC_SIZE, associated, t.sequence, key, back));
        assert_memory_equal(back, t.text, size);
        hash = cairn_siphash(hashed, 8 + size + CAIRN_AEAD_MAC_SIZE, hash_key);
    }
    return hash;
}

TEST("all sizes give what crypto_aead_chacha20poly1305_ietf_encrypt of libsodium 1.0.18 gives") {
    assert_true(cairn_crypto_start());
    assert_true(
        hash_all(22, SIZE_MAX_TRIED) == UINT64_C(0xeccee8b5f4ee86b8)); // a packet's associated data
    assert_true(hash_all(17, 200) == UINT64_C(0x849685a2930ecf20));
    assert_true(hash_all(32, 200) == UINT64_C(0x6826bd511a9a7e3b));
    assert_true(hash_all(16, 200) == UINT64_C(0x34a7ac9a3281ac16));
    assert_true(hash_all(35, 200) == UINT64_C(0x9c31486085e93786)); // a challenge's
    assert_true(hash_all(0, 200) == UINT64_C(0x5341f214b1ee9320));
}

TEST("a text is decrypted where it lies") {
    for (size_t size = 1; size < SIZE_MAX_TRIED; size += 61) {
        const trial t = trial_of(size);
        const cairn_associated_data associated = {t.associated, 22};
        uint8_t bytes[SIZE_MAX_TRIED + CAIRN_AEAD_MAC_SIZE];
        memcpy(bytes, t.text, size);
        cairn_aead_encrypt(bytes, size, associated, t.sequence, key);
        assert_true(cairn_aead_decrypt(
            bytes, size + CAIRN_AEAD_MAC_SIZE, associated, t.sequence, key, bytes));
        assert_memory_equal(bytes, t.text, size);
    }
}

static bool is_taken(const uint8_t *bytes, size_t size, const trial *t, uint64_t sequence) {
    uint8_t text[SIZE_MAX_TRIED];
    return cairn_aead_decrypt(
        bytes, size, (cairn_associated_data){t->associated, 22}, sequence, key, text);
}

TEST("a bit that changed, a byte that is missing and another sequence are refused") {
    static const size_t sizes[] = {0, 1, 15, 16, 17, 63, 64, 65, 128, 191, 192, 193, 600};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        const size_t size = sizes[i];
        trial t = trial_of(size);
        uint8_t bytes[SIZE_MAX_TRIED + CAIRN_AEAD_MAC_SIZE];
        const size_t whole = size + CAIRN_AEAD_MAC_SIZE;
        memcpy(bytes, t.text, size);
        cairn_aead_encrypt(bytes, size, (cairn_associated_data){t.associated, 22}, t.sequence, key);
        for (size_t bit = 0; bit < 8 * whole; ++bit) {
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_false(is_taken(bytes, whole, &t, t.sequence));
            bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        for (size_t bit = 0; bit < 8 * (size_t)22; ++bit) {
            t.associated[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_false(is_taken(bytes, whole, &t, t.sequence));
            t.associated[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        for (size_t shorter = 0; shorter < whole; ++shorter) {
            assert_false(is_taken(bytes, shorter, &t, t.sequence));
        }
        assert_false(is_taken(bytes, whole, &t, t.sequence + 1));
        assert_true(is_taken(bytes, whole, &t, t.sequence));
    }
}
