// SPDX-License-Identifier: MIT
#include "server/replicate/replication.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/replicate/parts.h"
#include "server/replicate/view_shapes.h"

// Baselines: enough for an acknowledgement that takes three seconds, in at most this much memory.
#define BASELINE_SECONDS 3
#define BASELINE_BYTES_MAX (size_t)(256 * 1024 * 1024)
// Of a state, about.
#define BODY_SIZE 512
#define CONTACT_SIZE 128

static uint32_t baseline_count(const cairn_room *room) {
    const size_t wanted = (size_t)BASELINE_SECONDS * room->settings.snapshot_rate_hz;
    const size_t affordable = BASELINE_BYTES_MAX / (room->body_capacity * CAIRN_FRAME_BODY_SIZE);
    const size_t count = wanted < affordable ? wanted : affordable;
    return (uint32_t)(count < 8 ? 8 : count);
}

// A save is the block as it lies in memory; the canonical encoding is at most twice as long.
static size_t state_size_max(const cairn_world *world) {
    const size_t size = 2 * cairn_world_save_size_max(world) + 4096;
    return size < CAIRN_STATE_SIZE_MAX ? size : CAIRN_STATE_SIZE_MAX;
}

cairn_status cairn_room_replication_create(cairn_room *room, cairn_task_runner *runner) {
    cairn_room_replication *replication = room->replication;
    CAIRN_ASSERT(replication->baselines == NULL);
    if (!cairn_room_shapes_create(room->shape_capacity, room->world, &replication->shapes) ||
        !cairn_room_meshes_create(room->mesh_capacity, room->world, &replication->meshes)) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const uint64_t span_ns =
        CAIRN_ROOM_COMMAND_LOG_TICKS * CAIRN_NS_PER_S / room->settings.tick_rate_hz;
    replication->state = cairn_state_source_of(state_size_max(room->world), span_ns, runner);
    const cairn_quantisation quantisation = cairn_room_quantisation(room);
    if (cairn_tick_records_create(&replication->tick_records) != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    return cairn_baselines_create(baseline_count(room), cairn_world_settings(room->world),
        &quantisation, &replication->baselines);
}

void cairn_room_replication_destroy(cairn_room *room) {
    cairn_room_replication *replication = room->replication;
    CAIRN_ASSERT(replication->views == 0);
    cairn_room_interest_destroy(&replication->interest);
    cairn_state_source_destroy(&replication->state);
    cairn_baselines_destroy(replication->baselines);
    cairn_tick_records_destroy(&replication->tick_records);
    cairn_room_meshes_destroy(&replication->meshes);
    cairn_room_shapes_destroy(&replication->shapes);
    *replication = (cairn_room_replication){0};
}

void cairn_room_replication_replace(cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        cairn_replication_reset(member);
        member->replication->game = (cairn_game_sent){0};
    }
    cairn_room_shapes_replace(&room->replication->shapes, room->world);
    cairn_room_meshes_replace(&room->replication->meshes, room->world);
    cairn_baselines_forget(room->replication->baselines);
    cairn_tick_records_forget(&room->replication->tick_records);
    if (room->replication->interest.capacity > 0) {
        cairn_room_interest_forget(&room->replication->interest);
    }
    cairn_state_source_invalidate(&room->replication->state);
}

bool cairn_room_replication_take_snapshot(cairn_room *room) {
    cairn_baselines *baselines = room->replication->baselines;
    uint32_t *shown = &room->replication->shown;
    CAIRN_ASSERT(!room->job.running);
    *shown = 0;
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        *shown += cairn_mode_simulates(at->mode) ? 0 : 1;
    }
    if (*shown == 0) {
        cairn_baselines_forget(baselines);
        return false;
    }
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    return (newest != NULL && newest->frame.tick == room->scheduler.tick) ||
           cairn_baselines_take(
               baselines, room->world, &room->replication->shapes, cairn_room_watch(room));
}

