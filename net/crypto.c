// SPDX-License-Identifier: MIT
#include "net/crypto.h"

#include <sodium.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/limits.h"
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

// Of a payload, libsodium's AEAD spends a third of its instructions between its parts: it runs the
// stream cipher twice and feeds the MAC in six pieces. Here both run once, over one block: block 0
// of the key stream, of which 32 bytes are the MAC's key and the others are not used, and the text.
// Then the associated data take the place of what is not used, so that all that the MAC covers lies
// together. The bytes are those of RFC 8439, 2.8.
#define STREAM_BLOCK 64
#define MAC_KEY_SIZE 32
#define MAC_BLOCK 16
#define BRIEF_TEXT_MAX CAIRN_PAYLOAD_SIZE_MAX
#define BRIEF_ASSOCIATED_MAX (STREAM_BLOCK - MAC_KEY_SIZE)
_Static_assert(MAC_KEY_SIZE == crypto_onetimeauth_poly1305_KEYBYTES, "Poly1305");
_Static_assert(CAIRN_AEAD_MAC_SIZE == crypto_onetimeauth_poly1305_BYTES, "Poly1305");

typedef struct brief_text {
    _Alignas(
        16) uint8_t bytes[STREAM_BLOCK + (BRIEF_TEXT_MAX + MAC_BLOCK - 1) / MAC_BLOCK * MAC_BLOCK +
                          MAC_BLOCK]; // a block, the text, padding, two lengths
} brief_text;

static bool is_brief(size_t size, cairn_associated_data associated) {
    return size <= BRIEF_TEXT_MAX && associated.size <= BRIEF_ASSOCIATED_MAX;
}

static size_t padded(size_t size) {
    return (size + MAC_BLOCK - 1) / MAC_BLOCK * MAC_BLOCK;
}

// Of the encrypted text that is there. What is before it is overwritten.
static void brief_mac(brief_text *text, size_t size, cairn_associated_data associated,
    const uint8_t key[MAC_KEY_SIZE], uint8_t mac[CAIRN_AEAD_MAC_SIZE]) {
    uint8_t *at = text->bytes + STREAM_BLOCK - padded(associated.size);
    uint8_t *end = text->bytes + STREAM_BLOCK + size;
    memset(at, 0, padded(associated.size));
    if (associated.size > 0) {
        memcpy(at, associated.bytes, associated.size);
    }
    memset(end, 0, padded(size) - size);
    end += padded(size) - size;
    cairn_writer lengths = cairn_writer_of(end, MAC_BLOCK);
    cairn_write_u64(&lengths, associated.size);
    cairn_write_u64(&lengths, size);
    crypto_onetimeauth_poly1305(mac, at, (size_t)(end + MAC_BLOCK - at), key);
}

static void brief_encrypt(uint8_t *bytes, size_t size, cairn_associated_data associated,
    const uint8_t nonce[NARROW_NONCE_SIZE], const uint8_t key[CAIRN_AEAD_KEY_SIZE]) {
    brief_text text;
    uint8_t mac_key[MAC_KEY_SIZE];
    memset(text.bytes, 0, STREAM_BLOCK);
    memcpy(text.bytes + STREAM_BLOCK, bytes, size);
    crypto_stream_chacha20_ietf_xor(text.bytes, text.bytes, STREAM_BLOCK + size, nonce, key);
    memcpy(mac_key, text.bytes, sizeof mac_key);
    memcpy(bytes, text.bytes + STREAM_BLOCK, size);
    brief_mac(&text, size, associated, mac_key, bytes + size);
    sodium_memzero(mac_key, sizeof mac_key);
    sodium_memzero(text.bytes, MAC_KEY_SIZE);
}

// The text is decrypted before it is known to be genuine, and given to nobody if it is not.
static bool brief_decrypt(const uint8_t *encrypted, size_t size, cairn_associated_data associated,
    const uint8_t nonce[NARROW_NONCE_SIZE], const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *out) {
    brief_text plain, text;
    uint8_t mac[CAIRN_AEAD_MAC_SIZE];
    memset(plain.bytes, 0, STREAM_BLOCK);
    memcpy(plain.bytes + STREAM_BLOCK, encrypted, size);
    memcpy(text.bytes + STREAM_BLOCK, encrypted, size);
    crypto_stream_chacha20_ietf_xor(plain.bytes, plain.bytes, STREAM_BLOCK + size, nonce, key);
    brief_mac(&text, size, associated, plain.bytes, mac);
    const bool genuine = crypto_verify_16(mac, encrypted + size) == 0;
    if (genuine) {
        memcpy(out, plain.bytes + STREAM_BLOCK, size);
    }
    sodium_memzero(plain.bytes, STREAM_BLOCK);
    return genuine;
}

void cairn_aead_encrypt(uint8_t *bytes, size_t size, cairn_associated_data associated,
    uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE]) {
    CAIRN_ASSERT(bytes != NULL && key != NULL);
    uint8_t nonce[NARROW_NONCE_SIZE];
    write_nonce(sequence, nonce);
    if (is_brief(size, associated)) {
        brief_encrypt(bytes, size, associated, nonce, key);
        return;
    }
    const int failed = crypto_aead_chacha20poly1305_ietf_encrypt(
        bytes, NULL, bytes, size, associated.bytes, associated.size, NULL, nonce, key);
    CAIRN_ASSERT(failed == 0);
}

bool cairn_aead_decrypt(const uint8_t *encrypted, size_t encrypted_size,
    cairn_associated_data associated, uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    uint8_t *text) {
    CAIRN_ASSERT(encrypted != NULL && key != NULL && text != NULL);
    uint8_t nonce[NARROW_NONCE_SIZE];
    write_nonce(sequence, nonce);
    if (encrypted_size < CAIRN_AEAD_MAC_SIZE) {
        return false;
    }
    const size_t size = encrypted_size - CAIRN_AEAD_MAC_SIZE;
    if (is_brief(size, associated)) {
        return brief_decrypt(encrypted, size, associated, nonce, key, text);
    }
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
