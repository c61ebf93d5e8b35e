// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/packet.h"
#include "net/token.h"
#include "proto_tests/net/netcode_kit.h"

// Bytes that another implementation of the standard wrote, from the text files in vectors/. A line
// is words and at its end bytes in hexadecimal; lines that start with # are comments.

#define VECTOR_SIZE_MAX 2048

typedef struct vector {
    char name[64];   // "challenge:7", "client", "server": the word before the bytes
    uint64_t number; // after the colon of the name, or the word before the name; 0 if neither
    size_t size;
    uint8_t bytes[VECTOR_SIZE_MAX];
} vector;

typedef struct vectors {
    size_t count;
    vector list[64];
} vectors;

#define CLIENT_ID UINT64_C(0x1234567890abcdef)
#define EXPIRE UINT64_C(1700000060)
#define ANY_TYPE 0x7fu

static uint8_t private_key[32];
static uint8_t client_to_server[32];
static uint8_t server_to_client[32];
static uint8_t challenge_key[32];
static uint8_t nonce[24];
static uint8_t user_data[256];

// The keys that the head of vectors/netcode.txt lists.
BEFORE_ALL {
    for (int i = 0; i < 32; ++i) {
        private_key[i] = (uint8_t)(i + 1);
        client_to_server[i] = (uint8_t)(0x40 + i);
        server_to_client[i] = (uint8_t)(0x80 + i);
        challenge_key[i] = (uint8_t)(0xc0 + i);
    }
    for (int i = 0; i < 24; ++i) {
        nonce[i] = (uint8_t)(0xe0 + i);
    }
    for (int i = 0; i < 256; ++i) {
        user_data[i] = (uint8_t)(255 - i);
    }
}

static void read_line(char *line, vector *out) {
    char *words[3] = {NULL, NULL, NULL};
    int count = 0;
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        assert_true(count < 3);
        words[count++] = word;
    }
    assert_true(count >= 2);
    const char *name = words[count - 2];
    assert_true(strlen(name) < sizeof out->name);
    memcpy(out->name, name, strlen(name) + 1);
    const char *colon = strchr(name, ':');
    const char *number = colon != NULL ? colon + 1 : count == 3 ? words[0] : "0";
    out->number = strtoull(number, NULL, 10);
    const char *hex = words[count - 1];
    out->size = strlen(hex) / 2;
    assert_true(out->size <= VECTOR_SIZE_MAX);
    assert_true(cairn_hex_read(hex, strlen(hex), out->bytes, out->size));
}

// Reads a file of vectors/.
static const vectors *vectors_read(const char *file_name) {
    static vectors all;
    static char line[2 * VECTOR_SIZE_MAX + 128];
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", CAIRN_VECTORS, file_name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    memset(&all, 0, sizeof all);
    while (fgets(line, sizeof line, file) != NULL) {
        assert_true(all.count < sizeof all.list / sizeof all.list[0]);
        if (line[0] != '#') {
            read_line(line, &all.list[all.count++]);
        }
    }
    fclose(file);
    return &all;
}

// Finds a vector by its name, or by the part of it before the colon. It must exist.
static const vector *vectors_find(const vectors *all, const char *name) {
    for (size_t i = 0; i < all->count; ++i) {
        const char *colon = strchr(all->list[i].name, ':');
        const size_t size = colon != NULL ? (size_t)(colon - all->list[i].name) : SIZE_MAX;
        if (strcmp(all->list[i].name, name) == 0 ||
            (size == strlen(name) && strncmp(all->list[i].name, name, size) == 0)) {
            return &all->list[i];
        }
    }
    fail_msg("no vector %s", name);
    return NULL;
}

static cairn_token_public public_token(const vectors *all) {
    cairn_token_public token;
    const vector *v = vectors_find(all, "token");
    assert_int_equal(cairn_token_read_public(v->bytes, v->size, &token), CAIRN_TOKEN_OK);
    return token;
}

