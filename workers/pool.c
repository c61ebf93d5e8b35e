// SPDX-License-Identifier: MIT
#include "workers/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "workers/sharing.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

// A thread that waits first spins, which answers fastest; then it yields its processor between
// looks, so that a thread of this pool or of another process that is ready to run there does run;
// then it sleeps.
#define HELPER_SPINS 300        // looks before it yields: some tens of microseconds
#define HELPER_PAUSES 20        // between two yields
#define HELPER_AWAKE_NS 300000u // longer than the caller's own work between two runs of one step
#define CALLER_SPINS 500        // longer than most shares take
#define CALLER_AWAKE_NS 100000u
#define NAP_NS 20000

// A helper that loses its processor in the middle of a share makes the caller wait for the
// system's time slice, which is longer than most steps. Such waits are bounded: after one, the
// caller works alone for that many times as long as it has waited.
#define ALONE_PER_STALL 24u

// Before a task is shared on trial, the helpers look whether they have processors of their own:
// they spin for that long, which is more than a time slice of the system, and note whether they
// lose the processor meanwhile. The caller works alone until they are back, and loses nothing.
#define SCOUT_NS 10000000u
#define SCOUT_GAP_NS 500000u // less than a time slice, more than an interrupt

#define CHOICES 16u

#define CACHE_LINE 64

_Static_assert(CAIRN_POOL_WORKERS_MAX <= 32, "the shares not yet taken are bits of one word");

typedef struct helper {
    cairn_pool *pool;
    uint32_t worker;  // whose share it prefers
    unsigned scouted; // the last round in which it looked for a processor
    pthread_t thread;
#ifdef __linux__
    cpu_set_t allowed; // the processors that others allow it
    cpu_set_t chosen;  // those that it allows itself
#endif
} helper;

typedef struct choice {
    cairn_pool_task *task;
    void *argument;
    cairn_sharing sharing;
} choice;

struct cairn_pool {
    uint32_t workers;
    bool spins;  // there are as many processors as workers
    bool always; // runs are shared without a trial
    // The caller's.
    uint64_t alone_until_ns; // until then it runs all shares itself
    bool scouting;           // a round has begun, and its result was not used yet
    uint64_t wait_begin_ns;
    choice choices[CHOICES]; // by a hash of task and argument
    pthread_t caller;        // of the current run
    pthread_mutex_t mutex;   // held only to sleep and to wake
    pthread_cond_t opened;
    pthread_cond_t finished;
    helper helpers[CAIRN_POOL_WORKERS_MAX]; // element 0 is unused: the caller is worker 0
    // The current run's. Written before shares are open; a thread reads them only while it holds a
    // share that it has not finished.
    _Alignas(CACHE_LINE) cairn_pool_task *task;
    void *argument;
    _Alignas(CACHE_LINE) atomic_uint open;       // bit k: the share of worker k can be taken
    _Alignas(CACHE_LINE) atomic_uint unfinished; // shares, without the caller's own
    _Alignas(CACHE_LINE) atomic_uint asleep;     // helpers
    atomic_uint scout_round;                     // counts the rounds
    atomic_uint scouts;                          // helpers that are not back from this one
    atomic_bool processor_taken;                 // in this round
    atomic_int caller_processor;                 // of the last run; -1: unknown
    atomic_bool caller_asleep;
    atomic_uint running; // 0 or 1; a word, because not every machine can exchange less
    atomic_bool ending;
};

static void pause_briefly(void) {
#if defined(__SSE2__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int current_processor(void) {
#ifdef __linux__
    return sched_getcpu();
#else
    return -1;
#endif
}

// Where other processes keep all processors busy, the system may run a helper on the caller's for
// many steps: then it works only while the caller does not. So a helper that finds itself there
// leaves that processor, if others are allowed. False: it is there, and has to stay.
static bool leave_processor_of_caller(helper *self) {
#ifdef __linux__
    const int taken = atomic_load_explicit(&self->pool->caller_processor, memory_order_relaxed);
    if (taken < 0 || sched_getcpu() != taken) {
        return true;
    }
    cpu_set_t now;
    if (sched_getaffinity(0, sizeof now, &now) != 0) {
        return false;
    }
    if (!CPU_EQUAL(&now, &self->chosen)) {
        self->allowed = now;
    }
    cpu_set_t rest = self->allowed;
    CPU_CLR((size_t)taken, &rest);
    if (CPU_COUNT(&rest) == 0 || sched_setaffinity(0, sizeof rest, &rest) != 0) {
        return false;
    }
    self->chosen = rest;
#else
    (void)self;
#endif
    return true;
}

