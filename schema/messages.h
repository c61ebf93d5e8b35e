// SPDX-License-Identifier: MIT
#pragma once

// Every message that travels inside the link's payload, as plain C structs. schema/codec.h turns
// them into FlatBuffers bytes and back. The .fbs files beside this header are normative; layouts
// of structs that travel in vectors are pinned by static asserts in the codec.
//
// Who owns what: a message to encode borrows all its arrays from the caller during the call. A
// decoded message points into the bytes it was decoded from and lasts as long as they do.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"

// Bumped when a message changes so that older peers cannot read it. Exchanged in HELLO.
#define CAIRN_PROTOCOL_VERSION 2

typedef enum cairn_message_kind {
    CAIRN_MESSAGE_NONE = 0,
    // client to server
    CAIRN_MESSAGE_HELLO = 1,       // reliable, first
    CAIRN_MESSAGE_INPUT = 2,       // unreliable, redundant
    CAIRN_MESSAGE_ROOT_REPORT = 3, // unreliable; a lockstep client's own roots
    // server to client
    CAIRN_MESSAGE_WELCOME = 4,  // reliable, answers HELLO
    CAIRN_MESSAGE_REFUSED = 5,  // reliable, answers HELLO; a disconnect follows
    CAIRN_MESSAGE_SHAPES = 6,   // reliable; what bodies look like: all at join, then what appeared
    CAIRN_MESSAGE_KEYFRAME = 7, // reliable when it is long, unreliable otherwise
    CAIRN_MESSAGE_DELTA = 8,    // unreliable
    CAIRN_MESSAGE_TICKS = 9,    // unreliable, redundant; confirmed commands and roots for lockstep
    CAIRN_MESSAGE_STATE = 10,   // reliable; one piece of a full-state transfer
    CAIRN_MESSAGE_KIND_COUNT
} cairn_message_kind;

typedef enum cairn_mode {
    CAIRN_MODE_INTERPOLATE = 0, // snapshots
    CAIRN_MODE_LOCKSTEP = 1,    // full state once, then commands and roots
} cairn_mode;

// Texts are printable ASCII; rules' and scenes' names are at most this long, sentences that.
#define CAIRN_NAME_SIZE_MAX 31
#define CAIRN_WORDS_SIZE_MAX 255

// Structs that travel in vectors. Little-endian on the wire; no padding.

typedef struct cairn_wire_vec3 {
    float x, y, z;
} cairn_wire_vec3;

typedef struct cairn_wire_quat {
    float x, y, z, w;
} cairn_wire_quat;

typedef struct cairn_wire_body {
    uint32_t id;
    uint32_t flags; // bit 0: awake; bits 1-2: body kind
    cairn_wire_vec3 position;
    cairn_wire_quat rotation;
    cairn_wire_vec3 linear_velocity;
    cairn_wire_vec3 angular_velocity;
} cairn_wire_body;
_Static_assert(sizeof(cairn_wire_body) == 60, "wire layout");

typedef struct cairn_wire_shape {
    uint32_t id;
    uint32_t body;
    uint32_t kind; // sim's cairn_shape_kind
    cairn_wire_vec3 half_extents;
    float radius;
    float half_height;
    cairn_wire_vec3 position; // in the body's frame
    cairn_wire_quat rotation;
} cairn_wire_shape;
_Static_assert(sizeof(cairn_wire_shape) == 60, "wire layout");

// A command as the world takes it; `slot` is the server's word, a client's own value is ignored.
typedef struct cairn_wire_command {
    uint32_t kind;
    uint32_t slot;
    uint32_t sequence;
    uint32_t buttons;
    cairn_wire_vec3 move;
    cairn_wire_vec3 aim;
} cairn_wire_command;
_Static_assert(sizeof(cairn_wire_command) == 40, "wire layout");

// One player's input for one tick.
typedef struct cairn_wire_input {
    uint64_t tick;
    uint32_t sequence;
    uint32_t buttons;
    cairn_wire_vec3 move;
    cairn_wire_vec3 aim;
} cairn_wire_input;
_Static_assert(sizeof(cairn_wire_input) == 40, "wire layout");

// The commands of one tick and the full root after stepping it. commands[first_command ..
// first_command + command_count) of the message belong to it.
typedef struct cairn_wire_tick {
    uint64_t tick; // the world's tick before the step
    uint64_t root_lo;
    uint64_t root_hi;
    uint32_t first_command;
    uint32_t command_count;
} cairn_wire_tick;
_Static_assert(sizeof(cairn_wire_tick) == 32, "wire layout");

typedef struct cairn_wire_root {
    uint64_t tick; // the world's tick when the root was taken
    uint64_t lo;
    uint64_t hi;
} cairn_wire_root;
_Static_assert(sizeof(cairn_wire_root) == 24, "wire layout");

// How a client's inputs land, told in every snapshot and ticks message.
typedef struct cairn_wire_timing {
    uint64_t
        input_acknowledged; // newest tick up to which every input of this client was taken or lost
    int32_t lateness_us_worst; // of the inputs since the last message: > 0 came too late by so much
    int32_t lateness_us_last;  // < 0 came early by so much
    uint32_t inputs_late;      // since the client joined
    uint32_t inputs_early_refused; // beyond the window, since the client joined
} cairn_wire_timing;
_Static_assert(sizeof(cairn_wire_timing) == 24, "wire layout");

