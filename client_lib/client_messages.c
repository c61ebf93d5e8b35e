// SPDX-License-Identifier: MIT
// What a client receives: messages from the link, decoded, checked against the state of the
// connection and the world epoch, and handed to the feature that they are about.
#include "client_lib/client_parts.h"

#include <stdio.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "schema/tick_payload.h"
#include <cairn/rules_registry.h>

static void fail(cairn_client *client, uint64_t now_ns, const char *text) {
    cairn_connection_fail(&client->connection, now_ns, CAIRN_CONNECTION_BROKEN, text);
}

static void set_mode_text(cairn_client *client, const char *server_text) {
    const char *own_text = client->resync.repair.given_up_text;
    snprintf(client->session.mode_text, sizeof client->session.mode_text, "%s",
        own_text != NULL ? own_text : server_text);
}

static bool input_lead_is_fixed(const cairn_client *client) {
    return client->session.mode == CAIRN_MODE_LOCKSTEP && client->config.input_delay_ms != 0;
}

static void take_welcome(cairn_client *client, uint64_t now_ns, const cairn_welcome *welcome) {
    cairn_client_session *session = &client->session;
    cairn_client_timing *timing = &client->timing;
    if (session->welcomed) {
        client->drops.session[CAIRN_CLIENT_DROP_SECOND_WELCOME]++;
        return;
    }
    if (cairn_mode_simulates(welcome->mode) && welcome->sim_version != CAIRN_SIM_VERSION) {
        fail(
            client, now_ns, "the server runs another version of the simulation: update the client");
        return;
    }
    if (cairn_mode_simulates(welcome->mode) && welcome->rules_name[0] != '\0' &&
        welcome->rules_digest != cairn_rules_digest(cairn_client_rules(client))) {
        char text[CAIRN_CONNECTION_FAILURE_SIZE];
        snprintf(text, sizeof text,
            "the room runs version %u of the rules %s, this client has version %u of %s, or other "
            "sources of them",
            (unsigned)welcome->rules_version, welcome->rules_name,
            (unsigned)cairn_client_rules(client)->version, cairn_client_rules(client)->name);
        fail(client, now_ns, text);
        return;
    }
    session->welcomed = true;
    session->mode = welcome->mode;
    session->slot = welcome->slot;
    client->lockstep.timeline.game_events.slot = welcome->slot;
    session->rights = welcome->rights;
    session->tick_rate_hz = welcome->tick_rate_hz;
    session->welcome_tick = welcome->tick;
    session->input_field_count = welcome->input_field_count;
    for (uint32_t i = 0; i < welcome->input_field_count; i++) {
        session->input_fields[i] = welcome->input_fields[i];
    }
    client->outbox.inputs.parts =
        cairn_input_parts(session->input_fields, session->input_field_count);
    if (welcome->mode != cairn_client_mode_asked(client)) {
        set_mode_text(client, welcome->reason_text);
    }
    cairn_clock_start(&timing->clock, welcome->tick_rate_hz);
    cairn_input_lead_start(&timing->input_lead, welcome->tick_rate_hz);
    if (input_lead_is_fixed(client)) {
        timing->input_lead.lead_ns = (double)client->config.input_delay_ms * 1e6;
    }
    cairn_client_prediction_start(client);
    cairn_interpolation_start(&client->view.interpolation, client->config.interpolation_delay_ms,
        client->config.extrapolation_ms_max);
}

static void take_refused(cairn_client *client, uint64_t now_ns, const cairn_refused *refused) {
    char text[CAIRN_CONNECTION_FAILURE_SIZE];
    snprintf(text, sizeof text, "the server refused this client: %s", refused->reason_text);
    cairn_connection_fail(&client->connection, now_ns, CAIRN_CONNECTION_REFUSED, text);
}

// Every snapshot and ticks message holds the server's tick and a report of when our inputs arrived.
// A message that was overtaken is of no use for either.
static void take_timing(
    cairn_client *client, uint64_t now_ns, uint64_t tick, const cairn_wire_timing *report) {
    CAIRN_ASSERT(client->session.welcomed && client->session.tick_rate_hz > 0);
    cairn_client_timing *timing = &client->timing;
    cairn_clock_observe(&timing->clock, now_ns, tick);
    cairn_interpolation_observe(&client->view.interpolation, &timing->clock, now_ns, tick);
    if (tick < timing->newest_tick) {
        return;
    }
    timing->newest_tick = tick;
    if (!input_lead_is_fixed(client)) {
        const cairn_link_path path = cairn_link_path_read(client->connection.link);
        cairn_input_lead_estimate(&timing->input_lead, path.rtt_ns, path.jitter_ns);
        cairn_input_lead_feedback(&timing->input_lead, now_ns, path.rtt_ns, path.jitter_ns,
            cairn_clock_ahead_ns(&timing->clock), report);
    }
    cairn_inputs_acknowledge(&client->outbox.inputs, report->input_acknowledged);
    client->outbox.inputs_late = report->inputs_late;
    client->outbox.lateness_us = report->lateness_us_last;
}

