// SPDX-License-Identifier: MIT
#include "server/session_dispatch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/packed_inputs.h"
#include "server/control/queue.h"
#include "server/control/room_time.h"
#include "server/core/room_opening.h"
#include "server/core/session_link.h"
#include <cairn/rules_registry.h>

// The arguments of an action, which returns the next state.
typedef struct dispatch {
    cairn_server *server;
    cairn_session *session;
    const cairn_message *message;
} dispatch;
typedef cairn_session_state (*action)(const dispatch *d);

static void emit(
    const dispatch *d, cairn_log_level level, const char *name, const char *detail, int64_t value) {
    cairn_context_emit(
        &d->server->context, d->session->room, level, name, d->session->client_id, detail, value);
}

static cairn_session_state ignore(const dispatch *d) {
    return d->session->state;
}

// Events that netcode never raises in this state.
static cairn_session_state impossible(const dispatch *d) {
    CAIRN_ASSERT(d->session->state == CAIRN_SESSION_STATE_COUNT);
    return d->session->state;
}

static cairn_session_state on_connect(const dispatch *d) {
    cairn_session *session = d->session;
    uint32_t bodies = d->server->config.template_bodies_max; // of the largest room
    for (uint32_t id = 0; (id = cairn_room_table_next(&d->server->rooms, id)) != 0;) {
        const uint32_t capacity = cairn_room_table_at(&d->server->rooms, id)->body_capacity;
        bodies = capacity > bodies ? capacity : bodies;
    }
    cairn_link *link;
    if (cairn_session_link_create(d->server, bodies, &link) != CAIRN_OK) {
        emit(d, CAIRN_LOG_ERROR, "client_refused", "out of memory", 0);
        cairn_netcode_server_disconnect(
            d->server->context.netcode, d->server->context.now_ns, session->client);
        return CAIRN_SESSION_FREE;
    }
    CAIRN_ASSERT(session->link == NULL && session->room == NULL);
    // A client that comes again has no new budget; another one in its place waits for a moment.
    cairn_payload_budget_begin_again(&session->payload_budget);
    const cairn_client_budget budget = cairn_budget_ledger_take(
        &d->server->budgets, session->client_id, d->server->context.now_ns);
    *session = (cairn_session){
        .client = session->client,
        .due_ns = session->due_ns,
        .client_id = session->client_id,
        .work = session->work,
        .budget = budget.bytes,
        .message_budget = budget.messages,
        .payload_budget = session->payload_budget,
        .rights = session->rights,
        .user = session->user,
        .user_malformed = session->user_malformed,
        .link = link,
        .link_bodies = bodies,
        .slot = CAIRN_SLOT_NONE,
        .timeout_ns = d->server->context.now_ns + CAIRN_SESSION_HELLO_NS,
        .progress_ns = d->server->context.now_ns,
        .input_timing = {.reported = true},
        .rollbacks = {.taken_ns = d->server->context.now_ns},
        .replication = session->replication,
        .lag = session->lag,
        .resync = session->resync,
    };
    emit(d, CAIRN_LOG_INFO, "client_connected", "", 0);
    return CAIRN_SESSION_CONNECTED;
}

static cairn_session_state refuse(
    const dispatch *d, cairn_refusal_reason reason, const char *text) {
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_REFUSED,
        .refused = {.reason = reason, .reason_text = text},
    };
    CAIRN_ASSERT(d->session->room == NULL);
    cairn_session_send_reliable(d->session, d->server->context.encoder, &message);
    d->session->timeout_ns = d->server->context.now_ns + CAIRN_SESSION_REFUSED_NS;
    emit(d, CAIRN_LOG_WARN, "client_refused", text, reason);
    return CAIRN_SESSION_REFUSED;
}

