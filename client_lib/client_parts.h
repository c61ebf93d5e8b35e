// SPDX-License-Identifier: MIT
#pragma once

// What a client is made of, one struct for each subject, and what its files call of each other.
// Private to the top folder of client_lib: the features in the folders below do not include it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client_lib/clock/clock.h"
#include "client_lib/clock/delay_controller.h"
#include "client_lib/clock/input_lead.h"
#include "client_lib/connection.h"
#include "client_lib/interpolate/event_queue.h"
#include "client_lib/interpolate/game_queue.h"
#include "client_lib/interpolate/interpolation.h"
#include "client_lib/interpolate/mesh_list.h"
#include "client_lib/interpolate/shape_list.h"
#include "client_lib/interpolate/snapshots.h"
#include "client_lib/resync/resync.h"
#include "client_lib/simulate/inputs.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "net/link.h"
#include "schema/codec.h"
#include "sim/debug/passport.h"
#include <cairn/client.h>

// Reasons to ignore what netcode, link and codec accepted.
typedef enum cairn_client_drop_reason {
    CAIRN_CLIENT_DROP_NOT_WELCOME = 0, // before WELCOME, which was overtaken or lost
    CAIRN_CLIENT_DROP_SECOND_WELCOME,
    CAIRN_CLIENT_DROP_MODE,   // a message of another mode
    CAIRN_CLIENT_DROP_SHAPES, // more shapes than the list holds
    CAIRN_CLIENT_DROP_MESH,   // more bytes of meshes than mesh_size_max, or out of order
    CAIRN_CLIENT_DROP_OVER,   // outside of a connection
    CAIRN_CLIENT_DROP_WORLD,  // of an earlier world epoch, or of one that was not announced yet
    CAIRN_CLIENT_DROP_ANSWER, // the host does not take its answers
    CAIRN_CLIENT_DROP_COUNT
} cairn_client_drop_reason;

// What WELCOME granted and room events changed since.
typedef struct cairn_client_session {
    bool welcomed;
    uint32_t mode; // cairn_mode that the server serves; before WELCOME the one asked for
    char mode_text[CAIRN_TEXT_SIZE_MAX + 1]; // why it is not the one asked for; else ""
    bool snapshots_requested;                // instead of what a simulating client is served
    uint32_t slot;                           // CAIRN_SLOT_NONE: none
    uint32_t rights;
    uint32_t tick_rate_hz;
    cairn_input_field input_fields[CAIRN_INPUT_FIELDS_MAX]; // of the rules' declared input
    uint32_t input_field_count;                             // 0: the default layout
    uint64_t welcome_tick; // when WELCOME, or the event of this world epoch, was written
    uint32_t world_epoch;
    bool paused;    // the room
    uint32_t speed; // thousandths of tick_rate_hz; 0: as fast as possible
} cairn_client_session;

// Which tick it is, and how far ahead inputs are made.
typedef struct cairn_client_timing {
    cairn_clock clock;
    cairn_input_lead input_lead;
    cairn_delay_controller delay; // predict mode
    uint64_t newest_tick;         // of the last timing taken from a message
    uint64_t advanced_ns;         // the last advance
} cairn_client_timing;

// What is shown of the server's snapshots.
typedef struct cairn_client_view {
    cairn_interpolation interpolation;
    cairn_snapshots snapshots;
    cairn_shape_list shapes;
    cairn_mesh_list meshes;
    cairn_event_queue events;
    cairn_client_sample shown; // the last sample; sent with inputs
    uint64_t sampled_ns;       // when that was taken; 0: no sample yet
    cairn_smoothing smoothing; // of what was extrapolated and then turned out to be elsewhere
    cairn_client_body *before; // [bodies_max], scratch
    cairn_client_snapshot_statistics statistics;
} cairn_client_view;

// Messages between the player and the rules of the game.
typedef struct cairn_client_game {
    cairn_game_queue queue;
    uint64_t sent;
    uint64_t refused; // by the server
    char refusal_text[CAIRN_TEXT_SIZE_MAX + 1];
} cairn_client_game;

// What is to be sent.
typedef struct cairn_client_outbox {
    cairn_inputs inputs;
    bool input_due;
    uint64_t input_sent_ns;         // when the last input message was encoded
    uint64_t inputs_sent_end;       // inputs of ticks below were sent
    uint8_t number;                 // of the next input message
    bool reported_shown;            // the server knows of a picture that was shown
    uint64_t snapshot_acknowledged; // newest snapshot tick held; 0: none
    bool root_report_due;
    uint64_t root_report_tick; // newest root reported
    uint64_t inputs_sent;
    uint64_t inputs_late; // as the server counts
    int32_t lateness_us;  // as the server reports
} cairn_client_outbox;

