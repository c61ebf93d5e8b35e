// SPDX-License-Identifier: MIT
#pragma once

// The server as a state machine: datagrams in, datagrams out, time as an argument. It holds the
// netcode endpoint, the clients' links and a table of rooms, each with a world, a tick rate and a
// recording of its own (the data flow is in docs/ARCHITECTURE.md).
// A driver (cairn/server_uv.h, a test's virtual network) loops: receive until no datagram waits,
// advance, send until send returns 0, sleep until the deadline. Receiving never steps a world;
// advance does. Times are nanoseconds of one monotonic clock, the same in all calls. One thread at
// a time may use a server; only cairn_server_job_run may run beside it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/server_statistics.h>
#include <cairn/status.h>
#include <cairn/token.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_control_answer;
struct cairn_control_request;
struct cairn_scene;
struct cairn_rules;
struct cairn_world;

// What tokens must carry unless configured otherwise: "cairn" in ASCII.
#define CAIRN_PROTOCOL_ID_DEFAULT UINT64_C(0x636169726e)
// The built-in scene that runs when none is named.
#define CAIRN_SCENE_DEFAULT "demo"

// A room has a name, and an id that is never used again; 0 means no room. This is the id of the
// room that cairn_server_create makes.
#define CAIRN_ROOM_MAIN 1
#define CAIRN_ROOM_NAME_DEFAULT "main"
// Bytes of a name and its terminator. Names consist of letters, digits, '-', '_' and '.', and do
// not begin with '.', so that they can be names of files.
#define CAIRN_ROOM_NAME_SIZE 32
// Rooms of one server.
#define CAIRN_ROOMS_MAX 1024

// The largest input_window_ticks and catch_up_ticks_max of a room.
#define CAIRN_PLAYERS_DEFAULT 64
#define CAIRN_INPUT_WINDOW_TICKS_MAX 240
#define CAIRN_CATCH_UP_TICKS_MAX 64
#define CAIRN_VIEW_DISTANCE_MAX 100000u
#define CAIRN_VIEW_BYTES_MIN 1000u
// The longest that a room may wait for late inputs.
#define CAIRN_ROOM_WAIT_MS_MAX 5000

typedef struct cairn_server cairn_server;
// Due ticks of one room, to be stepped on any thread.
typedef struct cairn_server_job cairn_server_job;
// Work that no tick needs, such as writing a recording, to be done on any thread.
typedef struct cairn_server_task cairn_server_task;

typedef enum cairn_log_level {
    CAIRN_LOG_ERROR = 0,
    CAIRN_LOG_WARN = 1,
    CAIRN_LOG_INFO = 2,
    CAIRN_LOG_DEBUG = 3,
} cairn_log_level;

// One line of the event log.
typedef struct cairn_server_event {
    const char *name; // "client_joined", "tick_overload", ...: static text
    cairn_log_level level;
    const char *room;   // its name; "": about no room. Lasts during the call
    uint64_t tick;      // of that room
    uint64_t client_id; // 0: about no client
    const char *detail; // one phrase, may be ""; lasts during the call
    int64_t value;      // its meaning depends on the name
} cairn_server_event;

