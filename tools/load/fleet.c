// SPDX-License-Identifier: MIT
#include "tools/load/fleet.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "base/limits.h"
#include "client_lib/client_probe.h"
#include "program/system.h"

#define INPUT_HELD_NS UINT64_C(500000000)
#define READY_MAX 256

bool load_fleet_create(
    const load_config *config, load_fleet *out, char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]) {
    CAIRN_ASSERT(config->clients >= 1 && config->clients <= LOAD_CLIENTS_MAX);
    CAIRN_ASSERT(config->room_count >= 1 && config->room_count <= LOAD_ROOMS_MAX);
    *out = (load_fleet){.config = *config, .random = cairn_random_of(config->seed)};
    out->clients = calloc(config->clients, sizeof *out->clients);
    if (out->clients == NULL || !load_sockets_create(config->clients, &out->sockets)) {
        snprintf(error, CAIRN_TOKEN_SOURCE_ERROR_SIZE,
            "there cannot be %u sockets: %s; raise the limit of open files (ulimit -n)",
            (unsigned)config->clients, strerror(errno));
        return false;
    }
    // Before the first joins: each runs the self-test of the simulation.
    for (uint32_t i = 0; i < config->clients; i++) {
        cairn_client_config client = config->client;
        client.room = config->rooms[i % config->room_count];
        if (cairn_client_create(&client, &out->clients[i].client) != CAIRN_OK) {
            snprintf(
                error, CAIRN_TOKEN_SOURCE_ERROR_SIZE, "out of memory for client %u", (unsigned)i);
            return false;
        }
        cairn_client_probe_ignore_world(out->clients[i].client);
    }
    return true;
}

void load_fleet_destroy(load_fleet *fleet) {
    for (uint32_t i = 0; fleet->clients != NULL && i < fleet->config.clients; i++) {
        cairn_client_destroy(fleet->clients[i].client);
    }
    for (uint32_t i = 0; i < LOAD_ROOMS_MAX; i++) {
        load_ticks_destroy(&fleet->ticks[i]);
    }
    load_sockets_destroy(fleet->sockets);
    free(fleet->clients);
    *fleet = (load_fleet){0};
}

static bool begin_join(load_fleet *fleet, uint32_t i, char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]) {
    load_client *own = &fleet->clients[i];
    cairn_token_source source = fleet->config.source; // its key is wiped when the token is issued
    source.client_id += i;
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    if (!cairn_token_source_read(&source, token, error)) {
        return false;
    }
    own->begin_ns = cairn_monotonic_ns();
    own->due_ns = own->begin_ns;
    (void)cairn_client_connect(own->client, own->begin_ns, (uint64_t)time(NULL), token);
    const cairn_address server = cairn_client_server_address(own->client);
    if (!load_sockets_open(fleet->sockets, i, &server)) {
        snprintf(error, CAIRN_TOKEN_SOURCE_ERROR_SIZE, "socket of client %u: %s", (unsigned)i,
            strerror(errno));
        return false;
    }
    return true;
}

static void play(load_fleet *fleet, load_client *own, uint64_t now_ns) {
    if (!fleet->config.inputs || now_ns < own->next_input_ns) {
        return;
    }
    own->next_input_ns = now_ns + INPUT_HELD_NS;
    cairn_input_field fields[CAIRN_INPUT_FIELDS_MAX];
    const uint32_t count = cairn_client_input_fields(own->client, fields);
    if (count > 0) {
        uint32_t input[CAIRN_INPUT_FIELDS_MAX];
        cairn_input_draw(fields, count, &fleet->random, input);
        (void)cairn_client_push_game_input(own->client, input, 4 * count);
        return;
    }
    const float angle = 6.2831853f * cairn_random_unit(&fleet->random);
    const cairn_client_input input = {.move = {cosf(angle), 0, sinf(angle)}};
    (void)cairn_client_push_input(own->client, &input); // refused before it has a slot
}

static void advance(load_fleet *fleet, uint32_t i) {
    load_client *own = &fleet->clients[i];
    uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
    const uint64_t now_ns = cairn_monotonic_ns();
    play(fleet, own, now_ns);
    cairn_client_advance(own->client, now_ns);
    size_t size = 0;
    while ((size = cairn_client_send(own->client, now_ns, bytes)) > 0) {
        fleet->send_errors += load_sockets_send(fleet->sockets, i, bytes, size) ? 0 : 1;
    }
    own->due_ns = cairn_client_deadline_ns(own->client);
    own->state = cairn_client_state_read(own->client);
    if (own->state == CAIRN_CLIENT_PLAYING && own->played_ns == 0) {
        own->played_ns = now_ns;
        cairn_histogram_add(&fleet->joins_ns, now_ns - own->begin_ns);
    }
}

