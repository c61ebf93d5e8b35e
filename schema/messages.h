// SPDX-License-Identifier: MIT
#pragma once

// Every message that travels inside the link's payload, as plain C structs. schema/codec.h turns
// them into FlatBuffers bytes and back. The .fbs files beside this header are normative; layouts
// of structs that travel in vectors are pinned by static asserts in the codec.
//
// Ownership: a message to encode borrows all its arrays from the caller during the call. A
// decoded message points into the bytes it was decoded from and lasts as long as they do.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/limits.h"
#include <cairn/control.h>
#include <cairn/rules.h>
#include <cairn/types.h>
#include <cairn/version.h>

typedef enum cairn_message_kind {
    CAIRN_MESSAGE_NONE = 0,
    // client to server
    CAIRN_MESSAGE_HELLO = 1,          // reliable, first
    CAIRN_MESSAGE_INPUT = 2,          // unreliable; inputs and acknowledgements
    CAIRN_MESSAGE_ROOT_REPORT = 3,    // unreliable; the roots of a client that simulates
    CAIRN_MESSAGE_RESYNC_REQUEST = 4, // reliable; a root differs: asks what differs
    CAIRN_MESSAGE_CONTROL = 5,        // reliable; what an operator asks
    // server to client
    CAIRN_MESSAGE_WELCOME = 6,  // reliable, answers HELLO
    CAIRN_MESSAGE_REFUSED = 7,  // reliable, answers HELLO; a disconnect follows
    CAIRN_MESSAGE_SHAPES = 8,   // reliable; what bodies look like: all at join, then what appeared
    CAIRN_MESSAGE_SNAPSHOT = 9, // unreliable; reliable when it is a long keyframe
    CAIRN_MESSAGE_TICKS = 10,   // confirmed commands and roots; reliable when they are overdue
    CAIRN_MESSAGE_STATE = 11,   // reliable; one piece of a full-state transfer
    CAIRN_MESSAGE_RESYNC_RESPONSE = 12, // reliable, answers RESYNC_REQUEST
    CAIRN_MESSAGE_EVENT = 13,           // reliable; what happens to the room or the client
    CAIRN_MESSAGE_ANSWER = 14,          // reliable, answers CONTROL
    CAIRN_MESSAGE_WORLD_EVENTS = 15,    // reliable; what happened in the world that is shown
    CAIRN_MESSAGE_MESH = 16,            // reliable; a piece of a surface that shapes name
    CAIRN_MESSAGE_PLAYER_MESSAGE = 17,  // to the server; reliable; what a player tells the rules
    CAIRN_MESSAGE_GAME_MESSAGES = 18,   // reliable; what the rules tell this player
    CAIRN_MESSAGE_KIND_COUNT
} cairn_message_kind;

// Whether a client sends this kind; the server sends the others.
static inline bool cairn_message_is_clients(uint32_t kind) {
    return kind < CAIRN_MESSAGE_WELCOME || kind == CAIRN_MESSAGE_PLAYER_MESSAGE;
}

typedef enum cairn_mode {
    CAIRN_MODE_INTERPOLATE = 0, // snapshots
    CAIRN_MODE_LOCKSTEP = 1,    // full state once, then commands and roots
    CAIRN_MODE_PREDICT = 2,     // as lockstep; the client also steps ahead and rolls back
    CAIRN_MODE_HEAL = 3,        // as lockstep; the client requests what differs
    CAIRN_MODE_COUNT
} cairn_mode;

// Whether a client of this mode steps the world itself: the server sends it the state and then
// commands and state hashes.
static inline bool cairn_mode_simulates(uint32_t mode) {
    return mode == CAIRN_MODE_LOCKSTEP || mode == CAIRN_MODE_PREDICT || mode == CAIRN_MODE_HEAL;
}

// Structs that travel in vectors. Little-endian on the wire; no padding.

// One player's input for one tick, or a part of it, in a program; on the wire it is packed.
typedef struct cairn_wire_input {
    uint64_t tick;
    uint32_t sequence;
    uint32_t buttons;
    cairn_vec3 move;
    cairn_vec3 aim;
} cairn_wire_input;
_Static_assert(sizeof(cairn_wire_input) == 40, "wire layout");

// The command that a part of a player's input becomes in the player's slot; its kind is of the
// first part.
static inline cairn_command cairn_command_of_input(const cairn_wire_input *input, uint32_t slot) {
    cairn_command command;
    command.kind = CAIRN_COMMAND_INPUT;
    command.slot = slot;
    command.sequence = input->sequence;
    command.buttons = input->buttons;
    command.move = input->move;
    command.aim = input->aim;
    return command;
}

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

