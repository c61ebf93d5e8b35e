// SPDX-License-Identifier: MIT
#pragma once

// What a game links. No thread, no socket, no allocation per frame: the host carries datagrams and
// tells the time, or lets the optional libuv driver (cairn/client_uv.h) do both.
//
// Every loop is: receive until dry, advance, send until dry. Times are nanoseconds of any monotonic
// clock of the host, the same in all calls. Lengths are metres, rotations unit quaternions.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_client cairn_client;
struct cairn_rules;   // include/cairn/sim.h
struct cairn_world;   // include/cairn/sim.h
struct cairn_address; // base/address.h

typedef enum cairn_client_mode {
    CAIRN_CLIENT_INTERPOLATE = 0, // shows the server's snapshots, a little in the past
    CAIRN_CLIENT_LOCKSTEP = 1,    // steps its own world on confirmed inputs, proves it by hash
    CAIRN_CLIENT_PREDICT = 2,     // likewise, and steps ahead of them on what players are likely to
                                  // do: shows own inputs at once, goes back where it guessed wrong
    CAIRN_CLIENT_HEAL = 3,        // as lockstep; a world that differs from the server's is mended
} cairn_client_mode;

typedef struct cairn_client_config {
    cairn_client_mode mode;
    bool spectator;   // asks for no player slot
    const char *room; // of the server's rooms; at most 31 bytes of ASCII, copied at create. "" (the
                      // default) or NULL: its first
    const struct cairn_rules
        *rules;              // lockstep: what the server runs. NULL: those built in, by name
    uint32_t bodies_max;     // of a snapshot; default 8192
    uint32_t shapes_max;     // of all bodies together; default 16384
    uint32_t state_size_max; // lockstep: the largest state accepted, bytes; default and at most
                             // 64 MiB
    uint32_t interpolation_delay_ms; // 0: measured from snapshot spacing and jitter
    uint32_t extrapolation_ms_max;   // default 100; past it bodies hold still
    uint32_t input_redundancy_ticks; // past inputs repeated in each message until acknowledged;
                                     // default 16, at most 63
    // How long after a push the own input shows, and how it is hidden. The path asks for a certain
    // time (a round trip, its jitter, a tick). Predict: the first input_delay_ms_max of it are
    // spent by delaying inputs, then up to predict_ticks_max ticks are predicted, then inputs are
    // delayed further; this adapts to what is measured.
    uint32_t input_delay_ms_max; // predict; default 50, at most 1000
    uint32_t predict_ticks_max;  // predict; default 8, 1 .. 60
    // Not 0: the delay does not adapt. Predict: inputs are delayed by this, all the rest is
    // predicted. Lockstep: inputs are made this much ahead of the newest tick heard, whatever the
    // server says of how they land; too little loses them, which cairn_client_statistics tells.
    uint32_t input_delay_ms; // default 0, at most 2000
    // Predict: what one advance may spend on stepping, so that a long rollback does not hold up a
    // frame: what does not fit goes on in the next, and the picture from before is shown meanwhile.
    // At least one tick is stepped. The time is the host's: without clock_ns only the ticks count.
    uint32_t resim_ticks_max;            // default 32, at least 2
    uint32_t resim_budget_us;            // default 8000; 0: no limit
    uint64_t (*clock_ns)(void *context); // any monotonic clock; NULL: none
    void *clock_context;
    size_t rollback_memory_max; // predict: bytes for saved states, taken once when the world is
                                // known; default 64 MiB. Too little for the ticks to be predicted:
                                // fewer are
    uint32_t input_hold_ms;     // predict: how long the server repeats a missing input; default 150
    // Called with a capsule when the own world took a step otherwise than the server's on the same
    // state and commands: a file for cairn-replay explain, which says why. Not in a hurry, at most
    // four in one connection. Bytes last during the call, which must not touch the client. NULL, as
    // by default: none are made. Lockstep keeps some states for it, in rollback_memory_max bytes.
    void (*on_capsule)(void *context, const uint8_t *bytes, size_t size);
    void *capsule_context;
} cairn_client_config;

