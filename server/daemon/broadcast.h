// SPDX-License-Identifier: MIT
#pragma once

// Broadcasts as files: FOLDER/ROOM holds the last segments of a room's broadcast (cairn/server.h,
// on_segment) and index.json, which names the newest of them. Any static HTTP server can carry the
// folder. A segment is listed once it is complete, and deleted when it is older than it is kept.
// The numbers go on after those of an earlier run. docs/PROTOCOL.md, "Broadcast", has the format.
// One thread writes. For cairnd alone.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/daemon/record_file.h"
#include <cairn/server.h>
#include <cairn/status.h>

// The index lists so many; a viewer knows the names of older ones from their numbers.
#define CAIRN_BROADCAST_LISTED_MAX 32

typedef struct cairn_broadcast cairn_broadcast;

typedef struct cairn_broadcast_config {
    const char *folder;            // outlives the broadcast; created if it does not exist
    uint32_t keep_s;               // how long segments are kept; 0: for ever
    const cairn_file_calls *calls; // NULL: the system's
    // The thread that writes calls it once until something succeeds. `why` is one phrase.
    void (*on_error)(void *user, const char *room, const char *path, const char *why);
    void *user;
} cairn_broadcast_config;

// CAIRN_OUT_OF_MEMORY: *out is NULL.
cairn_status cairn_broadcast_create(const cairn_broadcast_config *config, cairn_broadcast **out);
// Closes what is open. NULL is allowed.
void cairn_broadcast_close(cairn_broadcast *broadcast);

// As cairn_server_config's on_segment asks for.
bool cairn_broadcast_write(cairn_broadcast *broadcast, const cairn_server_segment *segment,
    const uint8_t *bytes, size_t size);
