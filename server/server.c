// SPDX-License-Identifier: MIT
#include "server/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"
#include "server/view.h"

// What a client may send at once: an input message with all its inputs is well below.
#define CLIENT_MESSAGE_SIZE_MAX (8 * 1024)
// Room for a ticks message, however small the world.
#define UNRELIABLE_SIZE_MIN (32 * 1024)
#define RELIABLE_BUFFER_SIZE_MIN (64 * 1024)
// A recording loses at most this much when the machine stops.
#define RECORDED_TICKS_PER_CHUNK 64
// A keyframe this often lets a replay tell a difference to the field.
#define RECORDED_KEYFRAME_S 10
#define DRAIN_NS UINT64_C(1000000000)

cairn_server_config cairn_server_config_default(void) {
    return (cairn_server_config){
        .clients_max = 64,
        .players_max = CAIRN_SLOTS_MAX,
        .snapshot_rate_hz = 20,
        .input_window_ticks = 64,
        .catch_up_ticks_max = 4,
        .token_lifetime_s_max = 30,
    };
}

void cairn_server_tell(cairn_server *server, cairn_log_level level, const char *name,
    uint64_t client_id, const char *detail, int64_t value) {
    if (server->config.on_event == NULL) {
        return;
    }
    const cairn_server_event event = {
        .name = name,
        .level = level,
        .tick = server->room.world == NULL ? 0 : cairn_world_tick(server->room.world),
        .client_id = client_id,
        .detail = detail,
        .value = value,
    };
    server->config.on_event(server->config.user, &event);
}