static void send_welcome(const dispatch *d, const char *text) {
    const cairn_room *room = d->session->room;
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    // From the root a client could try out where hidden bodies began.
    const bool hides = rules != NULL && rules->relevance != NULL;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_WELCOME,
        .welcome = {.tick = room->scheduler.tick,
            .slot = d->session->slot,
            .tick_rate_hz = room->settings.tick_rate_hz,
            .snapshot_rate_hz = room->settings.snapshot_rate_hz,
            .mode = d->session->mode,
            .sim_version = CAIRN_SIM_VERSION,
            .rules_version = cairn_room_rules_version(room),
            .rules_name = cairn_room_rules_name(room),
            .rules_digest = cairn_rules_digest(rules),
            .input_fields = rules == NULL ? NULL : rules->input,
            .input_field_count = rules == NULL ? 0 : rules->input_count,
            .scene_name = room->scene_name,
            .scene_digest = hides ? (cairn_hash128){0} : room->start_root,
            .room = room->name,
            .wait_ms = room->settings.wait_ms,
            .rights = d->session->rights,
            .reason_text = text},
    };
    const size_t size =
        cairn_session_send_reliable(d->session, d->server->context.encoder, &message);
    CAIRN_ASSERT(text != NULL);
    CAIRN_ASSERT(size > 0);
}

// Why the client cannot take part in the room; text NULL: it can.
typedef struct refusal {
    cairn_refusal_reason reason;
    const char *text;
} refusal;

// Whether the client has the room's rules. False: `words` say what differs.
static bool has_rules_of(
    const cairn_room *room, const cairn_hello *hello, char words[CAIRN_TEXT_SIZE_MAX + 1]) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    if (rules == NULL ||
        (strcmp(hello->rules_name, rules->name) == 0 && hello->rules_version == rules->version &&
            hello->rules_digest == cairn_rules_digest(rules))) {
        return true;
    }
    const bool same =
        strcmp(hello->rules_name, rules->name) == 0 && hello->rules_version == rules->version;
    snprintf(words, CAIRN_TEXT_SIZE_MAX + 1,
        "the client does not have the rules of this room: they are %s, version %" PRIu32
        "; the client has %s, version %" PRIu32 "%s",
        rules->name, rules->version, hello->rules_name[0] == '\0' ? "none" : hello->rules_name,
        hello->rules_version, same ? ", from other sources or with other sizes" : "");
    return false;
}

static refusal check_hello(const cairn_session *session, const cairn_room *room,
    const cairn_hello *hello, char words[CAIRN_TEXT_SIZE_MAX + 1]) {
    const bool simulates = cairn_mode_simulates(hello->mode);
    if (room->body_capacity > session->link_bodies) {
        return (refusal){CAIRN_REFUSAL_ROOM_CLOSED,
            "the room was created after the client connected; connect again"};
    }
    if (simulates && hello->sim_version != CAIRN_SIM_VERSION) {
        return (refusal){
            CAIRN_REFUSAL_SIM_VERSION, "the server runs another version of the simulation"};
    }
    // Only a client that simulates needs the room's rules.
    if (simulates && !has_rules_of(room, hello, words)) {
        return (refusal){CAIRN_REFUSAL_RULES, words};
    }
    return (refusal){0};
}

// Frees the slot and ends the membership.
static void leave_room(const dispatch *d) {
    cairn_session *session = d->session;
    cairn_room *room = session->room;
    if (room == NULL) {
        return;
    }
    const uint32_t slot = session->slot;
    if (slot != CAIRN_SLOT_NONE) {
        cairn_inbox_leave(room->inbox, slot);
        room->left_clients[slot] = session->client_id;
        cairn_slot_set_put(&room->left_slots, slot, true);
        room->statistics.leaves += 1;
        session->slot = CAIRN_SLOT_NONE;
    }
    cairn_hosted_room_leave(session);
    if (slot != CAIRN_SLOT_NONE) {
        cairn_input_wait_leave(&d->server->context, room, slot, session->client_id);
    }
    CAIRN_ASSERT(session->room == NULL);
}