static void take_snapshot_verdict(cairn_client *client, uint64_t now_ns,
    const cairn_snapshot_head *head, cairn_snapshot_refusal refusal) {
    CAIRN_ASSERT(refusal < CAIRN_SNAPSHOT_REFUSAL_COUNT);
    client->drops.snapshot[refusal]++;
    if (refusal == CAIRN_SNAPSHOT_BASELINE_LOST || refusal == CAIRN_SNAPSHOT_MALFORMED ||
        refusal == CAIRN_SNAPSHOT_DIFFERS) {
        client->view.statistics.unusable++;
    }
    if (refusal == CAIRN_SNAPSHOT_BODIES_MAX) {
        fail(client, now_ns, "the world has more bodies than bodies_max allows: raise bodies_max");
    }
    if (refusal == CAIRN_SNAPSHOT_TAKEN) {
        const uint64_t before = client->outbox.snapshot_acknowledged;
        client->outbox.snapshot_acknowledged =
            !head->standing && head->tick > before ? head->tick : before;
        client->outbox.input_due = true;
        cairn_connection_apply_event(&client->connection, CAIRN_CONNECTION_WORLD_HELD, "");
    }
}

static void take_snapshot(
    cairn_client *client, uint64_t now_ns, const cairn_snapshot_message *message, size_t size) {
    cairn_client_view *view = &client->view;
    cairn_snapshot_head head;
    const size_t head_size =
        cairn_snapshot_head_read(message->payload, message->payload_size, &head);
    CAIRN_ASSERT(head_size > 0); // the message was checked
    if (head.world_epoch != client->session.world_epoch) {
        client->drops.session[CAIRN_CLIENT_DROP_WORLD]++;
        return;
    }
    const bool keyframe = !head.part && head.bases[0] == 0;
    view->statistics.keyframes += keyframe ? 1 : 0;
    view->statistics.deltas += keyframe ? 0 : 1;
    view->statistics.bytes += size;
    take_timing(client, now_ns, head.tick, &head.timing);
    const cairn_snapshot_refusal refusal =
        cairn_client_ignores_world(client)
            ? cairn_snapshots_note(&view->snapshots, &head)
            : cairn_snapshots_receive(&view->snapshots, message, &head, head_size);
    take_snapshot_verdict(client, now_ns, &head, refusal);
    // Whether or not the bodies were of use: no other snapshot carries these events.
    cairn_client_take_game_items(
        client, CAIRN_CLIENT_GAME_EVENT, head.tick, message->events, message->events_size);
}

static void take_lockstep_verdict(
    cairn_client *client, uint64_t now_ns, cairn_lockstep_verdict verdict) {
    CAIRN_ASSERT(verdict < CAIRN_LOCKSTEP_VERDICT_COUNT);
    client->drops.lockstep[verdict]++;
    if (verdict >= CAIRN_LOCKSTEP_STATE_TOO_LARGE) {
        fail(client, now_ns, cairn_lockstep_verdict_text(verdict));
    }
}

static void take_ticks(cairn_client *client, uint64_t now_ns, const cairn_ticks_message *ticks) {
    cairn_ticks_reader reader;
    const uint64_t end = cairn_ticks_end(ticks);
    if (!cairn_ticks_reader_of(ticks->payload, ticks->payload_size, &reader) ||
        reader.head.world_epoch != client->session.world_epoch) {
        client->drops.session[CAIRN_CLIENT_DROP_WORLD]++;
        return;
    }
    if (end > 0) {
        take_timing(client, now_ns, end, &reader.head.timing);
    }
    take_lockstep_verdict(client, now_ns, cairn_lockstep_take_ticks(&client->lockstep, ticks));
    // A player's next input acknowledges the ticks; a second message within the tick makes it less
    // likely that an input arrives too late on a path that loses.
    const float loss = cairn_link_path_read(client->connection.link).loss;
    client->outbox.input_due |=
        client->session.slot == CAIRN_SLOT_NONE || loss >= CAIRN_LINK_LOSS_MIN;
}

