// SPDX-License-Identifier: MIT
#include <cairn/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/game_input.h"
#include "client_lib/client_parts.h"
#include "sim/math/float_env.h"
#include <cairn/token.h>

// Ticks that one advance may step while a world catches up: about ten times real time at 60 frames
// a second, without a visible stall.
#define CATCH_UP_TICKS_MAX 10

cairn_client_config cairn_client_config_default(void) {
    return (cairn_client_config){
        .mode = CAIRN_CLIENT_INTERPOLATE,
        .bodies_max = 8192,
        .shapes_max = 16384,
        .extrapolation_ms_max = 100,
        .input_redundancy_ticks = 16,
        .state_size_max = CAIRN_STATE_SIZE_MAX,
        .mesh_size_max = CAIRN_STATE_SIZE_MAX,
        .input_delay_ms_max = 50,
        .predict_ticks_max = 8,
        .resim_ticks_max = 32,
        .resim_budget_us = 8000,
        .rollback_memory_max = (size_t)64 << 20,
        .input_hold_ms = 150,
    };
}

// The same rule as for names in messages: schema/message_check.c.
static bool name_is_valid(const char *name) {
    size_t size = 0;
    while (name != NULL && name[size] >= ' ' && name[size] <= '~' && size <= CAIRN_NAME_SIZE_MAX) {
        size++;
    }
    return name == NULL || (name[size] == '\0' && size <= CAIRN_NAME_SIZE_MAX);
}

static bool config_is_valid(const cairn_client_config *config) {
    return name_is_valid(config->room) && (uint32_t)config->mode <= CAIRN_CLIENT_HEAL &&
           config->bodies_max > 0 && config->bodies_max <= CAIRN_BODIES_MAX &&
           config->shapes_max > 0 && config->shapes_max <= CAIRN_SHAPES_MAX &&
           config->input_redundancy_ticks < CAIRN_INPUTS_HELD_MAX &&
           config->interpolation_delay_ms <= 10000 && config->extrapolation_ms_max <= 10000 &&
           config->state_size_max <= CAIRN_STATE_SIZE_MAX &&
           config->mesh_size_max <= CAIRN_STATE_SIZE_MAX && config->predict_ticks_max >= 1 &&
           config->predict_ticks_max <= 60 && config->input_delay_ms_max <= 1000 &&
           config->input_delay_ms <= 2000 && config->resim_ticks_max >= 2 &&
           config->input_hold_ms <= 10000;
}

