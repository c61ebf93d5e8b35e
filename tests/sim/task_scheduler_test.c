// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "sim/task/task_scheduler.h"

#include <string.h>

#include "workers/pool.h"

SCOPE_POINTER_ENDS(cairn_pool, cairn_pool_destroy)

#define ITEMS_MAX 5000

// How often each item was worked on. Not atomic: two threads that get the same item are a data
// race, which the thread sanitizer reports.
typedef struct visits {
    uint32_t counts[ITEMS_MAX];
} visits;

static void visit(const void *context, uint32_t begin, uint32_t end) {
    const visits *all = context;
    for (uint32_t i = begin; i < end; ++i) {
        ((visits *)(uintptr_t)all)->counts[i] += 1;
    }
}

static void expect_once(const visits *all, uint32_t begin, uint32_t end) {
    for (uint32_t i = 0; i < ITEMS_MAX; ++i) {
        assert_int_equal(all->counts[i], i >= begin && i < end ? 1 : 0);
    }
}

static void share_stages(cairn_task_scheduler *scheduler) {
    static const uint32_t sizes[] = {0, 1, 7, 8, 9, 64, 65, 1000, 4999};
    static const uint32_t minima[] = {1, 8, 100};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        for (size_t k = 0; k < sizeof minima / sizeof minima[0]; ++k) {
            visits all;
            memset(&all, 0, sizeof all);
            cairn_task_scheduler_parallel_for(scheduler, visit, &all, 1, 1 + sizes[i], minima[k]);
            expect_once(&all, 1, 1 + sizes[i]);
            memset(&all, 0, sizeof all);
            cairn_task_scheduler_split(scheduler, visit, &all, 1, 1 + sizes[i], minima[k]);
            expect_once(&all, 1, 1 + sizes[i]);
        }
    }
}

static cairn_parallel parallel_of(cairn_pool *pool) {
    cairn_pool_share_always(pool);
    return (cairn_parallel){.context = pool,
        .workers = cairn_pool_workers(pool),
        .run = cairn_pool_parallel,
        .wait = cairn_pool_wait};
}

static void share_stages_in_session(void *argument) {
    share_stages(argument);
}

TEST("every item of a stage is worked on once, by any number of workers, in a session or not") {
    for (uint32_t workers = 1; workers <= 4; ++workers) {
        SCOPED(cairn_pool) *pool = NULL;
        assert_int_equal(cairn_pool_create(workers, &pool), CAIRN_OK);
        const cairn_parallel parallel = parallel_of(pool);
        cairn_task_scheduler scheduler = {.parallel = &parallel};
        for (int i = 0; i < 3; ++i) {
            share_stages(&scheduler);
            cairn_task_scheduler_run_session(&scheduler, share_stages_in_session, &scheduler);
        }
    }
}

// Where each item was worked on, by the address of a variable on that thread's stack.
typedef struct places {
    const void *threads[ITEMS_MAX];
} places;

static _Thread_local char thread_mark;

static void note_thread(const void *context, uint32_t begin, uint32_t end) {
    const places *all = context;
    for (uint32_t i = begin; i < end; ++i) {
        ((places *)(uintptr_t)all)->threads[i] = &thread_mark;
    }
}

typedef struct split_run {
    cairn_task_scheduler *scheduler;
    places places[2];
} split_run;

static void split_twice(void *argument) {
    split_run *run = argument;
    for (int i = 0; i < 2; ++i) {
        cairn_task_scheduler_split(run->scheduler, note_thread, &run->places[i], 0, 1000, 10);
    }
}

TEST("the main thread has the first share of every stage that is split") {
    SCOPED(cairn_pool) *pool = NULL;
    assert_int_equal(cairn_pool_create(4, &pool), CAIRN_OK);
    const cairn_parallel parallel = parallel_of(pool);
    cairn_task_scheduler scheduler = {.parallel = &parallel};
    split_run run = {.scheduler = &scheduler};
    for (int round = 0; round < 50; ++round) {
        cairn_task_scheduler_run_session(&scheduler, split_twice, &run);
        for (int i = 0; i < 2; ++i) {
            for (uint32_t k = 0; k < 250; ++k) {
                assert_ptr_equal(run.places[i].threads[k], &thread_mark);
            }
            for (uint32_t k = 250; k < 1000; ++k) { // a share is not divided
                assert_ptr_equal(run.places[i].threads[k], run.places[i].threads[k / 250 * 250]);
            }
        }
    }
}

TEST("without helpers the calling thread does everything") {
    cairn_task_scheduler scheduler = {.parallel = NULL};
    share_stages(&scheduler);
    cairn_task_scheduler_run_session(&scheduler, share_stages_in_session, &scheduler);
}

// A host without threads: the other workers come when the main thread is done, or before it begins.
static void run_main_first(void *context, void (*task)(void *argument, uint32_t worker),
    void *argument, uint32_t workers) {
    uint32_t *runs = context;
    *runs += 1;
    for (uint32_t i = 0; i < workers; ++i) {
        task(argument, i);
    }
}

