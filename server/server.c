// SPDX-License-Identifier: MIT
#include <cairn/server.h>

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/crypto.h"
#include "server/control/queue.h"
#include "server/core/server_state.h"
#include "server/server_rooms.h"
#include "server/session_dispatch.h"
#include "server/tick_batch.h"
#include "sim/math/float_env.h"
#include <cairn/token.h>

#define DRAIN_NS CAIRN_NS_PER_S
// Datagrams that a client is sent in a row while others wait.
#define SEND_RUN_MAX 8
// A client that acknowledges nothing of its reliable stream for this long is disconnected.
#define STREAM_STALL_NS (30 * CAIRN_NS_PER_S)
// How often the wall clock is read, and which difference from the driver's clock is a jump.
#define CLOCK_INTERVAL_NS CAIRN_NS_PER_S
#define CLOCK_JUMP_NS CAIRN_NS_PER_S
// Genuine tokens refused by their times, in a row, before the clock is suspected, and how often to
// say so.
#define SUSPECT_TOKENS 8
#define SUSPECT_INTERVAL_NS (60 * CAIRN_NS_PER_S)
// Of the keys derived from the config's entropy. net/netcode_server.c has the others.
#define KEY_SKIPS 100
// Budgets of clients that left, for each place of a client.
#define BUDGETS_PER_CLIENT 4
// The tick rate that counts for clients in no room.
#define USUAL_TICK_RATE_HZ 60
// How much longer recordings may take.
#define DRAIN_TASKS_NS (9 * CAIRN_NS_PER_S)

cairn_server_config cairn_server_config_default(void) {
    return (cairn_server_config){
        .protocol_id = CAIRN_PROTOCOL_ID_DEFAULT,
        .clients_max = 64,
        .rooms_max = 16,
        .first_room = cairn_server_room_config_default(),
        .token_lifetime_s_max = 30,
        .token_timeout_s_max = 60,
        .inline_step_us_max = 200,
        .recording_waiting_bytes_max = (size_t)32 << 20,
        .segment_s = 2,
    };
}

static bool config_is_valid(const cairn_server_config *config) {
    return config->private_key != NULL && config->entropy != NULL && config->clients_max >= 1 &&
           config->clients_max <= CAIRN_CLIENTS_MAX && config->rooms_max >= 1 &&
           config->rooms_max <= CAIRN_ROOMS_MAX &&
           (config->on_segment == NULL ||
               (config->segment_s >= 1 && config->segment_s <= CAIRN_SEGMENT_SECONDS_MAX));
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
    netcode.start_unix_ns = config->start_unix_ns;
    netcode.token_lifetime_s_max = config->token_lifetime_s_max;
    netcode.token_timeout_s_max = config->token_timeout_s_max;
    return cairn_netcode_server_create(&netcode, &server->context.netcode);
}

static cairn_status create_sessions(cairn_server *server) {
    const uint32_t count = server->config.clients_max;
    CAIRN_ASSERT(count >= 1 && count <= CAIRN_CLIENTS_MAX);
    server->sessions = calloc(count, sizeof *server->sessions);
    server->features = calloc(count, sizeof *server->features);
    server->due_ns = calloc(count, sizeof *server->due_ns);
    if (server->sessions == NULL || server->features == NULL || server->due_ns == NULL ||
        !cairn_budget_ledger_create(BUDGETS_PER_CLIENT * count, &server->budgets)) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        server->due_ns[i] = UINT64_MAX;
        server->sessions[i] = (cairn_session){
            .client = i,
            .due_ns = &server->due_ns[i],
            .slot = CAIRN_SLOT_NONE,
            .timeout_ns = UINT64_MAX,
            .replication = &server->features[i].replication,
            .lag = &server->features[i].lag,
            .resync = &server->features[i].resync,
        };
    }
    return CAIRN_OK;
}

