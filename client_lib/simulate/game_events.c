// SPDX-License-Identifier: MIT
#include "client_lib/simulate/game_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// The tick of an event is that of the world after the step, as for clients without a world.
static void show(const cairn_game_events *events, cairn_client_game_kind kind, uint64_t tick,
    const uint8_t *bytes, uint32_t size) {
    cairn_game_queue_add(events->queue, kind, tick + 1, bytes, size);
}

void cairn_game_events_destroy(cairn_game_events *events) {
    free(events->predicted);
    *events = (cairn_game_events){0};
}

// Says of the events of ticks in [from, to) whether they happened, and forgets them.
static void settle(cairn_game_events *events, uint64_t from, uint64_t to, bool confirmed) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < events->count; ++i) {
        const cairn_predicted_event *each = &events->predicted[i];
        if (each->tick < from || each->tick >= to) {
            events->predicted[kept++] = *each;
            continue;
        }
        show(events,
            confirmed && each->happens ? CAIRN_CLIENT_GAME_EVENT_CONFIRMED
                                       : CAIRN_CLIENT_GAME_EVENT_WITHDRAWN,
            each->tick, each->bytes, each->size);
    }
    events->count = kept;
}

void cairn_game_events_confirm(cairn_game_events *events, uint64_t tick) {
    if (events->queue != NULL && tick >= events->settled) {
        settle(events, tick, tick + 1, true);
        events->settled = tick + 1;
    }
}

void cairn_game_events_skip(cairn_game_events *events, uint64_t tick) {
    if (events->queue != NULL) {
        settle(events, 0, UINT64_MAX, false);
        events->settled = tick > events->settled ? tick : events->settled;
    }
}

void cairn_game_events_clear(cairn_game_events *events) {
    cairn_game_events_skip(events, 0);
    events->settled = 0;
}

// An event that was shown for this tick before, and is not in this step yet.
static cairn_predicted_event *find(
    cairn_game_events *events, uint64_t tick, const cairn_game_message *event) {
    for (uint32_t i = 0; i < events->count; ++i) {
        cairn_predicted_event *each = &events->predicted[i];
        if (each->tick == tick && !each->happens && each->size == event->size &&
            memcmp(each->bytes, event->bytes, event->size) == 0) {
            return each;
        }
    }
    return NULL;
}

static void predict(cairn_game_events *events, uint64_t tick, const cairn_game_message *event) {
    if (events->predicted == NULL) {
        events->predicted = calloc(CAIRN_GAME_EVENTS_PREDICTED_MAX, sizeof *events->predicted);
    }
    // An event that cannot be remembered is not shown: nothing would say later that it is true.
    if (events->predicted == NULL || events->count == CAIRN_GAME_EVENTS_PREDICTED_MAX) {
        events->queue->missed += 1;
        return;
    }
    cairn_predicted_event *added = &events->predicted[events->count++];
    added->tick = tick;
    added->happens = true;
    added->size = event->size;
    memcpy(added->bytes, event->bytes, event->size);
    show(events, CAIRN_CLIENT_GAME_EVENT_PREDICTED, tick, event->bytes, event->size);
}

void cairn_game_events_step(
    cairn_game_events *events, const cairn_world *world, uint64_t tick, bool confirmed) {
    if (events->queue == NULL || tick < events->settled) {
        return;
    }
    for (uint32_t i = 0; i < events->count; ++i) {
        events->predicted[i].happens &= events->predicted[i].tick != tick;
    }
    uint32_t count = 0;
    const cairn_game_message *sent = cairn_world_game_messages(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        const bool ours = sent[i].slot == CAIRN_SLOT_ALL || sent[i].slot == events->slot;
        if (sent[i].kind != CAIRN_GAME_EVENT || !ours) {
            continue;
        }
        cairn_predicted_event *shown = find(events, tick, &sent[i]);
        if (shown != NULL) {
            shown->happens = true;
        } else if (confirmed) {
            show(events, CAIRN_CLIENT_GAME_EVENT, tick, sent[i].bytes, sent[i].size);
        } else {
            predict(events, tick, &sent[i]);
        }
    }
    if (confirmed) {
        cairn_game_events_confirm(events, tick);
    }
}
