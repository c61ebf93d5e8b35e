// SPDX-License-Identifier: MIT
#include "server/session/link_conditioner.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define PAYLOADS_MAX 512

typedef struct in_flight {
    uint64_t due_ns;
    uint64_t order; // breaks ties: the first that was put
    size_t size;    // 0: free
    uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
} in_flight;

struct cairn_link_conditioner {
    cairn_link_conditioner_config config;
    cairn_random random;
    uint64_t order;
    in_flight list[PAYLOADS_MAX];
};

cairn_status cairn_link_conditioner_create(
    const cairn_link_conditioner_config *config, cairn_link_conditioner **out) {
    CAIRN_ASSERT(config->duplicate >= 0.0f && config->duplicate <= 1.0f);
    CAIRN_ASSERT(config->loss >= 0.0f && config->loss <= 1.0f);
    cairn_link_conditioner *conditioner = calloc(1, sizeof *conditioner);
    *out = conditioner;
    if (conditioner == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    conditioner->config = *config;
    conditioner->random = cairn_random_of(config->seed);
    return CAIRN_OK;
}

void cairn_link_conditioner_destroy(cairn_link_conditioner *conditioner) {
    free(conditioner);
}

static void send_delayed(
    cairn_link_conditioner *conditioner, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    const uint64_t jitter_ns =
        cairn_random_below(&conditioner->random, conditioner->config.jitter_ns + 1);
    CAIRN_ASSERT(jitter_ns <= conditioner->config.jitter_ns);
    for (uint32_t i = 0; i < PAYLOADS_MAX; ++i) {
        in_flight *free_entry = &conditioner->list[i];
        if (free_entry->size == 0) {
            free_entry->due_ns = now_ns + conditioner->config.delay_ns + jitter_ns;
            free_entry->order = conditioner->order++;
            free_entry->size = size;
            memcpy(free_entry->bytes, bytes, size);
            return;
        }
    }
}

void cairn_link_conditioner_put(
    cairn_link_conditioner *conditioner, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size > 0 && size <= CAIRN_PAYLOAD_SIZE_MAX);
    if (cairn_random_unit(&conditioner->random) < conditioner->config.loss) {
        return;
    }
    send_delayed(conditioner, now_ns, bytes, size);
    if (cairn_random_unit(&conditioner->random) < conditioner->config.duplicate) {
        send_delayed(conditioner, now_ns, bytes, size);
    }
}

static uint32_t find_next(const cairn_link_conditioner *conditioner) {
    uint32_t found = PAYLOADS_MAX;
    for (uint32_t i = 0; i < PAYLOADS_MAX; ++i) {
        const in_flight *each = &conditioner->list[i];
        const in_flight *first = found == PAYLOADS_MAX ? each : &conditioner->list[found];
        const bool sooner = each->due_ns != first->due_ns ? each->due_ns < first->due_ns
                                                          : each->order <= first->order;
        found = each->size > 0 && sooner ? i : found;
    }
    return found;
}

size_t cairn_link_conditioner_take(
    cairn_link_conditioner *conditioner, uint64_t now_ns, uint8_t *bytes) {
    const uint32_t found = find_next(conditioner);
    if (found == PAYLOADS_MAX || conditioner->list[found].due_ns > now_ns) {
        return 0;
    }
    in_flight *taken = &conditioner->list[found];
    const size_t size = taken->size;
    CAIRN_ASSERT(size > 0 && size <= CAIRN_PAYLOAD_SIZE_MAX);
    memcpy(bytes, taken->bytes, size);
    taken->size = 0;
    return size;
}

uint64_t cairn_link_conditioner_due_ns(const cairn_link_conditioner *conditioner) {
    const uint32_t found = find_next(conditioner);
    return found == PAYLOADS_MAX ? UINT64_MAX : conditioner->list[found].due_ns;
}