static cairn_status create_first_room(cairn_server *server) {
    const cairn_server_config *config = &server->config;
    CAIRN_ASSERT(server->rooms.count == 0);
    if (config->first_room.scene == NULL) {
        return CAIRN_OK;
    }
    uint32_t id;
    const cairn_server_room_refusal refusal =
        cairn_server_room_create(server, config->start_ns, &config->first_room, &id, NULL);
    CAIRN_ASSERT(refusal != CAIRN_ROOM_CREATED || id == CAIRN_ROOM_MAIN);
    return refusal == CAIRN_ROOM_CREATED          ? CAIRN_OK
           : refusal == CAIRN_ROOM_REFUSED_MEMORY ? CAIRN_OUT_OF_MEMORY
                                                  : CAIRN_INVALID_ARGUMENT;
}

static cairn_status create_parts(cairn_server *server) {
    server->resync.context = &server->context;
    server->resync.capsules = (cairn_desync_output){.on_capsule = server->config.on_capsule,
        .user = server->config.user,
        .runner = &server->tasks};
    cairn_status status = cairn_passport_read(&server->resync.passport);
    if (status == CAIRN_OK) {
        status = create_netcode(server);
    }
    if (status == CAIRN_OK) {
        status = cairn_encoder_create(CAIRN_MESSAGE_SIZE_MAX, &server->context.encoder);
    }
    if (status == CAIRN_OK) {
        status = cairn_room_table_create(server->config.rooms_max, &server->rooms);
    }
    if (status == CAIRN_OK && server->config.control) {
        status = cairn_control_queue_create(&server->control);
    }
    if (status == CAIRN_OK) {
        status = create_sessions(server);
    }
    return status == CAIRN_OK ? create_first_room(server) : status;
}

cairn_status cairn_server_create(const cairn_server_config *config, cairn_server **out) {
    CAIRN_ASSERT(config != NULL);
    *out = NULL;
    if (!config_is_valid(config)) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    server->config = *config;
    cairn_key_derive(config->entropy, KEY_SKIPS, server->skip_key, sizeof server->skip_key);
    server->context = (cairn_server_context){
        .now_ns = config->start_ns, .on_event = config->on_event, .user = config->user};
    server->clock_read_ns = config->start_ns;
    server->clock_offset_ns = config->start_unix_ns - config->start_ns;
    server->tasks = (cairn_task_runner){.run_task = config->run_task, .user = config->user};
    server->recordings = (cairn_recordings){
        .server = &server->config, .context = &server->context, .runner = &server->tasks};
    server->broadcasts = server->recordings;
    server->broadcasts.segment_s = config->segment_s;
    const uint64_t mode = cairn_float_set_default();
    const cairn_status status = create_parts(server);
    cairn_float_leave(mode);
    if (status != CAIRN_OK) {
        cairn_server_destroy(server);
        return status;
    }
    // A server whose own self-test fails would reject every healthy client.
    if (server->resync.passport.faults != 0) {
        cairn_context_emit(&server->context, NULL, CAIRN_LOG_ERROR, "passport_unfit", 0,
            cairn_passport_fault_words(server->resync.passport.faults),
            server->resync.passport.faults);
    }
    // Borrowed from the caller for create alone.
    server->config.first_room = (cairn_server_room_config){0};
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
    CAIRN_ASSERT(server->jobs_out == 0 && server->tasks.out == 0);
    server->tasks.run_task = NULL;
    cairn_server_rooms_destroy(server);
    cairn_control_queue_destroy(server->control);
    for (uint32_t i = 0; server->sessions != NULL && i < server->config.clients_max; ++i) {
        cairn_link_destroy(server->sessions[i].link);
        cairn_session_drop_conditioners(&server->sessions[i]);
    }
    cairn_link_blocks_free(&server->link_blocks);
    free(server->features);
    free(server->due_ns);
    cairn_budget_ledger_destroy(&server->budgets);
    free(server->sessions);
    cairn_encoder_destroy(server->context.encoder);
    cairn_netcode_server_destroy(server->context.netcode);
    free(server);
}