// The settings of a room. The call that takes them copies what it keeps, except `rules`, which must
// outlive the room.
typedef struct cairn_server_room_config {
    const char *name;                // copied
    const struct cairn_scene *scene; // the world to build; not kept
    const struct cairn_rules *rules; // NULL: the rules that the scene names
    uint32_t tick_rate_hz;           // 0: the scene's
    uint32_t snapshot_rate_hz;       // 0: 20, or the tick rate when that is lower
    // How fine the poses in snapshots are, which clients that interpolate show: whole steps of
    // 1 / position_steps_per_m metres, rotations with this many bits for a component.
    // 0: as the scene says, else 512 and 9.
    uint32_t position_steps_per_m; // 1 .. CAIRN_POSITION_STEPS_PER_M_MAX
    uint32_t rotation_bits;        // CAIRN_ROTATION_BITS_MIN .. MAX (7 .. 15)
    // A snapshot in which more bodies moved codes each alone: half as many bytes more in a quarter
    // of the time, for the server and for each client. 0: as the scene says, else 256, which bounds
    // the time of any snapshot by some 0.1 us a body that moved. CAIRN_BODIES_MAX: never.
    uint32_t coded_together_max; // 1 .. CAIRN_BODIES_MAX
    // What clients that interpolate are sent of a world that is large: bodies at most this far from
    // the player's own body, m, 0 (the default): all. A spectator, and a player without a body so
    // far, is sent all. Rules may decide otherwise (cairn_rules.view, .relevance).
    uint32_t view_distance_m; // 0 .. CAIRN_VIEW_DISTANCE_MAX
    // Bytes of snapshots that a client, and that all clients of the room together may be sent in a
    // second; the path of a client may allow less. What differs most from what a client has comes
    // first. 0 (the default): what the path allows, else at least CAIRN_VIEW_BYTES_MIN.
    uint32_t client_bytes_per_second;
    uint32_t room_bytes_per_second;
    uint32_t players_max;        // 1 .. CAIRN_SLOTS_MAX; default CAIRN_PLAYERS_DEFAULT
    uint32_t input_window_ticks; // an input may be this far ahead of its tick; default 64
    uint32_t catch_up_ticks_max; // ticks run at once when late, others are skipped; default 4
    // The longest time that a tick waits for late inputs after it is due, in ms: 0 (the default)
    // .. CAIRN_ROOM_WAIT_MS_MAX. It waits only for players that run the simulation and that
    // sent a datagram within the last second. Waits longer than two ticks are announced to the
    // room's clients. A wait delays the schedule.
    uint32_t wait_ms;
    // Closes when it had no client for so long, also if nobody ever came; 0 (the default): never.
    uint32_t idle_s;
    // What a tick of it takes, if that is known, in microseconds: for load_max_percent; default 0.
    uint32_t cost_us;
    bool recorded;  // default true; has no effect without on_record
    bool broadcast; // default true; has no effect without on_segment
} cairn_server_room_config;

#define CAIRN_SEGMENT_SECONDS_MAX 60

// A part of a room's broadcast: a whole recording of some seconds (on_segment).
typedef struct cairn_server_segment {
    const char *room;
    const char *scene; // "": without a name
    uint32_t tick_rate_hz;
    uint64_t number;     // 0, 1, 2 ... since the room began
    uint64_t first_tick; // of the state that it begins with
    uint64_t tick_count; // ticks in the file so far, with their commands and hashes
    bool last;           // the room has closed, or the server drains
} cairn_server_segment;

