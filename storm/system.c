// SPDX-License-Identifier: MIT
#include "storm/system.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/token.h>

static const uint64_t protocol_id = 0x636169726e303031;
static const uint64_t start_unix_s = 1700000000;
static const char server_address_text[] = "192.0.2.1:40000";
static const char server_ipv6_text[] = "[2001:db8::1]:40000";
// In flight at once: what six busy clients send into stalled paths in some seconds.
static const uint32_t datagrams_max = 1 << 14;
// An endpoint whose deadline is in the past after its turn is served again this much later.
static const uint64_t spin_step_ns = 1000;

cairn_system_config cairn_system_config_default(const struct cairn_scene *scene) {
    return (cairn_system_config){.seed = 1,
        .scene = scene,
        .clients_max = CAIRN_SYSTEM_CLIENTS_MAX,
        .players_max = CAIRN_SYSTEM_CLIENTS_MAX,
        .timeout_s = CAIRN_SYSTEM_TIMEOUT_S};
}

static void key_of(uint8_t key[CAIRN_KEY_SIZE]) {
    for (uint32_t i = 0; i < CAIRN_KEY_SIZE; i++) {
        key[i] = (uint8_t)(i * 7 + 1);
    }
}

static uint64_t unix_now_ns(const cairn_system *system) {
    return start_unix_s * CAIRN_NS_PER_S + cairn_virtual_now_ns(system->network);
}

static uint64_t unix_now_s(const cairn_system *system) {
    return unix_now_ns(system) / CAIRN_NS_PER_S;
}

static uint64_t memory_bytes(const cairn_system *system) {
    const cairn_system_config *config = &system->config;
    return config->memory_bytes != NULL ? config->memory_bytes(config->memory_user) : 0;
}

void cairn_system_fail_memory(cairn_system *system, bool begins) {
    system->serving = begins;
    if (system->config.memory_fails != NULL && system->server_memory_fails != 0) {
        system->config.memory_fails(
            system->config.memory_user, begins ? system->server_memory_fails : 0);
    }
}

// Charges the host with what was allocated or freed since `before` was read.
static void account(const cairn_system *system, cairn_system_host *host, uint64_t before) {
    host->bytes += (int64_t)(memory_bytes(system) - before);
}

static bool create_rooms(cairn_system *system, uint64_t now_ns) {
    char words[CAIRN_ROOM_REASON_SIZE];
    const cairn_system_config *from = &system->config;
    cairn_server_room_config config = cairn_server_room_config_default();
    config.name = CAIRN_SYSTEM_SECOND_ROOM;
    config.scene = from->scene;
    config.rules = from->rules;
    config.tick_rate_hz = from->tick_rate_hz;
    config.snapshot_rate_hz = from->snapshot_rate_hz;
    config.players_max = from->players_max;
    system->rooms[0] = CAIRN_ROOM_MAIN;
    return from->rooms <= 1 || cairn_server_room_create(system->server, now_ns, &config,
                                   &system->rooms[1], words) == CAIRN_ROOM_CREATED;
}

static bool create_server(cairn_system *system) {
    uint8_t key[CAIRN_KEY_SIZE];
    uint8_t entropy[32];
    cairn_server_config config = cairn_server_config_default();
    key_of(key);
    cairn_random_fill(&system->random, entropy, sizeof entropy);
    config.protocol_id = protocol_id;
    config.private_key = key;
    config.entropy = entropy;
    config.public_addresses = cairn_virtual_address(system->network, system->server_endpoint);
    config.public_address_count = 1;
    config.clients_max = system->config.clients_max;
    config.first_room.players_max = system->config.players_max;
    config.first_room.wait_ms = system->config.wait_ms;
    config.control = system->config.operator_slots != 0;
    config.token_lifetime_s_max = CAIRN_SYSTEM_TOKEN_LIFETIME_S;
    config.first_room.scene = system->config.scene;
    config.first_room.rules = system->config.rules;
    config.first_room.tick_rate_hz = system->config.tick_rate_hz;
    config.first_room.snapshot_rate_hz = system->config.snapshot_rate_hz;
    config.start_ns = cairn_virtual_local_ns(system->network, system->server_endpoint);
    config.start_unix_ns = unix_now_ns(system);
    system->server_start_unix_s = unix_now_s(system);
    if (system->config.configure != NULL) {
        system->config.configure(system->config.configure_user, &config);
    }
    system->server_host.due = true;
    system->delivered_to_server = 0;
    const uint64_t before = memory_bytes(system);
    const cairn_status status = cairn_server_create(&config, &system->server);
    system->server_host.bytes = 0;
    account(system, &system->server_host, before);
    system->server_start_bytes = system->server_host.bytes;
    return status == CAIRN_OK && create_rooms(system, config.start_ns);
}

