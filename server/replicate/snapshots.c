// SPDX-License-Identifier: MIT
#include "server/replicate/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/limits.h"
#include "bridge/snapshot.h"
#include "schema/delta.h"

// The other fields of a message need some of CAIRN_MESSAGE_SIZE_MAX.
#define DELTA_SIZE_MAX (CAIRN_MESSAGE_SIZE_MAX - 1024)
#define DELTA_STORE_SIZE (4 * DELTA_SIZE_MAX)

// A keyframe up to two payloads long is sent with every snapshot until one is acknowledged. A
// longer one is seldom complete on a lossy path and goes over the reliable stream, once.
#define UNRELIABLE_KEYFRAME_SIZE_MAX (2 * 1100)

typedef struct stored_delta {
    uint64_t baseline_tick;
    size_t offset;
    size_t size; // 0: longer than a message
} stored_delta;

struct cairn_baselines {
    uint32_t capacity;
    uint32_t body_capacity;
    uint32_t stride; // bodies between two snapshots in memory; at most body_capacity
    uint32_t count;
    uint32_t newest;
    cairn_baseline *ring;
    uint32_t shared_words; // of each
    uint32_t *shared;
    cairn_snapshot_body *bodies;
    cairn_body_state *states; // as read from the world
    stored_delta *deltas;     // of the newest snapshot
    uint32_t delta_count;
    size_t store_used;
    uint8_t *store;
};

static bool allocate(cairn_baselines *baselines) {
    size_t capacity = baselines->capacity;
    size_t body_capacity = baselines->body_capacity;
    baselines->ring = calloc(capacity, sizeof *baselines->ring);
    baselines->bodies = calloc(capacity * body_capacity, sizeof *baselines->bodies);
    baselines->states = calloc(body_capacity, sizeof *baselines->states);
    baselines->deltas = calloc(capacity, sizeof *baselines->deltas);
    baselines->shared = calloc(capacity * baselines->shared_words + 1, sizeof *baselines->shared);
    baselines->store = malloc(DELTA_STORE_SIZE);
    return baselines->ring != NULL && baselines->bodies != NULL && baselines->states != NULL &&
           baselines->deltas != NULL && baselines->store != NULL && baselines->shared != NULL;
}

