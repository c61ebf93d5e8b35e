// SPDX-License-Identifier: MIT
#include "net/token.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/crypto.h"

const uint8_t cairn_netcode_version[CAIRN_NETCODE_VERSION_SIZE] = "NETCODE 1.02";

#define PRIVATE_TEXT_SIZE (CAIRN_TOKEN_PRIVATE_SIZE - CAIRN_AEAD_MAC_SIZE)
#define ASSOCIATED_DATA_SIZE (CAIRN_NETCODE_VERSION_SIZE + 16)

_Static_assert(CAIRN_KEY_SIZE == CAIRN_AEAD_KEY_SIZE, "one key size for all");
_Static_assert(CAIRN_TOKEN_NONCE_SIZE == CAIRN_AEAD_NONCE_SIZE, "tokens use the wide nonce");
_Static_assert(CAIRN_TOKEN_ENTROPY_SIZE == CAIRN_TOKEN_NONCE_SIZE + 2 * CAIRN_KEY_SIZE,
    "entropy is the nonce and the two keys");
_Static_assert(
    16 + CAIRN_TOKEN_SERVERS_MAX * 19 + 2 * CAIRN_KEY_SIZE + CAIRN_TOKEN_USER_DATA_SIZE <=
        PRIVATE_TEXT_SIZE,
    "the private part holds the longest list of IPv6 servers");

const char *cairn_token_refusal_text(cairn_token_refusal refusal) {
    static const char *const texts[CAIRN_TOKEN_REFUSAL_COUNT] = {
        [CAIRN_TOKEN_OK] = "ok",
        [CAIRN_TOKEN_SIZE_WRONG] = "a connect token is 2048 bytes long",
        [CAIRN_TOKEN_VERSION_WRONG] = "not a netcode 1.02 token",
        [CAIRN_TOKEN_TIMES_WRONG] = "the token expires before it was created",
        [CAIRN_TOKEN_SERVER_COUNT] = "the token names no server or more than 32",
        [CAIRN_TOKEN_ADDRESS_TYPE] = "a server address is neither IPv4 nor IPv6",
        [CAIRN_TOKEN_DECRYPT_FAILED] =
            "the private part cannot be decrypted with this key and protocol id",
    };
    return (unsigned)refusal < CAIRN_TOKEN_REFUSAL_COUNT ? texts[refusal] : "unknown refusal";
}

static void write_address(cairn_writer *writer, const cairn_address *address) {
    CAIRN_ASSERT(address->family == CAIRN_ADDRESS_IPV4 || address->family == CAIRN_ADDRESS_IPV6);
    cairn_write_u8(writer, address->family);
    if (address->family == CAIRN_ADDRESS_IPV4) {
        cairn_write_bytes(writer, address->ip, 4);
    } else {
        for (int i = 0; i < 16; i += 2) {
            cairn_write_u16(writer, (uint16_t)(address->ip[i] << 8 | address->ip[i + 1]));
        }
    }
    cairn_write_u16(writer, address->port);
}

static bool read_address(cairn_reader *reader, cairn_address *address) {
    *address = (cairn_address){.family = cairn_read_u8(reader)};
    if (address->family == CAIRN_ADDRESS_IPV4) {
        cairn_read_bytes(reader, address->ip, 4);
    } else if (address->family == CAIRN_ADDRESS_IPV6) {
        for (int i = 0; i < 16; i += 2) {
            const uint16_t group = cairn_read_u16(reader);
            address->ip[i] = (uint8_t)(group >> 8);
            address->ip[i + 1] = (uint8_t)group;
        }
    } else {
        return false;
    }
    address->port = cairn_read_u16(reader);
    return true;
}

static void write_servers(cairn_writer *writer, const cairn_address *servers, uint32_t count) {
    cairn_write_u32(writer, count);
    for (uint32_t i = 0; i < count; ++i) {
        write_address(writer, &servers[i]);
    }
}

static cairn_token_refusal read_servers(
    cairn_reader *reader, cairn_address *servers, uint32_t *count) {
    *count = cairn_read_u32(reader);
    if (*count < 1 || *count > CAIRN_TOKEN_SERVERS_MAX) {
        return CAIRN_TOKEN_SERVER_COUNT;
    }
    for (uint32_t i = 0; i < *count; ++i) {
        if (!read_address(reader, &servers[i])) {
            return CAIRN_TOKEN_ADDRESS_TYPE;
        }
    }
    return CAIRN_TOKEN_OK;
}

