// SPDX-License-Identifier: MIT
#pragma once

// The client library: what a game links. It starts no thread, opens no socket, reads no clock and
// allocates nothing per frame. The host carries datagrams and passes the time, or lets the optional
// libuv driver (cairn/client_uv.h) do both.
//
// A host's loop: receive until there is nothing to receive, advance, send until send returns 0,
// sleep until the deadline. Times are nanoseconds of one monotonic clock of the host, the same in
// all calls. Lengths are metres, rotations unit quaternions (x y z w), angles radians. A client may
// be used from one thread at a time; two clients share nothing. Pointers must not be NULL unless a
// comment allows it (cairn/types.h).

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/token.h>
#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_client cairn_client;
struct cairn_rules; // <cairn/rules.h>
struct cairn_world; // <cairn/sim.h>

// ----------------------------------------------------------------------------- configuration

typedef enum cairn_client_mode {
    // Shows the server's snapshots, a little in the past. Does not simulate.
    CAIRN_CLIENT_INTERPOLATE = 0,
    // Steps its own world on confirmed inputs and compares its state hash with the server's.
    CAIRN_CLIENT_LOCKSTEP = 1,
    // As HEAL, and steps ahead of the confirmed inputs on predicted ones: the player's own inputs
    // show at once, and a misprediction is rolled back and stepped again.
    CAIRN_CLIENT_PREDICT = 2,
    // As LOCKSTEP, and resynchronises a world that differs from the server's.
    CAIRN_CLIENT_HEAL = 3,
} cairn_client_mode;

// A step of the client's world.
typedef struct cairn_client_step {
    uint64_t tick;  // that was stepped; the world's tick is now one more
    bool confirmed; // with the commands that the server confirmed; if not, with predicted ones
    bool again;     // the tick was stepped before, with other commands or from another state: what
                    // its events caused may have been shown already
} cairn_client_step;

