// SPDX-License-Identifier: MIT
// How a client predicts: the host's settings, the clock and the ladder on one side, the world that
// runs ahead on the other.
#include <math.h>

#include "client_lib/client_parts.h"

// Ticks that may be unconfirmed beyond what the ladder asks for: words held up or lost on their
// way.
#define WINDOW_SLACK 8
// With a delay that the host has fixed the path's whole need is predicted.
#define WINDOW_FIXED 120

static uint32_t ticks_of_ms(const cairn_client *client, uint32_t ms) {
    return (uint32_t)(((uint64_t)ms * client->tick_rate_hz + 500) / 1000);
}

bool cairn_client_predicts(const cairn_client *client) {
    return client->mode == CAIRN_MODE_PREDICT && client->config.mode == CAIRN_CLIENT_PREDICT;
}

void cairn_client_predict_create(cairn_client *client) {
    const cairn_client_config *config = &client->config;
    if (config->mode != CAIRN_CLIENT_PREDICT) {
        return;
    }
    const bool fixed = config->input_delay_ms != 0;
    const cairn_predict_config predict = {
        .window_ticks = fixed ? WINDOW_FIXED : 2 * config->predict_ticks_max + WINDOW_SLACK,
        .steps_max = config->resim_ticks_max,
        .budget_ns = (uint64_t)config->resim_budget_us * 1000,
        .clock_ns = config->clock_ns,
        .clock_context = config->clock_context,
    };
    client->lockstep.state_ticks = predict.window_ticks + 2;
    client->lockstep.state_memory = config->rollback_memory_max;
    cairn_predict_create(&client->predict, &predict, &client->lockstep);
}

void cairn_client_predict_welcome(cairn_client *client) {
    const cairn_client_config *config = &client->config;
    const cairn_delay_controller_config ladder = {
        .tick_ns = client->clock.tick_ns,
        .input_delay_first = ticks_of_ms(client, config->input_delay_ms_max),
        .predict_max = config->predict_ticks_max,
        .input_delay_fixed = config->input_delay_ms != 0
                                 ? ticks_of_ms(client, config->input_delay_ms)
                                 : CAIRN_DELAY_ADAPTIVE,
    };
    cairn_delay_controller_start(&client->delay, &ladder);
}

bool cairn_client_predict_load(cairn_client *client) {
    if (client->config.mode != CAIRN_CLIENT_PREDICT) {
        return true;
    }
    // A JOIN is a command of the tick the welcome was written in.
    const bool joined = client->lockstep.timeline.first > client->welcome_tick;
    const uint32_t hold_ms = client->config.input_hold_ms;
    const uint32_t hold_ticks = (client->tick_rate_hz * hold_ms + 999) / 1000;
    return cairn_predict_load(
               &client->predict, &client->inputs, client->slot, joined, hold_ticks) == CAIRN_OK;
}

static double head_tick(const cairn_client *client, uint64_t now_ns) {
    const double tick = cairn_clock_tick(&client->clock, now_ns) + client->delay.ahead;
    return tick > 0 ? tick : 0;
}

void cairn_client_predict_advance(cairn_client *client, uint64_t now_ns) {
    const bool plays = client->slot != CAIRN_SLOT_NONE;
    // Who says nothing has no reason to run ahead of what it hears.
    const double need = plays ? client->input_lead.lead_ns / client->clock.tick_ns : 0;
    const uint32_t afford = cairn_predict_steps_affordable(&client->predict) - 1;
    const uint32_t most = client->config.predict_ticks_max;
    cairn_delay_controller_advance(&client->delay, now_ns, need, afford < most ? afford : most);
    const double head = head_tick(client, now_ns);
    uint64_t wanted = (uint64_t)head + 1;
    if (client->inputs.running && wanted > client->inputs.next_tick) {
        wanted = client->inputs.next_tick;
    }
    cairn_predict_advance(&client->predict, now_ns, wanted, head);
}

uint64_t cairn_client_predict_rest_ns(const cairn_client *client) {
    if (!cairn_client_predicts(client) || !client->clock.running) {
        return UINT64_MAX;
    }
    const double head = head_tick(client, client->advanced_ns);
    const double rest = floor(head) + 1 - head;
    return (uint64_t)(rest * client->clock.tick_ns) + 1;
}

bool cairn_client_predict_sample(cairn_client *client, uint64_t now_ns, cairn_client_body *bodies,
    uint32_t body_capacity, cairn_client_sample *out) {
    const double tick_ns = client->clock.tick_ns;
    // Only while a rollback takes longer than a frame; what waits for the server stands still.
    const double beyond =
        client->predict.open ? (double)client->config.extrapolation_ms_max * 1e6 / tick_ns : 0;
    const bool shown = cairn_interpolate(cairn_predict_shown_snapshots(&client->predict),
        head_tick(client, now_ns), tick_ns, beyond, bodies, body_capacity, out);
    cairn_smoothing_advance(&client->predict.smoothing, now_ns);
    const uint32_t written = out->body_count < body_capacity ? out->body_count : body_capacity;
    cairn_smoothing_apply(&client->predict.smoothing, bodies, written);
    return shown;
}

void cairn_client_predict_statistics(const cairn_client *client, cairn_client_statistics *out) {
    const cairn_timeline *timeline = &client->lockstep.timeline;
    const cairn_predict *predict = &client->predict;
    out->input_delay_ticks = client->delay.input_delay;
    out->predicted_ticks =
        (uint32_t)(timeline->head_tick - cairn_timeline_confirmed_tick(timeline));
    out->rollbacks = predict->rollbacks.count;
    out->rollback_ticks = predict->rollbacks.ticks;
    out->resim_over_budget = predict->over_budget;
    out->predict_window_full = predict->window_full;
    out->correction_m = predict->smoothing.error_m;
}

uint32_t cairn_client_rollbacks(
    const cairn_client *client, cairn_client_rollback *out, uint32_t capacity) {
    return cairn_rollback_log_read(&client->predict.rollbacks, out, capacity);
}

uint64_t cairn_client_rollback_count(
    const cairn_client *client, cairn_client_rollback_cause cause) {
    return (uint32_t)cause < CAIRN_ROLLBACK_CAUSE_COUNT ? client->predict.rollbacks.by_cause[cause]
                                                        : 0;
}

uint64_t cairn_client_confirmed_tick(const cairn_client *client) {
    return cairn_timeline_confirmed_tick(&client->lockstep.timeline);
}

// A world whose inputs agree and whose root does not is wrong for good: whoever can repair it is
// told, else the ticks held are not acknowledged any more, until the server gives up and sends its
// state.
void cairn_client_watch_difference(cairn_client *client) {
    const cairn_timeline *timeline = &client->lockstep.timeline;
    if (!timeline->differs || timeline->differs_tick == client->desync_told) {
        return;
    }
    client->desync_told = timeline->differs_tick;
    const cairn_desync *desync = &client->desync;
    const bool seen_to =
        desync->found != NULL && desync->found(desync->context, timeline->differs_tick);
    if (!seen_to && !client->requesting_full_state) {
        client->requesting_full_state = true;
        client->full_state_from = timeline->confirmed_end;
    }
}
