// SPDX-License-Identifier: MIT
#include <cairn/client.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "client_lib/client_parts.h"
#include "net/token.h"

// Ticks stepped in one advance while a late joiner catches up: about ten times real time at 60
// frames a second, without a visible stall.
#define CATCH_UP_TICKS_MAX 10
#define SAMPLE_GAP_NS_MAX 250000000

_Static_assert(CAIRN_CONNECT_TOKEN_SIZE == 2048, "the public header says so");

cairn_client_config cairn_client_config_default(void) {
    return (cairn_client_config){
        .mode = CAIRN_CLIENT_INTERPOLATE,
        .bodies_max = 8192,
        .shapes_max = 16384,
        .extrapolation_ms_max = 100,
        .input_redundancy_ticks = 16,
        .state_size_max = CAIRN_STATE_SIZE_MAX,
        .input_delay_ms_max = 50,
        .predict_ticks_max = 8,
        .resim_ticks_max = 32,
        .resim_budget_us = 8000,
        .rollback_memory_max = (size_t)64 << 20,
        .input_hold_ms = 150,
    };
}

static bool prediction_check(const cairn_client_config *config) {
    return config->predict_ticks_max >= 1 && config->predict_ticks_max <= 60 &&
           config->input_delay_ms_max <= 1000 && config->input_delay_ms <= 2000 &&
           config->resim_ticks_max >= 2 && config->input_hold_ms <= 10000;
}

// As messages may carry it: schema/message_check.c.
static bool name_check(const char *name) {
    size_t size = 0;
    while (name != NULL && name[size] >= ' ' && name[size] <= '~' && size <= CAIRN_NAME_SIZE_MAX) {
        size++;
    }
    return name == NULL || (name[size] == '\0' && size <= CAIRN_NAME_SIZE_MAX);
}

static bool config_check(const cairn_client_config *config) {
    return name_check(config->room) && (uint32_t)config->mode <= CAIRN_CLIENT_HEAL &&
           config->bodies_max > 0 && config->bodies_max <= CAIRN_BODIES_MAX &&
           config->shapes_max > 0 && config->shapes_max <= CAIRN_SHAPES_MAX &&
           config->input_redundancy_ticks < CAIRN_INPUTS_HELD_MAX &&
           config->interpolation_delay_ms <= 10000 && config->extrapolation_ms_max <= 10000 &&
           config->state_size_max <= CAIRN_STATE_SIZE_MAX && prediction_check(config);
}

static bool create_parts(cairn_client *client) {
    const cairn_client_config *config = &client->config;
    cairn_link_config link = cairn_link_config_default();
    link.unreliable_size_max = 8192;
    link.reliable_buffer_size = 65536;
    link.receive_size_max = CAIRN_MESSAGE_SIZE_MAX;
    client->encoder = cairn_encoder_create(CAIRN_DIFFERENCE_SKETCH_SIZE_MAX + 4096);
    return client->encoder != NULL && cairn_netcode_client_create(&client->netcode) == CAIRN_OK &&
           cairn_link_create(&link, 0, &client->link) == CAIRN_OK &&
           cairn_snapshots_create(&client->snapshots, CAIRN_SNAPSHOTS_MAX, config->bodies_max) ==
               CAIRN_OK &&
           cairn_shape_list_create(&client->shapes, config->shapes_max) == CAIRN_OK &&
           cairn_lockstep_create(&client->lockstep, config->rules, config->state_size_max) ==
               CAIRN_OK;
}

uint32_t cairn_client_mode_asked(const cairn_client *client) {
    static const uint32_t modes[] = {
        [CAIRN_CLIENT_INTERPOLATE] = CAIRN_MODE_INTERPOLATE,
        [CAIRN_CLIENT_LOCKSTEP] = CAIRN_MODE_LOCKSTEP,
        [CAIRN_CLIENT_PREDICT] = CAIRN_MODE_PREDICT,
        [CAIRN_CLIENT_HEAL] = CAIRN_MODE_HEAL,
    };
    return modes[client->config.mode];
}

