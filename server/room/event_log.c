// SPDX-License-Identifier: MIT
#include "server/room/event_log.h"

#include <stdlib.h>

#include "base/assert.h"
#include "bridge/world_events.h"

cairn_status cairn_event_log_create(cairn_event_log *log) {
    // Not cleared, here and in the logs of commands: a quiet room never touches most of it.
    *log = (cairn_event_log){.ring = malloc(CAIRN_EVENT_LOG_CAPACITY * sizeof *log->ring)};
    return log->ring != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_event_log_destroy(cairn_event_log *log) {
    free(log->ring);
    *log = (cairn_event_log){0};
}

static void add(void *context, const cairn_wire_event *event) {
    cairn_event_log *log = context;
    CAIRN_ASSERT(event->kind >= 1 && event->kind <= CAIRN_WIRE_EVENT_KIND_LAST);
    log->ring[log->written % CAIRN_EVENT_LOG_CAPACITY] = *event;
    log->written += 1;
}

void cairn_event_log_add(cairn_event_log *log, const cairn_world *world) {
    CAIRN_ASSERT(log->ring != NULL);
    cairn_world_events_tell(world, add, log);
}

uint32_t cairn_event_log_read(const cairn_event_log *log, uint64_t *next, cairn_wire_event *out,
    uint32_t capacity, uint32_t *missed) {
    CAIRN_ASSERT(*next <= log->written);
    if (log->written - *next > CAIRN_EVENT_LOG_CAPACITY) {
        const uint64_t oldest = log->written - CAIRN_EVENT_LOG_CAPACITY;
        *missed += (uint32_t)(oldest - *next);
        *next = oldest;
    }
    uint32_t count = 0;
    for (; *next < log->written && count < capacity; ++*next) {
        out[count++] = log->ring[*next % CAIRN_EVENT_LOG_CAPACITY];
    }
    return count;
}
