// SPDX-License-Identifier: MIT
#pragma once

// Clients of bench_rooms in a process of their own, so that only the server is measured: each has a
// socket on loopback, sends inputs at each frame and receives what its room sends.

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <cairn/token.h>
#include <cairn/types.h>

typedef struct bench_clients {
    uint32_t rooms;
    uint32_t each;      // clients of a room
    bool interpolating; // otherwise lockstep: they are sent ticks, as predicting ones
    cairn_address server;
    const uint8_t *key; // [CAIRN_KEY_SIZE]
} bench_clients;

// Starts the process; it ends when its parent does, or by SIGTERM. -1: it could not be started.
pid_t bench_clients_start(const bench_clients *clients);
