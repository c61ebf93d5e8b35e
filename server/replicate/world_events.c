// SPDX-License-Identifier: MIT
#include "server/replicate/world_events.h"

#include "base/assert.h"
#include "base/limits.h"
#include "server/room/room.h"

#define MESSAGE_SIZE_MAX                                                                           \
    (CAIRN_EVENTS_PER_MESSAGE_MAX * sizeof(cairn_wire_event) + CAIRN_SESSION_ENVELOPE_SIZE)

// Whether the client sees all bodies of the event.
static bool is_shown(const cairn_view *view, const cairn_wire_event *event) {
    return (event->body_a == 0 || cairn_view_shows(view, event->body_a)) &&
           (event->body_b == 0 || cairn_view_shows(view, event->body_b));
}

// As many of the next events as a message takes, of those that the client sees. So where one
// message ends and the next begins depends on none that it does not see.
static uint32_t read_events(const cairn_event_log *log, const cairn_view *view,
    cairn_world_events_sent *sent, cairn_wire_event events[CAIRN_EVENTS_PER_MESSAGE_MAX]) {
    uint32_t count = 0;
    while (sent->next < log->written && count < CAIRN_EVENTS_PER_MESSAGE_MAX) {
        const uint32_t end = count + cairn_event_log_read(log, &sent->next, events + count,
                                         CAIRN_EVENTS_PER_MESSAGE_MAX - count, &sent->missed);
        for (uint32_t i = count; i < end; ++i) {
            events[count] = events[i];
            count += view == NULL || is_shown(view, &events[i]) ? 1u : 0u;
        }
    }
    sent->missed = view != NULL ? 0 : sent->missed;
    return count;
}

void cairn_world_events_send(const cairn_server_context *context, cairn_session *session,
    const cairn_view *view, cairn_world_events_sent *sent) {
    cairn_room *room = session->room;
    const cairn_event_log *log = &room->job.events;
    CAIRN_ASSERT(!room->job.running);
    if (!sent->begun) {
        *sent = (cairn_world_events_sent){.next = log->written, .begun = true};
    }
    while (
        sent->next < log->written && cairn_link_reliable_room(session->link) >= MESSAGE_SIZE_MAX) {
        cairn_wire_event events[CAIRN_EVENTS_PER_MESSAGE_MAX];
        const uint64_t from = sent->next;
        const uint32_t missed = sent->missed;
        const uint32_t count = read_events(log, view, sent, events);
        if (count == 0) {
            continue;
        }
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_WORLD_EVENTS,
            .world_events = {.missed = sent->missed, .events = events, .event_count = count},
        };
        if (cairn_session_send_reliable(session, context->encoder, &message) == 0) {
            sent->next = from;
            sent->missed = missed;
            return;
        }
        room->statistics.world_events_sent += count;
        room->statistics.world_events_missed += sent->missed;
        sent->missed = 0;
    }
}