typedef struct cairn_client_config {
    cairn_client_mode mode;

    // Takes no player slot.
    bool spectator;

    // Name of the room to join, at most CAIRN_NAME_SIZE_MAX printable ASCII characters; copied by
    // create. NULL or "" (the default) joins the server's first room.
    const char *room;

    // Modes that simulate: the rules that the server runs; they must outlive the client. NULL: the
    // built-in rules with the name that the server sends.
    const struct cairn_rules *rules;

    // Capacities, taken at create.
    uint32_t bodies_max; // of one snapshot; default 8192
    uint32_t shapes_max; // of all bodies together; default 16384
    // Bytes of the largest state accepted; default and at most 64 MiB. A state is refused
    // before memory is taken if the capacities of its world need more than four times as much.
    uint32_t state_size_max;
    // Interpolate mode: bytes of all triangle meshes and height fields together, 4 for each
    // coordinate, index and height; default and at most 64 MiB. Those that do not fit are left out
    // and counted as drops.
    uint32_t mesh_size_max;

    // Interpolation.
    uint32_t interpolation_delay_ms; // 0 .. 10000; 0: from the measured spacing and jitter
    uint32_t extrapolation_ms_max;   // 0 .. 10000, default 100; past it bodies stand still
    // Bodies are shown exactly where the server's lag compensation puts them: on straight lines
    // between snapshots. Otherwise (the default) they follow curves, which is nearer to where they
    // were, and glide after an extrapolation; in flight a body is then up to g t^2 / 8 from where
    // lag compensation puts it, 3 mm with 20 snapshots a second.
    bool interpolation_exact;

    // Interpolate mode: the server sends velocities with its snapshots, in steps of 1/128 m/s and
    // 1/64 rad/s, of the centre of mass as in cairn_body_state, for some 3 bytes more for each body
    // in motion. Otherwise (the default) the velocities of cairn_client_body are derived from
    // poses: the mean of the body's origin since the snapshot before.
    bool velocities;

    // Past inputs that a message repeats at most until they are acknowledged: a few if they cost
    // next to nothing, more while the path loses; 0 .. 63, default 16.
    uint32_t input_redundancy_ticks;

    // Predict: an input needs a round trip, its jitter and a tick to be stepped by the server in
    // time. The first input_delay_ms_max of that time delay inputs, the next predict_ticks_max
    // ticks are predicted, the rest delays inputs further. Both adapt to what is measured.
    uint32_t input_delay_ms_max; // 0 .. 1000, default 50
    uint32_t predict_ticks_max;  // 1 .. 60, default 8

    // 0 .. 2000, default 0. If it is not 0, the input delay is fixed. Predict: all ticks beyond it
    // are predicted. Lockstep: the client makes inputs this far ahead of the last tick received and
    // ignores the server's reports of when they arrive; late inputs are lost
    // (statistics.inputs.late).
    uint32_t input_delay_ms;

    // Predict: what one advance may spend on stepping, so that a long rollback does not delay a
    // frame. The rest is stepped in the next advance, and the picture from before the rollback is
    // shown meanwhile. At least one tick is stepped.
    uint32_t resim_ticks_max;            // ticks, at least 2; default 32
    uint32_t resim_budget_us;            // 0: no limit; default 8000; needs clock_ns
    uint64_t (*clock_ns)(void *context); // a monotonic clock; NULL: only the ticks are limited
    void *clock_context;

    // Modes that roll back: bytes for saved states, allocated once when the first state arrives.
    // Default 64 MiB. With less memory fewer ticks are predicted; with 0 none are.
    size_t rollback_memory_max;

    // Predict: for how long the server repeats a missing input; 0 .. 10000, default 150.
    uint32_t input_hold_ms;

    // Called after each step of the client's own world, with the world as the step left it: the
    // place to read its events (cairn_world_contact_events, cairn_world_body_events). From within
    // advance, receive and connect; the callback must not use the client. NULL (default): not
    // called; cairn_client_events has the events of all steps.
    void (*on_step)(void *context, const struct cairn_world *world, const cairn_client_step *step);
    void *step_context;

    // Called with a desync report (a file for `cairn-replay explain`) when a step of the client's
    // world gave another result than the server's step, from the same state and commands. At most
    // four calls in one connection, from within advance, receive, connect or destroy. The bytes are
    // valid during the call; the callback must not use the client. NULL (default): no reports are
    // made. In lockstep mode reports need saved states, which take up to rollback_memory_max bytes.
    void (*on_desync_report)(void *context, const uint8_t *bytes, size_t size);
    void *desync_report_context;
} cairn_client_config;

// A config with every default above, in mode CAIRN_CLIENT_INTERPOLATE.
cairn_client_config cairn_client_config_default(void);

// ---------------------------------------------------------------------------------- lifetime

// On CAIRN_OK `*out` is a client in state CAIRN_CLIENT_IDLE, to be freed with cairn_client_destroy;
// otherwise it is NULL. CAIRN_INVALID_ARGUMENT: a field of `config` is out of the range stated
// above. CAIRN_OUT_OF_MEMORY: lower bodies_max and shapes_max and try again.
cairn_status cairn_client_create(const cairn_client_config *config, cairn_client **out);
// Frees the client without sending anything. Call cairn_client_disconnect and send first, or the
// server notices only when the connection times out. NULL is allowed.
void cairn_client_destroy(cairn_client *client);

// Starts to connect with a token from your backend (or the program cairn-token). `now_unix_s` is
// the wall clock, seconds since 1970; the token must not be expired by it. The token is copied.
// Statistics restart at 0. False: the token is malformed or expired; the state is
// CAIRN_CLIENT_FAILED, and a new token is needed. May be called again in any state.
bool cairn_client_connect(cairn_client *client, uint64_t now_ns, uint64_t now_unix_s,
    const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]);
// Leaves the server. Call cairn_client_send afterwards until it returns 0: it returns the
// disconnect packets.
void cairn_client_disconnect(cairn_client *client, uint64_t now_ns);