size_t cairn_server_send_reliable(
    cairn_server *server, cairn_session *session, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    cairn_status status = cairn_message_encode(server->encoder, message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    return cairn_link_send_reliable(session->link, bytes, size) == CAIRN_OK ? size : 0;
}

size_t cairn_server_send_unreliable(
    cairn_server *server, cairn_session *session, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    cairn_status status = cairn_message_encode(server->encoder, message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK || status == CAIRN_CAPACITY);
    bool sent =
        status == CAIRN_OK && cairn_link_send_unreliable(session->link, bytes, size) == CAIRN_OK;
    return sent ? size : 0;
}

static bool config_sound(const cairn_server_config *config) {
    return config->scene != NULL && config->private_key != NULL && config->entropy != NULL &&
           config->clients_max >= 1 && config->clients_max <= CAIRN_CLIENTS_MAX &&
           config->catch_up_ticks_max >= 1;
}

static cairn_status create_room(cairn_server *server) {
    const cairn_server_config *config = &server->config;
    const cairn_room_config room = {
        .scene = config->scene,
        .rules = config->rules,
        .tick_rate_hz = config->tick_rate_hz,
        .snapshot_rate_hz = config->snapshot_rate_hz == 0 ? 20 : config->snapshot_rate_hz,
        .players_max = config->players_max,
        .input_window_ticks = config->input_window_ticks,
    };
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_status status = cairn_room_create(&room, &server->room, error);
    if (status != CAIRN_OK) {
        cairn_server_tell(server, CAIRN_LOG_ERROR, "room_refused", 0, error, 0);
        return status;
    }
    server->pacing = cairn_pacing_of(config->start_ns, server->room.tick_rate_hz,
        config->catch_up_ticks_max, cairn_world_tick(server->room.world));
    return CAIRN_OK;
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

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

// A link's memory follows what the room's largest messages need.
static cairn_link_config link_config(const cairn_server *server) {
    uint64_t bodies = cairn_world_settings(server->room.world)->body_capacity;
    uint64_t keyframe = bodies * sizeof(cairn_wire_body) + 1024;
    uint32_t longest =
        keyframe > CAIRN_MESSAGE_SIZE_MAX ? CAIRN_MESSAGE_SIZE_MAX : (uint32_t)keyframe;
    cairn_link_config config = cairn_link_config_default();
    config.unreliable_size_max = within(longest, UNRELIABLE_SIZE_MIN, CAIRN_MESSAGE_SIZE_MAX);
    config.receive_size_max = CLIENT_MESSAGE_SIZE_MAX;
    config.reliable_buffer_size =
        within(2 * longest, RELIABLE_BUFFER_SIZE_MIN, 2 * CAIRN_MESSAGE_SIZE_MAX);
    return config;
}

static cairn_status create_sessions(cairn_server *server) {
    const cairn_link_config link = link_config(server);
    server->sessions = calloc(server->config.clients_max, sizeof *server->sessions);
    if (server->sessions == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        cairn_session *session = &server->sessions[i];
        session->client = i;
        session->slot = CAIRN_SLOT_NONE;
        session->patience_ns = UINT64_MAX;
        session->shapes_told = calloc(server->room.shape_capacity, sizeof *session->shapes_told);
        cairn_status status = cairn_link_create(&link, server->config.start_ns, &session->link);
        if (status != CAIRN_OK || session->shapes_told == NULL) {
            return CAIRN_OUT_OF_MEMORY;
        }
    }
    return CAIRN_OK;
}

static cairn_status create_recorder(cairn_server *server) {
    if (server->config.on_record == NULL) {
        return CAIRN_OK;
    }
    const cairn_recorder_config recorder = {
        .ticks_per_chunk = RECORDED_TICKS_PER_CHUNK,
        .commands_per_tick_max = CAIRN_INBOX_COMMANDS_MAX,
        .state_size_max = server->room.transfer.capacity,
        .scene_name = server->room.scene_name,
        .write = server->config.on_record,
        .user = server->config.user,
    };
    cairn_status status = cairn_recorder_create(&recorder, &server->recorder);
    if (status == CAIRN_OK && !cairn_recorder_start(server->recorder, server->room.world)) {
        return CAIRN_CAPACITY;
    }
    return status;
}

static cairn_status create_parts(cairn_server *server) {
    cairn_status status = create_room(server);
    if (status == CAIRN_OK) {
        status = create_netcode(server);
    }
    if (status == CAIRN_OK) {
        server->encoder = cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX);
        status = server->encoder == NULL ? CAIRN_OUT_OF_MEMORY : create_sessions(server);
    }
    return status == CAIRN_OK ? create_recorder(server) : status;
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
    // Borrowed for create alone.
    server->config.scene = NULL;
    server->config.private_key = NULL;
    server->config.entropy = NULL;
    server->config.public_addresses = NULL;
    *out = server;
    return CAIRN_OK;
}

static void end_recording(cairn_server *server) {
    if (server->recorder != NULL) {
        cairn_recorder_end(server->recorder);
    }
}

void cairn_server_destroy(cairn_server *server) {
    if (server == NULL) {
        return;
    }
    end_recording(server);
    for (uint32_t i = 0; server->sessions != NULL && i < server->config.clients_max; ++i) {
        cairn_link_destroy(server->sessions[i].link);
        free(server->sessions[i].shapes_told);
    }
    free(server->sessions);
    cairn_recorder_destroy(server->recorder);
    cairn_encoder_destroy(server->encoder);
    cairn_netcode_server_destroy(server->netcode);
    cairn_room_destroy(&server->room);
    free(server);
}

static void take_message(
    cairn_server *server, cairn_session *session, const cairn_link_message *received) {
    cairn_message message;
    cairn_decode_refusal refusal =
        cairn_message_decode(received->bytes, received->size, CAIRN_TO_SERVER, &message);
    if (refusal != CAIRN_DECODE_OK) {
        server->statistics.drops_decode[refusal] += 1;
        cairn_session_feed(server, session, CAIRN_STIMULUS_MALFORMED, NULL);
        return;
    }
    static const cairn_session_stimulus stimuli[CAIRN_MESSAGE_KIND_COUNT] = {
        [CAIRN_MESSAGE_HELLO] = CAIRN_STIMULUS_HELLO,
        [CAIRN_MESSAGE_INPUT] = CAIRN_STIMULUS_INPUT,
        [CAIRN_MESSAGE_ROOT_REPORT] = CAIRN_STIMULUS_ROOTS,
        [CAIRN_MESSAGE_DOUBT] = CAIRN_STIMULUS_MALFORMED,
        [CAIRN_MESSAGE_CONTROL] = CAIRN_STIMULUS_MALFORMED,
    };
    cairn_session_feed(server, session, stimuli[message.kind], &message);
}

// Drops that loss, duplication and reordering explain are nobody's fault; a payload that breaks
// the link's format was sealed by a client that means it.
static bool is_fault(cairn_link_drop drop) {
    return drop == CAIRN_LINK_DROP_SIZE || drop == CAIRN_LINK_DROP_KIND ||
           drop == CAIRN_LINK_DROP_FRAGMENT || drop == CAIRN_LINK_DROP_MESSAGE_SIZE;
}

static void take_payload(
    cairn_server *server, cairn_session *session, const cairn_netcode_event *event) {
    cairn_link_drop drop =
        cairn_link_receive(session->link, server->now_ns, event->payload, event->payload_size);
    if (is_fault(drop)) {
        cairn_session_feed(server, session, CAIRN_STIMULUS_MALFORMED, NULL);
    }
    cairn_link_message message;
    while (cairn_link_next_message(session->link, &message)) {
        take_message(server, session, &message);
    }
}

static void take_events(cairn_server *server) {
    cairn_netcode_event event;
    while (cairn_netcode_server_next_event(server->netcode, &event)) {
        cairn_session *session = &server->sessions[event.client];
        switch (event.kind) {
        case CAIRN_NETCODE_CONNECTED:
            session->client_id = event.client_id;
            cairn_session_feed(server, session, CAIRN_STIMULUS_CONNECT, NULL);
            break;
        case CAIRN_NETCODE_DISCONNECTED:
            session->gone = event.reason;
            cairn_session_feed(server, session, CAIRN_STIMULUS_GONE, NULL);
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

static void record_tick(cairn_server *server) {
    if (server->recorder == NULL || cairn_recorder_failed(server->recorder)) {
        return;
    }
    const cairn_room *room = &server->room;
    uint64_t tick = cairn_world_tick(room->world);
    uint32_t count;
    const cairn_command *commands = cairn_history_commands(room->history, tick - 1, &count);
    cairn_recorder_tick(server->recorder, tick - 1, commands, count, room->hash.full);
    if (tick % (RECORDED_KEYFRAME_S * room->tick_rate_hz) == 0) {
        cairn_recorder_keyframe(server->recorder, room->world);
    }
    if (cairn_recorder_failed(server->recorder)) {
        cairn_server_tell(server, CAIRN_LOG_ERROR, "recording_failed", 0,
            "the recording ends here, the room goes on", 0);
    }
}

static void run_tick(cairn_server *server) {
    uint64_t (*clock_ns)(void *) = server->config.clock_ns;
    uint64_t before_ns = clock_ns == NULL ? 0 : clock_ns(server->config.user);
    cairn_room_step(&server->room);
    if (clock_ns != NULL) {
        server->statistics.tick_cost_ns_last = clock_ns(server->config.user) - before_ns;
        cairn_histogram_add(&server->tick_cost_ns, server->statistics.tick_cost_ns_last);
    }
    cairn_pacing_step(&server->pacing);
    record_tick(server);
}

static void run_turn(cairn_server *server, uint64_t now_ns) {
    uint64_t skipped = server->pacing.beats_skipped;
    uint32_t ticks = cairn_pacing_turn(&server->pacing, now_ns);
    if (ticks == 0) {
        return;
    }
    if (server->pacing.beats_skipped != skipped) {
        cairn_server_tell(server, CAIRN_LOG_WARN, "tick_overload", 0,
            "ticks were skipped, time slips", (int64_t)(server->pacing.beats_skipped - skipped));
    }
    uint64_t from = server->pacing.tick;
    for (uint32_t i = 0; i < ticks; ++i) {
        run_tick(server);
    }
    bool snapshot = cairn_room_snapshot_due(&server->room, from, server->pacing.tick);
    if (snapshot) {
        cairn_baselines_take(server->room.baselines, server->room.world, &server->room.hash);
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        cairn_view_advance(server, &server->sessions[i], snapshot);
    }
}

static void watch_session(cairn_server *server, cairn_session *session) {
    if (session->state == CAIRN_SESSION_FREE) {
        return;
    }
    if (server->now_ns >= session->patience_ns) {
        cairn_session_feed(server, session, CAIRN_STIMULUS_PATIENCE, NULL);
    } else if (cairn_link_reliable_idle(session->link)) {
        cairn_session_feed(server, session, CAIRN_STIMULUS_SETTLED, NULL);
    }
}

void cairn_server_advance(cairn_server *server, uint64_t now_ns) {
    server->now_ns = now_ns;
    cairn_netcode_server_advance(server->netcode, now_ns);
    take_events(server);
    if (server->draining) {
        return;
    }
    run_turn(server, now_ns);
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        watch_session(server, &server->sessions[i]);
    }
    take_events(server);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t cairn_server_deadline_ns(const cairn_server *server) {
    uint64_t deadline = cairn_netcode_server_deadline_ns(server->netcode);
    if (server->draining) {
        return earlier(deadline, server->drain_end_ns);
    }
    deadline = earlier(deadline, cairn_pacing_due_ns(&server->pacing, server->pacing.tick));
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        const cairn_session *session = &server->sessions[i];
        if (session->state != CAIRN_SESSION_FREE) {
            deadline = earlier(deadline, session->patience_ns);
            deadline = earlier(deadline, cairn_link_deadline_ns(session->link));
        }
    }
    return deadline;
}

// The next client's payload, sealed; each client has one turn before any has a second.
static size_t seal_next(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    for (uint32_t tried = 0; tried < server->config.clients_max; ++tried) {
        cairn_session *session = &server->sessions[server->send_next];
        server->send_next = (server->send_next + 1) % server->config.clients_max;
        if (session->state == CAIRN_SESSION_FREE) {
            continue;
        }
        uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
        size_t payload_size = cairn_link_next_payload(session->link, now_ns, payload);
        size_t size = payload_size == 0 ? 0
                                        : cairn_netcode_server_seal(server->netcode, now_ns,
                                              session->client, payload, payload_size, to, bytes);
        if (size > 0) {
            return size;
        }
    }
    return 0;
}

static size_t next_datagram(
    cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    size_t size = cairn_netcode_server_next_datagram(server->netcode, to, bytes);
    if (size > 0) {
        return size;
    }
    if (server->held_size == 0) {
        server->held_size = seal_next(server, now_ns, &server->held_to, server->held);
        size = cairn_netcode_server_next_datagram(server->netcode, to, bytes);
        if (size > 0) {
            return size;
        }
    }
    size = server->held_size;
    *to = server->held_to;
    memcpy(bytes, server->held, size);
    server->held_size = 0;
    return size;
}

size_t cairn_server_send(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    server->now_ns = now_ns;
    size_t size = next_datagram(server, now_ns, to, bytes);
    server->statistics.datagrams_sent += size > 0 ? 1 : 0;
    server->statistics.bytes_sent += size;
    server->dry = size == 0;
    return size;
}

void cairn_server_drain(cairn_server *server, uint64_t now_ns) {
    if (server->draining) {
        return;
    }
    cairn_server_tell(server, CAIRN_LOG_INFO, "draining", 0, "", 0);
    server->now_ns = now_ns;
    server->draining = true;
    server->drain_end_ns = now_ns + DRAIN_NS;
    server->dry = false;
    cairn_netcode_server_stop_admitting(server->netcode);
    cairn_netcode_server_disconnect_all(server->netcode, now_ns);
    take_events(server);
    end_recording(server);
}

bool cairn_server_drained(const cairn_server *server) {
    return server->draining && (server->dry || server->now_ns >= server->drain_end_ns);
}

static void read_sessions(const cairn_server *server, cairn_server_statistics *out) {
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        const cairn_session *session = &server->sessions[i];
        if (session->state == CAIRN_SESSION_FREE) {
            continue;
        }
        out->clients += 1;
        const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
        for (uint32_t drop = 0; drop < CAIRN_LINK_DROP_COUNT; ++drop) {
            out->drops_link[drop] += link->drops[drop];
        }
    }
}

void cairn_server_statistics_read(const cairn_server *server, cairn_server_statistics *out) {
    *out = server->statistics;
    const cairn_world_counts counts = cairn_world_counts_read(server->room.world);
    const cairn_pacing *pacing = &server->pacing;
    out->tick = cairn_world_tick(server->room.world);
    out->ticks_skipped = pacing->beats_skipped;
    out->advances_overloaded = pacing->advances_overloaded;
    out->tick_cost_ns_p50 = cairn_histogram_percentile(&server->tick_cost_ns, 500);
    out->tick_cost_ns_p99 = cairn_histogram_percentile(&server->tick_cost_ns, 990);
    out->tick_cost_ns_max = server->tick_cost_ns.max;
    out->tick_lateness_ns_p50 = cairn_histogram_percentile(&pacing->lateness_ns, 500);
    out->tick_lateness_ns_p99 = cairn_histogram_percentile(&pacing->lateness_ns, 990);
    out->tick_lateness_ns_max = pacing->lateness_ns.max;
    out->players = cairn_inbox_players(server->room.inbox);
    out->bodies = counts.bodies;
    out->bodies_awake = counts.bodies_awake;
    out->recording_bytes = server->recorder == NULL ? 0 : cairn_recorder_bytes(server->recorder);
    memcpy(
        out->drops_netcode, cairn_netcode_server_drops(server->netcode), sizeof out->drops_netcode);
    read_sessions(server, out);
}

bool cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out) {
    *out = (cairn_server_client_info){.slot = CAIRN_SLOT_NONE};
    if (client >= server->config.clients_max ||
        server->sessions[client].state == CAIRN_SESSION_FREE) {
        return false;
    }
    const cairn_session *session = &server->sessions[client];
    *out = (cairn_server_client_info){
        .connected = true,
        .welcomed =
            session->state == CAIRN_SESSION_WELCOMED || session->state == CAIRN_SESSION_PLAYING,
        .client_id = session->client_id,
        .slot = session->slot,
        .mode = session->mode,
        .link = *cairn_link_statistics_read(session->link),
    };
    return true;
}

const struct cairn_world *cairn_server_world(const cairn_server *server) {
    return server->room.world;
}
