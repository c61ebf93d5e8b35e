// SPDX-License-Identifier: MIT
#pragma once

// Work that may take long and that no tick needs: writing a recording or a capsule. It runs on a
// thread of the driver if there is one, otherwise at once. While a task is out, its owner does not
// touch what the task works on.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/server.h>

// cairn_server_task of cairn/server.h: the first member of what it works on.
struct cairn_server_task {
    void (*run)(struct cairn_server_task *task);  // on any thread
    void (*done)(struct cairn_server_task *task); // on the thread that drives the server
    struct cairn_task_runner *runner;
    bool out; // handed to the driver and not yet back
};

// Of a server.
typedef struct cairn_task_runner {
    bool (*run_task)(void *user, cairn_server_task *task); // NULL: tasks run at once
    void *user;
    uint32_t out; // tasks
} cairn_task_runner;

// Runs the task, which is not out (asserted), and then calls `done`, perhaps before this returns.
void cairn_task_start(struct cairn_task_runner *runner, cairn_server_task *task);