cairn_client_config cairn_client_config_default(void);
// Returns NULL when the config is outside its ranges or memory is short.
cairn_client *cairn_client_create(const cairn_client_config *config);
void cairn_client_destroy(cairn_client *client);

// A connect token is 2048 bytes, issued by your backend (or cairn-token). False when it is
// malformed or expired.
bool cairn_client_connect(
    cairn_client *client, uint64_t now_ns, uint64_t now_unix_s, const uint8_t token[2048]);
void cairn_client_disconnect(cairn_client *client, uint64_t now_ns);

typedef enum cairn_client_state {
    CAIRN_CLIENT_IDLE = 0,
    CAIRN_CLIENT_CONNECTING, // handshake
    CAIRN_CLIENT_JOINING,    // connected, waits for welcome and first state
    CAIRN_CLIENT_PLAYING,
    CAIRN_CLIENT_LEFT,   // disconnect was called
    CAIRN_CLIENT_FAILED, // cairn_client_failure_text says why
} cairn_client_state;
cairn_client_state cairn_client_state_read(const cairn_client *client);
const char *cairn_client_failure_text(const cairn_client *client); // "" while nothing failed

// Where to send to: the server being tried. family 0 before connect.
struct cairn_address cairn_client_server_address(const cairn_client *client);

void cairn_client_receive(cairn_client *client, uint64_t now_ns, const struct cairn_address *from,
    const uint8_t *bytes, size_t size);
// After a stall of the host, the server or the path, however long, the clock is right with the
// first message that comes through. A world of its own catches up by at most ten ticks an advance
// (lockstep) or what resim_ticks_max and resim_budget_us allow (predict): a stall of five seconds
// is over within one. Beyond the server's history, 1024 ticks, the server sends its state anew.
void cairn_client_advance(cairn_client *client, uint64_t now_ns);
// When advance next has something to do.
uint64_t cairn_client_deadline_ns(const cairn_client *client);
// The next datagram into `bytes` (room for 1300); 0 when dry. It goes to
// cairn_client_server_address.
size_t cairn_client_send(cairn_client *client, uint64_t now_ns, uint8_t *bytes);

typedef struct cairn_client_input {
    uint32_t buttons;
    float move[3]; // each in [-1, 1]
    float aim[3];  // each in [-1, 1]
} cairn_client_input;
// What the player holds from now on; goes out once per tick, repeated until acknowledged. False
// when a value is not finite or out of range, or the client has no slot: nothing changes then.
bool cairn_client_push_input(cairn_client *client, const cairn_client_input *input);

typedef struct cairn_client_body {
    uint32_t id;
    bool awake;
    float position[3];
    float rotation[4]; // x y z w
    float linear_velocity[3];
    float angular_velocity[3];
} cairn_client_body;

typedef struct cairn_client_sample {
    double tick; // where between ticks the sample lies
    // The same exactly, as it goes to the server for lag compensation
    // (server/lag/lag_compensation.h): share of the way from the state of tick_from to that of
    // tick_from + span. A span of 0: no two states of the server lie around it (extrapolated, held,
    // predicted).
    uint64_t tick_from;
    uint32_t span;
    float share;
    bool extrapolated;   // beyond the newest snapshot
    bool held;           // beyond the cap: bodies hold still
    uint32_t body_count; // in all; at most body_capacity were written
} cairn_client_sample;
// The world as it is to be shown at now_ns: interpolated between the snapshots (interpolate mode),
// the last confirmed steps (lockstep) or the newest predicted steps (predict), there with what is
// left of past corrections: a body glides to where it truly is. Bodies in order of id. False before
// the first snapshot.
bool cairn_client_sample_world(cairn_client *client, uint64_t now_ns, cairn_client_body *bodies,
    uint32_t body_capacity, cairn_client_sample *out);

typedef struct cairn_client_shape {
    uint32_t id;
    uint32_t body;
    uint32_t kind; // 1 sphere, 2 capsule, 3 box, 4 half-space, 5 convex hull
    float half_extents[3];
    float radius;
    float half_height;
    float position[3]; // in the body's frame
    float rotation[4];
} cairn_client_shape;
// What bodies look like. Returns how many there are, writes at most `capacity`. `*revision` (may be
// NULL) changes whenever the list does.
uint32_t cairn_client_shapes(
    const cairn_client *client, cairn_client_shape *out, uint32_t capacity, uint32_t *revision);
