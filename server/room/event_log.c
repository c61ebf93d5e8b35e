// SPDX-License-Identifier: MIT
#include "server/room/event_log.h"

#include <stdlib.h>

#include "base/assert.h"

_Static_assert(CAIRN_SENSOR_END == CAIRN_WIRE_EVENT_KIND_LAST, "the kinds on the wire");

cairn_status cairn_event_log_create(cairn_event_log *log) {
    *log = (cairn_event_log){.ring = calloc(CAIRN_EVENT_LOG_CAPACITY, sizeof *log->ring)};
    return log->ring != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_event_log_destroy(cairn_event_log *log) {
    free(log->ring);
    *log = (cairn_event_log){0};
}

static bool is_told(uint32_t kind) {
    return kind == CAIRN_CONTACT_HIT || kind == CAIRN_SENSOR_BEGIN || kind == CAIRN_SENSOR_END;
}

void cairn_event_log_add(cairn_event_log *log, const cairn_world *world) {
    CAIRN_ASSERT(log->ring != NULL);
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_contact_event *event = &events[i];
        if (!is_told(event->kind)) {
            continue;
        }
        log->ring[log->written % CAIRN_EVENT_LOG_CAPACITY] = (cairn_wire_event){
            .tick = cairn_world_tick(world),
            .kind = event->kind,
            .shape_a = event->shape_a,
            .shape_b = event->shape_b,
            .body_a = event->body_a,
            .body_b = event->body_b,
            .point = event->point,
            .normal = event->normal,
            .approach_speed = event->approach_speed,
            .impulse = event->impulse,
        };
        log->written += 1;
    }
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
