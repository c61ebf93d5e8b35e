// SPDX-License-Identifier: MIT
#pragma once

// What a client is made of, one struct for each subject. Private to the top folder of client_lib:
// the features below know nothing of it.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/answers.h"
#include "client_lib/clock/clock.h"
#include "client_lib/clock/delay_controller.h"
#include "client_lib/clock/input_lead.h"
#include "client_lib/connection.h"
#include "client_lib/interpolate/interpolation.h"
#include "client_lib/interpolate/shape_list.h"
#include "client_lib/interpolate/snapshots.h"
#include "client_lib/resync/resync.h"
#include "client_lib/simulate/inputs.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/predict.h"
#include "schema/codec.h"
#include "sim/debug/passport.h"
#include <cairn/client.h>

// Reasons to ignore what netcode, link and codec accepted.
typedef enum cairn_client_drop_reason {
    CAIRN_CLIENT_DROP_NOT_WELCOME = 0, // before WELCOME, which was overtaken or lost
    CAIRN_CLIENT_DROP_SECOND_WELCOME,
    CAIRN_CLIENT_DROP_MODE,   // a message of another mode
    CAIRN_CLIENT_DROP_SHAPES, // more shapes than the list holds
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
    cairn_client_sample shown; // the last sample; sent with inputs
    uint64_t sampled_ns;       // when that was taken; 0: no sample yet
    cairn_client_snapshot_statistics statistics;
} cairn_client_view;

// What is to be sent.
typedef struct cairn_client_outbox {
    cairn_inputs inputs;
    bool input_due;
    uint64_t input_sent_ns;         // when the last input message was encoded
    uint64_t snapshot_acknowledged; // newest snapshot tick held; 0: none
    bool root_report_due;
    uint64_t root_report_tick; // newest root reported
    uint64_t inputs_sent;
    uint64_t inputs_late; // as the server counts
    int32_t lateness_us;  // as the server says
} cairn_client_outbox;

// Counts since create.
typedef struct cairn_client_drops {
    uint64_t decode[CAIRN_DECODE_REFUSAL_COUNT];
    uint64_t session[CAIRN_CLIENT_DROP_COUNT];
    uint64_t snapshot[CAIRN_SNAPSHOT_REFUSAL_COUNT];
    uint64_t lockstep[CAIRN_LOCKSTEP_VERDICT_COUNT];
} cairn_client_drops;

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
    cairn_client_drops drops;
};

// Whether the client has a world of its own.
static inline bool cairn_client_simulates(const cairn_client *client) {
    return cairn_mode_simulates(client->session.mode);
}
