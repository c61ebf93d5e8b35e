// SPDX-License-Identifier: MIT
#include "server/handover/clients.h"

#include "base/assert.h"
#include "net/handover.h"
#include "net/netcode_server.h"
#include "server/core/hosted_room.h"

#define TIME_MAX (UINT64_MAX / 2)

static void put_numbers(cairn_archive *a, cairn_session *s, uint64_t now_ns) {
    uint32_t state = s->state;
    bool times_out = s->timeout_ns != UINT64_MAX;
    uint64_t timeout_ns = times_out ? s->timeout_ns : 0;
    cairn_archive_u32(
        a, "a client's state", &state, CAIRN_SESSION_CONNECTED, CAIRN_SESSION_REFUSED);
    s->state = (cairn_session_state)state;
    cairn_archive_u32(a, "a client's mode", &s->mode, 0, CAIRN_MODE_COUNT - 1);
    cairn_archive_bool(a, "a client's time-out", &times_out);
    cairn_archive_u64(a, "a client's time-out", &timeout_ns, 0, TIME_MAX);
    s->timeout_ns = times_out ? timeout_ns : UINT64_MAX;
    cairn_archive_u64(a, "a client's time", &s->received_ns, 0, now_ns);
    cairn_archive_u64(a, "a client's time", &s->progress_ns, 0, now_ns);
    cairn_archive_words(a, &s->acknowledged, 1);
    cairn_archive_bool(a, "a client's stream", &s->stream_idle);
    cairn_archive_words(a, &s->messages_held_back, 1);
    cairn_archive_u32(a, "violations", &s->violations, 0, UINT32_MAX - 1);
    cairn_archive_u32(a, "a world's epoch", &s->world_epoch, 0, UINT32_MAX - 1);
    cairn_archive_bool(a, "a client's mode", &s->demoted);
    cairn_archive_u32(a, "refused messages", &s->messages_refused, 0, UINT32_MAX);
    cairn_archive_u64(a, "a client's time", &s->refused_told_ns, 0, now_ns);
    cairn_archive_words(a, &s->budget.second, 1);
    cairn_archive_words(a, s->budget.received, CAIRN_BYTE_BUDGET_SECONDS);
    cairn_archive_words(a, s->budget.spent, CAIRN_BYTE_BUDGET_SECONDS);
    cairn_archive_u64(a, "a client's budget", &s->budget.state_ns, 0, TIME_MAX);
    cairn_archive_u64(a, "a client's budget", &s->budget.state_wait_ns, 0, TIME_MAX);
    cairn_archive_words(a, &s->message_budget.spent, 1);
    cairn_archive_u64(a, "a client's budget", &s->message_budget.spent_ns, 0, now_ns);
}

static void put_timing(cairn_archive *a, cairn_input_timing *timing) {
    uint64_t last = (uint64_t)(int64_t)timing->lateness_us_last;
    uint64_t worst = (uint64_t)(int64_t)timing->lateness_us_worst;
    cairn_archive_words(a, &last, 1);
    cairn_archive_words(a, &worst, 1);
    timing->lateness_us_last = (int32_t)last;
    timing->lateness_us_worst = (int32_t)worst;
    cairn_archive_bool(a, "a client's inputs", &timing->reported);
    cairn_archive_u32(a, "late inputs", &timing->inputs_late, 0, UINT32_MAX);
    cairn_archive_u32(a, "early inputs", &timing->inputs_early_refused, 0, UINT32_MAX);
}

// The number of the next record of a log, as how many are behind it: each process counts on its
// own. What the log of the reading side does not hold is missed, as with a client that is slow.
static void put_place(
    cairn_archive *a, const char *what, uint64_t written, uint64_t *next, uint64_t *missed) {
    uint64_t behind = written - *next;
    cairn_archive_u64(a, what, &behind, 0, UINT32_MAX);
    if (a->reading) {
        *missed += behind > written ? behind - written : 0;
        *next = behind > written ? 0 : written - behind;
    }
}

