// SPDX-License-Identifier: MIT
#include "tests/client/party.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "net/user_data.h"

#define PROTOCOL_ID 4242
#define START_UNIX_S 1700000000
#define STEP_NS 2000000u
#define DATAGRAMS_MAX 4096

static const uint8_t private_key[CAIRN_KEY_SIZE] = {9, 8, 7};
static const uint8_t entropy[32] = {6, 5, 4};
static const cairn_address server_address = {
    .family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 0, 0, 1}};

static bool on_record(void *user, const char *room, const uint8_t *bytes, size_t size) {
    (void)room;
    party *p = user;
    if (size > PARTY_RECORD_MAX - p->record_size) {
        return false;
    }
    if (size > 0) {
        memcpy(p->record + p->record_size, bytes, size);
    }
    p->record_size += size;
    return true;
}

static void start(
    party *p, uint64_t seed, bool recorded, void (*shape)(cairn_server_config *config)) {
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->drift_ppm = 300;
    p->timeout_s = 5;
    p->record = malloc(PARTY_RECORD_MAX);
    p->network = cairn_virtual_network_create(seed, DATAGRAMS_MAX);
    CAIRN_ASSERT(p->record != NULL && p->network != NULL);
    p->server_endpoint = cairn_virtual_endpoint(
        p->network, &server_address, (cairn_virtual_clock){.offset_ns = 1000000000});
    cairn_server_config config = cairn_server_config_default();
    config.protocol_id = PROTOCOL_ID;
    config.private_key = private_key;
    config.entropy = entropy;
    config.public_addresses = &server_address;
    config.public_address_count = 1;
    config.clients_max = 8;
    config.players_max = 4;
    config.scene = party_scene();
    config.token_lifetime_s_max = 0;
    config.start_ns = cairn_virtual_local_ns(p->network, p->server_endpoint);
    config.start_unix_s = START_UNIX_S;
    config.on_record = recorded ? on_record : NULL;
    config.user = p;
    if (shape != NULL) {
        shape(&config);
    }
    cairn_status status = cairn_server_create(&config, &p->server);
    CAIRN_ASSERT(status == CAIRN_OK);
}

void party_start_as(party *p, uint64_t seed, bool recorded) {
    start(p, seed, recorded, NULL);
}

void party_start_shaped(party *p, uint64_t seed, void (*shape)(cairn_server_config *config)) {
    start(p, seed, false, shape);
}

void party_start(party *p, uint64_t seed) {
    start(p, seed, true, NULL);
}

void party_end(party *p) {
    for (uint32_t i = 0; i < p->client_count; i++) {
        cairn_client_destroy(p->clients[i].client);
    }
    if (p->server != NULL) {
        cairn_server_destroy(p->server);
    }
    cairn_virtual_network_destroy(p->network);
    free(p->record);
}

static uint64_t client_now(const party *p, uint32_t client) {
    return cairn_virtual_local_ns(p->network, p->clients[client].endpoint);
}

void party_connect_again(party *p, uint32_t client) {
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t secret[CAIRN_TOKEN_ENTROPY_SIZE];
    cairn_random random =
        cairn_random_of(p->seed * 1000 + client + cairn_virtual_now_ns(p->network));
    for (size_t i = 0; i < sizeof secret; i++) {
        secret[i] = (uint8_t)cairn_random_next(&random);
    }
    uint64_t unix_s = START_UNIX_S + cairn_virtual_now_ns(p->network) / 1000000000u;
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_user_data_write(user_data, p->operators ? CAIRN_USER_RIGHT_OPERATOR : 0);
    const cairn_token_request request = {.protocol_id = PROTOCOL_ID,
        .user_data = user_data,
        .client_id = client + 1,
        .create_unix_s = unix_s,
        .lifetime_s = 60,
        .timeout_s = p->timeout_s,
        .server_addresses = &server_address,
        .server_count = 1,
        .private_key = private_key,
        .entropy = secret};
    cairn_status status = cairn_token_issue(&request, token);
    CAIRN_ASSERT(status == CAIRN_OK);
    bool begun =
        cairn_client_connect(p->clients[client].client, client_now(p, client), unix_s, token);
    CAIRN_ASSERT(begun);
}

