// SPDX-License-Identifier: MIT
#include <cairn/server.h>

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/user_data.h"
#include "server/control/control.h"
#include "server/room/room_table.h"
#include "server/room/tick_batch.h"
#include "server/server_parts.h"

#define DRAIN_NS UINT64_C(1000000000)

cairn_server_config cairn_server_config_default(void) {
    return (cairn_server_config){
        .clients_max = 64,
        .rooms_max = 16,
        .room_name = CAIRN_ROOM_NAME_DEFAULT,
        .players_max = CAIRN_SLOTS_MAX,
        .input_window_ticks = 64,
        .catch_up_ticks_max = 4,
        .token_lifetime_s_max = 30,
    };
}

void cairn_server_emit_event(cairn_server *server, const cairn_room *room, cairn_log_level level,
    const char *name, uint64_t client_id, const char *detail, int64_t value) {
    if (server->config.on_event == NULL) {
        return;
    }
    const cairn_server_event event = {
        .name = name,
        .level = level,
        .room = room == NULL ? "" : room->name,
        .tick = room == NULL ? 0 : room->scheduler.tick,
        .client_id = client_id,
        .detail = detail,
        .value = value,
    };
    server->config.on_event(server->config.user, &event);
}

static bool config_sound(const cairn_server_config *config) {
    return config->private_key != NULL && config->entropy != NULL && config->clients_max >= 1 &&
           config->clients_max <= CAIRN_CLIENTS_MAX && config->rooms_max >= 1 &&
           config->rooms_max <= CAIRN_ROOMS_MAX;
}

static cairn_status create_netcode(cairn_server *server) {
    const cairn_server_config *config = &server->config;
    cairn_netcode_server_config netcode = cairn_netcode_server_config_default();
    netcode.protocol_id = config->protocol_id;
    netcode.private_key = config->private_key;
    netcode.entropy = config->entropy;
    netcode.public_addresses = config->public_addresses;
    netcode.public_address_count = config->public_address_count;
    netcode.clients_max = config->clients_max;
    netcode.start_ns = config->start_ns;
    netcode.start_unix_s = config->start_unix_s;
    netcode.token_lifetime_s_max = config->token_lifetime_s_max;
    return cairn_netcode_server_create(&netcode, &server->netcode);
}

static cairn_status create_sessions(cairn_server *server) {
    server->sessions = calloc(server->config.clients_max, sizeof *server->sessions);
    if (server->sessions == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        cairn_session *session = &server->sessions[i];
        session->client = i;
        session->slot = CAIRN_SLOT_NONE;
        session->timeout_ns = UINT64_MAX;
    }
    return CAIRN_OK;
}

static cairn_status create_first_room(cairn_server *server) {
    const cairn_server_config *config = &server->config;
    if (config->scene == NULL) {
        return CAIRN_OK;
    }
    cairn_server_room_config room = cairn_server_room_config_default();
    room.name = config->room_name;
    room.scene = config->scene;
    room.rules = config->rules;
    room.tick_rate_hz = config->tick_rate_hz;
    room.snapshot_rate_hz = config->snapshot_rate_hz;
    room.players_max = config->players_max;
    room.input_window_ticks = config->input_window_ticks;
    room.catch_up_ticks_max = config->catch_up_ticks_max;
    room.wait_ms = config->wait_ms;
    uint32_t id;
    const cairn_server_room_refusal refusal =
        cairn_server_room_create(server, config->start_ns, &room, &id, NULL);
    CAIRN_ASSERT(refusal != CAIRN_ROOM_CREATED || id == CAIRN_ROOM_MAIN);
    return refusal == CAIRN_ROOM_CREATED          ? CAIRN_OK
           : refusal == CAIRN_ROOM_REFUSED_MEMORY ? CAIRN_OUT_OF_MEMORY
                                                  : CAIRN_INVALID_ARGUMENT;
}

static cairn_status create_parts(cairn_server *server) {
    cairn_status status = cairn_passport_read(&server->passport);
    if (status == CAIRN_OK) {
        status = create_netcode(server);
    }
    if (status == CAIRN_OK) {
        server->encoder = cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX);
        status = server->encoder == NULL || !cairn_room_table_create(server) ||
                         !cairn_control_open(server)
                     ? CAIRN_OUT_OF_MEMORY
                     : create_sessions(server);
    }
    return status == CAIRN_OK ? create_first_room(server) : status;
}

