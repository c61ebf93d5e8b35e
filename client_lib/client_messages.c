// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "client_lib/client_parts.h"

// Lockstep failures that leave nothing to go on with.
static bool is_fatal(cairn_lockstep_verdict verdict) {
    return verdict >= CAIRN_LOCKSTEP_STATE_TOO_LARGE;
}

static void take_verdict(cairn_client *client, uint64_t now_ns, cairn_lockstep_verdict verdict) {
    client->drops_lockstep[verdict]++;
    if (is_fatal(verdict)) {
        cairn_client_fail(
            client, now_ns, CAIRN_CONNECTION_BROKEN, cairn_lockstep_verdict_text(verdict));
    }
}

static bool lead_fixed(const cairn_client *client) {
    return client->mode == CAIRN_MODE_LOCKSTEP && client->config.input_delay_ms != 0;
}

static void take_welcome(cairn_client *client, uint64_t now_ns, const cairn_welcome *welcome) {
    if (client->welcomed) {
        client->drops_client[CAIRN_CLIENT_DROP_SECOND_WELCOME]++;
        return;
    }
    if (cairn_mode_simulates(welcome->mode) && welcome->sim_version != CAIRN_SIM_VERSION) {
        cairn_client_fail(client, now_ns, CAIRN_CONNECTION_BROKEN,
            "the server simulates another version than this client");
        return;
    }
    client->welcomed = true;
    client->mode = welcome->mode;
    cairn_client_heal_welcome(client, welcome);
    client->slot = welcome->slot;
    client->rights = welcome->rights;
    client->tick_rate_hz = welcome->tick_rate_hz;
    client->welcome_tick = welcome->tick;
    cairn_clock_start(&client->clock, welcome->tick_rate_hz);
    cairn_input_lead_start(&client->input_lead, welcome->tick_rate_hz);
    if (lead_fixed(client)) {
        client->input_lead.lead_ns = (double)client->config.input_delay_ms * 1e6;
    }
    cairn_client_predict_welcome(client);
    cairn_interpolation_start(&client->interpolation, client->config.interpolation_delay_ms,
        client->config.extrapolation_ms_max);
}

static void take_refused(cairn_client *client, uint64_t now_ns, const cairn_refused *refused) {
    char text[CAIRN_CLIENT_FAILURE_SIZE];
    snprintf(text, sizeof text, "the server refused this client: %s", refused->words);
    cairn_client_fail(client, now_ns, CAIRN_CONNECTION_REFUSED, text);
}

static void take_shapes(cairn_client *client, const cairn_shapes_message *shapes) {
    if (cairn_shape_list_take(&client->shapes, shapes) != CAIRN_OK) {
        client->drops_client[CAIRN_CLIENT_DROP_SHAPES]++;
    }
}

// Every snapshot and ticks message says what time it is and how our inputs landed. Overtaken ones
// are old news.
static void take_timing(
    cairn_client *client, uint64_t now_ns, uint64_t tick, const cairn_wire_timing *timing) {
    cairn_clock_observe(&client->clock, now_ns, tick);
    cairn_interpolation_observe(&client->interpolation, tick);
    if (tick < client->timing_tick) {
        return;
    }
    client->timing_tick = tick;
    const cairn_link_statistics *link = cairn_link_statistics_read(client->link);
    if (!lead_fixed(client)) {
        cairn_input_lead_estimate(&client->input_lead, link->rtt_ns, link->jitter_ns);
        cairn_input_lead_feedback(
            &client->input_lead, now_ns, link->rtt_ns, link->jitter_ns, timing);
    }
    cairn_inputs_acknowledge(&client->inputs, timing->input_acknowledged);
    client->statistics.inputs_late = timing->inputs_late;
    client->statistics.lateness_us = timing->lateness_us_last;
}

static void take_snapshot_verdict(
    cairn_client *client, uint64_t now_ns, cairn_snapshot_refusal refusal) {
    client->drops_snapshot[refusal]++;
    if (refusal == CAIRN_SNAPSHOT_BASELINE_LOST || refusal == CAIRN_SNAPSHOT_DELTA_MALFORMED) {
        client->statistics.snapshots_unusable++;
    }
    if (refusal == CAIRN_SNAPSHOT_BODIES_MAX) {
        cairn_client_fail(client, now_ns, CAIRN_CONNECTION_BROKEN,
            "the world has more bodies than bodies_max allows");
    }
    if (refusal == CAIRN_SNAPSHOT_TAKEN) {
        client->snapshot_acknowledged = cairn_snapshots_newest(&client->snapshots)->tick;
        client->input_due = true;
        cairn_client_apply_event(client, CAIRN_CONNECTION_WORLD_HELD, "");
    }
}

static void count_snapshot(cairn_client *client, size_t size) {
    client->statistics.snapshots_received++;
    client->statistics.snapshot_bytes += size;
}

static void take_keyframe(
    cairn_client *client, uint64_t now_ns, const cairn_keyframe *keyframe, size_t size) {
    count_snapshot(client, size);
    client->statistics.keyframes_received++;
    take_timing(client, now_ns, keyframe->tick, &keyframe->timing);
    take_snapshot_verdict(client, now_ns,
        cairn_snapshots_take(
            &client->snapshots, keyframe->tick, keyframe->bodies, keyframe->body_count));
}

static void take_delta(
    cairn_client *client, uint64_t now_ns, const cairn_delta *delta, size_t size) {
    count_snapshot(client, size);
    client->statistics.deltas_received++;
    take_timing(client, now_ns, delta->tick, &delta->timing);
    take_snapshot_verdict(client, now_ns, cairn_snapshots_take_delta(&client->snapshots, delta));
}

