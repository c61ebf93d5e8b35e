// SPDX-License-Identifier: MIT
#include "net/netcode_path.h"

#include "base/assert.h"
#include "base/bytes.h"

// How long a client has to prove that it is at another address.
static const uint64_t proof_ns_max = 3000000000;

// The client of the slot sent the newest of its packets from another address.
static void begin_move(const cairn_netcode_path *path, uint32_t client, size_t size) {
    cairn_netcode_slot *slot = &path->slots->list[client];
    const bool same = slot->moving && cairn_address_equal(&slot->candidate, path->from);
    const uint64_t seed[] = {client, slot->client_id, slot->replay.newest, path->now_ns};
    if (slot->moving && !same) {
        cairn_netcode_slots_forget_candidate(path->slots, client);
    }
    if (!same) {
        cairn_netcode_slots_set_candidate(path->slots, client, path->from);
        slot->path_number = cairn_siphash((const uint8_t *)seed, sizeof seed, path->number_key);
        slot->moved = true;
        path->slots->moved = true;
    }
    slot->candidate_bytes += size;
    slot->candidate_until_ns = path->now_ns + proof_ns_max;
    CAIRN_ASSERT(slot->moving);
}

static cairn_netcode_drop take_request(const cairn_netcode_path *path, uint32_t client, bool newest,
    size_t size, cairn_packet *answer) {
    cairn_netcode_slot *slot = &path->slots->list[client];
    if (!newest) {
        return CAIRN_NETCODE_DROP_PATH_OLD;
    }
    if (cairn_address_equal(&slot->address, path->from)) { // it only heard nothing for a while
        if (slot->moving) {
            cairn_netcode_slots_forget_candidate(path->slots, client);
        }
        return CAIRN_NETCODE_TAKEN;
    }
    const uint32_t other = cairn_netcode_path_find(path->slots, path->from, path->now_ns);
    if (cairn_netcode_slots_find_address(path->slots, path->from) != CAIRN_LOOKUP_NONE ||
        (other != CAIRN_LOOKUP_NONE && other != client)) {
        return CAIRN_NETCODE_DROP_ADDRESS_CONNECTED;
    }
    begin_move(path, client, size);
    *answer =
        (cairn_packet){.type = CAIRN_PACKET_PATH_CHALLENGE, .path = {.number = slot->path_number}};
    return CAIRN_NETCODE_TAKEN;
}

static cairn_netcode_drop take_response(
    const cairn_netcode_path *path, uint32_t client, uint64_t number, cairn_packet *answer) {
    const cairn_netcode_slot *slot = &path->slots->list[client];
    if (!slot->moving || !cairn_address_equal(&slot->candidate, path->from) ||
        number != slot->path_number || path->now_ns >= slot->candidate_until_ns ||
        cairn_netcode_slots_find_address(path->slots, path->from) != CAIRN_LOOKUP_NONE) {
        return CAIRN_NETCODE_DROP_PATH_RESPONSE;
    }
    cairn_netcode_slots_settle(path->slots, client);
    answer->type = CAIRN_PACKET_KEEP_ALIVE;
    return CAIRN_NETCODE_TAKEN;
}

// Reads a packet whose last bytes name its client; only the client's key opens it.
static cairn_netcode_drop read_packet(const cairn_netcode_path *path, const uint8_t *bytes,
    size_t size, uint32_t *client, bool *newest, cairn_packet *packet) {
    cairn_packet_header header;
    if (size < CAIRN_PACKET_ENCRYPTED_SIZE_MIN + CAIRN_PACKET_INDEX_SIZE) {
        return CAIRN_NETCODE_DROP_SIZE;
    }
    const size_t packet_size = size - CAIRN_PACKET_INDEX_SIZE;
    cairn_netcode_drop drop =
        cairn_packet_read_header(bytes, packet_size, CAIRN_PACKETS_OF_PATH_TO_SERVER, &header);
    if (drop != CAIRN_NETCODE_TAKEN) {
        return drop;
    }
    cairn_reader reader = cairn_reader_of(bytes + packet_size, CAIRN_PACKET_INDEX_SIZE);
    *client = cairn_read_u32(&reader);
    if (*client >= path->slots->count || path->slots->list[*client].state == CAIRN_PEER_UNKNOWN) {
        return CAIRN_NETCODE_DROP_UNKNOWN_SENDER;
    }
    cairn_netcode_slot *slot = &path->slots->list[*client];
    if (!cairn_replay_fresh(&slot->replay, header.sequence)) {
        return CAIRN_NETCODE_DROP_REPLAYED;
    }
    *newest = header.sequence > slot->replay.newest;
    drop = cairn_packet_read(&header, bytes, packet_size, path->protocol_id,
        slot->client_to_server_key, path->body, packet);
    if (drop != CAIRN_NETCODE_DROP_DECRYPT) {
        cairn_replay_accept(&slot->replay, header.sequence);
    }
    return drop;
}

cairn_netcode_drop cairn_netcode_path_receive(const cairn_netcode_path *path, const uint8_t *bytes,
    size_t size, uint32_t *client, cairn_packet *answer) {
    cairn_packet packet;
    bool newest = false;
    *answer = (cairn_packet){.type = CAIRN_PACKET_REQUEST};
    const cairn_netcode_drop drop = read_packet(path, bytes, size, client, &newest, &packet);
    if (drop != CAIRN_NETCODE_TAKEN) {
        return drop;
    }
    cairn_netcode_slot *slot = &path->slots->list[*client];
    slot->last_receive_ns = path->now_ns;
    slot->state = CAIRN_PEER_CONFIRMED;
    return packet.type == CAIRN_PACKET_PATH_RESPONSE
               ? take_response(path, *client, packet.path.number, answer)
               : take_request(path, *client, newest, size, answer);
}

uint32_t cairn_netcode_path_find(
    cairn_netcode_slots *slots, const cairn_address *from, uint64_t now_ns) {
    const uint32_t client = cairn_netcode_slots_find_candidate(slots, from);
    if (client != CAIRN_LOOKUP_NONE && now_ns >= slots->list[client].candidate_until_ns) {
        cairn_netcode_slots_forget_candidate(slots, client);
        return CAIRN_LOOKUP_NONE;
    }
    return client;
}

const cairn_address *cairn_netcode_path_route(cairn_netcode_slot *slot, size_t size) {
    if (!slot->moving || slot->candidate_bytes < size) {
        return &slot->address;
    }
    slot->candidate_bytes -= size;
    return &slot->candidate;
}
