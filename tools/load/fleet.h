// SPDX-License-Identifier: MIT
#pragma once

// Many clients in one process: they join one after another, play, acknowledge what they are sent,
// and take the server's word for the world (client_lib/client_probe.h), which costs a few
// microseconds for each datagram.

#include <stdbool.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/random.h"
#include "program/key.h"
#include "tools/load/sockets.h"
#include "tools/load/ticks_seen.h"
#include <cairn/client.h>

#define LOAD_CLIENTS_MAX 16384
#define LOAD_ROOMS_MAX 64

typedef struct load_config {
    uint32_t clients;
    cairn_token_source source; // the key and the address of the servers; client ids from its id on
    cairn_client_config client;
    const char *rooms[LOAD_ROOMS_MAX]; // client i joins room i modulo room_count
    uint32_t room_count;               // at least 1
    uint32_t join_seconds;             // over which the joins are spread
    uint32_t seconds;                  // measured
    bool inputs;                       // random ones, of players
    uint64_t seed;
} load_config;

typedef struct load_client {
    cairn_client *client; // owned
    cairn_client_state state;
    uint64_t begin_ns;  // of the join
    uint64_t played_ns; // when it played first; 0: not yet
    uint64_t due_ns;    // for the next advance
    uint64_t next_input_ns;
    uint64_t tick;                             // the newest that it was sent
    uint64_t updated_ns;                       // when that arrived, by the wall clock
    cairn_histogram gaps_ns;                   // between updates that were measured
    cairn_client_connection_statistics before; // when measuring began
} load_client;

typedef struct load_fleet {
    load_config config;
    cairn_random random;
    load_sockets *sockets;
    load_client *clients;
    uint32_t begun; // clients below have begun to join
    load_ticks ticks[LOAD_ROOMS_MAX];
    cairn_histogram joins_ns;
    cairn_histogram gaps_ns;
    cairn_histogram spread_ns; // of each update, after the first client's of the same tick
    uint64_t updates;          // measured
    uint64_t send_errors;
    bool measuring;
} load_fleet;

// False: `error` holds one sentence. Destroy is allowed after a failure.
bool load_fleet_create(
    const load_config *config, load_fleet *out, char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]);
void load_fleet_destroy(load_fleet *fleet);

// Lets clients begin to join until `due` have, receives what waits, advances those that are due and
// sends. Waits at most until `until_ns` when there is nothing to do. False: `error` holds one
// sentence.
bool load_fleet_turn(
    load_fleet *fleet, uint32_t due, uint64_t until_ns, char error[CAIRN_TOKEN_SOURCE_ERROR_SIZE]);
void load_fleet_measure(load_fleet *fleet, bool measuring);
uint32_t load_fleet_count(const load_fleet *fleet, cairn_client_state state);
void load_fleet_leave(load_fleet *fleet);
