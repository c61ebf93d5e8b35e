// SPDX-License-Identifier: MIT
#include "net/crypto.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/sign.h"

_Static_assert(
    CAIRN_AEAD_KEY_SIZE == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "one key size for all");
_Static_assert(
    CAIRN_AEAD_KEY_SIZE == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "one key size for all");
_Static_assert(CAIRN_AEAD_MAC_SIZE == crypto_aead_chacha20poly1305_ietf_ABYTES, "Poly1305");
_Static_assert(CAIRN_AEAD_NONCE_SIZE == crypto_aead_xchacha20poly1305_ietf_NPUBBYTES, "XChaCha20");
_Static_assert(CAIRN_SIPHASH_KEY_SIZE == crypto_shorthash_KEYBYTES, "SipHash");
_Static_assert(CAIRN_AEAD_KEY_SIZE == crypto_kdf_KEYBYTES, "a root is a key");

_Static_assert(CAIRN_SIGN_SEED_SIZE == crypto_sign_SEEDBYTES, "Ed25519");
_Static_assert(CAIRN_SIGN_PUBLIC_SIZE == crypto_sign_PUBLICKEYBYTES, "Ed25519");
_Static_assert(CAIRN_SIGNATURE_SIZE == crypto_sign_BYTES, "Ed25519");
_Static_assert(CAIRN_DIGEST_SIZE == crypto_generichash_BYTES, "BLAKE2b-256");

#define NARROW_NONCE_SIZE 12
_Static_assert(NARROW_NONCE_SIZE == crypto_aead_chacha20poly1305_ietf_NPUBBYTES, "RFC 8439");

bool cairn_crypto_start(void) {
    return sodium_init() >= 0;
}

static void write_nonce(uint64_t sequence, uint8_t nonce[NARROW_NONCE_SIZE]) {
    cairn_writer writer = cairn_writer_of(nonce, NARROW_NONCE_SIZE);
    cairn_write_u32(&writer, 0);
    cairn_write_u64(&writer, sequence);
    CAIRN_ASSERT(writer.ok && writer.at == NARROW_NONCE_SIZE);
}

// ChaCha20-Poly1305 as RFC 8439, 2.8, composes it, of libsodium's cipher and authenticator. Its own
// function asks for the key stream twice, and for a rest of a group block by block. Here whole
// groups are asked for once, from the block that is the authenticator's key, so a message of 80
// bytes takes half the time. A test compares both for every size.
#define BLOCK_SIZE 64
#if defined(__x86_64__)
#define GROUP_SIZE (4 * BLOCK_SIZE) // that libsodium computes at once
#else
#define GROUP_SIZE BLOCK_SIZE
#endif
#define TEXT_SIZE_MAX (6 * 256 - BLOCK_SIZE)
// Of this much it is cheaper to see that a text was forged before it is decrypted.
#define TEXT_SIZE_READ_MAX (256 - BLOCK_SIZE)
#define ASSOCIATED_SIZE 32 // with zeros after it; beside it in a block is the authenticator's key
#define AUTHENTICATOR_BLOCK 16
#define LENGTHS_SIZE 16
_Static_assert(2 * ASSOCIATED_SIZE == BLOCK_SIZE, "key and associated data share a block");
_Static_assert(crypto_onetimeauth_KEYBYTES == BLOCK_SIZE - ASSOCIATED_SIZE, "Poly1305");
_Static_assert(crypto_onetimeauth_BYTES == CAIRN_AEAD_MAC_SIZE, "Poly1305");

// The key stream's first block and a text after it, of which `size` bytes are meant.
static void apply_stream(uint8_t *bytes, size_t size, uint64_t sequence, const uint8_t *key) {
    uint8_t nonce[NARROW_NONCE_SIZE];
    const size_t whole = (BLOCK_SIZE + size + GROUP_SIZE - 1) / GROUP_SIZE * GROUP_SIZE;
    write_nonce(sequence, nonce);
    memset(bytes, 0, BLOCK_SIZE);
    memset(bytes + BLOCK_SIZE + size, 0, whole - BLOCK_SIZE - size);
    const int failed = crypto_stream_chacha20_ietf_xor_ic(bytes, bytes, whole, nonce, 0, key);
    CAIRN_ASSERT(failed == 0);
}

