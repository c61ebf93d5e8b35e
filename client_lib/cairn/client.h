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
struct cairn_rules;   // sim/sim.h
struct cairn_world;   // sim/sim.h
struct cairn_address; // base/address.h

typedef enum cairn_client_mode {
    CAIRN_CLIENT_INTERPOLATE = 0, // shows the server's snapshots, a little in the past
    CAIRN_CLIENT_LOCKSTEP = 1,    // steps its own world on confirmed inputs, proves it by hash
} cairn_client_mode;

typedef struct cairn_client_config {
    cairn_client_mode mode;
    bool spectator; // asks for no player slot
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
    double tick;         // where between ticks the sample lies
    bool extrapolated;   // beyond the newest snapshot
    bool held;           // beyond the cap: bodies hold still
    uint32_t body_count; // in all; at most body_capacity were written
} cairn_client_sample;
// The world as it is to be shown at now_ns: interpolated between the snapshots (interpolate mode)
// or the last confirmed steps (lockstep). Bodies in order of id. False before the first snapshot.
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

typedef struct cairn_client_statistics {
    uint64_t tick_server; // newest tick heard of
    uint64_t tick_local;  // lockstep: ticks stepped
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
    uint64_t input_lead_ns;   // by how much inputs are made ahead of the newest tick heard
    uint64_t extrapolated_ns; // total
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

// Lockstep: the client's own world, NULL before its state has arrived. Read only. Another one after
// the server sent its state anew: ask again after each advance.
const struct cairn_world *cairn_client_world(const cairn_client *client);

#ifdef __cplusplus
}
#endif
