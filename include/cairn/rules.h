// SPDX-License-Identifier: MIT
#pragma once

// A game's rules. An author of rules also includes cairn/sim.h (bodies, joints, queries) and
// cairn/math.h (arithmetic that is equal on every machine).

#include <stdint.h>

#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// The version of what a rules file and a program must agree on: cairn_rules, cairn_rules_export and
// every type and function that rules use.
#define CAIRN_RULES_ABI 2u

// Why an input is not one of a layout.
typedef enum cairn_input_refusal {
    CAIRN_INPUT_TAKEN = 0,
    CAIRN_INPUT_REFUSED_PARTS,  // of another layout: more or fewer commands
    CAIRN_INPUT_REFUSED_NUMBER, // numbers that do not hold packed bits
    CAIRN_INPUT_REFUSED_RANGE,  // a field beyond its bits or bounds
    CAIRN_INPUT_REFUSED_UNUSED, // bits after the last field are set
    CAIRN_INPUT_REFUSAL_COUNT
} cairn_input_refusal;
// "" for CAIRN_INPUT_TAKEN.
const char *cairn_input_refusal_text(cairn_input_refusal refusal);

// What rules send to players in a step. It follows from the state and the commands, so replays and
// clients that simulate see the same.
typedef enum cairn_game_message_kind {
    // Reliable: each player addressed gets it once and in order, with its tick.
    CAIRN_GAME_MESSAGE = 1,
    // May be lost on its way to a client without a world. A client that predicts shows it when it
    // first steps the tick, and learns later whether it really happened (cairn/client.h).
    CAIRN_GAME_EVENT = 2,
} cairn_game_message_kind;

#define CAIRN_SLOT_ALL UINT32_MAX
#define CAIRN_GAME_MESSAGES_PER_STEP_MAX 64

typedef struct cairn_game_message {
    uint32_t kind;                              // cairn_game_message_kind
    uint32_t slot;                              // of the player addressed, or CAIRN_SLOT_ALL
    uint32_t size;                              // 1 .. CAIRN_GAME_MESSAGE_SIZE_MAX
    uint8_t bytes[CAIRN_GAME_MESSAGE_SIZE_MAX]; // those before `size` are set
} cairn_game_message;

// For rules, inside their functions. The bytes mean what the game wants. CAIRN_INVALID_ARGUMENT:
// the size or slot is out of range, or no step runs. CAIRN_CAPACITY: this step has sent
// CAIRN_GAME_MESSAGES_PER_STEP_MAX already. Both are counted; the rules see the same on every
// machine.
cairn_status cairn_world_send_message(
    cairn_world *world, uint32_t slot, const void *bytes, uint32_t size);
cairn_status cairn_world_send_event(
    cairn_world *world, uint32_t slot, const void *bytes, uint32_t size);
// For every holder of a world: what the rules sent in the last step, in order; NULL if nothing.
// Valid until the next step. Loading a state does not change it.
const cairn_game_message *cairn_world_game_messages(const cairn_world *world, uint32_t *count);
uint64_t cairn_world_game_messages_refused(const cairn_world *world); // since its creation

// From where a client without a world sees. Both are filled in when rules get it: the player's own
// body, and the room's view distance.
typedef struct cairn_view_point {
    cairn_vec3 center; // m
    float radius_m;    // bodies at most this far are sent; 0: all
} cairn_view_point;