bool cairn_replication_open(cairn_session *session, const cairn_room *room) {
    cairn_session_replication *own = session->replication;
    CAIRN_ASSERT(own->shapes.ids == NULL);
    *own = (cairn_session_replication){0};
    if (room->mesh_capacity > 0) {
        own->meshes.ids = calloc(room->mesh_capacity, sizeof *own->meshes.ids);
        if (own->meshes.ids == NULL) {
            return false;
        }
    }
    cairn_shapes_sent_begin(&own->shapes, &room->replication->shapes);
    return true;
}

static void close_view(cairn_session *session) {
    cairn_session_replication *own = session->replication;
    session->room->replication->views -= own->view != NULL ? 1 : 0;
    cairn_view_destroy(own->view);
    own->view = NULL;
}

void cairn_replication_close(cairn_session *session) {
    cairn_session_replication *own = session->replication;
    CAIRN_ASSERT(own->shapes.ids != NULL);
    close_view(session);
    cairn_state_transfer_abandon(&session->room->replication->state, &own->state);
    cairn_shapes_sent_end(&own->shapes);
    free(own->meshes.ids);
    *own = (cairn_session_replication){0};
}

void cairn_replication_reset(cairn_session *session) {
    cairn_session_replication *own = session->replication;
    const cairn_room *room = session->room;
    CAIRN_ASSERT(own->shapes.ids != NULL);
    close_view(session);
    cairn_state_transfer_abandon(&room->replication->state, &own->state);
    cairn_shapes_sent_begin(&own->shapes, &room->replication->shapes);
    cairn_mesh_id *meshes = own->meshes.ids;
    if (meshes != NULL) {
        memset(meshes, 0, room->mesh_capacity * sizeof *meshes);
    }
    *own = (cairn_session_replication){
        .shapes = own->shapes, .meshes = {.ids = meshes}, .game = own->game};
}

// Acknowledgements only grow, and only up to what exists: a lie about the future must not become a
// baseline.
void cairn_replication_acknowledge(cairn_session *session, const cairn_input_head *input) {
    cairn_session_replication *own = session->replication;
    const cairn_room *room = session->room;
    if (input->snapshot_acknowledged > own->snapshots.acknowledged &&
        input->snapshot_acknowledged <= room->scheduler.tick) {
        cairn_snapshots_acknowledge(&own->snapshots, input->snapshot_acknowledged);
        if (own->view != NULL) {
            cairn_view_acknowledge(own->view, input->snapshot_acknowledged);
        }
    }
    cairn_tick_stream_acknowledge(&own->ticks, room, input->ticks_acknowledged, input->early);
}

bool cairn_replication_holds_world(const cairn_session *session) {
    const cairn_session_replication *own = session->replication;
    return cairn_mode_simulates(session->mode) ? own->ticks.acknowledged > own->state.tick
                                               : own->snapshots.acknowledged != 0;
}

static uint64_t first_missing_tick(const cairn_session_replication *own) {
    return own->ticks.acknowledged > own->state.tick ? own->ticks.acknowledged : own->state.tick;
}

// A client that held ticks must not get a state from before them: it would need ticks that it has
// acknowledged, and acknowledgements may still be on their way. So its state is not older than its
// need. A state from before the command log could not be followed; one that leaves little of the
// log is taken only if there is no other.
static cairn_state_demand state_demand(
    const cairn_session_replication *own, const cairn_room *room) {
    const uint64_t tick = room->scheduler.tick;
    const uint64_t rate_hz = room->settings.tick_rate_hz;
    const uint64_t usable_ticks = CAIRN_ROOM_COMMAND_LOG_TICKS / 2;
    cairn_state_demand demand = {
        .tick_min = tick > usable_ticks ? tick - usable_ticks : 0,
        .tick_fresh = tick > rate_hz ? tick - rate_hz : 0,
    };
    const uint64_t need = own->state.tick_min < tick ? own->state.tick_min : tick;
    demand.tick_min = need > demand.tick_min ? need : demand.tick_min;
    demand.tick_fresh = need > demand.tick_fresh ? need : demand.tick_fresh;
    return demand;
}

