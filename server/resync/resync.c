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
    cairn_inquiry_destroy(own->inquiry);
    free(own->deferred);
    *own = (cairn_room_resync){0};
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

// A client gains nothing by sketches that name no element; each costs its room a look at the whole
// world. After some of them the client must ask for the state.
static bool is_hopeless(cairn_server_resync *resync, cairn_session *session) {
    const cairn_resync_counter *hopeless = &session->resync->hopeless;
    return hopeless->count >= CAIRN_SERVER_RESYNC_HOPELESS_MAX &&
           resync->context->now_ns < hopeless->from_ns + CAIRN_SERVER_RESYNC_ATTEMPTS_NS;
}

static void refuse_sketch(cairn_server_resync *resync, cairn_session *session,
    const cairn_resync_request *request, cairn_resync_verdict verdict, const char *detail) {
    (void)count_event(&session->resync->hopeless, resync->context->now_ns,
        CAIRN_SERVER_RESYNC_ATTEMPTS_NS, CAIRN_SERVER_RESYNC_HOPELESS_MAX);
    refuse(resync, session, request, verdict, detail);
    count_attempt(resync, session);
}

static void send_elements(
    cairn_server_resync *resync, cairn_session *session, const cairn_inquiry_found *found) {
    const cairn_resync_request *request = found->request;
    cairn_room *room = session->room;
    CAIRN_ASSERT(found->status == CAIRN_OK && found->element_count <= CAIRN_SKETCH_CELLS_MAX);
    if (!cairn_byte_budget_spend(&session->budget, resync->context->now_ns, found->payload_size)) {
        room->statistics.resyncs_over_budget += 1;
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN,
            "the client asks for more bytes than it may for those that it sends");
        return;
    }
    const cairn_resync_response response = {.tick = request->tick,
        .verdict = CAIRN_RESYNC_DONE,
        .full_root = found->full_root,
        .payload = found->payload,
        .payload_size = found->payload_size};
    room->statistics.resync_elements += found->element_count;
    cairn_context_emit(resync->context, room, CAIRN_LOG_WARN, "resynced", session->client_id,
        "the elements that differ were sent to the client", found->element_count);
    send_response(resync, session, &response);
    count_attempt(resync, session);
}

static void send_stages(
    cairn_server_resync *resync, cairn_session *session, const cairn_inquiry_found *found) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_RESPONSE,
        .resync_response = {.tick = found->request->tick,
            .verdict = CAIRN_RESYNC_DONE,
            .full_root = found->full_root,
            .passport_faults = resync->passport.faults,
            .build = cairn_build_text(),
            .stages = found->stages,
            .stages_size = found->stages_size}};
    cairn_session_send_reliable(session, resync->context->encoder, &message);
    session->room->statistics.stages_sent += 1;
}

static void send_found(
    cairn_server_resync *resync, cairn_session *session, const cairn_inquiry_found *found) {
    const cairn_resync_request *request = found->request;
    if (request->want == CAIRN_RESYNC_WANT_STAGES && found->stages_size > 0) {
        send_stages(resync, session, found);
    } else if (request->want == CAIRN_RESYNC_WANT_STAGES) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN, "out of memory");
    } else if (found->status == CAIRN_OK) {
        send_elements(resync, session, found);
    } else if (found->status == CAIRN_CAPACITY) {
        refuse_sketch(resync, session, request, CAIRN_RESYNC_TOO_MUCH,
            "more elements differ than the sketch can name or a response may hold");
    } else {
        refuse_sketch(resync, session, request, CAIRN_RESYNC_MALFORMED, "the sketch is malformed");
    }
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

static void refuse_copy(cairn_server_resync *resync, cairn_session *session,
    const cairn_resync_request *request, cairn_inquiry_copy copy) {
    if (copy == CAIRN_INQUIRY_GONE) {
        refuse(
            resync, session, request, CAIRN_RESYNC_TICK_GONE, "the state of the tick is not held");
    } else {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN, "out of memory");
    }
}