static cairn_status create_parts(cairn_client *client) {
    const cairn_client_config *config = &client->config;
    const bool predicts = config->mode == CAIRN_CLIENT_PREDICT;
    const cairn_client_resync_config resync = {
        .repairs = predicts || config->mode == CAIRN_CLIENT_HEAL,
        .ticks_per_advance = CATCH_UP_TICKS_MAX,
        .state_memory = config->rollback_memory_max,
        .on_report = config->on_desync_report,
        .report_context = config->desync_report_context,
    };
    client->view.before = calloc(config->bodies_max, sizeof *client->view.before);
    if (client->view.before == NULL ||
        cairn_smoothing_create(&client->view.smoothing, config->bodies_max) != CAIRN_OK ||
        cairn_connection_create(&client->connection) != CAIRN_OK ||
        cairn_snapshots_create(&client->view.snapshots, CAIRN_SNAPSHOTS_MAX, config->bodies_max) !=
            CAIRN_OK ||
        cairn_snapshots_create_received(&client->view.snapshots) != CAIRN_OK ||
        cairn_shape_list_create(&client->view.shapes, config->shapes_max) != CAIRN_OK ||
        cairn_game_queue_create(&client->game.queue) != CAIRN_OK ||
        cairn_lockstep_create(&client->lockstep, config->rules, config->state_size_max) !=
            CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    client->view.meshes.size_max = config->mesh_size_max;
    client->lockstep.timeline.game_events.queue = &client->game.queue;
    client->lockstep.timeline.game_events.slot = CAIRN_SLOT_NONE;
    const bool asked = config->on_step != NULL;
    client->lockstep.timeline.on_step = asked ? config->on_step : cairn_event_queue_add_step;
    client->lockstep.timeline.step_context = asked ? config->step_context : &client->view.events;
    client->lockstep.timeline.on_correct = asked ? NULL : cairn_event_queue_add_corrected;
    client->lockstep.timeline.corrects = config->mode == CAIRN_CLIENT_PREDICT;
    cairn_client_prediction_create(client);
    const cairn_status status = cairn_client_resync_create(
        &client->resync, &resync, &client->lockstep, predicts ? &client->predict : NULL);
    return status == CAIRN_OK ? cairn_passport_read(&client->passport) : status;
}

// Resets everything that belongs to the last connection.
static void begin_connection(cairn_client *client) {
    CAIRN_ASSERT(client->connection.link != NULL && client->connection.netcode != NULL);
    cairn_client_clear_world(client);
    cairn_answers_clear(&client->answers);
    client->session = (cairn_client_session){
        .mode = cairn_client_mode_asked(client),
        .slot = CAIRN_SLOT_NONE,
        .speed = CAIRN_CLOCK_SPEED_NORMAL,
    };
    client->timing.clock = (cairn_clock){0};
    client->view.statistics = (cairn_client_snapshot_statistics){0};
    client->view.events = (cairn_event_queue){0};
    client->game = (cairn_client_game){.queue = {.ring = client->game.queue.ring}};
    client->outbox.inputs_sent = 0;
    client->outbox.inputs_late = 0;
    client->outbox.lateness_us = 0;
}

cairn_status cairn_client_create(const cairn_client_config *config, cairn_client **out) {
    CAIRN_ASSERT(config != NULL && out != NULL);
    *out = NULL;
    if (!config_is_valid(config)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    client->config = *config;
    snprintf(client->room, sizeof client->room, "%s", config->room == NULL ? "" : config->room);
    client->config.room = client->room;
    const uint64_t mode = cairn_float_set_default();
    const cairn_status status = create_parts(client);
    cairn_float_leave(mode);
    if (status != CAIRN_OK) {
        cairn_client_destroy(client);
        return status;
    }
    begin_connection(client);
    CAIRN_ASSERT(client->connection.state == CAIRN_CLIENT_IDLE);
    *out = client;
    return CAIRN_OK;
}

void cairn_client_destroy(cairn_client *client) {
    if (client == NULL) {
        return;
    }
    cairn_client_resync_destroy(&client->resync);
    cairn_answers_clear(&client->answers);
    cairn_predict_destroy(&client->predict);
    cairn_lockstep_destroy(&client->lockstep);
    cairn_shape_list_destroy(&client->view.shapes);
    cairn_game_queue_destroy(&client->game.queue);
    cairn_mesh_list_destroy(&client->view.meshes);
    cairn_snapshots_destroy(&client->view.snapshots);
    cairn_smoothing_destroy(&client->view.smoothing);
    free(client->view.before);
    cairn_connection_destroy(&client->connection);
    free(client);
}

bool cairn_client_connect(cairn_client *client, uint64_t now_ns, uint64_t now_unix_s,
    const uint8_t token[CAIRN_CONNECT_TOKEN_SIZE]) {
    CAIRN_ASSERT(client != NULL && token != NULL);
    begin_connection(client);
    return cairn_connection_open(&client->connection, now_ns, now_unix_s, token);
}

void cairn_client_disconnect(cairn_client *client, uint64_t now_ns) {
    CAIRN_ASSERT(client != NULL);
    cairn_connection_close(&client->connection, now_ns);
}

cairn_client_state cairn_client_state_read(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return client->connection.state;
}

const char *cairn_client_failure_text(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return client->connection.failure;
}

cairn_client_mode cairn_client_mode_now(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL && client->session.mode <= CAIRN_MODE_HEAL);
    return (cairn_client_mode)client->session.mode;
}

const char *cairn_client_mode_text(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return client->session.mode_text;
}

cairn_address cairn_client_server_address(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return cairn_netcode_client_server(client->connection.netcode);
}

static void follow_handshake(cairn_client *client, uint64_t now_ns) {
    if (cairn_connection_follow_handshake(&client->connection, now_ns)) {
        const bool sent = cairn_client_send_hello(client, client->session.mode);
        CAIRN_ASSERT(sent); // it is the first message of its stream
    }
}

static void receive(cairn_client *client, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size) {
    cairn_connection *connection = &client->connection;
    size_t payload_size = 0;
    const uint8_t *payload =
        cairn_connection_receive(connection, now_ns, from, bytes, size, &payload_size);
    follow_handshake(client, now_ns);
    if (payload == NULL || !cairn_connection_is_open(connection)) {
        return; // netcode counts why
    }
    cairn_link_message message;
    const bool taken = cairn_link_receive(connection->link, now_ns, payload, payload_size) ==
                       CAIRN_LINK_TAKEN; // the link counts why not
    while (taken && cairn_link_next_message(connection->link, &message)) {
        cairn_client_take_message(client, now_ns, &message);
    }
    if (cairn_connection_is_open(connection) && cairn_link_failed(connection->link)) {
        cairn_connection_fail(connection, now_ns, CAIRN_CONNECTION_BROKEN,
            "the server sent an impossible frame, or takes smaller messages than this client "
            "sends");
    }
}

void cairn_client_receive(cairn_client *client, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(client != NULL && from != NULL && (bytes != NULL || size == 0));
    const uint64_t mode = cairn_float_set_default();
    receive(client, now_ns, from, bytes, size);
    cairn_float_leave(mode);
}

void cairn_client_path_changed(cairn_client *client, uint64_t now_ns) {
    CAIRN_ASSERT(client != NULL);
    cairn_netcode_client_path_changed(client->connection.netcode, now_ns);
}

static void step_world(cairn_client *client, uint64_t now_ns) {
    if (cairn_client_predicts(client)) {
        cairn_client_prediction_advance(client, now_ns);
    } else if (cairn_client_simulates(client)) {
        const double shown_tick =
            cairn_interpolation_tick(&client->view.interpolation, &client->timing.clock, now_ns);
        const cairn_client_config *config = &client->config;
        const cairn_lockstep_budget budget = {
            .ticks_max = cairn_client_resync_steps_max(&client->resync, CATCH_UP_TICKS_MAX),
            .time_ns = (uint64_t)config->resim_budget_us * 1000,
            .clock_ns = config->clock_ns,
            .clock_context = config->clock_context};
        cairn_lockstep_advance(&client->lockstep, shown_tick, &budget);
    }
}

static void advance(cairn_client *client, uint64_t now_ns) {
    cairn_netcode_client_advance(client->connection.netcode, now_ns);
    follow_handshake(client, now_ns);
    client->timing.advanced_ns = now_ns;
    cairn_client_session *session = &client->session;
    if (!cairn_connection_is_open(&client->connection) || !session->welcomed) {
        return;
    }
    cairn_clock_advance(&client->timing.clock, now_ns);
    cairn_interpolation_advance(&client->view.interpolation, &client->timing.clock, now_ns);
    cairn_client_make_inputs(client, now_ns);
    step_world(client, now_ns);
    const bool simulates = cairn_client_simulates(client);
    cairn_client_resync_advance(&client->resync, now_ns, simulates, session->tick_rate_hz);
    const bool gave_up = client->resync.repair.given_up_text != NULL;
    if (simulates && gave_up && !session->snapshots_requested) {
        session->snapshots_requested = cairn_client_send_hello(client, CAIRN_MODE_INTERPOLATE);
    }
    cairn_client_note_roots(client);
}

void cairn_client_advance(cairn_client *client, uint64_t now_ns) {
    CAIRN_ASSERT(client != NULL);
    const uint64_t mode = cairn_float_set_default();
    advance(client, now_ns);
    cairn_float_leave(mode);
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

uint64_t cairn_client_deadline_ns(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    const cairn_connection *connection = &client->connection;
    uint64_t deadline_ns = cairn_netcode_client_deadline_ns(connection->netcode);
    if (!cairn_connection_is_open(connection)) {
        return deadline_ns;
    }
    deadline_ns = earlier(deadline_ns, cairn_link_deadline_ns(connection->link));
    if (client->session.welcomed) {
        const uint64_t tick_ns = CAIRN_NS_PER_S / client->session.tick_rate_hz;
        const uint64_t rest_ns = cairn_client_prediction_rest_ns(client);
        deadline_ns = earlier(deadline_ns, client->timing.advanced_ns + earlier(tick_ns, rest_ns));
    }
    return deadline_ns;
}

size_t cairn_client_send(
    cairn_client *client, uint64_t now_ns, uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX]) {
    CAIRN_ASSERT(client != NULL && bytes != NULL);
    cairn_connection *connection = &client->connection;
    size_t size = cairn_connection_next_datagram(connection, now_ns, bytes);
    while (size == 0 && cairn_connection_is_open(connection) &&
           cairn_client_outbox_next(client, now_ns)) {
        size = cairn_connection_next_datagram(connection, now_ns, bytes);
    }
    return size;
}

static bool all_in_unit_range(const float values[3]) {
    for (int i = 0; i < 3; i++) {
        if (!(values[i] >= -1.0f && values[i] <= 1.0f)) { // false for NaN as well
            return false;
        }
    }
    return true;
}

static bool has_slot(const cairn_client *client) {
    return cairn_connection_is_open(&client->connection) && client->session.welcomed &&
           client->session.slot != CAIRN_SLOT_NONE;
}

bool cairn_client_push_input(cairn_client *client, const cairn_client_input *input) {
    CAIRN_ASSERT(client != NULL && input != NULL);
    if (!has_slot(client) || client->session.input_field_count > 0 ||
        !all_in_unit_range(input->move) || !all_in_unit_range(input->aim)) {
        return false;
    }
    // Adding zero turns -0 into 0, because no state of a world may hold -0.
    client->outbox.inputs.held[0] = (cairn_wire_input){
        .buttons = input->buttons,
        .move = {input->move[0] + 0.0f, input->move[1] + 0.0f, input->move[2] + 0.0f},
        .aim = {input->aim[0] + 0.0f, input->aim[1] + 0.0f, input->aim[2] + 0.0f},
    };
    return true;
}

bool cairn_client_push_game_input(cairn_client *client, const void *input, uint32_t size) {
    CAIRN_ASSERT(client != NULL && (input != NULL || size == 0));
    const cairn_client_session *session = &client->session;
    const uint32_t count = session->input_field_count;
    cairn_command packed[CAIRN_INPUT_COMMANDS_MAX];
    if (!has_slot(client) || count == 0 || size != 4 * count ||
        cairn_input_pack(session->input_fields, count, input, packed) != CAIRN_INPUT_TAKEN) {
        return false;
    }
    for (uint32_t i = 0; i < client->outbox.inputs.parts; i++) {
        client->outbox.inputs.held[i] = (cairn_wire_input){
            .buttons = packed[i].buttons, .move = packed[i].move, .aim = packed[i].aim};
    }
    return true;
}

uint32_t cairn_client_input_fields(
    const cairn_client *client, cairn_input_field out[CAIRN_INPUT_FIELDS_MAX]) {
    CAIRN_ASSERT(client != NULL && out != NULL);
    memcpy(out, client->session.input_fields, client->session.input_field_count * sizeof *out);
    return client->session.input_field_count;
}

const cairn_world *cairn_client_world(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return cairn_client_simulates(client) ? client->lockstep.timeline.world : NULL;
}

uint64_t cairn_client_confirmed_tick(const cairn_client *client) {
    CAIRN_ASSERT(client != NULL);
    return cairn_timeline_confirmed_tick(&client->lockstep.timeline);
}
