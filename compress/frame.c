// SPDX-License-Identifier: MIT
#include "compress/frame.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "base/hash.h"

// The arrays of one frame, largest entries first, so that each is aligned.
cairn_status cairn_snapshot_frame_create(cairn_snapshot_frame *frame, uint32_t capacity) {
    *frame = (cairn_snapshot_frame){.ids = malloc(capacity * CAIRN_FRAME_BODY_SIZE)};
    if (frame->ids == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    frame->capacity = capacity;
    frame->flags = frame->ids + capacity;
    frame->users = frame->flags + capacity;
    frame->bodies = (cairn_codec_body *)(frame->users + capacity);
    frame->poses = (cairn_quantised_body *)(frame->bodies + capacity);
    frame->exact = (cairn_pose *)(frame->poses + capacity);
    return CAIRN_OK;
}

void cairn_snapshot_frame_destroy(cairn_snapshot_frame *frame) {
    free(frame->ids);
    *frame = (cairn_snapshot_frame){0};
}

static uint32_t extent_in_steps(float extent_m, float step_m) {
    const float steps = cairn_float_abs(extent_m) / step_m + 0.5f;
    return steps < (float)CAIRN_FRAME_EXTENT_MAX ? (uint32_t)steps : CAIRN_FRAME_EXTENT_MAX;
}

static void steps_of(const cairn_quantisation *q, cairn_vec3 extents_m, uint32_t steps[3]) {
    steps[0] = extent_in_steps(extents_m.x, q->position_step_m);
    steps[1] = extent_in_steps(extents_m.y, q->position_step_m);
    steps[2] = extent_in_steps(extents_m.z, q->position_step_m);
}

void cairn_snapshot_frame_extents(
    const cairn_snapshot_frame *frame, uint32_t index, uint32_t steps[3]) {
    CAIRN_ASSERT(index < frame->count);
    steps_of(&frame->quantisation, frame->bodies[index].half_extents, steps);
}

static bool is_leader(uint32_t flags) {
    return flags >> CAIRN_SNAPSHOT_BODY_OWNER_SHIFT != 0;
}

cairn_codec_body cairn_snapshot_frame_codec_body(
    const cairn_quantisation *quantisation, const uint32_t steps[3], uint32_t flags) {
    const float step_m = quantisation->position_step_m;
    return (cairn_codec_body){.half_extents = {(float)steps[0] * step_m, (float)steps[1] * step_m,
                                  (float)steps[2] * step_m},
        .leader = is_leader(flags)};
}

cairn_vec3 cairn_snapshot_extents(const cairn_quantisation *quantisation, cairn_vec3 half_extents) {
    uint32_t steps[3];
    steps_of(quantisation, half_extents, steps);
    return cairn_snapshot_frame_codec_body(quantisation, steps, 0).half_extents;
}

void cairn_snapshot_frame_set(cairn_snapshot_frame *frame, uint32_t i,
    const cairn_snapshot_body *body, cairn_vec3 half_extents) {
    CAIRN_ASSERT(i < frame->count && frame->ids[i] == body->id);
    frame->flags[i] = body->flags;
    frame->users[i] = body->user;
    frame->bodies[i] =
        (cairn_codec_body){.half_extents = half_extents, .leader = is_leader(body->flags)};
    frame->exact[i] = (cairn_pose){.position = body->position, .rotation = body->rotation};
    frame->poses[i] = cairn_quantise(&frame->quantisation, frame->exact[i]);
}

void cairn_snapshot_frame_add(
    cairn_snapshot_frame *frame, const cairn_snapshot_body *body, cairn_vec3 half_extents) {
    const uint32_t i = frame->count++;
    CAIRN_ASSERT(i < frame->capacity);
    CAIRN_ASSERT(i == 0 || cairn_id_index(frame->ids[i - 1]) < cairn_id_index(body->id));
    frame->ids[i] = body->id;
    cairn_snapshot_frame_set(frame, i, body, half_extents);
}

void cairn_snapshot_frame_copy(const cairn_snapshot_frame *from, cairn_snapshot_frame *to) {
    const uint32_t count = from->count;
    CAIRN_ASSERT(count <= to->capacity);
    to->tick = from->tick;
    to->tick_rate_hz = from->tick_rate_hz;
    to->quantisation = from->quantisation;
    to->gravity = from->gravity;
    to->count = count;
    if (count > 0) {
        memcpy(to->ids, from->ids, count * sizeof *to->ids);
        memcpy(to->flags, from->flags, count * sizeof *to->flags);
        memcpy(to->users, from->users, count * sizeof *to->users);
        memcpy(to->bodies, from->bodies, count * sizeof *to->bodies);
        memcpy(to->poses, from->poses, count * sizeof *to->poses);
        memcpy(to->exact, from->exact, count * sizeof *to->exact);
    }
}

cairn_snapshot_body cairn_snapshot_frame_body(const cairn_snapshot_frame *frame, uint32_t index) {
    CAIRN_ASSERT(index < frame->count);
    const cairn_pose pose = cairn_snapshot_body_is_static(frame->flags[index])
                                ? frame->exact[index]
                                : cairn_dequantise(&frame->quantisation, &frame->poses[index]);
    return (cairn_snapshot_body){.id = frame->ids[index],
        .flags = frame->flags[index],
        .position = pose.position,
        .rotation = pose.rotation,
        .user = frame->users[index]};
}

bool cairn_snapshot_frame_find_index(
    const cairn_snapshot_frame *frame, uint32_t index, uint32_t *place) {
    uint32_t low = 0;
    for (uint32_t high = frame->count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (cairn_id_index(frame->ids[middle]) < index) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *place = low;
    return low < frame->count && cairn_id_index(frame->ids[low]) == index;
}

// Poses are hashed as words, in which 16-bit numbers would lie by byte order: they are put
// together.
uint32_t cairn_snapshot_frame_check(const cairn_snapshot_frame *frame) {
    enum { GROUP = 64, WORDS = 8 };
    uint64_t check = frame->tick;
    for (uint32_t start = 0; start < frame->count; start += GROUP) {
        uint32_t words[GROUP * WORDS];
        const uint32_t rest = frame->count - start;
        const uint32_t end = start + (rest < GROUP ? rest : GROUP);
        uint32_t *next = words;
        for (uint32_t i = start; i < end; ++i) {
            const cairn_quantised_body *pose = &frame->poses[i];
            next[0] = frame->ids[i];
            next[1] = frame->flags[i];
            next[2] = frame->users[i];
            next[3] = (uint32_t)pose->position[0];
            next[4] = (uint32_t)pose->position[1];
            next[5] = (uint32_t)pose->position[2];
            next[6] = (uint32_t)pose->rotation[0] | (uint32_t)pose->rotation[1] << 16;
            next[7] = (uint32_t)pose->rotation[2] | (uint32_t)pose->largest << 16;
            next += WORDS;
        }
        check = cairn_hash_words(check, words, (size_t)(next - words)).lo;
    }
    return (uint32_t)check;
}
