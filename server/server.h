// SPDX-License-Identifier: MIT
#pragma once

// The server as a state machine: datagrams in, datagrams out, time as an argument. It holds the
// netcode endpoint, the clients' links and one room (the data flow is in docs/ARCHITECTURE.md).
// A driver (server/uv_driver.h, a test's virtual network) does: receive until dry, advance, send
// until dry, sleep to the deadline. Receiving never steps the world; advance does.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/status.h"
#include "net/link.h"
#include "net/netcode_drop.h"
#include "net/token.h"
#include "schema/codec.h"
#include "server/log.h"

struct cairn_scene;
struct cairn_rules;
struct cairn_world;

// What tokens must carry unless configured otherwise: "cairn" in ASCII.
#define CAIRN_PROTOCOL_ID_DEFAULT UINT64_C(0x636169726e)
// The built-in scene that runs when none is named.
#define CAIRN_SCENE_DEFAULT "demo"

typedef struct cairn_server cairn_server;

// One line of the event log: a name and its fields, formatted by the driver as text or JSON.
typedef struct cairn_server_event {
    const char *name; // "client_joined", "tick_overload", ...: static text
    cairn_log_level level;
    uint64_t tick;
    uint64_t client_id; // 0 when it is about no client
    const char *detail; // one phrase, may be ""; lasts during the call
    int64_t value;      // meaning given by name; 0 otherwise
} cairn_server_event;

typedef struct cairn_server_config {
    uint64_t protocol_id;
    const uint8_t *private_key;            // CAIRN_KEY_SIZE, copied
    const uint8_t *entropy;                // 32 fresh random bytes
    const cairn_address *public_addresses; // copied
    uint32_t public_address_count;
    uint32_t clients_max; // default 64, 1 .. CAIRN_CLIENTS_MAX
    // Slots handed out, 1 .. CAIRN_SLOTS_MAX (the default). Who asks for one when all are taken is
    // refused; spectators need none.
    uint32_t players_max;
    const struct cairn_scene *scene; // world to build; not kept
    const struct cairn_rules *rules; // NULL: those the scene names
    uint32_t tick_rate_hz;           // 0: the scene's
    uint32_t snapshot_rate_hz;       // 0: 20; at most the tick rate
    uint32_t input_window_ticks;     // inputs further ahead are refused as early; default 64
    uint32_t catch_up_ticks_max; // overload policy: at most this many ticks in one advance; what is
                                 // due beyond is skipped, time slips, and it is counted. Default 4
    uint32_t token_lifetime_s_max; // net/netcode_server.h
    uint64_t start_ns; // now_ns of create; tick k is due at start_ns + k * 1e9 / rate, exactly
    uint64_t start_unix_s;
    void (*on_event)(void *user, const cairn_server_event *event); // may be NULL
    // A monotonic clock that measures what ticks cost. It changes nothing else; NULL: not measured.
    uint64_t (*clock_ns)(void *user);
    // The recording as it grows; bytes last during the call. May be NULL: no recording. A false
    // return ends the recording with an event; the world goes on.
    bool (*on_record)(void *user, const uint8_t *bytes, size_t size);
    void *user;
} cairn_server_config;

cairn_server_config cairn_server_config_default(void);
// On failure *out is NULL: CAIRN_INVALID_ARGUMENT, CAIRN_OUT_OF_MEMORY, or what the world's
// creation answers. What a scene is refused for is told by the event "room_refused".
cairn_status cairn_server_create(const cairn_server_config *config, cairn_server **out);
// Does not say goodbye; drain first for that. Closes the recording with its end chunk.
void cairn_server_destroy(cairn_server *server);

void cairn_server_receive(cairn_server *server, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size);
void cairn_server_advance(cairn_server *server, uint64_t now_ns);
uint64_t cairn_server_deadline_ns(const cairn_server *server);
// The next datagram into `bytes` (room for CAIRN_DATAGRAM_SIZE_MAX); 0 when dry.
size_t cairn_server_send(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes);

// Stops admitting, tells every client (disconnect packets), closes the recording. Keep driving
// until drained answers true: at most one second of now_ns.
void cairn_server_drain(cairn_server *server, uint64_t now_ns);
bool cairn_server_drained(const cairn_server *server);

typedef struct cairn_server_statistics {
    uint64_t tick;
    uint64_t ticks_skipped; // overload
    uint64_t advances_overloaded;
    uint64_t tick_cost_ns_last; // by clock_ns: 0 without one
    uint64_t tick_cost_ns_p50;
    uint64_t tick_cost_ns_p99;
    uint64_t tick_cost_ns_max;
    uint64_t tick_lateness_ns_p50; // when ticks ran against when they were due
    uint64_t tick_lateness_ns_p99;
    uint64_t tick_lateness_ns_max;
    uint32_t clients; // connected
    uint32_t players; // with a slot
    uint32_t bodies;
    uint32_t bodies_awake;
    uint64_t joins;
    uint64_t leaves;
    uint64_t inputs_taken;
    uint64_t inputs_late;
    uint64_t inputs_early_refused;
    uint64_t inputs_repeated; // redundant copies, not a fault
    uint64_t inputs_refused;  // what no player can hold
    uint64_t faults;          // messages out of place, or that are none
    uint64_t keyframes_sent;
    uint64_t deltas_sent;
    uint64_t snapshot_bytes;      // encoded messages
    uint64_t snapshots_too_large; // keyframes that no message can hold: not sent
    uint64_t ticks_messages_sent;
    uint64_t state_transfers;
    uint64_t state_bytes;
    uint64_t roots_compared; // reported by lockstep clients
    uint64_t roots_differed;
    uint64_t datagrams_received;
    uint64_t datagrams_sent;
    uint64_t bytes_received; // datagrams, without UDP and IP headers
    uint64_t bytes_sent;
    uint64_t recording_bytes;
    uint64_t drops_netcode[CAIRN_NETCODE_DROP_COUNT];
    uint64_t drops_link[CAIRN_LINK_DROP_COUNT];
    uint64_t drops_decode[CAIRN_DECODE_REFUSAL_COUNT];
} cairn_server_statistics;
void cairn_server_statistics_read(const cairn_server *server, cairn_server_statistics *out);

typedef struct cairn_server_client_info {
    bool connected;
    bool welcomed;
    uint64_t client_id;
    uint32_t slot; // CAIRN_SLOT_NONE for a spectator
    uint32_t mode; // cairn_mode
    cairn_link_statistics link;
} cairn_server_client_info;
// `client` is 0 .. clients_max - 1. False when nobody is there.
bool cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out);

// The room's world, for tests and tools in the same process. Read only.
const struct cairn_world *cairn_server_world(const cairn_server *server);
