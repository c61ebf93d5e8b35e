// SPDX-License-Identifier: MIT
#include "server/session/session.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/snapshot.h"
#include "server/room/room_table.h"
#include "server/server_parts.h"

const char *cairn_session_state_text(cairn_session_state state) {
    static const char *const texts[CAIRN_SESSION_STATE_COUNT] = {
        [CAIRN_SESSION_FREE] = "free",
        [CAIRN_SESSION_CONNECTED] = "connected",
        [CAIRN_SESSION_WELCOMED] = "welcomed",
        [CAIRN_SESSION_PLAYING] = "playing",
        [CAIRN_SESSION_REFUSED] = "refused",
    };
    return texts[state];
}

// What an action sees. It returns the next state.
typedef struct visit {
    cairn_server *server;
    cairn_session *session;
    const cairn_message *message;
} visit;
typedef cairn_session_state (*action)(const visit *v);

static void tell(
    const visit *v, cairn_log_level level, const char *name, const char *detail, int64_t value) {
    cairn_server_emit_event(
        v->server, v->session->room, level, name, v->session->client_id, detail, value);
}

static cairn_session_state ignore(const visit *v) {
    return v->session->state;
}

// What netcode, ours, promises never to do.
static cairn_session_state impossible(const visit *v) {
    CAIRN_ASSERT(v->session->state == CAIRN_SESSION_STATE_COUNT);
    return v->session->state;
}

static cairn_session_state admit(const visit *v) {
    cairn_session *session = v->session;
    const uint32_t bodies = cairn_room_table_bodies_max(v->server);
    const cairn_link_config config = cairn_room_table_link_config(bodies);
    cairn_link *link;
    if (cairn_link_create(&config, v->server->now_ns, &link) != CAIRN_OK) {
        tell(v, CAIRN_LOG_ERROR, "client_refused", "out of memory", 0);
        cairn_netcode_server_disconnect(v->server->netcode, v->server->now_ns, session->client);
        return CAIRN_SESSION_FREE;
    }
    *session = (cairn_session){
        .client = session->client,
        .client_id = session->client_id,
        .rights = session->rights,
        .link = link,
        .link_bodies = bodies,
        .slot = CAIRN_SLOT_NONE,
        .timeout_ns = v->server->now_ns + CAIRN_SESSION_HELLO_NS,
    };
    tell(v, CAIRN_LOG_INFO, "client_connected", "", 0);
    return CAIRN_SESSION_CONNECTED;
}

static cairn_session_state refuse(const visit *v, cairn_refusal_reason reason, const char *words) {
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_REFUSED,
        .refused = {.reason = reason, .words = words},
    };
    cairn_server_send_reliable(v->server, v->session, &message);
    v->session->timeout_ns = v->server->now_ns + CAIRN_SESSION_REFUSED_NS;
    tell(v, CAIRN_LOG_WARN, "client_refused", words, reason);
    return CAIRN_SESSION_REFUSED;
}

// Whether the client can run this room's simulation; only lockstep needs it. A room without rules
// asks for none, whatever else the client knows.
static bool simulates(const cairn_room *room, const cairn_hello *hello) {
    const char *needed = cairn_room_rules_name(room);
    return needed[0] == '\0' || (strcmp(hello->rules_name, needed) == 0 &&
                                    hello->rules_version == cairn_room_rules_version(room));
}

static void welcome(const visit *v, const char *words) {
    const cairn_room *room = v->session->room;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_WELCOME,
        .welcome = {.tick = room->scheduler.tick,
            .slot = v->session->slot,
            .tick_rate_hz = room->tick_rate_hz,
            .snapshot_rate_hz = room->snapshot_rate_hz,
            .mode = v->session->mode,
            .sim_version = CAIRN_SIM_VERSION,
            .rules_version = cairn_room_rules_version(room),
            .rules_name = cairn_room_rules_name(room),
            .scene_name = room->scene_name,
            .scene_digest = room->start_root,
            .room = room->name,
            .wait_ms = room->input_wait.wait_ms,
            .rights = v->session->rights,
            .words = words},
    };
    size_t size = cairn_server_send_reliable(v->server, v->session, &message);
    CAIRN_ASSERT(size > 0);
}

