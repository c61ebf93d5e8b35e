// SPDX-License-Identifier: MIT
#include "client_lib/client_parts.h"

#include <math.h>

#include "base/assert.h"

// Ticks that may be unconfirmed beyond what the delay controller asks for: messages of the server
// that are lost or delayed.
#define WINDOW_SLACK_TICKS 8
// With a fixed input delay everything that the path needs beyond it is predicted.
#define WINDOW_FIXED_TICKS 120

static uint32_t ticks_of_ms(const cairn_client *client, uint32_t ms) {
    return (uint32_t)(((uint64_t)ms * client->session.tick_rate_hz + 500) / 1000);
}

bool cairn_client_predicts(const cairn_client *client) {
    return client->session.mode == CAIRN_MODE_PREDICT &&
           client->config.mode == CAIRN_CLIENT_PREDICT;
}

void cairn_client_prediction_create(cairn_client *client) {
    const cairn_client_config *config = &client->config;
    if (config->mode != CAIRN_CLIENT_PREDICT) {
        return;
    }
    const bool fixed = config->input_delay_ms != 0;
    const cairn_predict_config predict = {
        .window_ticks =
            fixed ? WINDOW_FIXED_TICKS : 2 * config->predict_ticks_max + WINDOW_SLACK_TICKS,
        .steps_max = config->resim_ticks_max,
        .budget_ns = (uint64_t)config->resim_budget_us * 1000,
        .clock_ns = config->clock_ns,
        .clock_context = config->clock_context,
    };
    cairn_lockstep_keep_states(
        &client->lockstep, predict.window_ticks + 2, config->rollback_memory_max);
    cairn_predict_create(&client->predict, &predict, &client->lockstep);
}

void cairn_client_prediction_start(cairn_client *client) {
    const cairn_client_config *config = &client->config;
    CAIRN_ASSERT(client->session.tick_rate_hz > 0);
    const cairn_delay_controller_config controller = {
        .tick_ns = client->timing.clock.tick_ns,
        .input_delay_first = ticks_of_ms(client, config->input_delay_ms_max),
        .predict_max = config->predict_ticks_max,
        .input_delay_fixed = config->input_delay_ms != 0
                                 ? ticks_of_ms(client, config->input_delay_ms)
                                 : CAIRN_DELAY_ADAPTIVE,
    };
    cairn_delay_controller_start(&client->timing.delay, &controller);
}

cairn_status cairn_client_prediction_load(cairn_client *client) {
    if (client->config.mode != CAIRN_CLIENT_PREDICT) {
        return CAIRN_OK;
    }
    // JOIN is a command of the tick in which WELCOME was written.
    const bool joined = client->lockstep.timeline.first > client->session.welcome_tick;
    const uint32_t hold_ticks =
        (client->session.tick_rate_hz * client->config.input_hold_ms + 999) / 1000;
    return cairn_predict_load(
        &client->predict, &client->outbox.inputs, client->session.slot, joined, hold_ticks);
}

static double head_tick(const cairn_client *client, uint64_t now_ns) {
    const double tick =
        cairn_clock_tick(&client->timing.clock, now_ns) + client->timing.delay.ahead;
    return tick > 0 ? tick : 0;
}

void cairn_client_prediction_advance(cairn_client *client, uint64_t now_ns) {
    CAIRN_ASSERT(cairn_client_predicts(client) && client->timing.clock.tick_ns > 0);
    const bool plays = client->session.slot != CAIRN_SLOT_NONE;
    // A spectator sends no inputs and has no reason to run ahead.
    const double need =
        plays ? client->timing.input_lead.lead_ns / client->timing.clock.tick_ns : 0;
    const uint32_t affordable = cairn_predict_steps_affordable(&client->predict) - 1;
    const uint32_t most = client->config.predict_ticks_max;
    cairn_delay_controller_advance(
        &client->timing.delay, now_ns, need, affordable < most ? affordable : most);
    const double head = head_tick(client, now_ns);
    const cairn_inputs *inputs = &client->outbox.inputs;
    uint64_t wanted = (uint64_t)head + 1;
    if (inputs->running && wanted > inputs->next_tick) {
        wanted = inputs->next_tick;
    }
    cairn_predict_advance(&client->predict, now_ns, wanted, head);
}

uint64_t cairn_client_prediction_rest_ns(const cairn_client *client) {
    if (!cairn_client_predicts(client) || !client->timing.clock.running) {
        return UINT64_MAX;
    }
    const double head = head_tick(client, client->timing.advanced_ns);
    const double rest = floor(head) + 1 - head;
    return (uint64_t)(rest * client->timing.clock.tick_ns) + 1;
}

bool cairn_client_prediction_sample(cairn_client *client, uint64_t now_ns,
    cairn_client_body *bodies, uint32_t body_capacity, cairn_client_sample *out) {
    const double tick_ns = client->timing.clock.tick_ns;
    CAIRN_ASSERT(tick_ns > 0);
    // Extrapolates only while a rollback takes longer than a frame. A world that waits for the
    // server stands still.
    const double beyond =
        client->predict.open ? (double)client->config.extrapolation_ms_max * 1e6 / tick_ns : 0;
    const bool shown = cairn_interpolate(cairn_predict_shown_snapshots(&client->predict),
        head_tick(client, now_ns), tick_ns, beyond, false, bodies, body_capacity, out);
    cairn_smoothing_advance(&client->predict.smoothing, now_ns);
    const uint32_t written = out->body_count < body_capacity ? out->body_count : body_capacity;
    cairn_smoothing_apply(&client->predict.smoothing, bodies, written);
    return shown;
}