static void write_associated_data(
    uint8_t bytes[ASSOCIATED_DATA_SIZE], uint64_t protocol_id, uint64_t expire_unix_s) {
    cairn_writer writer = cairn_writer_of(bytes, ASSOCIATED_DATA_SIZE);
    cairn_write_bytes(&writer, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE);
    cairn_write_u64(&writer, protocol_id);
    cairn_write_u64(&writer, expire_unix_s);
    CAIRN_ASSERT(writer.ok && writer.at == ASSOCIATED_DATA_SIZE);
}

void cairn_token_write_private(const cairn_token_private *token,
    const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE], uint64_t protocol_id, uint64_t expire_unix_s,
    const uint8_t private_key[CAIRN_KEY_SIZE], uint8_t encrypted[CAIRN_TOKEN_PRIVATE_SIZE]) {
    cairn_writer writer = cairn_writer_of(encrypted, PRIVATE_TEXT_SIZE);
    cairn_write_u64(&writer, token->client_id);
    cairn_write_i32(&writer, token->timeout_s);
    write_servers(&writer, token->servers, token->server_count);
    cairn_write_bytes(&writer, token->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_write_bytes(&writer, token->server_to_client_key, CAIRN_KEY_SIZE);
    cairn_write_bytes(&writer, token->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    cairn_write_zeros(&writer, writer.size - writer.at);
    CAIRN_ASSERT(writer.ok);
    uint8_t associated[ASSOCIATED_DATA_SIZE];
    write_associated_data(associated, protocol_id, expire_unix_s);
    cairn_aead_encrypt_wide(encrypted, PRIVATE_TEXT_SIZE,
        (cairn_associated_data){associated, ASSOCIATED_DATA_SIZE}, nonce, private_key);
}

static cairn_token_refusal parse_private(
    const uint8_t text[PRIVATE_TEXT_SIZE], cairn_token_private *out) {
    cairn_reader reader = cairn_reader_of(text, PRIVATE_TEXT_SIZE);
    out->client_id = cairn_read_u64(&reader);
    out->timeout_s = cairn_read_i32(&reader);
    const cairn_token_refusal refusal = read_servers(&reader, out->servers, &out->server_count);
    if (refusal != CAIRN_TOKEN_OK) {
        return refusal;
    }
    cairn_read_bytes(&reader, out->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_read_bytes(&reader, out->server_to_client_key, CAIRN_KEY_SIZE);
    cairn_read_bytes(&reader, out->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    CAIRN_ASSERT(reader.ok);
    return CAIRN_TOKEN_OK;
}

cairn_token_refusal cairn_token_read_private(const uint8_t encrypted[CAIRN_TOKEN_PRIVATE_SIZE],
    const uint8_t nonce[CAIRN_TOKEN_NONCE_SIZE], uint64_t protocol_id, uint64_t expire_unix_s,
    const uint8_t private_key[CAIRN_KEY_SIZE], cairn_token_private *out) {
    *out = (cairn_token_private){0};
    uint8_t associated[ASSOCIATED_DATA_SIZE];
    write_associated_data(associated, protocol_id, expire_unix_s);
    uint8_t text[PRIVATE_TEXT_SIZE];
    if (!cairn_aead_decrypt_wide(encrypted, CAIRN_TOKEN_PRIVATE_SIZE,
            (cairn_associated_data){associated, ASSOCIATED_DATA_SIZE}, nonce, private_key, text)) {
        return CAIRN_TOKEN_DECRYPT_FAILED;
    }
    const cairn_token_refusal refusal = parse_private(text, out);
    cairn_wipe(text, sizeof text);
    return refusal;
}

void cairn_token_write_public(
    const cairn_token_public *token, uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE]) {
    cairn_writer writer = cairn_writer_of(bytes, CAIRN_CONNECT_TOKEN_SIZE);
    cairn_write_bytes(&writer, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE);
    cairn_write_u64(&writer, token->protocol_id);
    cairn_write_u64(&writer, token->create_unix_s);
    cairn_write_u64(&writer, token->expire_unix_s);
    cairn_write_bytes(&writer, token->nonce, CAIRN_TOKEN_NONCE_SIZE);
    cairn_write_bytes(&writer, token->private_data, CAIRN_TOKEN_PRIVATE_SIZE);
    cairn_write_i32(&writer, token->timeout_s);
    write_servers(&writer, token->servers, token->server_count);
    cairn_write_bytes(&writer, token->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_write_bytes(&writer, token->server_to_client_key, CAIRN_KEY_SIZE);
    cairn_write_zeros(&writer, writer.size - writer.at);
    CAIRN_ASSERT(writer.ok);
}

cairn_token_refusal cairn_token_read_public(
    const uint8_t *bytes, size_t size, cairn_token_public *out) {
    *out = (cairn_token_public){0};
    if (size != CAIRN_CONNECT_TOKEN_SIZE) {
        return CAIRN_TOKEN_SIZE_WRONG;
    }
    cairn_reader reader = cairn_reader_of(bytes, size);
    const uint8_t *version = cairn_read_view(&reader, CAIRN_NETCODE_VERSION_SIZE);
    if (memcmp(version, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE) != 0) {
        return CAIRN_TOKEN_VERSION_WRONG;
    }
    out->protocol_id = cairn_read_u64(&reader);
    out->create_unix_s = cairn_read_u64(&reader);
    out->expire_unix_s = cairn_read_u64(&reader);
    if (out->create_unix_s > out->expire_unix_s) {
        return CAIRN_TOKEN_TIMES_WRONG;
    }
    cairn_read_bytes(&reader, out->nonce, CAIRN_TOKEN_NONCE_SIZE);
    cairn_read_bytes(&reader, out->private_data, CAIRN_TOKEN_PRIVATE_SIZE);
    out->timeout_s = cairn_read_i32(&reader);
    const cairn_token_refusal refusal = read_servers(&reader, out->servers, &out->server_count);
    if (refusal != CAIRN_TOKEN_OK) {
        return refusal;
    }
    cairn_read_bytes(&reader, out->client_to_server_key, CAIRN_KEY_SIZE);
    cairn_read_bytes(&reader, out->server_to_client_key, CAIRN_KEY_SIZE);
    CAIRN_ASSERT(reader.ok);
    return CAIRN_TOKEN_OK;
}

bool cairn_addresses_valid(const cairn_address *addresses, uint32_t count) {
    CAIRN_ASSERT(count <= CAIRN_TOKEN_SERVERS_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        if (addresses[i].family != CAIRN_ADDRESS_IPV4 &&
            addresses[i].family != CAIRN_ADDRESS_IPV6) {
            return false;
        }
    }
    return true;
}

static bool request_valid(const cairn_token_request *request) {
    return request->server_count >= 1 && request->server_count <= CAIRN_TOKEN_SERVERS_MAX &&
           request->server_addresses != NULL && request->private_key != NULL &&
           request->entropy != NULL && request->create_unix_s <= UINT64_MAX - request->lifetime_s &&
           cairn_addresses_valid(request->server_addresses, request->server_count);
}

cairn_status cairn_token_issue(
    const cairn_token_request *request, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    CAIRN_ASSERT(request != NULL && token != NULL);
    if (!request_valid(request) || !cairn_crypto_start()) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_token_private private = {
        .client_id = request->client_id,
        .timeout_s = request->timeout_s,
        .server_count = request->server_count,
    };
    cairn_token_public public = {
        .protocol_id = request->protocol_id,
        .create_unix_s = request->create_unix_s,
        .expire_unix_s = request->create_unix_s + request->lifetime_s,
        .timeout_s = request->timeout_s,
        .server_count = request->server_count,
    };
    CAIRN_ASSERT(public.expire_unix_s >= public.create_unix_s);
    cairn_reader entropy = cairn_reader_of(request->entropy, CAIRN_TOKEN_ENTROPY_SIZE);
    cairn_read_bytes(&entropy, public.nonce, CAIRN_TOKEN_NONCE_SIZE);
    cairn_read_bytes(&entropy, private.client_to_server_key, CAIRN_KEY_SIZE);
    cairn_read_bytes(&entropy, private.server_to_client_key, CAIRN_KEY_SIZE);
    CAIRN_ASSERT(cairn_reader_done(&entropy));
    memcpy(public.client_to_server_key, private.client_to_server_key, CAIRN_KEY_SIZE);
    memcpy(public.server_to_client_key, private.server_to_client_key, CAIRN_KEY_SIZE);
    const size_t servers_size = request->server_count * sizeof *request->server_addresses;
    memcpy(private.servers, request->server_addresses, servers_size);
    memcpy(public.servers, request->server_addresses, servers_size);
    if (request->user_data != NULL) {
        memcpy(private.user_data, request->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    }
    cairn_token_write_private(&private, public.nonce, public.protocol_id, public.expire_unix_s,
        request->private_key, public.private_data);
    cairn_token_write_public(&public, token);
    cairn_wipe(&private, sizeof private);
    cairn_wipe(&public, sizeof public);
    return CAIRN_OK;
}

#define USER_DATA_MAGIC_SIZE 8
#define USER_DATA_RIGHTS CAIRN_USER_RIGHT_OPERATOR
// Version 1 has rights alone; version 2 has all of cairn_user_data.
enum { USER_DATA_OF_RIGHTS = 1, USER_DATA_WHOLE = 2 };

_Static_assert(USER_DATA_MAGIC_SIZE + 8 + 2 * CAIRN_USER_NAME_SIZE + 2 + CAIRN_USER_OPAQUE_SIZE ==
                   CAIRN_TOKEN_USER_DATA_SIZE,
    "user data fill their place");

static const uint8_t user_data_magic[USER_DATA_MAGIC_SIZE] = {
    'c', 'a', 'i', 'r', 'n', 'u', 's', 'r'};

static cairn_writer write_user_head(uint8_t *user_data, uint32_t version, uint32_t rights) {
    cairn_writer writer = cairn_writer_of(user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    cairn_write_bytes(&writer, user_data_magic, USER_DATA_MAGIC_SIZE);
    cairn_write_u32(&writer, version);
    cairn_write_u32(&writer, rights);
    CAIRN_ASSERT(writer.ok);
    return writer;
}

cairn_status cairn_user_data_encode(
    const cairn_user_data *user, uint8_t out[CAIRN_TOKEN_USER_DATA_SIZE]) {
    CAIRN_ASSERT(user != NULL && out != NULL);
    if (memchr(user->room, '\0', sizeof user->room) == NULL ||
        memchr(user->player, '\0', sizeof user->player) == NULL ||
        user->opaque_size > CAIRN_USER_OPAQUE_SIZE) {
        return CAIRN_INVALID_ARGUMENT;
    }
    memset(out, 0, CAIRN_TOKEN_USER_DATA_SIZE);
    cairn_writer writer = write_user_head(out, USER_DATA_WHOLE, user->rights);
    cairn_write_bytes(&writer, user->room, strlen(user->room));
    cairn_write_zeros(&writer, sizeof user->room - strlen(user->room));
    cairn_write_bytes(&writer, user->player, strlen(user->player));
    cairn_write_zeros(&writer, sizeof user->player - strlen(user->player));
    cairn_write_u16(&writer, (uint16_t)user->opaque_size);
    cairn_write_bytes(&writer, user->opaque, user->opaque_size);
    CAIRN_ASSERT(writer.ok);
    return CAIRN_OK;
}

cairn_status cairn_user_data_decode(
    const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], cairn_user_data *out) {
    *out = (cairn_user_data){0};
    cairn_reader reader = cairn_reader_of(user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    const uint8_t *head = cairn_read_view(&reader, USER_DATA_MAGIC_SIZE);
    const uint32_t version = cairn_read_u32(&reader);
    const uint32_t rights = cairn_read_u32(&reader) & USER_DATA_RIGHTS;
    CAIRN_ASSERT(reader.ok);
    if (memcmp(head, user_data_magic, USER_DATA_MAGIC_SIZE) != 0 ||
        (version != USER_DATA_OF_RIGHTS && version != USER_DATA_WHOLE)) {
        return CAIRN_OK;
    }
    if (version == USER_DATA_OF_RIGHTS) {
        out->rights = rights;
        return CAIRN_OK;
    }
    cairn_user_data user = {.rights = rights};
    cairn_read_bytes(&reader, user.room, sizeof user.room);
    cairn_read_bytes(&reader, user.player, sizeof user.player);
    user.opaque_size = cairn_read_u16(&reader);
    if (memchr(user.room, '\0', sizeof user.room) == NULL ||
        memchr(user.player, '\0', sizeof user.player) == NULL ||
        user.opaque_size > CAIRN_USER_OPAQUE_SIZE) {
        return CAIRN_MALFORMED;
    }
    cairn_read_bytes(&reader, user.opaque, user.opaque_size);
    CAIRN_ASSERT(reader.ok);
    *out = user;
    return CAIRN_OK;
}

uint32_t cairn_user_data_rights(const uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE]) {
    cairn_user_data user;
    (void)cairn_user_data_decode(user_data, &user);
    return user.rights;
}

void cairn_user_data_write(uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE], uint32_t rights) {
    (void)write_user_head(user_data, USER_DATA_OF_RIGHTS, rights);
}
