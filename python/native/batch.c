// SPDX-License-Identifier: MIT
#include "python/native/native.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/assert.h"
#include "bridge/observe.h"
#include "workers/pool.h"
#include <cairn/math.h>

cairn_status cairn_native_step(
    cairn_world *world, uint32_t ticks, cairn_command *commands, uint32_t command_count) {
    for (uint32_t i = 0; i < command_count; ++i) {
        const cairn_status status = cairn_command_check(&commands[i]);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    if (command_count > CAIRN_COMMANDS_PER_TICK_MAX) {
        return CAIRN_CAPACITY;
    }
    cairn_commands_sort(commands, command_count);
    for (uint32_t i = 0; i < ticks; ++i) {
        cairn_world_step(world, commands, i == 0 ? command_count : 0);
    }
    return CAIRN_OK;
}

cairn_status cairn_native_observe(const cairn_world *world, const cairn_body_id *bodies,
    uint32_t body_count, uint32_t fields, float *out) {
    const uint32_t width = cairn_observe_width(fields);
    for (uint32_t i = 0; width > 0 && i < body_count; ++i) {
        (void)cairn_observe_body(world, bodies[i], fields, out + (size_t)i * width);
    }
    return width > 0 ? CAIRN_OK : CAIRN_INVALID_ARGUMENT;
}

struct cairn_native_pool {
    cairn_pool *threads;
};

cairn_status cairn_native_pool_create(uint32_t workers, cairn_native_pool **out) {
    CAIRN_ASSERT(out != NULL);
    *out = calloc(1, sizeof **out);
    if (*out == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    const cairn_status status = cairn_pool_create(workers, &(*out)->threads);
    if (status != CAIRN_OK) {
        free(*out);
        *out = NULL;
    }
    return status;
}

void cairn_native_pool_destroy(cairn_native_pool *pool) {
    if (pool != NULL) {
        cairn_pool_destroy(pool->threads);
        free(pool);
    }
}

// Threads of one run take the next world that nobody has taken.
typedef struct batch_run {
    const cairn_native_batch *batch;
    atomic_uint next;
} batch_run;

static cairn_vec3 impulse_at(const cairn_native_batch *batch, uint32_t world, uint32_t body) {
    const float *at = batch->impulses + ((size_t)world * batch->pushed_count + body) * 3;
    return cairn_vec3_of(at[0], at[1], at[2]);
}

static void run_world(const cairn_native_batch *batch, uint32_t i) {
    CAIRN_ASSERT(i < batch->world_count);
    cairn_world *world = batch->worlds[i];
    for (uint32_t k = 0; batch->impulses != NULL && k < batch->pushed_count; ++k) {
        const cairn_vec3 impulse = impulse_at(batch, i, k);
        // An impulse of zero would only wake the body. A body may be gone.
        if (cairn_vec3_length_squared(impulse) > 0.0f) {
            (void)cairn_body_apply_impulse_at_centre(world, batch->pushed[k], impulse);
        }
    }
    for (uint32_t tick = 0; tick < batch->ticks; ++tick) {
        cairn_world_step(world, NULL, 0);
    }
    if (batch->out != NULL) {
        const size_t row_count = (size_t)i * batch->watched_count;
        (void)cairn_native_observe(world, batch->watched, batch->watched_count, batch->fields,
            batch->out + row_count * cairn_observe_width(batch->fields));
    }
}

static void run_share(void *argument, uint32_t worker) {
    (void)worker;
    batch_run *run = argument;
    for (;;) {
        const uint32_t i = atomic_fetch_add_explicit(&run->next, 1, memory_order_relaxed);
        if (i >= run->batch->world_count) {
            return;
        }
        run_world(run->batch, i);
    }
}

cairn_status cairn_native_batch_run(cairn_native_pool *pool, const cairn_native_batch *batch) {
    if (batch->out != NULL && cairn_observe_width(batch->fields) == 0) {
        return CAIRN_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; batch->impulses != NULL && i < batch->world_count; ++i) {
        for (uint32_t k = 0; k < batch->pushed_count; ++k) {
            const cairn_vec3 impulse = impulse_at(batch, i, k);
            if (!cairn_vec3_finite(impulse)) {
                return CAIRN_NON_FINITE;
            }
        }
    }
    batch_run run = {.batch = batch};
    if (pool == NULL || batch->world_count < 2 ||
        !cairn_pool_run(pool->threads, run_share, &run, cairn_pool_workers(pool->threads))) {
        run_share(&run, 0);
    }
    return CAIRN_OK;
}
