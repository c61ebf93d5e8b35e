// SPDX-License-Identifier: MIT
#pragma once

// What the other files at the top of server/ need of server_rooms.c; cairn/server.h has the rest.

#include "server/core/server_state.h"

// Frees a room that was closed while its job was out, now that the job is back.
void cairn_server_room_reap(cairn_server *server, cairn_room *room);
// Closes every room without telling its clients, and frees the table.
void cairn_server_rooms_destroy(cairn_server *server);