// A client that did not acknowledge half of the ticks that the log always keeps has not caught up.
static bool has_caught_up(const cairn_session_replication *own, const cairn_room *room) {
    return own->state.sent && own->ticks.acknowledged > own->state.tick &&
           room->scheduler.tick - first_missing_tick(own) <= CAIRN_ROOM_COMMAND_LOG_TICKS / 2;
}

// Whether an operator made the room run faster than its rate, since the client's state was begun.
static bool room_ran_fast(
    const cairn_session_replication *own, const cairn_room *room, uint64_t now_ns) {
    const uint64_t ticks = room->scheduler.tick - own->state.tick;
    const uint64_t passed_ns = now_ns - own->state.begun_ns + 2 * CAIRN_NS_PER_S;
    return ticks * CAIRN_NS_PER_S / room->settings.tick_rate_hz > 2 * passed_ns;
}

// Notes why the client cannot be served, or what of the log must be kept for it. Where a room runs
// faster than its rate for a while, or memory is short, a client that is left behind gets another
// state.
static void watch_catch_up(const cairn_server_context *context, cairn_session *session) {
    cairn_session_replication *own = session->replication;
    cairn_room *room = session->room;
    cairn_state_source *source = &room->replication->state;
    const uint64_t now_ns = context->now_ns;
    const uint64_t oldest = cairn_command_log_oldest(room->command_log);
    own->state.behind = own->state.behind && !has_caught_up(own, room);
    if (!own->state.behind) {
        return;
    }
    const bool old = room->scheduler.tick - own->state.tick > CAIRN_ROOM_COMMAND_LOG_TICKS;
    const bool in_time = now_ns - own->state.behind_since_ns <= CAIRN_ROOM_CATCH_UP_NS;
    if (old && first_missing_tick(own) < oldest && !(in_time && room_ran_fast(own, room, now_ns))) {
        own->state.refused = "the path or the client is too slow to join: the ticks since the "
                             "world's state are not held so long";
    } else if (old && own->state.reading != NULL &&
               !cairn_state_source_keep(source, own->state.reading)) {
        own->state.refused =
            "too many clients read old states of the world over slow paths to join as well";
    }
    if (own->state.refused != NULL) {
        cairn_state_transfer_abandon(source, &own->state);
    }
}

static void advance_simulating(const cairn_server_context *context, cairn_session *session) {
    cairn_session_replication *own = session->replication;
    cairn_room *room = session->room;
    CAIRN_ASSERT(cairn_mode_simulates(session->mode));
    const uint64_t oldest = cairn_command_log_oldest(room->command_log);
    watch_catch_up(context, session);
    if (own->state.refused != NULL) {
        return;
    }
    if (own->state.reading != NULL && own->state.tick < oldest) {
        // The client could not follow from this state any more, and the state may be freed.
        cairn_state_transfer_abandon(&room->replication->state, &own->state);
    }
    // A client that acknowledged no tick since its last state did not follow that one; the next may
    // be sent for nothing again.
    const bool fell_behind = own->state.sent && first_missing_tick(own) < oldest &&
                             (own->ticks.acknowledged > own->state.tick ||
                                 cairn_byte_budget_spend_state(&session->budget, context->now_ns,
                                     room->replication->state.size));
    const bool reading = own->state.reading != NULL;
    own->state.tick_min = fell_behind ? room->scheduler.tick : own->state.tick_min;
    if (!reading && (own->state.requested || !own->state.sent || fell_behind)) {
        const cairn_state_demand demand = state_demand(own, room);
        own->state.sent = own->state.sent && !fell_behind;
        cairn_state_transfer_begin(
            context, session, &room->replication->state, &own->state, &demand);
        if (own->state.reading != NULL) {
            own->ticks.queued = own->state.tick;
            own->ticks.sent_end = own->state.tick;
        }
    }
    // What is on its way is as good as what the client asked for since.
    own->state.requested = own->state.requested && own->state.reading == NULL;
    if (own->state.reading != NULL) {
        cairn_state_transfer_continue(context, session, &room->replication->state, &own->state);
    }
    // A client discards ticks that arrive before its state.
    const bool arrived =
        cairn_link_reliable_idle(session->link) || own->ticks.acknowledged > own->state.tick;
    if (own->state.sent && arrived && first_missing_tick(own) >= oldest) {
        cairn_tick_stream_send(context, session, &room->replication->tick_records, &own->ticks,
            own->state.tick, first_missing_tick(own));
    }
}