static const char *mode_text(uint32_t mode) {
    static const char *const texts[CAIRN_MODE_COUNT] = {
        [CAIRN_MODE_INTERPOLATE] = "interpolate",
        [CAIRN_MODE_LOCKSTEP] = "lockstep",
        [CAIRN_MODE_PREDICT] = "predict",
        [CAIRN_MODE_HEAL] = "heal",
    };
    CAIRN_ASSERT(mode < CAIRN_MODE_COUNT);
    return texts[mode];
}

// A client that was here before takes the slot that it had, if it is free; otherwise the lowest
// free one.
static uint32_t join_slot(cairn_room *room, uint64_t client_id) {
    for (uint32_t slot = 0; slot < room->settings.players_max; ++slot) {
        if (cairn_slot_set_has(&room->left_slots, slot) && room->left_clients[slot] == client_id &&
            cairn_inbox_join_at(room->inbox, slot)) {
            return slot;
        }
    }
    return cairn_inbox_join(room->inbox);
}

// Why this client may not simulate; NULL: it may. One whose arithmetic differs would sooner or
// later have another world.
static const char *unfit_to_simulate(const dispatch *d, const cairn_room *room) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    return rules != NULL && rules->relevance != NULL
               ? "the rules of this room hide bodies from players, and a client that simulates "
                 "would hold them"
               : cairn_server_resync_unfit(&d->server->resync, &d->message->hello);
}

// The room that the client's token names, made of a template. NULL: `reason` says why, "" if there
// is no template for it.
static cairn_room *make_room(
    const dispatch *d, const char *name, char reason[CAIRN_ROOM_REASON_SIZE]) {
    cairn_server *server = d->server;
    bool known;
    uint32_t id;
    (void)cairn_server_room_open_template(
        server, server->context.now_ns, name, name, NULL, &known, &id, reason);
    reason[known ? CAIRN_TEXT_SIZE_MAX : 0] = '\0';
    return cairn_room_table_at(&server->rooms, id);
}

static cairn_session_state on_hello(const dispatch *d) {
    CAIRN_ASSERT(d->session->link != NULL);
    cairn_session *session = d->session;
    const cairn_hello *hello = &d->message->hello;
    CAIRN_ASSERT(session->room == NULL && session->slot == CAIRN_SLOT_NONE);
    if (hello->protocol_version != CAIRN_PROTOCOL_VERSION) {
        return refuse(
            d, CAIRN_REFUSAL_PROTOCOL_VERSION, "the server speaks another version of the protocol");
    }
    const char *own = session->user.room;
    if (session->user_malformed) {
        return refuse(
            d, CAIRN_REFUSAL_ROOM_UNKNOWN, "the user data of the connect token are malformed");
    }
    if (own[0] != '\0' && hello->room[0] != '\0' && strcmp(own, hello->room) != 0) {
        return refuse(d, CAIRN_REFUSAL_ROOM_UNKNOWN, "the connect token is for another room");
    }
    const char *wanted = own[0] != '\0' ? own : hello->room;
    cairn_room *room =
        cairn_room_table_at(&d->server->rooms, cairn_room_table_find(&d->server->rooms, wanted));
    char reason[CAIRN_ROOM_REASON_SIZE] = "";
    if (room == NULL && own[0] != '\0') {
        room = make_room(d, own, reason);
    }
    if (room == NULL) {
        return reason[0] != '\0'
                   ? refuse(d, CAIRN_REFUSAL_ROOM_FULL, reason)
                   : refuse(d, CAIRN_REFUSAL_ROOM_UNKNOWN, "the server has no room of this name");
    }
    const char *unfit = cairn_mode_simulates(hello->mode) ? unfit_to_simulate(d, room) : NULL;
    const uint32_t mode = unfit != NULL ? CAIRN_MODE_INTERPOLATE : hello->mode;
    char words[CAIRN_TEXT_SIZE_MAX + 1];
    const refusal found = check_hello(session, room, hello, words);
    if (found.text != NULL) {
        return refuse(d, found.reason, found.text);
    }
    if (!cairn_hosted_room_join(room, session)) {
        return refuse(d, CAIRN_REFUSAL_ROOM_FULL, "the server is out of memory");
    }
    if (hello->spectator == 0) {
        const uint32_t slot = join_slot(room, session->client_id);
        if (slot == CAIRN_SLOTS_MAX) {
            leave_room(d);
            return refuse(d, CAIRN_REFUSAL_ROOM_FULL, "all player slots of the room are taken");
        }
        cairn_slot_set_put(&room->left_slots, slot, false);
        session->slot = slot;
        cairn_input_wait_join(room, slot, session->client_id, d->server->context.now_ns);
        room->statistics.joins += 1;
    }
    session->mode = mode;
    session->velocities = hello->velocities != 0;
    // A client that is shown snapshots acknowledges each at once; the next one comes soon enough to
    // acknowledge that.
    cairn_link_delay_acks(
        session->link, cairn_mode_simulates(mode) ? CAIRN_ACK_DELAY_NS : CAIRN_ACK_DELAY_NS_MAX);
    session->timeout_ns = UINT64_MAX;
    if (unfit != NULL) {
        room->statistics.clients_unfit += 1;
        emit(d, CAIRN_LOG_WARN, "client_unfit", unfit, hello->passport_faults);
    }
    send_welcome(d, unfit != NULL ? unfit : "");
    cairn_room_time_greet(d->server, session);
    emit(d, CAIRN_LOG_INFO, "client_joined", mode_text(session->mode), session->slot);
    return CAIRN_SESSION_WELCOMED;
}

