// SPDX-License-Identifier: MIT
// The first byte says which frames the receiver has and whether velocities follow, the rest is a
// payload. It is refused, or gives
// a frame that our own payload reproduces exactly.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/frame_codec.h"
#include "tests/compress/frames.h"
#include "tests/kit/exact.h"

enum { BODIES_MAX = 48, BASES = 3, PAYLOAD_MAX = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cairn_frame_codec *codec;
static cairn_snapshot_frame bases[BASES], result, again;

static void start(void) {
    CAIRN_ASSERT(cairn_frame_codec_create(BODIES_MAX, &codec) == CAIRN_OK);
    CAIRN_ASSERT(cairn_snapshot_frame_create(&result, BODIES_MAX) == CAIRN_OK);
    CAIRN_ASSERT(cairn_snapshot_frame_create(&again, BODIES_MAX) == CAIRN_OK);
    for (uint32_t i = 0; i < BASES; ++i) {
        frames_fill(&bases[i], BODIES_MAX, 3, i);
        bases[i].quantisation.coded_together_max = i == 1 ? 1 : BODIES_MAX;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t payload[PAYLOAD_MAX];
    if (codec == NULL) {
        start();
    }
    if (size == 0) {
        return 0;
    }
    const uint32_t kind = data[0] % 4; // the last: a keyframe
    const cairn_frame_bases held[4] = {{&bases[0], &bases[1], &bases[2]},
        {&bases[1], &bases[2], &bases[2]}, {&bases[2], &bases[2], &bases[2]}, {0}};
    uint8_t *exact = kit_exact_copy(data + 1, size - 1);
    result.tick = again.tick = 96;
    static cairn_quantised_velocity velocities[2][BODIES_MAX];
    const bool coded = (data[0] & 4) != 0;
    result.velocities = coded ? velocities[0] : NULL;
    again.velocities = coded ? velocities[1] : NULL;
    if (cairn_frame_decode(codec, &held[kind], exact, size - 1, &result) == CAIRN_OK) {
        const size_t own = cairn_frame_encode(codec, &held[kind], &result, payload, sizeof payload);
        CAIRN_ASSERT(own > 0);
        CAIRN_ASSERT(cairn_frame_decode(codec, &held[kind], payload, own, &again) == CAIRN_OK);
        CAIRN_ASSERT(again.count == result.count);
        CAIRN_ASSERT(cairn_snapshot_frame_check(&again) == cairn_snapshot_frame_check(&result));
        CAIRN_ASSERT(!coded || memcmp(velocities[0], velocities[1],
                                   result.count * sizeof velocities[0][0]) == 0);
    } else {
        CAIRN_ASSERT(result.count == 0);
    }
    free(exact);
    return 0;
}
