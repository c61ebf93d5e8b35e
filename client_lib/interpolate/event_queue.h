// SPDX-License-Identifier: MIT
#pragma once

// Events that wait for the host: of the server's world until the picture reaches their tick, or of
// the client's own.

#include <stdint.h>

#include "schema/messages.h"
#include <cairn/client.h>
#include <cairn/sim.h>

#define CAIRN_EVENT_QUEUE_CAPACITY 256

typedef struct cairn_event_queue {
    cairn_client_event ring[CAIRN_EVENT_QUEUE_CAPACITY];
    uint32_t first;
    uint32_t count;
    uint64_t received;
    uint64_t missed; // dropped by the server, or here because the host did not take them
} cairn_event_queue;

// Forgets what waits; the counts stay.
void cairn_event_queue_clear(cairn_event_queue *queue);
// Adds the events of a step of the client's own world, as cairn_client_config.on_step: `queue` is a
// cairn_event_queue.
void cairn_event_queue_add_step(
    void *queue, const struct cairn_world *world, const cairn_client_step *step);
// The same for a tick that was corrected (cairn_timeline.on_correct).
void cairn_event_queue_add_corrected(void *queue, const struct cairn_world *world,
    const cairn_client_step *step, const cairn_contact_event *events, uint32_t event_count);
// Adds the events of a message; a full queue drops the oldest.
void cairn_event_queue_add(cairn_event_queue *queue, const cairn_world_events_message *message);
// Takes events up to `tick`, oldest first, at most `capacity`; returns how many.
uint32_t cairn_event_queue_take(
    cairn_event_queue *queue, double tick, cairn_client_event *out, uint32_t capacity);
