// SPDX-License-Identifier: MIT
#pragma once

// What the log says of statistics: a line for the server, one for each room at level debug, and one
// for each reason that dropped datagrams since the last time.

#include <stdint.h>

#include "server/daemon/log.h"
#include <cairn/server.h>

struct cairn_uv_driver;

typedef struct cairn_statistics_log {
    const cairn_server *server;
    struct cairn_uv_driver *driver;
    void (*write)(void *user, cairn_log_line line);
    uint64_t (*lines_lost)(void *user); // by the log
    void *user;
    // As of the last call; 0 at first, begin_ns the time of the server's start.
    uint64_t begin_ns;
    uint64_t bytes_in;
    uint64_t bytes_out;
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    uint32_t drop_count;
} cairn_statistics_log;

void cairn_statistics_log_write(cairn_statistics_log *log);
