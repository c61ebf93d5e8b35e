// SPDX-License-Identifier: MIT
#pragma once

// A lockstep world that runs ahead. Ticks the server has not told of are stepped on own inputs and
// on guesses; when it tells of other commands the world goes back and is stepped again, within a
// budget, while the picture from before is shown. What was shown wrongly glides to the truth.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/interpolate/interpolation.h"
#include "client_lib/simulate/input_prediction.h"
#include "client_lib/simulate/inputs.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/rollback_log.h"
#include "client_lib/simulate/smoothing.h"

typedef struct cairn_predict_config {
    uint32_t window_ticks;               // unconfirmed ticks, at most
    uint32_t steps_max;                  // of one advance
    uint64_t budget_ns;                  // of one advance; 0: no limit
    uint64_t (*clock_ns)(void *context); // NULL: none
    void *clock_context;
} cairn_predict_config;

typedef struct cairn_predict {
    cairn_predict_config config;
    cairn_lockstep *lockstep;   // not owned; its confirmations come through here
    const cairn_inputs *inputs; // own; not owned
    uint32_t slot;              // own; CAIRN_SLOT_NONE: watches
    cairn_input_prediction prediction;
    bool learned; // the guesses held may be outdated
    cairn_smoothing smoothing;
    cairn_rollback_log rollback_log;

    // While a rollback is open the picture from before it, else what is left of one.
    cairn_snapshots before;
    cairn_client_body *shown[2]; // owned; as it was shown and as it is, at the end of a rollback
    bool open;
    cairn_client_rollback rollback;
    uint64_t open_end; // the tick the world stood at

    uint32_t confirmed_together; // since the last advance
    double step_ns;              // one step, smoothed; 0 without a clock
    uint64_t over_budget;
    uint64_t window_full;
    cairn_command guessed[CAIRN_COMMANDS_PER_TICK_MAX]; // of the tick being confirmed
} cairn_predict;

void cairn_predict_create(
    cairn_predict *predict, const cairn_predict_config *config, cairn_lockstep *lockstep);
void cairn_predict_destroy(cairn_predict *predict);
// For the next connection, with lockstep. Nothing happens to one that was never created (all zero).
void cairn_predict_clear(cairn_predict *predict);

// Lockstep has loaded a state. `slot` is the own one, `joined` whether its JOIN lies before the
// state. A state that came while another was played is a rollback of its own. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_predict_load(cairn_predict *predict, const cairn_inputs *inputs, uint32_t slot,
    bool joined, uint32_t hold_ticks);

// Steps towards the world of tick `wanted`, as far as window and budget allow. `shown` is the tick
// shown now, with its fraction.
void cairn_predict_advance(cairn_predict *predict, uint64_t now_ns, uint64_t wanted, double shown);
// How many ticks an advance can step within its budget, as measured; at least 1.
uint32_t cairn_predict_steps_affordable(const cairn_predict *predict);

// For who takes the world back from outside (healing): what is shown now is kept until the world
// stands again where it stood. To be called before the timeline is rewound to `tick`.
void cairn_predict_begin_rollback(
    cairn_predict *predict, uint64_t tick, cairn_client_rollback_cause cause, uint32_t slot);

// What is to be shown.
const cairn_snapshots *cairn_predict_shown_snapshots(const cairn_predict *predict);
