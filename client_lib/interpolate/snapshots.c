// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/derive.h"
#include "schema/message_check.h"
#include "schema/shared_words.h"

const char *cairn_snapshot_refusal_text(cairn_snapshot_refusal refusal) {
    static const char *const texts[CAIRN_SNAPSHOT_REFUSAL_COUNT] = {
        [CAIRN_SNAPSHOT_TAKEN] = "taken",
        [CAIRN_SNAPSHOT_DUPLICATE] = "a snapshot of that tick is held already",
        [CAIRN_SNAPSHOT_STALE] = "the snapshot is older than all that are held",
        [CAIRN_SNAPSHOT_BASELINE_LOST] = "it needs a snapshot that the client dropped",
        [CAIRN_SNAPSHOT_MALFORMED] = "the payload does not fit the snapshots that it names",
        [CAIRN_SNAPSHOT_DIFFERS] = "it was decoded to another snapshot than the server's",
        [CAIRN_SNAPSHOT_BODIES_MAX] = "more bodies than bodies_max",
        [CAIRN_SNAPSHOT_MEMORY] = "out of memory",
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

cairn_status cairn_snapshots_create_received(cairn_snapshots *snapshots) {
    const size_t words = (size_t)(snapshots->capacity + 1) * CAIRN_SHARED_WORDS_MAX;
    snapshots->shared_memory = calloc(words, sizeof *snapshots->shared_memory);
    if (snapshots->shared_memory == NULL ||
        cairn_frame_codec_create(snapshots->bodies_max, &snapshots->codec) != CAIRN_OK) {
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i <= snapshots->capacity; i++) {
        snapshots->list[i].shared = snapshots->shared_memory + (size_t)i * CAIRN_SHARED_WORDS_MAX;
    }
    return CAIRN_OK;
}

void cairn_snapshots_destroy(cairn_snapshots *snapshots) {
    for (uint32_t i = 0; i <= snapshots->capacity; i++) {
        cairn_snapshot_frame_destroy(&snapshots->list[i].frame);
    }
    cairn_frame_codec_destroy(snapshots->codec);
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

// ------------------------------------------------------------------------- what a server sends

static const cairn_snapshot *find(const cairn_snapshots *snapshots, uint64_t tick) {
    const uint32_t place = place_of(snapshots, tick);
    const cairn_snapshot *found = &snapshots->list[place];
    const bool held = place < snapshots->count && found->tick == tick;
    return held && found->frame.ids != NULL ? found : NULL;
}

// Most worlds have far fewer bodies than the client may be sent: a frame gets more room when it
// turns out to be too small.
static cairn_status decode_frame(cairn_snapshots *snapshots, const cairn_frame_bases *bases,
    const uint8_t *bytes, size_t size, cairn_snapshot_frame *out) {
    const uint64_t tick = out->tick;
    for (;;) {
        const cairn_status status =
            out->capacity == 0 ? CAIRN_CAPACITY
                               : cairn_frame_decode(snapshots->codec, bases, bytes, size, out);
        if (status != CAIRN_CAPACITY || out->capacity >= snapshots->bodies_max) {
            return status;
        }
        const uint32_t wider = 4 * out->capacity + 64;
        cairn_snapshot_frame_destroy(out);
        if (cairn_snapshot_frame_create(
                out, wider < snapshots->bodies_max ? wider : snapshots->bodies_max) != CAIRN_OK) {
            return CAIRN_OUT_OF_MEMORY;
        }
        out->tick = tick;
    }
}

// None is held: all frames get the room that the first one needed, so that nothing is allocated
// later as long as the world does not grow.
static void widen_others(cairn_snapshots *snapshots, uint32_t capacity) {
    CAIRN_ASSERT(snapshots->count == 0);
    for (uint32_t i = 1; i <= snapshots->capacity; ++i) {
        cairn_snapshot_frame *frame = &snapshots->list[i].frame;
        if (frame->capacity < capacity) {
            cairn_snapshot_frame_destroy(frame);
            (void)cairn_snapshot_frame_create(frame, capacity); // else when it is needed
        }
    }
}

// The poses of the frame, with velocities since the newest snapshot before it.
static void derive_bodies(const cairn_snapshots *snapshots, cairn_snapshot *next) {
    const uint32_t place = place_of(snapshots, next->frame.tick);
    const cairn_snapshot *before = place > 0 ? &snapshots->list[place - 1] : NULL;
    uint32_t k = 0;
    for (uint32_t i = 0; i < next->frame.count; ++i) {
        cairn_snapshot_body *body = &next->bodies[i];
        *body = cairn_snapshot_frame_body(&next->frame, i);
        while (before != NULL && k < before->body_count &&
               cairn_id_index(before->bodies[k].id) < cairn_id_index(body->id)) {
            ++k;
        }
        if (before != NULL && k < before->body_count && before->bodies[k].id == body->id) {
            const float seconds =
                (float)(next->frame.tick - before->tick) / (float)next->frame.tick_rate_hz;
            cairn_derive_velocities(&before->bodies[k], seconds, body);
        }
    }
}

static cairn_snapshot_refusal decode(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
    static const uint32_t zeros[CAIRN_SHARED_WORDS_MAX];
    const bool keyframe = head->bases[0] == 0;
    const cairn_snapshot *bases[3] = {NULL, NULL, NULL};
    cairn_frame_bases frames = {0};
    cairn_snapshot *next = &snapshots->list[snapshots->count];
    if (!keyframe) {
        for (uint32_t k = 0; k < 3; ++k) {
            bases[k] = find(snapshots, head->bases[k]);
            if (bases[k] == NULL) {
                return CAIRN_SNAPSHOT_BASELINE_LOST;
            }
        }
        frames = (cairn_frame_bases){&bases[0]->frame, &bases[1]->frame, &bases[2]->frame};
    }
    next->shared_words = keyframe ? head->shared_words : bases[0]->shared_words;
    if (cairn_words_apply(keyframe ? zeros : bases[0]->shared, next->shared_words, message->shared,
            message->shared_packed_size, next->shared) != CAIRN_OK) {
        return CAIRN_SNAPSHOT_MALFORMED;
    }
    next->frame.tick = head->tick;
    const cairn_status status = decode_frame(snapshots, &frames, message->payload + head_size,
        message->payload_size - head_size, &next->frame);
    return status == CAIRN_OK              ? CAIRN_SNAPSHOT_TAKEN
           : status == CAIRN_CAPACITY      ? CAIRN_SNAPSHOT_BODIES_MAX
           : status == CAIRN_OUT_OF_MEMORY ? CAIRN_SNAPSHOT_MEMORY
                                           : CAIRN_SNAPSHOT_MALFORMED;
}

cairn_snapshot_refusal cairn_snapshots_receive(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
    CAIRN_ASSERT(snapshots->codec != NULL && head_size <= message->payload_size);
    cairn_snapshot_refusal refusal = admit(snapshots, head->tick);
    if (refusal == CAIRN_SNAPSHOT_TAKEN) {
        refusal = decode(snapshots, message, head, head_size);
    }
    if (refusal != CAIRN_SNAPSHOT_TAKEN) {
        return refusal;
    }
    cairn_snapshot *next = &snapshots->list[snapshots->count];
    if (cairn_snapshot_frame_check(&next->frame) != head->check) {
        return CAIRN_SNAPSHOT_DIFFERS;
    }
    if (snapshots->count == 0) {
        widen_others(snapshots, next->frame.capacity);
    }
    derive_bodies(snapshots, next);
    if (cairn_bodies_check(next->bodies, next->frame.count) != CAIRN_DECODE_OK) {
        return CAIRN_SNAPSHOT_MALFORMED;
    }
    insert_written(snapshots, head->tick, next->frame.count);
    return CAIRN_SNAPSHOT_TAKEN;
}

cairn_snapshot_refusal cairn_snapshots_note(
    cairn_snapshots *snapshots, const cairn_snapshot_head *head) {
    const cairn_snapshot_refusal refusal = admit(snapshots, head->tick);
    for (uint32_t k = 0; k < 3 && refusal == CAIRN_SNAPSHOT_TAKEN && head->bases[0] != 0; ++k) {
        const uint32_t place = place_of(snapshots, head->bases[k]);
        if (place == snapshots->count || snapshots->list[place].tick != head->bases[k]) {
            return CAIRN_SNAPSHOT_BASELINE_LOST;
        }
    }
    if (refusal == CAIRN_SNAPSHOT_TAKEN) {
        insert_written(snapshots, head->tick, 0);
    }
    return refusal;
}

const cairn_snapshot *cairn_snapshots_newest(const cairn_snapshots *snapshots) {
    return snapshots->count > 0 ? &snapshots->list[snapshots->count - 1] : NULL;
}
