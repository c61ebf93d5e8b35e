// SPDX-License-Identifier: MIT
#pragma once

// The server's table of rooms, for the files of this room alone; include/cairn/server.h has what
// others call. A place in the table holds a room's memory only while the room exists.

#include <stdbool.h>
#include <stdint.h>

#include "net/link.h"
#include "server/room/room.h"

struct cairn_server;

// A table of rooms_max empty places. False: out of memory.
bool cairn_room_table_create(struct cairn_server *server);
// Closes every room that is there without a word to its clients, and frees the table.
void cairn_room_table_destroy(struct cairn_server *server);
// Ends every recording that still grows. The rooms stay.
void cairn_room_table_end_recordings(struct cairn_server *server);

// NULL when there is no such room.
cairn_room *cairn_room_table_find(const struct cairn_server *server, uint32_t id);

// Frees a room that was closed while its job was out, now that it is back.
void cairn_room_table_reap(struct cairn_server *server, cairn_room *room);

// The bodies that the largest room there is has room for, and what a link needs that may have to
// carry any message of such a room.
uint32_t cairn_room_table_bodies_max(const struct cairn_server *server);
cairn_link_config cairn_room_table_link_config(uint64_t bodies);
