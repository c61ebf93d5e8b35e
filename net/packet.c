// SPDX-License-Identifier: MIT
#include "net/packet.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

#define ASSOCIATED_DATA_SIZE (CAIRN_NETCODE_VERSION_SIZE + 8 + 1)

_Static_assert(CAIRN_PACKET_REQUEST_SIZE == 1 + CAIRN_NETCODE_VERSION_SIZE + 8 + 8 +
                                                CAIRN_TOKEN_NONCE_SIZE + CAIRN_TOKEN_PRIVATE_SIZE,
    "the parts of a request");
_Static_assert(
    CAIRN_PACKET_ENCRYPTED_SIZE_MAX <= CAIRN_DATAGRAM_SIZE_MAX, "a packet is a datagram");
_Static_assert(8 + CAIRN_CHALLENGE_TOKEN_SIZE <= CAIRN_PAYLOAD_SIZE_MAX,
    "the payload is the longest body, one buffer opens every type");

size_t cairn_packet_write_request(
    const cairn_packet_request *request, uint8_t bytes[CAIRN_PACKET_REQUEST_SIZE]) {
    cairn_writer writer = cairn_writer_of(bytes, CAIRN_PACKET_REQUEST_SIZE);
    cairn_write_u8(&writer, CAIRN_PACKET_REQUEST);
    cairn_write_bytes(&writer, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE);
    cairn_write_u64(&writer, request->protocol_id);
    cairn_write_u64(&writer, request->expire_unix_s);
    cairn_write_bytes(&writer, request->nonce, CAIRN_TOKEN_NONCE_SIZE);
    cairn_write_bytes(&writer, request->private_data, CAIRN_TOKEN_PRIVATE_SIZE);
    CAIRN_ASSERT(writer.ok && writer.at == CAIRN_PACKET_REQUEST_SIZE);
    return writer.at;
}

cairn_netcode_drop cairn_packet_read_request(
    const uint8_t *bytes, size_t size, uint64_t protocol_id, cairn_packet_request *out) {
    if (size != CAIRN_PACKET_REQUEST_SIZE) {
        return CAIRN_NETCODE_DROP_SIZE;
    }
    cairn_reader reader = cairn_reader_of(bytes, size);
    (void)cairn_read_u8(&reader);
    const uint8_t *version = cairn_read_view(&reader, CAIRN_NETCODE_VERSION_SIZE);
    out->protocol_id = cairn_read_u64(&reader);
    out->expire_unix_s = cairn_read_u64(&reader);
    out->nonce = cairn_read_view(&reader, CAIRN_TOKEN_NONCE_SIZE);
    out->private_data = cairn_read_view(&reader, CAIRN_TOKEN_PRIVATE_SIZE);
    CAIRN_ASSERT(cairn_reader_done(&reader));
    if (memcmp(version, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE) != 0) {
        return CAIRN_NETCODE_DROP_VERSION;
    }
    return out->protocol_id == protocol_id ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_PROTOCOL_ID;
}

static void write_body(cairn_writer *writer, const cairn_packet *packet) {
    switch (packet->type) {
    case CAIRN_PACKET_CHALLENGE:
    case CAIRN_PACKET_RESPONSE:
        CAIRN_ASSERT(packet->challenge.token != NULL);
        cairn_write_u64(writer, packet->challenge.sequence);
        cairn_write_bytes(writer, packet->challenge.token, CAIRN_CHALLENGE_TOKEN_SIZE);
        break;
    case CAIRN_PACKET_KEEP_ALIVE:
        cairn_write_u32(writer, packet->keep_alive.client_index);
        cairn_write_u32(writer, packet->keep_alive.clients_max);
        break;
    case CAIRN_PACKET_PAYLOAD:
        CAIRN_ASSERT(packet->payload.size >= 1 && packet->payload.size <= CAIRN_PAYLOAD_SIZE_MAX);
        cairn_write_bytes(writer, packet->payload.bytes, packet->payload.size);
        break;
    case CAIRN_PACKET_PATH_REQUEST:
    case CAIRN_PACKET_PATH_CHALLENGE:
    case CAIRN_PACKET_PATH_RESPONSE:
        cairn_write_u64(writer, packet->path.number);
        cairn_write_zeros(
            writer, packet->type == CAIRN_PACKET_PATH_REQUEST ? CAIRN_PACKET_PATH_PADDING : 0);
        break;
    default:
        CAIRN_ASSERT(
            packet->type == CAIRN_PACKET_DENIED || packet->type == CAIRN_PACKET_DISCONNECT);
        break;
    }
}

