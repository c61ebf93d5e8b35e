// SPDX-License-Identifier: MIT
#pragma once

// The recordings of cairnd as files. No file is ever replaced: when FILE exists, FILE.1 is created,
// or FILE.2 and so on, so that a server that is killed and started again leaves its first recording
// alone. A room that an operator created is recorded to the first file's name with a dot and the
// room's name appended. For cairnd alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

struct cairn_world;

typedef struct cairn_records cairn_records;

// Called for each file that is created.
typedef void (*cairn_records_listener)(void *user, const char *room, const char *path);

// No files yet. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_records_create(cairn_records_listener on_open, void *user, cairn_records **out);
// Creates the file that a room is recorded to. False: errno says why.
bool cairn_records_add(cairn_records *records, const char *room, const char *path);
bool cairn_records_has(const cairn_records *records, const char *room);
// False when a file could not be closed. NULL is allowed.
bool cairn_records_close(cairn_records *records);

// As cairn_server_config's on_record and on_seek ask for.
bool cairn_records_write(
    cairn_records *records, const char *room, const uint8_t *bytes, size_t size);
struct cairn_world *cairn_records_seek(
    const cairn_records *records, const char *room, uint64_t tick);