typedef enum cairn_client_state {
    CAIRN_CLIENT_IDLE = 0,   // connect was not called yet
    CAIRN_CLIENT_CONNECTING, // handshake
    // Connected; waits for the welcome and the first state or snapshot. A state that takes long is
    // on its way while statistics.connection.bytes_received grows.
    CAIRN_CLIENT_JOINING,
    CAIRN_CLIENT_PLAYING,
    CAIRN_CLIENT_LEFT,   // disconnect was called
    CAIRN_CLIENT_FAILED, // cairn_client_failure_text says why; connect with a new token
} cairn_client_state;
cairn_client_state cairn_client_state_read(const cairn_client *client);
// One sentence for people on why the state is FAILED; "" in other states. Valid until the next
// connect or destroy.
const char *cairn_client_failure_text(const cairn_client *client);

// The mode that the server serves this client in, and, if it is not the mode of the config, one
// sentence on why ("" otherwise; valid until the next call of receive, advance or connect). The
// server serves a client by snapshots (CAIRN_CLIENT_INTERPOLATE) if the client's self-test fails,
// if it cannot keep up, if its path is too slow for the state of the world, or if its world differs
// after every repair. The connection stays.
cairn_client_mode cairn_client_mode_now(const cairn_client *client);
const char *cairn_client_mode_text(const cairn_client *client);

// --------------------------------------------------------------------------------- datagrams

// Where the datagrams of cairn_client_send go: the server that is being tried or connected to. Its
// family is CAIRN_ADDRESS_NONE before connect.
cairn_address cairn_client_server_address(const cairn_client *client);

// Takes one datagram of any size from any source. A datagram that is malformed or does not come
// from the server is counted (cairn_client_drop_read) and ignored. `bytes` is not kept.
void cairn_client_receive(cairn_client *client, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size);
// The host noticed that its address or network changed: a socket error, another interface, a new
// socket. The client proves to the server at once that it is here. It also does so by itself when
// it has heard nothing for 1.2 to 2 times the usual time between datagrams (50 to 150 ms), as after
// a NAT forgot it. The session goes on; nothing else is to be done. Does nothing unless connected.
void cairn_client_path_changed(cairn_client *client, uint64_t now_ns);
// Runs what is due: time-outs, inputs, steps of the client's world. After a stall of the host, the
// server or the path, the first message that arrives corrects the client's clock. A world that lags
// catches up by at most ten ticks and resim_budget_us in one advance (lockstep), or by what
// resim_ticks_max and resim_budget_us allow (predict). After a stall longer than the server's
// history of 1024 ticks the server sends a new state.
// A client that joins over a slow path plays as soon as its state has arrived. Its world is then
// behind by the time that the transfer took, and catches up as above. The lag in ticks is
// statistics.connection.server_tick minus cairn_client_confirmed_tick. The server serves the client
// by snapshots instead if the transfer takes longer than three minutes, or if the client does not
// catch up within fifteen minutes (cairn_client_mode_text).
void cairn_client_advance(cairn_client *client, uint64_t now_ns);
// The latest time for the next call of advance, on the clock of now_ns.
uint64_t cairn_client_deadline_ns(const cairn_client *client);
// Writes the next datagram into `bytes`, which has room for CAIRN_DATAGRAM_SIZE_MAX. Returns
// its size, 0 if there is nothing to send.
size_t cairn_client_send(
    cairn_client *client, uint64_t now_ns, uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX]);

// ------------------------------------------------------------------------------------- play

typedef struct cairn_client_input {
    uint32_t buttons; // a bit each; the rules give them a meaning
    float move[3];    // each in [-1, 1]
    float aim[3];     // each in [-1, 1]
} cairn_client_input;

