// SPDX-License-Identifier: MIT
#include "server/resync/resync.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/replicate/replication.h"
#include "sim/serialize/sketch.h"
#include <cairn/version.h>

// Modes whose clients ask for what differs, so that states are kept for them. Requests of other
// clients are answered while states happen to be kept.
static bool mode_resyncs(uint32_t mode) {
    return mode == CAIRN_MODE_HEAL || mode == CAIRN_MODE_PREDICT;
}

void cairn_server_resync_destroy_room(cairn_room *room) {
    cairn_room_resync *own = room->resync;
    CAIRN_ASSERT(own->desync.reporter == NULL);
    cairn_world_destroy(own->world);
    free(own->payload);
    free(own->deferred);
    *own = (cairn_room_resync){0};
}

// Loads the state of a tick into own->world, which is made again when the room's world has another
// def by now.
static bool load_state(cairn_room *room, uint64_t tick) {
    cairn_room_resync *own = room->resync;
    CAIRN_ASSERT(!room->job.running);
    if (!cairn_state_history_holds(room->state_history, tick)) {
        return false;
    }
    if (own->world != NULL &&
        cairn_state_history_load(room->state_history, tick, own->world) == CAIRN_OK) {
        return true;
    }
    cairn_world_destroy(own->world);
    own->world = NULL;
    return cairn_world_fork(room->world, &own->world) == CAIRN_OK &&
           cairn_state_history_load(room->state_history, tick, own->world) == CAIRN_OK;
}

// Returns whether there are more than `max` within the time.
static bool count_event(
    cairn_resync_counter *counter, uint64_t now_ns, uint64_t time_ns, uint32_t max) {
    CAIRN_ASSERT(max > 0 && time_ns > 0);
    if (counter->count == 0 || now_ns >= counter->from_ns + time_ns) {
        *counter = (cairn_resync_counter){.from_ns = now_ns};
    }
    counter->count += 1;
    return counter->count > max;
}

static void count_attempt(cairn_server_resync *resync, cairn_session *session) {
    if (count_event(&session->resync->attempts, resync->context->now_ns,
            CAIRN_SERVER_RESYNC_ATTEMPTS_NS, CAIRN_SERVER_RESYNC_ATTEMPTS_MAX)) {
        cairn_server_resync_demote(
            resync, session, "the client's world differs again after every resync");
    }
}

static void send_response(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_response *response) {
    cairn_server_room_statistics *statistics = &session->room->statistics;
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_RESPONSE, .resync_response = *response};
    CAIRN_ASSERT(response->verdict < CAIRN_RESYNC_VERDICT_COUNT);
    message.resync_response.build = cairn_build_text();
    message.resync_response.passport_faults = resync->passport.faults;
    // A link without room loses the response: the client asks again.
    const size_t size = cairn_session_send_reliable(session, resync->context->encoder, &message);
    statistics->resync_bytes += size;
    statistics->resync_responses[response->verdict] += size > 0 ? 1 : 0;
}

// A refused request for stages alone is counted and not answered: the response could not say which
// of the client's requests it refuses.
static void refuse(cairn_server_resync *resync, cairn_session *session,
    const cairn_resync_request *request, cairn_resync_verdict verdict, const char *detail) {
    CAIRN_ASSERT(verdict != CAIRN_RESYNC_DONE);
    cairn_context_emit(resync->context, session->room, CAIRN_LOG_WARN, "resync_refused",
        session->client_id, detail, (int64_t)request->tick);
    if ((request->want & CAIRN_RESYNC_WANT_STAGES) != 0) {
        session->room->statistics.stages_refused += 1;
    }
    if ((request->want & CAIRN_RESYNC_WANT_ELEMENTS) != 0) {
        const cairn_resync_response response = {.tick = request->tick, .verdict = verdict};
        send_response(resync, session, &response);
    }
}