// Pure functions that a step calls. `step` runs when it begins, with that tick's JOINs, LEAVEs and
// INPUTs; edits were applied just before: any body may be gone or moved. `after_step` runs when it
// ends, with the bodies at their new poses and the events of this step. Both see the same
// cairn_world_tick. `state` is part of the world's state: saved, hashed, rolled back. It must hold
// no pointer, no padding other than zeros, and no -0 or NaN. Allowed: every cairn_body_,
// cairn_shape_, cairn_joint_, event and query function on `world`, cairn_world_send_message and
// _event, cairn_input_read, cairn/math.h, cairn_random_at.
// Not allowed: anything else outside `state`.
typedef struct cairn_rules {
    const char *name;    // printable ASCII, 1 to CAIRN_NAME_SIZE_MAX characters
    uint32_t version;    // incremented when behaviour changes
    uint32_t state_size; // bytes, multiple of 4, at most CAIRN_RULES_STATE_SIZE_MAX; hash and
                         // encoding read it as u32 words
    // Called once, when the step of tick 0 begins, before anything else; may be NULL. What the
    // scene describes exists and can be found by name (cairn_world_find_body), `state` is zero.
    void (*start)(cairn_world *world, void *state);
    // Called at the start of each step; `commands` are sorted and valid during the call.
    void (*step)(
        cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count);
    // Called at the end of each step; may be NULL. What it changes takes part in the next step.
    void (*after_step)(cairn_world *world, void *state);
    // A command of the server's host (CAIRN_COMMAND_HOST, cairn_server_room_command), before `step`
    // and in order with the operator's edits; may be NULL: then such commands are counted as edits
    // that were refused. It is recorded like every command.
    void (*host)(cairn_world *world, void *state, const cairn_command *command);
    // 0, or a number that a build makes of the sources of the rules, so that a server and its
    // clients notice that they run different code under one version (cairn_rules_digest).
    uint64_t content;
    // The input that the rules declare. It travels as its fields' bits, in one command, or in two
    // or three if they are more than 176; cairn_input_read reads it.
    uint32_t input_size;  // 4 * input_count, at most CAIRN_INPUT_SIZE_MAX bytes; 0, with no fields:
                          // the default, buttons, move and aim of cairn_command
    uint32_t input_count; // of `input`
    const cairn_input_field *input;
    // The part of `state` that clients without a world are sent with each snapshot: a score, a
    // timer (cairn_client_shared_read). Bytes, multiples of 4, the size at most
    // CAIRN_SHARED_SIZE_MAX; 0 and 0: none. They are read as u32 words, and words that did not
    // change since the client's last snapshot cost nothing.
    uint32_t shared_offset;
    uint32_t shared_size;
    // Of a player's message, bytes, at most CAIRN_GAME_MESSAGE_SIZE_MAX; 0: none is accepted, and
    // `message` is NULL.
    uint32_t message_size_max;
    // A message of the player in `slot`, before `step`, in order with the operator's edits, in a
    // tick after the player's JOIN. The server chooses the tick; the message is a part of its
    // commands, so it is recorded and reaches every client that simulates. The bytes come from
    // outside: check them.
    void (*message)(
        cairn_world *world, void *state, uint32_t slot, const uint8_t *bytes, uint32_t size);
    // What clients without a world are sent. Both may be NULL; the server calls them between steps,
    // for each snapshot and client; `slot` is CAIRN_SLOT_NONE of a spectator. They must not change
    // anything.
    // From where the player sees, and how far.
    void (*view)(
        const cairn_world *world, const void *state, uint32_t slot, cairn_view_point *point);
    // How much a body that is near enough matters to the player when bytes are short: usually 1. 0
    // or less hides the body: nothing of it is sent to the player (docs/RULES.md). Rules that have
    // this keep clients from simulating, since a client that simulates holds the whole world.
    float (*relevance)(
        const cairn_world *world, const void *state, uint32_t slot, cairn_body_id body);
    // Whether the match is over; may be NULL. The server calls it between steps after
    // cairn_server_announce_end, and closes the room when it has returned true for a second.
    // Without it the server waits until the last client has left. It must not change anything.
    bool (*over)(const cairn_world *world, const void *state);
} cairn_rules;

// For rules that declare an input, inside `step`: reads the input that begins with commands[0], of
// kind CAIRN_COMMAND_INPUT, into `out` of rules->input_size bytes; `count` commands are left. False
// if no client of these rules writes such commands: then `out` is all zeros. Commands of the other
// two kinds follow their first one and are skipped like any kind that the rules do not know.
bool cairn_input_read(
    const cairn_rules *rules, const cairn_command *commands, uint32_t count, void *out);
// The commands of an input of rules->input_size bytes, for worlds that a host steps itself; a
// client sends inputs with cairn_client_push_game_input. Returns how many; 0 if a field is out of
// range.
uint32_t cairn_commands_of_input(const cairn_rules *rules, uint32_t slot, uint32_t sequence,
    const void *input, cairn_command out[CAIRN_INPUT_COMMANDS_MAX]);

// What a rules file (a shared object) exports, as the variable cairn_rules_exported. The first word
// is the ABI in every version.
typedef struct cairn_rules_export {
    uint32_t abi;          // CAIRN_RULES_ABI
    uint32_t rules_size;   // of cairn_rules
    uint32_t command_size; // of cairn_command
    uint32_t count;
    const cairn_rules *const *rules;
} cairn_rules_export;

// CAIRN_RULES_EXPORT(&arena, &race); in one source file of a rules file. Compile it with the flags
// of cairn's CMake target cairn::sim and link nothing: the program that loads the file has the
// functions of cairn/sim.h.
#ifdef __cplusplus
#define CAIRN_RULES_VISIBLE extern "C" __attribute__((visibility("default")))
#else
#define CAIRN_RULES_VISIBLE extern __attribute__((visibility("default")))
#endif
#define CAIRN_RULES_EXPORT(...)                                                                    \
    CAIRN_RULES_VISIBLE const cairn_rules_export cairn_rules_exported;                             \
    static const cairn_rules *const cairn_rules_listed[] = {__VA_ARGS__};                          \
    const cairn_rules_export cairn_rules_exported = {CAIRN_RULES_ABI,                              \
        (uint32_t)sizeof(cairn_rules), (uint32_t)sizeof(cairn_command),                            \
        (uint32_t)(sizeof cairn_rules_listed / sizeof cairn_rules_listed[0]), cairn_rules_listed}

// The built-in rules, which make the server useful without code: each player drives a box (spawned
// at JOIN, removed at LEAVE) with `move` as a horizontal force, and the buttons below.
extern const cairn_rules cairn_rules_sandbox;

enum {
    CAIRN_SANDBOX_JUMP = 1u << 0,  // an upward impulse if something is beneath
    CAIRN_SANDBOX_PUSH = 1u << 1,  // an impulse along `aim` on the first body that the aim ray hits
    CAIRN_SANDBOX_THROW = 1u << 2, // spawns a small sphere and throws it along `aim`
    CAIRN_SANDBOX_SPAWN = 1u << 3, // spawns a cube above the player
};

// Counter-based random numbers: the value depends on the four arguments alone, not on earlier
// calls, so a tick that is stepped again draws the same values. `seed` is the world def's.
// SplitMix64's finaliser (Steele, Lea, Flood 2014) over the mixed counters.
uint64_t cairn_random_at(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream);

#ifdef __cplusplus
}
#endif