// Sets the player's input from now on, until the next call. It is copied, sent once per tick and
// repeated until the server acknowledges it. False, and nothing changes: a value is not finite or
// out of range, the client has no slot (yet), or the rules of the room declare an input of their
// own.
bool cairn_client_push_input(cairn_client *client, const cairn_client_input *input);
// The same if the rules declare an input (cairn_rules.input): a struct of `size` bytes, 4 for each
// field. The server tells every client the layout, so a client without the rules can play as well.
// False, and nothing changes: the size is another one, a field is out of its bounds, or the client
// has no slot (yet).
bool cairn_client_push_game_input(cairn_client *client, const void *input, uint32_t size);
// The fields that the room's rules declare: writes them and returns how many; 0: the default layout
// of cairn_client_input, or the server has not answered yet.
uint32_t cairn_client_input_fields(
    const cairn_client *client, cairn_input_field out[CAIRN_INPUT_FIELDS_MAX]);

typedef struct cairn_client_body {
    cairn_body_id id;
    bool awake;
    bool disabled;             // it stays in its place and touches nothing: a game may hide it
    uint32_t owner;            // slot of the player that it belongs to, or CAIRN_SLOT_NONE
    uint32_t user;             // the word that the game gave it
    uint32_t teleports;        // modulo 8; changes when it was put elsewhere: trails and cameras
                               // jump, as the picture does
    float position[3];         // m, of the centre of mass
    float rotation[4];         // x y z w
    float linear_velocity[3];  // m/s
    float angular_velocity[3]; // rad/s
} cairn_client_body;

typedef struct cairn_client_sample {
    // The tick shown, with its fraction.
    double tick;

    // The same without rounding, as the client reports it to the server for lag compensation: the
    // picture lies `share` (0 .. 1) of the way from the state of tick_from to the state of
    // tick_from + span. A span of 0: the picture does not lie between two states of the server (it
    // is extrapolated, held or predicted).
    uint64_t tick_from;
    uint32_t span;
    float share;

    bool extrapolated; // beyond the last snapshot
    bool held;         // beyond extrapolation_ms_max: bodies stand still

    // Bodies in the picture; at most body_capacity of them were written.
    uint32_t body_count;
} cairn_client_sample;

// The world to show at now_ns: interpolated between snapshots (interpolate mode), the
// last confirmed steps (lockstep), or the last predicted steps (predict), where a misprediction
// fades out instead of jumping. Bodies are written in order of id index, at most `body_capacity`.
// False, with `*out` all zero, before the first snapshot or state has arrived.
bool cairn_client_sample_world(cairn_client *client, uint64_t now_ns, cairn_client_body *bodies,
    uint32_t body_capacity, cairn_client_sample *out);

// What happened in the world that is shown.
typedef struct cairn_client_event {
    uint64_t tick;          // the picture shows the event from this tick on
    uint32_t kind;          // cairn_contact_event_kind, or CAIRN_CLIENT_JOINT_BROKE
    cairn_shape_id shape_a; // of a sensor event: the sensor; of a joint 0, as shape_b
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
    float point[3];       // m, where the shapes met; begins and hits, zero in other events
    float normal[3];      // from a to b; begins and hits
    float approach_speed; // m/s; begins and hits
    float impulse;        // N s; hits
    cairn_joint_id joint; // that broke and no longer exists, else 0
    bool confirmed;       // as in cairn_client_step; true in interpolate mode
    bool again;           // as in cairn_client_step; false in interpolate mode
} cairn_client_event;

// Interpolate mode: takes the events up to the tick that cairn_client_sample_world showed last,
// oldest first, at most `capacity`, so that a sound is heard when the hit is seen. Returns how many
// were written; each is written once. Shapes ask for events by CAIRN_SHAPE_HIT_EVENTS,
// CAIRN_SHAPE_CONTACT_EVENTS and CAIRN_SHAPE_SENSOR; joints that break need not ask. A contact also
// ends, told or not when it began, if one of its shapes was destroyed. Events come over the
// reliable stream; those that the server dropped for a slow client, or that the host did not take
// in time, count in statistics.snapshots.events_missed.
// Modes that simulate: takes the events of the steps of the client's own world, oldest first, of
// the same kinds, as soon as the step was made. Events of a predicted step stand unless the tick is
// stepped again; then those of the new step follow, with `again`. 256 wait; then the oldest is
// dropped and counted, so take them after each advance. With on_step none are collected: it reads
// them in the world.
uint32_t cairn_client_events(cairn_client *client, cairn_client_event *out, uint32_t capacity);