// Allocates the sockets of all hosts.
static bool create_hosts(cairn_system *system) {
    const size_t hosts = CAIRN_SYSTEM_CLIENTS_MAX + 1;
    system->held = malloc(hosts * CAIRN_SYSTEM_HELD_MAX * sizeof *system->held);
    if (system->held == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < CAIRN_SYSTEM_CLIENTS_MAX; i++) {
        system->clients[i].host.held = system->held + (size_t)i * CAIRN_SYSTEM_HELD_MAX;
    }
    system->server_host.held = system->held + (hosts - 1) * CAIRN_SYSTEM_HELD_MAX;
    return true;
}

bool cairn_system_start(cairn_system *system, const cairn_system_config *config) {
    cairn_address address;
    memset(system, 0, sizeof *system);
    system->config = *config;
    system->random = cairn_random_of(config->seed);
    system->next_client_id = 1;
    system->next_port = 20000;
    const uint64_t network_seed = cairn_random_next(&system->random);
    if (cairn_virtual_network_create(network_seed, datagrams_max, &system->network) != CAIRN_OK ||
        !create_hosts(system) ||
        !cairn_address_parse(config->ipv6 ? server_ipv6_text : server_address_text, &address)) {
        return false;
    }
    system->server_endpoint =
        cairn_virtual_endpoint(system->network, &address, config->server_clock);
    return create_server(system);
}

static void destroy_server(cairn_system *system) {
    cairn_server_destroy(system->server);
    system->server = NULL;
    if (system->after_destroy != NULL) {
        system->after_destroy(system->user);
    }
}

void cairn_system_stop(cairn_system *system) {
    for (uint32_t i = 0; i < CAIRN_SYSTEM_CLIENTS_MAX; i++) {
        cairn_system_remove(system, i);
    }
    destroy_server(system);
    cairn_virtual_network_destroy(system->network);
    free(system->held);
    system->held = NULL;
    system->network = NULL;
}

bool cairn_system_restart_server(cairn_system *system) {
    destroy_server(system);
    system->server_memory_fails = 0;
    system->server_host.stalled_until_ns = 0;
    system->server_host.held_count = 0;
    return create_server(system);
}

cairn_address cairn_system_address(
    const cairn_system *system, cairn_system_subnet subnet, uint8_t host, uint16_t port) {
    const uint8_t high = (uint8_t)(port >> 8);
    const uint8_t low = (uint8_t)port;
    const uint8_t net = (uint8_t)subnet;
    cairn_address address = {.family = CAIRN_ADDRESS_IPV4, .port = port};
    if (!system->config.ipv6) {
        const uint8_t ip[2][4] = {{198, 51, 100, host}, {203, 0, 113, host}};
        memcpy(address.ip, ip[subnet == CAIRN_SYSTEM_CLIENTS ? 0 : 1], 4);
        return address;
    }
    const uint8_t global[16] = {0x20, 0x01, 0x0d, 0xb8, 0, net, [12] = high, low, 0, host};
    const uint8_t link_local[16] = {0xfe, 0x80, [12] = high, low, net, host};
    address.family = CAIRN_ADDRESS_IPV6;
    memcpy(address.ip, host % 2 == 0 ? link_local : global, sizeof address.ip);
    return address;
}

