// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/event_queue.h"

#include "base/assert.h"
#include "bridge/world_events.h"

void cairn_event_queue_clear(cairn_event_queue *queue) {
    queue->first = 0;
    queue->count = 0;
}

static void drop_first(cairn_event_queue *queue) {
    CAIRN_ASSERT(queue->count > 0);
    queue->first = (queue->first + 1) % CAIRN_EVENT_QUEUE_CAPACITY;
    queue->count -= 1;
}

static cairn_client_event client_event_of(
    const cairn_wire_event *event, bool confirmed, bool again) {
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
        .confirmed = confirmed,
        .again = again,
    };
}

static void put(cairn_event_queue *queue, const cairn_client_event *event) {
    if (queue->count == CAIRN_EVENT_QUEUE_CAPACITY) {
        drop_first(queue);
        queue->missed += 1;
    }
    queue->ring[(queue->first + queue->count) % CAIRN_EVENT_QUEUE_CAPACITY] = *event;
    queue->count += 1;
}

typedef struct own_step {
    cairn_event_queue *queue;
    const cairn_client_step *step;
} own_step;

static void put_own(void *context, const cairn_wire_event *event) {
    const own_step *own = context;
    const cairn_client_event told = client_event_of(event, own->step->confirmed, own->step->again);
    own->queue->received += 1;
    put(own->queue, &told);
}

void cairn_event_queue_add_step(
    void *queue, const struct cairn_world *world, const cairn_client_step *step) {
    own_step own = {.queue = queue, .step = step};
    cairn_world_events_tell(world, put_own, &own);
}

void cairn_event_queue_add_corrected(void *queue, const struct cairn_world *world,
    const cairn_client_step *step, const cairn_contact_event *events, uint32_t event_count) {
    own_step own = {.queue = queue, .step = step};
    cairn_contact_events_tell(world, step->tick + 1, events, event_count, put_own, &own);
}

void cairn_event_queue_add(cairn_event_queue *queue, const cairn_world_events_message *message) {
    CAIRN_ASSERT(message->events != NULL || message->event_count == 0);
    queue->missed += message->missed;
    queue->received += message->event_count;
    for (uint32_t i = 0; i < message->event_count; ++i) {
        const cairn_client_event event = client_event_of(&message->events[i], true, false);
        put(queue, &event);
    }
}

uint32_t cairn_event_queue_take(
    cairn_event_queue *queue, double tick, cairn_client_event *out, uint32_t capacity) {
    CAIRN_ASSERT(out != NULL || capacity == 0);
    uint32_t count = 0;
    while (queue->count > 0 && count < capacity && (double)queue->ring[queue->first].tick <= tick) {
        out[count++] = queue->ring[queue->first];
        drop_first(queue);
    }
    return count;
}
