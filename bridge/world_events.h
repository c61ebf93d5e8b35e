// SPDX-License-Identifier: MIT
#pragma once

// The events of a step as clients receive them: joints that broke; hits, what sensors see, and
// begins and ends of contacts, which shapes ask for by their flags.

#include "schema/messages.h"
#include <cairn/sim.h>

typedef void cairn_take_event(void *context, const cairn_wire_event *event);

// Calls `take` for each event of the step that the world has just made, in the world's order.
void cairn_world_events_tell(const cairn_world *world, cairn_take_event *take, void *context);