static void send_elements(cairn_server_resync *resync, cairn_session *session,
    const cairn_resync_request *request, const cairn_element_key *keys, uint32_t count) {
    CAIRN_ASSERT(count <= CAIRN_SKETCH_CELLS_MAX);
    cairn_room *room = session->room;
    cairn_room_resync *own = room->resync;
    const size_t size = cairn_elements_size(own->world, keys, count);
    if (size > CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_MUCH,
            "the elements that differ are larger than a response may be");
        return;
    }
    if (!cairn_byte_budget_spend(&session->budget, resync->context->now_ns, size)) {
        room->statistics.resyncs_over_budget += 1;
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN,
            "the client asks for more bytes than it may for those that it sends");
        return;
    }
    const cairn_resync_response response = {
        .tick = request->tick,
        .verdict = CAIRN_RESYNC_DONE,
        .full_root = cairn_world_hash_read(own->world).full,
        .payload = own->payload,
        .payload_size = (uint32_t)cairn_elements_encode(
            own->world, keys, count, own->payload, CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX),
    };
    CAIRN_ASSERT(response.payload_size > 0 || count == 0);
    room->statistics.resync_elements += count;
    cairn_context_emit(resync->context, room, CAIRN_LOG_WARN, "resynced", session->client_id,
        "the elements that differ were sent to the client", count);
    send_response(resync, session, &response);
    count_attempt(resync, session);
}

static void answer_elements(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_room *room = session->room;
    CAIRN_ASSERT(!room->job.running);
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    uint32_t count = 0;
    if (!load_state(room, request->tick)) {
        refuse(
            resync, session, request, CAIRN_RESYNC_TICK_GONE, "the state of the tick is not held");
        return;
    }
    switch (cairn_sketch_difference(room->resync->world, request->difference_sketch,
        request->difference_sketch_size, keys, CAIRN_SKETCH_CELLS_MAX, &count)) {
    case CAIRN_OK:
        send_elements(resync, session, request, keys, count);
        break;
    case CAIRN_CAPACITY:
        refuse(resync, session, request, CAIRN_RESYNC_TOO_MUCH,
            "more elements differ than the sketch can name");
        break;
    default:
        refuse(resync, session, request, CAIRN_RESYNC_MALFORMED, "the sketch is malformed");
        break;
    }
}

static void answer_stages(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_room *room = session->room;
    uint8_t stages[CAIRN_DESYNC_STAGES_SIZE_MAX];
    const bool enough = session->resync->stages_sent >= CAIRN_SERVER_RESYNC_STAGES_MAX ||
                        !cairn_byte_budget_spend(&session->budget, resync->context->now_ns,
                            CAIRN_DESYNC_STAGES_SIZE_MAX);
    cairn_world *world = enough ? NULL : cairn_step_replay_world(room, request->tick);
    const uint32_t size = world == NULL ? 0 : cairn_step_replay_stages(room, world, stages);
    CAIRN_ASSERT(size <= sizeof stages);
    if (size > 0) {
        const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_RESPONSE,
            .resync_response = {.tick = request->tick,
                .verdict = CAIRN_RESYNC_DONE,
                .full_root = cairn_world_hash_read(world).full,
                .passport_faults = resync->passport.faults,
                .build = cairn_build_text(),
                .stages = stages,
                .stages_size = size}};
        cairn_session_send_reliable(session, resync->context->encoder, &message);
        session->resync->stages_sent += 1;
        room->statistics.stages_sent += 1;
    } else {
        room->statistics.stages_refused += 1;
    }
    cairn_world_destroy(world);
}

// A request for elements without a sketch asks for the whole state.
static bool wants_state(const cairn_resync_request *request) {
    return (request->want & CAIRN_RESYNC_WANT_ELEMENTS) != 0 &&
           request->difference_sketch_size == 0;
}

