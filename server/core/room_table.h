// SPDX-License-Identifier: MIT
#pragma once

// The rooms of a server by id and by name. An entry holds a room's memory only while the room
// exists, and no two rooms ever have the same id.

#include <stdbool.h>
#include <stdint.h>

#include "server/room/room.h"

typedef struct cairn_room_table {
    struct cairn_room_entry *entries; // owned; [capacity]
    cairn_room **rooms;               // owned; [count], in order of creation; also closing ones
    uint32_t capacity;
    uint32_t count;
} cairn_room_table;

// CAIRN_OUT_OF_MEMORY; destroying is allowed then.
cairn_status cairn_room_table_create(uint32_t capacity, cairn_room_table *out);
// The table is empty (asserted).
void cairn_room_table_destroy(cairn_room_table *table);

// Assigns the room its id. False: the table is full.
bool cairn_room_table_insert(cairn_room_table *table, cairn_room *room);
void cairn_room_table_remove(cairn_room_table *table, const cairn_room *room);

// These skip rooms that are closing. They return NULL or 0 if no room fits.
cairn_room *cairn_room_table_at(const cairn_room_table *table, uint32_t id);
uint32_t cairn_room_table_next(const cairn_room_table *table, uint32_t id);      // 0: the first
uint32_t cairn_room_table_find(const cairn_room_table *table, const char *name); // "": the first
