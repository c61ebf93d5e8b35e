// SPDX-License-Identifier: MIT
#pragma once

// The challenge token: a server gives it to a client and expects it back from the same address, so
// that no client connects from another's address. Encrypted with a key that only the server has.

#include <stdbool.h>
#include <stdint.h>

#include "net/packet.h"

typedef struct cairn_challenge {
    uint64_t client_id;
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
} cairn_challenge;

// A key must never encrypt two challenges with one sequence.
void cairn_challenge_write(const cairn_challenge *challenge, uint64_t sequence,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t sealed[CAIRN_CHALLENGE_TOKEN_SIZE]);
// False if decryption fails: other key, other sequence, or a changed bit.
bool cairn_challenge_read(const uint8_t sealed[CAIRN_CHALLENGE_TOKEN_SIZE], uint64_t sequence,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], cairn_challenge *out);