static cairn_session_state on_violation(const dispatch *d) {
    d->server->statistics.protocol_violations += 1;
    d->session->violations += 1;
    CAIRN_ASSERT(d->server->statistics.protocol_violations >= d->session->violations);
    if (d->session->violations < CAIRN_SESSION_VIOLATIONS_MAX) {
        return d->session->state;
    }
    leave_room(d);
    return refuse(d, CAIRN_REFUSAL_MALFORMED, "too many messages were malformed or out of place");
}

// The player's confirmed input that the inputs of the message are coded against. False: the log
// does not hold it.
static bool find_base(
    const cairn_session *session, const cairn_input_head *head, cairn_tick_commands *out) {
    const cairn_command_log *log = session->room->command_log;
    const uint64_t tick = head->ticks_acknowledged - 1;
    *out = (cairn_tick_commands){.count = 0};
    if (!head->based) {
        return true;
    }
    if (tick < cairn_command_log_oldest(log) || tick >= cairn_command_log_end(log)) {
        return false;
    }
    cairn_tick_commands confirmed;
    confirmed.commands = cairn_command_log_commands(log, tick, &confirmed.count);
    *out = cairn_input_of_slot(confirmed, session->slot);
    return out->count > 0;
}

// Whether every input of the message was taken, or is so old that it does not matter: then it is
// not decoded.
static bool has_all(const cairn_session *session, const cairn_input_head *head) {
    uint32_t i = 0;
    while (i < head->input_count &&
           cairn_inbox_has(session->room->inbox, session->slot, head->first_tick + i)) {
        ++i;
    }
    return i == head->input_count;
}

