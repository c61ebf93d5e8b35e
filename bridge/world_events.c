// SPDX-License-Identifier: MIT
#include "bridge/world_events.h"

#include "base/assert.h"

_Static_assert(CAIRN_SENSOR_END + 1 == CAIRN_WIRE_EVENT_KIND_LAST, "the kinds on the wire");

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

static void tell_joint_events(const cairn_world *world, cairn_take_event *take, void *context) {
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
        take(context, &event);
    }
}

void cairn_contact_events_tell(const cairn_world *world, uint64_t tick,
    const cairn_contact_event *events, uint32_t count, cairn_take_event *take, void *context) {
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_contact_event *event = &events[i];
        if (!is_told(world, event)) {
            continue;
        }
        const cairn_wire_event told = {
            .tick = tick,
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
        take(context, &told);
    }
}

void cairn_world_events_tell(const cairn_world *world, cairn_take_event *take, void *context) {
    CAIRN_ASSERT(world != NULL && take != NULL);
    tell_joint_events(world, take, context);
    uint32_t count = 0;
    const cairn_contact_event *events = cairn_world_contact_events(world, &count);
    cairn_contact_events_tell(world, cairn_world_tick(world), events, count, take, context);
}