static void read_body(cairn_reader *reader, cairn_packet *packet) {
    switch (packet->type) {
    case CAIRN_PACKET_CHALLENGE:
    case CAIRN_PACKET_RESPONSE:
        packet->challenge.sequence = cairn_read_u64(reader);
        packet->challenge.token = cairn_read_view(reader, CAIRN_CHALLENGE_TOKEN_SIZE);
        break;
    case CAIRN_PACKET_KEEP_ALIVE:
        packet->keep_alive.client_index = cairn_read_u32(reader);
        packet->keep_alive.clients_max = cairn_read_u32(reader);
        break;
    case CAIRN_PACKET_PAYLOAD:
        packet->payload.size = cairn_reader_left(reader);
        packet->payload.bytes = cairn_read_view(reader, packet->payload.size);
        reader->ok = reader->ok && packet->payload.size >= 1;
        break;
    case CAIRN_PACKET_PATH_REQUEST:
    case CAIRN_PACKET_PATH_CHALLENGE:
    case CAIRN_PACKET_PATH_RESPONSE:
        packet->path.number = cairn_read_u64(reader);
        (void)cairn_read_view(
            reader, packet->type == CAIRN_PACKET_PATH_REQUEST ? CAIRN_PACKET_PATH_PADDING : 0);
        break;
    default:
        break;
    }
}

// The prefix is authenticated with the body, so an attacker cannot turn one type into another.
static void write_associated_data(
    uint8_t bytes[ASSOCIATED_DATA_SIZE], uint64_t protocol_id, uint8_t prefix) {
    cairn_writer writer = cairn_writer_of(bytes, ASSOCIATED_DATA_SIZE);
    cairn_write_bytes(&writer, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE);
    cairn_write_u64(&writer, protocol_id);
    cairn_write_u8(&writer, prefix);
    CAIRN_ASSERT(writer.ok && writer.at == ASSOCIATED_DATA_SIZE);
}

static uint8_t write_header(cairn_writer *writer, cairn_packet_type type, uint64_t sequence) {
    CAIRN_ASSERT(type > CAIRN_PACKET_REQUEST && type <= CAIRN_PACKET_PATH_RESPONSE);
    unsigned sequence_bytes = 1;
    while (sequence_bytes < 8 && sequence >> (8 * sequence_bytes) != 0) {
        ++sequence_bytes;
    }
    const uint8_t prefix = (uint8_t)(type | sequence_bytes << 4);
    cairn_write_u8(writer, prefix);
    for (unsigned i = 0; i < sequence_bytes; ++i) {
        cairn_write_u8(writer, (uint8_t)(sequence >> (8 * i)));
    }
    return prefix;
}

cairn_netcode_drop cairn_packet_read_header(
    const uint8_t *bytes, size_t size, unsigned types, cairn_packet_header *out) {
    if (size < CAIRN_PACKET_ENCRYPTED_SIZE_MIN || size > CAIRN_PACKET_ENCRYPTED_SIZE_MAX) {
        return CAIRN_NETCODE_DROP_SIZE;
    }
    cairn_reader reader = cairn_reader_of(bytes, size);
    const uint8_t prefix = cairn_read_u8(&reader);
    const unsigned type = prefix & 15u;
    if ((types & CAIRN_PACKET_BIT(type)) == 0) {
        return CAIRN_NETCODE_DROP_TYPE;
    }
    const unsigned sequence_bytes = prefix >> 4;
    if (sequence_bytes < 1 || sequence_bytes > 8 ||
        size < 1 + sequence_bytes + CAIRN_AEAD_MAC_SIZE) {
        return CAIRN_NETCODE_DROP_SEQUENCE_BYTES;
    }
    uint64_t sequence = 0;
    for (unsigned i = 0; i < sequence_bytes; ++i) {
        sequence |= (uint64_t)cairn_read_u8(&reader) << (8 * i);
    }
    *out = (cairn_packet_header){
        .type = (cairn_packet_type)type, .sequence = sequence, .size = reader.at};
    return CAIRN_NETCODE_TAKEN;
}