// Whether no client of the room may be sent all of it.
static bool needs_views(const cairn_room *room) {
    const cairn_rules *rules = cairn_world_settings(room->world)->rules;
    return room->settings.view_distance_m > 0 ||
           room->population.bodies > CAIRN_KEYFRAME_BODIES_MAX ||
           (rules != NULL && (rules->view != NULL || rules->relevance != NULL));
}

// Of one client; UINT64_MAX: as many as the path allows.
static uint64_t bytes_per_second(const cairn_room *room) {
    const uint64_t client = room->settings.client_bytes_per_second;
    const uint64_t all = room->settings.room_bytes_per_second;
    const uint64_t shown = room->replication->shown;
    const uint64_t share = all == 0 ? UINT64_MAX : all / (shown > 0 ? shown : 1);
    return client > 0 && client < share ? client : share;
}

// The client gets a view, which begins with what it holds. False: out of memory.
static bool open_view(cairn_session *session) {
    cairn_room *room = session->room;
    cairn_session_replication *own = session->replication;
    cairn_room_interest *interest = &room->replication->interest;
    if (interest->capacity == 0 &&
        !cairn_room_interest_create(interest, room->body_capacity, room->shape_capacity)) {
        cairn_room_interest_destroy(interest);
        return false;
    }
    const cairn_baseline *held =
        cairn_baselines_find_recent(room->replication->baselines, own->snapshots.acknowledged);
    own->view = cairn_view_create(room->body_capacity, held != NULL ? &held->frame : NULL);
    if (own->view == NULL) {
        return false;
    }
    own->view->acknowledged = own->snapshots.acknowledged;
    room->replication->views += 1;
    return true;
}

// Whether a client of a room that stands has all of its snapshot, or is sure to get it.
static bool holds_standing(const cairn_session *session) {
    const cairn_session_replication *own = session->replication;
    const uint64_t tick = session->room->scheduler.tick;
    return own->view == NULL && session->room->time_control.paused && tick > 0 &&
           own->snapshots.acknowledged >= tick;
}

static void send_snapshot(const cairn_server_context *context, cairn_session *session) {
    cairn_room_replication *room = session->room->replication;
    cairn_session_replication *own = session->replication;
    if (holds_standing(session)) {
        return;
    }
    bool view = own->view != NULL || needs_views(session->room);
    if (!view && !cairn_snapshot_send(context, session, room->baselines,
                     bytes_per_second(session->room), &own->snapshots, &own->game)) {
        view = true;
    }
    if (view && own->view == NULL && !open_view(session)) {
        session->room->statistics.snapshots_too_large += 1;
        return;
    }
    if (view) {
        const cairn_baseline *newest = cairn_baselines_newest(room->baselines);
        const cairn_baseline *last = cairn_baselines_before_newest(room->baselines);
        if (room->interest.frame == NULL || room->interest.tick != newest->frame.tick) {
            cairn_room_interest_update(
                &room->interest, &newest->frame, last != NULL ? &last->frame : NULL);
        }
        const uint64_t tick = newest->frame.tick;
        if (session->room->time_control.paused && (tick == 0 || own->view->acknowledged == tick)) {
            cairn_part_send_standing(context, session, room->baselines, &room->interest, own->view,
                bytes_per_second(session->room));
            return;
        }
        cairn_part_send(context, session, room->baselines, &room->interest, own->view,
            bytes_per_second(session->room), &own->game);
    }
}

