// SPDX-License-Identifier: MIT
#pragma once

// The packets of netcode 1.02 as bytes: prefix, sequence, body, MAC. docs/PROTOCOL.md has the
// table.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "net/crypto.h"
#include "net/netcode_drop.h"
#include "net/token.h"

typedef enum cairn_packet_type {
    CAIRN_PACKET_REQUEST = 0,
    CAIRN_PACKET_DENIED = 1,
    CAIRN_PACKET_CHALLENGE = 2,
    CAIRN_PACKET_RESPONSE = 3,
    CAIRN_PACKET_KEEP_ALIVE = 4,
    CAIRN_PACKET_PAYLOAD = 5,
    CAIRN_PACKET_DISCONNECT = 6,
    CAIRN_PACKET_TYPE_COUNT, // of netcode 1.02; cairn's own follow, for a client whose address
                             // changes
    CAIRN_PACKET_PATH_REQUEST = CAIRN_PACKET_TYPE_COUNT,
    CAIRN_PACKET_PATH_CHALLENGE,
    CAIRN_PACKET_PATH_RESPONSE,
} cairn_packet_type;

// The encrypted types that each side accepts, one bit each.
#define CAIRN_PACKET_BIT(type) (1u << (type))
#define CAIRN_PACKETS_TO_SERVER                                                                    \
    (CAIRN_PACKET_BIT(CAIRN_PACKET_RESPONSE) | CAIRN_PACKET_BIT(CAIRN_PACKET_KEEP_ALIVE) |         \
        CAIRN_PACKET_BIT(CAIRN_PACKET_PAYLOAD) | CAIRN_PACKET_BIT(CAIRN_PACKET_DISCONNECT))
#define CAIRN_PACKETS_TO_CLIENT                                                                    \
    (CAIRN_PACKET_BIT(CAIRN_PACKET_DENIED) | CAIRN_PACKET_BIT(CAIRN_PACKET_CHALLENGE) |            \
        CAIRN_PACKET_BIT(CAIRN_PACKET_KEEP_ALIVE) | CAIRN_PACKET_BIT(CAIRN_PACKET_PAYLOAD) |       \
        CAIRN_PACKET_BIT(CAIRN_PACKET_DISCONNECT))

// Packets of a path. Those to the server end with the client's index, unencrypted: the address that
// they come from names no session.
#define CAIRN_PACKETS_OF_PATH_TO_SERVER                                                            \
    (CAIRN_PACKET_BIT(CAIRN_PACKET_PATH_REQUEST) | CAIRN_PACKET_BIT(CAIRN_PACKET_PATH_RESPONSE))
#define CAIRN_PACKETS_OF_PATH_TO_CLIENT CAIRN_PACKET_BIT(CAIRN_PACKET_PATH_CHALLENGE)
#define CAIRN_PACKET_INDEX_SIZE 4
// A request is as long as the message with which a server goes on: until the client has answered
// the challenge, the server sends no more than it received.
#define CAIRN_PACKET_PATH_PADDING 1152

#define CAIRN_CHALLENGE_TOKEN_SIZE 300
#define CAIRN_PACKET_REQUEST_SIZE 1078
// Prefix, eight sequence bytes, the longest body, MAC.
#define CAIRN_PACKET_ENCRYPTED_SIZE_MAX (1 + 8 + CAIRN_PAYLOAD_SIZE_MAX + CAIRN_AEAD_MAC_SIZE)
#define CAIRN_PACKET_ENCRYPTED_SIZE_MIN 18

// Request: the one packet that is not encrypted; its secrets are in the encrypted token.
typedef struct cairn_packet_request {
    uint64_t protocol_id;
    uint64_t expire_unix_s;
    const uint8_t *nonce;        // CAIRN_TOKEN_NONCE_SIZE
    const uint8_t *private_data; // CAIRN_TOKEN_PRIVATE_SIZE, encrypted
} cairn_packet_request;

// Challenge and response carry the same: only the server can read the token.
typedef struct cairn_packet_challenge {
    uint64_t sequence;    // nonce of the token
    const uint8_t *token; // CAIRN_CHALLENGE_TOKEN_SIZE, encrypted
} cairn_packet_challenge;

