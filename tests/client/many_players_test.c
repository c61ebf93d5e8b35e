// SPDX-License-Identifier: MIT
// A room of 256 players: half hold the world, half see snapshots. Datagrams go straight from one
// side to the other; the virtual network has room for 16 clients.

#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/kit/scoped.h"
#include <cairn/client.h>
#include <cairn/rules.h>
#include <cairn/scene.h>
#include <cairn/server.h>
#include <cairn/server_statistics.h>
#include <cairn/sim.h>
#include <cairn/token.h>

enum { PLAYERS = CAIRN_SLOTS_MAX, CLIENTS = PLAYERS + 1 };
#define MS UINT64_C(1000000)
#define UNIX_S UINT64_C(1800000000)
static const uint8_t key[CAIRN_KEY_SIZE] = {7, 7, 7};

// Each player has a bit and the buttons that it held last.
typedef struct crowd {
    uint32_t players;
    uint32_t held[PLAYERS];
} crowd;

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    crowd *c = state;
    (void)world;
    for (uint32_t i = 0; i < command_count; ++i) {
        c->players += commands[i].kind == CAIRN_COMMAND_JOIN ? 1u : 0u;
        c->players -= commands[i].kind == CAIRN_COMMAND_LEAVE ? 1u : 0u;
        if (commands[i].kind == CAIRN_COMMAND_INPUT) {
            c->held[commands[i].slot] = commands[i].buttons;
        }
    }
}

static const cairn_rules crowding = {
    .name = "crowding", .version = 1, .state_size = sizeof(crowd), .step = step};

static const char scene_text[] =
    "{\"name\":\"crowd\",\"body_capacity\":4,\"shape_capacity\":4,\"joint_capacity\":0,"
    "\"contact_capacity\":8,\"hull_capacity\":0,\"mesh_capacity\":0,\"mesh_block_capacity\":0,"
    "\"event_capacity\":8,\"tick_rate_hz\":20,\"bodies\":[]}";

typedef struct place {
    cairn_scene *scene;
    cairn_server *server;
    cairn_client *clients[CLIENTS];
    cairn_address address;
    uint64_t now_ns;
    cairn_random random;
} place;

static void place_end(place *p) {
    for (uint32_t i = 0; i < CLIENTS; ++i) {
        cairn_client_destroy(p->clients[i]);
    }
    cairn_server_destroy(p->server);
    cairn_scene_destroy(p->scene);
}
SCOPE_ENDS(place, place_end)

static cairn_address address_of(uint32_t client) {
    return (cairn_address){.family = CAIRN_ADDRESS_IPV4,
        .port = (uint16_t)(1000 + client),
        .ip = {10, 0, (uint8_t)(client / 256), (uint8_t)client}};
}

static void open_server(place *p) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    assert_int_equal(
        cairn_scene_parse(scene_text, sizeof scene_text - 1, &p->scene, error), CAIRN_OK);
    cairn_server_config config = cairn_server_config_default();
    config.first_room.scene = p->scene;
    config.first_room.rules = &crowding;
    config.first_room.players_max = PLAYERS;
    config.first_room.snapshot_rate_hz = 5;
    config.clients_max = CLIENTS;
    config.public_addresses = &p->address;
    config.public_address_count = 1;
    config.start_ns = p->now_ns;
    config.start_unix_ns = UNIX_S * CAIRN_NS_PER_S;
    config.private_key = key;
    config.entropy = key;
    config.protocol_id = 5;
    assert_int_equal(cairn_server_create(&config, &p->server), CAIRN_OK);
}