// Of the text that begins ASSOCIATED_SIZE bytes after `at`; there is room before and after it.
static void authenticate(uint8_t *at, size_t size, cairn_associated_data associated,
    const uint8_t *key, uint8_t mac[CAIRN_AEAD_MAC_SIZE]) {
    const size_t rest = size % AUTHENTICATOR_BLOCK;
    const size_t zeros = rest == 0 ? 0 : AUTHENTICATOR_BLOCK - rest;
    uint8_t *end = at + ASSOCIATED_SIZE + size;
    cairn_writer lengths = cairn_writer_of(end + zeros, LENGTHS_SIZE);
    memset(at, 0, ASSOCIATED_SIZE);
    memcpy(at, associated.bytes, associated.size);
    memset(end, 0, zeros);
    cairn_write_u64(&lengths, associated.size);
    cairn_write_u64(&lengths, size);
    const int failed =
        crypto_onetimeauth(mac, at, ASSOCIATED_SIZE + size + zeros + LENGTHS_SIZE, key);
    CAIRN_ASSERT(lengths.ok && failed == 0);
}

// Associated data are padded to whole blocks of the authenticator, which these two are.
static bool is_composed(size_t size, size_t size_max, cairn_associated_data associated) {
    return size <= size_max && associated.size <= ASSOCIATED_SIZE &&
           associated.size > ASSOCIATED_SIZE - AUTHENTICATOR_BLOCK;
}

void cairn_aead_encrypt(uint8_t *bytes, size_t size, cairn_associated_data associated,
    uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE]) {
    CAIRN_ASSERT(bytes != NULL && key != NULL);
    if (is_composed(size, TEXT_SIZE_MAX, associated)) {
        uint8_t own[BLOCK_SIZE + TEXT_SIZE_MAX + LENGTHS_SIZE];
        memcpy(own + BLOCK_SIZE, bytes, size);
        apply_stream(own, size, sequence, key);
        memcpy(bytes, own + BLOCK_SIZE, size);
        authenticate(own + ASSOCIATED_SIZE, size, associated, own, bytes + size);
        cairn_wipe(own, BLOCK_SIZE);
        return;
    }
    uint8_t nonce[NARROW_NONCE_SIZE];
    write_nonce(sequence, nonce);
    const int failed = crypto_aead_chacha20poly1305_ietf_encrypt(
        bytes, NULL, bytes, size, associated.bytes, associated.size, NULL, nonce, key);
    CAIRN_ASSERT(failed == 0);
}

static bool decrypt_short(const uint8_t *encrypted, size_t size, cairn_associated_data associated,
    uint64_t sequence, const uint8_t *key, uint8_t *text) {
    uint8_t own[BLOCK_SIZE + TEXT_SIZE_READ_MAX];
    uint8_t read[ASSOCIATED_SIZE + TEXT_SIZE_READ_MAX + LENGTHS_SIZE];
    uint8_t mac[CAIRN_AEAD_MAC_SIZE];
    memcpy(own + BLOCK_SIZE, encrypted, size);
    apply_stream(own, size, sequence, key);
    memcpy(read + ASSOCIATED_SIZE, encrypted, size);
    authenticate(read, size, associated, own, mac);
    const bool genuine = crypto_verify_16(mac, encrypted + size) == 0;
    if (genuine) {
        memcpy(text, own + BLOCK_SIZE, size);
    }
    cairn_wipe(own, BLOCK_SIZE + size);
    return genuine;
}

bool cairn_aead_decrypt(const uint8_t *encrypted, size_t encrypted_size,
    cairn_associated_data associated, uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    uint8_t *text) {
    CAIRN_ASSERT(encrypted != NULL && key != NULL && text != NULL);
    if (encrypted_size >= CAIRN_AEAD_MAC_SIZE &&
        is_composed(encrypted_size - CAIRN_AEAD_MAC_SIZE, TEXT_SIZE_READ_MAX, associated)) {
        return decrypt_short(
            encrypted, encrypted_size - CAIRN_AEAD_MAC_SIZE, associated, sequence, key, text);
    }
    uint8_t nonce[NARROW_NONCE_SIZE];
    write_nonce(sequence, nonce);
    return crypto_aead_chacha20poly1305_ietf_decrypt(text, NULL, NULL, encrypted, encrypted_size,
               associated.bytes, associated.size, nonce, key) == 0;
}