// ------------------------------------------------------------------- messages of the game

// What the rules of the game send to this player, and what the player sends to them
// (cairn/rules.h). The bytes mean what the game wants.
typedef enum cairn_client_game_kind {
    // cairn_world_send_message: reliable and in order, whatever the mode.
    CAIRN_CLIENT_GAME_MESSAGE = 1,
    // cairn_world_send_event: it happened. In interpolate mode an event may be lost, and arrives
    // before the picture shows its tick: wait with it until cairn_client_sample.tick is as large.
    CAIRN_CLIENT_GAME_EVENT = 2,
    // Predict mode: it happens if the prediction is right. Play its sound now. One of the two below
    // follows, with the same tick and bytes, when the server has confirmed the tick.
    CAIRN_CLIENT_GAME_EVENT_PREDICTED = 3,
    CAIRN_CLIENT_GAME_EVENT_CONFIRMED = 4, // it happened
    CAIRN_CLIENT_GAME_EVENT_WITHDRAWN = 5, // it did not happen
} cairn_client_game_kind;

typedef struct cairn_client_game_message {
    uint64_t tick; // of the world after the step in which the rules sent it
    uint32_t kind; // cairn_client_game_kind
    uint32_t size; // 1 .. CAIRN_GAME_MESSAGE_SIZE_MAX
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX]; // those before `size` are set
} cairn_client_game_message;

// Takes the next one that waits; false: none. 256 wait; then the oldest is dropped and counted as
// missed, so take them after each advance.
bool cairn_client_next_game_message(cairn_client *client, cairn_client_game_message *out);

// Sends a message to cairn_rules.message of the room's rules: reliable and in order. It reaches
// every world at the tick that the server gives it. CAIRN_INVALID_ARGUMENT: size is 0 or larger
// than CAIRN_GAME_MESSAGE_SIZE_MAX. CAIRN_NOT_FOUND: no room has welcomed this client.
// CAIRN_CAPACITY: what was sent before fills the stream; try again later. The server refuses
// messages that the rules do not take, those of spectators, and what exceeds its budget for a
// client: 4096 bytes at once and 2048 bytes per second, a message counting as 32 bytes more.
cairn_status cairn_client_send_game_message(cairn_client *client, const void *bytes, uint32_t size);

typedef struct cairn_client_game_statistics { // since connect
    uint64_t sent;
    uint64_t refused;         // by the server, which tells it at most once a second
    const char *refusal_text; // why the last of them was; the client's; ""
    uint64_t received;        // everything that cairn_client_next_game_message has to take
    uint64_t missed;          // dropped by the server for a slow client, or not taken in time
} cairn_client_game_statistics;
cairn_client_game_statistics cairn_client_game_statistics_read(const cairn_client *client);

// The part of the rules' state that they share (cairn_rules.shared_size): a score, a timer. Copies
// at most `capacity` bytes and returns the size of the whole; 0: the rules share nothing, or no
// world has arrived. Interpolate mode: as of the last snapshot that the picture has reached. Other
// modes: of the client's own world, in predict mode the predicted one. *tick, which may be NULL, is
// the tick that it is of. The client needs no rules for it.
uint32_t cairn_client_shared_read(
    const cairn_client *client, void *out, uint32_t capacity, uint64_t *tick);

typedef struct cairn_client_shape {
    cairn_shape_id id;
    cairn_body_id body;    // that it belongs to
    cairn_shape_kind kind; // says which of the sizes are used
    float half_extents[3]; // m; boxes
    float radius;          // m; spheres and capsules
    float half_height;     // m; capsules, between the sphere centres, along local y
    float position[3];     // m, in the body's frame
    float rotation[4];     // x y z w, in the body's frame
    cairn_mesh_id mesh;    // meshes and height fields: see cairn_client_mesh_read; else 0
} cairn_client_shape;