static void dispatch_message(
    cairn_server *server, cairn_session *session, const cairn_link_message *received) {
    static const cairn_session_event events[CAIRN_MESSAGE_KIND_COUNT] = {
        [CAIRN_MESSAGE_HELLO] = CAIRN_SESSION_EVENT_HELLO,
        [CAIRN_MESSAGE_INPUT] = CAIRN_SESSION_EVENT_INPUT,
        [CAIRN_MESSAGE_ROOT_REPORT] = CAIRN_SESSION_EVENT_ROOTS,
        [CAIRN_MESSAGE_RESYNC_REQUEST] = CAIRN_SESSION_EVENT_RESYNC_REQUEST,
        [CAIRN_MESSAGE_CONTROL] = CAIRN_SESSION_EVENT_CONTROL,
        [CAIRN_MESSAGE_PLAYER_MESSAGE] = CAIRN_SESSION_EVENT_PLAYER_MESSAGE,
    };
    cairn_message message;
    const cairn_decode_refusal refusal =
        cairn_message_decode(received->bytes, received->size, CAIRN_TO_SERVER, &message);
    if (refusal != CAIRN_DECODE_OK) {
        server->statistics.drops_decode[refusal] += 1;
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_MALFORMED, NULL);
        return;
    }
    CAIRN_ASSERT(events[message.kind] != CAIRN_SESSION_EVENT_CONNECT);
    cairn_session_dispatch(server, session, events[message.kind], &message);
}

static void receive_payload(
    cairn_server *server, cairn_session *session, const uint8_t *payload, size_t size) {
    const uint64_t now_ns = server->context.now_ns;
    CAIRN_ASSERT(session->link != NULL && size <= CAIRN_PAYLOAD_SIZE_MAX);
    session->received_ns = now_ns;
    session->work.payloads_read += 1;
    cairn_byte_budget_receive(&session->budget, now_ns, size);
    const cairn_link_drop drop = cairn_link_receive(session->link, now_ns, payload, size);
    // Loss, duplication and reordering explain the other drops. A payload that breaks the link's
    // format was encrypted by a client that does it on purpose.
    if (drop == CAIRN_LINK_DROP_SIZE || drop == CAIRN_LINK_DROP_KIND ||
        drop == CAIRN_LINK_DROP_ACK || drop == CAIRN_LINK_DROP_FRAGMENT ||
        drop == CAIRN_LINK_DROP_MESSAGE_SIZE || drop == CAIRN_LINK_DROP_WINDOW) {
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_MALFORMED, NULL);
    }
    cairn_link_message message;
    while (session->link != NULL && cairn_link_next_message(session->link, &message)) {
        dispatch_message(server, session, &message);
    }
}

// A room that an operator lets run faster has more ticks, and so more inputs.
static uint64_t ticks_per_s(const cairn_session *session) {
    const cairn_room *room = session->room;
    if (room == NULL) {
        return USUAL_TICK_RATE_HZ;
    }
    const uint32_t speed = room->time_control.speed == CAIRN_TIME_SPEED_UNLIMITED
                               ? CAIRN_TIME_SPEED_MAX
                               : room->time_control.speed;
    const uint64_t rate_hz = room->settings.tick_rate_hz;
    return speed <= CAIRN_TIME_SPEED_REAL ? rate_hz : rate_hz * speed / CAIRN_TIME_SPEED_REAL;
}

// False: the client sends too much, and nobody reads this payload.
static bool may_send(cairn_server *server, cairn_session *session) {
    const uint64_t now_ns = server->context.now_ns;
    const bool is_operator = (session->rights & CAIRN_RIGHT_OPERATOR) != 0;
    const uint32_t per_s = cairn_payload_budget_per_s(ticks_per_s(session), is_operator);
    if (cairn_payload_budget_spend(&session->payload_budget, now_ns, per_s)) {
        return true;
    }
    server->statistics.payloads_over_budget += 1;
    if (cairn_payload_budget_is_flooded(&session->payload_budget)) {
        cairn_payload_budget_begin_again(&session->payload_budget);
        server->statistics.clients_flooding += 1;
        cairn_context_emit(&server->context, session->room, CAIRN_LOG_WARN, "client_flooding",
            session->client_id, "the client sent more payloads than it may for five seconds",
            (int64_t)per_s);
        cairn_netcode_server_disconnect(server->context.netcode, now_ns, session->client);
    }
    return false;
}

