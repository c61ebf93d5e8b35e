// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "tests/sim/golden_hands.h"
#include "workers/pool.h"

bool golden_hands_call(uint32_t workers, cairn_parallel *out) {
    cairn_pool *pool = NULL;
    const bool ok = cairn_pool_create(workers, &pool) == CAIRN_OK;
    *out = (cairn_parallel){.context = pool, .workers = workers, .run = cairn_pool_parallel};
    return ok;
}

void golden_hands_dismiss(cairn_parallel *parallel) {
    cairn_pool_destroy(parallel->context);
    *parallel = (cairn_parallel){.context = NULL};
}
