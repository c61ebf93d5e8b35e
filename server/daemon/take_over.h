// SPDX-License-Identifier: MIT
#pragma once

// cairnd --take-over: takes the place of the process that listens at a Unix socket
// (server/daemon/hand_over.h). Blocking, before the own loop runs. For cairnd alone.

#include <stdbool.h>
#include <stdint.h>

#include "server/handover/handover.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>
#include <cairn/types.h>

#define CAIRN_TAKE_OVER_WHY_SIZE 512

typedef struct cairn_take_over {
    int fd;
    cairn_address bound;      // of the UDP sockets
    cairn_uv_sockets sockets; // the caller's to close
    cairn_handover handover;
    uint64_t records; // ROOM and TICKS that were read
    uint64_t began_ns;
    uint64_t frozen_ns; // when the other process stopped
} cairn_take_over;

// Connects and is offered the rooms. False: `why` says why not.
bool cairn_take_over_begin(
    cairn_take_over *take, const char *path, char why[CAIRN_TAKE_OVER_WHY_SIZE]);
// Steps beside the other process until that one stops, and reads the clients. Nothing is received
// from the socket before. False, and the other process goes on: `why` says why not.
bool cairn_take_over_run(
    cairn_take_over *take, cairn_server *server, char why[CAIRN_TAKE_OVER_WHY_SIZE]);
// Everything is ready. True: the other process has ended its work and this one goes on.
bool cairn_take_over_finish(cairn_take_over *take, char why[CAIRN_TAKE_OVER_WHY_SIZE]);
// The service manager knows of this process: the other one may end.
void cairn_take_over_known(const cairn_take_over *take);
// Tells the other process why this one gives up, and closes the connection.
void cairn_take_over_fail(cairn_take_over *take, const char *why);
