// SPDX-License-Identifier: MIT
#include "workers/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

// How often a thread reads an atomic before it sleeps: longer than the caller's own work between
// two runs of one step, and short enough to cost nothing that matters.
#define SPINS 2000

#define CACHE_LINE 64

_Static_assert(CAIRN_POOL_WORKERS_MAX <= 32, "the shares not yet taken are bits of one word");

typedef struct helper {
    cairn_pool *pool;
    uint32_t worker; // whose share it prefers
    pthread_t thread;
} helper;

struct cairn_pool {
    uint32_t workers;
    uint32_t spins;
    pthread_mutex_t mutex; // held only to sleep and to wake
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

static void await_finish(cairn_pool *pool) {
    for (uint32_t i = 0; i < pool->spins; ++i) {
        if (atomic_load(&pool->unfinished) == 0) {
            return;
        }
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_asleep, true);
    while (atomic_load(&pool->unfinished) != 0) {
        pthread_cond_wait(&pool->finished, &pool->mutex);
    }
    atomic_store(&pool->caller_asleep, false);
    pthread_mutex_unlock(&pool->mutex);
}

static bool is_called(cairn_pool *pool) {
    return atomic_load(&pool->open) != 0 || atomic_load(&pool->ending);
}

static void await_call(cairn_pool *pool) {
    for (uint32_t i = 0; i < pool->spins; ++i) {
        if (is_called(pool)) {
            return;
        }
        pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->asleep, 1);
    while (!is_called(pool)) {
        pthread_cond_wait(&pool->opened, &pool->mutex);
    }
    atomic_fetch_sub(&pool->asleep, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *help(void *argument) {
    const helper *self = argument;
    CAIRN_ASSERT(self->worker >= 1 && self->worker < CAIRN_POOL_WORKERS_MAX);
    cairn_pool *pool = self->pool;
    while (!atomic_load(&pool->ending)) {
        await_call(pool);
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

bool cairn_pool_run(cairn_pool *pool, cairn_pool_task *task, void *argument, uint32_t workers) {
    CAIRN_ASSERT(pool != NULL && task != NULL);
    if (workers == 0 || workers > pool->workers || atomic_exchange(&pool->running, 1) != 0) {
        return false;
    }
    if (workers > 1) {
        pool->task = task;
        pool->argument = argument;
        atomic_store(&pool->unfinished, workers - 1);
        atomic_store(&pool->open, (unsigned)((UINT64_C(1) << workers) - 2));
        wake_sleepers(pool);
    }
    task(argument, 0);
    work(pool, 1);
    await_finish(pool);
    CAIRN_ASSERT(atomic_load(&pool->open) == 0 && atomic_load(&pool->unfinished) == 0);
    atomic_store(&pool->running, 0);
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
    pool->spins = processors >= (long)workers ? SPINS : 0;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->finished, NULL);
    atomic_init(&pool->open, 0);
    atomic_init(&pool->unfinished, 0);
    atomic_init(&pool->asleep, 0);
    atomic_init(&pool->caller_asleep, false);
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