static void take_netcode_events(cairn_server *server) {
    cairn_netcode_event event;
    while (cairn_netcode_server_next_event(server->context.netcode, &event)) {
        CAIRN_ASSERT(event.client < server->config.clients_max);
        cairn_session *session = &server->sessions[event.client];
        switch (event.kind) {
        case CAIRN_NETCODE_CONNECTED:
            session->client_id = event.client_id;
            session->user_malformed =
                cairn_user_data_decode(event.user_data, &session->user) != CAIRN_OK;
            session->rights = session->user.rights;
            cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_CONNECT, NULL);
            break;
        case CAIRN_NETCODE_DISCONNECTED:
            session->disconnect = event.reason;
            cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_DISCONNECT, NULL);
            break;
        case CAIRN_NETCODE_PAYLOAD:
            if (!may_send(server, session)) {
                break;
            }
            cairn_session_touch(session);
            if (session->conditioner_in != NULL) {
                cairn_link_conditioner_put(session->conditioner_in, server->context.now_ns,
                    event.payload, event.payload_size);
            } else if (session->link != NULL) {
                receive_payload(server, session, event.payload, event.payload_size);
            }
            break;
        }
    }
}

void cairn_server_receive(cairn_server *server, uint64_t now_ns, const cairn_address *from,
    const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(from != NULL);
    CAIRN_ASSERT(bytes != NULL || size == 0);
    server->context.now_ns = now_ns;
    if (server->left) {
        return;
    }
    server->statistics.datagrams_received += 1;
    server->statistics.bytes_received += size;
    const uint64_t mode = cairn_float_set_default();
    cairn_netcode_server_receive(server->context.netcode, now_ns, from, bytes, size);
    take_netcode_events(server);
    cairn_float_leave(mode);
}

// A client that can never be sent what waits for it, because its window is smaller than a message
// or because it acknowledges nothing, would hold its slot and its state for good.
static void check_stream(cairn_server *server, cairn_session *session) {
    const uint64_t now_ns = server->context.now_ns;
    const uint64_t acknowledged = cairn_link_reliable_acknowledged(session->link);
    const bool was_idle = session->stream_idle; // and is looked at now because it is not any more
    session->stream_idle = cairn_link_reliable_idle(session->link);
    if (acknowledged != session->acknowledged || was_idle || session->stream_idle) {
        session->acknowledged = acknowledged;
        session->progress_ns = now_ns;
    }
    const bool failed = cairn_link_failed(session->link);
    if (failed || now_ns - session->progress_ns >= STREAM_STALL_NS) {
        server->statistics.streams_failed += 1;
        cairn_context_emit(&server->context, session->room, CAIRN_LOG_WARN, "stream_failed",
            session->client_id,
            failed ? "the client's window is smaller than a message, or it sent an impossible frame"
                   : "the client acknowledged nothing of what it was sent reliably for 30 s",
            0);
        cairn_netcode_server_disconnect(server->context.netcode, now_ns, session->client);
    }
}

static void take_moves(cairn_server *server) {
    uint32_t client;
    while ((client = cairn_netcode_server_take_move(server->context.netcode)) != UINT32_MAX) {
        cairn_session *session = &server->sessions[client];
        CAIRN_ASSERT(session->link != NULL);
        cairn_link_path_changed(session->link, server->context.now_ns);
        cairn_session_touch(session);
        server->statistics.path_changes += 1;
        cairn_context_emit(&server->context, session->room, CAIRN_LOG_INFO, "client_moved",
            session->client_id, "the client says that its address changed", 0);
    }
}