static void take_state(cairn_client *client, uint64_t now_ns, const cairn_state_message *state) {
    cairn_lockstep_verdict verdict = cairn_lockstep_take_state(&client->lockstep, state);
    if (verdict == CAIRN_LOCKSTEP_LOADED && cairn_client_prediction_load(client) != CAIRN_OK) {
        verdict = CAIRN_LOCKSTEP_NO_MEMORY;
    }
    take_lockstep_verdict(client, now_ns, verdict);
    if (verdict == CAIRN_LOCKSTEP_LOADED) {
        cairn_client_resync_state_loaded(&client->resync, now_ns, state->total_size);
        client->outbox.root_report_tick = client->lockstep.timeline.head_tick;
        client->outbox.input_due = true;
        cairn_connection_apply_event(&client->connection, CAIRN_CONNECTION_WORLD_HELD, "");
    }
}

// Stops the clock while the room is paused or runs as fast as it can.
static void follow_room_speed(cairn_client *client) {
    CAIRN_ASSERT(client->session.speed <= CAIRN_CLOCK_SPEED_MAX);
    const cairn_client_session *session = &client->session;
    if (session->paused || session->speed == 0) {
        cairn_clock_pause(&client->timing.clock);
    } else {
        cairn_clock_resume(&client->timing.clock, session->tick_rate_hz, session->speed);
    }
}

void cairn_client_clear_world(cairn_client *client) {
    cairn_client_view *view = &client->view;
    cairn_snapshots_clear(&view->snapshots);
    cairn_shape_list_clear(&view->shapes);
    cairn_mesh_list_clear(&view->meshes);
    cairn_event_queue_clear(&view->events);
    view->shown = (cairn_client_sample){0};
    view->sampled_ns = 0;
    cairn_client_resync_clear(&client->resync); // first: a report under way reads the world
    cairn_lockstep_clear(&client->lockstep);
    cairn_predict_clear(&client->predict);
    client->timing.newest_tick = 0;
    cairn_client_outbox *outbox = &client->outbox;
    cairn_inputs_start(&outbox->inputs, client->config.input_redundancy_ticks,
        cairn_input_parts(client->session.input_fields, client->session.input_field_count));
    outbox->input_due = false;
    outbox->inputs_sent_end = 0;
    outbox->snapshot_acknowledged = 0;
    outbox->root_report_due = false;
    outbox->root_report_tick = 0;
    CAIRN_ASSERT(client->lockstep.timeline.world == NULL && view->snapshots.count == 0);
}

static void begin_world_epoch(cairn_client *client, const cairn_event_message *event) {
    CAIRN_ASSERT(client->session.tick_rate_hz > 0);
    client->session.world_epoch = (uint32_t)event->value;
    client->session.welcome_tick = event->tick;
    cairn_client_clear_world(client);
    cairn_clock_start(&client->timing.clock, client->session.tick_rate_hz);
    follow_room_speed(client);
    cairn_interpolation_start(&client->view.interpolation, client->config.interpolation_delay_ms,
        client->config.extrapolation_ms_max);
    client->outbox.input_due = true;
    cairn_connection_apply_event(&client->connection, CAIRN_CONNECTION_WORLD_REPLACED, "");
}

static void take_event(cairn_client *client, const cairn_event_message *event) {
    switch (event->kind) {
    case CAIRN_EVENT_MODE:
        // The server serves snapshots from now on; it changes to no other mode.
        if (event->value == CAIRN_MODE_INTERPOLATE && cairn_client_simulates(client)) {
            set_mode_text(client, event->reason_text);
            client->session.mode = CAIRN_MODE_INTERPOLATE;
            client->outbox.root_report_due = false;
            cairn_game_events_skip(&client->lockstep.timeline.game_events, 0);
        }
        break;
    case CAIRN_EVENT_PAUSED:
    case CAIRN_EVENT_RESUMED:
        client->session.paused = event->kind == CAIRN_EVENT_PAUSED;
        follow_room_speed(client);
        break;
    case CAIRN_EVENT_RATE:
        client->session.speed = event->value <= CAIRN_CLOCK_SPEED_MAX ? (uint32_t)event->value : 0;
        follow_room_speed(client);
        break;
    case CAIRN_EVENT_MESSAGE_REFUSED:
        cairn_client_take_game_refusal(client, event->value, event->reason_text);
        break;
    case CAIRN_EVENT_REPLACED:
        begin_world_epoch(client, event);
        break;
    default:
        break; // concerns people, not the client itself
    }
}