// Why the client cannot take part in the room; words NULL: it can.
typedef struct obstacle {
    cairn_refusal_reason reason;
    const char *words;
} obstacle;

static obstacle obstacle_of(const cairn_room *room, const cairn_hello *hello, uint32_t mode) {
    bool lockstep = cairn_mode_simulates(hello->mode);
    if (lockstep && hello->sim_version != CAIRN_SIM_VERSION) {
        return (obstacle){CAIRN_REFUSAL_SIM_VERSION, "the server runs another simulation version"};
    }
    if (lockstep && !simulates(room, hello)) {
        return (obstacle){CAIRN_REFUSAL_RULES, "the client does not have the rules of this room"};
    }
    if (!cairn_mode_simulates(mode) && room->counts.bodies > CAIRN_KEYFRAME_BODIES_MAX) {
        return (obstacle){CAIRN_REFUSAL_TOO_MANY_BODIES,
            "the room has more bodies than a snapshot holds; lockstep has no such limit"};
    }
    return (obstacle){0};
}

// The player's slot goes back to the room, the transfer's reader is gone, and so is the member.
static void leave_room(const visit *v) {
    cairn_session *session = v->session;
    cairn_room *room = session->room;
    if (room == NULL) {
        return;
    }
    if (session->slot != CAIRN_SLOT_NONE) {
        cairn_inbox_leave(room->inbox, session->slot);
        room->statistics.leaves += 1;
        session->slot = CAIRN_SLOT_NONE;
    }
    if (session->transferring) {
        cairn_state_source_leave(&room->transfer);
        session->transferring = false;
    }
    cairn_server_resync_forget(room, session);
    cairn_room_remove_member(room, session);
}

static const char *mode_text(uint32_t mode) {
    static const char *const texts[CAIRN_MODE_COUNT] = {
        [CAIRN_MODE_INTERPOLATE] = "interpolate",
        [CAIRN_MODE_LOCKSTEP] = "lockstep",
        [CAIRN_MODE_PREDICT] = "predict",
        [CAIRN_MODE_HEAL] = "heal",
    };
    return texts[mode];
}

// Served by snapshots, because its world would sooner or later not be ours.
static void note_unfit(const visit *v, const char *words) {
    if (words != NULL) {
        v->session->room->statistics.clients_unfit += 1;
        tell(v, CAIRN_LOG_WARN, "client_unfit", words, v->message->hello.passport_faults);
    }
}

static cairn_session_state greet(const visit *v) {
    cairn_session *session = v->session;
    const cairn_hello *hello = &v->message->hello;
    if (hello->protocol_version != CAIRN_PROTOCOL_VERSION) {
        return refuse(v, CAIRN_REFUSAL_PROTOCOL_VERSION, "the server speaks another protocol");
    }
    cairn_room *room =
        cairn_room_table_find(v->server, cairn_server_room_find(v->server, hello->room));
    if (room == NULL) {
        return refuse(v, CAIRN_REFUSAL_ROOM_UNKNOWN, "the server has no such room");
    }
    const char *unfit =
        cairn_mode_simulates(hello->mode) ? cairn_server_resync_unfit(v->server, hello) : NULL;
    const uint32_t mode = unfit != NULL ? CAIRN_MODE_INTERPOLATE : hello->mode;
    if (room->body_capacity > session->link_bodies) {
        return refuse(v, CAIRN_REFUSAL_ROOM_CLOSED, "the room is younger than the connection");
    }
    const obstacle found = obstacle_of(room, hello, mode);
    if (found.words != NULL) {
        return refuse(v, found.reason, found.words);
    }
    if (!cairn_room_add_member(room, session)) {
        return refuse(v, CAIRN_REFUSAL_ROOM_FULL, "the server is out of memory");
    }
    if (hello->spectator == 0) {
        uint32_t slot = cairn_inbox_join(room->inbox);
        if (slot == CAIRN_SLOTS_MAX) {
            leave_room(v);
            return refuse(v, CAIRN_REFUSAL_ROOM_FULL, "all players' slots are taken");
        }
        session->slot = slot;
        cairn_input_wait_reset_slot(room, slot);
        room->statistics.joins += 1;
    }
    session->mode = mode;
    session->timeout_ns = UINT64_MAX;
    note_unfit(v, unfit);
    welcome(v, unfit != NULL ? unfit : "");
    cairn_control_greet(v->server, session);
    tell(v, CAIRN_LOG_INFO, "client_joined", mode_text(session->mode), session->slot);
    return CAIRN_SESSION_WELCOMED;
}

