// SPDX-License-Identifier: MIT
#include "server/core/room_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// An id is the entry's generation, times this, plus its index plus one.
#define ENTRIES_PER_GENERATION 2048
#define GENERATIONS (UINT32_MAX / ENTRIES_PER_GENERATION)
_Static_assert(CAIRN_ROOMS_MAX < ENTRIES_PER_GENERATION, "every entry has an id");

struct cairn_room_entry {
    cairn_room *room;    // NULL: free
    uint32_t generation; // of the room in this entry, or of the next one
};

cairn_status cairn_room_table_create(uint32_t capacity, cairn_room_table *out) {
    CAIRN_ASSERT(capacity >= 1 && capacity <= CAIRN_ROOMS_MAX);
    *out = (cairn_room_table){.capacity = capacity};
    out->entries = calloc(capacity, sizeof *out->entries);
    out->rooms = calloc(capacity, sizeof *out->rooms);
    return out->entries != NULL && out->rooms != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_room_table_destroy(cairn_room_table *table) {
    CAIRN_ASSERT(table->count == 0);
    free(table->rooms);
    free(table->entries);
    *table = (cairn_room_table){0};
}

static uint32_t id_of(const cairn_room_table *table, uint32_t index) {
    return table->entries[index].generation * ENTRIES_PER_GENERATION + index + 1;
}

static uint32_t index_of(uint32_t id) {
    return id % ENTRIES_PER_GENERATION - 1;
}

bool cairn_room_table_insert(cairn_room_table *table, cairn_room *room) {
    uint32_t index = 0;
    while (index < table->capacity && table->entries[index].room != NULL) {
        index += 1;
    }
    if (index == table->capacity) {
        return false;
    }
    CAIRN_ASSERT(table->count < table->capacity);
    table->entries[index].room = room;
    table->rooms[table->count++] = room;
    room->id = id_of(table, index);
    return true;
}

void cairn_room_table_remove(cairn_room_table *table, const cairn_room *room) {
    struct cairn_room_entry *entry = &table->entries[index_of(room->id)];
    uint32_t kept = 0;
    CAIRN_ASSERT(entry->room == room);
    for (uint32_t i = 0; i < table->count; ++i) {
        table->rooms[kept] = table->rooms[i];
        kept += table->rooms[i] == room ? 0 : 1;
    }
    CAIRN_ASSERT(kept + 1 == table->count);
    table->count = kept;
    entry->room = NULL;
    entry->generation = (entry->generation + 1) % GENERATIONS;
}

cairn_room *cairn_room_table_at(const cairn_room_table *table, uint32_t id) {
    const uint32_t index = index_of(id);
    const bool current = index < table->capacity && id_of(table, index) == id;
    cairn_room *room = current ? table->entries[index].room : NULL;
    return room == NULL || room->closing ? NULL : room;
}

uint32_t cairn_room_table_next(const cairn_room_table *table, uint32_t id) {
    for (uint32_t i = id == 0 ? 0 : index_of(id) + 1; i < table->capacity; ++i) {
        if (table->entries[i].room != NULL && !table->entries[i].room->closing) {
            return id_of(table, i);
        }
    }
    return 0;
}

uint32_t cairn_room_table_find(const cairn_room_table *table, const char *name) {
    uint32_t id = cairn_room_table_next(table, 0);
    while (id != 0 && name[0] != '\0' && strcmp(cairn_room_table_at(table, id)->name, name) != 0) {
        id = cairn_room_table_next(table, id);
    }
    return id;
}