// What bodies look like: all shapes but sensors. Returns how many shapes there are, writes at most
// `capacity` of them, in order of id index. `*revision` (may be NULL) changes whenever the list
// does.
uint32_t cairn_client_shapes(
    const cairn_client *client, cairn_client_shape *out, uint32_t capacity, uint32_t *revision);
// The corners of a convex hull, in the frame of the shape: the hull is the smallest convex body
// that contains them. Returns how many there are, at most CAIRN_HULL_VERTICES_MAX, and writes at
// most `capacity`; 0 for a shape of another kind and for an id that is not in the list.
uint32_t cairn_client_shape_corners(
    const cairn_client *client, cairn_shape_id shape, float (*out)[3], uint32_t capacity);

// The surface of shapes that name it, in the frame of the shape: a triangle mesh or a height field,
// as in cairn/sim.h.
typedef struct cairn_client_mesh {
    uint32_t kind;           // cairn_mesh_kind
    uint32_t vertex_count;   // of a mesh; 0 for a height field
    uint32_t triangle_count; // of a mesh; 0 for a height field
    uint32_t columns;        // of a height field; 0 for a mesh
    uint32_t rows;
    float spacing_x; // m
    float spacing_z;
} cairn_client_mesh;

// What a mesh consists of. CAIRN_NOT_FOUND, with *out zeros: no shape names this mesh, or not all
// of it has arrived. In interpolate mode it follows its shapes in pieces, so ask again when
// `*revision` changed, which may be NULL.
cairn_status cairn_client_mesh_info(
    const cairn_client *client, cairn_mesh_id mesh, cairn_client_mesh *out, uint32_t *revision);
// Copies vertex_count vertices and 3 * triangle_count indices. CAIRN_NOT_FOUND, and nothing is
// written: as above, or it is a height field.
cairn_status cairn_client_mesh_read(
    const cairn_client *client, cairn_mesh_id mesh, float (*vertices)[3], uint32_t *indices);
// Copies columns * rows heights, row by row. CAIRN_NOT_FOUND, and nothing is written: as above, or
// it is a triangle mesh.
cairn_status cairn_client_height_field_read(
    const cairn_client *client, cairn_mesh_id mesh, float *heights);

// Modes that simulate: the client's own world, NULL before its state has arrived. Read only. Valid
// until the next call of advance or receive, because a new state from the server replaces it. In
// predict mode it is the predicted world; compare its tick with cairn_client_confirmed_tick.
const struct cairn_world *cairn_client_world(const cairn_client *client);
// Returns the first tick that is not yet confirmed: for every earlier tick the client has the
// server's inputs and has stepped them. A world at this tick or an earlier one is equal to the
// server's.
uint64_t cairn_client_confirmed_tick(const cairn_client *client);

// -------------------------------------------------------------------------------- statistics

// All counters begin at 0 with each connect, unless they say otherwise.

typedef struct cairn_client_connection_statistics {
    uint32_t slot;             // of the player; CAIRN_SLOT_NONE: none
    uint64_t server_tick;      // last tick received
    uint64_t rtt_ns;           // round trip, smoothed
    uint64_t jitter_ns;        // mean deviation of the round trip
    float loss;                // fraction of sent datagrams that were lost, smoothed
    uint64_t rate_bytes_per_s; // at which datagrams may leave now; 0: not limited yet
    uint64_t queue_ns;         // how long they wait on the path to the server now
    uint64_t path_changes;     // times that the server saw this client at another address
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t datagrams_dropped; // since create, for any reason; cairn_client_drop_read lists them
    uint64_t bytes_sent;        // of datagrams
    uint64_t bytes_received;
} cairn_client_connection_statistics;

