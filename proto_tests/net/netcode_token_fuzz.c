// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/packet.h"
#include "net/token.h"

// The input as the public part of a token, and as the plain text of a validly encrypted private
// part. A part that can be read is written again and must read the same.

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define PROTOCOL_ID 7
#define EXPIRE 1000
#define TEXT_SIZE (CAIRN_TOKEN_PRIVATE_SIZE - CAIRN_AEAD_MAC_SIZE)
static const uint8_t key[CAIRN_KEY_SIZE] = {1};
static const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE] = {2};

static void read_public(const uint8_t *bytes, size_t size) {
    static cairn_token_public token, again;
    const cairn_token_refusal refusal = cairn_token_read_public(bytes, size, &token);
    CAIRN_ASSERT(refusal < CAIRN_TOKEN_REFUSAL_COUNT);
    if (refusal != CAIRN_TOKEN_OK) {
        return;
    }
    CAIRN_ASSERT(token.server_count >= 1 && token.server_count <= CAIRN_TOKEN_SERVERS_MAX);
    CAIRN_ASSERT(token.create_unix_s <= token.expire_unix_s);
    uint8_t written[CAIRN_CONNECT_TOKEN_SIZE];
    cairn_token_write_public(&token, written);
    CAIRN_ASSERT(cairn_token_read_public(written, sizeof written, &again) == CAIRN_TOKEN_OK);
    CAIRN_ASSERT(memcmp(&token, &again, sizeof token) == 0);
}

static void read_private(const uint8_t *bytes, size_t size) {
    uint8_t encrypted[CAIRN_TOKEN_PRIVATE_SIZE] = {0};
    memcpy(encrypted, bytes, size < TEXT_SIZE ? size : TEXT_SIZE);
    uint8_t associated[29];
    cairn_writer writer = cairn_writer_of(associated, sizeof associated);
    cairn_write_bytes(&writer, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE);
    cairn_write_u64(&writer, PROTOCOL_ID);
    cairn_write_u64(&writer, EXPIRE);
    cairn_aead_encrypt_wide(
        encrypted, TEXT_SIZE, (cairn_associated_data){associated, sizeof associated}, nonce, key);
    static cairn_token_private token, again;
    const cairn_token_refusal refusal =
        cairn_token_read_private(encrypted, nonce, PROTOCOL_ID, EXPIRE, key, &token);
    CAIRN_ASSERT(refusal == CAIRN_TOKEN_OK || refusal == CAIRN_TOKEN_SERVER_COUNT ||
                 refusal == CAIRN_TOKEN_ADDRESS_TYPE);
    if (refusal == CAIRN_TOKEN_OK) {
        cairn_token_write_private(&token, nonce, PROTOCOL_ID, EXPIRE, key, encrypted);
        CAIRN_ASSERT(cairn_token_read_private(encrypted, nonce, PROTOCOL_ID, EXPIRE, key, &again) ==
                     CAIRN_TOKEN_OK);
        CAIRN_ASSERT(memcmp(&token, &again, sizeof token) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!cairn_crypto_start() || size < 1) {
        return 0;
    }
    if (bytes[0] % 2 == 0) {
        read_public(bytes + 1, size - 1);
    } else {
        read_private(bytes + 1, size - 1);
    }
    return 0;
}
