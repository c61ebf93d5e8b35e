// SPDX-License-Identifier: MIT
#pragma once

// A whole server and whole clients in memory, joined by the virtual network: the small verb set
// that the client's rules are told in. Time passes in steps of two milliseconds.

#include <stdbool.h>
#include <stdint.h>

#include "schema/scene.h"
#include "storm/network.h"
#include <cairn/client.h>
#include <cairn/server.h>

#define PARTY_CLIENTS_MAX 6
#define PARTY_BODIES_MAX 256
#define PARTY_RECORD_MAX (8u << 20)

typedef struct party_client {
    cairn_client *client;
    uint32_t endpoint;
    bool paused; // its host does not run: what arrives is lost
    cairn_client_sample sample;
    cairn_client_body bodies[PARTY_BODIES_MAX];
} party_client;

typedef struct party {
    cairn_virtual_network *network;
    cairn_server *server;
    uint32_t server_endpoint;
    bool server_paused;
    party_client clients[PARTY_CLIENTS_MAX];
    uint32_t client_count;
    uint8_t *record; // what the server recorded
    size_t record_size;
    uint64_t seed;
    int32_t drift_ppm; // of clients that join
    int timeout_s;     // of silence, on either side
    bool operators;    // who joins from now on has the right
} party;

// A floor, a stack of three and a row of boxes, with the sandbox rules; static storage.
const cairn_scene *party_scene(void);

void party_start(party *p, uint64_t seed);
void party_start_as(party *p, uint64_t seed, bool recorded);
// Not recorded; `shape` changes the server's config before it is created.
void party_start_shaped(party *p, uint64_t seed, void (*shape)(cairn_server_config *config));
void party_end(party *p);

// A client that connects at once; returns its number. `path` is both ways; NULL: 20 ms, no loss.
uint32_t party_join(party *p, const cairn_client_config *config, const cairn_virtual_path *path);
void party_connect_again(party *p, uint32_t client);
// Until every client plays; asserted to come within ten seconds each.
void party_wait_to_play(party *p);
// Everybody presses something now and then.
void party_play(party *p, uint64_t seed, uint64_t ms);
void party_run_ms(party *p, uint64_t ms);
void party_cut(party *p, uint32_t client, bool cut);
bool party_press(party *p, uint32_t client, uint32_t buttons, float move_x);

// What the client shows now; false when nothing.
bool party_look(party *p, uint32_t client);
cairn_client_statistics party_statistics(const party *p, uint32_t client);
cairn_client_state party_state(const party *p, uint32_t client);
