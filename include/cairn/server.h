// SPDX-License-Identifier: MIT
#pragma once

// The server as a state machine: datagrams in, datagrams out, time as an argument. It holds the
// netcode endpoint, the clients' links and a table of rooms, each with a world, a tick rate and a
// recording of its own (the data flow is in docs/ARCHITECTURE.md).
// A driver (include/cairn/server_uv.h, a test's virtual network) does: receive until dry, advance,
// send until dry, sleep to the deadline. Receiving never steps the world; advance does.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"
#include "net/link.h"
#include "net/netcode_drop.h"
#include "net/token.h"
#include "schema/codec.h"
#include "server/daemon/log.h"
#include <cairn/server_statistics.h>
#include <cairn/status.h>
#include <cairn/types.h>

struct cairn_scene;
struct cairn_rules;
struct cairn_world;

// What tokens must carry unless configured otherwise: "cairn" in ASCII.
#define CAIRN_PROTOCOL_ID_DEFAULT UINT64_C(0x636169726e)
// The built-in scene that runs when none is named.
#define CAIRN_SCENE_DEFAULT "demo"

// A room is known by its name, and by an id that no later room gets again; 0 is none. The room that
// cairn_server_create makes has this id.
#define CAIRN_ROOM_MAIN 1
#define CAIRN_ROOM_NAME_DEFAULT "main"
// Bytes of a name and its terminator. Names are letters, digits, '-', '_' and '.', and do not start
// with '.', so that files may be called after them.
#define CAIRN_ROOM_NAME_SIZE 32
// Rooms of one server.
#define CAIRN_ROOMS_MAX 1024

// What the room waits for late inputs at most.
#define CAIRN_ROOM_WAIT_MS_MAX 5000

typedef struct cairn_server cairn_server;
// Due ticks of one room on their way to a thread and back.
typedef struct cairn_server_job cairn_server_job;

// One line of the event log: a name and its fields, formatted by the driver as text or JSON.
typedef struct cairn_server_event {
    const char *name; // "client_joined", "tick_overload", ...: static text
    cairn_log_level level;
    const char *room;   // its name, "" when it is about none; lasts during the call
    uint64_t tick;      // of that room
    uint64_t client_id; // 0 when it is about no client
    const char *detail; // one phrase, may be ""; lasts during the call
    int64_t value;      // meaning given by name; 0 otherwise
} cairn_server_event;

// The settings of a room. What it points to is read or copied by the call that it is passed to.
typedef struct cairn_server_room_config {
    const char *name;                // copied
    const struct cairn_scene *scene; // world to build; not kept
    const struct cairn_rules *rules; // NULL: those the scene names
    uint32_t tick_rate_hz;           // 0: the scene's
    uint32_t snapshot_rate_hz;       // 0: 20, or the tick rate when that is lower
    uint32_t players_max;            // 1 .. CAIRN_SLOTS_MAX (the default)
    uint32_t input_window_ticks;     // default 64
    uint32_t catch_up_ticks_max;     // default 4
    // How long beyond its due time a tick waits for the inputs of players who simulate and were
    // heard lately, 0 (the default: never) .. CAIRN_ROOM_WAIT_MS_MAX. Waits longer than two ticks
    // are announced to everybody in the room; its schedule slips while it waits.
    uint32_t wait_ms;
    bool recorded; // default true: while the server has an on_record
} cairn_server_room_config;

