// SPDX-License-Identifier: MIT
#pragma once

// Connect tokens of the netcode 1.02 standard. A backend issues a token to a client; a dedicated
// server admits clients with a valid token. The client reads the public part; the private part is
// encrypted for the servers, so the client can neither read nor change it.

#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_CONNECT_TOKEN_SIZE 2048
#define CAIRN_KEY_SIZE 32
#define CAIRN_TOKEN_ENTROPY_SIZE 88
#define CAIRN_TOKEN_SERVERS_MAX 32
#define CAIRN_TOKEN_USER_DATA_SIZE 256

typedef struct cairn_token_request {
    uint64_t protocol_id;
    uint64_t client_id;
    uint64_t create_unix_s;
    uint32_t lifetime_s;                   // the token expires at create_unix_s + lifetime_s
    int32_t timeout_s;                     // of the connection; <= 0: none
    const cairn_address *server_addresses; // the client tries them in this order
    uint32_t server_count;                 // 1 .. CAIRN_TOKEN_SERVERS_MAX
    const uint8_t *private_key;            // CAIRN_KEY_SIZE, shared by backend and servers
    const uint8_t *user_data;              // CAIRN_TOKEN_USER_DATA_SIZE, or NULL for zeros
    // CAIRN_TOKEN_ENTROPY_SIZE random bytes: 24 of nonce, 32 of the client-to-server key, 32 of the
    // server-to-client key. Never reuse them.
    const uint8_t *entropy;
} cairn_token_request;

// Writes a token. `request` and `token` must not be NULL. CAIRN_INVALID_ARGUMENT: a pointer in the
// request other than user_data is NULL, the server count or an address family is out of range, or
// the expiry does not fit 64 bits.
cairn_status cairn_token_issue(
    const cairn_token_request *request, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);

// User data is what the backend says about a client to the server: docs/PROTOCOL.md, User data.

// The client may control rooms by CONTROL messages.
#define CAIRN_USER_RIGHT_OPERATOR 1u

#define CAIRN_USER_NAME_SIZE 32    // of a room's and a player's name, with the zero behind it
#define CAIRN_USER_OPAQUE_SIZE 174 // bytes for the game

typedef struct cairn_user_data {
    uint32_t rights;                   // CAIRN_USER_RIGHT_...
    char room[CAIRN_USER_NAME_SIZE];   // the only room that the client may join; "": any
    char player[CAIRN_USER_NAME_SIZE]; // a name in UTF-8 to show; "": none
    uint32_t opaque_size;
    uint8_t opaque[CAIRN_USER_OPAQUE_SIZE]; // what the backend tells the game's server
} cairn_user_data;

// Writes user data for cairn_token_request. CAIRN_INVALID_ARGUMENT: a name without a zero, or more
// opaque bytes than fit; `out` is then unchanged.
cairn_status cairn_user_data_encode(
    const cairn_user_data *user, uint8_t out[CAIRN_TOKEN_USER_DATA_SIZE]);
// Reads user data of any backend: what has another layout says nothing, and all is zero then.
// CAIRN_MALFORMED: it claims to have this layout and breaks it.
cairn_status cairn_user_data_decode(
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], cairn_user_data *out);

// Writes the head of user data of version 1, which has rights alone; the bytes after it belong to
// the backend and stay unchanged.
void cairn_user_data_write(uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], uint32_t rights);
// The rights in user data; 0 if it has another layout or a later version. Rights that this version
// does not define are cleared.
uint32_t cairn_user_data_rights(const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE]);

#ifdef __cplusplus
}
#endif