// The state comes when the room has one that is recent enough. One that is on its way is recent
// enough: its client cannot have seen that it differs.
static void request_state(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_state_transfer_progress *state = &session->replication->state;
    cairn_room *room = session->room;
    if (state->requested || state->reading != NULL) {
        return;
    }
    if (!cairn_byte_budget_spend_state(
            &session->budget, resync->context->now_ns, room->replication->state.size)) {
        room->statistics.resyncs_over_budget += 1;
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN,
            "the client asks for states more often than it may");
        return;
    }
    state->requested = true;
    state->tick_min = room->scheduler.tick;
    room->statistics.states_resent += 1;
    cairn_context_emit(resync->context, room, CAIRN_LOG_WARN, "state_resent", session->client_id,
        "the client requested the full state", (int64_t)request->tick);
    count_attempt(resync, session);
}

static void answer(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    if ((request->want & CAIRN_RESYNC_WANT_STAGES) != 0) {
        answer_stages(resync, session, request);
    }
    if (wants_state(request)) {
        request_state(resync, session, request);
    } else if ((request->want & CAIRN_RESYNC_WANT_ELEMENTS) != 0) {
        answer_elements(resync, session, request);
    }
}

static bool charge(cairn_session_resync *own, uint64_t now_ns, uint64_t price_ns) {
    const uint64_t paid_ns = own->paid_until_ns > now_ns ? own->paid_until_ns : now_ns;
    CAIRN_ASSERT(price_ns <= CAIRN_SERVER_RESYNC_BURST_NS);
    if (paid_ns + price_ns > now_ns + CAIRN_SERVER_RESYNC_BURST_NS) {
        return false;
    }
    own->paid_until_ns = paid_ns + price_ns;
    CAIRN_ASSERT(own->paid_until_ns <= now_ns + CAIRN_SERVER_RESYNC_BURST_NS);
    return true;
}

// False: too many requests wait already.
static bool defer(
    cairn_room_resync *own, cairn_session *session, const cairn_resync_request *request) {
    uint32_t i = 0;
    while (i < CAIRN_SERVER_RESYNC_DEFERRED_MAX && own->deferred[i].requester != NULL) {
        i += 1;
    }
    if (i == CAIRN_SERVER_RESYNC_DEFERRED_MAX) {
        return false;
    }
    CAIRN_ASSERT(request->difference_sketch_size <= CAIRN_DIFFERENCE_SKETCH_SIZE_MAX);
    cairn_resync_deferred *deferred = &own->deferred[i];
    if (request->difference_sketch_size > 0) {
        memcpy(deferred->sketch, request->difference_sketch, request->difference_sketch_size);
    }
    deferred->requester = session;
    deferred->request = *request;
    deferred->request.difference_sketch = deferred->sketch;
    return true;
}

void cairn_server_resync_take_request(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_room *room = session->room;
    cairn_room_resync *own = room->resync;
    const uint64_t price_ns = (wants_state(request) ? 4 : 1) * CAIRN_SERVER_RESYNC_REQUEST_NS;
    CAIRN_ASSERT(cairn_mode_simulates(session->mode));
    room->statistics.resync_requests += 1;
    if (own->payload == NULL) {
        own->payload = malloc(CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX);
    }
    if (own->deferred == NULL) {
        own->deferred = calloc(CAIRN_SERVER_RESYNC_DEFERRED_MAX, sizeof *own->deferred);
    }
    if (!charge(session->resync, resync->context->now_ns, price_ns)) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN,
            "the client sends requests faster than they are answered");
    } else if (own->payload == NULL || own->deferred == NULL) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN, "out of memory");
    } else if (!room->job.running) {
        answer(resync, session, request);
    } else if (!defer(own, session, request)) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN,
            "too many requests wait for the room's job");
    }
}

void cairn_server_resync_root_agreed(cairn_session *session, uint64_t tick) {
    cairn_desync_report_agree(&session->resync->desync, tick);
}

void cairn_server_resync_root_differed(
    cairn_server_resync *resync, cairn_session *session, uint64_t tick, cairn_hash128 root) {
    CAIRN_ASSERT(session->room != NULL);
    cairn_session_resync *own = session->resync;
    cairn_desync_report_differ(&resync->capsules, &session->room->resync->desync, &own->desync,
        session, resync->context->now_ns, tick, root);
    if (mode_resyncs(session->mode) &&
        count_event(&own->differences, resync->context->now_ns, CAIRN_SERVER_RESYNC_DIFFERENCES_NS,
            CAIRN_SERVER_RESYNC_DIFFERENCES_MAX)) {
        cairn_server_resync_demote(
            resync, session, "the client's world differs and is not resynced");
    }
}

