// SPDX-License-Identifier: MIT
// Any bytes as a snapshot of a few bodies, after frames that the first two bytes choose: refused,
// or poses in range that are coded and decoded to themselves.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "compress/snapshot_codec.h"
#include "tests/kit/exact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODIES = 12, FRAMES = 3, ROTATION_MAX = 511, PACKET_MAX = 4096 };
#define POSITION_MAX 1000000000

static cairn_codec_body bodies[BODIES];
static cairn_quantised_body frames[FRAMES][BODIES]; // earliest, earlier, baseline

// Bodies in a heap, of which each moves by at most `bound` steps from frame to frame.
static void draw_frames(uint64_t seed, int64_t bound) {
    cairn_random random = cairn_random_of(seed);
    for (uint32_t i = 0; i < BODIES; ++i) {
        const float half = 0.05f + cairn_random_unit(&random);
        bodies[i] =
            (cairn_codec_body){.half_extents = {half, half, half}, .leader = i % 6 == seed % 6};
        for (uint32_t frame = 0; frame < FRAMES; ++frame) {
            cairn_quantised_body *body = &frames[frame][i];
            body->largest = (uint16_t)(bound > 1000 ? cairn_random_below(&random, 4) : 3);
            for (uint32_t k = 0; k < 3; ++k) {
                const int64_t from = frame == 0 ? 0 : frames[frame - 1][i].position[k];
                const int64_t reach = frame == 0 ? 500 : bound;
                body->position[k] =
                    (int32_t)(from - reach +
                              (int64_t)cairn_random_below(&random, 2 * (uint64_t)reach + 1));
                body->rotation[k] = (uint16_t)(200 + cairn_random_below(&random, 112));
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int64_t bounds[] = {0, 3, 200, 100000, 300000000};
    static cairn_snapshot_codec *codec;
    cairn_quantised_body out[BODIES], again[BODIES];
    uint8_t packet[PACKET_MAX];
    if (codec == NULL) {
        const cairn_codec_settings settings = {.quantisation = cairn_quantisation_default(),
            .tick_rate_hz = 60,
            .gravity = {.y = -9.81f}};
        CAIRN_ASSERT(cairn_snapshot_codec_create(&settings, BODIES, &codec) == CAIRN_OK);
    }
    if (size < 2) {
        return 0;
    }
    draw_frames(data[0], bounds[data[1] % 5]);
    const cairn_codec_settings settings = {
        .quantisation = {1.0f / 512.0f, 9, data[0] % 5 == 0 ? 2 : BODIES},
        .tick_rate_hz = 60,
        .gravity = {.y = -9.81f}};
    CAIRN_ASSERT(cairn_snapshot_codec_set(codec, &settings) == CAIRN_OK);
    const cairn_codec_frames held = {.count = 1u + data[1] / 5u % BODIES,
        .bodies = bodies,
        .baseline = frames[2],
        .earlier = frames[1],
        .earliest = frames[0],
        .ticks = 1 + data[0] % 7u,
        .ticks_earlier = 1 + data[0] % 3u,
        .ticks_earliest = 1 + data[0] % 4u};
    uint8_t *exact = kit_exact_copy(data + 2, size - 2);
    const cairn_status status = cairn_snapshot_decode(codec, &held, exact, size - 2, out);
    free(exact);
    if (status != CAIRN_OK) {
        CAIRN_ASSERT(status == CAIRN_MALFORMED);
        return 0;
    }
    for (uint32_t i = 0; i < held.count; ++i) {
        CAIRN_ASSERT(out[i].largest < 4);
        for (uint32_t k = 0; k < 3; ++k) {
            CAIRN_ASSERT(out[i].rotation[k] <= ROTATION_MAX);
            CAIRN_ASSERT(out[i].position[k] >= -POSITION_MAX && out[i].position[k] <= POSITION_MAX);
        }
    }
    const size_t coded = cairn_snapshot_encode(codec, &held, out, packet, sizeof packet);
    CAIRN_ASSERT(coded <= sizeof packet);
    CAIRN_ASSERT(cairn_snapshot_decode(codec, &held, packet, coded, again) == CAIRN_OK);
    CAIRN_ASSERT(memcmp(out, again, held.count * sizeof *out) == 0);
    return 0;
}