static cairn_session_state fault(const visit *v) {
    v->server->statistics.faults += 1;
    v->session->faults += 1;
    if (v->session->faults < CAIRN_SESSION_FAULTS_MAX) {
        return v->session->state;
    }
    leave_room(v);
    return refuse(v, CAIRN_REFUSAL_MALFORMED, "too many messages that no client sends");
}

static void take_one_input(const visit *v, const cairn_wire_input *input) {
    cairn_session *session = v->session;
    cairn_server_room_statistics *statistics = &session->room->statistics;
    const cairn_command command = cairn_command_of_input(input, session->slot);
    if (cairn_command_check(&command) != CAIRN_OK) {
        statistics->inputs_refused += 1;
        return;
    }
    switch (cairn_inbox_take(v->session->room->inbox, session->slot, input->tick, &command)) {
    case CAIRN_INBOX_TAKEN:
        statistics->inputs_taken += 1;
        break;
    case CAIRN_INBOX_LATE:
        statistics->inputs_late += 1;
        session->inputs_late += 1;
        break;
    case CAIRN_INBOX_EARLY:
        statistics->inputs_early_refused += 1;
        session->inputs_early_refused += 1;
        break;
    case CAIRN_INBOX_REPEATED:
        statistics->inputs_repeated += 1;
        return;
    default:
        statistics->inputs_refused += 1;
        return;
    }
    int32_t us =
        cairn_tick_scheduler_lateness_us(&session->room->scheduler, input->tick, v->server->now_ns);
    session->lateness_us_last = us;
    if (!session->lateness_fresh || us > session->lateness_us_worst) {
        session->lateness_us_worst = us;
    }
    session->lateness_fresh = true;
}

// Acknowledgements only grow, and only up to what exists: a word about the future is a lie that
// must not become a baseline.
static void take_acknowledgements(const visit *v, const cairn_input_message *input) {
    cairn_session *session = v->session;
    const cairn_room *room = v->session->room;
    if (input->snapshot_acknowledged > session->snapshot_acknowledged &&
        input->snapshot_acknowledged <= room->scheduler.tick) {
        session->snapshot_acknowledged = input->snapshot_acknowledged;
    }
    if (input->ticks_acknowledged > session->ticks_acknowledged &&
        input->ticks_acknowledged <= cairn_command_log_end(room->command_log)) {
        session->ticks_acknowledged = input->ticks_acknowledged;
    }
}

// Whether such ticks exist, and are held, is asked when somebody looks back.
static void take_sight(cairn_session *session, const cairn_input_message *input) {
    if (input->sent_at_us >= session->shown_at_us) {
        session->shown_at_us = input->sent_at_us;
        session->shown_tick = input->shown_tick;
        session->shown_span = input->shown_span;
        session->shown_share = input->shown_share;
    }
}

