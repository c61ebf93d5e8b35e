// SPDX-License-Identifier: MIT
#pragma once

// A server and its clients over the virtual network: the code that runs in production, with time,
// datagrams and randomness from one seed. Every endpoint is served as a driver would serve it:
// receive all, advance, send all, sleep until the deadline on its own drifting clock.

#include <stdbool.h>
#include <stdint.h>

#include "storm/network.h"
#include <cairn/client.h>
#include <cairn/server.h>

#define CAIRN_SYSTEM_CLIENTS_MAX 16
// Default time-out: seconds of silence after which either side ends a connection.
#define CAIRN_SYSTEM_TIMEOUT_S 5
// Lifetime of tokens, s, and the longest that the server accepts.
#define CAIRN_SYSTEM_TOKEN_LIFETIME_S 30

// Who lives where.
typedef enum cairn_system_subnet {
    CAIRN_SYSTEM_CLIENTS = 1,
    CAIRN_SYSTEM_HOSTILES = 2, // and the attacker
} cairn_system_subnet;

typedef struct cairn_system_config {
    uint64_t seed;
    const struct cairn_scene *scene; // must outlive the system
    const struct cairn_rules *rules; // NULL: those the scene names
    uint32_t tick_rate_hz;           // 0: the scene's
    uint32_t snapshot_rate_hz;       // 0: the server's default
    uint32_t clients_max;
    uint32_t players_max;
    uint32_t wait_ms;        // of the room, for late inputs
    uint32_t rooms;          // 1 or CAIRN_SYSTEM_ROOMS_MAX, of the same scene; 0: 1
    uint32_t operator_slots; // bit set; the server accepts requests if there is one
    bool ipv6;               // the addresses of the server, its clients and all others
    int32_t timeout_s;       // of silence, on either side
    cairn_virtual_clock server_clock;
    uint64_t (*memory_bytes)(void *user); // allocated by the process; NULL: hosts' bytes stay 0
    void (*memory_fails)(void *user, uint32_t every); // around the server's turns; may be NULL
    void *memory_user;
    // Changes the server's config before the server is created. May be NULL.
    void (*configure)(void *user, cairn_server_config *config);
    void *configure_user;
} cairn_system_config;

// Rooms of the server; the second has this name.
#define CAIRN_SYSTEM_ROOMS_MAX 2
#define CAIRN_SYSTEM_SECOND_ROOM "second"
// Datagrams that the socket of a stalled host holds; more are lost.
#define CAIRN_SYSTEM_HELD_MAX 64

// The host of an endpoint. A stalled host does not serve its endpoint; after the stall it receives
// what its socket held.
typedef struct cairn_system_host {
    uint64_t stalled_until_ns; // virtual
    uint32_t held_count;
    cairn_virtual_datagram *held; // [CAIRN_SYSTEM_HELD_MAX], of the system
    int64_t bytes;                // that its turns allocated and did not free
    uint64_t wake_ns;             // virtual; when the endpoint wants its next turn
    bool due;                     // it wants one at once
} cairn_system_host;

typedef struct cairn_system_client {
    cairn_client *client; // NULL: the slot is empty
    cairn_client_config config;
    uint32_t endpoint;
    uint64_t client_id;
    cairn_system_host host;
    uint64_t joined_ns;        // virtual, of the last connect
    uint64_t delivered;        // datagrams since it was created
    uint64_t delivered_before; // of these before the last connect
    bool has_endpoint;
} cairn_system_client;

typedef struct cairn_system {
    cairn_system_config config;
    cairn_random random;
    cairn_virtual_network *network;
    cairn_server *server; // NULL while it is down
    uint32_t server_endpoint;
    uint32_t rooms[CAIRN_SYSTEM_ROOMS_MAX]; // ids of the server's
    cairn_system_host server_host;
    int64_t server_start_bytes;   // of a server with one room
    uint32_t server_memory_fails; // every so many of its allocations fails; 0: none
    bool serving;                 // a turn of the server in which they may
    cairn_system_client clients[CAIRN_SYSTEM_CLIENTS_MAX];
    uint64_t server_start_unix_s;
    int64_t
        backend_clock_ns;    // by how much the wall clock of the backend that makes tokens is wrong
    int64_t client_clock_ns; // and that of the clients
    uint64_t delivered_to_server; // datagrams, since the server was created
    uint64_t next_client_id;
    uint32_t next_port;
    cairn_virtual_datagram *held; // owned; the sockets of all hosts
    uint64_t spins; // times that an endpoint with nothing to do asked to be woken at once
    // Called after each turn of an endpoint. May be NULL.
    void (*after_server)(void *user);
    void (*after_client)(void *user, uint32_t client);
    // Called when a server was destroyed. May be NULL.
    void (*after_destroy)(void *user);
    // Receives what arrives at endpoints that are neither the server's nor a client's. May be NULL.
    void (*on_other)(void *user, const cairn_virtual_datagram *datagram);
    void *user;
} cairn_system;

cairn_system_config cairn_system_config_default(const struct cairn_scene *scene);
// False if something could not be created.
bool cairn_system_start(cairn_system *system, const cairn_system_config *config);
void cairn_system_stop(cairn_system *system);

// The server dies and starts again with the same key and address, an empty memory and new entropy.
bool cairn_system_restart_server(cairn_system *system);

// A new client in slot `i`, which must be empty, starts to connect. The path is used both ways.
bool cairn_system_join(cairn_system *system, uint32_t i, const cairn_client_config *config,
    cairn_virtual_clock clock, const cairn_virtual_path *path);
// The same client connects again with a new token from a new address: as another client id, or as
// the one that it was.
bool cairn_system_rejoin(cairn_system *system, uint32_t i);
bool cairn_system_return(cairn_system *system, uint32_t i);
// The client has a new address from now on and notices nothing: a NAT forgot the old one, to which
// nothing is delivered any more.
void cairn_system_change_address(cairn_system *system, uint32_t i);
void cairn_system_disconnect(cairn_system *system, uint32_t i); // sends disconnects
void cairn_system_remove(cairn_system *system, uint32_t i);     // sends nothing
void cairn_system_cut(cairn_system *system, uint32_t i, bool cut);

// The client's or the server's host stalls for so long from now on; 0 ends a stall.
void cairn_system_stall(cairn_system *system, uint32_t i, uint64_t stall_ns);
void cairn_system_stall_server(cairn_system *system, uint64_t stall_ns);

// The address of a host in a network of the storm, in the family of the server's. Of IPv6 every
// second host has a link-local address, so that these share one /64 across networks; and the port
// is in the address as well, as a host has it that takes a new temporary address now and then.
cairn_address cairn_system_address(
    const cairn_system *system, cairn_system_subnet subnet, uint8_t host, uint16_t port);

// A token for the server. False: a field is refused.
bool cairn_system_issue_token(cairn_system *system, uint64_t client_id, uint32_t lifetime_s,
    bool rights, uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);

// Begins or ends a turn of the server in which allocations fail, if it is short of memory.
void cairn_system_fail_memory(cairn_system *system, bool begins);

uint64_t cairn_system_unix_s(const cairn_system *system); // by a right wall clock
uint64_t cairn_system_unix_ns(const cairn_system *system);
uint64_t cairn_system_now_ns(const cairn_system *system);
uint64_t cairn_system_client_now_ns(const cairn_system *system, uint32_t i); // its own clock
void cairn_system_run_until(cairn_system *system, uint64_t until_ns);
