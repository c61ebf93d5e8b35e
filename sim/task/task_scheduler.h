// SPDX-License-Identifier: MIT
#pragma once

// Shares the work of a step among threads. The thread that called cairn_world_step is the main
// thread: it runs the step, and where a stage has many independent items it cuts them into blocks.
// Helper threads, if the host has provided any, claim blocks as well, one at a time. The main
// thread waits only for blocks that a helper has already claimed, so neither a stage nor a step
// waits for a helper that the system does not run. Which thread runs a block cannot change the
// result: blocks of a stage share no memory that is written.

#include <stdatomic.h>
#include <stdint.h>

#include <cairn/sim.h>

// Works on the items begin .. end - 1 of a stage.
typedef void cairn_task(const void *context, uint32_t begin, uint32_t end);

typedef struct cairn_task_scheduler cairn_task_scheduler;
struct cairn_task_scheduler {
    const cairn_parallel *parallel; // NULL: the main thread alone
    atomic_uint next;               // the first block of the stage that is not claimed
    // The stage. Threads read these only while the host's parallel-for runs.
    cairn_task *task;
    const void *context;
    uint32_t begin;
    uint32_t end;
    uint32_t block; // items
    uint32_t block_count;
};

// Runs the task on the items begin .. end - 1, in blocks of at least `block_min` items, and returns
// when all are done. `block_min` items should take about ten microseconds: less, and handing them
// out costs as much as the work; more, and the last block of a stage is waited for.
void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min);