static void read_token(const vector *v, cairn_token_public *public, cairn_token_private *private) {
    assert_int_equal(cairn_token_read_public(v->bytes, v->size, public), CAIRN_TOKEN_OK);
    assert_int_equal(public->protocol_id, KIT_PROTOCOL_ID);
    assert_int_equal(public->create_unix_s, 1700000000);
    assert_int_equal(public->expire_unix_s, EXPIRE);
    assert_memory_equal(public->nonce, nonce, sizeof nonce);
    assert_int_equal(cairn_token_read_private(public->private_data, public->nonce,
                         public->protocol_id, public->expire_unix_s, private_key, private),
        CAIRN_TOKEN_OK);
    assert_int_equal(private->client_id, CLIENT_ID);
    assert_int_equal(private->timeout_s, public->timeout_s);
    assert_int_equal(private->server_count, public->server_count);
    assert_memory_equal(private->servers, public->servers, sizeof public->servers);
    assert_memory_equal(private->client_to_server_key, client_to_server, 32);
    assert_memory_equal(private->server_to_client_key, server_to_client, 32);
    assert_memory_equal(public->client_to_server_key, client_to_server, 32);
    assert_memory_equal(public->server_to_client_key, server_to_client, 32);
    assert_memory_equal(private->user_data, user_data, 256);
}

TEST("tokens are read") {
    const vectors *all = vectors_read("netcode.txt");
    cairn_token_public public;
    cairn_token_private private;
    char text[CAIRN_ADDRESS_TEXT_SIZE];

    read_token(vectors_find(all, "token"), &public, &private);
    assert_int_equal(public.timeout_s, 17);
    assert_int_equal(public.server_count, 1);
    assert_string_equal(cairn_address_print(&public.servers[0], text), "127.0.0.1:40000");

    read_token(vectors_find(all, "token_mixed"), &public, &private);
    assert_int_equal(public.timeout_s, -1);
    assert_int_equal(public.server_count, 4);
    assert_string_equal(cairn_address_print(&public.servers[1], text), "[::1]:40001");
    assert_string_equal(
        cairn_address_print(&public.servers[2], text), "[2001:db8::8:800:200c:417a]:65535");
    assert_string_equal(cairn_address_print(&public.servers[3], text), "10.1.2.3:1");

    read_token(vectors_find(all, "token_full"), &public, &private);
    assert_int_equal(public.timeout_s, INT32_MAX);
    assert_int_equal(public.server_count, 32);
    assert_string_equal(cairn_address_print(&public.servers[31], text), "[fe80::20:1]:40031");
}

TEST("tokens are written byte for byte") {
    const vectors *all = vectors_read("netcode.txt");
    const char *const names[] = {"token", "token_mixed", "token_full"};
    for (int i = 0; i < 3; ++i) {
        const vector *v = vectors_find(all, names[i]);
        cairn_token_public public;
        cairn_token_private private;
        read_token(v, &public, &private);
        uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
        memcpy(entropy, nonce, 24);
        memcpy(entropy + 24, client_to_server, 32);
        memcpy(entropy + 56, server_to_client, 32);
        const cairn_token_request request = {.protocol_id = KIT_PROTOCOL_ID,
            .client_id = CLIENT_ID,
            .create_unix_s = 1700000000,
            .lifetime_s = 60,
            .timeout_s = public.timeout_s,
            .server_addresses = public.servers,
            .server_count = public.server_count,
            .private_key = private_key,
            .user_data = user_data,
            .entropy = entropy};
        uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE];
        assert_int_equal(cairn_token_issue(&request, bytes), CAIRN_OK);
        assert_memory_equal(bytes, v->bytes, CAIRN_CONNECT_TOKEN_SIZE);
    }
}

