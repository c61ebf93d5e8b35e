// SPDX-License-Identifier: MIT
#pragma once

// What the files at the top of server/ need of rooms and their statistics; cairn/server.h has the
// rest.

#include "server/core/server_state.h"

// Frees a room that was closed while its job was out, now that the job is back.
void cairn_server_room_reap(cairn_server *server, cairn_room *room);
// Closes every room without telling its clients, and frees the table.
void cairn_server_rooms_destroy(cairn_server *server);
// Adds what a room counted to the server's statistics. Its recording has ended.
void cairn_statistics_add_closed_room(cairn_server_statistics *server, const cairn_room *room);
// Closes rooms that have been empty for their idle_s. While the server drains, also closes a
// room when its match is over.
void cairn_server_rooms_close_idle(cairn_server *server);
