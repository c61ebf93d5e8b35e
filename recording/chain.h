// SPDX-License-Identifier: MIT
#pragma once

// A hash chain of BLAKE2b-256 digests over the start chunk and every tick of a recording, and an
// Ed25519 signature of its last value. With the public key a reader can verify that the owner of
// the key wrote the recording and that no tick was changed, left out or added. docs/PROTOCOL.md,
// "Recording file".

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sign.h"
#include "schema/recording.h"

typedef struct cairn_chain {
    uint8_t value[CAIRN_DIGEST_SIZE];
} cairn_chain;

// Extends the chain by a chunk; `payload` is its content, unpacked. A start chunk begins it. A
// keyframe is left out, because the ticks determine it.
void cairn_chain_chunk(
    cairn_chain *chain, const cairn_chunk *chunk, const uint8_t *payload, size_t size);

// Signs the chain at the end of a recording; `tick` and `tick_count` are the end chunk's.
void cairn_chain_sign(const cairn_chain *chain, uint64_t tick, uint64_t tick_count,
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE], uint8_t signature[CAIRN_SIGNATURE_SIZE]);
bool cairn_chain_check(const cairn_chain *chain, uint64_t tick, uint64_t tick_count,
    const uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE],
    const uint8_t signature[CAIRN_SIGNATURE_SIZE]);