static void put_logs(cairn_archive *a, cairn_session *s) {
    cairn_session_replication *own = s->replication;
    const struct cairn_server_job *job = &s->room->job;
    uint64_t missed = own->events.missed;
    uint64_t none = 0;
    cairn_archive_bool(a, "world events", &own->events.begun);
    cairn_archive_bool(a, "messages of the rules", &own->game.begun);
    cairn_archive_words(a, &missed, 1);
    cairn_archive_words(a, &own->game.missed, 1);
    if (own->events.begun) {
        put_place(a, "world events", job->events.written, &own->events.next, &missed);
    }
    if (own->game.begun) {
        put_place(a, "messages of the rules", job->game_messages.written, &own->game.next,
            &own->game.missed);
        put_place(a, "events of the rules", job->game_events.written, &own->game.next_event, &none);
    }
    own->events.missed = missed < UINT32_MAX ? (uint32_t)missed : UINT32_MAX;
}

// `count` of `capacity` ids are there; 0 is none. They are read into `out`, which is zeros.
static void put_ids(
    cairn_archive *a, const char *what, const uint32_t *ids, uint32_t *out, uint32_t capacity) {
    uint32_t count = 0;
    for (uint32_t i = 0; !a->reading && i < capacity; ++i) {
        count += ids[i] != 0 ? 1 : 0;
    }
    cairn_archive_u32(a, what, &count, 0, capacity);
    for (uint32_t i = 0, at = 0; i < count; ++i, ++at) {
        while (!a->reading && ids[at] == 0) {
            ++at;
        }
        uint32_t id = a->reading ? 0 : ids[at];
        cairn_archive_u32(a, what, &id, 1, UINT32_MAX);
        if (a->reading && cairn_id_index(id) >= capacity) {
            cairn_archive_refuse(a, what);
            return;
        }
        if (a->reading) {
            out[cairn_id_index(id)] = id;
        }
    }
}

// Which revision of a list the client has: the newest, or an earlier one. Each process counts on
// its own. Returns whether it is the newest.
static bool put_revision(cairn_archive *a, uint32_t newest, uint32_t *revision) {
    bool whole = *revision == newest;
    cairn_archive_bool(a, "a list's revision", &whole);
    *revision = !a->reading ? *revision : whole ? newest : 0;
    return whole;
}

static void put_shapes(cairn_archive *a, cairn_session *s) {
    cairn_session_replication *own = s->replication;
    cairn_room_replication *room = s->room->replication;
    if (a->reading && !cairn_shapes_sent_own(&own->shapes, &room->shapes)) {
        cairn_archive_refuse(a, "out of memory");
        return;
    }
    if (!put_revision(a, room->shapes.revision, &own->shapes.revision)) {
        put_ids(a, "a client's shapes", own->shapes.ids, own->shapes.own, s->room->shape_capacity);
    } else if (a->reading) {
        cairn_shapes_sent_all(&own->shapes, &room->shapes);
    }
    cairn_archive_u32(a, "a client's shapes", &own->shapes.messages, 0, UINT32_MAX);
    if (own->meshes.ids == NULL) {
        return;
    }
    put_ids(a, "a client's meshes", own->meshes.ids, own->meshes.ids, s->room->mesh_capacity);
    (void)put_revision(a, room->meshes.revision, &own->meshes.revision);
    cairn_archive_u32(a, "a client's meshes", &own->meshes.shape_messages, 0, UINT32_MAX);
    cairn_archive_u32(a, "a client's meshes", &own->meshes.partial, 0, s->room->mesh_capacity);
    const uint32_t words = own->meshes.partial == 0
                               ? UINT32_MAX
                               : room->meshes.meshes[own->meshes.partial - 1].word_count;
    cairn_archive_u32(a, "a client's meshes", &own->meshes.first, 0, words);
}

// A state that is on its way is sent again from its beginning, or a newer one.
static void put_progress(cairn_archive *a, cairn_session *s) {
    cairn_session_replication *own = s->replication;
    cairn_snapshots_sent *snapshots = &own->snapshots;
    const uint64_t tick = s->room->scheduler.tick;
    bool sent = own->state.sent && own->state.reading == NULL;
    cairn_archive_u64(a, "a snapshot's tick", &snapshots->acknowledged, 0, tick);
    cairn_archive_words(a, snapshots->acknowledged_before, CAIRN_SNAPSHOTS_ACKNOWLEDGED_MAX);
    cairn_archive_u64(a, "a snapshot's tick", &snapshots->keyframe_tick, 0, tick);
    cairn_archive_u64(a, "a snapshot's tick", &snapshots->keyframes_from, 0, tick);
    cairn_archive_u64(a, "a snapshot's tick", &snapshots->keyframes_to, 0, tick);
    cairn_archive_bool(a, "a client's state", &own->state.requested);
    cairn_archive_bool(a, "a client's state", &sent);
    cairn_archive_u64(a, "a state's tick", &own->state.tick_min, 0, tick);
    cairn_archive_u64(a, "a state's tick", &own->state.tick, 0, tick);
    cairn_archive_u64(a, "a client's tick", &own->ticks.acknowledged, 0, tick);
    cairn_archive_words(a, &own->ticks.early, 1);
    cairn_archive_u64(a, "a client's tick", &own->ticks.sent_end, 0, tick);
    cairn_archive_u64(a, "a client's tick", &own->ticks.queued, 0, tick);
    cairn_archive_words(a, own->ticks.sent_ns, CAIRN_TICKS_IN_FLIGHT);
    own->state.sent = a->reading ? sent : own->state.sent;
}