void cairn_client_clear_world(cairn_client *client) {
    cairn_snapshots_clear(&client->snapshots);
    cairn_shape_list_clear(&client->shapes);
    cairn_lockstep_clear(&client->lockstep);
    cairn_predict_clear(&client->predict);
    cairn_client_desync_report_clear(&client->desync_report);
    cairn_inputs_start(&client->inputs, client->config.input_redundancy_ticks);
    cairn_client_resync_clear(&client->resync);
    client->timing_tick = 0;
    client->snapshot_acknowledged = 0;
    client->input_due = false;
    client->report_due = false;
    client->report_tick = 0;
    client->sampled_ns = 0;
    client->shown = (cairn_client_sample){0};
    client->desync_told = UINT64_MAX;
    client->requesting_full_state = false;
}

// Everything a connection left behind goes; statistics stay until the next connect.
static void begin_anew(cairn_client *client, uint64_t now_ns) {
    cairn_link_reset(client->link, now_ns);
    cairn_client_clear_world(client);
    cairn_answers_clear(&client->answers);
    client->welcomed = false;
    client->rights = 0;
    client->paused = false;
    client->speed = CAIRN_CLOCK_SPEED_NORMAL;
    client->world_epoch = 0;
    client->mode = cairn_client_mode_asked(client);
    cairn_client_heal_clear(client);
    client->slot = CAIRN_SLOT_NONE;
    client->clock = (cairn_clock){0};
    client->sampled_ns = 0;
    client->statistics = (cairn_client_statistics){0};
}

cairn_client *cairn_client_create(const cairn_client_config *config) {
    if (!config_check(config)) {
        return NULL;
    }
    cairn_client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        return NULL;
    }
    client->config = *config;
    snprintf(client->room, sizeof client->room, "%s", config->room == NULL ? "" : config->room);
    client->config.room = client->room;
    if (!create_parts(client)) {
        cairn_client_destroy(client);
        return NULL;
    }
    cairn_client_predict_create(client);
    if (!cairn_client_heal_create(client) || cairn_passport_read(&client->passport) != CAIRN_OK) {
        cairn_client_destroy(client);
        return NULL;
    }
    cairn_client_capsule_create(client, CATCH_UP_TICKS_MAX);
    begin_anew(client, 0);
    return client;
}

void cairn_client_destroy(cairn_client *client) {
    if (client == NULL) {
        return;
    }
    cairn_client_resync_destroy(&client->resync);
    cairn_client_desync_report_clear(&client->desync_report);
    cairn_answers_clear(&client->answers);
    cairn_predict_destroy(&client->predict);
    cairn_lockstep_destroy(&client->lockstep);
    cairn_shape_list_destroy(&client->shapes);
    cairn_snapshots_destroy(&client->snapshots);
    if (client->link != NULL) {
        cairn_link_destroy(client->link);
    }
    if (client->netcode != NULL) {
        cairn_netcode_client_destroy(client->netcode);
    }
    if (client->encoder != NULL) {
        cairn_encoder_destroy(client->encoder);
    }
    free(client);
}

void cairn_client_apply_event(
    cairn_client *client, cairn_connection_event event, const char *text) {
    cairn_client_state next = cairn_connection_state_next(client->state, event);
    if (next == CAIRN_CLIENT_FAILED && client->state != next) {
        snprintf(client->failure, sizeof client->failure, "%s", text);
    }
    client->state = next;
}

void cairn_client_fail(
    cairn_client *client, uint64_t now_ns, cairn_connection_event event, const char *text) {
    cairn_client_apply_event(client, event, text);
    cairn_netcode_client_disconnect(client->netcode, now_ns);
}

