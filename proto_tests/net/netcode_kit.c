// SPDX-License-Identifier: MIT
#include "proto_tests/net/netcode_kit.h"

#include <string.h>

#include "base/assert.h"
#include "base/random.h"

const char *const kit_server_address = "10.0.0.100:40000";

const uint8_t kit_key[CAIRN_KEY_SIZE] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
    18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

cairn_address kit_address(const char *text) {
    cairn_address address;
    const bool parsed = cairn_address_parse(text, &address);
    CAIRN_ASSERT(parsed);
    return address;
}

static void fill(uint64_t seed, uint8_t *bytes, size_t size) {
    cairn_random random = cairn_random_of(seed);
    for (size_t i = 0; i < size; ++i) {
        bytes[i] = (uint8_t)cairn_random_next(&random);
    }
}

void kit_token(const kit_token_fields *fields, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    cairn_address servers[CAIRN_TOKEN_SERVERS_MAX] = {kit_address(kit_server_address)};
    uint32_t count = 0;
    for (; count < CAIRN_TOKEN_SERVERS_MAX && fields->servers[count] != NULL; ++count) {
        servers[count] = kit_address(fields->servers[count]);
    }
    const uint64_t client_id = fields->client_id != 0 ? fields->client_id : 1;
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    fill(fields->seed != 0 ? fields->seed : client_id, entropy, sizeof entropy);
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE];
    fill(client_id + 1000, user_data, sizeof user_data);
    const cairn_token_request request = {
        .protocol_id = fields->protocol_id != 0 ? fields->protocol_id : KIT_PROTOCOL_ID,
        .client_id = client_id,
        .create_unix_s = fields->create_unix_s != 0 ? fields->create_unix_s : KIT_UNIX_S,
        .lifetime_s = fields->lifetime_s != 0 ? fields->lifetime_s : KIT_TOKEN_LIFETIME_S,
        .timeout_s = fields->timeout_s != 0 || fields->has_no_timeout ? fields->timeout_s : 5,
        .server_addresses = servers,
        .server_count = count > 0 ? count : 1,
        .private_key = fields->key != NULL ? fields->key : kit_key,
        .user_data = user_data,
        .entropy = entropy};
    const cairn_status status = cairn_token_issue(&request, token);
    CAIRN_ASSERT(status == CAIRN_OK);
}

cairn_token_public kit_token_public(const kit_token_fields *fields) {
    uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE];
    cairn_token_public token;
    kit_token(fields, bytes);
    const cairn_token_refusal refusal = cairn_token_read_public(bytes, sizeof bytes, &token);
    CAIRN_ASSERT(refusal == CAIRN_TOKEN_OK);
    return token;
}

kit_datagram kit_packet(const kit_peer *peer, bool to_client, cairn_packet_type type,
    uint64_t sequence, size_t payload_size) {
    static const uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX] = {1};
    const cairn_token_public *token = &peer->token;
    kit_datagram datagram = {.size = 0};
    if (type == CAIRN_PACKET_REQUEST) {
        const cairn_packet_request request = {
            token->protocol_id, token->expire_unix_s, token->nonce, token->private_data};
        datagram.size = cairn_packet_write_request(&request, datagram.bytes);
        return datagram;
    }
    cairn_packet packet = {.type = type};
    if (type == CAIRN_PACKET_CHALLENGE || type == CAIRN_PACKET_RESPONSE) {
        packet.challenge = (cairn_packet_challenge){peer->challenge_sequence, peer->challenge};
    } else if (type == CAIRN_PACKET_KEEP_ALIVE) {
        packet.keep_alive = (cairn_packet_keep_alive){.client_index = 2, .clients_max = 4};
    } else if (type == CAIRN_PACKET_PAYLOAD) {
        packet.payload = (cairn_packet_payload){payload, payload_size};
    }
    datagram.size = cairn_packet_write(&packet, sequence, token->protocol_id,
        to_client ? token->server_to_client_key : token->client_to_server_key, datagram.bytes);
    return datagram;
}

bool kit_learn_challenge(kit_peer *peer, const kit_datagram *datagram) {
    uint8_t body[CAIRN_PAYLOAD_SIZE_MAX];
    cairn_packet_header header;
    cairn_packet packet;
    if (cairn_packet_read_header(datagram->bytes, datagram->size, CAIRN_PACKETS_TO_CLIENT,
            &header) != CAIRN_NETCODE_TAKEN ||
        cairn_packet_read(&header, datagram->bytes, datagram->size, peer->token.protocol_id,
            peer->token.server_to_client_key, body, &packet) != CAIRN_NETCODE_TAKEN ||
        packet.type != CAIRN_PACKET_CHALLENGE) {
        return false;
    }
    peer->challenge_sequence = packet.challenge.sequence;
    memcpy(peer->challenge, packet.challenge.token, sizeof peer->challenge);
    return true;
}