cairn_status cairn_server_create(const cairn_server_config *config, cairn_server **out) {
    *out = NULL;
    if (!config_sound(config)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    server->config = *config;
    server->now_ns = config->start_ns;
    cairn_status status = create_parts(server);
    if (status != CAIRN_OK) {
        cairn_server_destroy(server);
        return status;
    }
    // Everybody else's clients would be found unfit.
    if (server->passport.faults != 0) {
        cairn_server_emit_event(server, NULL, CAIRN_LOG_ERROR, "passport_unfit", 0,
            cairn_passport_fault_words(server->passport.faults), server->passport.faults);
    }
    // Borrowed for create alone.
    server->config.scene = NULL;
    server->config.room_name = NULL;
    server->config.private_key = NULL;
    server->config.entropy = NULL;
    server->config.public_addresses = NULL;
    *out = server;
    return CAIRN_OK;
}

void cairn_server_destroy(cairn_server *server) {
    if (server == NULL) {
        return;
    }
    cairn_room_table_destroy(server);
    cairn_control_close(server);
    for (uint32_t i = 0; server->sessions != NULL && i < server->config.clients_max; ++i) {
        cairn_link_destroy(server->sessions[i].link);
        free(server->sessions[i].shapes_told);
        cairn_link_conditioner_destroy(server->sessions[i].faults_in);
        cairn_link_conditioner_destroy(server->sessions[i].faults_out);
    }
    free(server->sessions);
    cairn_encoder_destroy(server->encoder);
    cairn_netcode_server_destroy(server->netcode);
    free(server);
}

static void take_message(
    cairn_server *server, cairn_session *session, const cairn_link_message *received) {
    cairn_message message;
    cairn_decode_refusal refusal =
        cairn_message_decode(received->bytes, received->size, CAIRN_TO_SERVER, &message);
    if (refusal != CAIRN_DECODE_OK) {
        server->statistics.drops_decode[refusal] += 1;
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_MALFORMED, NULL);
        return;
    }
    static const cairn_session_event events[CAIRN_MESSAGE_KIND_COUNT] = {
        [CAIRN_MESSAGE_HELLO] = CAIRN_SESSION_EVENT_HELLO,
        [CAIRN_MESSAGE_INPUT] = CAIRN_SESSION_EVENT_INPUT,
        [CAIRN_MESSAGE_ROOT_REPORT] = CAIRN_SESSION_EVENT_ROOTS,
        [CAIRN_MESSAGE_RESYNC_REQUEST] = CAIRN_SESSION_EVENT_RESYNC_REQUEST,
        [CAIRN_MESSAGE_CONTROL] = CAIRN_SESSION_EVENT_CONTROL,
    };
    cairn_session_dispatch(server, session, events[message.kind], &message);
}

// Drops that loss, duplication and reordering explain are nobody's fault; a payload that breaks
// the link's format was sealed by a client that means it.
static bool is_fault(cairn_link_drop drop) {
    return drop == CAIRN_LINK_DROP_SIZE || drop == CAIRN_LINK_DROP_KIND ||
           drop == CAIRN_LINK_DROP_FRAGMENT || drop == CAIRN_LINK_DROP_MESSAGE_SIZE;
}

static void hear(
    cairn_server *server, cairn_session *session, const uint8_t *payload, size_t size) {
    session->received_ns = server->now_ns;
    cairn_link_drop drop = cairn_link_receive(session->link, server->now_ns, payload, size);
    if (is_fault(drop)) {
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_MALFORMED, NULL);
    }
    cairn_link_message message;
    while (session->link != NULL && cairn_link_next_message(session->link, &message)) {
        take_message(server, session, &message);
    }
}

static void take_payload(
    cairn_server *server, cairn_session *session, const cairn_netcode_event *event) {
    if (session->link == NULL) {
        return;
    }
    if (session->faults_in != NULL) {
        cairn_link_conditioner_put(
            session->faults_in, server->now_ns, event->payload, event->payload_size);
    } else {
        hear(server, session, event->payload, event->payload_size);
    }
}

// What was held up by an operator's wish and has arrived by now.
static void hear_faulty(cairn_server *server, cairn_session *session) {
    _Alignas(8) uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    size_t size;
    while (session->faults_in != NULL &&
           (size = cairn_link_conditioner_take(session->faults_in, server->now_ns, payload)) > 0) {
        hear(server, session, payload, size);
    }
}

static void take_events(cairn_server *server) {
    cairn_netcode_event event;
    while (cairn_netcode_server_next_event(server->netcode, &event)) {
        cairn_session *session = &server->sessions[event.client];
        switch (event.kind) {
        case CAIRN_NETCODE_CONNECTED:
            session->client_id = event.client_id;
            session->rights = cairn_user_data_rights(event.user_data);
            cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_CONNECT, NULL);
            break;
        case CAIRN_NETCODE_DISCONNECTED:
            session->gone = event.reason;
            cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_DISCONNECT, NULL);
            break;
        case CAIRN_NETCODE_PAYLOAD:
            take_payload(server, session, &event);
            break;
        }
    }
}

