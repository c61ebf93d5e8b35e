// SPDX-License-Identifier: MIT
#include "sim/task_scheduler.h"

#include "sim/debug/negative_control.h"
#include "sim/math/float_env.h"

#define STAGE_SHIFT 16
#define BLOCKS_MASK 0xffffu
#define CLOSED 0xffffu // the stage number that sends helpers home
// A stage is cut into so many blocks for each worker, that one who comes late finds some left.
#define BLOCKS_EACH 4

static void relax_cpu(void) {
#if defined(__SSE2__)
    __builtin_ia32_pause();
#endif
}

static void do_block(cairn_crew *crew, uint32_t index) {
    const uint32_t begin = crew->begin + index * crew->block;
    const uint32_t left = crew->end - begin;
    crew->work(crew->context, begin, begin + (left < crew->block ? left : crew->block));
    atomic_fetch_add_explicit(&crew->finished, 1, memory_order_release);
}

// Takes a block of the stage on offer and does it. False when there is none to take.
static bool help(cairn_crew *crew, unsigned int *offer) {
    while ((*offer & BLOCKS_MASK) != 0 && *offer >> STAGE_SHIFT != CLOSED) {
        if (atomic_compare_exchange_weak_explicit(
                &crew->offer, offer, *offer - 1, memory_order_acquire, memory_order_acquire)) {
            do_block(crew, (*offer & BLOCKS_MASK) - 1);
            return true;
        }
    }
    return false;
}

static void help_until_closed(cairn_crew *crew) {
    for (;;) {
        unsigned int offer = atomic_load_explicit(&crew->offer, memory_order_acquire);
        if (offer >> STAGE_SHIFT == CLOSED) {
            return;
        }
        if (!help(crew, &offer)) {
            relax_cpu();
        }
    }
}

static void crew_task(void *argument, uint32_t worker) {
    cairn_crew *crew = argument;
    if (worker == 0) {
        crew->lead(crew->argument);
        atomic_store_explicit(&crew->offer, CLOSED << STAGE_SHIFT, memory_order_release);
    } else if (control_helpers_keep_mode()) {
        help_until_closed(crew);
    } else {
        const uint64_t mode = cairn_float_enter();
        help_until_closed(crew);
        cairn_float_leave(mode);
    }
}

void cairn_crew_run(cairn_crew *crew, void (*lead)(void *argument), void *argument) {
    crew->lead = lead;
    crew->argument = argument;
    if (crew->parallel == NULL || crew->parallel->workers < 2) {
        lead(argument);
        return;
    }
    atomic_store_explicit(&crew->offer, 0, memory_order_relaxed);
    const cairn_parallel *parallel = crew->parallel;
    parallel->run(parallel->context, crew_task, crew, parallel->workers);
}

static void offer_stage(cairn_crew *crew, uint32_t blocks) {
    const unsigned int last = atomic_load_explicit(&crew->offer, memory_order_relaxed);
    const unsigned int next = ((last >> STAGE_SHIFT) + 1) % CLOSED;
    atomic_store_explicit(&crew->finished, 0, memory_order_relaxed);
    atomic_store_explicit(&crew->offer, next << STAGE_SHIFT | blocks, memory_order_release);
}

void cairn_crew_share(cairn_crew *crew, cairn_crew_work *work, const void *context, uint32_t begin,
    uint32_t end, uint32_t block) {
    const uint32_t workers = crew->parallel == NULL ? 1 : crew->parallel->workers;
    const uint32_t parts = end - begin;
    const uint32_t share = parts / (workers * BLOCKS_EACH);
    const uint32_t size = share > block ? share : block;
    const uint32_t blocks = parts / size + (parts % size != 0 ? 1u : 0u);
    if (workers < 2 || blocks < 2 || blocks > BLOCKS_MASK) {
        if (parts > 0) {
            work(context, begin, end);
        }
        return;
    }
    crew->work = work;
    crew->context = context;
    crew->begin = begin;
    crew->end = end;
    crew->block = size;
    offer_stage(crew, blocks);
    unsigned int offer = atomic_load_explicit(&crew->offer, memory_order_acquire);
    while (help(crew, &offer)) {
        offer = atomic_load_explicit(&crew->offer, memory_order_acquire);
    }
    while (atomic_load_explicit(&crew->finished, memory_order_acquire) != blocks) {
        relax_cpu();
    }
}
