// SPDX-License-Identifier: MIT
#pragma once

// How often tokens that do not decrypt are tried. Such a trial costs as much as receiving the
// datagram, so a network that sent several of them within a second is tried less often. It is still
// tried now and then, because its address may be forged: a client there, which repeats its request
// ten times a second, gets in within a second. Genuine tokens are not counted.

#include <stdbool.h>
#include <stdint.h>

#include "base/random.h"
#include "net/crypto.h"
#include <cairn/types.h>

// Broken tokens of a network within a second after which one request in this many is tried.
#define CAIRN_TOKEN_METER_BROKEN_MAX 8
#define CAIRN_TOKEN_METER_TRIED_OF 4
#define CAIRN_TOKEN_METER_NETWORKS 4096 // by a keyed hash

typedef struct cairn_token_meter {
    uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE];
    cairn_random random;
    uint64_t second; // of broken
    uint8_t broken[CAIRN_TOKEN_METER_NETWORKS];
} cairn_token_meter;

// `seed`: as secret as the key.
cairn_token_meter cairn_token_meter_of(
    const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE], uint64_t seed);
// Whether the token of a request from this address is worth a trial. A network is an IPv4 address,
// or the first half of an IPv6 address.
bool cairn_token_meter_tries(cairn_token_meter *meter, const cairn_address *from, uint64_t now_ns);
// The token that was tried did not decrypt.
void cairn_token_meter_note_broken(cairn_token_meter *meter, const cairn_address *from);