// False: it waits still.
static bool ask_elements(cairn_server_resync *resync, cairn_resync_deferred *deferred) {
    cairn_session *session = deferred->requester;
    cairn_inquiry *inquiry = session->room->resync->inquiry;
    const cairn_resync_request *request = &deferred->request;
    const cairn_inquiry_copy copy =
        cairn_inquiry_copy_state(inquiry, resync->context->now_ns, request->tick);
    if (copy == CAIRN_INQUIRY_LATER) {
        return false;
    }
    deferred->requester = NULL;
    if (copy == CAIRN_INQUIRY_COPIED) {
        cairn_inquiry_begin_elements(inquiry, session, request);
    } else {
        refuse_copy(resync, session, request, copy);
    }
    return true;
}

// False: it waits still.
static bool ask_stages(cairn_server_resync *resync, cairn_resync_deferred *deferred) {
    cairn_session *session = deferred->requester;
    cairn_room *room = session->room;
    cairn_inquiry *inquiry = room->resync->inquiry;
    const cairn_resync_request *request = &deferred->request;
    uint32_t count = 0;
    const cairn_command *commands =
        request->tick == 0 ? NULL : cairn_step_commands(room, request->tick - 1, &count);
    const cairn_inquiry_copy copy =
        commands == NULL
            ? CAIRN_INQUIRY_GONE
            : cairn_inquiry_copy_state(inquiry, resync->context->now_ns, request->tick - 1);
    if (copy == CAIRN_INQUIRY_LATER) {
        return false;
    }
    deferred->requester = NULL;
    if (copy != CAIRN_INQUIRY_COPIED) {
        refuse_copy(resync, session, request, copy);
    } else if (!cairn_inquiry_begin_stages(inquiry, session, request, commands, count)) {
        refuse_copy(resync, session, request, CAIRN_INQUIRY_NO_MEMORY);
    }
    return true;
}

static bool answer(cairn_server_resync *resync, cairn_resync_deferred *deferred) {
    if (deferred->request.want == CAIRN_RESYNC_WANT_STAGES) {
        return ask_stages(resync, deferred);
    }
    if (!wants_state(&deferred->request)) {
        return ask_elements(resync, deferred);
    }
    cairn_session *session = deferred->requester;
    deferred->requester = NULL;
    request_state(resync, session, &deferred->request);
    return true;
}

// The oldest request that can be answered now; one for the whole state needs no inquiry.
static cairn_resync_deferred *next_waiting(cairn_server_resync *resync, cairn_room_resync *own) {
    const bool ready = cairn_inquiry_is_ready(own->inquiry, resync->context->now_ns);
    cairn_resync_deferred *next = NULL;
    for (uint32_t i = 0; i < CAIRN_SERVER_RESYNC_DEFERRED_MAX; ++i) {
        cairn_resync_deferred *at = &own->deferred[i];
        if (at->requester != NULL && (ready || wants_state(&at->request)) &&
            (next == NULL || at->number < next->number)) {
            next = at;
        }
    }
    return next;
}

void cairn_server_resync_answer_waiting(cairn_server_resync *resync, cairn_room *room) {
    cairn_room_resync *own = room->resync;
    // There may have been memory for one of the two alone.
    if (own->inquiry == NULL || own->deferred == NULL || own->answering || room->job.running) {
        return;
    }
    own->answering = true; // an answer that is there at once asks for the next
    cairn_resync_deferred *next;
    do {
        next = next_waiting(resync, own);
    } while (next != NULL && answer(resync, next));
    own->answering = false;
}