size_t cairn_packet_write(const cairn_packet *packet, uint64_t sequence, uint64_t protocol_id,
    const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *bytes) {
    cairn_writer writer =
        cairn_writer_of(bytes, CAIRN_PACKET_ENCRYPTED_SIZE_MAX - CAIRN_AEAD_MAC_SIZE);
    const uint8_t prefix = write_header(&writer, packet->type, sequence);
    const size_t header_size = writer.at;
    write_body(&writer, packet);
    CAIRN_ASSERT(writer.ok);
    uint8_t associated[ASSOCIATED_DATA_SIZE];
    write_associated_data(associated, protocol_id, prefix);
    cairn_aead_encrypt(bytes + header_size, writer.at - header_size,
        (cairn_associated_data){associated, ASSOCIATED_DATA_SIZE}, sequence, key);
    return writer.at + CAIRN_AEAD_MAC_SIZE;
}

cairn_netcode_drop cairn_packet_read(const cairn_packet_header *header, const uint8_t *bytes,
    size_t size, uint64_t protocol_id, const uint8_t key[CAIRN_AEAD_KEY_SIZE], uint8_t *body,
    cairn_packet *out) {
    CAIRN_ASSERT(size >= header->size + CAIRN_AEAD_MAC_SIZE);
    const size_t encrypted_size = size - header->size;
    if (encrypted_size > CAIRN_PAYLOAD_SIZE_MAX + CAIRN_AEAD_MAC_SIZE) {
        return CAIRN_NETCODE_DROP_SIZE;
    }
    uint8_t associated[ASSOCIATED_DATA_SIZE];
    write_associated_data(associated, protocol_id, bytes[0]);
    if (!cairn_aead_decrypt(bytes + header->size, encrypted_size,
            (cairn_associated_data){associated, ASSOCIATED_DATA_SIZE}, header->sequence, key,
            body)) {
        return CAIRN_NETCODE_DROP_DECRYPT;
    }
    cairn_reader reader = cairn_reader_of(body, encrypted_size - CAIRN_AEAD_MAC_SIZE);
    *out = (cairn_packet){.type = header->type};
    read_body(&reader, out);
    return cairn_reader_done(&reader) ? CAIRN_NETCODE_TAKEN : CAIRN_NETCODE_DROP_SIZE;
}

#define CHALLENGE_TEXT_SIZE (CAIRN_CHALLENGE_TOKEN_SIZE - CAIRN_AEAD_MAC_SIZE)

void cairn_challenge_bind(const uint8_t mac[CAIRN_AEAD_MAC_SIZE], const cairn_address *address,
    uint8_t binding[CAIRN_CHALLENGE_BINDING_SIZE]) {
    cairn_writer writer = cairn_writer_of(binding, CAIRN_CHALLENGE_BINDING_SIZE);
    cairn_write_bytes(&writer, mac, CAIRN_AEAD_MAC_SIZE);
    cairn_write_u8(&writer, address->family);
    cairn_write_bytes(&writer, address->ip, sizeof address->ip);
    cairn_write_u16(&writer, address->port);
    CAIRN_ASSERT(writer.ok && writer.at == CAIRN_CHALLENGE_BINDING_SIZE);
}

void cairn_challenge_write(const cairn_challenge *challenge, cairn_associated_data binding,
    uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    uint8_t encrypted[CAIRN_CHALLENGE_TOKEN_SIZE]) {
    cairn_writer writer = cairn_writer_of(encrypted, CHALLENGE_TEXT_SIZE);
    cairn_write_u64(&writer, challenge->client_id);
    cairn_write_bytes(&writer, challenge->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    cairn_write_u64(&writer, challenge->issued_ns);
    cairn_write_zeros(&writer, writer.size - writer.at);
    CAIRN_ASSERT(writer.ok && writer.at == CHALLENGE_TEXT_SIZE);
    cairn_aead_encrypt(encrypted, CHALLENGE_TEXT_SIZE, binding, sequence, key);
}

bool cairn_challenge_read(const uint8_t encrypted[CAIRN_CHALLENGE_TOKEN_SIZE],
    cairn_associated_data binding, uint64_t sequence, const uint8_t key[CAIRN_AEAD_KEY_SIZE],
    cairn_challenge *out) {
    uint8_t text[CHALLENGE_TEXT_SIZE];
    if (!cairn_aead_decrypt(encrypted, CAIRN_CHALLENGE_TOKEN_SIZE, binding, sequence, key, text)) {
        return false;
    }
    cairn_reader reader = cairn_reader_of(text, CHALLENGE_TEXT_SIZE);
    out->client_id = cairn_read_u64(&reader);
    cairn_read_bytes(&reader, out->user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    out->issued_ns = cairn_read_u64(&reader);
    CAIRN_ASSERT(reader.ok);
    return true;
}