// An event of the world for clients that have none. The fields are those of cairn_contact_event, or
// of cairn_joint_event; `tick` is that of the world after the step that reported it.
typedef struct cairn_wire_event {
    uint64_t tick;
    uint32_t kind; // cairn_contact_event_kind, or CAIRN_CLIENT_JOINT_BROKE
    cairn_shape_id shape_a;
    cairn_shape_id shape_b;
    cairn_body_id body_a;
    cairn_body_id body_b;
    cairn_vec3 point;
    cairn_vec3 normal;
    float approach_speed;
    float impulse;
    cairn_joint_id joint; // CAIRN_CLIENT_JOINT_BROKE, else 0
} cairn_wire_event;
_Static_assert(sizeof(cairn_wire_event) == 64, "wire layout");
#define CAIRN_WIRE_EVENT_KIND_LAST 6u

// When a client's inputs arrive, sent in every snapshot and ticks message.
typedef struct cairn_wire_timing {
    uint64_t
        input_acknowledged; // newest tick up to which every input of this client was used or lost
    int32_t lateness_us_worst;     // of the inputs since the last message; > 0: after the deadline
    int32_t lateness_us_last;      // < 0: before the deadline
    uint32_t inputs_late;          // since the client joined
    uint32_t inputs_early_refused; // beyond the window, since the client joined
} cairn_wire_timing;
_Static_assert(sizeof(cairn_wire_timing) == 24, "wire layout");

// Messages.

typedef struct cairn_hello {
    uint32_t protocol_version; // CAIRN_PROTOCOL_VERSION
    uint32_t sim_version;      // CAIRN_SIM_VERSION
    uint32_t mode;             // cairn_mode
    uint32_t spectator;        // 0 or 1: asks for no slot
    uint32_t velocities;       // 0 or 1: asks for coded velocities in snapshots
    const char *rules_name;    // what the client can simulate; "" for none. At most 31 bytes
    uint32_t rules_version;
    uint64_t rules_digest;       // cairn_rules_digest; 0 for none
    const char *room;            // which one; "" for the first
    const char *build;           // compiler and target, for people
    uint32_t passport_faults;    // bit set of the checks of arithmetic that failed; 0 when fit
    cairn_hash128 passport_hash; // of the short world that the self-test steps
} cairn_hello;

typedef struct cairn_input_message {
    const uint8_t *payload; // schema/input_payload.h, then bridge/packed_inputs.h
    uint32_t payload_size;
} cairn_input_message;
#define CAIRN_INPUTS_PER_MESSAGE_MAX 64

typedef struct cairn_root_report {
    const cairn_wire_root *roots; // strictly increasing ticks
    uint32_t root_count;          // at most CAIRN_ROOTS_PER_MESSAGE_MAX
    uint32_t world_epoch;         // as in cairn_input_head
    uint64_t rollbacks;           // since the client connected, whatever the world
    uint64_t rollback_ticks;      // that these went back, in sum
} cairn_root_report;
#define CAIRN_ROOTS_PER_MESSAGE_MAX 64

// What a client that simulates sends when a root differs although the commands agree.
typedef struct cairn_resync_request {
    uint64_t tick; // of the world whose root differs
    uint32_t want; // CAIRN_RESYNC_WANT_ELEMENTS, CAIRN_RESYNC_WANT_STAGES, or both
    // Set-difference sketch (IBLT, sim/serialize/sketch.h) of the client's state at that tick; at
    // most CAIRN_DIFFERENCE_SKETCH_SIZE_MAX bytes, 0 to ask for the whole state.
    const uint8_t *difference_sketch;
    uint32_t difference_sketch_size;
    uint32_t world_epoch; // as in cairn_input_head
} cairn_resync_request;
#define CAIRN_RESYNC_WANT_ELEMENTS 1u
#define CAIRN_RESYNC_WANT_STAGES 2u
#define CAIRN_DIFFERENCE_SKETCH_SIZE_MAX (16 * 1024)

typedef struct cairn_welcome {
    uint64_t tick; // the room's tick when this was written
    uint32_t slot; // CAIRN_SLOT_NONE for a spectator
    uint32_t tick_rate_hz;
    uint32_t snapshot_rate_hz;
    uint32_t mode; // granted
    uint32_t sim_version;
    uint32_t rules_version;
    const char *rules_name;
    uint64_t rules_digest; // cairn_rules_digest; 0 for none
    const char *scene_name;
    cairn_hash128 scene_digest; // full root of the world at tick 0; 0 if rules hide bodies
    const char *room;
    uint32_t rights;  // CAIRN_RIGHT_OPERATOR
    uint32_t wait_ms; // how long the room waits for inputs of clients that simulate; 0: never
    const char *reason_text;               // why the mode granted is not the one requested; ""
    const cairn_input_field *input_fields; // of the input that the rules declare
    uint32_t input_field_count;            // 0: the default layout
} cairn_welcome;
#define CAIRN_RIGHT_OPERATOR 1u

