// SPDX-License-Identifier: MIT
#pragma once

// Prediction and rollback: a lockstep world that runs ahead. Ticks that the server has not
// confirmed are stepped with the player's own inputs and predicted ones. If other commands are
// confirmed the world goes back and is stepped again, within a budget; meanwhile the picture from
// before is shown. A correction fades out instead of jumping.

#include <stdbool.h>
#include <stdint.h>

#include "client_lib/interpolate/interpolation.h"
#include "client_lib/simulate/input_prediction.h"
#include "client_lib/simulate/inputs.h"
#include "client_lib/simulate/lockstep.h"
#include "client_lib/simulate/rollback.h"
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
    uint32_t slot;              // own; CAIRN_SLOT_NONE: a spectator
    cairn_input_prediction input_prediction;
    bool predictions_stale; // ticks were confirmed since inputs were predicted
    cairn_smoothing smoothing;
    cairn_rollback_log rollback_log;

    // The picture from before the rollback that is under way; otherwise unused.
    cairn_snapshots before;
    cairn_client_body *shown[2]; // owned; bodies before and after a rollback
    bool open;                   // a rollback is under way
    cairn_client_rollback rollback;
    uint64_t open_end; // the tick of the world before it

    uint32_t confirmed_together; // ticks, since the last advance
    double step_ns;              // cost of a step, smoothed; 0 without a clock
    uint64_t over_budget;
    uint64_t window_full;
    cairn_command predicted[CAIRN_COMMANDS_PER_TICK_MAX]; // scratch: of one tick
} cairn_predict;

void cairn_predict_create(
    cairn_predict *predict, const cairn_predict_config *config, cairn_lockstep *lockstep);
void cairn_predict_destroy(cairn_predict *predict);
// Back to the state after create, for the next connection or world; clear lockstep as well. Does
// nothing to an object that was never created (all zero).
void cairn_predict_clear(cairn_predict *predict);

// Lockstep has loaded a state. `joined`: the JOIN of `slot`, the own one, lies before it. A state
// that replaced another counts as a rollback. CAIRN_OUT_OF_MEMORY.
cairn_status cairn_predict_load(cairn_predict *predict, const cairn_inputs *inputs, uint32_t slot,
    bool joined, uint32_t hold_ticks);

// Steps towards tick `wanted`, as far as window and budget allow. `shown` is the tick shown now,
// with its fraction.
void cairn_predict_advance(cairn_predict *predict, uint64_t now_ns, uint64_t wanted, double shown);
// Ticks that an advance can step within its budget, as measured; at least 1.
uint32_t cairn_predict_steps_affordable(const cairn_predict *predict);

// Call before the timeline is rewound to `tick` from outside (resync): what is shown now is kept
// until the world has reached its present tick again.
void cairn_predict_begin_rollback(
    cairn_predict *predict, uint64_t tick, cairn_client_rollback_cause cause, uint32_t slot);

// The snapshots to show.
const cairn_snapshots *cairn_predict_shown_snapshots(const cairn_predict *predict);