// The corners of a convex hull, in the frame of the shape; it is the least convex body that holds
// them. Returns how many there are (at most 32), writes at most `capacity`; 0 for any other shape.
uint32_t cairn_client_shape_corners(
    const cairn_client *client, uint32_t shape, float (*out)[3], uint32_t capacity);

// What the client is now, and why that is not what the config asks for: one sentence, "" when it
// is. A client whose self-test fails, that cannot keep up, or whose world differs again and again
// goes on by snapshots (CAIRN_CLIENT_INTERPOLATE); the connection stays.
cairn_client_mode cairn_client_mode_now(const cairn_client *client);
const char *cairn_client_mode_text(const cairn_client *client);

// How a world that differed from the server's although its inputs agreed was mended.
typedef enum cairn_client_resync_cause {
    CAIRN_RESYNC_BY_STEPPING = 0, // stepped again from the last sound tick, without the server:
                                  // what differed was memory, not arithmetic
    CAIRN_RESYNC_BY_ELEMENTS,     // the server told what differed
    CAIRN_RESYNC_BY_STATE,        // too much differed, or too long ago: the server sent everything
    CAIRN_RESYNC_CAUSE_COUNT
} cairn_client_resync_cause;
const char *cairn_client_resync_cause_text(cairn_client_resync_cause cause); // static

typedef struct cairn_client_resync_record {
    uint64_t tick;        // the first that differed
    uint32_t cause;       // cairn_client_resync_cause
    uint32_t elements;    // told by the server
    uint32_t bytes;       // of messages, both ways; of a state, its own
    uint32_t round_trips; // questions asked
    uint32_t ticks;       // that the server's world went on meanwhile, as heard
    uint64_t elapsed_ns;  // from when it was found until the world stood again where it stood
} cairn_client_resync_record;

#define CAIRN_CLIENT_RESYNCS_HELD 32
// Heal and predict: the newest that are over, oldest first; returns how many were written.
// Statistics' `heals` numbers them: the last one written is the newest.
uint32_t cairn_client_resyncs(
    const cairn_client *client, cairn_client_resync_record *out, uint32_t capacity);

typedef struct cairn_client_statistics {
    uint64_t tick_server; // newest tick heard of
    uint64_t tick_local;  // lockstep and predict: ticks stepped, those stepped again as well
    uint32_t slot;        // 255: none
    uint64_t snapshots_received;
    uint64_t keyframes_received;
    uint64_t deltas_received;
    uint64_t snapshots_unusable; // delta against a baseline no longer held
    uint64_t snapshot_bytes;
    uint64_t roots_compared; // lockstep: own against the server's
    uint64_t roots_differed;
    uint64_t first_difference_tick; // UINT64_MAX: none
    uint64_t inputs_sent;
    uint64_t inputs_late; // as the server tells
    int32_t lateness_us;  // newest word of the server: > 0 too late
    uint64_t rtt_ns;
    uint64_t jitter_ns;
    float loss;
    uint64_t interpolation_delay_ns;
    uint64_t input_lead_ns; // by how much inputs are made ahead of the newest tick heard. Lockstep:
                            // this is the input delay, beside what interpolation adds to show
    uint32_t input_delay_ticks;   // predict: from a push to the tick it is shown in
    uint32_t predicted_ticks;     // predict: the world's now, beyond the newest confirmed
    uint64_t rollbacks;           // all; cairn_client_rollback_count has each cause
    uint64_t rollback_ticks;      // stepped again, all together
    uint64_t resim_over_budget;   // advances that ended with work left
    uint64_t predict_window_full; // advances in which no further tick could be predicted
    float correction_m;           // predict: the largest error still being smoothed away
    uint64_t heals;               // heal and predict: worlds mended
    uint64_t heal_bytes;          // that this took
    uint64_t repairs_refused;     // answers of the server that mended nothing
    uint64_t capsules;            // begun, of steps that the server took otherwise
    uint64_t capsules_unfounded;  // not begun: no state to begin with, or no memory
    uint64_t states_loaded;       // full states taken from the server; 1 after joining
    uint64_t extrapolated_ns;     // total
    uint64_t datagrams_sent;
    uint64_t datagrams_received;
    uint64_t bytes_sent;
    uint64_t bytes_received;
    uint64_t datagrams_dropped; // all reasons together; cairn_client_drops has each
} cairn_client_statistics;
void cairn_client_statistics_read(const cairn_client *client, cairn_client_statistics *out);

