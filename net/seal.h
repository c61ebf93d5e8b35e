// SPDX-License-Identifier: MIT
#pragma once

// All cryptography of the project behind a handful of calls; seal.c is the only file that knows
// libsodium. Authenticated encryption (RFC 8439 ChaCha20-Poly1305), its variant with a 24-byte
// nonce, a keyed hash for tables that strangers fill, and key derivation.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_SEAL_KEY_SIZE 32
#define CAIRN_SEAL_MAC_SIZE 16
#define CAIRN_SEAL_NONCE_SIZE 24
#define CAIRN_SEAL_HASH_KEY_SIZE 16

// What is authenticated but travels in the clear (AEAD associated data). `bytes` may be NULL when
// `size` is 0.
typedef struct cairn_seal_extra {
    const uint8_t *bytes;
    size_t size;
} cairn_seal_extra;

// Lets libsodium choose its code for this processor. Call before the first seal of the process;
// further calls cost nothing. False when libsodium cannot start: nothing may be sealed then.
bool cairn_seal_start(void);

// Encrypts `size` bytes in place and writes CAIRN_SEAL_MAC_SIZE bytes behind them. The nonce is
// four zero bytes and the sequence, little-endian: one key never seals two texts under one
// sequence.
void cairn_seal_close(uint8_t *bytes, size_t size, cairn_seal_extra extra, uint64_t sequence,
    const uint8_t key[CAIRN_SEAL_KEY_SIZE]);

// Opens `sealed_size` bytes (text and MAC) into `text` (sealed_size - CAIRN_SEAL_MAC_SIZE bytes;
// may be `sealed` itself). False when a bit of text, extra, sequence or key differs, or there is no
// room for a MAC; `text` holds nothing of worth then.
bool cairn_seal_open(const uint8_t *sealed, size_t sealed_size, cairn_seal_extra extra,
    uint64_t sequence, const uint8_t key[CAIRN_SEAL_KEY_SIZE], uint8_t *text);

// The same with XChaCha20-Poly1305 and a nonce of 24 random bytes: connect tokens.
void cairn_seal_close_wide(uint8_t *bytes, size_t size, cairn_seal_extra extra,
    const uint8_t nonce[CAIRN_SEAL_NONCE_SIZE], const uint8_t key[CAIRN_SEAL_KEY_SIZE]);
bool cairn_seal_open_wide(const uint8_t *sealed, size_t sealed_size, cairn_seal_extra extra,
    const uint8_t nonce[CAIRN_SEAL_NONCE_SIZE], const uint8_t key[CAIRN_SEAL_KEY_SIZE],
    uint8_t *text);

// SipHash-2-4: who does not know the key cannot choose bytes that fall into one bucket.
uint64_t cairn_seal_hash(
    const uint8_t *bytes, size_t size, const uint8_t key[CAIRN_SEAL_HASH_KEY_SIZE]);

// The `number`-th key derived from a root key (BLAKE2b); size is 16 .. 64. Independent of each
// other: knowing one tells nothing about the rest.
void cairn_seal_derive(
    const uint8_t root[CAIRN_SEAL_KEY_SIZE], uint64_t number, uint8_t *out, size_t size);

// Zeros that the compiler may not leave out: for keys that are no longer needed.
void cairn_seal_wipe(void *bytes, size_t size);