// The fields of a refused token stay zero.
static cairn_token_refusal read_private(const cairn_token_public *public, const uint8_t *with_nonce,
    uint64_t protocol_id, uint64_t expire_unix_s, const uint8_t *key) {
    cairn_token_private private;
    const cairn_token_refusal refusal = cairn_token_read_private(
        public->private_data, with_nonce, protocol_id, expire_unix_s, key, &private);
    assert_int_equal(private.client_id, refusal == CAIRN_TOKEN_OK ? CLIENT_ID : 0);
    return refusal;
}

TEST("a private part with a changed bit is refused") {
    cairn_token_public public = public_token(vectors_read("netcode.txt"));
    for (size_t i = 0; i < CAIRN_TOKEN_PRIVATE_SIZE; ++i) {
        public.private_data[i] ^= (uint8_t)(1u << (i % 8));
        assert_int_equal(read_private(&public, nonce, KIT_PROTOCOL_ID, EXPIRE, private_key),
            CAIRN_TOKEN_DECRYPT_FAILED);
        public.private_data[i] ^= (uint8_t)(1u << (i % 8));
    }
    uint8_t other[32];
    memcpy(other, private_key, 32);
    other[31] ^= 1;
    assert_int_equal(
        read_private(&public, nonce, KIT_PROTOCOL_ID, EXPIRE, other), CAIRN_TOKEN_DECRYPT_FAILED);
    memcpy(other, nonce, 24);
    other[0] ^= 1;
    assert_int_equal(read_private(&public, other, KIT_PROTOCOL_ID, EXPIRE, private_key),
        CAIRN_TOKEN_DECRYPT_FAILED);
    assert_int_equal(read_private(&public, nonce, KIT_PROTOCOL_ID + 1, EXPIRE, private_key),
        CAIRN_TOKEN_DECRYPT_FAILED);
    assert_int_equal(read_private(&public, nonce, KIT_PROTOCOL_ID, EXPIRE + 1, private_key),
        CAIRN_TOKEN_DECRYPT_FAILED);
}

// Where a field of the public part starts, a wrong byte there, and the refusal of it.
TEST("an invalid public part is refused for the right reason") {
    const vector *v = vectors_find(vectors_read("netcode.txt"), "token");
    const struct {
        const char *what;
        size_t at;
        uint8_t value;
        cairn_token_refusal refusal;
    } cases[] = {{"first letter of the version", 0, 'n', CAIRN_TOKEN_VERSION_WRONG},
        {"last digit of the version", 11, '3', CAIRN_TOKEN_VERSION_WRONG},
        {"terminator of the version", 12, 1, CAIRN_TOKEN_VERSION_WRONG},
        {"created after it expires", 28, 1, CAIRN_TOKEN_TIMES_WRONG},
        {"no server", 1089, 0, CAIRN_TOKEN_SERVER_COUNT},
        {"33 servers", 1089, 33, CAIRN_TOKEN_SERVER_COUNT},
        {"2^24 + 1 servers", 1092, 1, CAIRN_TOKEN_SERVER_COUNT},
        {"address type 0", 1093, 0, CAIRN_TOKEN_ADDRESS_TYPE},
        {"address type 3", 1093, 3, CAIRN_TOKEN_ADDRESS_TYPE},
        {"a second server that is missing", 1089, 2, CAIRN_TOKEN_ADDRESS_TYPE}};
    cairn_token_public public;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE];
        memcpy(bytes, v->bytes, sizeof bytes);
        bytes[cases[i].at] = cases[i].value;
        const cairn_token_refusal refusal = cairn_token_read_public(bytes, sizeof bytes, &public);
        if (refusal != cases[i].refusal) {
            fail_msg("%s: %s", cases[i].what, cairn_token_refusal_text(refusal));
        }
    }
    assert_int_equal(cairn_token_read_public(v->bytes, 2047, &public), CAIRN_TOKEN_SIZE_WRONG);
    assert_int_equal(cairn_token_read_public(v->bytes, 0, &public), CAIRN_TOKEN_SIZE_WRONG);
}

