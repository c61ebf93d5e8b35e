// SPDX-License-Identifier: MIT
#pragma once

// Digests and signatures for recordings, which outlive a session. crypto.c, which alone includes
// libsodium, implements them. BLAKE2b (RFC 7693) with 32 bytes of output; Ed25519 (RFC 8032).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_DIGEST_SIZE 32
#define CAIRN_SIGN_SEED_SIZE 32 // the private key: 32 random bytes
#define CAIRN_SIGN_PUBLIC_SIZE 32
#define CAIRN_SIGNATURE_SIZE 64

// BLAKE2b-256 of `head` followed by `body`. Each may be NULL when its size is 0; `out` may be
// `head`. Needs no cairn_crypto_start.
void cairn_digest(const uint8_t *head, size_t head_size, const uint8_t *body, size_t body_size,
    uint8_t out[CAIRN_DIGEST_SIZE]);

// The public key that belongs to a seed.
void cairn_sign_public(
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE], uint8_t out[CAIRN_SIGN_PUBLIC_SIZE]);
// Signs `size` bytes (RFC 8032, 5.1.6). Equal bytes and seed give equal signatures.
void cairn_sign(const uint8_t seed[CAIRN_SIGN_SEED_SIZE], const uint8_t *bytes, size_t size,
    uint8_t out[CAIRN_SIGNATURE_SIZE]);
// Whether these bytes were signed with the seed of this public key.
bool cairn_sign_check(const uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE], const uint8_t *bytes,
    size_t size, const uint8_t signature[CAIRN_SIGNATURE_SIZE]);
