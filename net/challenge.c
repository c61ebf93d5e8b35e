// SPDX-License-Identifier: MIT
#include "net/challenge.h"

#include "base/assert.h"
#include "base/bytes.h"

#define TEXT_SIZE (CAIRN_CHALLENGE_TOKEN_SIZE - CAIRN_AEAD_MAC_SIZE)

static const cairn_associated_data no_associated_data = {NULL, 0};

void cairn_challenge_write(const cairn_challenge *challenge, uint64_t sequence,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t sealed[CAIRN_CHALLENGE_TOKEN_SIZE]) {
    cairn_writer writer = cairn_writer_of(sealed, TEXT_SIZE);
    cairn_write_u64(&writer, challenge->client_id);
    cairn_write_bytes(&writer, challenge->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    cairn_write_zeros(&writer, writer.size - writer.at);
    CAIRN_ASSERT(writer.ok);
    CAIRN_ASSERT(writer.at == TEXT_SIZE);
    cairn_aead_encrypt(sealed, TEXT_SIZE, no_associated_data, sequence, key);
}

bool cairn_challenge_read(const uint8_t sealed[CAIRN_CHALLENGE_TOKEN_SIZE], uint64_t sequence,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], cairn_challenge *out) {
    uint8_t text[TEXT_SIZE];
    if (!cairn_aead_decrypt(
            sealed, CAIRN_CHALLENGE_TOKEN_SIZE, no_associated_data, sequence, key, text)) {
        return false;
    }
    cairn_reader reader = cairn_reader_of(text, TEXT_SIZE);
    out->client_id = cairn_read_u64(&reader);
    cairn_read_bytes(&reader, out->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    CAIRN_ASSERT(reader.ok);
    return true;
}
