// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "workers/pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "program/system.h"

SCOPE_POINTER_ENDS(cairn_pool, cairn_pool_destroy)

#define WORKERS 8

static cairn_pool *pool_of(uint32_t workers) {
    cairn_pool *pool = NULL;
    assert_int_equal(cairn_pool_create(workers, &pool), CAIRN_OK);
    assert_int_equal(cairn_pool_workers(pool), workers);
    cairn_pool_share_always(pool);
    return pool;
}

// Results of the tasks of one run. They are not atomic: only the pool orders the writes before the
// reads, and the thread sanitizer reports it if it does not.
typedef struct shares {
    uint32_t calls[CAIRN_POOL_WORKERS_MAX];
    cairn_pool *pool;
    bool nested[CAIRN_POOL_WORKERS_MAX];
    atomic_uint arrived;
    pthread_t thread_of_zero;
} shares;

static void count_call(void *argument, uint32_t worker) {
    shares *all = argument;
    all->calls[worker] += 1;
}

static void expect_calls(const shares *all, uint32_t workers, uint32_t calls) {
    for (uint32_t i = 0; i < CAIRN_POOL_WORKERS_MAX; ++i) {
        assert_int_equal(all->calls[i], i < workers ? calls : 0);
    }
}

TEST("every share of a run is called once, in pools of every size") {
    for (uint32_t size = 1; size <= WORKERS; ++size) {
        SCOPED(cairn_pool) *pool = pool_of(size);
        for (uint32_t workers = 1; workers <= size; ++workers) {
            shares all = {.calls = {0}};
            for (uint32_t run = 1; run <= 50; ++run) {
                assert_true(cairn_pool_run(pool, count_call, &all, workers));
                expect_calls(&all, workers, run);
            }
        }
    }
    SCOPED(cairn_pool) *largest = pool_of(CAIRN_POOL_WORKERS_MAX);
    shares all = {.calls = {0}};
    assert_true(cairn_pool_run(largest, count_call, &all, CAIRN_POOL_WORKERS_MAX));
    expect_calls(&all, CAIRN_POOL_WORKERS_MAX, 1);
}

TEST("a pool without workers or with too many is refused") {
    static const uint32_t sizes[] = {0, CAIRN_POOL_WORKERS_MAX + 1};
    for (size_t i = 0; i < 2; ++i) {
        cairn_pool *pool = (cairn_pool *)(void *)&pool; // not NULL
        assert_int_equal(cairn_pool_create(sizes[i], &pool), CAIRN_INVALID_ARGUMENT);
        assert_null(pool);
    }
    cairn_pool_destroy(NULL);
}

TEST("a run with no share or with more shares than workers is refused") {
    SCOPED(cairn_pool) *pool = pool_of(3);
    shares all = {.calls = {0}};
    assert_false(cairn_pool_run(pool, count_call, &all, 0));
    assert_false(cairn_pool_run(pool, count_call, &all, 4));
    expect_calls(&all, 0, 0);
    assert_true(cairn_pool_run(pool, count_call, &all, 3));
}

static void run_inside(void *argument, uint32_t worker) {
    shares *all = argument;
    all->nested[worker] = cairn_pool_run(all->pool, count_call, all, 1);
}

TEST("a run inside a run is refused") {
    SCOPED(cairn_pool) *pool = pool_of(WORKERS);
    shares all = {.pool = pool};
    memset(all.nested, true, sizeof all.nested);
    assert_true(cairn_pool_run(pool, run_inside, &all, WORKERS));
    for (uint32_t i = 0; i < WORKERS; ++i) {
        assert_false(all.nested[i]);
    }
    expect_calls(&all, 0, 0);
    assert_true(cairn_pool_run(pool, count_call, &all, WORKERS));
    expect_calls(&all, WORKERS, 1);
}

// Returns after every task has begun.
static void wait_for_all(void *argument, uint32_t worker) {
    shares *all = argument;
    atomic_fetch_add(&all->arrived, 1);
    while (atomic_load(&all->arrived) % WORKERS != 0) {
        cairn_system_sleep_ms(1);
    }
    count_call(argument, worker);
}

TEST("shares run at the same time") {
    SCOPED(cairn_pool) *pool = pool_of(WORKERS);
    shares all = {.calls = {0}};
    assert_true(cairn_pool_run(pool, wait_for_all, &all, WORKERS));
    expect_calls(&all, WORKERS, 1);
}

static void note_thread(void *argument, uint32_t worker) {
    shares *all = argument;
    if (worker == 0) {
        all->thread_of_zero = pthread_self();
    }
}

