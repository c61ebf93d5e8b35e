// SPDX-License-Identifier: MIT
#pragma once

// A complete server and complete clients in memory over the virtual network (storm/system.h), with
// one set of verbs, so that a test reads as a script. A verb that cannot be done asserts.

#include <stdbool.h>
#include <stdint.h>

#include "schema/codec.h"
#include "storm/oracle.h"
#include "storm/system.h"
#include "tests/kit/scenes.h"
#include "tests/kit/scoped.h"
#include <cairn/client.h>
#include <cairn/server.h>

enum { ALICE = 0, BOB = 1, CAROL = 2, DAVE = 3 };

#define RIG_BODIES_MAX 256
#define RIG_RECORD_MAX (8u << 20)

typedef struct rig_options {
    uint64_t seed;
    const cairn_scene *scene; // NULL: kit_scene_stack_and_row
    uint32_t clients;         // that join and play before rig_start returns
    uint32_t interpolating;   // the last of these that interpolate; the others are lockstep
    const cairn_client_config *config; // of all of these; rig_start returns as soon as they play
    const cairn_virtual_path *path;    // of these with `config`, both ways; NULL: 20 ms, no loss
    uint32_t delay_ms;                 // of the paths of the others, each way
    int32_t timeout_s;                 // of connections; 0: the system's
    uint32_t tick_rate_hz;             // 0: the scene's
    uint32_t snapshot_rate_hz;         // 0: the server's default
    uint32_t wait_ms;                  // time that the room waits for late inputs
    uint32_t jitter_ms;
    uint32_t loss_permille;
    bool recorded;  // the main room, into rig.record
    bool unwatched; // the oracle keeps no tick: for worlds of more bodies than it holds
    void (*configure)(cairn_server_config *config); // changes it before the server is created
} rig_options;

// What a client showed last.
typedef struct rig_view {
    cairn_client_sample sample;
    cairn_client_body bodies[RIG_BODIES_MAX];
} rig_view;

typedef struct rig {
    rig_options options;
    cairn_system system;
    cairn_oracle *oracle;
    uint64_t tick; // of the server; UINT64_MAX before the first is recorded
    rig_view views[CAIRN_SYSTEM_CLIENTS_MAX];
    uint32_t client_count;
    int32_t drift_ppm; // of the clocks of clients that join from now on; 300
    bool operators;    // clients that join from now on have the operator's right
    uint8_t *record;
    size_t record_size;
} rig;

// rig_start(&r, .clients = 2, .delay_ms = 40)
#define rig_start(r, ...) rig_start_with(r, &(rig_options){__VA_ARGS__})
void rig_start_with(rig *r, const rig_options *options);
// Asserts that no endpoint spun and that every datagram was accounted for.
void rig_end(rig *r);
SCOPE_ENDS(rig, rig_end)
// A rig that runs until its block ends: RIG(r, .clients = 2);
#define RIG(name, ...)                                                                             \
    SCOPED(rig) name;                                                                              \
    rig_start(&name, __VA_ARGS__)

// The default config with this mode.
cairn_client_config rig_config(cairn_client_mode mode);
// A client that connects at once; returns its number. `path` is both ways; NULL: 20 ms, no loss.
uint32_t rig_join(rig *r, const cairn_client_config *config, const cairn_virtual_path *path);
uint32_t rig_join_mode(rig *r, cairn_client_mode mode); // over a path of the options
void rig_connect_again(rig *r, uint32_t client);
void rig_leave(rig *r, uint32_t client);
// Runs until every client plays; asserts that each does within ten seconds.
void rig_wait_to_play(rig *r);
void rig_run_ms(rig *r, uint64_t ms);
void rig_run_ticks(rig *r, uint32_t ticks);
// Runs while every client changes its input at random times drawn from `seed`.
void rig_play(rig *r, uint64_t seed, uint64_t ms);
// Holds these buttons (CAIRN_SANDBOX_...) and this direction from now on. False: it was refused.
bool rig_press(rig *r, uint32_t client, uint32_t buttons, float move_x);

void rig_cut(rig *r, uint32_t client, bool cut);
// Sets the delay of the path, each way, from now on.
void rig_delay(rig *r, uint32_t client, uint32_t delay_ms);
// Stops the host, which loses what arrives meanwhile, or lets it run again.
void rig_pause(rig *r, uint32_t client, bool paused);
void rig_pause_server(rig *r, bool paused);
void rig_restart_server(rig *r);

cairn_client *rig_client(const rig *r, uint32_t client);
uint64_t rig_client_now_ns(const rig *r, uint32_t client); // by its own clock
// Hands the client a message as if its link had delivered it.
void rig_deliver(rig *r, uint32_t client, const cairn_message *message);
const cairn_world *rig_server_world(const rig *r); // of the main room
uint64_t rig_server_now_ns(const rig *r);          // by the server's clock
// Sends a request of the client, which is an operator, and runs until its answer arrives.
cairn_control_answer rig_ask(rig *r, uint32_t client, const cairn_control_request *request);
// The same for a request that must succeed.
cairn_control_answer rig_order(rig *r, uint32_t client, const cairn_control_request *request);
// Fills the view with what the client shows now; false if it shows nothing.
bool rig_look(rig *r, uint32_t client);
cairn_client_state rig_state(const rig *r, uint32_t client);
cairn_client_statistics rig_statistics(const rig *r, uint32_t client);
cairn_server_statistics rig_server_statistics(const rig *r);
// Ticks that the client's last exact world (lockstep) or snapshot lags behind the server's.
uint64_t rig_ticks_behind(const rig *r, uint32_t client);
uint32_t rig_body_count(const rig *r, uint32_t client); // of that world or snapshot

// The client's last world or snapshot is, bit for bit, the server's at that tick.
void expect_servers_world(const rig *r, uint32_t client);
void expect_playing(const rig *r, uint32_t client);
// The client could use every snapshot that it received.
void expect_snapshots_usable(const rig *r, uint32_t client);
void expect_behind_at_most_ticks(const rig *r, uint32_t client, uint64_t ticks);
// No root ever differed, and each lockstep client compared some.
void expect_no_difference(const rig *r);
