// SPDX-License-Identifier: MIT
#include "sim/task/task_scheduler.h"

#include "base/assert.h"
#include "sim/math/float_env.h"

// The number of shares is in the low bits of `stage`.
#define STAGE_SHIFT 7
#define SHARES_MASK 0x7fu
#define CLOSED 0xffffffffu // makes helpers leave
// The blocks on offer: the first one in the low half, the one after the last in the high half.
#define TOP_SHIFT 16
#define BOTTOM_MASK 0xffffu
#define BLOCKS_MAX 0xfffeu
// A stage in blocks is cut into at least this many for each worker if it is long enough: then
// threads that are slow or late make the others wait little.
#define BLOCKS_PER_WORKER 4
// The largest block, in units of the smallest: long stages are cut into more blocks.
#define BLOCK_MINIMA_MAX 4
// The first looks at a word that another thread is about to write follow each other at once.
#define EAGER_LOOKS 100
// After so many looks, a few microseconds, the main thread takes over a share that its helper has
// not begun.
#define GRACE_LOOKS 200
// How often the main thread looks for the end of a share before it calls `wait`: some tens of
// microseconds.
#define LOOKS_MAX 1000
// How often a helper looks for a stage before it leaves the session, some milliseconds: longer than
// the serial parts between stages. A session is a step, so a helper that has left is missed by all
// later stages.
#define HELPER_LOOKS_MAX 60000

static void pause_after(uint32_t looks) {
    if (looks >= EAGER_LOOKS) {
#if defined(__SSE2__)
        __builtin_ia32_pause();
#endif
    }
}

// ---- Shares

// Claims a block of the stage and runs it; false if all are claimed. The main thread claims from
// the bottom and helpers from the top: so from stage to stage a thread mostly gets the items that
// it had before, which are in its cache.
static bool run_next_block(cairn_task_scheduler *scheduler, bool helper) {
    unsigned int offer = atomic_load_explicit(&scheduler->offer, memory_order_relaxed);
    while ((offer & BOTTOM_MASK) < offer >> TOP_SHIFT) {
        const unsigned int rest = helper ? offer - (1u << TOP_SHIFT) : offer + 1;
        if (atomic_compare_exchange_weak_explicit(
                &scheduler->offer, &offer, rest, memory_order_relaxed, memory_order_relaxed)) {
            const uint32_t block = helper ? rest >> TOP_SHIFT : offer & BOTTOM_MASK;
            const uint32_t begin = scheduler->begin + block * scheduler->block;
            CAIRN_ASSERT(begin < scheduler->end);
            const uint32_t left = scheduler->end - begin;
            const uint32_t count = left < scheduler->block ? left : scheduler->block;
            scheduler->task(scheduler->context, begin, begin + count);
            return true;
        }
    }
    return false;
}

// The first item of a share.
static uint32_t share_begin(
    const cairn_task_scheduler *scheduler, uint32_t worker, uint32_t count) {
    const uint64_t items = scheduler->end - scheduler->begin;
    CAIRN_ASSERT(worker <= count && count > 0);
    return scheduler->begin + (uint32_t)(items * worker / count);
}

static void run_share(cairn_task_scheduler *scheduler, uint32_t worker, uint32_t count) {
    CAIRN_ASSERT(scheduler->task != NULL && worker < count);
    if (scheduler->block != 0) {
        while (run_next_block(scheduler, worker != 0)) {}
        return;
    }
    const uint32_t begin = share_begin(scheduler, worker, count);
    const uint32_t end = share_begin(scheduler, worker + 1, count);
    if (begin < end) {
        scheduler->task(scheduler->context, begin, end);
    }
}

// Runs the share of a worker if no thread has begun it.
static bool try_share(
    cairn_task_scheduler *scheduler, uint32_t worker, uint32_t stage, uint32_t count) {
    atomic_uint *progress = &scheduler->shares[worker].progress;
    unsigned int before = atomic_load_explicit(progress, memory_order_relaxed);
    if (before >= 2 * stage - 1 || !atomic_compare_exchange_strong_explicit(progress, &before,
                                       2 * stage - 1, memory_order_acquire, memory_order_relaxed)) {
        return false;
    }
    run_share(scheduler, worker, count);
    atomic_store_explicit(progress, 2 * stage, memory_order_release);
    return true;
}