// A player has a slot that the inbox knows, and no other session has.
static void put_slot(cairn_archive *a, cairn_session *s) {
    uint32_t slot = s->slot == CAIRN_SLOT_NONE ? CAIRN_SLOTS_MAX : s->slot;
    cairn_archive_u32(a, "a client's slot", &slot, 0, CAIRN_SLOTS_MAX);
    if (!a->reading || slot == CAIRN_SLOTS_MAX) {
        return;
    }
    bool free_slot =
        slot < s->room->settings.players_max && cairn_inbox_has_player(s->room->inbox, slot);
    for (const cairn_session *at = s->room->members; at != NULL; at = at->member_next) {
        free_slot = free_slot && at->slot != slot;
    }
    if (!free_slot) {
        cairn_archive_refuse(a, "a client's slot");
        return;
    }
    s->slot = slot;
}

// Of a client in a room. One that has a view of a part of it is served as if the room's world had
// been replaced: what a view holds is not handed over.
static void put_membership(cairn_server *server, cairn_session *s, cairn_archive *a) {
    bool has_view = s->replication->view != NULL;
    put_slot(a, s);
    put_timing(a, &s->input_timing);
    cairn_archive_bool(a, "a client's view", &has_view);
    put_logs(a, s);
    put_shapes(a, s);
    put_progress(a, s);
    if (a->reading && has_view && a->refused == NULL) {
        cairn_replication_reset(s);
        cairn_hosted_room_restart_member(&server->context, s);
    }
}

// False: no memory.
static bool open_session(cairn_server *server, cairn_handover_links *links, cairn_session *session,
    cairn_room *room, uint32_t bodies) {
    const uint8_t *user_data;
    *session = (cairn_session){.client = session->client,
        .due_ns = session->due_ns,
        .client_id =
            cairn_netcode_server_identity(server->context.netcode, session->client, &user_data),
        .link_bodies = bodies,
        .slot = CAIRN_SLOT_NONE,
        .timeout_ns = UINT64_MAX,
        .rollbacks = {.taken_ns = server->context.now_ns, .adopted = true},
        .replication = session->replication,
        .lag = session->lag,
        .resync = session->resync};
    session->user_malformed = cairn_user_data_decode(user_data, &session->user) != CAIRN_OK;
    session->rights = session->user.rights;
    return cairn_handover_links_take(links, server, bodies, &session->link) &&
           (room == NULL || cairn_hosted_room_join(room, session));
}

bool cairn_session_hand_over(cairn_server *server, cairn_handover_links *links,
    cairn_session *session, cairn_room *room, cairn_archive *a) {
    const uint64_t now_ns = server->context.now_ns;
    uint32_t bodies = session->link_bodies;
    CAIRN_ASSERT(a->reading || session->room == room);
    cairn_archive_u32(a, "a client's link", &bodies, 0, CAIRN_BODIES_MAX);
    if (a->reading && a->refused == NULL && !open_session(server, links, session, room, bodies)) {
        cairn_archive_refuse(a, "out of memory");
    }
    if (a->refused != NULL) {
        return false;
    }
    cairn_link_hand_over(session->link, now_ns, a);
    put_numbers(a, session, now_ns);
    if (cairn_session_is_admitted(session) != (room != NULL)) {
        cairn_archive_refuse(a, "a client's state");
    }
    if (room != NULL && a->refused == NULL) {
        put_membership(server, session, a);
    }
    cairn_session_touch(session);
    return a->refused == NULL;
}