cairn_netcode_server_config kit_server_config(const cairn_address *addresses, uint32_t count) {
    static const uint8_t entropy[32] = {99};
    cairn_netcode_server_config config = cairn_netcode_server_config_default();
    config.protocol_id = KIT_PROTOCOL_ID;
    config.private_key = kit_key;
    config.entropy = entropy;
    config.public_addresses = addresses;
    config.public_address_count = count;
    config.start_unix_ns = (KIT_UNIX_S - 3600) * KIT_S;
    config.token_lifetime_s_max = KIT_TOKEN_LIFETIME_S;
    config.token_timeout_s_max = 0;
    return config;
}

cairn_netcode_server *kit_server(
    const char *address, uint32_t clients_max, uint64_t start_ns, uint32_t token_lifetime_s_max) {
    const cairn_address public_address = kit_address(address);
    cairn_netcode_server_config config = kit_server_config(&public_address, 1);
    config.clients_max = clients_max;
    config.start_ns = start_ns;
    config.token_lifetime_s_max = token_lifetime_s_max;
    cairn_netcode_server *server;
    const cairn_status status = cairn_netcode_server_create(&config, &server);
    CAIRN_ASSERT(status == CAIRN_OK);
    return server;
}

kit kit_open(uint32_t clients_max) {
    kit k = {.now_ns = 3600 * KIT_S, .server_address = kit_address(kit_server_address)};
    k.server = kit_server(kit_server_address, clients_max, 0, KIT_TOKEN_LIFETIME_S);
    for (int i = 0; i < KIT_CLIENTS_MAX; ++i) {
        const cairn_status status = cairn_netcode_client_create(&k.clients[i]);
        CAIRN_ASSERT(status == CAIRN_OK);
        k.client_addresses[i] = kit_address("10.0.0.1:5000");
        k.client_addresses[i].ip[3] = (uint8_t)(i + 1);
    }
    return k;
}

kit kit_open_joined(uint32_t clients_max) {
    kit k = kit_open(clients_max);
    kit_join(&k, 0);
    return k;
}

void kit_close(kit *k) {
    cairn_netcode_server_destroy(k->server);
    for (int i = 0; i < KIT_CLIENTS_MAX; ++i) {
        cairn_netcode_client_destroy(k->clients[i]);
    }
}

uint64_t kit_unix_s(const kit *k) {
    return KIT_UNIX_S - 3600 + k->now_ns / KIT_S;
}

cairn_status kit_connect_with(kit *k, int i, const kit_token_fields *fields) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    kit_token(fields, token);
    return cairn_netcode_client_connect(k->clients[i], k->now_ns, kit_unix_s(k), token);
}

void kit_connect(kit *k, int i) {
    const kit_token_fields fields = {.client_id = (uint64_t)i + 1,
        .create_unix_s = kit_unix_s(k),
        .seed = k->now_ns + (uint64_t)i + 1};
    const cairn_status status = kit_connect_with(k, i, &fields);
    CAIRN_ASSERT(status == CAIRN_OK);
}

kit_datagram kit_from_client(kit *k, int i) {
    kit_datagram datagram = {.from = k->client_addresses[i]};
    datagram.size = cairn_netcode_client_next_datagram(k->clients[i], &datagram.to, datagram.bytes);
    return datagram;
}

kit_datagram kit_from_server(kit *k) {
    kit_datagram datagram = {.from = k->server_address};
    datagram.size = cairn_netcode_server_next_datagram(k->server, &datagram.to, datagram.bytes);
    return datagram;
}

static cairn_netcode_drop changed_counter(const uint64_t *before, const uint64_t *after) {
    cairn_netcode_drop changed = CAIRN_NETCODE_DROP_COUNT;
    for (int i = 0; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        const bool aside =
            i == CAIRN_NETCODE_DROP_UNREAD || i == CAIRN_NETCODE_DROP_SEND_QUEUE_FULL;
        if (before[i] != after[i] && !aside) {
            CAIRN_ASSERT(changed == CAIRN_NETCODE_DROP_COUNT && after[i] == before[i] + 1);
            changed = (cairn_netcode_drop)i;
        }
    }
    CAIRN_ASSERT(changed != CAIRN_NETCODE_DROP_COUNT);
    return changed;
}

cairn_netcode_drop kit_to_server(kit *k, kit_datagram datagram) {
    uint64_t before[CAIRN_NETCODE_DROP_COUNT];
    memcpy(before, cairn_netcode_server_drops(k->server), sizeof before);
    cairn_netcode_server_receive(
        k->server, k->now_ns, &datagram.from, datagram.bytes, datagram.size);
    return changed_counter(before, cairn_netcode_server_drops(k->server));
}