// A backend may encrypt what the standard forbids.
TEST("a private part with invalid content is refused although it decrypts") {
    const struct {
        size_t at;
        uint8_t value;
        cairn_token_refusal refusal;
    } cases[] = {{12, 0, CAIRN_TOKEN_SERVER_COUNT}, {12, 33, CAIRN_TOKEN_SERVER_COUNT},
        {15, 128, CAIRN_TOKEN_SERVER_COUNT}, {16, 0, CAIRN_TOKEN_ADDRESS_TYPE},
        {16, 3, CAIRN_TOKEN_ADDRESS_TYPE}};
    const vector *v = vectors_find(vectors_read("netcode.txt"), "token");
    const cairn_token_public public = public_token(vectors_read("netcode.txt"));
    uint8_t associated[29];
    memcpy(associated, v->bytes, 21);
    memcpy(associated + 21, v->bytes + 29, 8);
    const cairn_associated_data with = {associated, sizeof associated};
    uint8_t text[CAIRN_TOKEN_PRIVATE_SIZE];
    assert_true(cairn_aead_decrypt_wide(
        public.private_data, CAIRN_TOKEN_PRIVATE_SIZE, with, nonce, private_key, text));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        uint8_t encrypted[CAIRN_TOKEN_PRIVATE_SIZE];
        memcpy(encrypted, text, sizeof encrypted);
        encrypted[cases[i].at] = cases[i].value;
        cairn_aead_encrypt_wide(
            encrypted, CAIRN_TOKEN_PRIVATE_SIZE - CAIRN_AEAD_MAC_SIZE, with, nonce, private_key);
        cairn_token_private private;
        assert_int_equal(cairn_token_read_private(
                             encrypted, nonce, KIT_PROTOCOL_ID, EXPIRE, private_key, &private),
            cases[i].refusal);
    }
}

TEST("the challenge token is read and written") {
    const vector *v = vectors_find(vectors_read("netcode.txt"), "challenge_token");
    assert_int_equal(v->size, CAIRN_CHALLENGE_TOKEN_SIZE);
    const cairn_associated_data none = {NULL, 0};
    cairn_challenge challenge;
    assert_true(cairn_challenge_read(v->bytes, none, v->number, challenge_key, &challenge));
    assert_int_equal(challenge.client_id, CLIENT_ID);
    assert_memory_equal(challenge.user_data, user_data, 256);
    uint8_t bytes[CAIRN_CHALLENGE_TOKEN_SIZE];
    cairn_challenge_write(&challenge, none, v->number, challenge_key, bytes);
    assert_memory_equal(bytes, v->bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; ++i) {
        bytes[i] ^= (uint8_t)(1u << (i % 8));
        assert_false(cairn_challenge_read(bytes, none, v->number, challenge_key, &challenge));
        bytes[i] ^= (uint8_t)(1u << (i % 8));
    }
    assert_false(cairn_challenge_read(bytes, none, v->number + 1, challenge_key, &challenge));
    assert_false(cairn_challenge_read(bytes, none, v->number, private_key, &challenge));
}

TEST("the request is read and written") {
    const vectors *all = vectors_read("netcode.txt");
    const vector *v = vectors_find(all, "request");
    cairn_packet_request request;
    assert_int_equal(cairn_packet_read_request(v->bytes, v->size, KIT_PROTOCOL_ID, &request),
        CAIRN_NETCODE_TAKEN);
    assert_int_equal(request.expire_unix_s, EXPIRE);
    assert_memory_equal(request.nonce, nonce, 24);
    uint8_t bytes[CAIRN_PACKET_REQUEST_SIZE];
    assert_int_equal(cairn_packet_write_request(&request, bytes), v->size);
    assert_memory_equal(bytes, v->bytes, v->size);
    const cairn_token_public public = public_token(all);
    assert_memory_equal(request.private_data, public.private_data, CAIRN_TOKEN_PRIVATE_SIZE);
}

static bool is_encrypted_packet(const vector *v) {
    return strchr(v->name, ':') != NULL && strncmp(v->name, "challenge_token", 15) != 0;
}