// Whether the message may arrive now; counts it if not.
static bool is_expected(cairn_client *client, cairn_message_kind kind) {
    if (!cairn_connection_is_open(&client->connection)) {
        client->drops.session[CAIRN_CLIENT_DROP_OVER]++;
        return false;
    }
    if (kind == CAIRN_MESSAGE_WELCOME || kind == CAIRN_MESSAGE_REFUSED) {
        return true;
    }
    if (!client->session.welcomed) {
        client->drops.session[CAIRN_CLIENT_DROP_NOT_WELCOME]++;
        return false;
    }
    const bool simulating = kind == CAIRN_MESSAGE_TICKS || kind == CAIRN_MESSAGE_STATE ||
                            kind == CAIRN_MESSAGE_RESYNC_RESPONSE;
    const bool any_mode = kind == CAIRN_MESSAGE_SHAPES || kind == CAIRN_MESSAGE_MESH ||
                          kind == CAIRN_MESSAGE_EVENT || kind == CAIRN_MESSAGE_ANSWER ||
                          kind == CAIRN_MESSAGE_GAME_MESSAGES;
    if (!any_mode && simulating != cairn_client_simulates(client)) {
        client->drops.session[CAIRN_CLIENT_DROP_MODE]++;
        return false;
    }
    return true;
}

// Unreliable messages may arrive before the event that begins their world epoch, and long after it
// ended. Counts the message if it is of another epoch.
static bool is_of_world_epoch(cairn_client *client, const cairn_message *message) {
    const uint32_t now = client->session.world_epoch;
    const uint32_t epoch =
        message->kind == CAIRN_MESSAGE_GAME_MESSAGES ? message->game_messages.world_epoch : now;
    client->drops.session[CAIRN_CLIENT_DROP_WORLD] += epoch == now ? 0 : 1;
    return epoch == now;
}

static void take_game_messages(cairn_client *client, const cairn_game_messages_message *messages) {
    client->game.queue.missed += messages->missed;
    cairn_client_take_game_items(
        client, CAIRN_CLIENT_GAME_MESSAGE, messages->tick, messages->items, messages->items_size);
}

void cairn_client_take_message(
    cairn_client *client, uint64_t now_ns, const cairn_link_message *message) {
    CAIRN_ASSERT(message->bytes != NULL || message->size == 0);
    cairn_message decoded;
    const cairn_decode_refusal refusal =
        cairn_message_decode(message->bytes, message->size, CAIRN_TO_CLIENT, &decoded);
    if (refusal != CAIRN_DECODE_OK) {
        client->drops.decode[refusal]++;
        return;
    }
    if (!is_expected(client, decoded.kind) || !is_of_world_epoch(client, &decoded)) {
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
        if (!cairn_client_ignores_world(client) &&
            cairn_shape_list_take(&client->view.shapes, &decoded.shapes) != CAIRN_OK) {
            client->drops.session[CAIRN_CLIENT_DROP_SHAPES]++;
        }
        break;
    case CAIRN_MESSAGE_MESH:
        if (!cairn_client_ignores_world(client) &&
            cairn_mesh_list_take(&client->view.meshes, &decoded.mesh) != CAIRN_OK) {
            client->drops.session[CAIRN_CLIENT_DROP_MESH]++;
        }
        break;
    case CAIRN_MESSAGE_SNAPSHOT:
        take_snapshot(client, now_ns, &decoded.snapshot, message->size);
        break;
    case CAIRN_MESSAGE_TICKS:
        take_ticks(client, now_ns, &decoded.ticks);
        break;
    case CAIRN_MESSAGE_STATE:
        take_state(client, now_ns, &decoded.state);
        break;
    case CAIRN_MESSAGE_RESYNC_RESPONSE:
        cairn_client_resync_take(&client->resync, now_ns, &decoded.resync_response, message->size);
        break;
    case CAIRN_MESSAGE_EVENT:
        take_event(client, &decoded.event);
        break;
    case CAIRN_MESSAGE_WORLD_EVENTS:
        cairn_event_queue_add(&client->view.events, &decoded.world_events);
        break;
    case CAIRN_MESSAGE_GAME_MESSAGES:
        take_game_messages(client, &decoded.game_messages);
        break;
    case CAIRN_MESSAGE_ANSWER:
        if (!cairn_answers_add(&client->answers, message->bytes, message->size)) {
            client->drops.session[CAIRN_CLIENT_DROP_ANSWER]++;
        }
        break;
    case CAIRN_MESSAGE_NONE:
    case CAIRN_MESSAGE_HELLO:
    case CAIRN_MESSAGE_INPUT:
    case CAIRN_MESSAGE_ROOT_REPORT:
    case CAIRN_MESSAGE_RESYNC_REQUEST:
    case CAIRN_MESSAGE_CONTROL:
    case CAIRN_MESSAGE_PLAYER_MESSAGE:
    case CAIRN_MESSAGE_KIND_COUNT:
        break; // the codec refuses these in this direction
    }
}