uint32_t party_join(party *p, const cairn_client_config *config, const cairn_virtual_path *path) {
    CAIRN_ASSERT(p->client_count < PARTY_CLIENTS_MAX);
    uint32_t number = p->client_count++;
    party_client *c = &p->clients[number];
    const cairn_address address = {.family = CAIRN_ADDRESS_IPV4,
        .port = (uint16_t)(50000 + number),
        .ip = {10, 0, 0, (uint8_t)(2 + number)}};
    c->endpoint = cairn_virtual_endpoint(p->network, &address,
        (cairn_virtual_clock){.drift_ppm = p->drift_ppm, .offset_ns = 77000000000u * (number + 1)});
    const cairn_virtual_path usual = {.delay_ns = 20000000};
    cairn_virtual_connect(
        p->network, p->server_endpoint, c->endpoint, path != NULL ? path : &usual);
    const cairn_status status = cairn_client_create(config, &c->client);
    CAIRN_ASSERT(status == CAIRN_OK);
    party_connect_again(p, number);
    return number;
}

static void deliver(party *p, const cairn_virtual_datagram *datagram) {
    if (datagram->to == p->server_endpoint) {
        if (!p->server_paused) {
            cairn_server_receive(p->server, cairn_virtual_local_ns(p->network, p->server_endpoint),
                &datagram->from, datagram->bytes, datagram->size);
        }
        return;
    }
    for (uint32_t i = 0; i < p->client_count; i++) {
        if (p->clients[i].endpoint == datagram->to && !p->clients[i].paused) {
            cairn_client_receive(p->clients[i].client, client_now(p, i), &datagram->from,
                datagram->bytes, datagram->size);
        }
    }
}

static void drive_server(party *p) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    size_t size;
    uint64_t now_ns = cairn_virtual_local_ns(p->network, p->server_endpoint);
    cairn_server_advance(p->server, now_ns);
    while ((size = cairn_server_send(p->server, now_ns, &to, bytes)) > 0) {
        cairn_virtual_send(p->network, p->server_endpoint, &to, bytes, size);
    }
}

static void drive_client(party *p, uint32_t number) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    party_client *c = &p->clients[number];
    size_t size;
    uint64_t now_ns = client_now(p, number);
    if (now_ns >= cairn_client_deadline_ns(c->client)) {
        cairn_client_advance(c->client, now_ns);
    }
    while ((size = cairn_client_send(c->client, now_ns, bytes)) > 0) {
        cairn_address to = cairn_client_server_address(c->client);
        cairn_virtual_send(p->network, c->endpoint, &to, bytes, size);
    }
}

void party_run_ms(party *p, uint64_t ms) {
    uint64_t end_ns = cairn_virtual_now_ns(p->network) + ms * 1000000u;
    while (cairn_virtual_now_ns(p->network) < end_ns) {
        uint64_t until_ns = cairn_virtual_now_ns(p->network) + STEP_NS;
        const cairn_virtual_datagram *datagram = NULL;
        while (cairn_virtual_deliver(p->network, until_ns, &datagram)) {
            deliver(p, datagram);
        }
        if (!p->server_paused) {
            drive_server(p);
        }
        for (uint32_t i = 0; i < p->client_count; i++) {
            if (!p->clients[i].paused) {
                drive_client(p, i);
            }
        }
    }
}

void party_wait_to_play(party *p) {
    for (uint32_t i = 0; i < p->client_count; i++) {
        for (int k = 0; k < 100 && party_state(p, i) != CAIRN_CLIENT_PLAYING; k++) {
            party_run_ms(p, 100);
        }
        CAIRN_ASSERT(party_state(p, i) == CAIRN_CLIENT_PLAYING);
    }
}

void party_play(party *p, uint64_t seed, uint64_t ms) {
    cairn_random random = cairn_random_of(seed);
    for (uint64_t t = 0; t < ms; t += 100) {
        for (uint32_t i = 0; i < p->client_count; i++) {
            if (cairn_random_below(&random, 4) == 0) {
                party_press(p, i, 1u << cairn_random_below(&random, 4),
                    (float)cairn_random_below(&random, 3) - 1.0f);
            }
        }
        party_run_ms(p, 100);
    }
}

void party_cut(party *p, uint32_t client, bool cut) {
    cairn_virtual_cut(p->network, p->server_endpoint, p->clients[client].endpoint, cut);
}

bool party_press(party *p, uint32_t client, uint32_t buttons, float move_x) {
    const cairn_client_input input = {.buttons = buttons, .move = {move_x, 0, 0}};
    return cairn_client_push_input(p->clients[client].client, &input);
}

bool party_look(party *p, uint32_t client) {
    party_client *c = &p->clients[client];
    return cairn_client_sample_world(
        c->client, client_now(p, client), c->bodies, PARTY_BODIES_MAX, &c->sample);
}

cairn_client_statistics party_statistics(const party *p, uint32_t client) {
    cairn_client_statistics statistics;
    cairn_client_statistics_read(p->clients[client].client, &statistics);
    return statistics;
}

cairn_client_state party_state(const party *p, uint32_t client) {
    return cairn_client_state_read(p->clients[client].client);
}