// Takes a share for the calling thread and returns its worker; 0 if no share is open. A thread
// prefers its own share, because that data is in its cache; otherwise it takes the share of a
// thread that sleeps or is slow.
static uint32_t take(cairn_pool *pool, uint32_t preferred) {
    CAIRN_ASSERT(preferred >= 1 && preferred < CAIRN_POOL_WORKERS_MAX);
    unsigned open = atomic_load_explicit(&pool->open, memory_order_relaxed);
    while (open != 0) {
        uint32_t worker = preferred;
        while ((open >> worker & 1u) == 0) {
            worker = (worker + 1) % CAIRN_POOL_WORKERS_MAX;
        }
        if (atomic_compare_exchange_weak(&pool->open, &open, open & ~(1u << worker))) {
            return worker;
        }
    }
    return 0;
}

// Both sides write their own word before they read the other's, and all threads agree on the order:
// either the caller sees that no share is left, or the thread that finishes last sees that the
// caller sleeps. The same holds for `open` and `asleep`.
static void finish(cairn_pool *pool) {
    CAIRN_ASSERT(atomic_load(&pool->unfinished) > 0);
    if (atomic_fetch_sub(&pool->unfinished, 1) == 1 && atomic_load(&pool->caller_asleep)) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->finished);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static void work(cairn_pool *pool, uint32_t preferred) {
    for (uint32_t worker = take(pool, preferred); worker != 0; worker = take(pool, preferred)) {
        CAIRN_ASSERT(worker < CAIRN_POOL_WORKERS_MAX);
        pool->task(pool->argument, worker);
        finish(pool);
    }
}

static bool is_finished(cairn_pool *pool) {
    return atomic_load(&pool->unfinished) == 0;
}

static void sleep_until_finished(cairn_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_asleep, true);
    while (!is_finished(pool)) {
        pthread_cond_wait(&pool->finished, &pool->mutex);
    }
    atomic_store(&pool->caller_asleep, false);
    pthread_mutex_unlock(&pool->mutex);
}

static void note_wait(cairn_pool *pool) {
    const uint64_t now = now_ns();
    const uint64_t waited_ns = now - pool->wait_begin_ns;
    if (pool->spins && waited_ns >= CAIRN_SHARING_STALL_MIN_NS) {
        pool->alone_until_ns = now + ALONE_PER_STALL * waited_ns;
    }
}