typedef enum cairn_refusal_reason {
    CAIRN_REFUSAL_PROTOCOL_VERSION = 1,
    CAIRN_REFUSAL_SIM_VERSION = 2,
    CAIRN_REFUSAL_RULES = 3,
    CAIRN_REFUSAL_ROOM_FULL = 4,
    CAIRN_REFUSAL_MALFORMED = 5,       // the client sent messages that no valid client sends
    CAIRN_REFUSAL_TOO_MANY_BODIES = 6, // no longer sent
    CAIRN_REFUSAL_ROOM_UNKNOWN = 7,
    CAIRN_REFUSAL_ROOM_CLOSED = 8,
    CAIRN_REFUSAL_LAST = CAIRN_REFUSAL_ROOM_CLOSED
} cairn_refusal_reason;

typedef struct cairn_refused {
    uint32_t reason;         // cairn_refusal_reason
    const char *reason_text; // one sentence for a person
} cairn_refused;

typedef struct cairn_shapes_message {
    uint64_t tick;
    const cairn_snapshot_shape *shapes;
    uint32_t shape_count;
    const uint32_t *removed; // ids of shapes removed since the last SHAPES
    uint32_t removed_count;
    const uint8_t *corner_counts; // of each convex hull among `shapes`, in their order
    uint32_t hull_count;
    const cairn_vec3 *corners; // of these hulls, one after the other; in the shape's frame
    uint32_t corner_count;
} cairn_shapes_message;

// A keyframe is one message. In rooms with more bodies clients are sent parts instead.
#define CAIRN_KEYFRAME_BODIES_MAX 16384

// The rules' shared part as u32 words, and the most bytes that cairn_words_encode makes of them.
#define CAIRN_SHARED_WORDS_MAX (CAIRN_SHARED_SIZE_MAX / 4)
#define CAIRN_SHARED_PACKED_SIZE_MAX (6 * CAIRN_SHARED_WORDS_MAX)

typedef struct cairn_snapshot_message {
    const uint8_t *payload; // schema/snapshot_head.h, then compress/frame_codec.h
    uint32_t payload_size;
    const uint8_t *events; // of the rules, since the last snapshot: schema/game_items.h
    uint32_t events_size;  // at most CAIRN_GAME_ITEMS_SIZE_MAX
    const uint8_t *shared; // cairn_words_encode from zeros, or from the shared part at the baseline
    uint32_t shared_packed_size;
    uint32_t velocities; // 0 or 1: the payload has velocities
} cairn_snapshot_message;

typedef struct cairn_ticks_message {
    const uint8_t *payload; // schema/tick_payload.h
    uint32_t payload_size;
} cairn_ticks_message;
#define CAIRN_TICKS_PER_MESSAGE_MAX 4096 // of a chunk of a recording

typedef struct cairn_state_message {
    uint64_t tick;       // of the state
    uint32_t offset;     // of this piece
    uint32_t total_size; // of all pieces, at most CAIRN_STATE_SIZE_MAX
    // 0: the pieces are cairn_world_encode's bytes. Otherwise they are packed
    // (compress/state_packer.h), and the bytes are so many, at most CAIRN_STATE_SIZE_MAX.
    uint32_t unpacked_size;
    const uint8_t *bytes;
    uint32_t size;
} cairn_state_message;

typedef enum cairn_resync_verdict {
    CAIRN_RESYNC_DONE = 0,             // the payload holds all that differs
    CAIRN_RESYNC_TOO_MUCH = 1,         // more differs than the sketch can decode: send a larger one
    CAIRN_RESYNC_TICK_GONE = 2,        // no longer held, or not stepped yet
    CAIRN_RESYNC_TOO_OFTEN = 3,        // ask again later
    CAIRN_RESYNC_MALFORMED = 4,        // these bytes are not a sketch
    CAIRN_RESYNC_NO_MORE_SKETCHES = 5, // none is looked at for a while: ask for the state
    CAIRN_RESYNC_VERDICT_COUNT
} cairn_resync_verdict;

