// SPDX-License-Identifier: MIT
#pragma once

// What a client is made of, for the files that make it up: client.c (the host's face),
// client_messages.c (what the server says), client_outbox.c (what is said to it),
// client_predict.c and client_statistics.c.

#include "client_lib/answers.h"
#include "client_lib/clock/clock.h"
#include "client_lib/clock/delay_controller.h"
#include "client_lib/clock/input_lead.h"
#include "client_lib/connection_state.h"
#include "client_lib/interpolate/interpolation.h"
#include "client_lib/interpolate/shape_list.h"
#include "client_lib/interpolate/snapshots.h"
#include "client_lib/resync/desync_report.h"
#include "client_lib/resync/resync.h"
#include "client_lib/simulate/inputs.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "net/link.h"
#include "net/netcode_client.h"
#include "net/netcode_drop.h"
#include "schema/codec.h"
#include "sim/debug/passport.h"
#include <cairn/client.h>
#include <cairn/types.h>

#define CAIRN_CLIENT_FAILURE_SIZE 256

// Reasons to drop what netcode, link and codec let through.
typedef enum cairn_client_drop_reason {
    CAIRN_CLIENT_DROP_NOT_WELCOME = 0, // before WELCOME, which was overtaken or lost
    CAIRN_CLIENT_DROP_SECOND_WELCOME,
    CAIRN_CLIENT_DROP_MODE,   // a message of the other mode
    CAIRN_CLIENT_DROP_SHAPES, // more shapes than the list holds
    CAIRN_CLIENT_DROP_OVER,   // outside of a connection
    CAIRN_CLIENT_DROP_WORLD,  // of a world that is no more, or not yet told of
    CAIRN_CLIENT_DROP_ANSWER, // nobody took the answers before it
    CAIRN_CLIENT_DROP_COUNT
} cairn_client_drop_reason;

// Who sees to a world that differs from the server's although its inputs agree. `tick` is the first
// whose root differs. True: it is being repaired; false: the state is asked for anew.
typedef struct cairn_desync {
    bool (*found)(void *context, uint64_t tick); // NULL: nobody
    void *context;
} cairn_desync;

struct cairn_client {
    cairn_client_config config;
    cairn_client_state state;
    char failure[CAIRN_CLIENT_FAILURE_SIZE];
    char room[CAIRN_NAME_SIZE_MAX + 1]; // asked for

    cairn_netcode_client *netcode;
    cairn_link *link;
    cairn_encoder *encoder;

    bool welcomed;
    uint32_t mode; // cairn_mode, granted
    uint32_t slot;
    uint32_t tick_rate_hz;
    uint64_t timing_tick; // of the newest timing heard
    uint32_t world_epoch; // how often the server told of another one
    uint32_t rights;
    bool paused;    // the room
    uint32_t speed; // thousandths of its rate; 0: as fast as it goes
    cairn_answers answers;

    cairn_clock clock;
    cairn_input_lead input_lead;
    cairn_inputs inputs;
    cairn_interpolation interpolation;
    cairn_snapshots snapshots;
    cairn_shape_list shapes;
    cairn_lockstep lockstep;
    cairn_predict predict;
    cairn_delay_controller delay;
    cairn_client_resync resync;
    cairn_passport passport;  // of this process, read at create
    bool snapshots_requested; // the server was asked to serve snapshots instead
    char mode_text[CAIRN_TEXT_SIZE_MAX + 1];
    uint64_t welcome_tick; // when the welcome was written

    cairn_client_desync_report desync_report;
    cairn_desync desync;
    uint64_t desync_told;       // the last tick it was told of
    bool requesting_full_state; // ticks from full_state_from on are not acknowledged, so that the
                                // server sends its state
    uint64_t full_state_from;

    bool input_due;                 // an input message is to be said
    bool report_due;                // a root report is to be said
    uint64_t report_tick;           // newest root reported
    uint64_t snapshot_acknowledged; // newest snapshot tick held, 0 for none
    uint64_t input_sent_ns;         // when the last input message was encoded
    uint64_t advanced_ns;
    uint64_t sampled_ns;
    cairn_client_sample shown; // the last sample, which inputs are told with

