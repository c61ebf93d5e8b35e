// SPDX-License-Identifier: MIT
#include "sim/task/task_scheduler.h"

#include "base/assert.h"
#include "sim/math/float_env.h"

// The blocks on offer: the first one in the low half, the one after the last in the high half.
#define TOP_SHIFT 16
#define BOTTOM_MASK 0xffffu
#define BLOCKS_MAX 0xfffeu
#define CLOSED 0xffffffffu // makes helpers leave
// A stage is cut into at least this many blocks for each worker if it is long enough: then threads
// that are slow or late make the others wait little.
#define BLOCKS_PER_WORKER 4
// The largest block, in units of the smallest: long stages are cut into more blocks.
#define BLOCK_MINIMA_MAX 4
// How often a helper looks for a block before it leaves the session, and the main thread for the
// end of a stage before it calls `wait`: some tens of microseconds. A helper that loses its
// processor within a session delays the end of it.
#define LOOKS_MAX 500

static void pause_briefly(void) {
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

// Claims a block of the stage on offer and runs it; false if all are claimed. The main thread
// claims from the bottom and helpers from the top: so from stage to stage a thread mostly gets the
// items that it had before, which are in its cache.
static bool run_next_block(cairn_task_scheduler *scheduler, bool helper) {
    unsigned int offer = atomic_load_explicit(&scheduler->offer, memory_order_acquire);
    while ((offer & BOTTOM_MASK) < offer >> TOP_SHIFT) {
        const unsigned int rest = helper ? offer - (1u << TOP_SHIFT) : offer + 1;
        if (atomic_compare_exchange_weak_explicit(
                &scheduler->offer, &offer, rest, memory_order_acquire, memory_order_acquire)) {
            run_block(scheduler, helper ? rest >> TOP_SHIFT : offer & BOTTOM_MASK);
            return true;
        }
    }
    return false;
}

static void run_blocks_of_session(cairn_task_scheduler *scheduler) {
    for (uint32_t looks = 0; looks < LOOKS_MAX; ++looks) {
        if (run_next_block(scheduler, true)) {
            looks = 0;
        } else if (atomic_load_explicit(&scheduler->offer, memory_order_relaxed) == CLOSED) {
            return;
        } else {
            pause_briefly();
        }
    }
}

static void run_worker(void *argument, uint32_t worker) {
    cairn_task_scheduler *scheduler = argument;
    CAIRN_ASSERT(worker < scheduler->parallel->workers);
    if (worker == 0) {
        scheduler->main(scheduler->argument);
        atomic_store_explicit(&scheduler->offer, CLOSED, memory_order_release);
    } else {
        const uint64_t mode = cairn_float_enter();
        run_blocks_of_session(scheduler);
        cairn_float_leave(mode);
    }
}

static void run_session(cairn_task_scheduler *scheduler, void (*main)(void *argument),
    void *argument, uint32_t workers) {
    const cairn_parallel *parallel = scheduler->parallel;
    CAIRN_ASSERT(!scheduler->in_session && workers >= 2 && workers <= parallel->workers);
    scheduler->main = main;
    scheduler->argument = argument;
    scheduler->in_session = true;
    atomic_store_explicit(&scheduler->offer, 0, memory_order_relaxed);
    CAIRN_ASSERT(parallel->run != NULL);
    parallel->run(parallel->context, run_worker, scheduler, workers);
    scheduler->in_session = false;
}

void cairn_task_scheduler_run_session(
    cairn_task_scheduler *scheduler, void (*main)(void *argument), void *argument) {
    CAIRN_ASSERT(main != NULL);
    if (scheduler->parallel == NULL || scheduler->parallel->workers < 2) {
        main(argument);
    } else {
        run_session(scheduler, main, argument, scheduler->parallel->workers);
    }
}

static uint32_t blocks_of(uint32_t count, uint32_t size) {
    return count / size + (count % size != 0 ? 1u : 0u);
}

// Offers the stage, runs what nobody else claims, and waits for the rest.
static void run_stage(void *argument) {
    cairn_task_scheduler *scheduler = argument;
    const uint32_t blocks = blocks_of(scheduler->end - scheduler->begin, scheduler->block);
    CAIRN_ASSERT(blocks >= 1 && blocks <= BLOCKS_MAX);
    atomic_store_explicit(&scheduler->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&scheduler->offer, blocks << TOP_SHIFT, memory_order_release);
    while (run_next_block(scheduler, false)) {}
}

static bool stage_is_done(cairn_task_scheduler *scheduler, uint32_t blocks) {
    return atomic_load_explicit(&scheduler->finished, memory_order_acquire) == blocks;
}

// Waits for blocks that helpers have claimed.
static void wait_for_stage(cairn_task_scheduler *scheduler, uint32_t blocks) {
    const cairn_parallel *parallel = scheduler->parallel;
    uint32_t looks = 0;
    while (!stage_is_done(scheduler, blocks)) {
        if (looks < LOOKS_MAX || parallel->wait == NULL) {
            pause_briefly();
        } else {
            parallel->wait(parallel->context, looks == LOOKS_MAX);
        }
        looks += looks <= LOOKS_MAX ? 1u : 0u;
    }
}

// The items of a block, if the stage is worth sharing; otherwise 0.
static uint32_t block_size(uint32_t count, uint32_t workers, uint32_t block_min) {
    if (workers < 2 || count <= block_min) {
        return 0;
    }
    const uint32_t share = count / (workers * BLOCKS_PER_WORKER);
    const uint32_t most = block_min * BLOCK_MINIMA_MAX;
    const uint32_t size = share < block_min ? block_min : share < most ? share : most;
    const uint32_t least = count / BLOCKS_MAX + 1;
    return size > least ? size : least;
}

void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min) {
    CAIRN_ASSERT(begin <= end && block_min > 0 && task != NULL);
    const uint32_t workers = scheduler->parallel == NULL ? 1 : scheduler->parallel->workers;
    const uint32_t size = block_size(end - begin, workers, block_min);
    if (size == 0) {
        if (begin < end) {
            task(context, begin, end);
        }
        return;
    }
    const uint32_t blocks = blocks_of(end - begin, size);
    scheduler->task = task;
    scheduler->context = context;
    scheduler->begin = begin;
    scheduler->end = end;
    scheduler->block = size;
    if (!scheduler->in_session) {
        // The host's parallel-for waits for the blocks that others have claimed.
        run_session(scheduler, run_stage, scheduler, workers < blocks ? workers : blocks);
        CAIRN_ASSERT(stage_is_done(scheduler, blocks));
        return;
    }
    run_stage(scheduler);
    wait_for_stage(scheduler, blocks);
}