// Receives what comes out of the session's conditioner, and raises the events of its state.
static void advance_session(cairn_server *server, cairn_session *session) {
    const uint64_t now_ns = server->context.now_ns;
    _Alignas(8) uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
    size_t size;
    if (session->state == CAIRN_SESSION_FREE) {
        return;
    }
    while (session->conditioner_in != NULL &&
           (size = cairn_link_conditioner_take(session->conditioner_in, now_ns, payload)) > 0) {
        receive_payload(server, session, payload, size);
    }
    if (session->state == CAIRN_SESSION_FREE) {
        return;
    }
    check_stream(server, session);
    if (now_ns >= session->timeout_ns) {
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_TIMEOUT, NULL);
    } else if (cairn_link_reliable_idle(session->link)) {
        cairn_session_dispatch(server, session, CAIRN_SESSION_EVENT_ALL_ACKNOWLEDGED, NULL);
    }
}

static void read_clock(cairn_server *server, uint64_t now_ns) {
    if (server->config.unix_ns == NULL || now_ns - server->clock_read_ns < CLOCK_INTERVAL_NS) {
        return;
    }
    const uint64_t unix_ns = server->config.unix_ns(server->config.user);
    const int64_t jump_ns = (int64_t)(unix_ns - (now_ns + server->clock_offset_ns));
    server->clock_read_ns = now_ns;
    server->clock_offset_ns = unix_ns - now_ns;
    cairn_netcode_server_set_unix_time(server->context.netcode, now_ns, unix_ns);
    if (jump_ns >= (int64_t)CLOCK_JUMP_NS || jump_ns <= -(int64_t)CLOCK_JUMP_NS) {
        server->statistics.clock_jumps += 1;
        server->statistics.clock_jump_ms = jump_ns / 1000000;
        cairn_context_emit(&server->context, NULL, CAIRN_LOG_WARN, "clock_jumped", 0,
            "the wall clock jumped by so many milliseconds; tokens are compared with the new time",
            server->statistics.clock_jump_ms);
    }
}

// Nothing tells a server that its clock is wrong, except that tokens of the backend are refused.
static void suspect_clock(cairn_server *server, uint64_t now_ns) {
    const cairn_netcode_token_times times =
        cairn_netcode_server_token_times(server->context.netcode);
    const bool warned = server->statistics.clock_warnings > 0 &&
                        now_ns - server->clock_warned_ns < SUSPECT_INTERVAL_NS;
    if (times.refused >= SUSPECT_TOKENS && !warned) {
        server->clock_warned_ns = now_ns;
        server->statistics.clock_warnings += 1;
        cairn_context_emit(&server->context, NULL, CAIRN_LOG_WARN, "clock_suspect", 0,
            "genuine tokens are refused by their times, the last one expires in so many seconds; "
            "compare the clocks of server and backend, and the lifetime of tokens",
            times.expire_after_s);
    }
}

// Handshakes are refused without an answer, so that strangers learn nothing. The operator is told
// the reason of those that a person can cause, each at most once a second.
static void tell_refusals(cairn_server *server, uint64_t now_ns) {
    const uint64_t *drops = cairn_netcode_server_drops(server->context.netcode);
    if (now_ns - server->refusals_told_ns < CAIRN_NS_PER_S) {
        return;
    }
    server->refusals_told_ns = now_ns;
    for (int i = CAIRN_NETCODE_DROP_VERSION; i <= CAIRN_NETCODE_DROP_SERVER_FULL; ++i) {
        const uint64_t refused = drops[i] - server->refusals_told[i];
        if (refused > 0 && i != CAIRN_NETCODE_DROP_REQUEST_AGAIN) {
            cairn_context_emit(&server->context, NULL, CAIRN_LOG_WARN, "connection_refused", 0,
                cairn_netcode_drop_text((cairn_netcode_drop)i), (int64_t)refused);
        }
        server->refusals_told[i] = drops[i];
    }
}

