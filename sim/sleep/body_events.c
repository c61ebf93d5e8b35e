// SPDX-License-Identifier: MIT
#include "sim/sleep/body_events.h"

#include "base/assert.h"
#include "sim/body/body.h"
#include "sim/sleep/island.h"
#include "sim/state/awake_set.h"
#include "sim/state/hash_cache.h"

void cairn_body_events_clear(cairn_world *world) {
    CAIRN_ASSERT(world->state.settings->body_event_count <= world->def.body_capacity);
    world->state.settings->body_event_count = 0;
}

// There is room for one event of each body.
static void add_event(cairn_world *world, uint32_t kind, uint32_t slot) {
    const uint32_t index = world->state.settings->body_event_count++;
    CAIRN_ASSERT(index < world->def.body_capacity);
    cairn_hash_cache_mark(world, CAIRN_ARRAY_BODY_EVENTS, index);
    world->state.body_events[index] =
        (cairn_body_event){.kind = kind, .body = cairn_body_id_at(world, slot)};
}

// Only bodies of the awake set can have woken or fallen asleep, and it is in order of slot.
void cairn_body_events_add(cairn_world *world) {
    const cairn_awake_set *awake = world->awake_set;
    CAIRN_ASSERT(world->state.settings->body_event_count == 0);
    if (!world->bodies_woken && !world->islands->fell_asleep) {
        return;
    }
    world->bodies_woken = false;
    for (uint32_t i = 0; i < awake->body_count; ++i) {
        const uint32_t slot = awake->bodies[i];
        CAIRN_ASSERT(i == 0 || awake->bodies[i - 1] < slot);
        cairn_sleep *sleep = &world->state.sleep[slot];
        if (sleep->state == CAIRN_SLEEP_ASLEEP) {
            add_event(world, CAIRN_BODY_FELL_ASLEEP, slot);
        } else if (sleep->state == CAIRN_SLEEP_WOKEN) {
            sleep->state = CAIRN_SLEEP_NONE;
            add_event(world, CAIRN_BODY_WOKE, slot);
        }
    }
}
