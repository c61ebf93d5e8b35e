// SPDX-License-Identifier: MIT
#pragma once

// Shares the work of a step among threads. The thread that called cairn_world_step is the main
// thread: it runs the step, and where a stage has many independent items it cuts them into blocks.
// Helper threads, if the host has provided any, take blocks as well. The main thread waits only for
// blocks that a helper has already taken, so a step ends even if no helper ever arrives. Which
// thread runs a block cannot change the result: blocks of a stage share no memory that is written.

#include <stdatomic.h>
#include <stdint.h>

#include <cairn/sim.h>

// Works on the items begin .. end - 1 of a stage.
typedef void cairn_task(const void *context, uint32_t begin, uint32_t end);

typedef struct cairn_task_scheduler cairn_task_scheduler;
struct cairn_task_scheduler {
    const cairn_parallel *parallel; // NULL: the main thread alone
    void (*main)(void *argument);
    void *argument;
    // The stage on offer: its number in the high half, blocks not yet taken in the low half.
    atomic_uint offer;
    atomic_uint finished; // blocks of the stage that are done
    // The stage itself. Only a thread that holds a block of it reads these, and they are not
    // written again until every block is done.
    cairn_task *task;
    const void *context;
    uint32_t begin;
    uint32_t end;
    uint32_t block; // items
};

// Calls main(argument) on this thread, with helper threads if the scheduler has a parallel-for.
void cairn_task_scheduler_run(
    cairn_task_scheduler *scheduler, void (*main)(void *argument), void *argument);
// Called by main: runs the task on the items begin .. end - 1, in blocks of at least `block_min`
// items, and returns when all are done.
void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min);