static void advance(cairn_server *server, uint64_t now_ns) {
    server->context.now_ns = now_ns;
    if (server->left) {
        return;
    }
    read_clock(server, now_ns);
    suspect_clock(server, now_ns);
    tell_refusals(server, now_ns);
    cairn_netcode_server_advance(server->context.netcode, now_ns);
    take_netcode_events(server);
    if (server->draining) {
        return;
    }
    cairn_control_queue_advance(server);
    cairn_server_rooms_close_idle(server);
    for (uint32_t i = 0; i < server->rooms.count; ++i) {
        if (!server->rooms.rooms[i]->closing) {
            cairn_tick_batch_run(server, server->rooms.rooms[i]);
        }
    }
    take_moves(server);
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        if (server->due_ns[i] <= now_ns) {
            advance_session(server, &server->sessions[i]);
        }
    }
    take_netcode_events(server);
    // A room may have waited for a player that left in this turn. It runs its due ticks now.
    for (uint32_t i = 0; i < server->rooms.count; ++i) {
        cairn_room *room = server->rooms.rooms[i];
        if (!room->closing && cairn_input_wait_is_left(room)) {
            cairn_tick_batch_run(server, room);
        }
    }
}

void cairn_server_advance(cairn_server *server, uint64_t now_ns) {
    const uint64_t mode = cairn_float_set_default();
    advance(server, now_ns);
    cairn_float_leave(mode);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static uint64_t session_deadline_ns(const cairn_session *session) {
    CAIRN_ASSERT(session->link != NULL);
    uint64_t deadline = earlier(session->timeout_ns, cairn_link_deadline_ns(session->link));
    if (!session->stream_idle) {
        deadline = earlier(deadline, session->progress_ns + STREAM_STALL_NS);
    }
    CAIRN_ASSERT((session->conditioner_in == NULL) == (session->conditioner_out == NULL));
    if (session->conditioner_in != NULL) {
        deadline = earlier(deadline, cairn_link_conditioner_due_ns(session->conditioner_in));
        deadline = earlier(deadline, cairn_link_conditioner_due_ns(session->conditioner_out));
    }
    return deadline;
}

static void pass_turn(cairn_server *server) {
    const uint32_t next = server->send_next + 1;
    server->send_next = next == server->config.clients_max ? 0 : next;
    server->send_run = 0;
}

// Fetches what the next client needs that has the turn, if it is due, while this one is served. Its
// session was fetched one client before.
static void prefetch_after(const cairn_server *server, uint32_t client) {
    const uint32_t next = client + 1;
    if (next + 1 < server->config.clients_max && server->due_ns[next] <= server->context.now_ns) {
        const cairn_session *session = &server->sessions[next];
        __builtin_prefetch(session + 1);
        if (session->link != NULL) {
            cairn_link_prefetch(session->link);
        }
    }
}

// Whether to ask the session for a payload. Most of those that are looked at only received
// something, or have sent all that they had. If not, the session is due later.
static bool has_payload(cairn_session *session, uint64_t now_ns) {
    if (session->state != CAIRN_SESSION_FREE && cairn_link_waiting(session->link)) {
        return true;
    }
    *session->due_ns =
        session->state == CAIRN_SESSION_FREE ? UINT64_MAX : session_deadline_ns(session);
    return *session->due_ns <= now_ns;
}

// The next payload, encrypted, of the client that has the turn. It keeps the turn for some
// payloads: datagrams to one address in a row cost the system less. Then others may send, however
// much it has.
static size_t encrypt_next_payload(
    cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    for (uint32_t tried = 0; tried < server->config.clients_max; ++tried) {
        const uint32_t client = server->send_next;
        if (server->due_ns[client] > now_ns) {
            pass_turn(server);
            continue;
        }
        cairn_session *session = &server->sessions[client];
        prefetch_after(server, client);
        if (!has_payload(session, now_ns)) {
            pass_turn(server);
            continue;
        }
        uint8_t payload[CAIRN_PAYLOAD_SIZE_MAX];
        const size_t payload_size = cairn_session_next_payload(session, now_ns, payload);
        const size_t size = payload_size == 0
                                ? 0
                                : cairn_netcode_server_encrypt(server->context.netcode, now_ns,
                                      client, payload, payload_size, to, bytes);
        CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
        server->send_run += 1;
        if (size == 0) {
            server->due_ns[client] = session_deadline_ns(session);
        }
        if (size == 0 || server->send_run == SEND_RUN_MAX) {
            pass_turn(server);
        }
        if (size > 0) {
            cairn_payload_budget_earn(&session->payload_budget);
            session->work.payloads_sent += 1;
            if (session->room != NULL) {
                session->room->statistics.bytes_sent += size;
            }
            return size;
        }
    }
    return 0;
}

static size_t take_held(cairn_server *server, cairn_address *to, uint8_t *bytes) {
    const size_t size = server->held_size;
    *to = server->held_to;
    memcpy(bytes, server->held, size);
    server->held_size = 0;
    return size;
}

static size_t next_datagram(
    cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    size_t size = cairn_netcode_server_next_datagram(server->context.netcode, to, bytes);
    if (size > 0) {
        return size;
    }
    if (server->held_size > 0) {
        return take_held(server, to, bytes);
    }
    size = encrypt_next_payload(server, now_ns, to, bytes);
    uint8_t before[CAIRN_DATAGRAM_SIZE_MAX];
    cairn_address before_to;
    const size_t before_size =
        size == 0 ? 0
                  : cairn_netcode_server_next_datagram(server->context.netcode, &before_to, before);
    if (before_size == 0) {
        return size;
    }
    server->held_size = size;
    server->held_to = *to;
    memcpy(server->held, bytes, size);
    *to = before_to;
    memcpy(bytes, before, before_size);
    return before_size;
}

size_t cairn_server_send(cairn_server *server, uint64_t now_ns, cairn_address *to, uint8_t *bytes) {
    server->context.now_ns = now_ns;
    const size_t size = server->left ? 0 : next_datagram(server, now_ns, to, bytes);
    CAIRN_ASSERT(size <= CAIRN_DATAGRAM_SIZE_MAX);
    server->statistics.datagrams_sent += size > 0 ? 1 : 0;
    server->statistics.bytes_sent += size;
    server->sent_all = size == 0;
    return size;
}

uint64_t cairn_server_deadline_ns(const cairn_server *server) {
    uint64_t deadline =
        server->left ? UINT64_MAX : cairn_netcode_server_deadline_ns(server->context.netcode);
    if (server->draining) {
        const bool over = server->context.now_ns >= server->drain_end_ns;
        return earlier(deadline, server->drain_end_ns + (over ? DRAIN_TASKS_NS : 0));
    }
    deadline = earlier(deadline, cairn_control_queue_deadline_ns(server));
    for (uint32_t i = 0; i < server->rooms.count; ++i) {
        if (!server->rooms.rooms[i]->closing) {
            deadline = earlier(deadline, cairn_tick_batch_due_ns(server->rooms.rooms[i]));
        }
    }
    for (uint32_t i = 0; i < server->config.clients_max; ++i) {
        deadline = earlier(deadline, server->due_ns[i]);
    }
    return deadline;
}

void cairn_server_announce_end(cairn_server *server, uint64_t now_ns, const char *reason) {
    if (!cairn_server_admits(server)) {
        return;
    }
    cairn_context_emit(&server->context, NULL, CAIRN_LOG_INFO, "ends_soon", 0, reason, 0);
    server->context.now_ns = now_ns;
    server->ends_soon = true;
    cairn_netcode_server_stop_admitting(server->context.netcode);
    for (uint32_t i = 0; i < server->rooms.count; ++i) {
        cairn_room *room = server->rooms.rooms[i];
        if (!room->job.running) {
            cairn_room_observe_end(room, now_ns); // it may be paused
        }
        const cairn_event_message notice = {.kind = CAIRN_EVENT_ROOM_CLOSES,
            .slot = CAIRN_SLOT_NONE,
            .tick = room->scheduler.tick,
            .reason_text = reason};
        cairn_session_notify_room(room, server->context.encoder, &notice);
    }
}

void cairn_server_drain(cairn_server *server, uint64_t now_ns) {
    if (server->draining) {
        return;
    }
    cairn_context_emit(&server->context, NULL, CAIRN_LOG_INFO, "draining", 0, "", 0);
    server->context.now_ns = now_ns;
    server->draining = true;
    server->drain_end_ns = now_ns + DRAIN_NS;
    server->sent_all = false;
    cairn_netcode_server_stop_admitting(server->context.netcode);
    cairn_netcode_server_disconnect_all(server->context.netcode, now_ns);
    take_netcode_events(server);
    for (uint32_t i = 0; i < server->rooms.count; ++i) {
        cairn_hosted_room_end_recordings(server->rooms.rooms[i]);
    }
}

bool cairn_server_admits(const cairn_server *server) {
    return !server->ends_soon && !server->draining;
}

bool cairn_server_drained(const cairn_server *server) {
    CAIRN_ASSERT(!server->draining || server->drain_end_ns != 0);
    const uint64_t now_ns = server->context.now_ns;
    const bool written = server->tasks.out == 0 || now_ns >= server->drain_end_ns + DRAIN_TASKS_NS;
    return server->draining && written &&
           ((server->sent_all && server->jobs_out == 0) || now_ns >= server->drain_end_ns);
}

void cairn_server_task_done(cairn_server *server, uint64_t now_ns, cairn_server_task *task) {
    CAIRN_ASSERT(task->out && server->tasks.out > 0);
    server->context.now_ns = now_ns;
    server->tasks.out -= 1;
    task->out = false;
    task->done(task);
}

uint32_t cairn_server_tasks_out(const cairn_server *server) {
    return server->tasks.out;
}

uint32_t cairn_server_jobs_out(const cairn_server *server) {
    return server->jobs_out;
}

uint32_t cairn_server_addresses(const cairn_server *server, cairn_address *out) {
    return cairn_netcode_server_addresses(server->context.netcode, out);
}

uint64_t cairn_server_address_changes(const cairn_server *server) {
    return cairn_netcode_server_address_changes(server->context.netcode);
}

bool cairn_server_client_read(
    const cairn_server *server, uint32_t client, cairn_server_client_info *out) {
    *out = (cairn_server_client_info){.slot = CAIRN_SLOT_NONE};
    if (client >= server->config.clients_max ||
        server->sessions[client].state == CAIRN_SESSION_FREE) {
        return false;
    }
    const cairn_session *session = &server->sessions[client];
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    const cairn_input_wait_slot *slot =
        session->slot == CAIRN_SLOT_NONE ? NULL : &session->room->input_wait->slots[session->slot];
    *out = (cairn_server_client_info){
        .connected = true,
        .welcomed = cairn_session_is_admitted(session),
        .client_id = session->client_id,
        .room = session->room == NULL ? 0 : session->room->id,
        .slot = session->slot,
        .mode = session->mode,
        .input_waits = slot == NULL ? 0 : slot->waits,
        .input_wait_ns = slot == NULL ? 0 : slot->waited_ns,
        .rtt_ns = link->rtt_ns,
        .jitter_ns = link->jitter_ns,
        .loss = link->loss,
        .payloads_sent = link->payloads_sent,
        .payloads_lost = link->payloads_lost,
        .rate_bytes_per_s = link->rate_bytes_per_s,
        .queue_ns = link->queue_ns,
        .messages_held_back = session->messages_held_back,
        .user = session->user,
    };
    return true;
}