cairn_status cairn_baselines_create(
    uint32_t count, const cairn_world_def *def, cairn_baselines **out) {
    const uint32_t body_capacity = def->body_capacity;
    CAIRN_ASSERT(count >= 2 && body_capacity > 0);
    *out = NULL;
    cairn_baselines *baselines = calloc(1, sizeof *baselines);
    if (baselines == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    baselines->capacity = count;
    baselines->body_capacity = body_capacity;
    baselines->shared_words = def->rules == NULL ? 0 : def->rules->shared_size / 4;
    if (!allocate(baselines)) {
        cairn_baselines_destroy(baselines);
        return CAIRN_OUT_OF_MEMORY;
    }
    for (uint32_t i = 0; i < count; ++i) {
        baselines->ring[i].shared = baselines->shared + (size_t)i * baselines->shared_words;
    }
    *out = baselines;
    return CAIRN_OK;
}

void cairn_baselines_destroy(cairn_baselines *baselines) {
    if (baselines != NULL) {
        free(baselines->store);
        free(baselines->shared);
        free(baselines->deltas);
        free(baselines->states);
        free(baselines->bodies);
        free(baselines->ring);
        free(baselines);
    }
}

// Snapshots lie as close together as their bodies allow: memory that was never written costs
// nothing. From the last one down, so that none is written over before it has moved.
static void widen(cairn_baselines *baselines, uint32_t body_count) {
    const uint32_t roomy = body_count + body_count / 4;
    const uint32_t stride = roomy < baselines->body_capacity ? roomy : baselines->body_capacity;
    CAIRN_ASSERT(stride >= body_count && stride > baselines->stride);
    for (uint32_t i = baselines->count; i-- > 0;) {
        cairn_baseline *moved = &baselines->ring[i];
        cairn_snapshot_body *to = baselines->bodies + (size_t)i * stride;
        memmove(to, moved->bodies, moved->body_count * sizeof *to);
        moved->bodies = to;
    }
    baselines->stride = stride;
}

void cairn_baselines_take(
    cairn_baselines *baselines, const cairn_world *world, const cairn_world_hash *hash) {
    uint64_t tick = cairn_world_tick(world);
    const cairn_baseline *last = cairn_baselines_newest(baselines);
    CAIRN_ASSERT(tick > (last == NULL ? 0 : last->tick));
    const uint32_t body_count =
        cairn_world_bodies(world, baselines->states, baselines->body_capacity);
    CAIRN_ASSERT(body_count <= baselines->body_capacity);
    if (body_count > baselines->stride) {
        widen(baselines, body_count);
    }
    baselines->newest = baselines->count == 0 ? 0 : (baselines->newest + 1) % baselines->capacity;
    baselines->count += baselines->count < baselines->capacity ? 1 : 0;
    baselines->delta_count = 0;
    baselines->store_used = 0;
    cairn_baseline *snapshot = &baselines->ring[baselines->newest];
    snapshot->tick = tick;
    snapshot->visible_root = hash->visible;
    snapshot->full_root = hash->full;
    snapshot->bodies = baselines->bodies + (size_t)baselines->newest * baselines->stride;
    snapshot->body_count = body_count;
    for (uint32_t i = 0; i < body_count; ++i) {
        snapshot->bodies[i] = cairn_snapshot_body_of(&baselines->states[i]);
    }
    if (baselines->shared_words > 0) {
        uint32_t state_size = 0;
        const uint8_t *state = cairn_world_rules_state(world, &state_size);
        memcpy(snapshot->shared, state + cairn_world_settings(world)->rules->shared_offset,
            baselines->shared_words * sizeof *snapshot->shared);
    }
}

void cairn_baselines_forget(cairn_baselines *baselines) {
    baselines->stride = 0;
    baselines->count = 0;
    baselines->delta_count = 0;
    baselines->store_used = 0;
}

const cairn_baseline *cairn_baselines_newest(const cairn_baselines *baselines) {
    CAIRN_ASSERT(
        baselines->count <= baselines->capacity && baselines->newest < baselines->capacity);
    return baselines->count == 0 ? NULL : &baselines->ring[baselines->newest];
}

const cairn_baseline *cairn_baselines_find(const cairn_baselines *baselines, uint64_t tick) {
    for (uint32_t i = 0; i < baselines->count; ++i) {
        if (baselines->ring[i].tick == tick) {
            return &baselines->ring[i];
        }
    }
    return NULL;
}

void cairn_baselines_around(const cairn_baselines *baselines, double tick,
    const cairn_baseline **before, const cairn_baseline **after) {
    *before = NULL;
    *after = NULL;
    for (uint32_t i = 0; i < baselines->count; ++i) {
        const cairn_baseline *each = &baselines->ring[i];
        if ((double)each->tick <= tick) {
            *before = *before == NULL || each->tick > (*before)->tick ? each : *before;
        } else {
            *after = *after == NULL || each->tick < (*after)->tick ? each : *after;
        }
    }
}

static const stored_delta *store_delta(cairn_baselines *baselines, const cairn_baseline *baseline) {
    if (DELTA_STORE_SIZE - baselines->store_used < DELTA_SIZE_MAX) {
        // What was stored was copied into messages; at worst it is encoded a second time.
        baselines->delta_count = 0;
        baselines->store_used = 0;
    }
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    stored_delta *delta = &baselines->deltas[baselines->delta_count++];
    delta->baseline_tick = baseline->tick;
    delta->offset = baselines->store_used;
    CAIRN_ASSERT(baselines->delta_count <= baselines->capacity);
    delta->size = cairn_delta_encode(baseline->bodies, baseline->body_count, newest->bodies,
        newest->body_count, baselines->store + delta->offset, DELTA_SIZE_MAX);
    baselines->store_used += delta->size;
    return delta;
}

const uint8_t *cairn_baselines_delta(
    cairn_baselines *baselines, const cairn_baseline *baseline, size_t *size) {
    CAIRN_ASSERT(baseline->tick < cairn_baselines_newest(baselines)->tick);
    const stored_delta *delta = NULL;
    for (uint32_t i = 0; delta == NULL && i < baselines->delta_count; ++i) {
        const stored_delta *stored = &baselines->deltas[i];
        delta = stored->baseline_tick == baseline->tick ? stored : NULL;
    }
    if (delta == NULL) {
        delta = store_delta(baselines, baseline);
    }
    *size = delta->size;
    return delta->size == 0 ? NULL : baselines->store + delta->offset;
}

// False: the delta is longer than a message.
static bool send_delta(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, const cairn_baseline *baseline, const cairn_packed_events *events) {
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    size_t payload_size = 0;
    const uint8_t *payload = cairn_baselines_delta(baselines, baseline, &payload_size);
    CAIRN_ASSERT(baseline->tick <= newest->tick);
    if (payload == NULL) {
        return false;
    }
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX];
    const size_t shared_size = cairn_words_encode(
        baseline->shared, newest->shared, baselines->shared_words, shared, sizeof shared);
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_DELTA,
        .delta = {.world_epoch = session->world_epoch,
            .tick = newest->tick,
            .baseline_tick = baseline->tick,
            .visible_root = newest->visible_root,
            .full_root = newest->full_root,
            .timing =
                cairn_input_timing_report(&session->input_timing, session->room, session->slot),
            .payload = payload,
            .payload_size = (uint32_t)payload_size,
            .events = events->items,
            .events_size = events->size,
            .shared = shared,
            .shared_packed_size = (uint32_t)shared_size},
    };
    const size_t size = cairn_session_send_unreliable(session, context->encoder, &message);
    session->room->statistics.deltas_sent += size > 0 ? 1 : 0;
    session->room->statistics.snapshot_bytes += size;
    return size > 0;
}