static void take_ticks(cairn_client *client, uint64_t now_ns, const cairn_ticks_message *ticks) {
    if (ticks->tick_count > 0) {
        uint64_t tick = ticks->ticks[ticks->tick_count - 1].tick + 1;
        take_timing(client, now_ns, tick, &ticks->timing);
    }
    take_verdict(client, now_ns, cairn_lockstep_take_ticks(&client->lockstep, ticks));
    client->input_due = true;
}

static void take_state(cairn_client *client, uint64_t now_ns, const cairn_state_message *state) {
    cairn_lockstep_verdict verdict = cairn_lockstep_take_state(&client->lockstep, state);
    if (verdict == CAIRN_LOCKSTEP_LOADED && !cairn_client_predict_load(client)) {
        verdict = CAIRN_LOCKSTEP_NO_MEMORY;
    }
    take_verdict(client, now_ns, verdict);
    if (verdict == CAIRN_LOCKSTEP_LOADED) {
        client->requesting_full_state = false;
        cairn_client_heal_loaded(client, now_ns, state->total_size);
        client->report_tick = cairn_world_tick(client->lockstep.timeline.world);
        client->input_due = true;
        cairn_client_apply_event(client, CAIRN_CONNECTION_WORLD_HELD, "");
    }
}

// Whether the message belongs here and now; counts it when it does not.
static bool is_expected(cairn_client *client, cairn_message_kind kind) {
    if (client->state != CAIRN_CLIENT_JOINING && client->state != CAIRN_CLIENT_PLAYING) {
        client->drops_client[CAIRN_CLIENT_DROP_OVER]++;
        return false;
    }
    if (kind == CAIRN_MESSAGE_WELCOME || kind == CAIRN_MESSAGE_REFUSED) {
        return true;
    }
    if (!client->welcomed) {
        client->drops_client[CAIRN_CLIENT_DROP_NOT_WELCOME]++;
        return false;
    }
    bool for_lockstep = kind == CAIRN_MESSAGE_TICKS || kind == CAIRN_MESSAGE_STATE ||
                        kind == CAIRN_MESSAGE_RESYNC_RESPONSE;
    bool for_all =
        kind == CAIRN_MESSAGE_SHAPES || kind == CAIRN_MESSAGE_EVENT || kind == CAIRN_MESSAGE_ANSWER;
    if (!for_all && for_lockstep != cairn_client_simulates(client)) {
        client->drops_client[CAIRN_CLIENT_DROP_MODE]++;
        return false;
    }
    return true;
}

// Unreliable messages may come before the notice of their world, and long after its end.
static bool is_of_world(cairn_client *client, const cairn_message *message) {
    const uint32_t world_epoch = message->kind == CAIRN_MESSAGE_KEYFRAME
                                     ? message->keyframe.world_epoch
                                 : message->kind == CAIRN_MESSAGE_DELTA ? message->delta.world_epoch
                                 : message->kind == CAIRN_MESSAGE_TICKS ? message->ticks.world_epoch
                                                                        : client->world_epoch;
    client->drops_client[CAIRN_CLIENT_DROP_WORLD] += world_epoch == client->world_epoch ? 0 : 1;
    return world_epoch == client->world_epoch;
}

static void take_answer(cairn_client *client, const cairn_link_message *message) {
    if (!cairn_answers_add(&client->answers, message->bytes, message->size)) {
        client->drops_client[CAIRN_CLIENT_DROP_ANSWER]++;
    }
}

void cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message) {
    cairn_message decoded;
    cairn_decode_refusal refusal =
        cairn_message_decode(message->bytes, message->size, CAIRN_TO_CLIENT, &decoded);
    if (refusal != CAIRN_DECODE_OK) {
        client->drops_decode[refusal]++;
        return;
    }
    if (!is_expected(client, decoded.kind) || !is_of_world(client, &decoded)) {
        return;
    }
    switch (decoded.kind) {
    case CAIRN_MESSAGE_WELCOME:
        take_welcome(client, now_ns, &decoded.welcome);
        break;
    case CAIRN_MESSAGE_REFUSED:
        take_refused(client, now_ns, &decoded.refused);
        break;
    case CAIRN_MESSAGE_SHAPES:
        take_shapes(client, &decoded.shapes);
        break;
    case CAIRN_MESSAGE_KEYFRAME:
        take_keyframe(client, now_ns, &decoded.keyframe, message->size);
        break;
    case CAIRN_MESSAGE_DELTA:
        take_delta(client, now_ns, &decoded.delta, message->size);
        break;
    case CAIRN_MESSAGE_TICKS:
        take_ticks(client, now_ns, &decoded.ticks);
        break;
    case CAIRN_MESSAGE_STATE:
        take_state(client, now_ns, &decoded.state);
        break;
    case CAIRN_MESSAGE_RESYNC_RESPONSE:
        cairn_client_desync_report_take(&client->desync_report, &decoded.resync_response);
        if (decoded.resync_response.stages_size == 0) {
            cairn_client_heal_repair(client, now_ns, &decoded.resync_response, message->size);
        }
        break;
    case CAIRN_MESSAGE_EVENT:
        cairn_client_heal_notice(client, &decoded.event);
        cairn_client_take_notice(client, &decoded.event);
        break;
    case CAIRN_MESSAGE_ANSWER:
        take_answer(client, message);
        break;
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_HELLO:
    case CAIRN_MESSAGE_INPUT:
    case CAIRN_MESSAGE_ROOT_REPORT:
    case CAIRN_MESSAGE_RESYNC_REQUEST:
    case CAIRN_MESSAGE_CONTROL:
    case CAIRN_MESSAGE_KIND_COUNT:
        break; // the codec refuses these for our direction
    }
}
