// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/event_queue.h"

#include "base/assert.h"

void cairn_event_queue_clear(cairn_event_queue *queue) {
    queue->first = 0;
    queue->count = 0;
}

static void drop_first(cairn_event_queue *queue) {
    CAIRN_ASSERT(queue->count > 0);
    queue->first = (queue->first + 1) % CAIRN_EVENT_QUEUE_CAPACITY;
    queue->count -= 1;
}

void cairn_event_queue_add(cairn_event_queue *queue, const cairn_world_events_message *message) {
    CAIRN_ASSERT(message->events != NULL || message->event_count == 0);
    queue->missed += message->missed;
    queue->received += message->event_count;
    for (uint32_t i = 0; i < message->event_count; ++i) {
        if (queue->count == CAIRN_EVENT_QUEUE_CAPACITY) {
            drop_first(queue);
            queue->missed += 1;
        }
        const uint32_t at = (queue->first + queue->count) % CAIRN_EVENT_QUEUE_CAPACITY;
        queue->ring[at] = message->events[i];
        queue->count += 1;
    }
}

static cairn_client_event client_event_of(const cairn_wire_event *event) {
    return (cairn_client_event){
        .tick = event->tick,
        .kind = event->kind,
        .shape_a = event->shape_a,
        .shape_b = event->shape_b,
        .body_a = event->body_a,
        .body_b = event->body_b,
        .point = {event->point.x, event->point.y, event->point.z},
        .normal = {event->normal.x, event->normal.y, event->normal.z},
        .approach_speed = event->approach_speed,
        .impulse = event->impulse,
        .joint = event->joint,
    };
}

uint32_t cairn_event_queue_take(
    cairn_event_queue *queue, double tick, cairn_client_event *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    uint32_t count = 0;
    while (queue->count > 0 && count < capacity && (double)queue->ring[queue->first].tick <= tick) {
        out[count++] = client_event_of(&queue->ring[queue->first]);
        drop_first(queue);
    }
    return count;
}