static cairn_address next_address(cairn_system *system, uint32_t i) {
    const cairn_address address = cairn_system_address(
        system, CAIRN_SYSTEM_CLIENTS, (uint8_t)(i + 1), (uint16_t)system->next_port);
    system->next_port = system->next_port == 65535 ? 20000 : system->next_port + 1;
    return address;
}

bool cairn_system_issue_token(cairn_system *system, uint64_t client_id, uint32_t lifetime_s,
    bool rights, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    uint8_t key[CAIRN_KEY_SIZE];
    uint8_t entropy[CAIRN_TOKEN_ENTROPY_SIZE];
    uint8_t user_data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_user_data_write(user_data, rights ? CAIRN_USER_RIGHT_OPERATOR : 0);
    key_of(key);
    cairn_random_fill(&system->random, entropy, sizeof entropy);
    const cairn_token_request request = {.protocol_id = protocol_id,
        .client_id = client_id,
        .create_unix_s =
            (unix_now_ns(system) + (uint64_t)system->backend_clock_ns) / CAIRN_NS_PER_S,
        .lifetime_s = lifetime_s,
        .timeout_s = system->config.timeout_s,
        .server_addresses = cairn_virtual_address(system->network, system->server_endpoint),
        .server_count = 1,
        .private_key = key,
        .entropy = entropy,
        .user_data = user_data};
    return cairn_token_issue(&request, token) == CAIRN_OK;
}

void cairn_system_change_address(cairn_system *system, uint32_t i) {
    const cairn_address address = next_address(system, i);
    cairn_virtual_move(system->network, system->clients[i].endpoint, &address);
}

bool cairn_system_rejoin(cairn_system *system, uint32_t i) {
    system->clients[i].client_id = system->next_client_id++;
    return cairn_system_return(system, i);
}

bool cairn_system_return(cairn_system *system, uint32_t i) {
    cairn_system_client *c = &system->clients[i];
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    const cairn_address address = next_address(system, i);
    cairn_virtual_move(system->network, c->endpoint, &address);
    c->joined_ns = cairn_virtual_now_ns(system->network);
    c->delivered_before = c->delivered;
    c->host.due = true;
    return cairn_system_issue_token(system, c->client_id, CAIRN_SYSTEM_TOKEN_LIFETIME_S,
               (system->config.operator_slots >> i & 1) != 0, token) &&
           cairn_client_connect(c->client, cairn_virtual_local_ns(system->network, c->endpoint),
               (unix_now_ns(system) + (uint64_t)system->client_clock_ns) / CAIRN_NS_PER_S, token);
}

bool cairn_system_join(cairn_system *system, uint32_t i, const cairn_client_config *config,
    cairn_virtual_clock clock, const cairn_virtual_path *path) {
    cairn_system_client *c = &system->clients[i];
    CAIRN_ASSERT(c->client == NULL);
    if (!c->has_endpoint) {
        const cairn_address address = next_address(system, i);
        c->endpoint = cairn_virtual_endpoint(system->network, &address, clock);
        c->has_endpoint = true;
    }
    cairn_virtual_connect(system->network, c->endpoint, system->server_endpoint, path);
    c->config = *config;
    c->delivered = 0;
    const uint64_t before = memory_bytes(system);
    const cairn_status status = cairn_client_create(config, &c->client);
    c->host.bytes = 0;
    account(system, &c->host, before);
    return status == CAIRN_OK && cairn_system_rejoin(system, i);
}

void cairn_system_disconnect(cairn_system *system, uint32_t i) {
    cairn_system_client *c = &system->clients[i];
    cairn_client_disconnect(c->client, cairn_virtual_local_ns(system->network, c->endpoint));
    c->host.due = true;
}

void cairn_system_remove(cairn_system *system, uint32_t i) {
    cairn_client_destroy(system->clients[i].client);
    system->clients[i].client = NULL;
    system->clients[i].host.stalled_until_ns = 0;
    system->clients[i].host.held_count = 0;
}

void cairn_system_cut(cairn_system *system, uint32_t i, bool cut) {
    cairn_virtual_cut(system->network, system->clients[i].endpoint, system->server_endpoint, cut);
}

