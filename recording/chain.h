// SPDX-License-Identifier: MIT
#pragma once

// A recording in one number: a chain of BLAKE2b-256 digests over the start chunk and every tick,
// and Ed25519 over its last value. Who holds the public key knows that nobody else wrote the
// recording and that no tick was changed, left out or added. docs/PROTOCOL.md, "Recording file".

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sign.h"
#include "schema/messages.h"

typedef struct cairn_chain {
    uint8_t value[CAIRN_DIGEST_SIZE];
} cairn_chain;

// `payload` is the start chunk's, unpacked.
cairn_chain cairn_chain_of_start(const uint8_t *payload, size_t size);
// One tick and its command_count commands, in their order.
void cairn_chain_tick(
    cairn_chain *chain, const cairn_wire_tick *tick, const cairn_command *commands);
// A replace chunk's payload, unpacked.
void cairn_chain_replace(cairn_chain *chain, const uint8_t *payload, size_t size);

// What is signed at the end: `tick` and `tick_count` are the end chunk's.
void cairn_chain_sign(const cairn_chain *chain, uint64_t tick, uint64_t tick_count,
    const uint8_t seed[CAIRN_SIGN_SEED_SIZE], uint8_t signature[CAIRN_SIGNATURE_SIZE]);
bool cairn_chain_check(const cairn_chain *chain, uint64_t tick, uint64_t tick_count,
    const uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE],
    const uint8_t signature[CAIRN_SIGNATURE_SIZE]);