typedef struct cairn_server_config {
    uint64_t protocol_id;
    const uint8_t *private_key;            // CAIRN_KEY_SIZE, copied
    const uint8_t *entropy;                // 32 fresh random bytes
    const cairn_address *public_addresses; // copied
    uint32_t public_address_count;
    uint32_t clients_max; // default 64, 1 .. CAIRN_CLIENTS_MAX
    uint32_t rooms_max;   // default 16, 1 .. CAIRN_ROOMS_MAX; a room takes memory while it exists
    // The room that create makes, CAIRN_ROOM_MAIN; scene NULL: none.
    cairn_server_room_config first_room;
    uint32_t token_lifetime_s_max; // net/netcode_server.h
    bool control; // whether operators are heard (docs/PROTOCOL.md, Control); default false
    // For operators; either may be NULL. The scene of this name, to build a world from; it lasts
    // until the next call. The world of a tick in the recording of a room, which is the server's
    // from then on; NULL: it is not there.
    const struct cairn_scene *(*find_scene)(void *user, const char *name);
    struct cairn_world *(*on_seek)(void *user, const char *room, uint64_t tick);
    uint64_t start_ns; // now_ns of create; tick k is due at start_ns + k * 1e9 / rate, exactly
    uint64_t start_unix_s;
    void (*on_event)(void *user, const cairn_server_event *event); // may be NULL
    // A monotonic clock that measures what ticks cost, on whatever thread runs them. It changes
    // nothing else; NULL: not measured.
    uint64_t (*clock_ns)(void *user);
    // A room whose recent batches of ticks took less than this on average, by clock_ns, is stepped
    // at once instead of by run_job: a thread costs more than it saves. Such a room stalls all
    // others if a step of it never ends. Default 200; 0: every room goes to run_job.
    uint32_t inline_step_us_max;
    // Takes a room's due ticks to be stepped elsewhere: let any thread call cairn_server_job_run,
    // and when that has returned, the thread that drives the server cairn_server_job_done. False:
    // it is done here and now. Asked while there is more than one room; NULL: a room that is stuck
    // stalls all others.
    bool (*run_job)(void *user, cairn_server_job *job);
    // The recording of a room as it grows; name and bytes last during the call. `size` 0 says that
    // it is complete and another room may take the name. May be NULL: no recordings. A false return
    // ends this recording with an event; the world goes on.
    bool (*on_record)(void *user, const char *room, const uint8_t *bytes, size_t size);
    const uint8_t *record_seed; // signs the recordings: CAIRN_SIGN_SEED_SIZE bytes that outlive the
                                // server; NULL: they are not signed
    // A capsule: a step that a client took otherwise than its room, as a file for cairn-replay
    // explain. Name and bytes last during the call. At most two of a connection and 64 in all.
    // NULL: none are made; otherwise rooms keep the states of their last ticks for clients that
    // simulate.
    void (*on_capsule)(void *user, const char *room, uint64_t tick, uint64_t client_id,
        const uint8_t *bytes, size_t size);
    void *user;
} cairn_server_config;

cairn_server_config cairn_server_config_default(void);
// On failure *out is NULL: CAIRN_INVALID_ARGUMENT (also: what the first room is refused for, which
// is told by the event "room_refused") or CAIRN_OUT_OF_MEMORY.
cairn_status cairn_server_create(const cairn_server_config *config, cairn_server **out);
// No job may be out. Does not say goodbye; drain first for that. Closes the recordings with their
// end chunks.
void cairn_server_destroy(cairn_server *server);

void cairn_server_receive(cairn_server *server, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size);
void cairn_server_advance(cairn_server *server, uint64_t now_ns);
// Steps the ticks of a job: the world alone. On any thread, once.
void cairn_server_job_run(cairn_server_job *job);
// The job was run. On the thread that drives the server, once; advance and send after it.
void cairn_server_job_done(cairn_server *server, uint64_t now_ns, cairn_server_job *job);
uint32_t cairn_server_jobs_out(const cairn_server *server); // not yet done
uint64_t cairn_server_deadline_ns(const cairn_server *server);
// The next datagram into `bytes` (room for CAIRN_DATAGRAM_SIZE_MAX); 0 when dry.
size_t cairn_server_send(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes);

// Stops admitting, tells every client (disconnect packets), closes the recordings. Keep driving
// until drained answers true: at most one second of now_ns.
void cairn_server_drain(cairn_server *server, uint64_t now_ns);
bool cairn_server_drained(const cairn_server *server);

void cairn_server_statistics_read(const cairn_server *server, cairn_server_statistics *out);