static cairn_session_state take_input(const visit *v) {
    const cairn_input_message *input = &v->message->input;
    if (input->world_epoch != v->session->world_epoch) {
        return v->session->state; // of a world that is no more
    }
    take_acknowledgements(v, input);
    take_sight(v->session, input);
    if (v->session->slot == CAIRN_SLOT_NONE) {
        return input->input_count == 0 ? v->session->state : fault(v);
    }
    for (uint32_t i = 0; i < input->input_count; ++i) {
        take_one_input(v, &input->inputs[i]);
    }
    return v->session->state;
}

static cairn_session_state take_first_input(const visit *v) {
    cairn_session_state next = take_input(v);
    const cairn_session *session = v->session;
    bool holds_state = cairn_mode_simulates(session->mode)
                           ? session->ticks_acknowledged > session->ticks_from
                           : session->snapshot_acknowledged != 0;
    if (next != CAIRN_SESSION_WELCOMED || !holds_state) {
        return next;
    }
    tell(v, CAIRN_LOG_INFO, "client_playing", "", session->slot);
    return CAIRN_SESSION_PLAYING;
}

static void compare_root(const visit *v, const cairn_wire_root *root) {
    cairn_hash128 ours;
    const cairn_hash128 theirs = {.lo = root->lo, .hi = root->hi};
    // The root taken at tick T belongs to the step that made T of T - 1.
    if (root->tick == 0 ||
        !cairn_command_log_root(v->session->room->command_log, root->tick - 1, &ours)) {
        return;
    }
    v->session->room->statistics.roots_compared += 1;
    if (!cairn_hash_equal(ours, theirs)) {
        v->session->room->statistics.roots_differed += 1;
        tell(v, CAIRN_LOG_ERROR, "root_differed", "the client's world is not ours",
            (int64_t)root->tick);
        cairn_desync_root_differed(v->server, v->session, root->tick, theirs);
        cairn_server_resync_root_differed(v->server, v->session);
    } else {
        cairn_desync_root_agreed(v->session, root->tick);
    }
}

static cairn_session_state take_roots(const visit *v) {
    const cairn_root_report *report = &v->message->root_report;
    if (!cairn_mode_simulates(v->session->mode)) {
        return v->session->demoted ? v->session->state : fault(v);
    }
    const bool current = report->world_epoch == v->session->world_epoch;
    for (uint32_t i = 0; current && i < report->root_count; ++i) {
        compare_root(v, &report->roots[i]);
    }
    return v->session->state;
}

static cairn_session_state take_control(const visit *v) {
    const bool beyond_reason = cairn_control_take(v->server, v->session, &v->message->control);
    return beyond_reason ? fault(v) : v->session->state;
}

// What was under way when the client was moved down is nobody's fault.
static cairn_session_state take_doubt(const visit *v) {
    if (!cairn_mode_simulates(v->session->mode)) {
        return v->session->demoted ? v->session->state : fault(v);
    }
    const cairn_resync_request *doubt = &v->message->resync_request;
    if (doubt->world_epoch != v->session->world_epoch) {
        return v->session->state; // about a world that is no more
    }
    if ((doubt->want & CAIRN_RESYNC_WANT_STAGES) != 0) {
        cairn_desync_take_request(v->server, v->session, doubt);
    }
    if ((doubt->want & CAIRN_RESYNC_WANT_ELEMENTS) != 0) {
        cairn_server_resync_take_request(v->server, v->session, doubt);
    }
    return v->session->state;
}

// A second HELLO may ask for less: to be served by snapshots.
static cairn_session_state greet_again(const visit *v) {
    const bool less = v->message->hello.mode == CAIRN_MODE_INTERPOLATE;
    if (!less || !cairn_mode_simulates(v->session->mode)) {
        return fault(v);
    }
    cairn_server_resync_demote(v->server, v->session, "the client asked for it");
    return v->session->state;
}

// The rest follows when netcode says that the client is gone.
static cairn_session_state kick(const visit *v) {
    cairn_netcode_server_disconnect(v->server->netcode, v->server->now_ns, v->session->client);
    v->session->timeout_ns = UINT64_MAX;
    return v->session->state;
}

