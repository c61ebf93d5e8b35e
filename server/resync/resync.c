// SPDX-License-Identifier: MIT
#include "server/resync/resync.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "server/server_parts.h"
#include "sim/state/sketch.h"
#include <cairn/version.h>

// Whose doubts are expected, so that states are kept for them. Others' are answered when there are
// some.
static bool heals(uint32_t mode) {
    return mode == CAIRN_MODE_HEAL || mode == CAIRN_MODE_PREDICT;
}

void cairn_server_resync_destroy(cairn_room_resync *heal) {
    cairn_world_destroy(heal->world);
    free(heal->payload);
    free(heal->sketch);
    *heal = (cairn_room_resync){0};
}

static bool make_tools(cairn_room *room) {
    cairn_room_resync *heal = &room->resync;
    if (heal->payload == NULL) {
        heal->payload = malloc(CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX);
    }
    if (heal->sketch == NULL) {
        heal->sketch = malloc(CAIRN_DIFFERENCE_SKETCH_SIZE_MAX);
    }
    return heal->payload != NULL && heal->sketch != NULL;
}

static bool make_world(cairn_room *room) {
    return room->resync.world != NULL ||
           cairn_world_fork(room->world, &room->resync.world) == CAIRN_OK;
}

// The state of a tick into the world made for it; into a new one when the room's has become
// another.
static bool load(cairn_room *room, uint64_t tick) {
    cairn_room_resync *heal = &room->resync;
    if (!cairn_state_history_holds(room->state_history, tick) || !make_world(room)) {
        return false;
    }
    if (cairn_state_history_load(room->state_history, tick, heal->world) == CAIRN_OK) {
        return true;
    }
    cairn_world_destroy(heal->world);
    heal->world = NULL;
    return make_world(room) &&
           cairn_state_history_load(room->state_history, tick, heal->world) == CAIRN_OK;
}

static void answer(
    cairn_server *server, cairn_session *session, const cairn_resync_response *response) {
    cairn_server_room_statistics *statistics = &session->room->statistics;
    cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_RESPONSE, .resync_response = *response};
    message.resync_response.build = cairn_build_text();
    message.resync_response.passport_faults = server->passport.faults;
    // A link without room for it loses the answer: who asked asks again.
    const size_t size = cairn_server_send_reliable(server, session, &message);
    statistics->resync_bytes += size;
    statistics->resync_responses[response->verdict] += size > 0 ? 1 : 0;
}

static void refuse(cairn_server *server, cairn_session *session, uint64_t tick,
    cairn_resync_verdict verdict, const char *detail) {
    const cairn_resync_response response = {.tick = tick, .verdict = verdict};
    cairn_server_emit_event(server, session->room, CAIRN_LOG_WARN, "resync_refused",
        session->client_id, detail, (int64_t)tick);
    answer(server, session, &response);
}

// One more repair or state; too many in a row and the client is better off without a world.
static void count_cure(cairn_server *server, cairn_session *session) {
    cairn_session_resync *client = &session->resync;
    if (client->cures == 0 ||
        server->now_ns >= client->cures_from_ns + CAIRN_SERVER_RESYNC_ATTEMPTS_NS) {
        client->cures_from_ns = server->now_ns;
        client->cures = 0;
    }
    client->cures += 1;
    if (client->cures > CAIRN_SERVER_RESYNC_ATTEMPTS_MAX) {
        cairn_server_resync_demote(
            server, session, "the client's world differs again whenever it is repaired");
    }
}

static void tell_elements(cairn_server *server, cairn_session *session, uint64_t tick,
    const cairn_element_key *keys, uint32_t count) {
    cairn_room *room = session->room;
    cairn_room_resync *heal = &room->resync;
    const size_t size = cairn_elements_size(heal->world, keys, count);
    if (size > CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX) {
        refuse(server, session, tick, CAIRN_RESYNC_TOO_MUCH, "the elements that differ are large");
        return;
    }
    const cairn_resync_response response = {
        .tick = tick,
        .verdict = CAIRN_RESYNC_DONE,
        .full_root = cairn_world_hash_read(heal->world).full,
        .payload = heal->payload,
        .payload_size = (uint32_t)cairn_elements_encode(
            heal->world, keys, count, heal->payload, CAIRN_SERVER_RESYNC_PAYLOAD_SIZE_MAX),
    };
    room->statistics.resync_elements += count;
    cairn_server_emit_event(server, room, CAIRN_LOG_WARN, "repaired", session->client_id,
        "the client was told what differs", count);
    answer(server, session, &response);
    count_cure(server, session);
}

static void compare(
    cairn_server *server, cairn_session *session, const cairn_resync_request *doubt) {
    cairn_room *room = session->room;
    cairn_element_key keys[CAIRN_SKETCH_CELLS_MAX];
    uint32_t count = 0;
    if (!load(room, doubt->tick)) {
        refuse(server, session, doubt->tick, CAIRN_RESYNC_TICK_GONE, "no state of that tick");
        return;
    }
    switch (cairn_sketch_difference(room->resync.world, doubt->difference_sketch,
        doubt->difference_sketch_size, keys, CAIRN_SKETCH_CELLS_MAX, &count)) {
    case CAIRN_OK:
        tell_elements(server, session, doubt->tick, keys, count);
        break;
    case CAIRN_CAPACITY:
        refuse(server, session, doubt->tick, CAIRN_RESYNC_TOO_MUCH, "more differs than was asked");
        break;
    default:
        refuse(server, session, doubt->tick, CAIRN_RESYNC_MALFORMED, "the sketch is none");
        break;
    }
}