// The world that a datagram told of is newer than what the client knew.
static void note_update(load_fleet *fleet, uint32_t i, uint64_t tick, uint64_t stamp_ns) {
    load_client *own = &fleet->clients[i];
    const uint32_t rate_hz = cairn_client_probe_tick_rate_hz(own->client);
    const uint64_t behind_ns =
        load_ticks_note(&fleet->ticks[i % fleet->config.room_count], rate_hz, tick, stamp_ns);
    if (fleet->measuring) {
        fleet->updates++;
        cairn_histogram_add(&fleet->spread_ns, behind_ns);
        if (own->updated_ns != 0 && stamp_ns >= own->updated_ns) {
            cairn_histogram_add(&fleet->gaps_ns, stamp_ns - own->updated_ns);
            cairn_histogram_add(&own->gaps_ns, stamp_ns - own->updated_ns);
        }
    }
    own->tick = tick;
    own->updated_ns = stamp_ns;
}

static void receive(load_fleet *fleet, uint32_t i) {
    load_client *own = &fleet->clients[i];
    load_datagram datagrams[LOAD_BATCH];
    const cairn_address server = cairn_client_server_address(own->client);
    const uint64_t now_ns = cairn_monotonic_ns();
    const uint32_t count = load_sockets_receive(fleet->sockets, i, datagrams);
    for (uint32_t k = 0; k < count; k++) {
        cairn_client_receive(own->client, now_ns, &server, datagrams[k].bytes, datagrams[k].size);
        const uint64_t tick = cairn_client_probe_tick(own->client);
        if (tick > own->tick) {
            note_update(fleet, i, tick, datagrams[k].stamp_ns);
        }
    }
    advance(fleet, i);
}

static uint64_t advance_due(load_fleet *fleet, uint64_t now_ns) {
    uint64_t next_ns = UINT64_MAX;
    for (uint32_t i = 0; i < fleet->begun; i++) {
        load_client *own = &fleet->clients[i];
        if (own->due_ns <= now_ns) {
            advance(fleet, i);
        }
        next_ns = own->due_ns < next_ns ? own->due_ns : next_ns;
    }
    return next_ns;
}

bool load_fleet_turn(
    load_fleet *fleet, uint32_t due, uint64_t until_ns, char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]) {
    CAIRN_ASSERT(due <= fleet->config.clients);
    if (fleet->begun < due) {
        if (!begin_join(fleet, fleet->begun, error)) {
            return false;
        }
        fleet->begun++;
    }
    uint64_t next_ns = advance_due(fleet, cairn_monotonic_ns());
    next_ns = fleet->begun < due ? 0 : next_ns < until_ns ? next_ns : until_ns;
    const uint64_t now_ns = cairn_monotonic_ns();
    uint32_t ready[READY_MAX];
    uint64_t sleep_ns = next_ns > now_ns ? next_ns - now_ns : 0;
    uint32_t count;
    do {
        count = load_sockets_wait(fleet->sockets, sleep_ns, ready, READY_MAX);
        for (uint32_t k = 0; k < count; k++) {
            receive(fleet, ready[k]);
        }
        sleep_ns = 0;
    } while (count == READY_MAX);
    return true;
}

void load_fleet_measure(load_fleet *fleet, bool measuring) {
    fleet->measuring = measuring;
    for (uint32_t i = 0; i < fleet->begun && measuring; i++) {
        cairn_client_statistics now;
        cairn_client_statistics_read(fleet->clients[i].client, &now);
        fleet->clients[i].before = now.connection;
    }
}

uint32_t load_fleet_count(const load_fleet *fleet, cairn_client_state state) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < fleet->begun; i++) {
        count += fleet->clients[i].state == state ? 1 : 0;
    }
    return count;
}

void load_fleet_leave(load_fleet *fleet) {
    for (uint32_t i = 0; i < fleet->begun; i++) {
        cairn_client_disconnect(fleet->clients[i].client, cairn_monotonic_ns());
        advance(fleet, i);
    }
}