static void on_found(void *user, cairn_room *room, const cairn_inquiry_found *found) {
    cairn_server_resync *resync = user;
    if (found != NULL && found->requester != NULL) {
        CAIRN_ASSERT(found->requester->room == room);
        send_found(resync, found->requester, found);
    }
    cairn_server_resync_answer_waiting(resync, room);
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

// False: too many requests wait already, of the client or of all.
static bool defer(cairn_room_resync *own, cairn_session *session,
    const cairn_resync_request *request, uint32_t want) {
    cairn_resync_deferred *deferred = NULL;
    uint32_t of_client = 0;
    for (uint32_t i = 0; i < CAIRN_SERVER_RESYNC_DEFERRED_MAX; ++i) {
        of_client += own->deferred[i].requester == session ? 1 : 0;
        deferred = own->deferred[i].requester == NULL ? &own->deferred[i] : deferred;
    }
    if (deferred == NULL || of_client >= CAIRN_SERVER_RESYNC_DEFERRED_PER_CLIENT_MAX) {
        return false;
    }
    CAIRN_ASSERT(request->difference_sketch_size <= CAIRN_DIFFERENCE_SKETCH_SIZE_MAX);
    if (request->difference_sketch_size > 0) {
        memcpy(deferred->sketch, request->difference_sketch, request->difference_sketch_size);
    }
    deferred->requester = session;
    deferred->number = own->deferred_count++;
    deferred->request = *request;
    deferred->request.want = want;
    deferred->request.difference_sketch = deferred->sketch;
    return true;
}

// Stages take a step of the room, so they are paid for before anything is done for them.
static void take_stages(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_resync_request part = *request;
    part.want = CAIRN_RESYNC_WANT_STAGES;
    const uint64_t now_ns = resync->context->now_ns;
    if (!cairn_byte_budget_spend(&session->budget, now_ns, CAIRN_DESYNC_STAGES_SIZE_MAX) ||
        !cairn_hour_budget_spend(&resync->stages, session->client_id, now_ns,
            CAIRN_SERVER_RESYNC_STAGES_PER_CLIENT_MAX, CAIRN_SERVER_RESYNC_STAGES_MAX)) {
        refuse(resync, session, &part, CAIRN_RESYNC_TOO_OFTEN,
            "the client asks for stages more often than it may");
    } else if (!defer(session->room->resync, session, &part, CAIRN_RESYNC_WANT_STAGES)) {
        refuse(resync, session, &part, CAIRN_RESYNC_TOO_OFTEN, "too many requests wait");
    }
}

static void take_elements(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_resync_request part = *request;
    part.want = CAIRN_RESYNC_WANT_ELEMENTS;
    if (!wants_state(&part) && !cairn_sketch_size_ok(part.difference_sketch_size)) {
        refuse_sketch(
            resync, session, &part, CAIRN_RESYNC_MALFORMED, "the sketch has a wrong size");
    } else if (!wants_state(&part) && is_hopeless(resync, session)) {
        session->room->statistics.resyncs_hopeless += 1;
        refuse_sketch(resync, session, &part, CAIRN_RESYNC_NO_MORE_SKETCHES,
            "the client's last sketches named no element; it must ask for the state");
    } else if (!defer(session->room->resync, session, &part, CAIRN_RESYNC_WANT_ELEMENTS)) {
        refuse(resync, session, &part, CAIRN_RESYNC_TOO_OFTEN, "too many requests wait");
    }
}

// Memory that rooms need only when a client asks.
static bool take_memory(cairn_server_resync *resync, cairn_room *room) {
    cairn_room_resync *own = room->resync;
    if (own->inquiry == NULL) {
        own->inquiry = cairn_inquiry_create(room, resync->capsules.runner, on_found, resync);
    }
    if (own->deferred == NULL) {
        own->deferred = calloc(CAIRN_SERVER_RESYNC_DEFERRED_MAX, sizeof *own->deferred);
    }
    return own->inquiry != NULL && own->deferred != NULL;
}

void cairn_server_resync_take_request(
    cairn_server_resync *resync, cairn_session *session, const cairn_resync_request *request) {
    cairn_room *room = session->room;
    const uint64_t price_ns = (wants_state(request) ? 4 : 1) * CAIRN_SERVER_RESYNC_REQUEST_NS;
    CAIRN_ASSERT(cairn_mode_simulates(session->mode));
    room->statistics.resync_requests += 1;
    if (!charge(session->resync, resync->context->now_ns, price_ns)) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN,
            "the client sends requests faster than they are answered");
        return;
    }
    if (!take_memory(resync, room)) {
        refuse(resync, session, request, CAIRN_RESYNC_TOO_OFTEN, "out of memory");
        return;
    }
    if ((request->want & CAIRN_RESYNC_WANT_STAGES) != 0) {
        take_stages(resync, session, request);
    }
    if ((request->want & CAIRN_RESYNC_WANT_ELEMENTS) != 0) {
        take_elements(resync, session, request);
    }
    cairn_server_resync_answer_waiting(resync, room);
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
    if (own->inquiry != NULL) {
        cairn_inquiry_forget(own->inquiry, session);
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
    cairn_server_resync_answer_waiting(resync, room);
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
