// SPDX-License-Identifier: MIT
#pragma once

// Shares the work of a step among threads. The thread that called cairn_world_step is the main
// thread: it runs the step, and where a stage has many independent items it cuts them into blocks.
// Helper threads, if the host has provided any, claim blocks as well, one at a time. The main
// thread waits only for blocks that a helper has already claimed, so a stage does not wait for a
// helper that the system does not run. Which thread runs a block cannot change the result: blocks
// of a stage share no memory that is written.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include <cairn/sim.h>

// Works on the items begin .. end - 1 of a stage.
typedef void cairn_task(const void *context, uint32_t begin, uint32_t end);

typedef struct cairn_task_scheduler cairn_task_scheduler;
struct cairn_task_scheduler {
    const cairn_parallel *parallel; // NULL: the main thread alone
    void (*main)(void *argument);   // of the session
    void *argument;
    bool in_session;
    unsigned char apart[CAIRN_CACHE_LINE]; // from what only the main thread uses
    // The blocks of the current stage that nobody has claimed.
    atomic_uint offer;
    atomic_uint finished; // blocks of the stage that are done
    // The stage itself. Only a thread that holds a block of it reads these, and they are not
    // written again until every block is done.
    uint32_t begin;
    uint32_t end;
    uint32_t block; // items
    cairn_task *task;
    const void *context;
};

// Calls main(argument) on this thread in a session: helpers that have no block wait for the next
// stage without leaving, for some tens of microseconds. For stages that follow each other quickly.
void cairn_task_scheduler_run_session(
    cairn_task_scheduler *scheduler, void (*main)(void *argument), void *argument);
// Runs the task on the items begin .. end - 1, in blocks of at least `block_min` items, and returns
// when all are done. `block_min` items should take some microseconds: less, and handing them out
// costs as much as the work; more, and the last block of a stage is waited for.
void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min);