static cairn_session_state take_inputs(
    const dispatch *d, const cairn_input_head *head, const uint8_t *bytes, size_t size) {
    cairn_session *session = d->session;
    cairn_wire_input inputs[CAIRN_INPUTS_PER_MESSAGE_MAX * CAIRN_INPUT_COMMANDS_MAX];
    cairn_tick_commands base;
    if (has_all(session, head)) {
        session->room->statistics.inputs_repeated += head->input_count;
        return session->state;
    }
    if (!find_base(session, head, &base)) {
        session->room->statistics.inputs_refused += head->input_count;
        return session->state; // a client that is far behind
    }
    if (!cairn_input_payload_read(head, bytes, size, base, inputs)) {
        session->room->statistics.inputs_refused += head->input_count;
        return on_violation(d);
    }
    for (uint32_t i = 0; i < head->input_count; ++i) {
        cairn_input_timing_take(&session->input_timing, session->room, session->slot,
            &inputs[i * head->parts], head->parts, d->server->context.now_ns);
    }
    return session->state;
}

static cairn_session_state on_input(const dispatch *d) {
    cairn_session *session = d->session;
    const cairn_input_message *message = &d->message->input;
    CAIRN_ASSERT(session->room != NULL);
    cairn_input_head head;
    const size_t head_size = cairn_input_head_read(message->payload, message->payload_size, &head);
    CAIRN_ASSERT(head_size > 0); // the message was checked
    if (head.world_epoch != session->world_epoch) {
        return session->state; // about a world that was replaced
    }
    cairn_replication_acknowledge(session, &head);
    cairn_lag_take_report(session, &head);
    if (head.input_count == 0) {
        return session->state;
    }
    return session->slot == CAIRN_SLOT_NONE ? on_violation(d)
                                            : take_inputs(d, &head, message->payload + head_size,
                                                  message->payload_size - head_size);
}

static cairn_session_state on_first_input(const dispatch *d) {
    const cairn_session_state next = on_input(d);
    if (next != CAIRN_SESSION_WELCOMED || !cairn_replication_holds_world(d->session)) {
        return next;
    }
    emit(d, CAIRN_LOG_INFO, "client_playing", "", d->session->slot);
    return CAIRN_SESSION_PLAYING;
}

static void compare_root(const dispatch *d, const cairn_wire_root *root) {
    cairn_room *room = d->session->room;
    const cairn_hash128 reported = {.lo = root->lo, .hi = root->hi};
    cairn_hash128 ours;
    // A root taken at tick T belongs to the step from T - 1 to T.
    if (root->tick == 0 || !cairn_command_log_root(room->command_log, root->tick - 1, &ours)) {
        return;
    }
    room->statistics.roots_compared += 1;
    if (cairn_hash_equal(ours, reported)) {
        cairn_server_resync_root_agreed(d->session, root->tick);
        return;
    }
    room->statistics.roots_differed += 1;
    emit(d, CAIRN_LOG_ERROR, "root_differed", "the client's world differs from the room's",
        (int64_t)root->tick);
    cairn_server_resync_root_differed(&d->server->resync, d->session, root->tick, reported);
}

// Messages that a client sent before it learned of its demotion are ignored.
static cairn_session_state on_unexpected_of_simulating(const dispatch *d) {
    return d->session->demoted ? d->session->state : on_violation(d);
}

static void count_rollbacks(const dispatch *d, const cairn_root_report *report) {
    cairn_server_room_statistics *statistics = &d->session->room->statistics;
    const cairn_rollback_counts sums = {
        .rollbacks = report->rollbacks, .ticks = report->rollback_ticks};
    bool bounded;
    const cairn_rollback_counts added = cairn_rollback_report_take(
        &d->session->rollbacks, d->server->context.now_ns, &sums, &bounded);
    statistics->rollbacks += added.rollbacks;
    statistics->rollback_ticks += added.ticks;
    statistics->rollback_reports_bounded += bounded ? 1 : 0;
}

static cairn_session_state on_roots(const dispatch *d) {
    const cairn_root_report *report = &d->message->root_report;
    if (!cairn_mode_simulates(d->session->mode)) {
        return on_unexpected_of_simulating(d);
    }
    count_rollbacks(d, report);
    const bool current = report->world_epoch == d->session->world_epoch;
    for (uint32_t i = 0; current && i < report->root_count; ++i) {
        compare_root(d, &report->roots[i]);
    }
    return d->session->state;
}

