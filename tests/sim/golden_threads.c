// SPDX-License-Identifier: MIT
#include <fenv.h>
#include <stddef.h>

#include "tests/sim/golden_hands.h"
#include "workers/pool.h"

// A thread starts with the floating-point mode of its creator. Where a step can correct the mode
// (sim/math/float_env.c), these threads start with a wrong one.
#if defined(__SSE2__) || defined(__aarch64__)
#define ROUNDING FE_TOWARDZERO
#else
#define ROUNDING FE_TONEAREST
#endif

bool golden_hands_call(uint32_t workers, cairn_parallel *out) {
    cairn_pool *pool = NULL;
    (void)fesetround(ROUNDING);
    const bool ok = cairn_pool_create(workers, &pool) == CAIRN_OK;
    (void)fesetround(FE_TONEAREST);
    *out = (cairn_parallel){.context = pool, .workers = workers, .run = cairn_pool_parallel};
    return ok;
}

void golden_hands_dismiss(cairn_parallel *parallel) {
    cairn_pool_destroy(parallel->context);
    *parallel = (cairn_parallel){.context = NULL};
}