// A doubt without a sketch asks for everything.
static void renew(cairn_server *server, cairn_session *session, const cairn_resync_request *doubt) {
    session->state_requested = true;
    session->room->statistics.states_resent += 1;
    cairn_server_emit_event(server, session->room, CAIRN_LOG_WARN, "state_renewed",
        session->client_id, "the client asked for the whole state", (int64_t)doubt->tick);
    count_cure(server, session);
}

// Each client has so much time for its doubts (Turner 1986, the leaky bucket as a meter).
static bool pay(const cairn_server *server, cairn_session_resync *client, uint64_t price_ns) {
    uint64_t paid_ns =
        client->paid_until_ns > server->now_ns ? client->paid_until_ns : server->now_ns;
    if (paid_ns + price_ns > server->now_ns + CAIRN_SERVER_RESYNC_BURST_NS) {
        return false;
    }
    client->paid_until_ns = paid_ns + price_ns;
    return true;
}

// Until the job is back: its states are not ours.
static void keep(cairn_room *room, cairn_session *session, const cairn_resync_request *doubt) {
    cairn_room_resync *heal = &room->resync;
    memcpy(heal->sketch, doubt->difference_sketch, doubt->difference_sketch_size);
    heal->doubt = *doubt;
    heal->doubt.difference_sketch = heal->sketch;
    heal->asker = session;
}

void cairn_server_resync_take_request(
    cairn_server *server, cairn_session *session, const cairn_resync_request *doubt) {
    cairn_room *room = session->room;
    const bool whole = doubt->difference_sketch_size == 0;
    room->statistics.doubts += 1;
    if (!pay(server, &session->resync,
            whole ? 4 * CAIRN_SERVER_RESYNC_REQUEST_NS : CAIRN_SERVER_RESYNC_REQUEST_NS)) {
        refuse(server, session, doubt->tick, CAIRN_RESYNC_TOO_OFTEN, "too many doubts");
    } else if (whole) {
        renew(server, session, doubt);
    } else if (!make_tools(room)) {
        refuse(server, session, doubt->tick, CAIRN_RESYNC_TICK_GONE, "out of memory");
    } else if (!room->job.running) {
        compare(server, session, doubt);
    } else if (room->resync.asker == NULL) {
        keep(room, session, doubt);
    } else {
        refuse(server, session, doubt->tick, CAIRN_RESYNC_TOO_OFTEN, "others ask as well");
    }
}

void cairn_server_resync_root_differed(cairn_server *server, cairn_session *session) {
    cairn_session_resync *client = &session->resync;
    if (!heals(session->mode)) {
        return;
    }
    if (client->differences == 0 ||
        server->now_ns >= client->differences_from_ns + CAIRN_SERVER_RESYNC_DIFFERENCES_NS) {
        client->differences_from_ns = server->now_ns;
        client->differences = 0;
    }
    client->differences += 1;
    if (client->differences > CAIRN_SERVER_RESYNC_DIFFERENCES_MAX) {
        cairn_server_resync_demote(server, session, "the client's world differs and is not mended");
    }
}

void cairn_server_resync_forget(cairn_room *room, const cairn_session *session) {
    if (room->resync.asker == session) {
        room->resync.asker = NULL;
    }
}

static void wish(cairn_room *room) {
    bool wanted = false;
    for (const cairn_session *member = room->members; member != NULL;
         member = member->member_next) {
        wanted = wanted || heals(member->mode);
    }
    if (wanted != room->resync.wanted) {
        room->resync.wanted = wanted;
        cairn_state_history_require(room->state_history, CAIRN_STATE_HISTORY_FOR_RESYNC,
            wanted ? (room->tick_rate_hz * CAIRN_SERVER_RESYNC_STATE_HISTORY_MS + 999) / 1000 : 0);
    }
}

void cairn_server_resync_advance(cairn_server *server, cairn_room *room) {
    cairn_session *asker = room->resync.asker;
    CAIRN_ASSERT(!room->job.running);
    wish(room);
    if (asker != NULL) {
        room->resync.asker = NULL;
        compare(server, asker, &room->resync.doubt);
    }
}

// As a client that has just been welcomed and interpolates.
static void begin_snapshots(cairn_session *session) {
    if (session->transferring) {
        cairn_state_source_leave(&session->room->transfer);
    }
    session->transferring = false;
    session->state_sent = false;
    session->state_requested = false;
    session->snapshot_acknowledged = 0;
    session->keyframe_tick = 0;
    session->shapes_revision = 0;
    memset(session->shapes_told, 0, session->room->shape_capacity * sizeof session->shapes_told[0]);
    session->demoted = true;
    session->mode = CAIRN_MODE_INTERPOLATE;
}

void cairn_server_resync_demote(cairn_server *server, cairn_session *session, const char *words) {
    cairn_room *room = session->room;
    if (!cairn_mode_simulates(session->mode) || room->counts.bodies > CAIRN_KEYFRAME_BODIES_MAX) {
        return; // no snapshot holds this world: it goes on as well as it can
    }
    begin_snapshots(session);
    cairn_server_resync_forget(room, session);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_EVENT,
        .event = {.kind = CAIRN_EVENT_MODE,
            .slot = session->slot,
            .tick = room->scheduler.tick,
            .value = CAIRN_MODE_INTERPOLATE,
            .words = words},
    };
    room->statistics.clients_demoted += 1;
    cairn_server_send_reliable(server, session, &message);
    cairn_server_emit_event(
        server, room, CAIRN_LOG_WARN, "client_demoted", session->client_id, words, 0);
}

const char *cairn_server_resync_unfit(const cairn_server *server, const cairn_hello *hello) {
    if (hello->passport_faults != 0) {
        return cairn_passport_fault_words(hello->passport_faults);
    }
    return cairn_hash_equal(hello->passport_hash, server->passport.hash)
               ? NULL
               : "the client's self-test ends with another hash than the server's";
}
