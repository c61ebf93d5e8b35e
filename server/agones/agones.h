// SPDX-License-Identifier: MIT
#pragma once

// A server as one of an Agones fleet (https://agones.dev): it speaks to the SDK server beside it,
// on the loop of the driver, and never waits for it.
// * Ready once it listens; healthy every two seconds, as long as the loop runs.
// * Allocated while there are clients, so that a fleet that shrinks keeps it. After the last one
//   left it is ready again, or reserved for some time and then ready.
// * The counter "rooms" and the list "players" (client ids), if the fleet declares them.
// * What Agones makes of it, by a watch. Every request that fails is made again, after .1 to 10 s.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>
#include <cairn/types.h>

struct cairn_server;
struct uv_loop_s;

#define CAIRN_AGONES_WHY_SIZE 160

typedef struct cairn_agones cairn_agones;

typedef struct cairn_agones_config {
    struct uv_loop_s *loop;
    const struct cairn_server *server;
    uint32_t port; // of the SDK server, on this machine
    uint32_t clients_max;
    uint32_t rooms_max;
    uint32_t reserve_s; // as cairn_agones_member_create
    // Tells what changed: agones_state, agones_lost (no answer, or a refusal), agones_back,
    // agones_missing (a counter or a list that the fleet does not declare), agones_refused.
    void (*say)(void *user, bool warns, const char *event, const char *detail);
    void *user;
} cairn_agones_config;

// Where the SDK server listens if AGONES_SDK_HTTP_PORT does not say otherwise.
#define CAIRN_AGONES_PORT_DEFAULT 9358

// The address at which clients reach this game server, of its first port, as the SDK server knows
// it. Before the loop runs: asks again and again, for at most a minute, since the SDK server may
// begin later. False: `why` says what it answered last.
bool cairn_agones_find_address(uint32_t port, cairn_address *out, char why[CAIRN_AGONES_WHY_SIZE]);

// CAIRN_NOT_FOUND (libcurl is not installed), CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_agones_open(const cairn_agones_config *config, cairn_agones **out);
// Asks for the end of the game server, for at most two seconds. After the loop has ended. NULL is
// allowed.
void cairn_agones_close(cairn_agones *agones);