// Interpolate mode.
typedef struct cairn_client_snapshot_statistics {
    uint64_t received; // keyframes and deltas
    uint64_t keyframes;
    uint64_t deltas;
    uint64_t unusable; // deltas whose baseline is no longer held, or does not fit
    uint64_t bytes;    // of messages
    uint64_t interpolation_delay_ns;
    uint64_t extrapolated_ns; // time in which the picture lay beyond the last snapshot
    uint64_t events;          // received
    uint64_t events_missed;
} cairn_client_snapshot_statistics;

typedef struct cairn_client_input_statistics {
    uint64_t sent;        // each repetition counts
    uint64_t late;        // inputs that arrived after their tick, as the server counts
    int32_t lateness_us;  // of the last input that the server judged; > 0: too late
    uint64_t lead_ns;     // how far ahead of the last tick received inputs are made
    uint32_t delay_ticks; // predict: from push_input to the tick that shows it
} cairn_client_input_statistics;

// Modes that simulate.
typedef struct cairn_client_simulation_statistics {
    uint64_t ticks_stepped;  // ticks that were stepped again count again
    uint64_t roots_compared; // state hashes compared with the server's
    uint64_t roots_differed;
    uint64_t first_difference_tick; // CAIRN_TICK_NONE: none
    uint64_t states_loaded;         // full states from the server; 1 after joining
} cairn_client_simulation_statistics;

// Predict mode.
typedef struct cairn_client_prediction_statistics {
    uint32_t predicted_ticks; // of the world now, beyond the last confirmed tick
    uint64_t rollbacks;       // cairn_client_rollback_count has them by cause
    uint64_t rollback_ticks;  // ticks that rollbacks went back, in sum
    uint64_t over_budget;     // advances that ended with work left
    uint64_t window_full;     // advances that had no room to predict another tick
    float correction_m;       // the largest visible error that is still fading out
    // Rollbacks that stepped only some bodies again: those that a wrong command may have moved
    // (cairn/rollback.h). And the ticks of these rollbacks. Both stay 0 if the world has rules or
    // on_step is set.
    uint64_t corrections;
    uint64_t corrected_ticks;
} cairn_client_prediction_statistics;

// Modes heal and predict; reports in all modes that simulate.
typedef struct cairn_client_resync_statistics {
    uint64_t count;                 // completed resynchronisations
    uint64_t bytes;                 // of messages and states that these took
    uint64_t repairs_refused;       // answers that did not make the world equal to the server's
    uint64_t desync_reports;        // started
    uint64_t desync_reports_failed; // for lack of a saved state to begin with, or of memory
} cairn_client_resync_statistics;

typedef struct cairn_client_statistics {
    cairn_client_connection_statistics connection;
    cairn_client_snapshot_statistics snapshots;
    cairn_client_input_statistics inputs;
    cairn_client_simulation_statistics simulation;
    cairn_client_prediction_statistics prediction;
    cairn_client_resync_statistics resync;
} cairn_client_statistics;
// Fills *out with the statistics of now.
void cairn_client_statistics_read(const cairn_client *client, cairn_client_statistics *out);

// A reason why the client ignores data that it received, with its count since create.
typedef struct cairn_client_drop {
    const char *layer;  // "netcode", "link", "decode", "session", "snapshot" or "lockstep"; static
    const char *reason; // static text
    uint64_t count;
} cairn_client_drop;
// The reason number `i` in the list of all reasons, those that never occurred included; false past
// its end. The list has the same order in every call.
bool cairn_client_drop_read(const cairn_client *client, uint32_t i, cairn_client_drop *out);

// -------------------------------------------------------------------------------- rollbacks

