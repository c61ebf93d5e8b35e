// SPDX-License-Identifier: MIT
// A part of a snapshot for a client that holds three frames; the lowest bit of the last byte says
// whether it has velocities. It is refused, or gives bodies that
// our own part reproduces exactly.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/part_codec.h"
#include "tests/compress/frames.h"
#include "tests/kit/exact.h"

enum { BODIES_MAX = 64, BASES = 3, PART_MAX = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cairn_snapshot_frame bases[BASES];
static cairn_part result, again;

static cairn_body_sample find(void *user, uint32_t index, uint64_t tick) {
    (void)user;
    for (uint32_t i = 0; i < BASES; ++i) {
        uint32_t place = 0;
        if (bases[i].tick == tick && cairn_snapshot_frame_find_index(&bases[i], index, &place)) {
            return (cairn_body_sample){.frame = &bases[i], .place = place, .tick = tick};
        }
    }
    return (cairn_body_sample){.frame = NULL};
}

static void start(void) {
    CAIRN_ASSERT(cairn_part_create(&result, BODIES_MAX) == CAIRN_OK);
    CAIRN_ASSERT(cairn_part_create(&again, BODIES_MAX) == CAIRN_OK);
    for (uint32_t i = 0; i < BASES; ++i) {
        frames_fill(&bases[i], BODIES_MAX, 2, i);
    }
}

// Every body that went on is coded against the bases that have it, if these are in the same steps.
static size_t write_again(uint8_t *bytes, uint32_t *check) {
    const cairn_snapshot_frame *frame = &result.frame;
    const cairn_quantisation *steps = &bases[0].quantisation;
    const bool same = frame->quantisation.position_step_m == steps->position_step_m &&
                      frame->quantisation.rotation_bits == steps->rotation_bits;
    cairn_part_writer writer = cairn_part_write(frame, true, bytes, PART_MAX);
    uint32_t left = 0;
    for (uint32_t i = 0; i < frame->count; ++i) {
        const uint32_t index = cairn_id_index(frame->ids[i]);
        for (; left < result.left_count && result.left[left] < index; ++left) {
            cairn_part_leave(&writer, result.left[left]);
        }
        cairn_body_sample own[CAIRN_PART_BASES];
        uint32_t count = 0;
        for (uint32_t k = 0; k < BASES; ++k) {
            own[k].frame = NULL;
            own[count] = find(NULL, index, bases[k].tick);
            count += own[count].frame != NULL ? 1 : 0;
        }
        if (same && count > 0 && own[0].frame->ids[own[0].place] == frame->ids[i]) {
            const cairn_part_spans spans = cairn_part_spans_of(frame, own);
            cairn_part_chunk chunk;
            cairn_part_chunk_of(frame, i, own, &spans, result.rested[i], false, &chunk);
            cairn_part_go_on(&writer, i, own, &spans, &chunk, cairn_part_hash(frame, i));
        } else {
            cairn_part_enter(&writer, i);
        }
    }
    for (; left < result.left_count; ++left) {
        cairn_part_leave(&writer, result.left[left]);
    }
    return cairn_part_finish(&writer, check);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t bytes[PART_MAX];
    if (bases[0].ids == NULL) {
        start();
    }
    const cairn_part_source source = {NULL, find};
    uint32_t checks[3] = {0};
    uint8_t *exact = kit_exact_copy(data, size);
    static cairn_quantised_velocity velocities[2][BODIES_MAX];
    const bool coded = size > 0 && (data[size - 1] & 1) != 0;
    result.frame.velocities = coded ? velocities[0] : NULL;
    again.frame.velocities = coded ? velocities[1] : NULL;
    result.frame.tick = again.frame.tick = 96;
    result.frame.tick_rate_hz = 60;
    result.frame.quantisation = cairn_quantisation_default();
    result.frame.gravity = bases[0].gravity;
    if (cairn_part_read(exact, size, &source, &result, &checks[0]) == CAIRN_OK) {
        const size_t own = write_again(bytes, &checks[1]);
        CAIRN_ASSERT(own > 0);
        CAIRN_ASSERT(cairn_part_read(bytes, own, &source, &again, &checks[2]) == CAIRN_OK);
        CAIRN_ASSERT(checks[0] == checks[1] && checks[0] == checks[2]);
        CAIRN_ASSERT(again.frame.count == result.frame.count);
        CAIRN_ASSERT(!coded || memcmp(velocities[0], velocities[1],
                                   result.frame.count * sizeof velocities[0][0]) == 0);
        CAIRN_ASSERT(again.left_count == result.left_count);
    } else {
        CAIRN_ASSERT(result.frame.count == 0 && result.left_count == 0);
    }
    free(exact);
    return 0;
}