// Counts since create.
typedef struct cairn_client_drops {
    uint64_t decode[CAIRN_DECODE_REFUSAL_COUNT];
    uint64_t session[CAIRN_CLIENT_DROP_COUNT];
    uint64_t snapshot[CAIRN_SNAPSHOT_REFUSAL_COUNT];
    uint64_t lockstep[CAIRN_LOCKSTEP_VERDICT_COUNT];
} cairn_client_drops;

// Encoded answers to control requests that wait until the host takes them. Each is allocated when
// it arrives: only operators' clients have any, and those do not play.
#define CAIRN_ANSWERS_MAX 64

typedef struct cairn_answer_bytes {
    uint8_t *bytes; // owned, starts on 8
    size_t size;
} cairn_answer_bytes;

typedef struct cairn_answers {
    uint32_t count;
    cairn_answer_bytes list[CAIRN_ANSWERS_MAX]; // oldest first
    cairn_answer_bytes taken;                   // the host's until it takes the next one
    uint32_t request;                           // number of the last request
} cairn_answers;

struct cairn_client {
    cairn_client_config config;
    char room[CAIRN_NAME_SIZE_MAX + 1]; // that config.room points to
    cairn_passport passport;            // of this process, read at create

    cairn_connection connection;
    cairn_client_session session;
    cairn_client_timing timing;
    cairn_client_view view;
    cairn_client_outbox outbox;
    cairn_lockstep lockstep; // modes that simulate
    cairn_predict predict;   // predict mode
    cairn_client_resync resync;
    cairn_answers answers; // of an operator's client
    cairn_client_game game;
    cairn_client_drops drops;
};

// Whether the client has a world of its own.
static inline bool cairn_client_simulates(const cairn_client *client) {
    return cairn_mode_simulates(client->session.mode);
}

// Whether it is a client of a load program: it acknowledges what it is sent, and keeps none of it.
static inline bool cairn_client_ignores_world(const cairn_client *client) {
    return client->lockstep.timeline.follows;
}

// ---------------------------------------------------------------------------- client_messages.c

// Takes one message that the link delivered; what is malformed or not expected now is counted and
// ignored.
void cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message);
// Forgets the world, and what was sent and received about it.
void cairn_client_clear_world(cairn_client *client);

// -------------------------------------------------------------------------------- client_game.c

// Takes packed items (schema/game_items.h) of a message with this tick.
void cairn_client_take_game_items(cairn_client *client, cairn_client_game_kind kind, uint64_t tick,
    const uint8_t *items, uint32_t size);
// The server refused messages to the rules.
void cairn_client_take_game_refusal(cairn_client *client, uint64_t count, const char *text);

// ------------------------------------------------------------------------------ client_outbox.c

// The cairn_mode that the config asks for.
uint32_t cairn_client_mode_asked(const cairn_client *client);

// Sends HELLO, the first message of a connection, or later a request to be served in another mode.
// False: the reliable stream has no room now.
// The rules that the client plays by if it simulates.
const cairn_rules *cairn_client_rules(const cairn_client *client);
bool cairn_client_send_hello(cairn_client *client, uint32_t mode);

// Makes the inputs that are due, and notes whether they are to be sent.
void cairn_client_make_inputs(cairn_client *client, uint64_t now_ns);
// Notes whether roots are to be reported.
void cairn_client_note_roots(cairn_client *client);

// Passes the next message to the link. Returns false if no message is due. The link keeps one
// unreliable message at a time, so call this only after the last one was sent.
bool cairn_client_outbox_next(cairn_client *client, uint64_t now_ns);

// -------------------------------------------------------------------------- client_prediction.c

// How a client predicts: connects the settings, the clock and the delay controller to the world
// that runs ahead (simulate/predict.h). For a client that does not predict, create, start and load
// do nothing.

bool cairn_client_predicts(const cairn_client *client);
void cairn_client_prediction_create(cairn_client *client);
// WELCOME was taken: the tick rate is known.
void cairn_client_prediction_start(cairn_client *client);
// A state was loaded. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_client_prediction_load(cairn_client *client);
void cairn_client_prediction_advance(cairn_client *client, uint64_t now_ns);
bool cairn_client_prediction_sample(cairn_client *client, uint64_t now_ns,
    cairn_client_body *bodies, uint32_t body_capacity, cairn_client_sample *out);
// From the last advance until the next predicted step is to be shown; UINT64_MAX if the client does
// not predict.
uint64_t cairn_client_prediction_rest_ns(const cairn_client *client);

// ------------------------------------------------------------------------------------ control.c

// Adds a copy. False: CAIRN_ANSWERS_MAX wait already, or out of memory.
bool cairn_answers_add(cairn_answers *answers, const uint8_t *bytes, size_t size);
void cairn_answers_clear(cairn_answers *answers);
