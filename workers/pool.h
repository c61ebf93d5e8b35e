// SPDX-License-Identifier: MIT
#pragma once

// Threads that share the work of one caller: a run calls a task once for each of its workers and
// returns when all are done. Any thread may take any worker's share, so a task may depend on its
// worker's number but never on its thread.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>

#define CAIRN_POOL_WORKERS_MAX 32

typedef struct cairn_pool cairn_pool;

// Called with 0 to workers - 1, each once, possibly at the same time.
typedef void cairn_pool_task(void *argument, uint32_t worker);

// Starts workers - 1 threads; the caller of a run is the other worker. After a run the threads stay
// ready for some hundred microseconds, most of which they offer their processors to others (not at
// all if the machine has fewer processors than the pool has workers), then sleep. They block all
// signals and have the floating-point mode of the thread that creates them. A thread that finds
// itself on the processor of the caller moves to another one (Linux). On failure *out is NULL.
// CAIRN_INVALID_ARGUMENT: `workers` is not in 1 .. CAIRN_POOL_WORKERS_MAX. CAIRN_OUT_OF_MEMORY: no
// memory, or the system starts no more threads. Pair with cairn_pool_destroy.
cairn_status cairn_pool_create(uint32_t workers, cairn_pool **out);
// Ends the threads. The pool must not be running. NULL is allowed.
void cairn_pool_destroy(cairn_pool *pool);

uint32_t cairn_pool_workers(const cairn_pool *pool);

// From now on every run of more than one worker is shared, however long that takes: for tests of
// what threads do. The pool must not be running.
void cairn_pool_share_always(cairn_pool *pool);

// Calls task(argument, 0) on the calling thread and the other workers' tasks on any thread of the
// pool, and returns when all are done; the caller then sees what the tasks wrote. On Windows the
// caller calls them all (pool_windows.c). It waits only for
// tasks that another thread has begun. If such a thread loses its processor to another process, the
// caller has to wait until it gets one again; for some time after that it calls all tasks itself,
// so that waiting costs at most a twentieth of its time. The caller also calls all tasks itself
// while the same task with the same argument takes longer when it is shared, which a trial now and
// then measures; a trial begins only when the threads have just had processors of their own for ten
// milliseconds. False, and nothing was called: `workers` is 0 or more than the pool has, or the
// pool is already running (for another thread, or for the task that calls this).
bool cairn_pool_run(cairn_pool *pool, cairn_pool_task *task, void *argument, uint32_t workers);

// cairn_pool_run as the `run` of a cairn_parallel, with the pool as its context. Asserts that the
// run is not refused: two worlds must not run on one pool at the same time.
void cairn_pool_parallel(void *pool, cairn_pool_task *task, void *argument, uint32_t workers);
// The `wait` of the same cairn_parallel.
void cairn_pool_wait(void *pool, bool first);