typedef struct cairn_packet_keep_alive {
    uint32_t client_index;
    uint32_t clients_max;
} cairn_packet_keep_alive;

typedef struct cairn_packet_payload {
    const uint8_t *bytes;
    size_t size; // 1 .. CAIRN_PAYLOAD_SIZE_MAX
} cairn_packet_payload;

typedef struct cairn_packet_path {
    uint64_t number; // of a challenge, and of its response; 0 in a request
} cairn_packet_path;

// An encrypted packet. Denied and disconnect have no body.
typedef struct cairn_packet {
    cairn_packet_type type; // not a request
    union {
        cairn_packet_challenge challenge; // of challenge and response
        cairn_packet_keep_alive keep_alive;
        cairn_packet_payload payload;
        cairn_packet_path path;
    };
} cairn_packet;

// The part that can be read without a key.
typedef struct cairn_packet_header {
    cairn_packet_type type;
    uint64_t sequence;
    size_t size; // prefix and sequence bytes: where the encrypted body starts
} cairn_packet_header;

// Writes a request. Returns CAIRN_PACKET_REQUEST_SIZE.
size_t cairn_packet_write_request(
    const cairn_packet_request *request, uint8_t bytes[CAIRN_PACKET_REQUEST_SIZE]);
// Reads a request; the pointers in `*out` point into `bytes`. CAIRN_NETCODE_TAKEN, or SIZE,
// VERSION, PROTOCOL_ID, in this order.
cairn_netcode_drop cairn_packet_read_request(
    const uint8_t *bytes, size_t size, uint64_t protocol_id, cairn_packet_request *out);

// Writes and encrypts a packet into `bytes` (room for CAIRN_PACKET_ENCRYPTED_SIZE_MAX). Returns its
// size. A key must never encrypt two packets with one sequence.
size_t cairn_packet_write(const cairn_packet *packet, uint64_t sequence, uint64_t protocol_id,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *bytes);

// Reads the header, without a key. CAIRN_NETCODE_TAKEN, or SIZE, TYPE,
// SEQUENCE_BYTES, in the standard's order. `types` is the set that this side accepts; its state
// table decides whether it accepts a type now.
cairn_netcode_drop cairn_packet_read_header(
    const uint8_t *bytes, size_t size, unsigned types, cairn_packet_header *out);

// Decrypts and reads the body after a header that was taken. `body` has room for
// CAIRN_PAYLOAD_SIZE_MAX bytes; the pointers in `*out` point into it. CAIRN_NETCODE_TAKEN, DECRYPT,
// or SIZE when the body is not as long as its type says.
cairn_netcode_drop cairn_packet_read(const cairn_packet_header *header, const uint8_t *bytes,
    size_t size, uint64_t protocol_id, const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *body,
    cairn_packet *out);

// The challenge token: a server gives it to a client and expects it back from the same address, so
// that no client connects from another's address. Encrypted with a key that only the server has.
// The standard's content is the client id and the user data; a server trusts neither of them, but
// what it keeps of the handshake.
typedef struct cairn_challenge {
    uint64_t client_id;
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    uint64_t issued_ns; // by the server's clock
} cairn_challenge;

// The connect token (its MAC) and the address that a challenge is for, as associated data: it is a
// challenge of no other.
#define CAIRN_CHALLENGE_BINDING_SIZE (CAIRN_AEAD_MAC_SIZE + 19)
void cairn_challenge_bind(const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *address,
    uint8_t binding[CAIRN_CHALLENGE_BINDING_SIZE]);

// A key must never encrypt two challenges with one sequence.
void cairn_challenge_write(const cairn_challenge *challenge, cairn_associated_data binding,
    uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    uint8_t encrypted[CAIRN_CHALLENGE_TOKEN_SIZE]);
// False if decryption fails: other binding, key or sequence, or a changed bit.
bool cairn_challenge_read(const uint8_t encrypted[CAIRN_CHALLENGE_TOKEN_SIZE],
    cairn_associated_data binding, uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    cairn_challenge *out);