    cairn_client_statistics statistics;
    uint64_t drops_decode[CAIRN_DECODE_REFUSAL_COUNT];
    uint64_t drops_snapshot[CAIRN_SNAPSHOT_REFUSAL_COUNT];
    uint64_t drops_lockstep[CAIRN_LOCKSTEP_VERDICT_COUNT];
    uint64_t drops_client[CAIRN_CLIENT_DROP_COUNT];
};

// Moves by the state table. `text` says why, when the event is a failure.
void cairn_client_apply_event(cairn_client *client, cairn_connection_event event, const char *text);
// The server sent what cannot be gone on with: leaves the connection as well.
void cairn_client_fail(
    cairn_client *client, uint64_t now_ns, cairn_connection_event event, const char *text);

// What the server says of its room.
void cairn_client_take_notice(cairn_client *client, const cairn_event_message *notice);
// Forgets the world it has, and what it said and heard of it.
void cairn_client_clear_world(cairn_client *client);

// One whole message from the link.
void cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message);

void cairn_client_send_hello(cairn_client *client);
// Says it again, with less to ask for.
void cairn_client_request_snapshots(cairn_client *client);
uint32_t cairn_client_mode_asked(const cairn_client *client); // cairn_mode, by the config
// Makes the inputs that are due and notes what is to be said.
void cairn_client_make_inputs(cairn_client *client, uint64_t now_ns);
void cairn_client_note_report(cairn_client *client);
// Hands the next thing to say to the link; false when there is nothing. The link keeps one
// unreliable message at a time, so the next is handed over only when the last has left.
bool cairn_client_outbox_next(cairn_client *client, uint64_t now_ns);

// Whether the client has a world of its own.
bool cairn_client_simulates(const cairn_client *client);

bool cairn_client_predicts(const cairn_client *client);
void cairn_client_predict_create(cairn_client *client);
void cairn_client_predict_welcome(cairn_client *client);
bool cairn_client_predict_load(cairn_client *client); // false: memory is short
void cairn_client_predict_advance(cairn_client *client, uint64_t now_ns);
bool cairn_client_predict_sample(cairn_client *client, uint64_t now_ns, cairn_client_body *bodies,
    uint32_t body_capacity, cairn_client_sample *out);
// From the last advance until the next step is to be shown; UINT64_MAX for who does not predict.
uint64_t cairn_client_predict_rest_ns(const cairn_client *client);
void cairn_client_predict_statistics(const cairn_client *client, cairn_client_statistics *out);
void cairn_client_watch_difference(cairn_client *client);

bool cairn_client_heal_create(cairn_client *client); // false: memory is short
void cairn_client_heal_clear(cairn_client *client);
void cairn_client_heal_advance(cairn_client *client, uint64_t now_ns);
void cairn_client_heal_loaded(cairn_client *client, uint64_t now_ns, size_t size);
// What may be stepped in one advance: more while a repaired world comes back to where it stood.
uint32_t cairn_client_heal_ticks_max(const cairn_client *client, uint32_t ticks_max);
void cairn_client_heal_statistics(const cairn_client *client, cairn_client_statistics *out);
void cairn_client_heal_repair(
    cairn_client *client, uint64_t now_ns, const cairn_resync_response *repair, size_t size);
void cairn_client_heal_welcome(cairn_client *client, const cairn_welcome *welcome);
void cairn_client_heal_notice(cairn_client *client, const cairn_event_message *notice);
// Own roots that make a report due: `usual` of them; a difference is told once, at once, and
// nothing further until it is mended.
uint64_t cairn_client_heal_report(cairn_client *client, uint64_t usual);
// For tests and demonstrations: as if a step had been computed wrongly. A body is pushed in the
// client's own world, and no state is left to go back to. False: there is no world, or no such
// body.
bool cairn_client_damage(cairn_client *client, uint32_t body);
// Hands a doubt to the link when one is to be said.
bool cairn_client_heal_say(cairn_client *client, uint64_t now_ns);
// For tests: another passport than this process's, from the next connection on.
void cairn_client_set_passport(cairn_client *client, const cairn_passport *passport);

void cairn_client_capsule_create(cairn_client *client, uint32_t ticks_per_advance);
// After a stretch of steps, before anybody mends the world.
void cairn_client_capsule_watch(cairn_client *client, uint64_t now_ns);
// Hands a question to the link when one is to be asked.
bool cairn_client_capsule_say(cairn_client *client);