cairn_netcode_drop kit_to_client(kit *k, int i, kit_datagram datagram) {
    uint64_t before[CAIRN_NETCODE_DROP_COUNT];
    memcpy(before, cairn_netcode_client_drops(k->clients[i]), sizeof before);
    cairn_netcode_client_receive(
        k->clients[i], k->now_ns, &datagram.from, datagram.bytes, datagram.size);
    return changed_counter(before, cairn_netcode_client_drops(k->clients[i]));
}

void kit_take_events(kit *k) {
    cairn_netcode_event event;
    while (cairn_netcode_server_next_event(k->server, &event)) {
        if (k->event_count == sizeof k->events / sizeof k->events[0]) {
            memmove(k->events, k->events + 1, sizeof k->events - sizeof k->events[0]);
            --k->event_count;
        }
        k->events[k->event_count++] = event;
    }
}

kit_datagram kit_response(kit *k, int i) {
    kit_to_server(k, kit_from_client(k, i));
    kit_to_client(k, i, kit_from_server(k));
    return kit_from_client(k, i);
}

void kit_exchange(kit *k) {
    for (bool moved = true; moved;) {
        const kit_datagram down = kit_from_server(k);
        moved = down.size > 0;
        for (int i = 0; i < KIT_CLIENTS_MAX; ++i) {
            if (down.size > 0 && cairn_address_equal(&down.to, &k->client_addresses[i])) {
                kit_to_client(k, i, down);
            }
            const kit_datagram up = kit_from_client(k, i);
            moved = moved || up.size > 0;
            if (up.size > 0 && cairn_address_equal(&up.to, &k->server_address)) {
                kit_to_server(k, up);
                kit_take_events(k);
            }
        }
    }
}

size_t kit_discard_from_server(kit *k) {
    size_t count = 0;
    while (kit_from_server(k).size > 0) {
        ++count;
    }
    return count;
}

size_t kit_discard_from_client(kit *k, int i) {
    size_t count = 0;
    while (kit_from_client(k, i).size > 0) {
        ++count;
    }
    return count;
}

size_t kit_discard_all(kit *k) {
    size_t count = kit_discard_from_server(k);
    for (int i = 0; i < KIT_CLIENTS_MAX; ++i) {
        count += kit_discard_from_client(k, i);
    }
    return count;
}

static void run(kit *k, uint64_t duration_ns, bool cut) {
    const uint64_t end_ns = k->now_ns + duration_ns;
    while (k->now_ns < end_ns) {
        const uint64_t left_ns = end_ns - k->now_ns;
        k->now_ns += left_ns < 10 * KIT_MS ? left_ns : 10 * KIT_MS;
        cairn_netcode_server_advance(k->server, k->now_ns);
        kit_take_events(k);
        for (int i = 0; i < KIT_CLIENTS_MAX; ++i) {
            cairn_netcode_client_advance(k->clients[i], k->now_ns);
        }
        if (cut) {
            kit_discard_all(k);
        } else {
            kit_exchange(k);
        }
    }
}

void kit_run(kit *k, uint64_t duration_ns) {
    run(k, duration_ns, false);
}

void kit_run_cut(kit *k, uint64_t duration_ns) {
    run(k, duration_ns, true);
}

void kit_join(kit *k, int i) {
    kit_connect(k, i);
    kit_exchange(k);
    CAIRN_ASSERT(kit_state(k, i) == CAIRN_NETCODE_STATE_CONNECTED);
}

cairn_netcode_client_state kit_state(const kit *k, int i) {
    return cairn_netcode_client_state_read(k->clients[i]);
}

uint64_t kit_drops(const kit *k, cairn_netcode_drop drop) {
    return cairn_netcode_server_drops(k->server)[drop];
}

uint64_t kit_client_drops(const kit *k, int i, cairn_netcode_drop drop) {
    return cairn_netcode_client_drops(k->clients[i])[drop];
}

kit_datagram kit_client_payload(kit *k, int i, size_t size) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    fill(size, payload, size);
    kit_datagram datagram = {.from = k->client_addresses[i]};
    datagram.size = cairn_netcode_client_encrypt(
        k->clients[i], k->now_ns, payload, size, &datagram.to, datagram.bytes);
    return datagram;
}

kit_datagram kit_server_payload(kit *k, uint32_t client, size_t size) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    fill(size, payload, size);
    kit_datagram datagram = {.from = k->server_address};
    datagram.size = cairn_netcode_server_encrypt(
        k->server, k->now_ns, client, payload, size, &datagram.to, datagram.bytes);
    return datagram;
}

kit_datagram kit_request(const kit *k, int from, const kit_token_fields *fields) {
    const kit_peer peer = {.token = kit_token_public(fields)};
    kit_datagram datagram = kit_packet(&peer, false, CAIRN_PACKET_REQUEST, 0, 0);
    datagram.from = k->client_addresses[from];
    return datagram;
}