// False: it was not sent.
static bool send_keyframe(const cairn_server_context *context, cairn_session *session,
    const cairn_baselines *baselines, cairn_snapshots_sent *sent,
    const cairn_packed_events *events) {
    cairn_server_room_statistics *statistics = &session->room->statistics;
    const cairn_baseline *newest = cairn_baselines_newest(baselines);
    static const uint32_t zeros[CAIRN_SHARED_WORDS_MAX];
    uint8_t shared[CAIRN_SHARED_PACKED_SIZE_MAX];
    const size_t shared_size =
        cairn_words_encode(zeros, newest->shared, baselines->shared_words, shared, sizeof shared);
    const size_t estimate = newest->body_count * sizeof(cairn_snapshot_body) +
                            CAIRN_SESSION_ENVELOPE_SIZE + shared_size;
    const bool reliable = estimate > UNRELIABLE_KEYFRAME_SIZE_MAX;
    // One is on its way over the reliable stream and will still be a baseline when it arrives.
    const bool in_flight = sent->keyframe_tick > sent->acknowledged &&
                           cairn_baselines_find(baselines, sent->keyframe_tick) != NULL;
    if (estimate + events->size > CAIRN_MESSAGE_SIZE_MAX) {
        statistics->snapshots_too_large += 1;
        return false;
    }
    if (reliable &&
        (in_flight || cairn_link_reliable_room(session->link) < estimate + events->size)) {
        return false;
    }
    const cairn_message message = {
        .kind = CAIRN_MESSAGE_KEYFRAME,
        .keyframe = {.world_epoch = session->world_epoch,
            .tick = newest->tick,
            .visible_root = newest->visible_root,
            .full_root = newest->full_root,
            .timing =
                cairn_input_timing_report(&session->input_timing, session->room, session->slot),
            .bodies = newest->bodies,
            .body_count = newest->body_count,
            .events = events->items,
            .events_size = events->size,
            .shared_words = baselines->shared_words,
            .shared = shared,
            .shared_packed_size = (uint32_t)shared_size},
    };
    const size_t size = reliable
                            ? cairn_session_send_reliable(session, context->encoder, &message)
                            : cairn_session_send_unreliable(session, context->encoder, &message);
    if (size > 0) {
        sent->keyframe_tick = reliable ? newest->tick : 0;
        statistics->keyframes_sent += 1;
        statistics->snapshot_bytes += size;
    }
    return size > 0;
}

void cairn_snapshot_send(const cairn_server_context *context, cairn_session *session,
    cairn_baselines *baselines, cairn_snapshots_sent *sent, cairn_game_sent *game) {
    CAIRN_ASSERT(cairn_baselines_newest(baselines) != NULL);
    if (!cairn_session_may_send_unreliable(session, context->now_ns, false)) {
        return;
    }
    cairn_packed_events events;
    cairn_game_events_pack(session, game, cairn_baselines_newest(baselines)->tick, &events);
    const cairn_baseline *baseline = cairn_baselines_find(baselines, sent->acknowledged);
    if ((baseline != NULL && send_delta(context, session, baselines, baseline, &events)) ||
        send_keyframe(context, session, baselines, sent, &events)) {
        cairn_game_events_sent(session, game, &events);
    }
}