// Why a prediction failed. The client cannot tell whether an input was lost or late on its way to
// the server: both look the same from here.
typedef enum cairn_client_rollback_cause {
    // The server had no input of player `slot` in time and filled one in.
    CAIRN_ROLLBACK_LATE_INPUT = 0,
    // The same for this client's own input.
    CAIRN_ROLLBACK_OWN_INPUT,
    // The input of player `slot` was not the predicted one.
    CAIRN_ROLLBACK_WRONG_PREDICTION,
    // The same, and the server's message about it arrived together with later ticks: it was lost or
    // delayed, so the wrong prediction lasted longer than the delay of the path.
    CAIRN_ROLLBACK_LOST_PACKET,
    // Player `slot` joined or left.
    CAIRN_ROLLBACK_JOIN_LEAVE,
    // An operator edited the world, or a player's message reached the rules.
    CAIRN_ROLLBACK_OPERATOR,
    // The world differed from the server's and was resynchronised.
    CAIRN_ROLLBACK_RESYNC,
    // The server sent a new state.
    CAIRN_ROLLBACK_STATE_REPLACED,
    CAIRN_ROLLBACK_CAUSE_COUNT
} cairn_client_rollback_cause;
const char *cairn_client_rollback_cause_text(cairn_client_rollback_cause cause); // static

typedef struct cairn_client_rollback {
    uint64_t tick_from; // the first tick stepped again
    uint32_t ticks;     // how many the world went back
    // If several apply: the first in the order operator, joins, own input, others by slot.
    cairn_client_rollback_cause cause;
    uint32_t slot; // of the player; CAIRN_SLOT_NONE: none
    // Ticks that the server confirmed since the advance before. If there are more than one or two,
    // messages were lost or delayed and made the rollback that much longer.
    uint32_t confirmed_together;
    uint32_t advances;     // that it took; 1 unless it went over budget
    uint32_t bodies_moved; // shown wrongly by more than 0.1 mm or 0.1 mrad, created or destroyed
    float error_m_max;     // the largest visible correction
    uint64_t cost_ns;      // of stepping again, by the host's clock; 0 without one
} cairn_client_rollback;

// Rollbacks that are kept for cairn_client_rollbacks.
#define CAIRN_CLIENT_ROLLBACKS_HELD 64
// Predict: writes the last completed rollbacks, oldest first, at most `capacity`. Returns how many
// were written; the last of them is number statistics.prediction.rollbacks. 0 in other modes.
uint32_t cairn_client_rollbacks(
    const cairn_client *client, cairn_client_rollback *out, uint32_t capacity);
// Completed rollbacks with this cause since connect.
uint64_t cairn_client_rollback_count(const cairn_client *client, cairn_client_rollback_cause cause);

// -------------------------------------------------------------------------- resynchronisation

// How a world that differed from the server's, although its commands agreed, became equal again.
typedef enum cairn_client_resync_cause {
    // The client stepped again from the last valid tick, without the server: its memory had been
    // corrupted.
    CAIRN_RESYNC_BY_STEPPING = 0,
    // The server sent the elements that differed.
    CAIRN_RESYNC_BY_ELEMENTS,
    // Too much differed, or since too long ago: the server sent its state.
    CAIRN_RESYNC_BY_STATE,
    CAIRN_RESYNC_CAUSE_COUNT
} cairn_client_resync_cause;
const char *cairn_client_resync_cause_text(cairn_client_resync_cause cause); // static

typedef struct cairn_client_resync_record {
    uint64_t tick; // the first that differed
    cairn_client_resync_cause cause;
    uint32_t elements;    // sent by the server
    uint32_t bytes;       // of messages in both directions, and of a state
    uint32_t round_trips; // requests sent
    uint32_t ticks;       // received while it lasted
    uint64_t elapsed_ns;  // from detection until the world had again the tick it had then
} cairn_client_resync_record;

// Resynchronisations that are kept for cairn_client_resyncs.
#define CAIRN_CLIENT_RESYNCS_HELD 32
// Heal and predict: writes the last completed resynchronisations, oldest first, at most `capacity`.
// Returns how many were written; the last of them is number statistics.resync.count.
uint32_t cairn_client_resyncs(
    const cairn_client *client, cairn_client_resync_record *out, uint32_t capacity);

#ifdef __cplusplus
}
#endif