void cairn_pool_wait(void *context, bool first) {
    cairn_pool *pool = context;
    if (!pthread_equal(pthread_self(), pool->caller)) {
        sched_yield();
        return;
    }
    if (first) {
        pool->wait_begin_ns = now_ns();
    }
    if (now_ns() - pool->wait_begin_ns < CALLER_AWAKE_NS) {
        sched_yield();
    } else {
        // A thread that sleeps lets the system bring the other one to this processor.
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    note_wait(pool);
}

static void await_finish(cairn_pool *pool) {
    for (uint32_t i = 0; pool->spins && i < CALLER_SPINS; ++i) {
        if (is_finished(pool)) {
            return;
        }
        pause_briefly();
    }
    if (is_finished(pool)) {
        return;
    }
    cairn_pool_wait(pool, true);
    while (!is_finished(pool) && now_ns() - pool->wait_begin_ns < CALLER_AWAKE_NS) {
        cairn_pool_wait(pool, false);
    }
    if (!is_finished(pool)) {
        sleep_until_finished(pool);
        note_wait(pool);
    }
}

static bool has_shares(cairn_pool *pool) {
    return atomic_load(&pool->open) != 0 || atomic_load(&pool->ending);
}

static bool is_called(const helper *self) {
    return has_shares(self->pool) || atomic_load(&self->pool->scout_round) != self->scouted;
}

// Takes part in a round. Shares that are opened meanwhile end it.
static void scout(helper *self) {
    cairn_pool *pool = self->pool;
    const unsigned round = atomic_load(&pool->scout_round);
    if (round == self->scouted) {
        return;
    }
    const uint64_t begin_ns = now_ns();
    uint64_t last_ns = begin_ns;
    self->scouted = round;
    while (last_ns - begin_ns < SCOUT_NS && !has_shares(pool)) {
        // Otherwise the system may let it have the caller's processor for the whole round.
        const bool left = leave_processor_of_caller(self);
        pause_briefly();
        const uint64_t ns = now_ns();
        if (!left || ns - last_ns >= SCOUT_GAP_NS) {
            atomic_store(&pool->processor_taken, true);
        }
        last_ns = ns;
    }
    atomic_fetch_sub(&pool->scouts, 1);
}

static void await_call(helper *self) {
    cairn_pool *pool = self->pool;
    for (uint32_t i = 0; pool->spins && i < HELPER_SPINS; ++i) {
        if (is_called(self)) {
            return;
        }
        pause_briefly();
    }
    const uint64_t begin_ns = now_ns();
    for (uint32_t i = 1; pool->spins; ++i) {
        if (is_called(self)) {
            return;
        }
        pause_briefly();
        if (i % HELPER_PAUSES == 0) {
            (void)leave_processor_of_caller(self);
            sched_yield();
            if (now_ns() - begin_ns >= HELPER_AWAKE_NS) {
                break;
            }
        }
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->asleep, 1);
    while (!is_called(self)) {
        pthread_cond_wait(&pool->opened, &pool->mutex);
    }
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *help(void *argument) {
    helper *self = argument;
    CAIRN_ASSERT(self->worker >= 1 && self->worker < CAIRN_POOL_WORKERS_MAX);
    cairn_pool *pool = self->pool;
    while (!atomic_load(&pool->ending)) {
        await_call(self);
        (void)leave_processor_of_caller(self);
        scout(self);
        work(pool, self->worker);
    }
    return NULL;
}

static void wake_sleepers(cairn_pool *pool) {
    if (atomic_load(&pool->asleep) != 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->opened);
        pthread_mutex_unlock(&pool->mutex);
    }
}

// Whether the caller still works alone because of a stall.
static bool is_alone(cairn_pool *pool) {
    if (pool->alone_until_ns != 0 && now_ns() >= pool->alone_until_ns) {
        pool->alone_until_ns = 0;
    }
    return pool->alone_until_ns != 0;
}

static void offer_shares(
    cairn_pool *pool, cairn_pool_task *task, void *argument, uint32_t workers) {
    CAIRN_ASSERT(workers > 1 && workers <= pool->workers);
    pool->caller = pthread_self();
    pool->task = task;
    pool->argument = argument;
    const int processor = current_processor();
    if (atomic_load_explicit(&pool->caller_processor, memory_order_relaxed) != processor) {
        atomic_store_explicit(&pool->caller_processor, processor, memory_order_relaxed);
    }
    atomic_store_explicit(&pool->unfinished, workers - 1, memory_order_relaxed);
    atomic_store(&pool->open, (unsigned)((UINT64_C(1) << workers) - 2));
    wake_sleepers(pool);
}

static choice *choice_of(cairn_pool *pool, cairn_pool_task *task, void *argument) {
    const uintptr_t hash = ((uintptr_t)task >> 4) ^ ((uintptr_t)argument >> 6);
    choice *found = &pool->choices[(hash ^ hash >> 8) % CHOICES];
    if (found->task != task || found->argument != argument) {
        *found = (choice){.task = task, .argument = argument, .sharing = cairn_sharing_new()};
    }
    return found;
}

static void begin_round(cairn_pool *pool) {
    pool->scouting = true;
    atomic_store_explicit(&pool->caller_processor, current_processor(), memory_order_relaxed);
    atomic_store(&pool->processor_taken, false);
    atomic_store(&pool->scouts, pool->workers - 1);
    atomic_fetch_add(&pool->scout_round, 1);
    wake_sleepers(pool);
}

// Whether the next run of the task is shared. *measured: whether its time says something.
static bool is_shared(cairn_pool *pool, cairn_sharing *sharing, bool *measured) {
    if (!pool->spins || !cairn_sharing_begins_trial(sharing)) {
        return cairn_sharing_next(sharing);
    }
    if (!pool->scouting) {
        begin_round(pool);
    } else if (atomic_load(&pool->scouts) == 0) {
        pool->scouting = false;
        if (!atomic_load(&pool->processor_taken)) {
            return true;
        }
        cairn_sharing_put_off_trial(sharing);
    }
    *measured = false;
    return false;
}

bool cairn_pool_run(cairn_pool *pool, cairn_pool_task *task, void *argument, uint32_t workers) {
    CAIRN_ASSERT(pool != NULL && task != NULL);
    if (workers == 0 || workers > pool->workers || atomic_exchange(&pool->running, 1) != 0) {
        return false;
    }
    bool measured = workers > 1 && !pool->always && !is_alone(pool);
    const uint64_t begin_ns = measured ? now_ns() : 0;
    choice *c = choice_of(pool, task, argument);
    const bool shared =
        measured ? is_shared(pool, &c->sharing, &measured) : pool->always && workers > 1;
    if (shared) {
        offer_shares(pool, task, argument, workers);
    }
    task(argument, 0);
    if (shared) {
        work(pool, 1);
        await_finish(pool);
    } else {
        for (uint32_t worker = 1; worker < workers; ++worker) {
            task(argument, worker);
        }
    }
    CAIRN_ASSERT(atomic_load(&pool->open) == 0 && atomic_load(&pool->unfinished) == 0);
    if (measured) {
        cairn_sharing_learn(&c->sharing, now_ns() - begin_ns);
    }
    atomic_store_explicit(&pool->running, 0, memory_order_release);
    return true;
}

void cairn_pool_parallel(void *pool, cairn_pool_task *task, void *argument, uint32_t workers) {
    CAIRN_ASSERT(cairn_pool_run(pool, task, argument, workers));
}

static cairn_status start_helpers(cairn_pool *pool, uint32_t workers) {
    CAIRN_ASSERT(pool->workers == 1 && workers <= CAIRN_POOL_WORKERS_MAX);
    sigset_t all;
    sigset_t before;
    cairn_status status = CAIRN_OK;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (status == CAIRN_OK && pool->workers < workers) {
        helper *next = &pool->helpers[pool->workers];
        *next = (helper){.pool = pool, .worker = pool->workers};
        if (pthread_create(&next->thread, NULL, help, next) == 0) {
            pool->workers += 1;
        } else {
            status = CAIRN_OUT_OF_MEMORY;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    CAIRN_ASSERT(status != CAIRN_OK || pool->workers == workers);
    return status;
}

cairn_status cairn_pool_create(uint32_t workers, cairn_pool **out) {
    *out = NULL;
    if (workers == 0 || workers > CAIRN_POOL_WORKERS_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    cairn_pool *pool = aligned_alloc(CACHE_LINE, sizeof *pool);
    if (pool == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    pool->workers = 1;
    pool->spins = processors >= (long)workers;
    pool->always = false;
    pool->alone_until_ns = 0;
    memset(pool->choices, 0, sizeof pool->choices);
    pool->caller = pthread_self();
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->finished, NULL);
    atomic_init(&pool->open, 0);
    atomic_init(&pool->unfinished, 0);
    atomic_init(&pool->asleep, 0);
    atomic_init(&pool->caller_asleep, false);
    pool->scouting = false;
    atomic_init(&pool->scout_round, 0);
    atomic_init(&pool->scouts, 0);
    atomic_init(&pool->processor_taken, false);
    atomic_init(&pool->caller_processor, -1);
    atomic_init(&pool->running, 0);
    atomic_init(&pool->ending, false);
    const cairn_status status = start_helpers(pool, workers);
    if (status != CAIRN_OK) {
        cairn_pool_destroy(pool);
        return status;
    }
    *out = pool;
    return CAIRN_OK;
}

void cairn_pool_destroy(cairn_pool *pool) {
    if (pool == NULL) {
        return;
    }
    CAIRN_ASSERT(atomic_load(&pool->running) == 0);
    atomic_store(&pool->ending, true);
    wake_sleepers(pool);
    for (uint32_t worker = 1; worker < pool->workers; ++worker) {
        pthread_join(pool->helpers[worker].thread, NULL);
    }
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

uint32_t cairn_pool_workers(const cairn_pool *pool) {
    return pool->workers;
}

void cairn_pool_share_always(cairn_pool *pool) {
    CAIRN_ASSERT(atomic_load(&pool->running) == 0);
    pool->always = true;
}
