// SPDX-License-Identifier: MIT
#pragma once

// Replaces a room's world: reset, load and seek. What the room remembers of the former world is
// forgotten; its recording and its clients are told.

#include <stdint.h>

#include "server/room/room.h"
#include "server/session/context.h"

// `world` becomes the room's own. It has the def of the room's world, except for the seed, and
// knows the players of the slots in `joined`. The room's job must not be running, and no operator
// may wait for the room (asserted).
void cairn_world_swap(
    const cairn_server_context *context, cairn_room *room, cairn_world *world, uint64_t joined);