bool cairn_client_connect(
    cairn_client *client, uint64_t now_ns, uint64_t now_unix_s, const uint8_t token[2048]) {
    cairn_status status = cairn_netcode_client_connect(client->netcode, now_ns, now_unix_s, token);
    client->failure[0] = '\0';
    begin_anew(client, now_ns);
    if (status != CAIRN_OK) {
        const char *text =
            cairn_connection_state_loss_text(cairn_netcode_client_state_read(client->netcode));
        cairn_client_apply_event(client, CAIRN_CONNECTION_TOKEN_REFUSED, text);
        return false;
    }
    cairn_client_apply_event(client, CAIRN_CONNECTION_CONNECT, "");
    return true;
}

void cairn_client_disconnect(cairn_client *client, uint64_t now_ns) {
    cairn_netcode_client_disconnect(client->netcode, now_ns);
    cairn_client_apply_event(client, CAIRN_CONNECTION_DISCONNECT, "");
}

cairn_client_state cairn_client_state_read(const cairn_client *client) {
    return client->state;
}

const char *cairn_client_failure_text(const cairn_client *client) {
    return client->failure;
}

cairn_address cairn_client_server_address(const cairn_client *client) {
    return cairn_netcode_client_server(client->netcode);
}

bool cairn_client_simulates(const cairn_client *client) {
    return cairn_mode_simulates(client->mode);
}

static bool connected(const cairn_client *client) {
    return client->state == CAIRN_CLIENT_JOINING || client->state == CAIRN_CLIENT_PLAYING;
}

static void follow_handshake(cairn_client *client, uint64_t now_ns) {
    cairn_netcode_client_state state = cairn_netcode_client_state_read(client->netcode);
    if (client->state == CAIRN_CLIENT_CONNECTING && state == CAIRN_NETCODE_STATE_CONNECTED) {
        cairn_link_reset(client->link, now_ns);
        cairn_client_apply_event(client, CAIRN_CONNECTION_CONNECTED, "");
        cairn_client_send_hello(client);
    }
    if (state <= CAIRN_NETCODE_STATE_DISCONNECTED) {
        cairn_client_apply_event(
            client, CAIRN_CONNECTION_LOST, cairn_connection_state_loss_text(state));
    }
}

static void take_payload(
    cairn_client *client, uint64_t now_ns, const uint8_t *payload, size_t size) {
    cairn_link_message message;
    if (cairn_link_receive(client->link, now_ns, payload, size) != CAIRN_LINK_TAKEN) {
        return; // the link counted why
    }
    while (cairn_link_next_message(client->link, &message)) {
        cairn_client_take_message(client, now_ns, &message);
    }
}

void cairn_client_receive(cairn_client *client, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size) {
    client->statistics.datagrams_received++;
    client->statistics.bytes_received += size;
    cairn_netcode_client_receive(client->netcode, now_ns, from, bytes, size);
    size_t payload_size = 0;
    const uint8_t *payload = cairn_netcode_client_next_payload(client->netcode, &payload_size);
    follow_handshake(client, now_ns);
    if (payload != NULL && connected(client)) {
        take_payload(client, now_ns, payload, payload_size);
    }
}

static double show_tick(const cairn_client *client, uint64_t now_ns) {
    return cairn_interpolation_tick(&client->interpolation, &client->clock, now_ns);
}

void cairn_client_advance(cairn_client *client, uint64_t now_ns) {
    cairn_netcode_client_advance(client->netcode, now_ns);
    follow_handshake(client, now_ns);
    client->advanced_ns = now_ns;
    if (!connected(client) || !client->welcomed) {
        return;
    }
    cairn_clock_advance(&client->clock, now_ns);
    cairn_interpolation_advance(&client->interpolation, &client->clock, now_ns);
    cairn_client_make_inputs(client, now_ns);
    if (cairn_client_predicts(client)) {
        cairn_client_predict_advance(client, now_ns);
        cairn_client_capsule_watch(client, now_ns);
        cairn_client_watch_difference(client);
    } else if (cairn_client_simulates(client)) {
        cairn_lockstep_advance(&client->lockstep, show_tick(client, now_ns),
            cairn_client_heal_ticks_max(client, CATCH_UP_TICKS_MAX));
        cairn_client_capsule_watch(client, now_ns);
    }
    cairn_client_heal_advance(client, now_ns);
    cairn_client_desync_report_advance(&client->desync_report, now_ns);
    cairn_client_note_report(client);
}