typedef struct cairn_resync_response {
    uint64_t tick;
    uint32_t verdict; // cairn_resync_verdict
    cairn_hash128 full_root;
    uint32_t passport_faults; // the server's own
    const char *build;        // the server's
    const uint8_t *payload;   // the elements that differ, as the server has them
    uint32_t payload_size;
    const uint8_t *stages; // CAIRN_RESYNC_WANT_STAGES: a hash after each stage of the step
    uint32_t stages_size;
} cairn_resync_response;

typedef enum cairn_event_kind {
    CAIRN_EVENT_INPUT_WAIT = 1,     // the room waits for the inputs of `slot`
    CAIRN_EVENT_INPUT_WAIT_END = 2, // the wait ended; value: how long it was, ms
    CAIRN_EVENT_MODE = 3, // the client is served in mode `value` from now on; reason_text: why
    CAIRN_EVENT_PAUSED = 4,
    CAIRN_EVENT_RESUMED = 5,
    CAIRN_EVENT_RATE = 6,        // the room runs at `value` thousandths of its rate
    CAIRN_EVENT_REPLACED = 7,    // reset, load or seek replaced the world, from `tick` on;
                                 // value: the new world epoch
    CAIRN_EVENT_ROOM_CLOSES = 8, // reason_text: why; a disconnect follows
    // `value` messages of this player to the rules were refused since the last such event;
    // reason_text: why the last one was
    CAIRN_EVENT_MESSAGE_REFUSED = 9,
    CAIRN_EVENT_LAST = CAIRN_EVENT_MESSAGE_REFUSED
} cairn_event_kind;

typedef struct cairn_event_message {
    uint32_t kind; // cairn_event_kind
    uint32_t slot; // CAIRN_SLOT_NONE if it concerns no player
    uint64_t tick;
    uint64_t value;
    const char *reason_text; // "" or one sentence
} cairn_event_message;

typedef struct cairn_world_events_message {
    uint32_t missed;                // events before these that were dropped
    const cairn_wire_event *events; // in order of tick
    uint32_t event_count;           // at most CAIRN_EVENTS_PER_MESSAGE_MAX
} cairn_world_events_message;
// A piece of a triangle mesh or a height field.
typedef struct cairn_mesh_message {
    cairn_mesh_id mesh;
    uint32_t kind;           // cairn_mesh_kind; 0: the mesh is gone, and all below is 0
    uint32_t vertex_count;   // 0 for a height field
    uint32_t triangle_count; // 0 for a height field
    uint32_t columns;        // 0 for a mesh
    uint32_t rows;
    float spacing_x; // m
    float spacing_z;
    uint32_t first;        // place of words[0] among all words of the mesh
    const uint32_t *words; // vertices, then indices; or heights. Floats by their bits
    uint32_t word_count;   // at most CAIRN_MESH_WORDS_PER_MESSAGE_MAX
} cairn_mesh_message;

#define CAIRN_MESH_WORDS_PER_MESSAGE_MAX 2048

// Words of the whole mesh that a checked message is a piece of: at most 12 million.
static inline uint32_t cairn_mesh_message_total(const cairn_mesh_message *message) {
    return 3 * (message->vertex_count + message->triangle_count) + message->columns * message->rows;
}

#define CAIRN_EVENTS_PER_MESSAGE_MAX 64

typedef struct cairn_player_message {
    const uint8_t *bytes;
    uint32_t size; // 1 .. CAIRN_GAME_MESSAGE_SIZE_MAX
} cairn_player_message;

// Packed game items of one message (schema/game_items.h): every message to a player that the rules
// make in three ticks fits.
#define CAIRN_GAME_ITEMS_SIZE_MAX 4096

typedef struct cairn_game_messages_message {
    uint64_t tick;        // of the last item
    uint32_t missed;      // messages before these that were dropped
    uint32_t world_epoch; // as in cairn_input_head
    const uint8_t *items; // schema/game_items.h
    uint32_t items_size;  // 1 .. CAIRN_GAME_ITEMS_SIZE_MAX
} cairn_game_messages_message;

typedef struct cairn_message {
    cairn_message_kind kind;
    union {
        cairn_hello hello;
        cairn_input_message input;
        cairn_root_report root_report;
        cairn_resync_request resync_request;
        cairn_control_request control;
        cairn_welcome welcome;
        cairn_refused refused;
        cairn_shapes_message shapes;
        cairn_snapshot_message snapshot;
        cairn_ticks_message ticks;
        cairn_state_message state;
        cairn_resync_response resync_response;
        cairn_event_message event;
        cairn_control_answer answer;
        cairn_world_events_message world_events;
        cairn_mesh_message mesh;
        cairn_player_message player_message;
        cairn_game_messages_message game_messages;
    };
} cairn_message;