typedef struct cairn_server_client_info {
    bool connected;
    bool welcomed;
    uint64_t client_id;
    uint32_t room;        // 0: in none
    uint32_t slot;        // CAIRN_SLOT_NONE for a spectator
    uint32_t mode;        // cairn_mode
    uint64_t input_waits; // announced waits of the room for its inputs
    uint64_t input_wait_ns;
    cairn_link_statistics link;
} cairn_server_client_info;
// `client` is 0 .. clients_max - 1. False when nobody is there.
bool cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out);

cairn_server_room_config cairn_server_room_config_default(void);

// Why there is no such room. Each is counted and told by the event "room_refused".
typedef enum cairn_server_room_refusal {
    CAIRN_ROOM_CREATED = 0,
    CAIRN_ROOM_REFUSED_NAME,       // not a name
    CAIRN_ROOM_REFUSED_NAME_TAKEN, // by a room that exists
    CAIRN_ROOM_REFUSED_TABLE_FULL, // rooms_max rooms exist
    CAIRN_ROOM_REFUSED_SCENE,      // the scene, or a number of the config: reason say which and why
    CAIRN_ROOM_REFUSED_UNKNOWN,    // fork: there is no such room
    CAIRN_ROOM_REFUSED_TICK,       // fork: the room does not hold the state of that tick
    CAIRN_ROOM_REFUSED_BUSY,       // fork: a job is out with the room's world; again after it
    CAIRN_ROOM_REFUSED_DRAINING,   // the server is about to end
    CAIRN_ROOM_REFUSED_MEMORY,
    CAIRN_ROOM_REFUSAL_COUNT
} cairn_server_room_refusal;
const char *cairn_server_room_refusal_text(cairn_server_room_refusal refusal);

#define CAIRN_ROOM_REASON_SIZE 256

// Makes a room; its first tick is due within a millisecond. On success *room is its id, on refusal
// 0, and `reason` (may be NULL) says why in a sentence.
cairn_server_room_refusal cairn_server_room_create(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, uint32_t *room, char reason[CAIRN_ROOM_REASON_SIZE]);
// Makes a room whose world is that of `from` after `tick` ticks, to the bit: its own tick
// (CAIRN_TICK_NOW), or one whose state `from` keeps (server/room/state_history.h). Of the config,
// scene, rules and tick rate are not looked at. It has no clients and no players: who joins a slot
// that was taken in `from` goes on with what the rules hold for that slot. *room and `reason` as
// above.
#define CAIRN_TICK_NOW UINT64_MAX
cairn_server_room_refusal cairn_server_room_fork(cairn_server *server, uint64_t now_ns,
    uint32_t from, uint64_t tick, const cairn_server_room_config *config, uint32_t *room,
    char reason[CAIRN_ROOM_REASON_SIZE]);
// Closes a room that exists: its clients are told so and `reason` (printable ASCII of at most
// CAIRN_TEXT_SIZE_MAX) and are disconnected, its recording ends with its end chunk, its memory is
// freed: now, or when the job that is out with it comes back. False when there is no such room.
bool cairn_server_room_destroy(
    cairn_server *server, uint64_t now_ns, uint32_t room, const char *reason);

// The room of this name; "" is the first that exists. 0 when there is none.
uint32_t cairn_server_room_find(const cairn_server *server, const char *name);
// The room after this one in the table, from 0 to the first; 0 when there is none left.
uint32_t cairn_server_room_next(const cairn_server *server, uint32_t room);

typedef struct cairn_server_room_info {
    const char *name; // these texts last while the room exists
    const char *scene_name;
    const char *rules_name; // "" for none
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t wait_ms;
    bool busy;      // a job is out: the world cannot be looked at now
    bool recording; // still being written
} cairn_server_room_info;
// False when there is no such room, and *out is zero.
bool cairn_server_room_read(const cairn_server *server, uint32_t room, cairn_server_room_info *out);
bool cairn_server_room_statistics_read(
    const cairn_server *server, uint32_t room, cairn_server_room_statistics *out);

// The room's world, for tests and tools in the same process. NULL when there is no such room or a
// job is out with it. Read only.
const struct cairn_world *cairn_server_world(const cairn_server *server, uint32_t room);