void cairn_aead_encrypt_wide(uint8_t *bytes, size_t size, cairn_associated_data associated,
    const uint8_t nonce[CAIRN_AEAD_NONCE_SIZE], const uint8_t key[CAIRN_AEAD_KEY_SIZE]) {
    CAIRN_ASSERT(bytes != NULL && nonce != NULL && key != NULL);
    const int failed = crypto_aead_xchacha20poly1305_ietf_encrypt(
        bytes, NULL, bytes, size, associated.bytes, associated.size, NULL, nonce, key);
    CAIRN_ASSERT(failed == 0);
}

bool cairn_aead_decrypt_wide(const uint8_t *encrypted, size_t encrypted_size,
    cairn_associated_data associated, const uint8_t nonce[CAIRN_AEAD_NONCE_SIZE],
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *text) {
    CAIRN_ASSERT(encrypted != NULL && nonce != NULL && key != NULL);
    return crypto_aead_xchacha20poly1305_ietf_decrypt(text, NULL, NULL, encrypted, encrypted_size,
               associated.bytes, associated.size, nonce, key) == 0;
}

uint64_t cairn_siphash(
    const uint8_t *bytes, size_t size, const uint8_t key[CAIRN_SIPHASH_KEY_SIZE]) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    uint8_t hash[crypto_shorthash_BYTES];
    crypto_shorthash(hash, bytes, size, key);
    cairn_reader reader = cairn_reader_of(hash, sizeof hash);
    return cairn_read_u64(&reader);
}

void cairn_key_derive(
    const uint8_t root[CAIRN_AEAD_KEY_SIZE], uint64_t number, uint8_t *out, size_t size) {
    CAIRN_ASSERT(size >= crypto_kdf_BYTES_MIN && size <= crypto_kdf_BYTES_MAX);
    const int failed = crypto_kdf_derive_from_key(out, size, number, "cairnnet", root);
    CAIRN_ASSERT(failed == 0);
}

void cairn_memory_lock(void *bytes, size_t size) {
    (void)sodium_mlock(bytes, size);
}

void cairn_memory_unlock(void *bytes, size_t size) {
    (void)sodium_munlock(bytes, size);
}

void cairn_wipe(void *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    sodium_memzero(bytes, size);
}

char *cairn_hex_print(const uint8_t *bytes, size_t size, char *out) {
    CAIRN_ASSERT(out != NULL && (bytes != NULL || size == 0));
    return sodium_bin2hex(out, 2 * size + 1, bytes, size);
}

bool cairn_hex_read(const char *digits, size_t digit_count, uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(digits != NULL && bytes != NULL);
    size_t read = 0;
    return digit_count == 2 * size &&
           sodium_hex2bin(bytes, size, digits, digit_count, NULL, &read, NULL) == 0 && read == size;
}

void cairn_digest(const uint8_t *head, size_t head_size, const uint8_t *body, size_t body_size,
    uint8_t out[CAIRN_DIGEST_SIZE]) {
    CAIRN_ASSERT((head != NULL || head_size == 0) && (body != NULL || body_size == 0));
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, CAIRN_DIGEST_SIZE);
    crypto_generichash_update(&state, head, head_size);
    crypto_generichash_update(&state, body, body_size);
    crypto_generichash_final(&state, out, CAIRN_DIGEST_SIZE);
}

void cairn_sign_public(
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE], uint8_t out[CAIRN_SIGN_PUBLIC_SIZE]) {
    uint8_t secret[crypto_sign_SECRETKEYBYTES];
    crypto_sign_seed_keypair(out, secret, seed);
    sodium_memzero(secret, sizeof secret);
}

void cairn_sign(const uint8_t seed[CAIRN_SIGN_SEED_SIZE], const uint8_t *bytes, size_t size,
    uint8_t out[CAIRN_SIGNATURE_SIZE]) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    uint8_t secret[crypto_sign_SECRETKEYBYTES];
    uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE];
    crypto_sign_seed_keypair(public_key, secret, seed);
    crypto_sign_detached(out, NULL, bytes, size, secret);
    sodium_memzero(secret, sizeof secret);
}

bool cairn_sign_check(const uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE], const uint8_t *bytes,
    size_t size, const uint8_t signature[CAIRN_SIGNATURE_SIZE]) {
    return crypto_sign_verify_detached(signature, bytes, size, public_key) == 0;
}
