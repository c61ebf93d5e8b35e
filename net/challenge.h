// SPDX-License-Identifier: MIT
#pragma once

// The challenge token: what a server gives a client and wants back from the same address, so that
// nobody connects from an address that is not theirs. Sealed under a key only the server knows.

#include <stdbool.h>
#include <stdint.h>

#include "net/packet.h"

typedef struct cairn_challenge {
    uint64_t client_id;
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
} cairn_challenge;

// One key never seals two challenges under one sequence.
void cairn_challenge_write(const cairn_challenge *challenge, uint64_t sequence,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t sealed[CAIRN_CHALLENGE_TOKEN_SIZE]);
// False when it does not open: other key, other sequence, or a changed bit.
bool cairn_challenge_read(const uint8_t sealed[CAIRN_CHALLENGE_TOKEN_SIZE], uint64_t sequence,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], cairn_challenge *out);