static uint64_t earlier(uint64_t a_ns, uint64_t b_ns) {
    return a_ns < b_ns ? a_ns : b_ns;
}

uint64_t cairn_client_deadline_ns(const cairn_client *client) {
    uint64_t deadline_ns = cairn_netcode_client_deadline_ns(client->netcode);
    if (!connected(client)) {
        return deadline_ns;
    }
    deadline_ns = earlier(deadline_ns, cairn_link_deadline_ns(client->link));
    if (client->welcomed) {
        uint64_t tick_ns = 1000000000u / client->tick_rate_hz;
        uint64_t rest_ns = cairn_client_predict_rest_ns(client);
        deadline_ns = earlier(deadline_ns, client->advanced_ns + earlier(tick_ns, rest_ns));
    }
    return deadline_ns;
}

static size_t send_payload(cairn_client *client, uint64_t now_ns, uint8_t *bytes) {
    uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    size_t size = cairn_link_next_payload(client->link, now_ns, payload);
    while (size == 0 && cairn_client_outbox_next(client, now_ns)) {
        size = cairn_link_next_payload(client->link, now_ns, payload);
    }
    cairn_address to;
    return size > 0
               ? cairn_netcode_client_encrypt(client->netcode, now_ns, payload, size, &to, bytes)
               : 0;
}

size_t cairn_client_send(cairn_client *client, uint64_t now_ns, uint8_t *bytes) {
    cairn_address to;
    size_t size = cairn_netcode_client_next_datagram(client->netcode, &to, bytes);
    if (size == 0 && connected(client)) {
        size = send_payload(client, now_ns, bytes);
    }
    client->statistics.datagrams_sent += size > 0 ? 1 : 0;
    client->statistics.bytes_sent += size;
    return size;
}

static bool in_range(const float values[3]) {
    for (int i = 0; i < 3; i++) {
        if (!(values[i] >= -1.0f && values[i] <= 1.0f)) { // false for NaN as well
            return false;
        }
    }
    return true;
}

bool cairn_client_push_input(cairn_client *client, const cairn_client_input *input) {
    bool has_slot = connected(client) && client->welcomed && client->slot != CAIRN_SLOT_NONE;
    if (!has_slot || !in_range(input->move) || !in_range(input->aim)) {
        return false;
    }
    // Adding zero turns -0 into 0, which is all the world knows.
    client->inputs.held = (cairn_wire_input){
        .buttons = input->buttons,
        .move = {input->move[0] + 0.0f, input->move[1] + 0.0f, input->move[2] + 0.0f},
        .aim = {input->aim[0] + 0.0f, input->aim[1] + 0.0f, input->aim[2] + 0.0f},
    };
    return true;
}

static void count_extrapolation(
    cairn_client *client, uint64_t now_ns, const cairn_client_sample *sample) {
    uint64_t since_ns = now_ns > client->sampled_ns ? now_ns - client->sampled_ns : 0;
    bool counts = sample->extrapolated && client->sampled_ns > 0 && since_ns < SAMPLE_GAP_NS_MAX;
    client->statistics.extrapolated_ns += counts ? since_ns : 0;
    client->sampled_ns = now_ns;
}