void cairn_system_stall(cairn_system *system, uint32_t i, uint64_t stall_ns) {
    system->clients[i].host.stalled_until_ns = cairn_system_now_ns(system) + stall_ns;
    system->clients[i].host.due = true;
}

void cairn_system_stall_server(cairn_system *system, uint64_t stall_ns) {
    system->server_host.stalled_until_ns = cairn_system_now_ns(system) + stall_ns;
    system->server_host.due = true;
}

uint64_t cairn_system_unix_ns(const cairn_system *system) {
    return unix_now_ns(system);
}

uint64_t cairn_system_unix_s(const cairn_system *system) {
    return unix_now_s(system);
}

uint64_t cairn_system_now_ns(const cairn_system *system) {
    return cairn_virtual_now_ns(system->network);
}

uint64_t cairn_system_client_now_ns(const cairn_system *system, uint32_t i) {
    return cairn_virtual_local_ns(system->network, system->clients[i].endpoint);
}

// When an endpoint wants to be served next, in virtual time and after now.
static uint64_t wake_of(cairn_system *system, uint32_t endpoint, uint64_t deadline_ns) {
    const uint64_t now_ns = cairn_virtual_now_ns(system->network);
    const uint64_t wake_ns = cairn_virtual_time_of(system->network, endpoint, deadline_ns);
    if (wake_ns > now_ns) {
        return wake_ns;
    }
    system->spins++;
    return now_ns + spin_step_ns;
}

static void receive_server(cairn_system *system, const cairn_virtual_datagram *datagram) {
    const uint64_t now_ns = cairn_virtual_local_ns(system->network, system->server_endpoint);
    const uint64_t before = memory_bytes(system);
    cairn_system_fail_memory(system, true);
    cairn_server_receive(system->server, now_ns, &datagram->from, datagram->bytes, datagram->size);
    cairn_system_fail_memory(system, false);
    account(system, &system->server_host, before);
    system->delivered_to_server++;
    system->server_host.due = true;
}

static void receive_client(
    cairn_system *system, cairn_system_client *c, const cairn_virtual_datagram *datagram) {
    const uint64_t now_ns = cairn_virtual_local_ns(system->network, c->endpoint);
    const uint64_t before = memory_bytes(system);
    cairn_client_receive(c->client, now_ns, &datagram->from, datagram->bytes, datagram->size);
    account(system, &c->host, before);
    c->delivered++;
    c->host.due = true;
}

static void serve_server(cairn_system *system) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address to;
    cairn_system_host *host = &system->server_host;
    const uint64_t now_ns = cairn_virtual_local_ns(system->network, system->server_endpoint);
    for (uint32_t i = 0; i < host->held_count; i++) {
        receive_server(system, &host->held[i]);
    }
    host->held_count = 0;
    system->server_host.due = false;
    const uint64_t before = memory_bytes(system);
    cairn_system_fail_memory(system, true);
    cairn_server_advance(system->server, now_ns);
    for (size_t size; (size = cairn_server_send(system->server, now_ns, &to, bytes)) > 0;) {
        cairn_virtual_send(system->network, system->server_endpoint, &to, bytes, size);
    }
    cairn_system_fail_memory(system, false);
    account(system, host, before);
    system->server_host.wake_ns =
        wake_of(system, system->server_endpoint, cairn_server_deadline_ns(system->server));
    if (system->after_server != NULL) {
        system->after_server(system->user);
    }
}

static void serve_client(cairn_system *system, uint32_t i) {
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_system_client *c = &system->clients[i];
    const uint64_t now_ns = cairn_virtual_local_ns(system->network, c->endpoint);
    for (uint32_t k = 0; k < c->host.held_count; k++) {
        receive_client(system, c, &c->host.held[k]);
    }
    c->host.held_count = 0;
    c->host.due = false;
    const uint64_t before = memory_bytes(system);
    cairn_client_advance(c->client, now_ns);
    for (size_t size; (size = cairn_client_send(c->client, now_ns, bytes)) > 0;) {
        const cairn_address to = cairn_client_server_address(c->client);
        cairn_virtual_send(system->network, c->endpoint, &to, bytes, size);
    }
    account(system, &c->host, before);
    c->host.wake_ns = wake_of(system, c->endpoint, cairn_client_deadline_ns(c->client));
    if (system->after_client != NULL) {
        system->after_client(system->user, i);
    }
}