static cairn_session_state lose_patience(const visit *v) {
    tell(v, CAIRN_LOG_WARN, "hello_missing", "no hello in time", 0);
    return kick(v);
}

static const char *gone_text(cairn_netcode_disconnect_reason reason) {
    switch (reason) {
    case CAIRN_NETCODE_LEFT:
        return "said goodbye";
    case CAIRN_NETCODE_TIMED_OUT:
        return "timed out";
    case CAIRN_NETCODE_KICKED:
        return "was disconnected";
    }
    return "";
}

static cairn_session_state leave(const visit *v) {
    const cairn_link_statistics *link = cairn_link_statistics_read(v->session->link);
    for (uint32_t i = 0; i < CAIRN_LINK_DROP_COUNT; ++i) {
        v->server->statistics.drops_link[i] += link->drops[i];
    }
    tell(v, CAIRN_LOG_INFO, "client_left", gone_text(v->session->gone), 0);
    leave_room(v);
    cairn_link_destroy(v->session->link);
    v->session->link = NULL;
    cairn_link_conditioner_destroy(v->session->faults_in);
    cairn_link_conditioner_destroy(v->session->faults_out);
    v->session->faults_in = NULL;
    v->session->faults_out = NULL;
    v->session->client_id = 0;
    v->session->timeout_ns = UINT64_MAX;
    return CAIRN_SESSION_FREE;
}

// Without a room there is nothing left but to say so.
static cairn_session_state close_room(const visit *v) {
    cairn_server_send_reliable(v->server, v->session, v->message);
    v->session->timeout_ns = v->server->now_ns + CAIRN_SESSION_REFUSED_NS;
    leave_room(v);
    return CAIRN_SESSION_REFUSED;
}

// Row: state. Column: event. Every pair is written out; what cannot happen says so.
static const action table[CAIRN_SESSION_STATE_COUNT][CAIRN_SESSION_EVENT_COUNT] = {
    // clang-format off
    //                           connect     hello        input             roots       doubt       control       malformed patience       settled closed      gone
    [CAIRN_SESSION_FREE]      = {admit,      ignore,      ignore,           ignore,     ignore,     ignore,       ignore,   ignore,        ignore, impossible, ignore},
    [CAIRN_SESSION_CONNECTED] = {impossible, greet,       fault,            fault,      fault,      fault,        fault,    lose_patience, ignore, impossible, leave},
    [CAIRN_SESSION_WELCOMED]  = {impossible, greet_again, take_first_input, take_roots, take_doubt, take_control, fault,    ignore,        ignore, close_room, leave},
    [CAIRN_SESSION_PLAYING]   = {impossible, greet_again, take_input,       take_roots, take_doubt, take_control, fault,    ignore,        ignore, close_room, leave},
    [CAIRN_SESSION_REFUSED]   = {impossible, ignore,      ignore,           ignore,     ignore,     ignore,       ignore,   kick,          kick,   impossible, leave},
    // clang-format on
};

void cairn_session_dispatch(struct cairn_server *server, cairn_session *session,
    cairn_session_event event, const cairn_message *message) {
    const visit v = {.server = server, .session = session, .message = message};
    session->state = table[session->state][event](&v);
}

cairn_wire_timing cairn_session_timing(cairn_session *session) {
    bool plays = session->slot != CAIRN_SLOT_NONE;
    cairn_wire_timing timing = {
        .input_acknowledged =
            plays ? cairn_inbox_acknowledged(session->room->inbox, session->slot) : 0,
        .lateness_us_worst =
            session->lateness_fresh ? session->lateness_us_worst : session->lateness_us_last,
        .lateness_us_last = session->lateness_us_last,
        .inputs_late = session->inputs_late,
        .inputs_early_refused = session->inputs_early_refused,
    };
    session->lateness_fresh = false;
    return timing;
}