// What a client that joins is sent, about: the last state that was encoded, or what one is made of.
static uint64_t world_size(const cairn_room *room) {
    const uint64_t encoded = room->replication->state.size;
    const cairn_room_meshes *meshes = &room->replication->meshes;
    uint64_t made_of = BODY_SIZE * (uint64_t)room->population.bodies +
                       CONTACT_SIZE * (uint64_t)room->population.contacts;
    for (uint32_t i = 0; i < meshes->capacity; ++i) {
        made_of += sizeof(uint32_t) * (uint64_t)meshes->meshes[i].word_count;
    }
    return encoded > made_of ? encoded : made_of;
}

// A client id that joins again and again is not sent a world each time.
static bool is_owed_world(const cairn_server_context *context, cairn_session *session) {
    cairn_room *room = session->room;
    if (session->world_owed) {
        return true;
    }
    session->world_owed =
        cairn_byte_budget_spend_join(&session->budget, context->now_ns, world_size(room));
    if (!session->world_owed && !session->world_waits) {
        session->world_waits = true;
        room->statistics.joins_delayed += 1;
        cairn_context_emit(context, room, CAIRN_LOG_WARN, "join_delayed", session->client_id,
            "the client id joined so often that it is not sent the world yet", session->slot);
    }
    return session->world_owed;
}

const char *cairn_replication_refusal(const cairn_session *session) {
    const char *refused = session->replication->state.refused;
    return refused != NULL && cairn_link_reliable_fits(session->link, CAIRN_SESSION_ENVELOPE_SIZE)
               ? refused
               : NULL;
}

// The tick before the first missing one is kept, too: the inputs of the client are coded as the
// difference to it.
uint64_t cairn_replication_kept_tick(
    const cairn_server_context *context, const cairn_session *session) {
    const cairn_session_replication *own = session->replication;
    const cairn_room *room = session->room;
    const uint64_t missing = first_missing_tick(own);
    const uint64_t most = (uint64_t)CAIRN_ROOM_CATCH_UP_LOG_SECONDS * room->settings.tick_rate_hz;
    const bool kept = cairn_mode_simulates(session->mode) && own->state.behind &&
                      room->scheduler.tick - missing <= most &&
                      context->now_ns - own->state.behind_since_ns <= CAIRN_ROOM_CATCH_UP_NS;
    return !kept ? UINT64_MAX : missing > 0 ? missing - 1 : 0;
}

void cairn_replication_advance(
    const cairn_server_context *context, cairn_session *session, bool snapshot) {
    CAIRN_ASSERT(!session->room->job.running);
    if (!cairn_session_is_admitted(session) || !is_owed_world(context, session)) {
        return;
    }
    cairn_game_sent *game = &session->replication->game;
    cairn_game_sent_begin(game, session->room);
    cairn_game_messages_send(context, session, game);
    if (cairn_mode_simulates(session->mode)) {
        game->next_event = session->room->job.game_events.written; // it sees them in its own world
        advance_simulating(context, session);
        return;
    }
    cairn_room_replication *replication = session->room->replication;
    if (snapshot) {
        send_snapshot(context, session);
    }
    cairn_view *view = session->replication->view;
    if (view == NULL) {
        cairn_shapes_send(context, session, &replication->shapes, &session->replication->shapes);
    } else {
        cairn_room_interest_list_shapes(&replication->interest, &replication->shapes);
        cairn_view_shapes_send(context, session, &replication->shapes, &replication->interest, view,
            &session->replication->shapes);
    }
    cairn_meshes_send(context, session, &replication->meshes, &replication->shapes,
        view != NULL ? &session->replication->shapes : NULL, &session->replication->meshes);
    cairn_world_events_send(context, session, view, &session->replication->events);
}