// ---- Helpers

static void run_shares_of_session(cairn_task_scheduler *scheduler, uint32_t worker) {
    cairn_task_share *own = &scheduler->shares[worker];
    unsigned int last = 0;
    atomic_store_explicit(&own->present, 1, memory_order_relaxed);
    for (uint32_t looks = 0; looks < HELPER_LOOKS_MAX; ++looks) {
        const unsigned int stage = atomic_load_explicit(&scheduler->stage, memory_order_acquire);
        if (stage == last) {
            pause_after(looks);
            continue;
        }
        if (stage == CLOSED) {
            break;
        }
        const uint32_t count = stage & SHARES_MASK;
        if (worker < count && try_share(scheduler, worker, stage >> STAGE_SHIFT, count)) {
            looks = 0;
        }
        last = stage;
    }
    atomic_store_explicit(&own->present, 0, memory_order_relaxed);
}

static void run_worker(void *argument, uint32_t worker) {
    cairn_task_scheduler *scheduler = argument;
    CAIRN_ASSERT(worker < scheduler->parallel->workers);
    if (worker == 0) {
        scheduler->main(scheduler->argument);
        atomic_store_explicit(&scheduler->stage, CLOSED, memory_order_release);
    } else {
        const uint64_t mode = cairn_float_enter();
        run_shares_of_session(scheduler, worker);
        cairn_float_leave(mode);
    }
}

// ---- The main thread

static void run_session(cairn_task_scheduler *scheduler, void (*main)(void *argument),
    void *argument, uint32_t workers) {
    const cairn_parallel *parallel = scheduler->parallel;
    CAIRN_ASSERT(!scheduler->in_session && workers >= 2 && workers <= parallel->workers);
    scheduler->main = main;
    scheduler->argument = argument;
    scheduler->in_session = true;
    scheduler->stage_count = 0;
    for (uint32_t i = 1; i < workers; ++i) {
        atomic_store_explicit(&scheduler->shares[i].progress, 0, memory_order_relaxed);
        atomic_store_explicit(&scheduler->shares[i].present, 0, memory_order_relaxed);
        scheduler->shares[i].late = 0;
    }
    atomic_store_explicit(&scheduler->stage, 0, memory_order_relaxed);
    atomic_store_explicit(&scheduler->team_stage, 0, memory_order_relaxed);
    CAIRN_ASSERT(parallel->run != NULL);
    parallel->run(parallel->context, run_worker, scheduler, workers);
    scheduler->in_session = false;
}

void cairn_task_scheduler_run_session(
    cairn_task_scheduler *scheduler, void (*main)(void *argument), void *argument) {
    CAIRN_ASSERT(main != NULL && !scheduler->in_session);
    if (scheduler->parallel == NULL || scheduler->parallel->workers < 2) {
        main(argument);
    } else {
        run_session(scheduler, main, argument, scheduler->parallel->workers);
    }
}

// Waits until a share is done. Runs it if its helper has not come to the session, or does not
// begin.
static void finish_share(
    cairn_task_scheduler *scheduler, uint32_t worker, uint32_t stage, uint32_t count) {
    const cairn_parallel *parallel = scheduler->parallel;
    cairn_task_share *share = &scheduler->shares[worker];
    uint32_t looks = 0;
    for (;;) {
        const unsigned int progress = atomic_load_explicit(&share->progress, memory_order_acquire);
        if (progress == 2 * stage) {
            share->late = 0;
            return;
        }
        const bool begun = progress == 2 * stage - 1;
        const bool absent = atomic_load_explicit(&share->present, memory_order_relaxed) == 0;
        if (!begun && (absent || share->late != 0 || looks >= GRACE_LOOKS) &&
            try_share(scheduler, worker, stage, count)) {
            share->late = 1;
            return;
        }
        if (looks < LOOKS_MAX || parallel->wait == NULL) {
            pause_after(looks);
        } else {
            parallel->wait(parallel->context, looks == LOOKS_MAX);
        }
        looks += looks <= LOOKS_MAX ? 1u : 0u;
    }
}

