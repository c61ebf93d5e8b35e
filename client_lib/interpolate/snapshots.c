// SPDX-License-Identifier: MIT
#include "client_lib/interpolate/snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/derive.h"
#include "bridge/interpolate.h"
#include "compress/velocity.h"
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
        [CAIRN_SNAPSHOT_OVERTAKEN] = "a part that a newer one overtook",
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
    cairn_snapshot_parts_destroy(snapshots->parts);
    free(snapshots->memory);
    free(snapshots->shared_memory);
    free(snapshots->velocities);
    *snapshots = (cairn_snapshots){0};
}

void cairn_snapshots_clear(cairn_snapshots *snapshots) {
    snapshots->count = 0;
    if (snapshots->parts != NULL) {
        cairn_snapshot_parts_clear(snapshots->parts);
    }
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
    if (snapshots->parts != NULL && oldest.frame.ids != NULL) {
        cairn_snapshot_parts_settle(snapshots->parts, &oldest.frame);
    }
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
    bool velocities, const uint8_t *bytes, size_t size, cairn_snapshot_frame *out) {
    const uint64_t tick = out->tick;
    for (;;) {
        out->velocities = velocities ? snapshots->velocities : NULL;
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

// Room for those that a message has. False: out of memory.
static bool reserve_velocities(cairn_snapshots *snapshots, bool velocities) {
    if (velocities && snapshots->velocities == NULL) {
        snapshots->velocities = calloc(snapshots->bodies_max, sizeof *snapshots->velocities);
    }
    return !velocities || snapshots->velocities != NULL;
}

// The poses of the frame, with velocities since the newest snapshot before it, unless it has its
// own.
static void derive_bodies(const cairn_snapshots *snapshots, cairn_snapshot *next) {
    const uint32_t place = place_of(snapshots, next->frame.tick);
    const cairn_snapshot *before = place > 0 ? &snapshots->list[place - 1] : NULL;
    uint32_t k = 0;
    for (uint32_t i = 0; i < next->frame.count; ++i) {
        cairn_snapshot_body *body = &next->bodies[i];
        *body = cairn_snapshot_frame_body(&next->frame, i);
        if (next->velocities) {
            cairn_dequantise_velocity(&snapshots->velocities[i], body);
            continue;
        }
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

// The rules' shared part as the message changes it. False: it is malformed.
static bool apply_shared(const cairn_snapshot *base, const cairn_snapshot_message *message,
    const cairn_snapshot_head *head, cairn_snapshot *next) {
    static const uint32_t zeros[CAIRN_SHARED_WORDS_MAX];
    next->shared_words = base == NULL ? head->shared_words : base->shared_words;
    return cairn_words_apply(base == NULL ? zeros : base->shared, next->shared_words,
               message->shared, message->shared_packed_size, next->shared) == CAIRN_OK;
}

static cairn_snapshot_refusal refusal_of(cairn_status status) {
    return status == CAIRN_OK              ? CAIRN_SNAPSHOT_TAKEN
           : status == CAIRN_CAPACITY      ? CAIRN_SNAPSHOT_BODIES_MAX
           : status == CAIRN_OUT_OF_MEMORY ? CAIRN_SNAPSHOT_MEMORY
           : status == CAIRN_NOT_FOUND     ? CAIRN_SNAPSHOT_BASELINE_LOST
                                           : CAIRN_SNAPSHOT_MALFORMED;
}

static cairn_snapshot_refusal decode(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
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
    if (!apply_shared(bases[0], message, head, next)) {
        return CAIRN_SNAPSHOT_MALFORMED;
    }
    next->frame.tick = head->tick;
    next->velocities = message->velocities != 0;
    if (!reserve_velocities(snapshots, next->velocities)) {
        return CAIRN_SNAPSHOT_MEMORY;
    }
    return refusal_of(decode_frame(snapshots, &frames, next->velocities,
        message->payload + head_size, message->payload_size - head_size, &next->frame));
}

static cairn_snapshot_refusal receive_whole(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
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
    if (snapshots->parts != NULL && place_of(snapshots, head->tick) == snapshots->count) {
        cairn_snapshot_parts_clear(snapshots->parts); // the next part begins from this snapshot
    }
    insert_written(snapshots, head->tick, next->frame.count);
    return CAIRN_SNAPSHOT_TAKEN;
}

cairn_snapshot_refusal cairn_snapshots_note(
    cairn_snapshots *snapshots, const cairn_snapshot_head *head) {
    const cairn_snapshot_refusal refusal = admit(snapshots, head->tick);
    const uint32_t bases = head->bases[0] == 0 ? 0 : head->part ? 1 : 3;
    for (uint32_t k = 0; k < bases && refusal == CAIRN_SNAPSHOT_TAKEN; ++k) {
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

// ------------------------------------------------------------------------------------------- parts

static cairn_body_sample find_sample(void *user, uint32_t index, uint64_t tick) {
    const cairn_snapshots *snapshots = user;
    const cairn_snapshot *held = find(snapshots, tick);
    uint32_t place = 0;
    if (held != NULL && cairn_snapshot_frame_find_index(&held->frame, index, &place)) {
        return (cairn_body_sample){.frame = &held->frame, .place = place, .tick = tick};
    }
    return cairn_snapshot_parts_settled(snapshots->parts, index, tick);
}

static bool start_parts(cairn_snapshots *snapshots) {
    const cairn_snapshot *newest = cairn_snapshots_newest(snapshots);
    if (snapshots->parts == NULL) {
        snapshots->parts = cairn_snapshot_parts_create(snapshots->bodies_max);
    }
    if (snapshots->parts != NULL && snapshots->parts->tick_rate_hz == 0 && newest != NULL) {
        cairn_snapshot_parts_start(
            snapshots->parts, &newest->frame, newest->bodies, newest->body_count);
    }
    return snapshots->parts != NULL;
}

// The samples of the part that was read.
static cairn_snapshot_refusal keep_samples(
    const cairn_snapshot_parts *parts, cairn_snapshot_frame *out) {
    const cairn_snapshot_frame *from = &parts->part.frame;
    if (out->ids == NULL || out->capacity < from->count) {
        cairn_snapshot_frame_destroy(out);
        const uint32_t wider = from->count + from->count / 2 + 16;
        if (cairn_snapshot_frame_create(out, wider < parts->capacity ? wider : parts->capacity) !=
            CAIRN_OK) {
            return CAIRN_SNAPSHOT_MEMORY;
        }
    }
    cairn_snapshot_frame_copy(from, out);
    return CAIRN_SNAPSHOT_TAKEN;
}

static cairn_snapshot_refusal read_part(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
    cairn_snapshot_parts *parts = snapshots->parts;
    cairn_snapshot_frame *frame = &parts->part.frame;
    const cairn_part_source source = {snapshots, find_sample};
    uint32_t check = 0;
    frame->tick = head->tick;
    frame->tick_rate_hz = parts->tick_rate_hz;
    frame->quantisation = parts->quantisation;
    frame->gravity = parts->gravity;
    if (!reserve_velocities(snapshots, message->velocities != 0)) {
        return CAIRN_SNAPSHOT_MEMORY;
    }
    frame->velocities = message->velocities != 0 ? snapshots->velocities : NULL;
    const cairn_status status = cairn_part_read(message->payload + head_size,
        message->payload_size - head_size, &source, &parts->part, &check);
    if (status != CAIRN_OK) {
        return refusal_of(status);
    }
    return check == head->check ? CAIRN_SNAPSHOT_TAKEN : CAIRN_SNAPSHOT_DIFFERS;
}

#define TELEPORTS (CAIRN_SNAPSHOT_BODY_TELEPORTS_MASK << CAIRN_SNAPSHOT_BODY_TELEPORTS_SHIFT)

static cairn_snapshot_body *find_body(const cairn_snapshot *snapshot, cairn_body_id id) {
    uint32_t low = 0;
    for (uint32_t high = snapshot->body_count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cairn_id_index(snapshot->bodies[middle].id) < cairn_id_index(id)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < snapshot->body_count && snapshot->bodies[low].id == id;
    return found ? &snapshot->bodies[low] : NULL;
}

static void place_between(const cairn_snapshot_body *from, const cairn_snapshot_body *to,
    float fraction, cairn_snapshot_body *out) {
    float position[3];
    float rotation[4];
    cairn_interpolate_vec3(from->position, to->position, fraction, position);
    cairn_interpolate_quat(from->rotation, to->rotation, fraction, rotation);
    out->position = (cairn_vec3){position[0], position[1], position[2]};
    out->rotation = (cairn_quat){rotation[0], rotation[1], rotation[2], rotation[3]};
}

// A body that moved was not sampled since `tick`: the snapshots in between, where it still is as it
// was then, get it where it was on its way to `body`, of the snapshot `to`.
static void fill_gap(cairn_snapshots *snapshots, uint64_t tick, uint64_t to, float tick_rate_hz,
    const cairn_snapshot_body *body) {
    for (uint32_t i = snapshots->count; i > 0 && snapshots->list[i - 1].tick > tick; --i) {
        const cairn_snapshot *snapshot = &snapshots->list[i - 1];
        cairn_snapshot_body *old = find_body(snapshot, body->id);
        if (old == NULL || ((old->flags ^ body->flags) & TELEPORTS) != 0 ||
            (old->flags & CAIRN_SNAPSHOT_BODY_AWAKE) == 0) {
            return;
        }
        const cairn_snapshot_body from = *old;
        cairn_snapshot_body moving = *body;
        cairn_derive_velocities(&from, (float)(to - tick) / tick_rate_hz, &moving);
        place_between(&from, body, (float)(snapshot->tick - tick) / (float)(to - tick), old);
        old->linear_velocity = moving.linear_velocity;
        old->angular_velocity = moving.angular_velocity;
    }
}

static void fill_gaps(cairn_snapshots *snapshots, uint64_t newest) {
    const cairn_snapshot_parts *parts = snapshots->parts;
    const cairn_snapshot_frame *frame = &parts->part.frame;
    for (uint32_t s = 0; s < frame->count; ++s) {
        const uint64_t tick = cairn_snapshot_parts_tick(parts, cairn_id_index(frame->ids[s]));
        if (tick != 0 && tick < newest && !parts->part.rested[s]) {
            const cairn_snapshot_body body = cairn_snapshot_frame_body(frame, s);
            fill_gap(snapshots, tick, frame->tick, (float)frame->tick_rate_hz, &body);
        }
    }
}

static void derive_sampled(const cairn_snapshots *snapshots, cairn_snapshot *next) {
    const cairn_snapshot *before = cairn_snapshots_newest(snapshots);
    for (uint32_t s = 0; (before != NULL || next->velocities) && s < next->frame.count; ++s) {
        cairn_snapshot_body *body = find_body(next, next->frame.ids[s]);
        if (next->velocities && body != NULL) {
            cairn_dequantise_velocity(&snapshots->velocities[s], body);
            continue;
        }
        const cairn_snapshot_body *old = find_body(before, next->frame.ids[s]);
        if (body != NULL && old != NULL) {
            const float seconds =
                (float)(next->tick - before->tick) / (float)next->frame.tick_rate_hz;
            cairn_derive_velocities(old, seconds, body);
        }
    }
}

static cairn_snapshot_refusal check_samples(
    const cairn_snapshots *snapshots, cairn_snapshot_body *scratch) {
    const cairn_snapshot_frame *frame = &snapshots->parts->part.frame;
    for (uint32_t s = 0; s < frame->count; ++s) {
        scratch[s] = cairn_snapshot_frame_body(frame, s);
    }
    return cairn_bodies_check(scratch, frame->count) == CAIRN_DECODE_OK ? CAIRN_SNAPSHOT_TAKEN
                                                                        : CAIRN_SNAPSHOT_MALFORMED;
}

// Reads the samples of a part into `next`. `shared`: the base of the rules' shared part, or NULL.
static cairn_snapshot_refusal take_samples(cairn_snapshots *snapshots, const cairn_snapshot *shared,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size,
    cairn_snapshot *next) {
    if (!apply_shared(shared, message, head, next)) {
        return CAIRN_SNAPSHOT_MALFORMED;
    }
    cairn_snapshot_refusal refusal = read_part(snapshots, message, head, head_size);
    refusal = refusal == CAIRN_SNAPSHOT_TAKEN ? check_samples(snapshots, next->bodies) : refusal;
    return refusal == CAIRN_SNAPSHOT_TAKEN ? keep_samples(snapshots->parts, &next->frame) : refusal;
}

// The bodies of `next` are those of the newest snapshot with the samples that were taken. False: it
// has no room for them.
static bool show_samples(
    cairn_snapshots *snapshots, const cairn_snapshot *newest, cairn_snapshot *next) {
    cairn_snapshot_parts *parts = snapshots->parts;
    uint32_t count = 0;
    if (cairn_snapshot_parts_apply(parts, newest != NULL ? newest->bodies : NULL,
            newest != NULL ? newest->body_count : 0, next->bodies, &count) != CAIRN_OK) {
        return false;
    }
    next->body_count = count;
    parts->tick_rate_hz = next->frame.tick_rate_hz;
    parts->quantisation = next->frame.quantisation;
    parts->gravity = next->frame.gravity;
    return true;
}

static cairn_snapshot_refusal receive_part(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
    const cairn_snapshot *newest = cairn_snapshots_newest(snapshots);
    const uint64_t newest_tick = newest != NULL ? newest->tick : 0;
    if (head->tick <= newest_tick) {
        return head->tick == newest_tick ? CAIRN_SNAPSHOT_DUPLICATE : CAIRN_SNAPSHOT_OVERTAKEN;
    }
    if (!start_parts(snapshots)) {
        return CAIRN_SNAPSHOT_MEMORY;
    }
    const cairn_snapshot *shared = head->bases[0] != 0 ? find(snapshots, head->bases[0]) : NULL;
    cairn_snapshot *next = &snapshots->list[snapshots->count];
    if (head->bases[0] != 0 && shared == NULL) {
        return CAIRN_SNAPSHOT_BASELINE_LOST;
    }
    const cairn_snapshot_refusal refusal =
        take_samples(snapshots, shared, message, head, head_size, next);
    if (refusal != CAIRN_SNAPSHOT_TAKEN) {
        return refusal;
    }
    fill_gaps(snapshots, newest_tick);
    if (!show_samples(snapshots, newest, next)) {
        return CAIRN_SNAPSHOT_BODIES_MAX;
    }
    next->tick = head->tick;
    next->velocities = message->velocities != 0;
    derive_sampled(snapshots, next);
    insert_written(snapshots, head->tick, next->body_count);
    return CAIRN_SNAPSHOT_TAKEN;
}

// Receives a part of a room that is paused. Several parts may have the same tick: if the newest
// snapshot has the tick of this part, the bodies of the part are added to it. No later part uses
// the samples of this one as bases.
static cairn_snapshot_refusal receive_standing(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
    cairn_snapshot *newest = snapshots->count > 0 ? &snapshots->list[snapshots->count - 1] : NULL;
    cairn_snapshot *next = &snapshots->list[snapshots->count];
    const bool added = newest != NULL && newest->tick == head->tick;
    if (newest != NULL && head->tick < newest->tick) {
        return CAIRN_SNAPSHOT_OVERTAKEN;
    }
    if (!start_parts(snapshots)) {
        return CAIRN_SNAPSHOT_MEMORY;
    }
    const cairn_snapshot_refusal refusal =
        take_samples(snapshots, NULL, message, head, head_size, next);
    if (refusal != CAIRN_SNAPSHOT_TAKEN) {
        return refusal;
    }
    if (!show_samples(snapshots, newest, next)) {
        return CAIRN_SNAPSHOT_BODIES_MAX;
    }
    next->frame.count = 0;
    if (added) {
        cairn_snapshot_body *bodies = newest->bodies;
        newest->bodies = next->bodies;
        newest->body_count = next->body_count;
        next->bodies = bodies;
        return CAIRN_SNAPSHOT_TAKEN;
    }
    next->tick = head->tick;
    next->velocities = false;
    insert_written(snapshots, head->tick, next->body_count);
    return CAIRN_SNAPSHOT_TAKEN;
}

cairn_snapshot_refusal cairn_snapshots_receive(cairn_snapshots *snapshots,
    const cairn_snapshot_message *message, const cairn_snapshot_head *head, size_t head_size) {
    CAIRN_ASSERT(snapshots->codec != NULL && head_size <= message->payload_size);
    return head->standing ? receive_standing(snapshots, message, head, head_size)
           : head->part   ? receive_part(snapshots, message, head, head_size)
                          : receive_whole(snapshots, message, head, head_size);
}

const cairn_snapshot *cairn_snapshots_newest(const cairn_snapshots *snapshots) {
    return snapshots->count > 0 ? &snapshots->list[snapshots->count - 1] : NULL;
}