bool cairn_client_sample_world(cairn_client *client, uint64_t now_ns, cairn_client_body *bodies,
    uint32_t body_capacity, cairn_client_sample *out) {
    *out = (cairn_client_sample){0};
    bool lockstep = cairn_client_simulates(client);
    // Who was moved down shows its last steps until the first snapshot is there.
    const bool steps = lockstep || client->snapshots.count == 0;
    const cairn_snapshots *snapshots = steps ? &client->lockstep.snapshots : &client->snapshots;
    if (!client->welcomed || (snapshots->count == 0 && !client->predict.open)) {
        return false;
    }
    if (cairn_client_predicts(client)) {
        return cairn_client_predict_sample(client, now_ns, bodies, body_capacity, out);
    }
    // A lockstep world is never guessed: past the last confirmed step it stands still.
    double tick_ns = 1e9 / client->tick_rate_hz;
    double beyond = lockstep ? 0 : (double)client->interpolation.extrapolation_ns_max / tick_ns;
    bool shown = cairn_interpolate(
        snapshots, show_tick(client, now_ns), tick_ns, beyond, bodies, body_capacity, out);
    count_extrapolation(client, now_ns, out);
    client->shown = *out;
    return shown;
}

static cairn_client_shape shape_of_wire(const cairn_snapshot_shape *shape) {
    const cairn_vec3 half = shape->half_extents;
    const cairn_vec3 at = shape->position;
    const cairn_quat turn = shape->rotation;
    return (cairn_client_shape){
        .id = shape->id,
        .body = shape->body,
        .kind = shape->kind,
        .half_extents = {half.x, half.y, half.z},
        .radius = shape->radius,
        .half_height = shape->half_height,
        .position = {at.x, at.y, at.z},
        .rotation = {turn.x, turn.y, turn.z, turn.w},
    };
}

static uint32_t lockstep_shapes(
    const cairn_lockstep *lockstep, cairn_client_shape *out, uint32_t capacity) {
    for (uint32_t i = 0; i < lockstep->shape_count && i < capacity; i++) {
        cairn_snapshot_shape shape;
        bool exists =
            cairn_snapshot_shape_read(lockstep->timeline.world, lockstep->shape_ids[0][i], &shape);
        CAIRN_ASSERT(exists);
        out[i] = shape_of_wire(&shape);
    }
    return lockstep->shape_count;
}

uint32_t cairn_client_shape_corners(
    const cairn_client *client, uint32_t shape, float (*out)[3], uint32_t capacity) {
    cairn_vec3 own[CAIRN_HULL_VERTICES_MAX];
    const cairn_vec3 *corners = own;
    uint32_t count = 0;
    if (!cairn_client_simulates(client)) {
        const cairn_shape_hull *hull = cairn_shape_list_hull(&client->shapes, shape);
        count = hull == NULL ? 0 : hull->count;
        corners = hull == NULL ? own : hull->corners;
    } else if (client->lockstep.timeline.world != NULL) {
        count = cairn_shape_corners_read(client->lockstep.timeline.world, shape, own);
    }
    for (uint32_t i = 0; i < count && i < capacity; i++) {
        out[i][0] = corners[i].x;
        out[i][1] = corners[i].y;
        out[i][2] = corners[i].z;
    }
    return count;
}

uint32_t cairn_client_shapes(
    const cairn_client *client, cairn_client_shape *out, uint32_t capacity, uint32_t *revision) {
    bool lockstep = cairn_client_simulates(client);
    const cairn_shape_list *list = &client->shapes;
    if (revision != NULL) {
        *revision = lockstep ? client->lockstep.shape_revision : list->revision;
    }
    if (lockstep) {
        return lockstep_shapes(&client->lockstep, out, capacity);
    }
    for (uint32_t i = 0; i < list->count && i < capacity; i++) {
        out[i] = shape_of_wire(&list->shapes[i]);
    }
    return list->count;
}

const cairn_world *cairn_client_world(const cairn_client *client) {
    return cairn_client_simulates(client) ? client->lockstep.timeline.world : NULL;
}