// Offers a stage of `count` shares, whose items are set. Returns its number.
static uint32_t offer_stage(cairn_task_scheduler *scheduler, uint32_t count) {
    const uint32_t stage = ++scheduler->stage_count;
    CAIRN_ASSERT(count <= CAIRN_WORKERS_MAX && stage < CLOSED >> STAGE_SHIFT);
    atomic_store_explicit(&scheduler->stage, stage << STAGE_SHIFT | count, memory_order_release);
    return stage;
}

static void run_stage(void *argument) {
    cairn_task_scheduler *scheduler = argument;
    const uint32_t workers = scheduler->parallel->workers;
    const uint32_t items = scheduler->end - scheduler->begin;
    const uint32_t count = workers < items ? workers : items;
    const uint32_t stage = offer_stage(scheduler, count);
    run_share(scheduler, 0, count);
    for (uint32_t worker = 1; worker < count; ++worker) {
        finish_share(scheduler, worker, stage, count);
    }
}

// Runs a stage whose items are set; outside a session, in one of its own.
static void run_alone_or_in_session(cairn_task_scheduler *scheduler) {
    CAIRN_ASSERT(scheduler->begin < scheduler->end);
    if (scheduler->in_session) {
        run_stage(scheduler);
    } else {
        run_session(scheduler, run_stage, scheduler, scheduler->parallel->workers);
    }
}

static void set_stage(cairn_task_scheduler *scheduler, cairn_task *task, const void *context,
    uint32_t begin, uint32_t end) {
    scheduler->task = task;
    scheduler->context = context;
    scheduler->begin = begin;
    scheduler->end = end;
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

uint32_t cairn_task_scheduler_workers(const cairn_task_scheduler *scheduler) {
    return scheduler->parallel == NULL ? 1 : scheduler->parallel->workers;
}

void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min) {
    CAIRN_ASSERT(begin <= end && block_min > 0 && task != NULL);
    const uint32_t size =
        block_size(end - begin, cairn_task_scheduler_workers(scheduler), block_min);
    if (size == 0) {
        if (begin < end) {
            task(context, begin, end);
        }
        return;
    }
    const uint32_t blocks = (end - begin + size - 1) / size;
    CAIRN_ASSERT(blocks >= 1 && blocks <= BLOCKS_MAX);
    set_stage(scheduler, task, context, begin, end);
    scheduler->block = size;
    atomic_store_explicit(&scheduler->offer, blocks << TOP_SHIFT, memory_order_relaxed);
    run_alone_or_in_session(scheduler);
}

void cairn_task_scheduler_split(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t shared_min) {
    CAIRN_ASSERT(begin <= end && task != NULL);
    if (cairn_task_scheduler_workers(scheduler) < 2 || end - begin <= shared_min) {
        if (begin < end) {
            task(context, begin, end);
        }
        return;
    }
    set_stage(scheduler, task, context, begin, end);
    scheduler->block = 0;
    run_alone_or_in_session(scheduler);
}

// ---- Teams

// Between two looks at a word that another member is about to write.
static void wait_for_member(const cairn_task_scheduler *scheduler, uint32_t *looks) {
    const cairn_parallel *parallel = scheduler->parallel;
    if (*looks < LOOKS_MAX || parallel->wait == NULL) {
        pause_after(*looks);
    } else {
        parallel->wait(parallel->context, *looks == LOOKS_MAX);
    }
    *looks += *looks <= LOOKS_MAX ? 1u : 0u;
}

// Waits until all other members have published the phase.
static void await_phase(const cairn_team_member *member, uint32_t phase) {
    const cairn_task_scheduler *scheduler = member->scheduler;
    for (uint32_t rank = 0; rank < member->size; ++rank) {
        uint32_t looks = 0;
        while (rank != member->rank && atomic_load_explicit(&scheduler->team[rank].published,
                                           memory_order_acquire) < phase) {
            wait_for_member(scheduler, &looks);
        }
    }
}

void cairn_team_begin_phase(cairn_team_member *member) {
    if (member->size > 1) {
        CAIRN_ASSERT(!member->begun);
        await_phase(member, member->phase);
        member->phase += 1;
        member->begun = true;
    }
}

void cairn_team_skip_to_phase(cairn_team_member *member) {
    if (member->size > 1) {
        CAIRN_ASSERT(!member->begun);
        member->phase += 1;
        member->begun = true;
    }
}

