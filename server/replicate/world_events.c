// SPDX-License-Identifier: MIT
#include "server/replicate/world_events.h"

#include "base/assert.h"
#include "base/limits.h"
#include "server/room/room.h"

#define MESSAGE_SIZE_MAX                                                                           \
    (CAIRN_EVENTS_PER_MESSAGE_MAX * sizeof(cairn_wire_event) + CAIRN_SESSION_ENVELOPE_SIZE)

void cairn_world_events_send(
    const cairn_server_context *context, cairn_session *session, cairn_world_events_sent *sent) {
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
        const uint32_t count = cairn_event_log_read(
            log, &sent->next, events, CAIRN_EVENTS_PER_MESSAGE_MAX, &sent->missed);
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
