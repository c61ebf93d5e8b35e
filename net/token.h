// SPDX-License-Identifier: MIT
#pragma once

// Connect tokens of the netcode 1.02 standard: what a matchmaker gives a client so that a dedicated
// server lets it in. The public part goes to the client, the private part is sealed for the
// servers.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

#define CAIRN_KEY_SIZE 32
#define CAIRN_CONNECT_TOKEN_SIZE 2048
#define CAIRN_TOKEN_PRIVATE_SIZE 1024
#define CAIRN_TOKEN_USER_DATA_SIZE 256
#define CAIRN_TOKEN_SERVERS_MAX 32
#define CAIRN_TOKEN_NONCE_SIZE 24

typedef struct cairn_token_request {
    uint64_t protocol_id;
    uint64_t client_id;
    uint64_t create_unix_s;
    uint32_t lifetime_s;                   // expire = create + lifetime
    int32_t timeout_s;                     // <= 0: no timeout
    const cairn_address *server_addresses; // what the client connects to, in this order
    uint32_t server_count;                 // 1 .. CAIRN_TOKEN_SERVERS_MAX
    const uint8_t *private_key;            // CAIRN_KEY_SIZE, shared by backend and servers
    const uint8_t *user_data;              // CAIRN_TOKEN_USER_DATA_SIZE, or NULL for zeros
    const uint8_t *entropy; // 88 random bytes: nonce 24, client-to-server key 32, server-to-client
                            // key 32. Never reuse: it holds the keys
} cairn_token_request;
#define CAIRN_TOKEN_ENTROPY_SIZE 88

// CAIRN_INVALID_ARGUMENT when a pointer is missing, the server count or a family is out of range,
// or the expiry does not fit 64 bits.
cairn_status cairn_token_issue(
    const cairn_token_request *request, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);

// The part of a connect token that its client may read.
typedef struct cairn_token_public {
    uint64_t protocol_id;
    uint64_t create_unix_s;
    uint64_t expire_unix_s;
    uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE];
    uint8_t private_data[CAIRN_TOKEN_PRIVATE_SIZE]; // sealed
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

// Reads the public part. Bytes behind the keys are padding and are not looked at. After a refusal
// `*out` holds nothing of worth.
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

// Opens and reads the private part. After a refusal `*out` holds nothing of worth.
cairn_token_refusal cairn_token_read_private(const uint8_t sealed[CAIRN_TOKEN_PRIVATE_SIZE],
    const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE], uint64_t protocol_id, uint64_t expire_unix_s,
    const uint8_t private_key[CAIRN_KEY_SIZE], cairn_token_private *out);
// Writes and seals what read_private reads. One nonce and key never seal two tokens.
void cairn_token_write_private(const cairn_token_private *token,
    const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE], uint64_t protocol_id, uint64_t expire_unix_s,
    const uint8_t private_key[CAIRN_KEY_SIZE], uint8_t sealed[CAIRN_TOKEN_PRIVATE_SIZE]);
