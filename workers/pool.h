// SPDX-License-Identifier: MIT
#pragma once

// Threads that share the work of one caller: a run calls a task once for each of its workers and
// returns when all are done. Which thread takes which worker's share is decided as it goes, so a
// task may depend on its worker's number and never on its thread.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/status.h>

#define CAIRN_POOL_WORKERS_MAX 32

typedef struct cairn_pool cairn_pool;

// Called with 0 to workers - 1, each once, possibly at the same time.
typedef void cairn_pool_task(void *argument, uint32_t worker);

// Starts workers - 1 threads; the caller of a run is the other worker. Threads look out for the
// next run for a moment (tens of microseconds; not at all where the machine has fewer processors
// than the pool has workers) and sleep after that. They take no signals and have the floating-point
// mode of the thread that creates them. `workers` is 1 to CAIRN_POOL_WORKERS_MAX, else
// CAIRN_INVALID_ARGUMENT; CAIRN_OUT_OF_MEMORY when there is no memory or no thread to be had. *out
// is the caller's to destroy, NULL on failure.
cairn_status cairn_pool_create(uint32_t workers, cairn_pool **out);
// NULL is allowed; not while it runs.
void cairn_pool_destroy(cairn_pool *pool);

uint32_t cairn_pool_workers(const cairn_pool *pool);

// Calls task(argument, 0) on the calling thread and the rest wherever there is time, and returns
// when all are done; what the tasks wrote, the caller sees. False, and nothing was called:
// `workers` is 0 or more than the pool has, or the pool is running already, be it for another
// thread or for the task that asks.
bool cairn_pool_run(cairn_pool *pool, cairn_pool_task *task, void *argument, uint32_t workers);

// cairn_pool_run for a world's parallel-for, with the pool as its context. A refusal is an error of
// whoever gave two users one pool, and asserts.
void cairn_pool_parallel(void *pool, cairn_pool_task *task, void *argument, uint32_t workers);
