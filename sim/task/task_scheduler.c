// SPDX-License-Identifier: MIT
#include "sim/task/task_scheduler.h"

#include "base/assert.h"
#include "sim/math/float_env.h"

#define STAGE_SHIFT 16
#define BLOCKS_MASK 0xffffu
#define CLOSED 0xffffu // the stage number that makes the helpers return
// A stage is cut into this many blocks for each worker, so that a helper that arrives late finds
// some left.
#define BLOCKS_PER_WORKER 4

static void relax_cpu(void) {
#if defined(__SSE2__)
    __builtin_ia32_pause();
#endif
}

static void run_block(cairn_task_scheduler *scheduler, uint32_t index) {
    const uint32_t begin = scheduler->begin + index * scheduler->block;
    CAIRN_ASSERT(scheduler->task != NULL && scheduler->block > 0);
    CAIRN_ASSERT(begin < scheduler->end);
    const uint32_t left = scheduler->end - begin;
    const uint32_t count = left < scheduler->block ? left : scheduler->block;
    CAIRN_ASSERT(count > 0 && begin + count <= scheduler->end);
    scheduler->task(scheduler->context, begin, begin + count);
    atomic_fetch_add_explicit(&scheduler->finished, 1, memory_order_release);
}

// Claims a block of the stage on offer and runs it. Returns false if every block is claimed.
static bool run_next_block(cairn_task_scheduler *scheduler, unsigned int *offer) {
    while ((*offer & BLOCKS_MASK) != 0 && *offer >> STAGE_SHIFT != CLOSED) {
        if (atomic_compare_exchange_weak_explicit(
                &scheduler->offer, offer, *offer - 1, memory_order_acquire, memory_order_acquire)) {
            run_block(scheduler, (*offer & BLOCKS_MASK) - 1);
            return true;
        }
    }
    return false;
}

static void run_blocks_until_closed(cairn_task_scheduler *scheduler) {
    for (;;) {
        unsigned int offer = atomic_load_explicit(&scheduler->offer, memory_order_acquire);
        if (offer >> STAGE_SHIFT == CLOSED) {
            return;
        }
        if (!run_next_block(scheduler, &offer)) {
            relax_cpu();
        }
    }
}

static void run_worker(void *argument, uint32_t worker) {
    cairn_task_scheduler *scheduler = argument;
    CAIRN_ASSERT(worker < scheduler->parallel->workers);
    if (worker == 0) {
        scheduler->main(scheduler->argument);
        atomic_store_explicit(&scheduler->offer, CLOSED << STAGE_SHIFT, memory_order_release);
    } else {
        const uint64_t mode = cairn_float_enter();
        run_blocks_until_closed(scheduler);
        cairn_float_leave(mode);
    }
}

void cairn_task_scheduler_run(
    cairn_task_scheduler *scheduler, void (*main)(void *argument), void *argument) {
    CAIRN_ASSERT(main != NULL);
    scheduler->main = main;
    scheduler->argument = argument;
    if (scheduler->parallel == NULL || scheduler->parallel->workers < 2) {
        main(argument);
        return;
    }
    CAIRN_ASSERT(scheduler->parallel->run != NULL);
    atomic_store_explicit(&scheduler->offer, 0, memory_order_relaxed);
    const cairn_parallel *parallel = scheduler->parallel;
    parallel->run(parallel->context, run_worker, scheduler, parallel->workers);
}

void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min) {
    CAIRN_ASSERT(begin <= end && block_min > 0);
    const uint32_t workers = scheduler->parallel == NULL ? 1 : scheduler->parallel->workers;
    CAIRN_ASSERT(workers >= 1 && task != NULL);
    const uint32_t count = end - begin;
    const uint32_t share = count / (workers * BLOCKS_PER_WORKER);
    const uint32_t size = share > block_min ? share : block_min;
    const uint32_t blocks = count / size + (count % size != 0 ? 1u : 0u);
    CAIRN_ASSERT((uint64_t)blocks * size >= count && size >= block_min);
    if (workers < 2 || blocks < 2 || blocks > BLOCKS_MASK) {
        if (count > 0) {
            task(context, begin, end);
        }
        return;
    }
    scheduler->task = task;
    scheduler->context = context;
    scheduler->begin = begin;
    scheduler->end = end;
    scheduler->block = size;
    const unsigned int last = atomic_load_explicit(&scheduler->offer, memory_order_relaxed);
    const unsigned int next = ((last >> STAGE_SHIFT) + 1) % CLOSED;
    CAIRN_ASSERT((last & BLOCKS_MASK) == 0 && next != CLOSED);
    atomic_store_explicit(&scheduler->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&scheduler->offer, next << STAGE_SHIFT | blocks, memory_order_release);
    unsigned int offer = atomic_load_explicit(&scheduler->offer, memory_order_acquire);
    while (run_next_block(scheduler, &offer)) {
        offer = atomic_load_explicit(&scheduler->offer, memory_order_acquire);
    }
    CAIRN_ASSERT((offer & BLOCKS_MASK) == 0);
    while (atomic_load_explicit(&scheduler->finished, memory_order_acquire) != blocks) {
        relax_cpu();
    }
}
