// SPDX-License-Identifier: MIT
#pragma once

// The events of a step as clients receive them: joints that broke; hits, what sensors see, and
// begins and ends of contacts, which shapes ask for by their flags.

#include "schema/messages.h"
#include <cairn/sim.h>

typedef void cairn_take_event(void *context, const cairn_wire_event *event);

// Calls `take` for each event of the step that the world has just made, in the world's order.
void cairn_world_events_tell(const cairn_world *world, cairn_take_event *take, void *context);
// The same for contact events of another tick of that world, in which no joint broke.
void cairn_contact_events_tell(const cairn_world *world, uint64_t tick,
    const cairn_contact_event *events, uint32_t count, cairn_take_event *take, void *context);