static const uint8_t *key_of(const vector *v) {
    const bool from_client = strncmp(v->name, "response", 8) == 0 ||
                             strncmp(v->name, "payload", 7) == 0 ||
                             strncmp(v->name, "disconnect", 10) == 0;
    return from_client ? client_to_server : server_to_client;
}

static void check_packet(const vector *v, uint64_t sequence, const uint8_t *key) {
    cairn_packet_header header;
    assert_int_equal(
        cairn_packet_read_header(v->bytes, v->size, ANY_TYPE, &header), CAIRN_NETCODE_TAKEN);
    assert_int_equal(header.sequence, sequence);
    _Alignas(8) uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet packet;
    assert_int_equal(
        cairn_packet_read(&header, v->bytes, v->size, KIT_PROTOCOL_ID, key, body, &packet),
        CAIRN_NETCODE_TAKEN);
    uint8_t bytes[CAIRN_PACKET_ENCRYPTED_SIZE_MAX];
    assert_int_equal(cairn_packet_write(&packet, sequence, KIT_PROTOCOL_ID, key, bytes), v->size);
    assert_memory_equal(bytes, v->bytes, v->size);
}

TEST("encrypted packets are read and written") {
    const vectors *all = vectors_read("netcode.txt");
    int seen = 0;
    for (size_t i = 0; i < all->count; ++i) {
        const vector *v = &all->list[i];
        if (is_encrypted_packet(v)) {
            check_packet(v, v->number, key_of(v));
            ++seen;
        }
    }
    assert_int_equal(seen, 21);
}

static cairn_netcode_drop read_packet(
    const uint8_t *bytes, size_t size, const uint8_t *key, uint8_t *body, cairn_packet *out) {
    cairn_packet_header header;
    const cairn_netcode_drop drop = cairn_packet_read_header(bytes, size, ANY_TYPE, &header);
    return drop != CAIRN_NETCODE_TAKEN
               ? drop
               : cairn_packet_read(&header, bytes, size, KIT_PROTOCOL_ID, key, body, out);
}

TEST("bodies hold the values that were written") {
    const vectors *all = vectors_read("netcode.txt");
    uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet packet;
    const vector *v = vectors_find(all, "keep_alive:256");
    assert_int_equal(
        read_packet(v->bytes, v->size, server_to_client, body, &packet), CAIRN_NETCODE_TAKEN);
    assert_int_equal(packet.type, CAIRN_PACKET_KEEP_ALIVE);
    assert_int_equal(packet.keep_alive.client_index, 3);
    assert_int_equal(packet.keep_alive.clients_max, 32);
    v = vectors_find(all, "payload:2200");
    assert_int_equal(
        read_packet(v->bytes, v->size, client_to_server, body, &packet), CAIRN_NETCODE_TAKEN);
    assert_int_equal(packet.payload.size, 1200);
    for (size_t i = 0; i < 1200; ++i) {
        assert_int_equal(packet.payload.bytes[i], i & 0xff);
    }
}

static cairn_netcode_drop read_whole(const uint8_t *bytes, size_t size, const uint8_t *key) {
    uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet packet;
    return read_packet(bytes, size, key, body, &packet);
}

TEST("an encrypted packet with a changed bit or of another size is refused") {
    const vectors *all = vectors_read("netcode.txt");
    for (size_t i = 0; i < all->count; ++i) {
        vector v = all->list[i];
        if (!is_encrypted_packet(&v)) {
            continue;
        }
        const uint8_t *key = key_of(&v);
        const size_t step = v.size > 100 ? 9 : 1;
        for (size_t bit = 0; bit < v.size * 8; bit += step) {
            v.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
            assert_int_not_equal(read_whole(v.bytes, v.size, key), CAIRN_NETCODE_TAKEN);
            v.bytes[bit / 8] ^= (uint8_t)(1u << (bit % 8));
        }
        for (size_t size = 0; size < v.size; ++size) {
            assert_int_not_equal(read_whole(v.bytes, size, key), CAIRN_NETCODE_TAKEN);
        }
        assert_int_not_equal(read_whole(v.bytes, v.size + 1, key), CAIRN_NETCODE_TAKEN);
        assert_int_equal(read_whole(v.bytes, v.size, private_key), CAIRN_NETCODE_DROP_DECRYPT);
    }
}

