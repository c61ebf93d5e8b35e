// SPDX-License-Identifier: MIT
#pragma once

// What a room does when its time has come: the ticks that are due, their recording, and what its
// members are told of them.

#include <stdint.h>

#include "server/room.h"

struct cairn_server;

void cairn_turn_run(struct cairn_server *server, cairn_room *room, uint64_t now_ns);
// When the room's next turn is due.
uint64_t cairn_turn_due_ns(const cairn_room *room);
