// SPDX-License-Identifier: MIT
#pragma once

// A complete server in memory with plain clients made of netcode, link and codec alone, joined by a
// pipe that loses nothing and takes no time, or by the paths of story_network. Unless a test says
// otherwise a client behaves as a real one: it sends HELLO, acknowledges what it holds, applies
// deltas, steps confirmed ticks and reports its roots.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compress/frame_codec.h"
#include "net/link.h"
#include "net/netcode_client.h"
#include "schema/codec.h"
#include <cairn/control.h>
#include <cairn/server.h>
#include <cairn/sim.h>

#define STORY_CLIENTS_MAX 8
#define STORY_HELD_MAX 64
#define STORY_BODIES_MAX 320
#define STORY_RECORD_MAX (4 * 1024 * 1024)
// The clocks when a story starts.
#define STORY_START_NS (5 * CAIRN_NS_PER_S)
#define STORY_START_UNIX_S UINT64_C(1000000)
#define STORY_TASKS_MAX 16
#define STORY_STEP_NS UINT64_C(4000000)

typedef struct story_snapshot {
    uint64_t tick;
    uint32_t body_count;
    cairn_snapshot_body bodies[STORY_BODIES_MAX];
    cairn_snapshot_frame frame;
} story_snapshot;

typedef struct story_client {
    cairn_netcode_client *netcode;
    cairn_link *link;
    cairn_encoder *encoder;
    cairn_address address;
    uint64_t client_id;
    cairn_hello hello;
    bool silent;        // sends no message of its own
    bool mute_inputs;   // sends HELLO and nothing else
    bool corrupt_roots; // reports wrong roots
    bool deaf;          // takes no payload, and so acknowledges none
    bool hello_sent;
    bool welcomed;
    cairn_welcome welcome; // its texts are no longer valid
    char rules_name[32];
    char scene_name[32];
    uint32_t refusal; // cairn_refusal_reason, 0: none

    // Inputs: one for each tick up to `ahead` ticks beyond the server's, with these buttons.
    uint32_t buttons;
    uint64_t input_next;
    uint32_t ahead;

    // Interpolating.
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX]; // of the last tick that was stepped
    uint32_t command_count;
    uint32_t held_count; // in all; the newest is held[(held_count - 1) % STORY_HELD_MAX]
    cairn_frame_codec *codec;
    uint32_t keyframes, deltas, deltas_failed;
    uint32_t parts;     // are counted and acknowledged, not read
    uint64_t part_tick; // of the newest
    uint32_t shapes_seen, shapes_removed;

    // Lockstep.
    uint8_t *state;
    uint32_t state_size;
    uint64_t state_tick;
    uint32_t states_begun;
    cairn_world *world;
    uint64_t ticks_stepped;
    uint32_t roots_wrong; // roots of the server that differ from its own
    cairn_wire_root root_newest;

    cairn_wire_timing timing; // newest
    uint32_t notices[CAIRN_EVENT_LAST + 1];
    cairn_event_message notice;  // newest; without its reason_text
    struct story_answer *answer; // the newest is written there; NULL: none is expected
    uint32_t responses[CAIRN_RESYNC_VERDICT_COUNT]; // responses by verdict
    uint32_t world_epoch;                           // how often its world was replaced
    uint32_t messages[CAIRN_MESSAGE_KIND_COUNT];
    uint32_t decode_failures;
    // The newest: of the room, received or not. Ahead: of a second that has not come yet.
    enum { ACKS_HELD, ACKS_NOTHING, ACKS_NEWEST, ACKS_AHEAD } acks;
    uint32_t datagrams;
    uint64_t bytes;         // of them
    cairn_hash128 received; // of all datagrams, in order, with the time of each
    // Last: a megabyte that a client without snapshots never touches.
    story_snapshot held[STORY_HELD_MAX];
} story_client;

// The last answer and the bytes that it points into.
typedef struct story_answer {
    uint32_t count; // of answers that came
    cairn_control_answer answer;
    _Alignas(8) uint8_t encoded[CAIRN_MESSAGE_SIZE_MAX];
} story_answer;

