// SPDX-License-Identifier: MIT
#pragma once

// The two parts of a connect token (<cairn/token.h>).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/token.h>

// "NETCODE 1.02" with its terminator: the start of requests, tokens and all associated data.
#define CAIRN_NETCODE_VERSION_SIZE 13
extern const uint8_t cairn_netcode_version[CAIRN_NETCODE_VERSION_SIZE];

#define CAIRN_TOKEN_PRIVATE_SIZE 1024
#define CAIRN_TOKEN_NONCE_SIZE 24

// Whether each address is IPv4 or IPv6. At most CAIRN_TOKEN_SERVERS_MAX.
bool cairn_addresses_valid(const cairn_address *addresses, uint32_t count);

// The part of a connect token that its client may read.
typedef struct cairn_token_public {
    uint64_t protocol_id;
    uint64_t create_unix_s;
    uint64_t expire_unix_s;
    uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE];
    uint8_t private_data[CAIRN_TOKEN_PRIVATE_SIZE]; // encrypted
    int32_t timeout_s;
    uint32_t server_count;
    cairn_address servers[CAIRN_TOKEN_SERVERS_MAX];
    uint8_t client_to_server_key[CAIRN_KEY_SIZE];
    uint8_t server_to_client_key[CAIRN_KEY_SIZE];
} cairn_token_public;

typedef enum cairn_token_refusal {
    CAIRN_TOKEN_OK = 0,
    CAIRN_TOKEN_SIZE_WRONG,
    CAIRN_TOKEN_VERSION_WRONG,
    CAIRN_TOKEN_TIMES_WRONG,    // expires before it was created
    CAIRN_TOKEN_SERVER_COUNT,   // not 1 .. 32
    CAIRN_TOKEN_ADDRESS_TYPE,   // neither 1 nor 2
    CAIRN_TOKEN_DECRYPT_FAILED, // private part: key, version, protocol id or expiry do not match
    CAIRN_TOKEN_REFUSAL_COUNT
} cairn_token_refusal;
const char *cairn_token_refusal_text(cairn_token_refusal refusal);

// Reads the public part. The bytes after the keys are padding and ignored. After a refusal the
// content of `*out` is undefined.
cairn_token_refusal cairn_token_read_public(
    const uint8_t *bytes, size_t size, cairn_token_public *out);
// Writes what read_public reads; the server count and the address families must be valid.
void cairn_token_write_public(
    const cairn_token_public *token, uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE]);

typedef struct cairn_token_private {
    uint64_t client_id;
    int32_t timeout_s;
    uint32_t server_count;
    cairn_address servers[CAIRN_TOKEN_SERVERS_MAX];
    uint8_t client_to_server_key[CAIRN_KEY_SIZE];
    uint8_t server_to_client_key[CAIRN_KEY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
} cairn_token_private;

// Decrypts and reads the private part. After a refusal the content of `*out` is undefined.
cairn_token_refusal cairn_token_read_private(const uint8_t encrypted[CAIRN_TOKEN_PRIVATE_SIZE],
    const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE], uint64_t protocol_id, uint64_t expire_unix_s,
    const uint8_t private_key[CAIRN_KEY_SIZE], cairn_token_private *out);
// Writes and encrypts what read_private reads. A nonce and key must never encrypt two tokens.
void cairn_token_write_private(const cairn_token_private *token,
    const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE], uint64_t protocol_id, uint64_t expire_unix_s,
    const uint8_t private_key[CAIRN_KEY_SIZE], uint8_t encrypted[CAIRN_TOKEN_PRIVATE_SIZE]);
