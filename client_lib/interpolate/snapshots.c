// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/delta.h"

const char *cairn_snapshot_refusal_text(cairn_snapshot_refusal refusal) {
    static const char *const texts[CAIRN_SNAPSHOT_REFUSAL_COUNT] = {
        [CAIRN_SNAPSHOT_TAKEN] = "taken",
        [CAIRN_SNAPSHOT_DUPLICATE] = "a snapshot of that tick is held already",
        [CAIRN_SNAPSHOT_STALE] = "the snapshot is older than all that are held",
        [CAIRN_SNAPSHOT_BASELINE_LOST] = "the baseline of the delta is no longer held",
        [CAIRN_SNAPSHOT_DELTA_MALFORMED] = "the delta does not fit its baseline",
        [CAIRN_SNAPSHOT_BODIES_MAX] = "more bodies than bodies_max",
    };
    return (uint32_t)refusal < CAIRN_SNAPSHOT_REFUSAL_COUNT ? texts[refusal] : "unknown";
}

cairn_status cairn_snapshots_create(
    cairn_snapshots *snapshots, uint32_t capacity, uint32_t bodies_max) {
    CAIRN_ASSERT(capacity >= 2 && capacity <= CAIRN_SNAPSHOTS_MAX && bodies_max > 0);
    *snapshots = (cairn_snapshots){.capacity = capacity, .bodies_max = bodies_max};
    snapshots->memory = malloc((size_t)(capacity + 1) * bodies_max * sizeof(cairn_snapshot_body));
    if (snapshots->memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i <= capacity; i++) {
        snapshots->list[i].bodies = snapshots->memory + (size_t)i * bodies_max;
    }
    return CAIRN_OK;
}

cairn_status cairn_snapshots_create_shared(cairn_snapshots *snapshots) {
    const size_t words = (size_t)(snapshots->capacity + 1) * CAIRN_SHARED_WORDS_MAX;
    snapshots->shared_memory = calloc(words, sizeof *snapshots->shared_memory);
    if (snapshots->shared_memory == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i <= snapshots->capacity; i++) {
        snapshots->list[i].shared = snapshots->shared_memory + (size_t)i * CAIRN_SHARED_WORDS_MAX;
    }
    return CAIRN_OK;
}

void cairn_snapshots_destroy(cairn_snapshots *snapshots) {
    free(snapshots->memory);
    free(snapshots->shared_memory);
    *snapshots = (cairn_snapshots){0};
}

void cairn_snapshots_clear(cairn_snapshots *snapshots) {
    snapshots->count = 0;
}

// The index before which a snapshot of `tick` belongs.
static uint32_t place_of(const cairn_snapshots *snapshots, uint64_t tick) {
    uint32_t place = snapshots->count;
    CAIRN_ASSERT(place <= snapshots->capacity);
    while (place > 0 && snapshots->list[place - 1].tick >= tick) {
        place--;
    }
    return place;
}

// Whether a snapshot of `tick` can be held.
static cairn_snapshot_refusal admit(const cairn_snapshots *snapshots, uint64_t tick) {
    uint32_t place = place_of(snapshots, tick);
    if (place < snapshots->count && snapshots->list[place].tick == tick) {
        return CAIRN_SNAPSHOT_DUPLICATE;
    }
    bool full = snapshots->count == snapshots->capacity;
    return place == 0 && full ? CAIRN_SNAPSHOT_STALE : CAIRN_SNAPSHOT_TAKEN;
}

// Moves the snapshot written at list[count] to its place; the oldest makes room when all are used.
static void insert_written(cairn_snapshots *snapshots, uint64_t tick, uint32_t body_count) {
    cairn_snapshot fresh = snapshots->list[snapshots->count];
    fresh.tick = tick;
    fresh.body_count = body_count;
    uint32_t place = place_of(snapshots, tick);
    cairn_snapshot *list = snapshots->list;
    if (snapshots->count < snapshots->capacity) {
        memmove(&list[place + 1], &list[place], (snapshots->count - place) * sizeof list[0]);
        list[place] = fresh;
        snapshots->count++;
        return;
    }
    CAIRN_ASSERT(place > 0);
    cairn_snapshot oldest = list[0];
    memmove(&list[0], &list[1], (place - 1) * sizeof list[0]);
    list[place - 1] = fresh;
    list[snapshots->count] = oldest;
}