static void connect_client(place *p, uint32_t i) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = i % 2 == 0 ? CAIRN_CLIENT_LOCKSTEP : CAIRN_CLIENT_INTERPOLATE;
    config.rules = i % 2 == 0 ? &crowding : NULL;
    config.bodies_max = 8;
    config.shapes_max = 8;
    config.input_redundancy_ticks = 2;
    config.rollback_memory_max = 0;
    assert_int_equal(cairn_client_create(&config, &p->clients[i]), CAIRN_OK);
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE], user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_user_data_write(user_data, 0);
    cairn_random_fill(&p->random, entropy, sizeof entropy);
    const cairn_token_request request = {.protocol_id = 5,
        .client_id = 1 + i,
        .create_unix_s = UNIX_S + p->now_ns / CAIRN_NS_PER_S,
        .lifetime_s = 30,
        .timeout_s = 10,
        .server_addresses = &p->address,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy,
        .user_data = user_data};
    assert_int_equal(cairn_token_issue(&request, token), CAIRN_OK);
    assert_true(
        cairn_client_connect(p->clients[i], p->now_ns, UNIX_S + p->now_ns / CAIRN_NS_PER_S, token));
}

static void run_ms(place *p, uint32_t ms) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    size_t size;
    cairn_address to;
    for (uint32_t at = 0; at < ms; at += 10) {
        p->now_ns += 10 * MS;
        for (uint32_t i = 0; i < CLIENTS; ++i) {
            if (p->clients[i] == NULL) {
                continue;
            }
            const cairn_address from = address_of(i);
            cairn_client_advance(p->clients[i], p->now_ns);
            while ((size = cairn_client_send(p->clients[i], p->now_ns, bytes)) > 0) {
                cairn_server_receive(p->server, p->now_ns, &from, bytes, size);
            }
        }
        cairn_server_advance(p->server, p->now_ns);
        while ((size = cairn_server_send(p->server, p->now_ns, &to, bytes)) > 0) {
            const uint32_t i = to.port - 1000u;
            cairn_client_receive(p->clients[i], p->now_ns, &p->address, bytes, size);
        }
    }
}

static const crowd *crowd_of(const cairn_world *world) {
    uint32_t size = 0;
    const crowd *found = cairn_world_rules_state(world, &size);
    assert_int_equal(size, sizeof *found);
    return found;
}

TEST("256 players play in one room, and the next is refused by name") {
    SCOPED(place)
    p = {.now_ns = 1000 * MS,
        .random = cairn_random_of(3),
        .address = {.family = CAIRN_ADDRESS_IPV4, .port = 40000, .ip = {10, 9, 9, 9}}};
    open_server(&p);
    for (uint32_t i = 0; i < PLAYERS; ++i) {
        connect_client(&p, i);
        run_ms(&p, i % 16 == 15 ? 20 : 0);
    }
    run_ms(&p, 1500);
    for (uint32_t i = 0; i < PLAYERS; ++i) {
        cairn_client_statistics statistics;
        cairn_client_statistics_read(p.clients[i], &statistics);
        assert_int_equal(cairn_client_state_read(p.clients[i]), CAIRN_CLIENT_PLAYING);
        const cairn_client_input input = {.buttons = 1 + statistics.connection.slot};
        assert_true(cairn_client_push_input(p.clients[i], &input));
    }
    connect_client(&p, PLAYERS);
    run_ms(&p, 2000);
    assert_string_equal(cairn_client_failure_text(p.clients[PLAYERS]),
        "the server refused this client: all player slots of the room are taken");
    const crowd *server = crowd_of(cairn_server_world(p.server, CAIRN_ROOM_MAIN));
    assert_int_equal(server->players, PLAYERS);
    for (uint32_t slot = 0; slot < PLAYERS; ++slot) {
        assert_int_equal(server->held[slot], 1 + slot);
    }
    for (uint32_t i = 0; i < PLAYERS; i += 2) {
        assert_memory_equal(crowd_of(cairn_client_world(p.clients[i])), server, sizeof *server);
        cairn_client_statistics own;
        cairn_client_statistics_read(p.clients[i], &own);
        assert_true(own.simulation.roots_compared > 20 && own.simulation.roots_differed == 0);
    }
    cairn_server_statistics statistics;
    cairn_server_statistics_read(p.server, &statistics);
    assert_int_equal(statistics.total.players, PLAYERS);
    assert_int_equal(statistics.total.roots_differed, 0);
    assert_int_equal(statistics.total.inputs_refused, 0);
}