static void run_main_last(void *context, void (*task)(void *argument, uint32_t worker),
    void *argument, uint32_t workers) {
    uint32_t *runs = context;
    *runs += 1;
    for (uint32_t i = workers; i > 0; --i) {
        task(argument, i - 1);
    }
}

TEST("helpers that come late or early are not waited for") {
    uint32_t runs = 0;
    cairn_parallel parallel = {.context = &runs, .workers = 3, .run = run_main_first};
    cairn_task_scheduler scheduler = {.parallel = &parallel};
    share_stages(&scheduler);
    assert_true(runs > 1);
    runs = 0;
    cairn_task_scheduler_run_session(&scheduler, share_stages_in_session, &scheduler);
    assert_int_equal(runs, 1); // a session is one parallel-for of the host
    parallel.run = run_main_last;
    share_stages(&scheduler);
    cairn_task_scheduler_run_session(&scheduler, share_stages_in_session, &scheduler);
}

// What the members of a team wrote in each phase: first each its part, then its rest.
#define PHASES 300u
#define MEMBERS_MAX 4u

typedef struct team_run {
    cairn_task_scheduler *scheduler;
    uint32_t size_max;
    uint32_t size;
    uint32_t parts[MEMBERS_MAX][16]; // not atomic: the thread sanitizer watches them
    uint32_t rests[MEMBERS_MAX][16];
    bool seen; // each member saw what all others had written
} team_run;

static void walk_phases(void *context, cairn_team_member *member) {
    team_run *run = context;
    bool seen = true;
    for (uint32_t phase = 1; phase <= PHASES; ++phase) {
        cairn_team_begin_phase(member);
        for (uint32_t rank = 0; rank < member->size; ++rank) {
            seen = seen && run->parts[rank][(phase - 1) % 2] == phase - 1;
        }
        run->parts[member->rank][phase % 2] = phase;
        cairn_team_publish_phase(member);
        run->rests[member->rank][0] = phase;
    }
    cairn_team_meet(member);
    for (uint32_t rank = 0; rank < member->size; ++rank) {
        seen = seen && run->rests[rank][0] == PHASES;
    }
    cairn_team_meet(member);
    if (member->rank == 0) {
        run->size = member->size;
        run->seen = seen;
    }
}

static void run_two_teams(void *argument) {
    team_run *run = argument;
    for (int i = 0; i < 2; ++i) {
        memset(run->parts, 0, sizeof run->parts);
        memset(run->rests, 0, sizeof run->rests);
        run->seen = false;
        cairn_task_scheduler_run_team(run->scheduler, walk_phases, run, run->size_max);
        assert_true(run->seen);
        assert_in_range(run->size, 1, run->size_max);
    }
}

TEST("members of a team see what the others did in the phases before") {
    for (uint32_t workers = 1; workers <= MEMBERS_MAX; ++workers) {
        SCOPED(cairn_pool) *pool = NULL;
        assert_int_equal(cairn_pool_create(workers, &pool), CAIRN_OK);
        const cairn_parallel parallel = parallel_of(pool);
        cairn_task_scheduler scheduler = {.parallel = &parallel};
        for (uint32_t i = 0; i < 20; ++i) {
            team_run run = {.scheduler = &scheduler, .size_max = 1 + i % workers};
            cairn_task_scheduler_run_session(&scheduler, run_two_teams, &run);
        }
    }
}

TEST("a phase is ready when all others have published the one before, and a meeting ends one") {
    static cairn_task_scheduler scheduler;
    cairn_team_member first = {.scheduler = &scheduler, .rank = 0, .size = 2};
    cairn_team_member second = {.scheduler = &scheduler, .rank = 1, .size = 2};
    assert_true(cairn_team_phase_is_ready(&first));
    cairn_team_begin_phase(&first);
    assert_true(first.begun);
    cairn_team_publish_phase(&first);
    assert_false(first.begun);
    assert_false(cairn_team_phase_is_ready(&first));
    cairn_team_skip_to_phase(&second);
    assert_true(second.begun);
    cairn_team_publish_phase(&second);
    assert_true(cairn_team_phase_is_ready(&first));
    cairn_team_skip_to_phase(&second);
    cairn_team_publish_phase(&second);
    cairn_team_skip_to_phase(&second);
    cairn_team_publish_phase(&second);
    cairn_team_begin_phase(&first);
    cairn_team_meet(&first);
    assert_false(first.begun);
    assert_int_equal(first.phase, 3);
}

TEST("without helpers the main thread is the whole team") {
    uint32_t runs = 0;
    const cairn_parallel parallel = {.context = &runs, .workers = 3, .run = run_main_first};
    cairn_task_scheduler scheduler = {.parallel = &parallel};
    team_run run = {.scheduler = &scheduler, .size_max = 3};
    cairn_task_scheduler_run_session(&scheduler, run_two_teams, &run);
    assert_int_equal(run.size, 1);
    run_two_teams(&run); // in no session
    assert_int_equal(run.size, 1);
}
