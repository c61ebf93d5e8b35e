// SPDX-License-Identifier: MIT
#pragma once

// What server_statistics.c offers inside the server; cairn/server_statistics.h has the rest.

#include "server/room/room.h"
#include <cairn/server_statistics.h>

// Keeps the counters of a room that is about to be freed.
void cairn_statistics_add_closed_room(cairn_server_statistics *server, const cairn_room *room);