void cairn_server_receive(cairn_server *server, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size) {
    server->now_ns = now_ns;
    server->statistics.datagrams_received += 1;
    server->statistics.bytes_received += size;
    cairn_netcode_server_receive(server->netcode, now_ns, from, bytes, size);
    take_events(server);
}

static void watch_session(cairn_server *server, cairn_session *session) {
    if (session->state == CAIRN_SESSION_FREE) {
        return;
    }
    hear_faulty(server, session);
    if (server->now_ns >= session->timeout_ns) {
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_TIMEOUT, NULL);
    } else if (cairn_link_reliable_idle(session->link)) {
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_ALL_ACKNOWLEDGED, NULL);
    }
}

void cairn_server_advance(cairn_server *server, uint64_t now_ns) {
    server->now_ns = now_ns;
    cairn_netcode_server_advance(server->netcode, now_ns);
    take_events(server);
    if (server->draining) {
        return;
    }
    cairn_control_advance(server);
    for (uint32_t i = 0; i < server->room_count; ++i) {
        if (!server->rooms[i]->closing) {
            cairn_tick_batch_run(server, server->rooms[i], now_ns);
        }
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        watch_session(server, &server->sessions[i]);
    }
    take_events(server);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t faults_due_ns(const cairn_session *session) {
    return session->faults_in == NULL ? UINT64_MAX
                                      : earlier(cairn_link_conditioner_due_ns(session->faults_in),
                                            cairn_link_conditioner_due_ns(session->faults_out));
}

uint64_t cairn_server_deadline_ns(const cairn_server *server) {
    uint64_t deadline = cairn_netcode_server_deadline_ns(server->netcode);
    if (server->draining) {
        return earlier(deadline, server->drain_end_ns);
    }
    deadline = earlier(deadline, cairn_control_due_ns(server));
    for (uint32_t i = 0; i < server->room_count; ++i) {
        if (!server->rooms[i]->closing) {
            deadline = earlier(deadline, cairn_tick_batch_due_ns(server->rooms[i]));
        }
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        const cairn_session *session = &server->sessions[i];
        if (session->state != CAIRN_SESSION_FREE) {
            deadline = earlier(deadline, session->timeout_ns);
            deadline = earlier(deadline, cairn_link_deadline_ns(session->link));
            deadline = earlier(deadline, faults_due_ns(session));
        }
    }
    return deadline;
}

void cairn_server_drain(cairn_server *server, uint64_t now_ns) {
    if (server->draining) {
        return;
    }
    cairn_server_emit_event(server, NULL, CAIRN_LOG_INFO, "draining", 0, "", 0);
    server->now_ns = now_ns;
    server->draining = true;
    server->drain_end_ns = now_ns + DRAIN_NS;
    server->dry = false;
    cairn_netcode_server_stop_admitting(server->netcode);
    cairn_netcode_server_disconnect_all(server->netcode, now_ns);
    take_events(server);
    cairn_room_table_end_recordings(server);
}

uint32_t cairn_server_jobs_out(const cairn_server *server) {
    return server->jobs_out;
}

bool cairn_server_drained(const cairn_server *server) {
    return server->draining &&
           ((server->dry && server->jobs_out == 0) || server->now_ns >= server->drain_end_ns);
}

bool cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out) {
    *out = (cairn_server_client_info){.slot = CAIRN_SLOT_NONE};
    if (client >= server->config.clients_max ||
        server->sessions[client].state == CAIRN_SESSION_FREE) {
        return false;
    }
    const cairn_session *session = &server->sessions[client];
    const cairn_input_wait_slot *slot =
        session->slot == CAIRN_SLOT_NONE ? NULL : &session->room->input_wait.slots[session->slot];
    *out = (cairn_server_client_info){
        .connected = true,
        .welcomed =
            session->state == CAIRN_SESSION_WELCOMED || session->state == CAIRN_SESSION_PLAYING,
        .client_id = session->client_id,
        .room = session->room == NULL ? 0 : session->room->id,
        .slot = session->slot,
        .mode = session->mode,
        .stalls = slot == NULL ? 0 : slot->stalls,
        .stalled_ns = slot == NULL ? 0 : slot->stalled_ns,
        .link = *cairn_link_statistics_read(session->link),
    };
    return true;
}