static cairn_session_state on_control(const dispatch *d) {
    const bool too_often = cairn_control_queue_receive(d->server, d->session, &d->message->control);
    return too_often ? on_violation(d) : d->session->state;
}

static cairn_game_refusal take_player_message(const dispatch *d) {
    cairn_session *session = d->session;
    const cairn_player_message *message = &d->message->player_message;
    const cairn_rules *rules = cairn_world_settings(session->room->world)->rules;
    if (rules == NULL || rules->message_size_max == 0) {
        return CAIRN_GAME_REFUSED_NO_RULES;
    }
    if (message->size > rules->message_size_max) {
        return CAIRN_GAME_REFUSED_TOO_LARGE;
    }
    if (session->slot == CAIRN_SLOT_NONE) {
        return CAIRN_GAME_REFUSED_SPECTATOR;
    }
    if (!cairn_message_budget_spend(
            &session->message_budget, d->server->context.now_ns, message->size)) {
        return CAIRN_GAME_REFUSED_BUDGET;
    }
    return cairn_inbox_message(session->room->inbox, session->slot, message->bytes, message->size)
               ? CAIRN_GAME_TAKEN
               : CAIRN_GAME_REFUSED_BUSY;
}

// The server reports refusals to the client at most once a second, so that refused messages cannot
// make it send more than it received.
static cairn_session_state on_player_message(const dispatch *d) {
    cairn_session *session = d->session;
    cairn_server_room_statistics *statistics = &session->room->statistics;
    const cairn_game_refusal why = take_player_message(d);
    const uint64_t now_ns = d->server->context.now_ns;
    if (why == CAIRN_GAME_TAKEN) {
        statistics->game_messages_taken += 1;
        return session->state;
    }
    statistics->game_messages_refused[why] += 1;
    session->messages_refused += 1;
    if (session->refused_told_ns != 0 && now_ns - session->refused_told_ns < CAIRN_NS_PER_S) {
        return session->state;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_MESSAGE_REFUSED,
            .slot = session->slot,
            .tick = session->room->scheduler.tick,
            .value = session->messages_refused,
            .reason_text = cairn_game_refusal_text(why)},
    };
    if (cairn_session_send_reliable(session, d->server->context.encoder, &message) > 0) {
        session->messages_refused = 0;
        session->refused_told_ns = now_ns;
    }
    return session->state;
}

static cairn_session_state on_resync_request(const dispatch *d) {
    const cairn_resync_request *request = &d->message->resync_request;
    if (!cairn_mode_simulates(d->session->mode)) {
        return on_unexpected_of_simulating(d);
    }
    if (request->world_epoch == d->session->world_epoch) {
        cairn_server_resync_take_request(&d->server->resync, d->session, request);
    }
    return d->session->state;
}

// A second HELLO may ask to be served by snapshots from now on.
static cairn_session_state on_second_hello(const dispatch *d) {
    const bool for_snapshots = d->message->hello.mode == CAIRN_MODE_INTERPOLATE;
    if (!for_snapshots || !cairn_mode_simulates(d->session->mode)) {
        return on_violation(d);
    }
    cairn_server_resync_demote(&d->server->resync, d->session, "the client asked for it");
    return d->session->state;
}

// The session is freed when netcode reports the disconnect.
static cairn_session_state disconnect(const dispatch *d) {
    const cairn_server_context *context = &d->server->context;
    cairn_netcode_server_disconnect(context->netcode, context->now_ns, d->session->client);
    d->session->timeout_ns = UINT64_MAX;
    return d->session->state;
}

static cairn_session_state on_hello_timeout(const dispatch *d) {
    emit(d, CAIRN_LOG_WARN, "hello_missing", "the client sent no HELLO in time", 0);
    return disconnect(d);
}