typedef struct cairn_server_config {
    uint64_t protocol_id;       // what tokens must carry; default CAIRN_PROTOCOL_ID_DEFAULT
    const uint8_t *private_key; // 32 bytes, shared with the issuer of tokens; copied
    const uint8_t *entropy;     // 32 fresh random bytes; copied
    const cairn_address *public_addresses; // copied
    uint32_t public_address_count;
    uint32_t clients_max; // default 64, 1 .. CAIRN_CLIENTS_MAX
    uint32_t rooms_max;   // default 16, 1 .. CAIRN_ROOMS_MAX; a room takes memory while it exists
    // The room that create makes, CAIRN_ROOM_MAIN; scene NULL: none.
    cairn_server_room_config first_room;
    // The longest lifetime of the issuer's tokens. A token that expires later than this from now is
    // refused. Therefore those that an earlier run of the server may have accepted are the ones
    // that expire sooner than this after the start: they are refused, too. Default 30; 0 switches
    // both rules off, and then a token may be used again after a restart, which repeats nonces.
    uint32_t token_lifetime_s_max;
    // The longest time-out of a token; a token with a longer one, or none, is refused, because a
    // client that vanished keeps its slot until then. Default 60; 0: no limit.
    uint32_t token_timeout_s_max;
    bool control; // operators may send requests (docs/PROTOCOL.md, Control); default false
    // For operators; either may be NULL. find_scene returns the scene of this name, valid until the
    // next call. on_seek returns the world at a tick of a room's recording; a task calls it, so
    // perhaps another thread; the server takes ownership of the world. Both return NULL if they do
    // not find it.
    const struct cairn_scene *(*find_scene)(void *user, const char *name);
    struct cairn_world *(*on_seek)(void *user, const char *room, uint64_t tick);
    // How a room is made that does not exist: one that a client's connect token names, or one of
    // the scene that an operator names. `name` is a template's, or begins with it and '-'. *out is
    // the default; the name in it is set by the caller. NULL, or false: no template has the name.
    // A client alone, without a token that names the room, makes none.
    bool (*find_template)(void *user, const char *name, cairn_server_room_config *out);
    // The largest body_capacity of a template's scene: links of clients that come before the room
    // have room for it. Default 0.
    uint32_t template_bodies_max;
    // A room is refused if then all rooms together would take more than this of one processor for
    // their ticks, as they were measured by clock_ns, the new one as rooms of its scene do, or as
    // its cost_us says. Default 0: no limit.
    uint32_t load_max_percent;
    uint64_t start_ns;      // now_ns of create; tick k is due at start_ns + k * 1e9 / rate, exactly
    uint64_t start_unix_ns; // wall clock at create
    // The wall clock, with which the times of tokens are compared; read once a second. If it jumps,
    // tokens are compared with the new time at once, and the event "clock_jumped" says by how much.
    // NULL: it is counted from start_unix_ns, also while the machine sleeps.
    uint64_t (*unix_ns)(void *user);
    void (*on_event)(void *user, const cairn_server_event *event); // may be NULL
    // A monotonic clock that measures what ticks cost, on the thread that runs them. NULL: costs
    // are not measured.
    uint64_t (*clock_ns)(void *user);
    // A room whose recent batches of ticks took less than this on average, by clock_ns, is stepped
    // at once instead of by run_job: handing it to a thread costs more than it saves. Such a room
    // stalls all others if one of its steps never ends. Default 200; 0: every room goes to run_job.
    uint32_t inline_step_us_max;
    // Accepts a room's due ticks to be stepped on another thread: any thread calls
    // cairn_server_job_run, and after it has returned the thread that drives the server calls
    // cairn_server_job_done. False: the ticks are stepped at once. Called only while there is more
    // than one room. NULL: every room is stepped at once, so a step that never ends stalls all
    // rooms.
    bool (*run_job)(void *user, cairn_server_job *job);
    // Accepts a task to be run on another thread: any thread calls cairn_server_task_run, in the
    // order of these calls, and after it has returned the thread that drives the server calls
    // cairn_server_task_done. False: the task runs at once. NULL: every task runs at once, so a
    // slow disk delays ticks.
    bool (*run_task)(void *user, cairn_server_task *task);
    // Appends one or more whole chunks to the recording of a room; a task calls it, so perhaps
    // another thread. Name and bytes last during the call. `size` 0: this file is complete, and
    // what follows belongs to another; the answer says whether the file could be closed. NULL: no
    // recordings. False: nothing was appended. Then the file is closed (`size` 0), and the
    // recording continues in a new one, which begins with a state; this is tried once a second.
    bool (*on_record)(void *user, const char *room, const uint8_t *bytes, size_t size);
    // A live recording that others can watch: as on_record, but each file holds about segment_s
    // seconds, and begins with the state that the one before ended with, so each verifies by
    // itself. `segment` is what the file is part of; it is valid during the call.
    bool (*on_segment)(
        void *user, const cairn_server_segment *segment, const uint8_t *bytes, size_t size);
    uint32_t segment_s; // 1 .. CAIRN_SEGMENT_SECONDS_MAX; default 2
    // What waits to be written of one room's recording, in bytes; at least three states. If more
    // would wait, ticks are left out and the recording continues in a new file. Default 32 MiB.
    size_t recording_waiting_bytes_max;
    const uint8_t *record_seed; // signs the recordings: 32 bytes that outlive the server; NULL:
                                // recordings are not signed
    // Receives a capsule (desync report): a step that gave different results on a client and in its
    // room, as a file for cairn-replay explain. A task calls it, so perhaps another thread. Name
    // and bytes are valid during the call. In an
    // hour at most two about one client id and 64 of one server. NULL: no capsules. Otherwise rooms
    // keep the states of their last ticks while clients simulate.
    void (*on_capsule)(void *user, const char *room, uint64_t tick, uint64_t client_id,
        const uint8_t *bytes, size_t size);
    void *user;
} cairn_server_config;

// The defaults stated above. Set the keys, the addresses and the start times before create.
cairn_server_config cairn_server_config_default(void);
// Creates a server and its first room. Pair with cairn_server_destroy. On failure *out is NULL.
// CAIRN_OUT_OF_MEMORY. CAIRN_INVALID_ARGUMENT: a field is out of range, or the first room is
// refused; the event "room_refused" then says why.
cairn_status cairn_server_create(const cairn_server_config *config, cairn_server **out);
// Completes the recordings and frees the server. No job and no task may be out
// (cairn_server_jobs_out, cairn_server_tasks_out); the last tasks run at once. Sends
// nothing: drain first, or clients notice only when their connection times out. NULL is allowed.
void cairn_server_destroy(cairn_server *server);

