// SPDX-License-Identifier: MIT
#include "server/room/event_log.h"

#include <stdlib.h>

#include "base/assert.h"

_Static_assert(CAIRN_SENSOR_END + 1 == CAIRN_WIRE_EVENT_KIND_LAST, "the kinds on the wire");

cairn_status cairn_event_log_create(cairn_event_log *log) {
    *log = (cairn_event_log){.ring = calloc(CAIRN_EVENT_LOG_CAPACITY, sizeof *log->ring)};
    return log->ring != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_event_log_destroy(cairn_event_log *log) {
    free(log->ring);
    *log = (cairn_event_log){0};
}

static void add(cairn_event_log *log, const cairn_wire_event *event) {
    CAIRN_ASSERT(event->kind >= 1 && event->kind <= CAIRN_WIRE_EVENT_KIND_LAST);
    log->ring[log->written % CAIRN_EVENT_LOG_CAPACITY] = *event;
    log->written += 1;
}

// A destroyed shape cannot say any more whether it asked.
static bool asks_or_is_gone(const cairn_world *world, cairn_shape_id shape) {
    cairn_shape_def def;
    cairn_body_id body;
    return cairn_shape_read(world, shape, &def, &body) != CAIRN_OK ||
           (def.flags & CAIRN_SHAPE_CONTACT_EVENTS) != 0;
}

static bool is_told(const cairn_world *world, const cairn_contact_event *event) {
    if (event->kind != CAIRN_CONTACT_BEGIN && event->kind != CAIRN_CONTACT_END) {
        return true;
    }
    return asks_or_is_gone(world, event->shape_a) || asks_or_is_gone(world, event->shape_b);
}

static void add_joint_events(cairn_event_log *log, const cairn_world *world) {
    uint32_t count = 0;
    const cairn_joint_event *events = cairn_world_joint_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(events[i].kind == CAIRN_JOINT_BROKE);
        const cairn_wire_event event = {
            .tick = cairn_world_tick(world),
            .kind = CAIRN_CLIENT_JOINT_BROKE,
            .body_a = events[i].body_a,
            .body_b = events[i].body_b,
            .joint = events[i].joint,
        };
        add(log, &event);
    }
}

void cairn_event_log_add(cairn_event_log *log, const cairn_world *world) {
    CAIRN_ASSERT(log->ring != NULL);
    add_joint_events(log, world);
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_contact_event *event = &events[i];
        if (!is_told(world, event)) {
            continue;
        }
        const cairn_wire_event told = {
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
        add(log, &told);
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
