// SPDX-License-Identifier: MIT
#include "sim/task/task_scheduler.h"

#include "base/assert.h"
#include "sim/math/float_env.h"

// A stage is cut into at least this many blocks for each worker if it is long enough: then threads
// that are slow or late make the others wait little.
#define BLOCKS_PER_WORKER 4
// The largest block, in units of the smallest: long stages are cut into more blocks.
#define BLOCK_MINIMA_MAX 4

static void run_block(const cairn_task_scheduler *scheduler, uint32_t index) {
    const uint32_t begin = scheduler->begin + index * scheduler->block;
    CAIRN_ASSERT(scheduler->task != NULL && scheduler->block > 0);
    CAIRN_ASSERT(begin < scheduler->end);
    const uint32_t left = scheduler->end - begin;
    const uint32_t count = left < scheduler->block ? left : scheduler->block;
    CAIRN_ASSERT(count > 0 && begin + count <= scheduler->end);
    scheduler->task(scheduler->context, begin, begin + count);
}

// Claims and runs blocks until all are claimed.
static void run_blocks(void *argument, uint32_t worker) {
    cairn_task_scheduler *scheduler = argument;
    CAIRN_ASSERT(worker < scheduler->parallel->workers);
    // Relaxed: the host's parallel-for orders the stage before and its results after.
    uint32_t block = atomic_fetch_add_explicit(&scheduler->next, 1, memory_order_relaxed);
    if (block >= scheduler->block_count) {
        return;
    }
    const uint64_t mode = worker == 0 ? 0 : cairn_float_enter();
    while (block < scheduler->block_count) {
        run_block(scheduler, block);
        block = atomic_fetch_add_explicit(&scheduler->next, 1, memory_order_relaxed);
    }
    if (worker != 0) {
        cairn_float_leave(mode);
    }
}

void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min) {
    CAIRN_ASSERT(begin <= end && block_min > 0 && task != NULL);
    const uint32_t workers = scheduler->parallel == NULL ? 1 : scheduler->parallel->workers;
    const uint32_t count = end - begin;
    if (workers < 2 || count <= block_min) {
        if (count > 0) {
            task(context, begin, end);
        }
        return;
    }
    const uint32_t share = count / (workers * BLOCKS_PER_WORKER);
    const uint32_t most = block_min * BLOCK_MINIMA_MAX;
    const uint32_t size = share < block_min ? block_min : share < most ? share : most;
    const uint32_t blocks = count / size + (count % size != 0 ? 1u : 0u);
    CAIRN_ASSERT((uint64_t)blocks * size >= count && size >= block_min && blocks >= 2);
    scheduler->task = task;
    scheduler->context = context;
    scheduler->begin = begin;
    scheduler->end = end;
    scheduler->block = size;
    scheduler->block_count = blocks;
    atomic_store_explicit(&scheduler->next, 0, memory_order_relaxed);
    const cairn_parallel *parallel = scheduler->parallel;
    CAIRN_ASSERT(parallel->run != NULL);
    parallel->run(parallel->context, run_blocks, scheduler, workers < blocks ? workers : blocks);
    CAIRN_ASSERT(atomic_load_explicit(&scheduler->next, memory_order_relaxed) >= blocks);
}