void cairn_server_resync_forget(cairn_session *session) {
    cairn_room_resync *own = session->room->resync;
    for (uint32_t i = 0; own->deferred != NULL && i < CAIRN_SERVER_RESYNC_DEFERRED_MAX; ++i) {
        if (own->deferred[i].requester == session) {
            own->deferred[i].requester = NULL;
        }
    }
    own->desync.reporter = own->desync.reporter == session ? NULL : own->desync.reporter;
    session->resync->desync.agreed_tick = 0;
}

static void require_states(cairn_room *room, cairn_state_history_user user, bool wanted,
    uint64_t time_ms, uint32_t *required) {
    const uint64_t count = wanted ? (room->settings.tick_rate_hz * time_ms + 999) / 1000 : 0;
    if (count != *required) {
        *required = (uint32_t)count;
        cairn_state_history_require(room->state_history, user, *required);
    }
}

void cairn_server_resync_advance(cairn_server_resync *resync, cairn_room *room) {
    cairn_room_resync *own = room->resync;
    bool resyncs = false;
    bool simulates = false;
    CAIRN_ASSERT(!room->job.running);
    for (const cairn_session *at = room->members; at != NULL; at = at->member_next) {
        resyncs = resyncs || mode_resyncs(at->mode);
        simulates = simulates || cairn_mode_simulates(at->mode);
    }
    require_states(room, CAIRN_STATE_HISTORY_FOR_RESYNC, resyncs,
        CAIRN_SERVER_RESYNC_STATE_HISTORY_MS, &own->states_required);
    require_states(room, CAIRN_STATE_HISTORY_FOR_CAPSULES,
        simulates && resync->capsules.on_capsule != NULL, CAIRN_DESYNC_STATE_HISTORY_MS,
        &own->capsule_states_required);
    cairn_desync_report_advance(&resync->capsules, &own->desync, room);
    for (uint32_t i = 0; own->deferred != NULL && i < CAIRN_SERVER_RESYNC_DEFERRED_MAX; ++i) {
        cairn_session *requester = own->deferred[i].requester;
        own->deferred[i].requester = NULL;
        if (requester != NULL) {
            CAIRN_ASSERT(requester->room == room && cairn_mode_simulates(requester->mode));
            answer(resync, requester, &own->deferred[i].request);
        }
    }
}

void cairn_server_resync_demote(
    cairn_server_resync *resync, cairn_session *session, const char *reason) {
    cairn_room *room = session->room;
    CAIRN_ASSERT(reason != NULL);
    if (!cairn_mode_simulates(session->mode)) {
        return;
    }
    cairn_replication_reset(session);
    cairn_server_resync_forget(session);
    session->mode = CAIRN_MODE_INTERPOLATE;
    cairn_link_delay_acks(session->link, CAIRN_ACK_DELAY_NS_MAX);
    session->demoted = true;
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_MODE,
            .slot = session->slot,
            .tick = room->scheduler.tick,
            .value = CAIRN_MODE_INTERPOLATE,
            .reason_text = reason},
    };
    room->statistics.clients_demoted += 1;
    cairn_session_send_reliable(session, resync->context->encoder, &message);
    cairn_context_emit(
        resync->context, room, CAIRN_LOG_WARN, "client_demoted", session->client_id, reason, 0);
}

const char *cairn_server_resync_unfit(const cairn_server_resync *resync, const cairn_hello *hello) {
    if (hello->passport_faults != 0) {
        return cairn_passport_fault_words(hello->passport_faults);
    }
    return cairn_hash_equal(hello->passport_hash, resync->passport.hash)
               ? NULL
               : "the client's self-test ends with another hash than the server's";
}