// Returns whether the host is stalled; then its socket holds the datagram, or the datagram is lost.
static bool hold_if_stalled(
    cairn_system_host *host, uint64_t now_ns, const cairn_virtual_datagram *datagram) {
    if (host->stalled_until_ns <= now_ns) {
        return false;
    }
    if (host->held_count < CAIRN_SYSTEM_HELD_MAX) {
        host->held[host->held_count++] = *datagram;
    }
    return true;
}

static void deliver(cairn_system *system, const cairn_virtual_datagram *datagram) {
    const uint64_t now_ns = cairn_virtual_now_ns(system->network);
    CAIRN_ASSERT((datagram->from.family == CAIRN_ADDRESS_IPV6) == system->config.ipv6);
    if (datagram->to == system->server_endpoint) {
        if (!hold_if_stalled(&system->server_host, now_ns, datagram)) {
            receive_server(system, datagram);
        }
        return;
    }
    bool other = true;
    for (uint32_t i = 0; i < CAIRN_SYSTEM_CLIENTS_MAX; i++) {
        cairn_system_client *c = &system->clients[i];
        if (!c->has_endpoint || c->endpoint != datagram->to) {
            continue;
        }
        other = false;
        if (c->client != NULL && !hold_if_stalled(&c->host, now_ns, datagram)) {
            receive_client(system, c, datagram);
        }
    }
    if (other && system->on_other != NULL) {
        system->on_other(system->user, datagram);
    }
}

// When an endpoint is served next: at once if it is due, otherwise at its deadline, but never while
// its host is stalled.
static uint64_t turn_of(const cairn_system_host *host) {
    const uint64_t wanted_ns = host->due ? 0 : host->wake_ns;
    return wanted_ns > host->stalled_until_ns ? wanted_ns : host->stalled_until_ns;
}

static uint64_t next_ns(const cairn_system *system, uint64_t until_ns) {
    const uint64_t now_ns = cairn_virtual_now_ns(system->network);
    uint64_t next = cairn_virtual_next_ns(system->network);
    next = next < until_ns ? next : until_ns;
    const uint64_t server_ns = turn_of(&system->server_host);
    next = server_ns < next ? server_ns : next;
    for (uint32_t i = 0; i < CAIRN_SYSTEM_CLIENTS_MAX; i++) {
        const cairn_system_client *c = &system->clients[i];
        const uint64_t client_ns = c->client != NULL ? turn_of(&c->host) : UINT64_MAX;
        next = client_ns < next ? client_ns : next;
    }
    return next > now_ns ? next : now_ns;
}

// Serves every endpoint that received something or whose deadline has come. Returns whether there
// was one.
static bool serve_due(cairn_system *system) {
    const uint64_t now_ns = cairn_virtual_now_ns(system->network);
    bool served = false;
    if (turn_of(&system->server_host) <= now_ns) {
        serve_server(system);
        served = true;
    }
    for (uint32_t i = 0; i < CAIRN_SYSTEM_CLIENTS_MAX; i++) {
        const cairn_system_client *c = &system->clients[i];
        if (c->client != NULL && turn_of(&c->host) <= now_ns) {
            serve_client(system, i);
            served = true;
        }
    }
    return served;
}

void cairn_system_run_until(cairn_system *system, uint64_t until_ns) {
    const cairn_virtual_datagram *datagram;
    for (;;) {
        const uint64_t next = next_ns(system, until_ns);
        while (cairn_virtual_deliver(system->network, next, &datagram)) {
            deliver(system, datagram);
        }
        if (!serve_due(system) && cairn_virtual_now_ns(system->network) >= until_ns) {
            return;
        }
    }
}