// Takes one datagram of any size from any source. `bytes` is not kept. A datagram that is refused
// is counted by its reason (cairn_server_statistics) and ignored.
void cairn_server_receive(cairn_server *server, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size);
// Runs what is due: time-outs, ticks of all rooms, messages to clients.
void cairn_server_advance(cairn_server *server, uint64_t now_ns);
// Steps the ticks of a job. Call it once, on any thread.
void cairn_server_job_run(cairn_server_job *job);
// Returns a job to the server after cairn_server_job_run. Call it once, on the thread that drives
// the server, then advance and send.
void cairn_server_job_done(cairn_server *server, uint64_t now_ns, cairn_server_job *job);
uint32_t cairn_server_jobs_out(const cairn_server *server); // handed to run_job and not yet done
// Does the work of a task. Call it once, on any thread.
void cairn_server_task_run(cairn_server_task *task);
// Returns a task to the server after cairn_server_task_run. Call it once, on the thread that drives
// the server, then advance and send.
void cairn_server_task_done(cairn_server *server, uint64_t now_ns, cairn_server_task *task);
uint32_t cairn_server_tasks_out(const cairn_server *server); // handed to run_task and not yet done
// The latest time for the next call of advance.
uint64_t cairn_server_deadline_ns(const cairn_server *server);
// Writes the next datagram to `bytes` (room for CAIRN_DATAGRAM_SIZE_MAX) and its destination to
// *to. Returns its size; 0 if none is due.
size_t cairn_server_send(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes);

// Stops admitting clients and rooms, and tells the clients `reason` (printable ASCII, at most
// CAIRN_TEXT_SIZE_MAX characters) as the reason why their room closes. They play on until
// cairn_server_drain. Does nothing after the first call.
void cairn_server_announce_end(cairn_server *server, uint64_t now_ns, const char *reason);
// Whether clients may join: until cairn_server_announce_end or cairn_server_drain.
bool cairn_server_admits(const cairn_server *server);
// Stops admitting clients, sends disconnect packets to all, completes the recordings. Keep driving
// until cairn_server_drained returns true: at most one second of now_ns, or ten if recordings are
// still being written.
void cairn_server_drain(cairn_server *server, uint64_t now_ns);
bool cairn_server_drained(const cairn_server *server);

// Copies the counters of the server and the sums over its rooms to *out.
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
    uint64_t rtt_ns;    // smoothed round trip time; 0: not measured yet
    uint64_t jitter_ns; // its mean deviation
    float loss;         // fraction of the payloads sent that were lost, smoothed
    uint64_t payloads_sent;
    uint64_t payloads_lost;
    uint64_t rate_bytes_per_s;   // at which payloads may leave now; 0: not limited yet
    uint64_t queue_ns;           // how long payloads wait on the path now
    uint64_t messages_held_back; // of cairn_server_room_statistics, of this client
    cairn_user_data user;        // what its connect token says of it
} cairn_server_client_info;
// Reads connection number `client`, 0 .. clients_max - 1. False if no client is connected there.
bool cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out);

// Writes the addresses of the connected clients to `out`, which has room for clients_max, and
// returns how many there are. A host can use them to keep datagrams of clients apart from those of
// unknown peers. An address that sends more than 10,000 datagrams in a second is left out. While
// cairn_server_address_changes returns the same number, the addresses have not changed.
uint32_t cairn_server_addresses(const cairn_server *server, cairn_address *out);
uint64_t cairn_server_address_changes(const cairn_server *server);

// The defaults stated above. Set name and scene before create.
cairn_server_room_config cairn_server_room_config_default(void);

// Why a room was not created. Each is counted, and emitted as the event "room_refused".
typedef enum cairn_server_room_refusal {
    CAIRN_ROOM_CREATED = 0,
    CAIRN_ROOM_REFUSED_NAME,       // not a valid name
    CAIRN_ROOM_REFUSED_NAME_TAKEN, // by a room that exists
    CAIRN_ROOM_REFUSED_TABLE_FULL, // rooms_max rooms exist
    CAIRN_ROOM_REFUSED_SCENE,      // the scene or a number of the config; the reason says which
    CAIRN_ROOM_REFUSED_UNKNOWN,    // fork: no such room
    CAIRN_ROOM_REFUSED_TICK,       // fork: the room does not hold the state of that tick
    CAIRN_ROOM_REFUSED_BUSY,       // fork: the room's job is out; try again when it is done
    CAIRN_ROOM_REFUSED_DRAINING,   // the server is shutting down
    CAIRN_ROOM_REFUSED_MEMORY,
    CAIRN_ROOM_REFUSED_LOAD, // load_max_percent
    CAIRN_ROOM_REFUSAL_COUNT
} cairn_server_room_refusal;
// A lower-case phrase; static text, never NULL.
const char *cairn_server_room_refusal_text(cairn_server_room_refusal refusal);

#define CAIRN_ROOM_REASON_SIZE 256

