// SPDX-License-Identifier: MIT
#pragma once

// cairnd --hand-over: listens at a Unix socket for a process that takes its place, gives it the
// rooms, lets it step beside for a second while every root is compared, and then stops between two
// turns and gives it the clients and the UDP socket. Whatever fails before the very end, this
// process goes on. One at a time. On the driver's loop; for cairnd alone.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/server.h>
#include <cairn/server_uv.h>

typedef struct cairn_hand_over cairn_hand_over;

#define CAIRN_HAND_OVER_ERROR_SIZE 256

typedef struct cairn_hand_over_config {
    const char *path; // of the socket; NULL: nobody may take over
    cairn_server *server;
    cairn_uv_driver *driver;
    // Connection to the process that this one took over from; -1: none. `path` is listened at when
    // that process has ended.
    int predecessor_fd;
    // That process has ended: its addresses are free.
    void (*on_alone)(void *user);
    // For the log: hand_over_began, hand_over_failed, handed_over. `us`: how long nothing was
    // stepped or sent.
    void (*say)(void *user, bool warns, const char *event, const char *detail, uint64_t us);
    void *user;
} cairn_hand_over_config;

// False: `error` says what the system refused. A socket file that nobody listens at is replaced.
bool cairn_hand_over_open(const cairn_hand_over_config *config, cairn_hand_over **out,
    char error[CAIRN_HAND_OVER_ERROR_SIZE]);
// The turn's last work: cairn_uv_run.on_turn.
void cairn_hand_over_turn(cairn_hand_over *hand_over);
// Before the driver is closed. NULL is allowed. The other process is free to use what this one
// used: call it last.
void cairn_hand_over_close(cairn_hand_over *hand_over);