typedef struct story {
    cairn_server *server;
    const struct cairn_scene *scene; // of the main room, and what operators find as "test"
    uint64_t now_ns;
    uint32_t client_count;
    struct cairn_virtual_network *network; // NULL: a perfect pipe
    bool server_unheard;                   // what the server sends is lost; only without a network
    uint32_t delay_ms;                     // of its paths, each way
    bool operators;                        // clients that join from now on have the right
    uint32_t receive_size_max; // of the links of clients that join from now on; 0: the default
    uint64_t next_client_id;   // of clients that join from now on; 0: each has one of its own
    uint8_t *record;           // of the main room
    size_t record_size;
    size_t record_limit;     // beyond it the writer returns false
    char event_names[16384]; // the name of every event, each followed by a space
    bool holds_tasks;        // tasks of the server wait for story_run_tasks, as for a slow disk
    uint32_t task_count;
    cairn_server_task *tasks[STORY_TASKS_MAX];
    uint64_t (*clock_ns)(void); // with it the server's turns are measured; NULL: they are not
    uint64_t turn_ns_max;       // the longest so far
    uint32_t snapshots_checked;
    uint32_t snapshots_wrong; // client snapshots that differ from the world at their tick
    story_client clients[STORY_CLIENTS_MAX]; // last: the server's start clears what is before
} story;

// The default of story_start, which fills the pointers of any config.
cairn_server_config story_config(void);
// Ends the story that ran in `s` before; `s` is all zero at first. `config` NULL: story_config.
void story_start(story *s, const cairn_server_config *config);
void story_end(story *s); // may be called again
// The paths of all clients, before the first joins: so long each way, which loses nothing.
void story_network(story *s, uint32_t delay_ms);
// A server without rooms and of other entropy, started now, that may take the place of s->server;
// of the config `story_config` unless another one is given.
cairn_server *story_successor(story *s, const cairn_server_config *config);

// A client that connects in this mode; returns its number.
uint32_t story_join(story *s, cairn_mode mode, bool spectator);
// A client with this HELLO.
uint32_t story_join_as(story *s, const cairn_hello *hello);
cairn_hello story_hello(cairn_mode mode, bool spectator);
// A player who names the room.
uint32_t story_join_room(story *s, const char *room, cairn_mode mode);
void story_leave(story *s, uint32_t client); // sends disconnects

// Lets `ms` of time pass in steps of STORY_STEP_NS, and drives server and clients in each.
void story_run_ms(story *s, uint32_t ms);
// Sends raw message bytes from a connected client.
void story_send_bytes(story *s, uint32_t client, const uint8_t *bytes, size_t size, bool reliable);
void story_send(story *s, uint32_t client, const cairn_message *message, bool reliable);

// Runs the tasks that are held, and those that follow them.
void story_run_tasks(story *s);

// Of the main room.
const cairn_world *story_world(const story *s);
uint64_t story_tick(const story *s);
cairn_hash128 story_root(const story *s);

cairn_server_statistics story_statistics(const story *s);
bool story_has_event(const story *s, const char *event);
cairn_netcode_client_state story_state(const story *s, uint32_t client);
const story_snapshot *story_newest(const story_client *client);
// The scene that a story's server runs; static storage.
const struct cairn_scene *story_scene(void);

// What a player of the recording of the main room finds. Asserts that no chunk is refused.
typedef struct story_replay {
    uint32_t ticks, commands, replacements;
    uint32_t roots_wrong;
    cairn_hash128 root; // of the last world
    bool complete;      // the server closed the recording
} story_replay;
story_replay story_replay_recording(const story *s);

// Whether the client's newest snapshot is the server's world, rounded, when ticks agree.
bool story_shows_world(const story *s, uint32_t client);

// An operator sends one request at a time and waits for its answer.

// A server with control and one operator, client 0, who is a spectator in lockstep mode.
void kit_start(story *s, story_answer *answer);
void kit_start_with(story *s, story_answer *answer, const cairn_server_config *config);
// Of a server with control.
cairn_server_config kit_config(void);

// Asks as client 0 and lets time pass until the answer is there, at most three seconds. A
// NULL room is "". Returns the refusal.
// kit_ask(&s, .verb = CAIRN_CONTROL_STEP, .step = {1})
#define kit_ask(s, ...) kit_ask_request(s, (cairn_control_request){__VA_ARGS__})
uint32_t kit_ask_request(story *s, cairn_control_request ask);
uint32_t kit_verb(story *s, cairn_control_verb verb);
// As kit_ask, of any client, without waiting.
#define kit_send(s, client, ...) kit_send_request(s, client, (cairn_control_request){__VA_ARGS__})
void kit_send_request(story *s, uint32_t client, cairn_control_request ask);

// Asks and expects it to be done.
#define kit_do(s, ...) kit_do_request(s, (cairn_control_request){__VA_ARGS__})
void kit_do_request(story *s, cairn_control_request ask);
