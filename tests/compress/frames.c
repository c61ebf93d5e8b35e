// SPDX-License-Identifier: MIT
#include "tests/compress/frames.h"

#include "base/assert.h"
#include "base/random.h"
#include <cairn/math.h>

void frames_fill(
    cairn_snapshot_frame *frame, uint32_t body_capacity, uint32_t id_step, uint32_t age) {
    CAIRN_ASSERT(cairn_snapshot_frame_create(frame, body_capacity) == CAIRN_OK);
    frame->tick = 90 - 3 * age;
    frame->tick_rate_hz = 60;
    frame->quantisation = cairn_quantisation_default();
    frame->gravity.y = -10.0f;
    for (uint32_t i = age; i < body_capacity / 2; i += 1 + i % 3) {
        const float turn = 0.01f * (float)(i * age);
        const cairn_snapshot_body body = {.id = id_step * i + 2,
            .flags = i % 6 + (i % 7 == 0 ? 2u << CAIRN_SNAPSHOT_BODY_OWNER_SHIFT : 0),
            .position = {(float)i, 0.5f + 0.1f * (float)(age * (i % 4)), 0.0f},
            .rotation = cairn_quat_normalize(cairn_quat_of(turn, 0.0f, 0.0f, 1.0f)),
            .user = i};
        cairn_snapshot_frame_add(frame, &body, (cairn_vec3){0.5f, 0.5f, 0.5f});
    }
}

static float noise(cairn_random *random) {
    return (float)cairn_random_below(random, 2001) * 1e-3f - 1.0f;
}

void frames_make(frames_story *story, uint64_t seed) {
    static const float ages[FRAMES_COUNT] = {0.0f, 3.0f, 6.0f, 12.0f};
    for (uint32_t f = 0; f < FRAMES_COUNT; ++f) {
        cairn_snapshot_frame *frame = &story->frames[f];
        cairn_random random = cairn_random_of(seed);
        if (frame->ids == NULL) {
            CAIRN_ASSERT(cairn_snapshot_frame_create(frame, FRAMES_BODIES) == CAIRN_OK);
        }
        frame->count = 0;
        frame->tick = 1000 - (uint64_t)ages[f];
        frame->tick_rate_hz = 60;
        frame->quantisation = cairn_quantisation_default();
        frame->gravity.y = -10.0f;
        for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
            const cairn_vec3 v = {noise(&random), noise(&random), noise(&random)};
            const float wild = i % 9 == 0 ? 30.0f * noise(&random) * ages[f] : 0.0f;
            const cairn_snapshot_body body = {.id = (i % 4) << CAIRN_ID_INDEX_BITS | (3 * i + 1),
                .flags = (i % 5 == 0 ? 0u : 5u) ^ (f == 0 && i % 7 == 0 ? 8u : 0u),
                .position = {(float)i - v.x * 0.1f * ages[f] + wild, v.y * 0.1f * ages[f],
                    1000.0f * v.z},
                .rotation = cairn_quat_normalize(
                    cairn_quat_of(v.x + 0.02f * ages[f], v.y, v.z, 0.5f + wild)),
                .user = f == 0 && i % 11 == 0 ? 77 : i};
            const cairn_vec3 half_extents = {0.5f, v.y + (i % 13 == f ? 1.0f : 0.0f), 1.0f};
            cairn_snapshot_frame_add(
                frame, &body, cairn_snapshot_extents(&frame->quantisation, half_extents));
        }
    }
}

cairn_body_sample frames_find(
    const frames_story *story, uint32_t held, uint32_t index, uint64_t tick) {
    const cairn_snapshot_frame *frames = story->frames;
    for (uint32_t f = 1; f < held; ++f) {
        uint32_t place = 0;
        if (frames[f].tick == tick && cairn_snapshot_frame_find_index(&frames[f], index, &place)) {
            return (cairn_body_sample){.frame = &frames[f], .place = place, .tick = tick};
        }
    }
    return (cairn_body_sample){.frame = NULL};
}

size_t frames_write_part(const frames_story *story, uint8_t bytes[FRAMES_BYTES], uint32_t *check) {
    const cairn_snapshot_frame *frames = story->frames;
    cairn_part_writer writer = cairn_part_write(&frames[0], true, bytes, FRAMES_BYTES);
    for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
        const uint32_t count = i % 6;
        cairn_body_sample bases[CAIRN_PART_BASES] = {{.frame = NULL}};
        for (uint32_t k = 0; k < count && k < CAIRN_PART_BASES; ++k) {
            bases[k] = (cairn_body_sample){
                .frame = &frames[k + 1], .place = i, .tick = frames[k + 1].tick};
        }
        if (count == 0) {
            cairn_part_enter(&writer, i);
        } else if (count == 4) {
            cairn_part_leave(&writer, cairn_id_index(frames[0].ids[i]));
        } else if (count < 4) {
            const cairn_part_spans spans = cairn_part_spans_of(&frames[0], bases);
            cairn_part_chunk chunk;
            cairn_part_chunk_of(&frames[0], i, bases, &spans, i % 8 == 1, false, &chunk);
            cairn_part_go_on(&writer, i, bases, &spans, &chunk, cairn_part_hash(&frames[0], i));
        }
    }
    return cairn_part_finish(&writer, check);
}