// Messages.

typedef struct cairn_hello {
    uint32_t protocol_version; // CAIRN_PROTOCOL_VERSION
    uint32_t sim_version;      // CAIRN_SIM_VERSION
    uint32_t mode;             // cairn_mode
    uint32_t spectator;        // 0 or 1: asks for no slot
    const char *rules_name;    // what the client can simulate; "" for none. At most 31 bytes
    uint32_t rules_version;
} cairn_hello;

typedef struct cairn_input_message {
    uint64_t snapshot_acknowledged; // newest snapshot tick received whole, 0 for none
    uint64_t ticks_acknowledged;    // lockstep: all ticks below this are held
    uint64_t sent_at_us;            // the client's clock, echoed in nothing yet; monotonic
    const cairn_wire_input *inputs; // oldest first, strictly increasing ticks
    uint32_t input_count;           // at most CAIRN_INPUTS_PER_MESSAGE_MAX
} cairn_input_message;
#define CAIRN_INPUTS_PER_MESSAGE_MAX 64

typedef struct cairn_root_report {
    const cairn_wire_root *roots; // strictly increasing ticks
    uint32_t root_count;          // at most CAIRN_ROOTS_PER_MESSAGE_MAX
} cairn_root_report;
#define CAIRN_ROOTS_PER_MESSAGE_MAX 64

typedef struct cairn_welcome {
    uint64_t tick; // the room's tick when this was written
    uint32_t slot; // CAIRN_SLOT_NONE for a spectator
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t mode; // granted
    uint32_t sim_version;
    uint32_t rules_version;
    const char *rules_name;
    const char *scene_name;
    uint64_t scene_digest_lo; // hash of the world at tick 0
    uint64_t scene_digest_hi;
} cairn_welcome;
#define CAIRN_SLOT_NONE 255u

typedef enum cairn_refusal_reason {
    CAIRN_REFUSAL_PROTOCOL_VERSION = 1,
    CAIRN_REFUSAL_SIM_VERSION = 2,
    CAIRN_REFUSAL_RULES = 3,
    CAIRN_REFUSAL_ROOM_FULL = 4,
    CAIRN_REFUSAL_MALFORMED = 5,       // the client sent something no client of ours sends
    CAIRN_REFUSAL_TOO_MANY_BODIES = 6, // for snapshots: more than CAIRN_KEYFRAME_BODIES_MAX
    CAIRN_REFUSAL_LAST = CAIRN_REFUSAL_TOO_MANY_BODIES
} cairn_refusal_reason;

typedef struct cairn_refused {
    uint32_t reason;   // cairn_refusal_reason
    const char *words; // one sentence for a person
} cairn_refused;

typedef struct cairn_shapes_message {
    uint64_t tick;
    const cairn_wire_shape *shapes;
    uint32_t shape_count;
    const uint32_t *removed; // shape ids gone since the last SHAPES
    uint32_t removed_count;
    const uint8_t *corner_counts; // of each convex hull among `shapes`, in their order
    uint32_t hull_count;
    const cairn_wire_vec3 *corners; // of these hulls, one after the other; in the shape's frame
    uint32_t corner_count;
} cairn_shapes_message;

// A keyframe tells of every body in one message.
#define CAIRN_KEYFRAME_BODIES_MAX ((CAIRN_MESSAGE_SIZE_MAX - 1024) / sizeof(cairn_wire_body))

typedef struct cairn_keyframe {
    uint64_t tick;
    cairn_hash128 visible_root;
    cairn_hash128 full_root;
    cairn_wire_timing timing;
    const cairn_wire_body *bodies; // in order of id index
    uint32_t body_count;
} cairn_keyframe;

typedef struct cairn_delta {
    uint64_t tick;
    uint64_t baseline_tick; // < tick; the client acknowledged this snapshot
    cairn_hash128 visible_root;
    cairn_hash128 full_root;
    cairn_wire_timing timing;
    const uint8_t *payload; // schema/delta.h
    uint32_t payload_size;
} cairn_delta;

typedef struct cairn_ticks_message {
    cairn_wire_timing timing;
    const cairn_wire_tick *ticks; // consecutive
    uint32_t tick_count;          // at most CAIRN_TICKS_PER_MESSAGE_MAX
    const cairn_wire_command *commands;
    uint32_t command_count; // sorted by (slot, kind, sequence) within each tick
} cairn_ticks_message;
#define CAIRN_TICKS_PER_MESSAGE_MAX 4096

typedef struct cairn_state_message {
    uint64_t tick;        // of the state
    uint32_t offset;      // of this piece
    uint32_t total_size;  // of the whole encoding, at most CAIRN_STATE_SIZE_MAX
    const uint8_t *bytes; // cairn_world_encode's
    uint32_t size;
} cairn_state_message;

typedef struct cairn_message {
    cairn_message_kind kind;
    union {
        cairn_hello hello;
        cairn_input_message input;
        cairn_root_report root_report;
        cairn_welcome welcome;
        cairn_refused refused;
        cairn_shapes_message shapes;
        cairn_keyframe keyframe;
        cairn_delta delta;
        cairn_ticks_message ticks;
        cairn_state_message state;
    };
} cairn_message;