static void check_capture(const char *file_name) {
    const vectors *all = vectors_read(file_name);
    const cairn_token_public token = public_token(all);
    int seen = 0;
    for (size_t i = 0; i < all->count; ++i) {
        const vector *v = &all->list[i];
        const bool client = strcmp(v->name, "client") == 0;
        if ((!client && strcmp(v->name, "server") != 0) || v->bytes[0] == CAIRN_PACKET_REQUEST) {
            continue;
        }
        cairn_packet_header header;
        assert_int_equal(cairn_packet_read_header(v->bytes, v->size,
                             client ? CAIRN_PACKETS_TO_SERVER : CAIRN_PACKETS_TO_CLIENT, &header),
            CAIRN_NETCODE_TAKEN);
        check_packet(
            v, header.sequence, client ? token.client_to_server_key : token.server_to_client_key);
        ++seen;
    }
    assert_int_equal(seen, 24);
}

TEST("captured datagrams are read and written") {
    check_capture("capture_client_leaves.txt");
    check_capture("capture_server_kicks.txt");
}

TEST("the captured challenge holds the client id and the user data") {
    const vectors *all = vectors_read("capture_client_leaves.txt");
    const vector *v = vectors_find(all, "server");
    const cairn_token_public token = public_token(all);
    uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet packet;
    assert_int_equal(read_packet(v->bytes, v->size, token.server_to_client_key, body, &packet),
        CAIRN_NETCODE_TAKEN);
    cairn_challenge challenge;
    assert_true(cairn_challenge_read(packet.challenge.token, (cairn_associated_data){NULL, 0},
        packet.challenge.sequence, vectors_find(all, "challenge_key")->bytes, &challenge));
    assert_int_equal(challenge.client_id, CLIENT_ID);
    assert_memory_equal(challenge.user_data, user_data, 256);
}

// Our client receives the datagrams of the captured server, from the challenge to the disconnect.
TEST("our client follows a captured server") {
    const vectors *all = vectors_read("capture_server_kicks.txt");
    const cairn_address server = kit_address("10.0.0.100:40000");
    cairn_netcode_client *client;
    assert_int_equal(cairn_netcode_client_create(&client), CAIRN_OK);
    assert_int_equal(cairn_netcode_client_connect(client, 0, public_token(all).create_unix_s,
                         vectors_find(all, "token")->bytes),
        CAIRN_OK);
    cairn_netcode_client_state reached = CAIRN_NETCODE_STATE_SENDING_REQUEST;
    size_t payloads = 0;
    for (size_t i = 0; i < all->count; ++i) {
        const vector *v = &all->list[i];
        if (strcmp(v->name, "server") != 0) {
            continue;
        }
        cairn_netcode_client_receive(client, v->number * KIT_MS, &server, v->bytes, v->size);
        size_t size;
        payloads += cairn_netcode_client_next_payload(client, &size) != NULL ? 1 : 0;
        const cairn_netcode_client_state now = cairn_netcode_client_state_read(client);
        reached = now > reached ? now : reached;
    }
    assert_int_equal(reached, CAIRN_NETCODE_STATE_CONNECTED);
    assert_int_equal(payloads, 2);
    assert_int_equal(cairn_netcode_client_state_read(client), CAIRN_NETCODE_STATE_DISCONNECTED);
    assert_int_equal(cairn_netcode_client_drops(client)[CAIRN_NETCODE_DROP_DECRYPT], 0);
    cairn_netcode_client_destroy(client);
}
