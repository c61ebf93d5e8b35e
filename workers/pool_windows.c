// SPDX-License-Identifier: MIT
// The pool without threads of POSIX: the caller runs all shares.
// Results are the same, because they do not depend on where a share runs.
#include "workers/pool.h"

#include <stdlib.h>

#include "base/assert.h"

struct cairn_pool {
    uint32_t workers;
};

cairn_status cairn_pool_create(uint32_t workers, cairn_pool **out) {
    *out = NULL;
    if (workers == 0 || workers > CAIRN_POOL_WORKERS_MAX) {
        return CAIRN_INVALID_ARGUMENT;
    }
    *out = malloc(sizeof **out);
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    (*out)->workers = workers;
    return CAIRN_OK;
}

void cairn_pool_destroy(cairn_pool *pool) {
    free(pool);
}

uint32_t cairn_pool_workers(const cairn_pool *pool) {
    return pool->workers;
}

void cairn_pool_share_always(cairn_pool *pool) {
    (void)pool;
}

bool cairn_pool_run(cairn_pool *pool, cairn_pool_task *task, void *argument, uint32_t workers) {
    CAIRN_ASSERT(pool != NULL && task != NULL);
    if (workers == 0 || workers > pool->workers) {
        return false;
    }
    for (uint32_t worker = 0; worker < workers; ++worker) {
        task(argument, worker);
    }
    return true;
}

void cairn_pool_parallel(void *pool, cairn_pool_task *task, void *argument, uint32_t workers) {
    CAIRN_ASSERT(cairn_pool_run(pool, task, argument, workers));
}

void cairn_pool_wait(void *context, bool first) {
    (void)context;
    (void)first;
}
