// SPDX-License-Identifier: MIT
#pragma once

// What every part of a server may use: the time, the event log, the encoder and the connections.
// The folders below server.c get this instead of the server.

#include <stdint.h>

#include "net/netcode_server.h"
#include "schema/codec.h"
#include "server/room/room.h"
#include <cairn/server.h>

typedef struct cairn_server_context {
    uint64_t now_ns; // the last time that the driver passed in
    cairn_encoder *encoder;
    cairn_netcode_server *netcode;
    void (*on_event)(void *user, const cairn_server_event *event); // NULL: no log
    void *user;
} cairn_server_context;

// Adds a line to the event log. `room` NULL: about no room; `client_id` 0: about no client.
void cairn_context_emit(const cairn_server_context *context, const cairn_room *room,
    cairn_log_level level, const char *name, uint64_t client_id, const char *detail, int64_t value);
