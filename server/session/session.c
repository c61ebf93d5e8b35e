// SPDX-License-Identifier: MIT
#include "server/session/session.h"

#include "base/assert.h"

bool cairn_session_is_admitted(const cairn_session *session) {
    return session->state == CAIRN_SESSION_WELCOMED || session->state == CAIRN_SESSION_PLAYING;
}

void cairn_session_join_room(cairn_session *session, cairn_room *room) {
    CAIRN_ASSERT(session->room == NULL);
    session->room = room;
    session->member_next = NULL;
    session->member_previous = room->member_last;
    *(room->member_last == NULL ? &room->members : &room->member_last->member_next) = session;
    room->member_last = session;
    room->statistics.clients += 1;
}

void cairn_session_leave_room(cairn_session *session) {
    cairn_room *room = session->room;
    cairn_session *next = session->member_next;
    cairn_session *previous = session->member_previous;
    CAIRN_ASSERT(room != NULL && room->statistics.clients > 0);
    *(next == NULL ? &room->member_last : &next->member_previous) = previous;
    *(previous == NULL ? &room->members : &previous->member_next) = next;
    session->member_next = NULL;
    session->member_previous = NULL;
    session->room = NULL;
    room->statistics.clients -= 1;
    CAIRN_ASSERT((room->members == NULL) == (room->statistics.clients == 0));
}

static void count_made(cairn_session *session, size_t size) {
    session->work.messages_made += 1;
    session->work.bytes_made += size;
}

size_t cairn_session_send_reliable(
    cairn_session *session, cairn_encoder *encoder, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    const cairn_status status = cairn_message_encode(encoder, message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK);
    cairn_session_touch(session);
    count_made(session, size);
    return cairn_link_send_reliable(session->link, bytes, size) == CAIRN_OK ? size : 0;
}

bool cairn_session_may_send_unreliable(cairn_session *session, uint64_t now_ns, bool after_stream) {
    CAIRN_ASSERT(session->room != NULL);
    if (after_stream ? cairn_link_unreliable_ready_after_stream(session->link, now_ns)
                     : cairn_link_unreliable_ready(session->link, now_ns)) {
        return true;
    }
    session->messages_held_back += 1;
    session->room->statistics.messages_held_back += 1;
    return false;
}

size_t cairn_session_send_unreliable(
    cairn_session *session, cairn_encoder *encoder, const cairn_message *message) {
    const uint8_t *bytes;
    size_t size;
    const cairn_status status = cairn_message_encode(encoder, message, &bytes, &size);
    CAIRN_ASSERT(status == CAIRN_OK || status == CAIRN_CAPACITY);
    return status == CAIRN_OK ? cairn_session_send_unreliable_bytes(session, bytes, size) : 0;
}

size_t cairn_session_send_unreliable_bytes(
    cairn_session *session, const uint8_t *bytes, size_t size) {
    cairn_session_touch(session);
    count_made(session, size);
    return cairn_link_send_unreliable(session->link, bytes, size) == CAIRN_OK ? size : 0;
}

void cairn_session_notify_room(
    const cairn_room *room, cairn_encoder *encoder, const cairn_event_message *notice) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_EVENT, .event = *notice};
    for (cairn_session *member = room->members; member != NULL; member = member->member_next) {
        CAIRN_ASSERT(member->room == room);
        cairn_session_send_reliable(member, encoder, &message);
    }
}

size_t cairn_session_next_payload(cairn_session *session, uint64_t now_ns, uint8_t *payload) {
    if (session->conditioner_out == NULL) {
        return cairn_link_next_payload(session->link, now_ns, payload);
    }
    size_t size;
    while ((size = cairn_link_next_payload(session->link, now_ns, payload)) > 0) {
        cairn_link_conditioner_put(session->conditioner_out, now_ns, payload, size);
    }
    return cairn_link_conditioner_take(session->conditioner_out, now_ns, payload);
}

void cairn_session_drop_conditioners(cairn_session *session) {
    cairn_link_conditioner_destroy(session->conditioner_in);
    cairn_link_conditioner_destroy(session->conditioner_out);
    session->conditioner_in = NULL;
    session->conditioner_out = NULL;
}
