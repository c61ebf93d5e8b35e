// SPDX-License-Identifier: MIT
#pragma once

// The process of cairnd: what its files share, and how it says what happens. For cairnd alone.

#include "program/key.h"
#include "schema/scene.h"
#include "server/agones/agones.h"
#include "server/daemon/broadcast.h"
#include "server/daemon/config.h"
#include "server/daemon/hand_over.h"
#include "server/daemon/log.h"
#include "server/daemon/log_writer.h"
#include "server/daemon/records.h"
#include "server/daemon/statistics_log.h"
#include "server/daemon/take_over.h"
#include "server/web/web.h"
#include <cairn/server.h>
#include <cairn/server_uv.h>

// Of "main", of each --room and of each --template.
#define CAIRN_DAEMON_TEMPLATES_FROM (1 + CAIRN_CONFIG_ROOMS_MAX)
#define CAIRN_DAEMON_SCENES_MAX (CAIRN_DAEMON_TEMPLATES_FROM + CAIRN_CONFIG_TEMPLATES_MAX)

typedef struct cairn_daemon {
    int argc;
    char **argv;
    cairn_config config;
    cairn_log log;
    cairn_log_writer *log_writer;
    cairn_server *server;
    cairn_uv_driver *driver;
    cairn_records *records;
    cairn_broadcast *broadcast; // NULL: none
    cairn_web *web;             // NULL: none
    cairn_agones *agones;       // NULL: none
    uint32_t agones_port;
    cairn_hand_over *hand_over; // NULL: none
    cairn_take_over take_over;  // of the process that this one follows
    // The scenes that the command line names; NULL: not read, or its rules may not run. Read once:
    // neither an operator's request nor a client reads a file.
    cairn_scene *scenes[CAIRN_DAEMON_SCENES_MAX];
    cairn_scene *found_scene; // the built-in one that an operator asked for last
    uint64_t capsule_bytes;   // written
    cairn_statistics_log statistics;
    uint32_t rooms_left_out; // because of their rules
    bool listening;
} cairn_daemon;

#define FIELD_COUNT(fields) ((uint32_t)(sizeof(fields) / sizeof *(fields)))

// On standard error; returns 1.
int cairn_daemon_print_error(const char *what, const char *why);
void cairn_daemon_write_line(cairn_daemon *p, cairn_log_line line);
// A line of the server as a whole; `field` may be NULL.
void cairn_daemon_log(
    cairn_daemon *p, cairn_log_level level, const char *name, const cairn_log_field *field);
// Of cairn_log_writer_config; on the writer's thread.
size_t cairn_daemon_write_lost_lines(void *user, uint64_t lines, char *out);
