// SPDX-License-Identifier: MIT
#include "server/replicate/game_messages.h"

#include "base/assert.h"
#include "schema/game_items.h"
#include "server/room/room.h"

#define MESSAGE_SIZE_MAX (CAIRN_GAME_ITEMS_SIZE_MAX + CAIRN_SESSION_ENVELOPE_SIZE)

void cairn_game_sent_begin(cairn_game_sent *sent, const cairn_room *room) {
    CAIRN_ASSERT(!room->job.running);
    if (!sent->begun) {
        *sent = (cairn_game_sent){.next = room->job.game_messages.written,
            .next_event = room->job.game_events.written,
            .begun = true};
    }
}

static cairn_game_item item_of(const cairn_game_record *record) {
    return (cairn_game_item){
        .tick = record->tick, .size = record->message.size, .bytes = record->message.bytes};
}

// Packs messages from *next on, as many as fit. Returns how many, and the tick of the last one.
static uint32_t pack_messages(cairn_session *session, cairn_game_sent *to, uint64_t *tick,
    uint8_t items[CAIRN_GAME_ITEMS_SIZE_MAX], uint32_t *size) {
    const cairn_room *room = session->room;
    const cairn_game_record *record;
    uint32_t count = 0;
    // Ages count from the present tick; the last item's is taken as the tick of the message.
    *tick = room->scheduler.tick;
    while ((record = cairn_game_log_next(
                &room->job.game_messages, session->slot, &to->next, &to->missed)) != NULL) {
        const cairn_game_item item = item_of(record);
        const bool old = *tick - record->tick > CAIRN_GAME_ITEM_AGE_MAX;
        if (!old && !cairn_game_items_add(items, CAIRN_GAME_ITEMS_SIZE_MAX, size, *tick, &item)) {
            break;
        }
        to->missed += old ? 1 : 0;
        count += old ? 0 : 1;
        to->next += 1;
    }
    return count;
}

void cairn_game_messages_send(
    const cairn_server_context *context, cairn_session *session, cairn_game_sent *sent) {
    cairn_room *room = session->room;
    CAIRN_ASSERT(!room->job.running && sent->begun);
    while (sent->next < room->job.game_messages.written &&
           cairn_link_reliable_room(session->link) >= MESSAGE_SIZE_MAX) {
        uint8_t items[CAIRN_GAME_ITEMS_SIZE_MAX];
        uint32_t size = 0;
        uint64_t tick = 0;
        cairn_game_sent after = *sent;
        const uint32_t count = pack_messages(session, &after, &tick, items, &size);
        const cairn_message message = {
            .kind = CAIRN_MESSAGE_GAME_MESSAGES,
            .game_messages = {.tick = tick,
                .missed = after.missed < UINT32_MAX ? (uint32_t)after.missed : UINT32_MAX,
                .world_epoch = session->world_epoch,
                .items = items,
                .items_size = size},
        };
        if (count > 0 && cairn_session_send_reliable(session, context->encoder, &message) == 0) {
            return;
        }
        *sent = after;
        if (count > 0) {
            room->statistics.game_messages_sent += count;
            room->statistics.game_messages_missed += sent->missed;
            sent->missed = 0;
        }
    }
}

void cairn_game_events_pack(const cairn_session *session, const cairn_game_sent *sent,
    uint64_t tick, cairn_packed_events *out) {
    const cairn_game_log *log = &session->room->job.game_events;
    const cairn_game_record *record;
    CAIRN_ASSERT(!session->room->job.running);
    out->count = 0;
    out->size = 0;
    out->dropped = 0;
    out->next = sent->next_event;
    for (; (record = cairn_game_log_next(log, session->slot, &out->next, &out->dropped)) != NULL;
         ++out->next) {
        const cairn_game_item item = item_of(record);
        const bool packed = record->tick <= tick && cairn_game_items_add(out->items,
                                                        sizeof out->items, &out->size, tick, &item);
        out->count += packed ? 1 : 0;
        out->dropped += packed ? 0 : 1;
    }
}

void cairn_game_events_sent(
    cairn_session *session, cairn_game_sent *sent, const cairn_packed_events *events) {
    CAIRN_ASSERT(events->next >= sent->next_event);
    sent->next_event = events->next;
    session->room->statistics.game_events_sent += events->count;
    session->room->statistics.game_events_dropped += events->dropped;
}