static const char *disconnect_text(cairn_netcode_disconnect_reason reason) {
    switch (reason) {
    case CAIRN_NETCODE_LEFT:
        return "the client disconnected";
    case CAIRN_NETCODE_TIMED_OUT:
        return "timed out";
    case CAIRN_NETCODE_KICKED:
        return "was disconnected by the server";
    case CAIRN_NETCODE_REPLACED:
        return "connected again with a newer token";
    }
    return "";
}

static cairn_session_state on_disconnect(const dispatch *d) {
    cairn_session *session = d->session;
    const cairn_link_statistics *link = cairn_link_statistics_read(session->link);
    for (uint32_t i = 0; i < CAIRN_LINK_DROP_COUNT; ++i) {
        d->server->statistics.drops_link[i] += link->drops[i];
    }
    emit(d, CAIRN_LOG_INFO, "client_left", disconnect_text(session->disconnect), 0);
    leave_room(d);
    const cairn_client_budget used = {
        .bytes = session->budget, .messages = session->message_budget};
    cairn_budget_ledger_put(
        &d->server->budgets, session->client_id, &used, d->server->context.now_ns);
    cairn_link_destroy(session->link);
    session->link = NULL;
    cairn_session_drop_conditioners(session);
    session->client_id = 0;
    session->timeout_ns = UINT64_MAX;
    return CAIRN_SESSION_FREE;
}

// Tells the client and ends the session, which cannot do anything without a room.
static cairn_session_state on_room_closed(const dispatch *d) {
    CAIRN_ASSERT(d->message->kind == CAIRN_MESSAGE_EVENT && d->session->room != NULL);
    cairn_session_send_reliable(d->session, d->server->context.encoder, d->message);
    d->session->timeout_ns = d->server->context.now_ns + CAIRN_SESSION_REFUSED_NS;
    leave_room(d);
    return CAIRN_SESSION_REFUSED;
}

// Row: state. Column: event. Every pair is written out; what cannot happen says so.
static const action table[CAIRN_SESSION_STATE_COUNT][CAIRN_SESSION_EVENT_COUNT] = {
    // clang-format off
    //                           connect     hello            input           roots         resync request     control       message            malformed     timeout           all acknowledged  room closed     disconnect
    [CAIRN_SESSION_FREE]      = {on_connect, ignore,          ignore,         ignore,       ignore,            ignore,       ignore,            ignore,       ignore,           ignore,     impossible,     ignore},
    [CAIRN_SESSION_CONNECTED] = {impossible, on_hello,        on_violation,   on_violation, on_violation,      on_violation, on_violation,      on_violation, on_hello_timeout, ignore,     impossible,     on_disconnect},
    [CAIRN_SESSION_WELCOMED]  = {impossible, on_second_hello, on_first_input, on_roots,     on_resync_request, on_control,   on_player_message, on_violation, ignore,           ignore,     on_room_closed, on_disconnect},
    [CAIRN_SESSION_PLAYING]   = {impossible, on_second_hello, on_input,       on_roots,     on_resync_request, on_control,   on_player_message, on_violation, ignore,           ignore,     on_room_closed, on_disconnect},
    [CAIRN_SESSION_REFUSED]   = {impossible, ignore,          ignore,         ignore,       ignore,            ignore,       ignore,            ignore,       disconnect,       disconnect, impossible,     on_disconnect},
    // clang-format on
};

void cairn_session_dispatch(cairn_server *server, cairn_session *session, cairn_session_event event,
    const cairn_message *message) {
    const dispatch d = {.server = server, .session = session, .message = message};
    CAIRN_ASSERT(event < CAIRN_SESSION_EVENT_COUNT);
    session->state = table[session->state][event](&d);
    cairn_session_touch(session);
    CAIRN_ASSERT((session->state == CAIRN_SESSION_FREE) == (session->link == NULL));
    CAIRN_ASSERT(cairn_session_is_admitted(session) == (session->room != NULL));
}