TEST("the caller is worker zero") {
    SCOPED(cairn_pool) *pool = pool_of(WORKERS);
    for (uint32_t run = 0; run < 100; ++run) {
        shares all = {.calls = {0}};
        assert_true(cairn_pool_run(pool, note_thread, &all, 1 + run % WORKERS));
        assert_true(pthread_equal(all.thread_of_zero, pthread_self()));
    }
}

// Helpers fall asleep between some runs and not between others, and may sleep at the end.
TEST("sleeping helpers wake for a run and for the destruction of the pool") {
    for (uint32_t round = 0; round < 20; ++round) {
        SCOPED(cairn_pool) *pool = pool_of(2 + round % 3);
        shares all = {.calls = {0}};
        for (uint32_t run = 1; run <= 5; ++run) {
            cairn_system_sleep_ms(run % 2 + round % 3);
            assert_true(cairn_pool_run(pool, count_call, &all, 2));
            expect_calls(&all, 2, run);
        }
        cairn_system_sleep_ms(round % 3);
    }
}

TEST("a pool that never ran can be destroyed") {
    for (uint32_t i = 0; i < 100; ++i) {
        cairn_pool_destroy(pool_of(1 + i % WORKERS));
    }
}

// Like the tasks of a step: many short runs, each of which reads what all tasks of the last one
// wrote.
typedef struct relay {
    uint32_t from[WORKERS];
    uint32_t to[WORKERS];
    uint32_t workers;
} relay;

static void add_previous(void *argument, uint32_t worker) {
    relay *all = argument;
    uint32_t sum = worker;
    for (uint32_t i = 0; i < all->workers; ++i) {
        sum = sum * 31 + all->from[i];
    }
    all->to[worker] = sum;
}

static uint32_t relay_sum(cairn_pool *pool, uint32_t workers, uint32_t runs) {
    relay all = {.workers = workers};
    uint32_t sum = 0;
    for (uint32_t run = 0; run < runs; ++run) {
        if (pool != NULL) {
            cairn_pool_parallel(pool, add_previous, &all, workers);
        } else {
            for (uint32_t worker = workers; worker-- > 0;) {
                add_previous(&all, worker);
            }
        }
        memcpy(all.from, all.to, sizeof all.from);
    }
    for (uint32_t i = 0; i < workers; ++i) {
        sum += all.from[i];
    }
    return sum;
}

TEST("each run sees the writes of the one before") {
    for (uint32_t workers = 1; workers <= WORKERS; ++workers) {
        SCOPED(cairn_pool) *pool = pool_of(workers);
        assert_int_equal(relay_sum(pool, workers, 3000), relay_sum(NULL, workers, 3000));
    }
}

// ---- Shared or alone

typedef struct timed {
    pthread_t caller;
    atomic_uint helped; // shares that another thread ran
    uint32_t helper_ms; // what a share takes there; the caller takes 1 ms
} timed;

static void spend(void *argument, uint32_t worker) {
    timed *t = argument;
    (void)worker;
    const bool helps = !pthread_equal(pthread_self(), t->caller);
    atomic_fetch_add(&t->helped, helps ? 1 : 0);
    cairn_system_sleep_ms(helps ? t->helper_ms : 1);
}

// The decision itself is tested in sharing_test.c, without a clock. Here a helper is so slow that
// no load of the machine makes it look fast.
TEST("a task that is much slower when it is shared is run alone, but for trials") {
    const uint32_t runs = 60;
    SCOPED(cairn_pool) *pool = NULL;
    assert_int_equal(cairn_pool_create(2, &pool), CAIRN_OK);
    timed t = {.caller = pthread_self(), .helper_ms = 100};
    for (uint32_t i = 0; i < runs; ++i) {
        assert_true(cairn_pool_run(pool, spend, &t, 2));
    }
    // None at all if the machine is so busy that the caller is always the first to take a share.
    assert_in_range(atomic_load(&t.helped), 0, runs / 2);
}

#ifdef __linux__
static void burn_1_ms(void *argument, uint32_t worker) {
    timed *t = argument;
    struct timespec begin;
    struct timespec now;
    (void)worker;
    atomic_fetch_add(&t->helped, pthread_equal(pthread_self(), t->caller) ? 0 : 1);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 1000000L);
}

// Caller and helper are allowed one processor between them.
TEST("helpers without processors of their own get no shares, not even on trial") {
    cpu_set_t before;
    cpu_set_t one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    {
        SCOPED(cairn_pool) *pool = NULL;
        timed t = {.caller = pthread_self()};
        assert_int_equal(cairn_pool_create(2, &pool), CAIRN_OK);
        for (uint32_t i = 0; i < 150; ++i) {
            assert_true(cairn_pool_run(pool, burn_1_ms, &t, 2));
        }
        assert_int_equal(atomic_load(&t.helped), 0);
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}
#endif
