// SPDX-License-Identifier: MIT
#pragma once

// One world in another's place: reset, load and seek. What a room remembers of the former is
// forgotten, its recording and its clients are told.

#include <stdint.h>

#include "server/room/room.h"

struct cairn_server;

// `world` becomes the room's own; it has the def of the room's but for the seed. It knows the
// players of the slots in `joined`. No job may be out.
void cairn_world_swap(
    struct cairn_server *server, cairn_room *room, cairn_world *world, uint64_t joined);
