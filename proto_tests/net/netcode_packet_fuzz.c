// SPDX-License-Identifier: MIT
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "net/packet.h"

// Arbitrary bytes of an unknown peer; arbitrary bodies encrypted with the right key; and valid
// packets with changed bits, none of which may decrypt.

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define PROTOCOL_ID 7
static const uint8_t key[CAIRN_AEAD_KEY_SIZE] = {1, 2, 3};
// Nothing is ever encrypted with it: a fuzzer traces comparisons and would learn packets that were
// encrypted here.
static const uint8_t unused_key[CAIRN_AEAD_KEY_SIZE] = {4, 5, 6};
static const unsigned any_type = CAIRN_PACKETS_TO_SERVER | CAIRN_PACKETS_TO_CLIENT;

static cairn_netcode_drop read(
    const uint8_t *bytes, size_t size, const uint8_t with[CAIRN_AEAD_KEY_SIZE], cairn_packet *out) {
    static uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet_header header;
    const cairn_netcode_drop drop = cairn_packet_read_header(bytes, size, any_type, &header);
    if (drop != CAIRN_NETCODE_TAKEN) {
        return drop;
    }
    CAIRN_ASSERT(header.size >= 2 && header.size <= 9 && header.size + 16 <= size);
    return cairn_packet_read(&header, bytes, size, PROTOCOL_ID, with, body, out);
}

static void try_unknown_peer(const uint8_t *bytes, size_t size) {
    cairn_packet packet;
    cairn_packet_request request;
    CAIRN_ASSERT(read(bytes, size, unused_key, &packet) != CAIRN_NETCODE_TAKEN);
    const cairn_netcode_drop drop = cairn_packet_read_request(bytes, size, PROTOCOL_ID, &request);
    if (drop == CAIRN_NETCODE_TAKEN) {
        uint8_t again[CAIRN_PACKET_REQUEST_SIZE];
        CAIRN_ASSERT(cairn_packet_write_request(&request, again) == size);
        CAIRN_ASSERT(memcmp(again + 1, bytes + 1, size - 1) == 0);
    }
}

static bool body_size_valid(unsigned type, size_t size) {
    switch (type) {
    case CAIRN_PACKET_DENIED:
    case CAIRN_PACKET_DISCONNECT:
        return size == 0;
    case CAIRN_PACKET_KEEP_ALIVE:
        return size == 8;
    case CAIRN_PACKET_PAYLOAD:
        return size >= 1 && size <= CAIRN_PAYLOAD_SIZE_MAX;
    default:
        return size == 308;
    }
}

// Prefix, sequence and body come from the input; only the encryption is valid.
static void try_valid_encryption(uint8_t prefix, const uint8_t *bytes, size_t size) {
    const unsigned sequence_bytes = prefix >> 4;
    if (sequence_bytes < 1 || sequence_bytes > 8 || size < sequence_bytes || size > 1300) {
        return;
    }
    uint8_t encrypted[1400] = {prefix};
    memcpy(encrypted + 1, bytes, size);
    uint64_t sequence = 0;
    for (unsigned i = 0; i < sequence_bytes; ++i) {
        sequence |= (uint64_t)bytes[i] << (8 * i);
    }
    uint8_t associated[22];
    cairn_writer writer = cairn_writer_of(associated, sizeof associated);
    cairn_write_bytes(&writer, cairn_netcode_version, CAIRN_NETCODE_VERSION_SIZE);
    cairn_write_u64(&writer, PROTOCOL_ID);
    cairn_write_u8(&writer, prefix);
    const size_t body_size = size - sequence_bytes;
    cairn_aead_encrypt(encrypted + 1 + sequence_bytes, body_size,
        (cairn_associated_data){associated, sizeof associated}, sequence, key);
    cairn_packet packet;
    const cairn_netcode_drop drop = read(encrypted, 1 + size + CAIRN_AEAD_MAC_SIZE, key, &packet);
    const unsigned type = prefix & 15u;
    const bool valid = type >= 1 && type <= 6 && body_size_valid(type, body_size);
    CAIRN_ASSERT((drop == CAIRN_NETCODE_TAKEN) == valid);
    if (valid && type == CAIRN_PACKET_PAYLOAD) {
        CAIRN_ASSERT(packet.payload.size == body_size);
        CAIRN_ASSERT(memcmp(packet.payload.bytes, bytes + sequence_bytes, body_size) == 0);
    }
}

// The first bytes make a packet; each three bytes after them change one byte of it.
static void try_changed_bytes(const uint8_t *bytes, size_t size) {
    cairn_reader reader = cairn_reader_of(bytes, size);
    const size_t payload_size = 1 + cairn_read_u16(&reader) % CAIRN_PAYLOAD_SIZE_MAX;
    const uint64_t sequence = cairn_read_u64(&reader);
    if (!reader.ok) {
        return;
    }
    static const uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX] = {5};
    const cairn_packet packet = {
        .type = CAIRN_PACKET_PAYLOAD, .payload = {.bytes = payload, .size = payload_size}};
    uint8_t good[CAIRN_PACKET_ENCRYPTED_SIZE_MAX];
    uint8_t bad[CAIRN_PACKET_ENCRYPTED_SIZE_MAX];
    const size_t encrypted_size = cairn_packet_write(&packet, sequence, PROTOCOL_ID, key, good);
    memcpy(bad, good, encrypted_size);
    while (cairn_reader_left(&reader) >= 3) {
        const size_t at = cairn_read_u16(&reader) % encrypted_size;
        bad[at] ^= cairn_read_u8(&reader);
    }
    cairn_packet out;
    const bool same = memcmp(good, bad, encrypted_size) == 0;
    CAIRN_ASSERT((read(bad, encrypted_size, key, &out) == CAIRN_NETCODE_TAKEN) == same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    if (!cairn_crypto_start() || size < 2) {
        return 0;
    }
    switch (bytes[0] % 3) {
    case 0:
        try_unknown_peer(bytes + 1, size - 1);
        break;
    case 1:
        try_valid_encryption(bytes[1], bytes + 2, size - 2);
        break;
    default:
        try_changed_bytes(bytes + 1, size - 1);
        break;
    }
    return 0;
}