typedef struct cairn_client_drop {
    const char *layer;  // "netcode", "link", "decode", "session", "snapshot", "lockstep"
    const char *reason; // static text
    uint64_t count;
} cairn_client_drop;
// The i-th reason of the list of all reasons; false past its end.
bool cairn_client_drop_read(const cairn_client *client, uint32_t i, cairn_client_drop *out);

// How predictions failed. What a client cannot know is not told apart: whether an input was lost or
// late on its way to the server looks the same from here.
typedef enum cairn_client_rollback_cause {
    CAIRN_ROLLBACK_LATE_INPUT = 0,   // the server had no input of player `slot` in time and filled
                                     // it in: late or lost on that player's path
    CAIRN_ROLLBACK_OWN_INPUT,        // likewise, of our own: what we sent came late or never
    CAIRN_ROLLBACK_WRONG_PREDICTION, // player `slot` pressed something else than before
    CAIRN_ROLLBACK_LOST_PACKET,      // likewise, and the server's word about it came together with
                                     // words about later ticks: its own was lost or held up, and
                                     // the guess stood longer than the path is long
    CAIRN_ROLLBACK_JOIN_LEAVE,       // player `slot` joined or left
    CAIRN_ROLLBACK_OPERATOR,         // somebody edited the world
    CAIRN_ROLLBACK_RESYNC,           // our world was wrong and was repaired
    CAIRN_ROLLBACK_STATE_REPLACED,   // the server sent its state anew
    CAIRN_ROLLBACK_CAUSE_COUNT
} cairn_client_rollback_cause;
const char *cairn_client_rollback_cause_text(cairn_client_rollback_cause cause); // static

typedef struct cairn_client_rollback {
    uint64_t tick_from; // the first tick stepped again
    uint32_t ticks;     // how many the world went back
    uint32_t cause; // cairn_client_rollback_cause; the first that applies, in the order operator,
                    // joins, own input, others by slot
    uint32_t slot;  // whose; 255: nobody's
    uint32_t confirmed_together; // ticks the server confirmed since the advance before: more than
                                 // one or two say that its words were lost or held up, and the
                                 // rollback is longer by so much
    uint32_t advances;           // that it took; 1 unless it went over budget
    uint32_t bodies_moved;       // shown more than 0.1 mm or 0.1 mrad wrongly, come or gone
    float error_m_max;           // the largest visible correction, m
    uint64_t cost_ns;            // of stepping again, by the host's clock; 0 without one
} cairn_client_rollback;

#define CAIRN_CLIENT_ROLLBACKS_HELD 64
// Predict: the newest rollbacks that are over, oldest first: at most `capacity` and at most
// CAIRN_CLIENT_ROLLBACKS_HELD. Returns how many were written; statistics' `rollbacks` numbers them:
// the last one written is the newest. 0 in other modes.
uint32_t cairn_client_rollbacks(
    const cairn_client *client, cairn_client_rollback *out, uint32_t capacity);
uint64_t cairn_client_rollback_count(const cairn_client *client, cairn_client_rollback_cause cause);

// Lockstep and predict: the client's own world, NULL before its state has arrived. Read only.
// Another one after the server sent its state anew: ask again after each advance. In predict mode
// it is the predicted world; cairn_client_confirmed_tick says how much of it is certain.
const struct cairn_world *cairn_client_world(const cairn_client *client);
// Every tick below is confirmed and stepped; a world whose tick is not beyond it is the server's.
uint64_t cairn_client_confirmed_tick(const cairn_client *client);

#ifdef __cplusplus
}
#endif
