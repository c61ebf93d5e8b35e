// SPDX-License-Identifier: MIT
#include "server/session/link_conditioner.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define PAYLOADS_MAX 512

typedef struct flying {
    uint64_t due_ns;
    uint64_t order; // among those due at once, the first that came
    size_t size;    // 0: the place is free
    uint8_t bytes[CAIRN_PAYLOAD_SIZE_MAX];
} flying;

struct cairn_link_conditioner {
    cairn_link_conditioner_config config;
    cairn_random random;
    uint64_t order;
    flying list[PAYLOADS_MAX];
};

cairn_link_conditioner *cairn_link_conditioner_create(const cairn_link_conditioner_config *config) {
    cairn_link_conditioner *box = calloc(1, sizeof *box);
    if (box != NULL) {
        box->config = *config;
        box->random = cairn_random_of(config->seed);
    }
    return box;
}

void cairn_link_conditioner_destroy(cairn_link_conditioner *box) {
    free(box);
}

static void fly(cairn_link_conditioner *box, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    const uint64_t jitter_ns = cairn_random_below(&box->random, box->config.jitter_ns + 1);
    for (uint32_t i = 0; i < PAYLOADS_MAX; ++i) {
        flying *place = &box->list[i];
        if (place->size == 0) {
            place->due_ns = now_ns + box->config.delay_ns + jitter_ns;
            place->order = box->order++;
            place->size = size;
            memcpy(place->bytes, bytes, size);
            return;
        }
    }
}

void cairn_link_conditioner_put(
    cairn_link_conditioner *box, uint64_t now_ns, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(size > 0 && size <= CAIRN_PAYLOAD_SIZE_MAX);
    if (cairn_random_unit(&box->random) < box->config.loss) {
        return;
    }
    fly(box, now_ns, bytes, size);
    if (cairn_random_unit(&box->random) < box->config.duplicate) {
        fly(box, now_ns, bytes, size);
    }
}

static bool before(const flying *a, const flying *b) {
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static uint32_t next(const cairn_link_conditioner *box) {
    uint32_t found = PAYLOADS_MAX;
    for (uint32_t i = 0; i < PAYLOADS_MAX; ++i) {
        const flying *each = &box->list[i];
        if (each->size > 0 && (found == PAYLOADS_MAX || before(each, &box->list[found]))) {
            found = i;
        }
    }
    return found;
}

size_t cairn_link_conditioner_take(cairn_link_conditioner *box, uint64_t now_ns, uint8_t *bytes) {
    const uint32_t found = next(box);
    if (found == PAYLOADS_MAX || box->list[found].due_ns > now_ns) {
        return 0;
    }
    flying *taken = &box->list[found];
    const size_t size = taken->size;
    memcpy(bytes, taken->bytes, size);
    taken->size = 0;
    return size;
}

uint64_t cairn_link_conditioner_due_ns(const cairn_link_conditioner *box) {
    const uint32_t found = next(box);
    return found == PAYLOADS_MAX ? UINT64_MAX : box->list[found].due_ns;
}
