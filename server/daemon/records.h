// SPDX-License-Identifier: MIT
#pragma once

// The recordings of cairnd as files (server/daemon/record_file.h). A room that an operator created
// is recorded to the first file's name with a dot and the room's name appended. One thread writes;
// any thread may seek. For cairnd alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/daemon/record_file.h"
#include <cairn/status.h>

struct cairn_world;

typedef struct cairn_records cairn_records;

typedef struct cairn_records_config {
    const cairn_file_calls *calls; // NULL: the system's
    cairn_record_sync sync;
    // The thread that writes calls these: a file was given its name; a call about a file failed,
    // once until something succeeds. `why` is one phrase.
    void (*on_open)(void *user, const char *room, const char *path);
    void (*on_error)(void *user, const char *room, const char *path, const char *why);
    void *user;
} cairn_records_config;

// No files yet. CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_records_create(const cairn_records_config *config, cairn_records **out);
// Names the file that a room is recorded to; it is created when the room writes. Returns NULL, or
// why not: another room has the file.
const char *cairn_records_add(cairn_records *records, const char *room, const char *path);
bool cairn_records_has(cairn_records *records, const char *room);
// Closes what is open. False when a file could not be closed. NULL is allowed.
bool cairn_records_close(cairn_records *records);

// As cairn_server_config's on_record and on_seek ask for.
bool cairn_records_write(
    cairn_records *records, const char *room, const uint8_t *bytes, size_t size);
struct cairn_world *cairn_records_seek(cairn_records *records, const char *room, uint64_t tick);