cairn_snapshot_body *cairn_snapshots_reserve(cairn_snapshots *snapshots) {
    CAIRN_ASSERT(snapshots->memory != NULL && snapshots->count <= snapshots->capacity);
    return snapshots->list[snapshots->count].bodies;
}

cairn_snapshot_refusal cairn_snapshots_commit(
    cairn_snapshots *snapshots, uint64_t tick, uint32_t body_count) {
    CAIRN_ASSERT(body_count <= snapshots->bodies_max);
    cairn_snapshot_refusal refusal = admit(snapshots, tick);
    if (refusal == CAIRN_SNAPSHOT_TAKEN) {
        insert_written(snapshots, tick, body_count);
    }
    return refusal;
}

cairn_snapshot_refusal cairn_snapshots_take(cairn_snapshots *snapshots, uint64_t tick,
    const cairn_snapshot_body *bodies, uint32_t body_count) {
    CAIRN_ASSERT(bodies != NULL || body_count == 0);
    if (body_count > snapshots->bodies_max) {
        return CAIRN_SNAPSHOT_BODIES_MAX;
    }
    if (body_count > 0) {
        memcpy(cairn_snapshots_reserve(snapshots), bodies, body_count * sizeof bodies[0]);
    }
    return cairn_snapshots_commit(snapshots, tick, body_count);
}

cairn_snapshot_refusal cairn_snapshots_take_keyframe(
    cairn_snapshots *snapshots, const cairn_keyframe *keyframe) {
    static const uint32_t zeros[CAIRN_SHARED_WORDS_MAX];
    cairn_snapshot *next = &snapshots->list[snapshots->count];
    CAIRN_ASSERT(next->shared != NULL && keyframe->shared_words <= CAIRN_SHARED_WORDS_MAX);
    next->shared_words = keyframe->shared_words;
    if (cairn_words_apply(zeros, keyframe->shared_words, keyframe->shared,
            keyframe->shared_packed_size, next->shared) != CAIRN_OK) {
        return CAIRN_SNAPSHOT_DELTA_MALFORMED;
    }
    return cairn_snapshots_take(snapshots, keyframe->tick, keyframe->bodies, keyframe->body_count);
}

cairn_snapshot_refusal cairn_snapshots_take_delta(
    cairn_snapshots *snapshots, const cairn_delta *delta) {
    cairn_snapshot_refusal refusal = admit(snapshots, delta->tick);
    if (refusal != CAIRN_SNAPSHOT_TAKEN) {
        return refusal;
    }
    const uint32_t place = place_of(snapshots, delta->baseline_tick);
    const cairn_snapshot *baseline = &snapshots->list[place];
    if (place == snapshots->count || baseline->tick != delta->baseline_tick) {
        return CAIRN_SNAPSHOT_BASELINE_LOST;
    }
    cairn_snapshot *next = &snapshots->list[snapshots->count];
    next->shared_words = baseline->shared_words;
    if (next->shared != NULL &&
        cairn_words_apply(baseline->shared, baseline->shared_words, delta->shared,
            delta->shared_packed_size, next->shared) != CAIRN_OK) {
        return CAIRN_SNAPSHOT_DELTA_MALFORMED;
    }
    uint32_t body_count = 0;
    cairn_status status = cairn_delta_apply(baseline->bodies, baseline->body_count, delta->payload,
        delta->payload_size, cairn_snapshots_reserve(snapshots), snapshots->bodies_max, &body_count,
        NULL);
    if (status != CAIRN_OK) {
        return status == CAIRN_CAPACITY ? CAIRN_SNAPSHOT_BODIES_MAX
                                        : CAIRN_SNAPSHOT_DELTA_MALFORMED;
    }
    insert_written(snapshots, delta->tick, body_count);
    return CAIRN_SNAPSHOT_TAKEN;
}

const cairn_snapshot *cairn_snapshots_newest(const cairn_snapshots *snapshots) {
    return snapshots->count > 0 ? &snapshots->list[snapshots->count - 1] : NULL;
}
