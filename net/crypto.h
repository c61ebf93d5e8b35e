// SPDX-License-Identifier: MIT
#pragma once

// All cryptography of the project; crypto.c is the only file that includes libsodium. Authenticated
// encryption (RFC 8439 ChaCha20-Poly1305), its variant with a 24-byte nonce, a keyed hash for
// tables that unknown peers fill, and key derivation.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_AEAD_KEY_SIZE 32
#define CAIRN_AEAD_MAC_SIZE 16
#define CAIRN_AEAD_NONCE_SIZE 24
#define CAIRN_SIPHASH_KEY_SIZE 16

// AEAD associated data: authenticated, not encrypted. `bytes` may be NULL when
// `size` is 0.
typedef struct cairn_associated_data {
    const uint8_t *bytes;
    size_t size;
} cairn_associated_data;

// Lets libsodium choose its code for this processor. Call before the first encryption of the
// process; further calls cost nothing. False if libsodium cannot start: do not encrypt anything
// then.
bool cairn_crypto_start(void);

// Encrypts `size` bytes in place and writes CAIRN_AEAD_MAC_SIZE bytes after them. The nonce is
// four zero bytes and the sequence, little-endian: a key must never encrypt two texts with one
// sequence.
void cairn_aead_encrypt(uint8_t *bytes, size_t size, cairn_associated_data associated,
    uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE]);

// Decrypts `encrypted_size` bytes (text and MAC) into `text` (encrypted_size - CAIRN_AEAD_MAC_SIZE
// bytes; may be `encrypted` itself). False if a bit of text, associated data, sequence or key
// differs, or `encrypted_size` is too small for a MAC; the content of `text` is undefined then.
bool cairn_aead_decrypt(const uint8_t *encrypted, size_t encrypted_size,
    cairn_associated_data associated, uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    uint8_t *text);

// The same with XChaCha20-Poly1305 and a nonce of 24 random bytes: connect tokens.
void cairn_aead_encrypt_wide(uint8_t *bytes, size_t size, cairn_associated_data associated,
    const uint8_t nonce[CAIRN_AEAD_NONCE_SIZE], const uint8_t key[CAIRN_AEAD_KEY_SIZE]);
bool cairn_aead_decrypt_wide(const uint8_t *encrypted, size_t encrypted_size,
    cairn_associated_data associated, const uint8_t nonce[CAIRN_AEAD_NONCE_SIZE],
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *text);

// SipHash-2-4: a peer without the key cannot choose inputs that collide in one bucket.
uint64_t cairn_siphash(
    const uint8_t *bytes, size_t size, const uint8_t key[CAIRN_SIPHASH_KEY_SIZE]);

// The `number`-th key derived from a root key (BLAKE2b); size is 16 .. 64. The derived keys are
// independent: one reveals nothing about the others.
void cairn_key_derive(
    const uint8_t root[CAIRN_AEAD_KEY_SIZE], uint64_t number, uint8_t *out, size_t size);

// Keeps memory out of the swap and of core files, and wipes it when it is unlocked. Best effort:
// the system may allow no locked memory.
void cairn_memory_lock(void *bytes, size_t size);
void cairn_memory_unlock(void *bytes, size_t size);

// Overwrites with zeros, which the compiler cannot leave out: for keys that are no longer needed.
void cairn_wipe(void *bytes, size_t size);

// Lower-case hexadecimal digits and a terminator into `out`, which has 2 * size + 1 bytes and is
// returned.
char *cairn_hex_print(const uint8_t *bytes, size_t size, char *out);
// Parses exactly `digit_count` hexadecimal digits of either case into `size` bytes. False if a
// character is not a digit or digit_count is not 2 * size.
bool cairn_hex_read(const char *digits, size_t digit_count, uint8_t *bytes, size_t size);
