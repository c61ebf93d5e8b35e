// SPDX-License-Identifier: MIT
#pragma once

// The recordings of cairnd as files. A room that an operator made is recorded beside the first
// file, with a dot and the room's name behind. For cairnd alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cairn_world;

typedef struct cairn_records cairn_records;

// No files yet. NULL: out of memory.
cairn_records *cairn_records_open(void);
// The file that a room is recorded to; an older one is replaced. False: it cannot be written.
bool cairn_records_add(cairn_records *records, const char *room, const char *path);
bool cairn_records_has(const cairn_records *records, const char *room);
// False when a file could not be closed. NULL is allowed.
bool cairn_records_close(cairn_records *records);

// As cairn_server_config's on_record and on_seek ask for.
bool cairn_records_write(
    cairn_records *records, const char *room, const uint8_t *bytes, size_t size);
struct cairn_world *cairn_records_seek(
    const cairn_records *records, const char *room, uint64_t tick);