// Creates a room; its first tick is due within a millisecond. On success *room is its id. On
// refusal it is 0, and `reason` (may be NULL) says why.
cairn_server_room_refusal cairn_server_room_create(cairn_server *server, uint64_t now_ns,
    const cairn_server_room_config *config, uint32_t *room, char reason[CAIRN_ROOM_REASON_SIZE]);
// Creates a room whose world is that of `from` after `tick` ticks, to the bit: its present tick
// (CAIRN_TICK_NOW), or one whose state `from` keeps. Scene, rules and tick rate of the config are
// ignored. The room has no clients and no players; a player who joins a slot that was taken in
// `from` continues with what the rules hold for that slot. *room and `reason` as above.
#define CAIRN_TICK_NOW UINT64_MAX
cairn_server_room_refusal cairn_server_room_fork(cairn_server *server, uint64_t now_ns,
    uint32_t from, uint64_t tick, const cairn_server_room_config *config, uint32_t *room,
    char reason[CAIRN_ROOM_REASON_SIZE]);
// Closes a room: sends `reason` (printable ASCII, at most CAIRN_TEXT_SIZE_MAX characters) to its
// clients and disconnects them, completes its recording and frees its memory. If a thread is
// stepping the room, this happens when the step is done. Returns false if no room has this id.
bool cairn_server_room_destroy(
    cairn_server *server, uint64_t now_ns, uint32_t room, const char *reason);

// Tells the rules of a room something at its next tick (cairn_rules.host): a hit that lag
// compensation found, the result of a match. It is part of that tick's commands: recorded, sent to
// clients that simulate, the same in every replay. Of *command buttons, move and aim count. *tick:
// the tick that it enters at. CAIRN_NOT_FOUND: the room does not exist. CAIRN_NON_FINITE: a float.
// CAIRN_CAPACITY: as many wait as a tick may have, 64 in a server with `control` and 16 in another.
cairn_status cairn_server_room_command(
    cairn_server *server, uint32_t room, const cairn_command *command, uint64_t *tick);

// Operators that are not clients, and the requests of each that may wait for their answers by
// cairn_server_answered.
#define CAIRN_SERVER_OPERATORS_MAX 16
#define CAIRN_SERVER_ASKED_MAX 64

// Gets the answer of cairn_server_ask, valid during the call, which must not call the server.
typedef void (*cairn_server_answered)(void *user, const struct cairn_control_answer *answer);
// Asks as an operator that is not a client (cairn/control.h): the caller has checked the right.
// `asker` is below CAIRN_SERVER_OPERATORS_MAX; each has a budget of its own, as a client has. A
// request without a room is about the first one. Its texts and bytes are copied, its number is
// ignored. `answered` is called once, by cairn_server_advance: at once, or when a task or the room
// has run. *asked: a number for cairn_server_ask_forget. CAIRN_INVALID_ARGUMENT: a field is outside
// its limits, or the server was made without `control`. CAIRN_CAPACITY: too many wait.
cairn_status cairn_server_ask(cairn_server *server, uint32_t asker,
    const struct cairn_control_request *request, cairn_server_answered answered, void *user,
    uint64_t *asked);
// `answered` will not be called for this number, if it still waits. A request that has begun is
// carried out all the same.
void cairn_server_ask_forget(cairn_server *server, uint64_t asked);

// Finds a room by its name; "" finds the first room. Returns its id, or 0 if no room has this name.
uint32_t cairn_server_room_find(const cairn_server *server, const char *name);
// Returns the id of the room after this one in the table, the first room's for 0, or 0 after the
// last room.
uint32_t cairn_server_room_next(const cairn_server *server, uint32_t room);

typedef struct cairn_server_room_info {
    const char *name; // these texts are valid while the room exists
    const char *scene_name;
    const char *rules_name; // "": none
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t wait_ms;
    bool busy;      // its job is out: the world cannot be read now
    bool recording; // still being written
} cairn_server_room_info;
// Each returns false, and sets *out to zeros, if the id names no room.
bool cairn_server_room_read(const cairn_server *server, uint32_t room, cairn_server_room_info *out);
bool cairn_server_room_statistics_read(
    const cairn_server *server, uint32_t room, cairn_server_room_statistics *out);
bool cairn_server_room_times_read(
    const cairn_server *server, uint32_t room, cairn_server_room_times *out);

// The room's world, for tests and tools in the same process. Read only, and valid until the next
// call that takes the server without const. NULL if there is no such room or its job is out.
const struct cairn_world *cairn_server_world(const cairn_server *server, uint32_t room);

#ifdef __cplusplus
}
#endif