bool cairn_team_phase_is_ready(const cairn_team_member *member) {
    const cairn_task_scheduler *scheduler = member->scheduler;
    for (uint32_t rank = 0; rank < member->size; ++rank) {
        if (rank != member->rank && atomic_load_explicit(&scheduler->team[rank].published,
                                        memory_order_relaxed) < member->phase) {
            return false;
        }
    }
    return true;
}

void cairn_team_publish_phase(cairn_team_member *member) {
    if (member->size > 1) {
        member->begun = false;
        atomic_store_explicit(
            &member->scheduler->team[member->rank].published, member->phase, memory_order_release);
    }
}

void cairn_team_meet(cairn_team_member *member) {
    if (member->size > 1) {
        member->phase += 1; // also ends a phase that was begun
        cairn_team_publish_phase(member);
        await_phase(member, member->phase);
    }
}

typedef struct team_work {
    cairn_task_scheduler *scheduler;
    cairn_team_task *task;
    void *context;
} team_work;

// The share of a helper is its number. It has begun, so the main thread counts it as a member.
static void join_team(const void *argument, uint32_t begin, uint32_t end) {
    const team_work *work = argument;
    cairn_task_scheduler *scheduler = work->scheduler;
    CAIRN_ASSERT(begin + 1 == end && begin < CAIRN_WORKERS_MAX);
    const uint32_t stage =
        atomic_load_explicit(&scheduler->stage, memory_order_relaxed) >> STAGE_SHIFT;
    uint32_t looks = 0;
    while (atomic_load_explicit(&scheduler->team_stage, memory_order_acquire) != stage) {
        wait_for_member(scheduler, &looks);
    }
    cairn_team_member member = {
        .scheduler = scheduler, .rank = scheduler->team_ranks[begin], .size = scheduler->team_size};
    work->task(work->context, &member);
}

// Whether a helper begins its share of the stage soon, even if it is on its way to the session. If
// not, the share is taken from it.
static bool helper_comes(cairn_task_scheduler *scheduler, uint32_t worker, uint32_t stage) {
    cairn_task_share *share = &scheduler->shares[worker];
    for (uint32_t looks = 0;; ++looks) {
        unsigned int progress = atomic_load_explicit(&share->progress, memory_order_relaxed);
        if (progress == 2 * stage - 1) {
            return true;
        }
        if (looks >= GRACE_LOOKS &&
            atomic_compare_exchange_strong_explicit(&share->progress, &progress, 2 * stage,
                memory_order_relaxed, memory_order_relaxed)) {
            share->late = 1;
            return false;
        }
        pause_after(looks);
    }
}

// Gathers the helpers that come, and gives them ranks in their order.
static void form_team(cairn_task_scheduler *scheduler, uint32_t stage, uint32_t count) {
    uint32_t size = 1;
    for (uint32_t worker = 1; worker < count; ++worker) {
        const bool comes = helper_comes(scheduler, worker, stage);
        scheduler->team_ranks[worker] = (unsigned char)(comes ? size++ : 0);
    }
    for (uint32_t rank = 0; rank < size; ++rank) {
        atomic_store_explicit(&scheduler->team[rank].published, 0, memory_order_relaxed);
    }
    scheduler->team_size = size;
    atomic_store_explicit(&scheduler->team_stage, stage, memory_order_release);
}

void cairn_task_scheduler_run_team(
    cairn_task_scheduler *scheduler, cairn_team_task *task, void *context, uint32_t size_max) {
    const uint32_t workers = cairn_task_scheduler_workers(scheduler);
    const uint32_t count = workers < size_max ? workers : size_max;
    cairn_team_member member = {.scheduler = scheduler, .rank = 0, .size = 1};
    CAIRN_ASSERT(task != NULL && count <= CAIRN_WORKERS_MAX);
    if (count < 2 || !scheduler->in_session) {
        task(context, &member);
        return;
    }
    const team_work work = {.scheduler = scheduler, .task = task, .context = context};
    set_stage(scheduler, join_team, &work, 0, count);
    scheduler->block = 0;
    const uint32_t stage = offer_stage(scheduler, count);
    form_team(scheduler, stage, count);
    member.size = scheduler->team_size;
    task(context, &member);
    for (uint32_t worker = 1; worker < count; ++worker) {
        if (scheduler->team_ranks[worker] != 0) {
            finish_share(scheduler, worker, stage, count);
        }
    }
}
