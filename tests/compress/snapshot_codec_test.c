// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/random.h"
#include "tests/compress/trainer.h"
#include "tests/kit/exact.h"

enum { BODIES = 200, PACKET_MAX = 65536 };

static cairn_snapshot_codec *codec_of(const cairn_codec_settings *settings) {
    cairn_snapshot_codec *codec;
    assert_int_equal(cairn_snapshot_codec_create(settings, CUBES_COUNT, &codec), CAIRN_OK);
    return codec;
}

// ---- Poses

TEST("a pose comes back within half a step, and a rotation within its steps") {
    cairn_random random = cairn_random_of(1);
    for (uint32_t bits = CAIRN_ROTATION_BITS_MIN; bits <= CAIRN_ROTATION_BITS_MAX; ++bits) {
        const cairn_quantisation q = {.position_step_m = 0.002f, .rotation_bits = bits};
        for (uint32_t i = 0; i < 2000; ++i) {
            const cairn_pose pose = {.position = {200.0f * cairn_random_unit(&random) - 100.0f,
                                         cairn_random_unit(&random), -50.0f},
                .rotation = cairn_quat_normalize(cairn_quat_of(cairn_random_unit(&random) - 0.5f,
                    cairn_random_unit(&random) - 0.5f, cairn_random_unit(&random) - 0.5f,
                    cairn_random_unit(&random) - 0.5f))};
            const cairn_quantised_body body = cairn_quantise(&q, pose);
            const cairn_pose back = cairn_dequantise(&q, &body);
            assert_true(cairn_float_abs(back.position.x - pose.position.x) <= 0.00101f);
            const cairn_quat turn =
                cairn_quat_multiply(back.rotation, cairn_quat_conjugate(pose.rotation));
            const float error_rad = 2.0f * cairn_vec3_length(cairn_quat_vector(turn));
            assert_true(error_rad < 5.0f / (float)((1u << bits) - 1u));
        }
    }
}

// ---- Sets to measure with

TEST("the scenes of cubes are in motion") {
    for (cubes_kind kind = CUBES_MODERATE; kind <= CUBES_HEAVY; ++kind) {
        cubes_set set = cubes_simulate(kind, 100, cubes_warm_up(kind), 120);
        const double changed = cubes_changed(&set);
        assert_int_equal(set.bodies_disabled, 0);
        assert_true(changed >= CUBES_MODERATE_CHANGED_MIN);
        assert_true(kind == CUBES_HEAVY || changed <= CUBES_MODERATE_CHANGED_MAX);
        cubes_free(&set);
    }
}

// ---- Any snapshots

typedef struct history {
    cairn_codec_body bodies[BODIES];
    cairn_quantised_body frames[4][BODIES]; // earliest, earlier, baseline, snapshot
} history;

static int32_t draw(cairn_random *random, int32_t bound) {
    return (int32_t)cairn_random_below(random, 2 * (uint64_t)bound + 1) - bound;
}

// From bodies that rest to poses that have nothing to do with each other, at the ends of the range.
static void draw_history(history *h, uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    const int32_t bounds[] = {0, 1, 50, 100000, 999999999};
    const int32_t bound = bounds[seed % 5];
    for (uint32_t i = 0; i < BODIES; ++i) {
        const float half = 0.01f + cairn_random_unit(&random);
        h->bodies[i] = (cairn_codec_body){.half_extents = {half, half * 0.5f, half},
            .leader = cairn_random_below(&random, 20) == 0};
        for (uint32_t frame = 0; frame < 4; ++frame) {
            cairn_quantised_body *body = &h->frames[frame][i];
            *body = frame > 0
                        ? h->frames[frame - 1][i]
                        : (cairn_quantised_body){.position = {draw(&random, 2000),
                                                     draw(&random, 2000), draw(&random, 2000)},
                              .rotation = {256, 256, 256},
                              .largest = 3};
            if (cairn_random_below(&random, 2) == 0) {
                continue;
            }
            for (uint32_t k = 0; k < 3; ++k) {
                const int64_t moved = (int64_t)body->position[k] + draw(&random, bound);
                body->position[k] =
                    moved > 1000000000 || moved < -1000000000 ? -body->position[k] : (int32_t)moved;
                const int32_t turned = body->rotation[k] + draw(&random, bound < 511 ? bound : 511);
                body->rotation[k] = (uint16_t)(turned < 0 ? 0 : turned > 511 ? 511 : turned);
            }
            if (bound > 1000) {
                body->largest = (uint16_t)cairn_random_below(&random, 4);
            }
        }
    }
}

static cairn_codec_frames frames_of(const history *h, uint64_t seed) {
    return (cairn_codec_frames){.count = BODIES,
        .bodies = h->bodies,
        .baseline = h->frames[2],
        .earlier = h->frames[1],
        .earliest = h->frames[0],
        .ticks = 1 + (uint32_t)(seed % 7),
        .ticks_earlier = 1 + (uint32_t)(seed % 3),
        .ticks_earliest = 1 + (uint32_t)(seed % 4)};
}

// Snapshots in which at most so many bodies changed.
static void code_together(cairn_snapshot_codec *codec, uint32_t bodies) {
    cairn_codec_settings settings = cubes_settings();
    settings.quantisation.coded_together_max = bodies;
    assert_int_equal(cairn_snapshot_codec_set(codec, &settings), CAIRN_OK);
}

TEST("every snapshot comes back, whatever the frames before it were") {
    const cairn_codec_settings settings = cubes_settings();
    cairn_snapshot_codec *encoder = codec_of(&settings), *decoder = codec_of(&settings);
    static uint8_t packet[PACKET_MAX];
    for (uint64_t seed = 0; seed < (test_is_thorough() ? 2000u : 200u); ++seed) {
        static history h;
        draw_history(&h, seed);
        const cairn_codec_frames frames = frames_of(&h, seed);
        code_together(encoder, seed % 3 == 0 ? 0 : BODIES);
        code_together(decoder, seed % 3 == 0 ? 0 : BODIES);
        const size_t size =
            cairn_snapshot_encode(encoder, &frames, h.frames[3], packet, sizeof packet);
        assert_true(size < sizeof packet);
        uint8_t *exact = kit_exact_copy(packet, size);
        cairn_quantised_body out[BODIES];
        assert_int_equal(cairn_snapshot_decode(decoder, &frames, exact, size, out), CAIRN_OK);
        assert_memory_equal(out, h.frames[3], sizeof out);
        assert_true(size == 0 || cairn_snapshot_encode(
                                     encoder, &frames, h.frames[3], packet, size - 1) == SIZE_MAX);
        free(exact);
    }
    cairn_snapshot_codec_destroy(encoder);
    cairn_snapshot_codec_destroy(decoder);
}

TEST("bodies that rest take no bytes, and a packet that is too short is told") {
    const cairn_codec_settings settings = cubes_settings();
    cairn_snapshot_codec *codec = codec_of(&settings);
    static history h;
    draw_history(&h, 2);
    cairn_codec_frames frames = frames_of(&h, 2);
    uint8_t packet[8];
    assert_true(
        cairn_snapshot_encode(codec, &frames, h.frames[3], packet, sizeof packet) == SIZE_MAX);
    frames.earlier = frames.earliest = frames.baseline;
    assert_true(cairn_snapshot_encode(codec, &frames, frames.baseline, packet, sizeof packet) <= 1);
    cairn_snapshot_codec_destroy(codec);
}

// A decoder must not read past the end, hang, or leave the range of poses.
TEST("any bytes decode to poses in range or are refused") {
    const cairn_codec_settings settings = cubes_settings();
    cairn_snapshot_codec *codec = codec_of(&settings);
    uint32_t refused = 0;
    for (uint64_t seed = 0; seed < (test_is_thorough() ? 20000u : 1000u); ++seed) {
        static history h;
        if (seed % 50 == 0) {
            draw_history(&h, seed / 50);
        }
        cairn_random random = cairn_random_of(seed);
        const size_t size = (size_t)cairn_random_below(&random, 600);
        uint8_t *bytes = calloc(1, size + 1);
        cairn_random_fill(&random, bytes, size);
        uint8_t *exact = kit_exact_copy(bytes, size);
        const cairn_codec_frames frames = frames_of(&h, seed);
        cairn_quantised_body out[BODIES];
        code_together(codec, seed % 2 == 0 ? 0 : BODIES);
        if (cairn_snapshot_decode(codec, &frames, exact, size, out) == CAIRN_OK) {
            for (uint32_t i = 0; i < BODIES; ++i) {
                for (uint32_t k = 0; k < 3; ++k) {
                    assert_true(out[i].rotation[k] <= 511 && out[i].largest < 4);
                    assert_in_range((int64_t)out[i].position[k] + 1000000000, 0, 2000000000);
                }
            }
        } else {
            refused++;
        }
        free(exact);
        free(bytes);
    }
    assert_true(refused > 0);
    cairn_snapshot_codec_destroy(codec);
}

TEST("settings out of range are refused") {
    cairn_snapshot_codec *codec;
    cairn_codec_settings settings = cubes_settings();
    settings.quantisation.position_step_m = 0.0f;
    assert_int_equal(cairn_snapshot_codec_create(&settings, 10, &codec), CAIRN_INVALID_ARGUMENT);
    settings = cubes_settings();
    settings.quantisation.rotation_bits = 16;
    assert_int_equal(cairn_snapshot_codec_create(&settings, 10, &codec), CAIRN_INVALID_ARGUMENT);
    settings = cubes_settings();
    settings.quantisation.coded_together_max = CAIRN_BODIES_MAX + 1;
    assert_int_equal(cairn_snapshot_codec_create(&settings, 10, &codec), CAIRN_INVALID_ARGUMENT);
    settings = cubes_settings();
    settings.tick_rate_hz = 0;
    assert_int_equal(cairn_snapshot_codec_create(&settings, 10, &codec), CAIRN_INVALID_ARGUMENT);
    settings = cubes_settings();
    assert_int_equal(cairn_snapshot_codec_create(&settings, 0, &codec), CAIRN_INVALID_ARGUMENT);
    assert_null(codec);
}

// ---- Motion

// Mean bytes of the snapshots of a set.
static double mean_size(
    const cubes_set *set, const cairn_snapshot_model *model, uint32_t coded_together_max) {
    cairn_codec_settings settings = set->settings;
    settings.model = model;
    settings.quantisation.coded_together_max = coded_together_max;
    cairn_snapshot_codec *codec = codec_of(&settings);
    static uint8_t packet[PACKET_MAX];
    double bytes = 0.0;
    for (uint32_t at = CUBES_FIRST; at < set->frame_count; ++at) {
        const cairn_codec_frames frames = cubes_frames(set, at);
        bytes += (double)cairn_snapshot_encode(
            codec, &frames, cubes_frame(set, at), packet, sizeof packet);
    }
    cairn_snapshot_codec_destroy(codec);
    return bytes / (set->frame_count - CUBES_FIRST);
}

// Blasts among 900 cubes; their first ones, since what goes on longer costs less.
TEST("a body that moved costs less than 26.5 bits, and without tables more than 28") {
    cubes_set set = cubes_simulate(CUBES_HEAVY, 100, 60, 100);
    const double size = mean_size(&set, NULL, CUBES_COUNT);
    assert_true(8.0 * size / cubes_changed(&set) < 26.5);
    static cairn_snapshot_model flat; // a velocity that stays, all decisions even at first
    for (uint32_t i = 0; i < sizeof flat.likely / sizeof(cairn_probability); ++i) {
        ((cairn_probability *)&flat.likely)[i] = 32768;
    }
    assert_true(8.0 * mean_size(&set, &flat, CUBES_COUNT) / cubes_changed(&set) > 28.0);
    cubes_free(&set);
}

// The same motion. Where fewer bodies changed than the setting says nothing becomes longer.
TEST("bodies that are coded alone cost at most half as much again") {
    cubes_set set = cubes_simulate(CUBES_HEAVY, 100, 60, 100);
    const double together = mean_size(&set, NULL, CUBES_COUNT);
    const double alone = mean_size(&set, NULL, 0);
    const double usual = mean_size(&set, NULL, CAIRN_CODED_TOGETHER_DEFAULT);
    printf("together %.0f, alone %.0f, as usual %.0f bytes\n", together, alone, usual);
    assert_true(together < usual && usual <= alone && alone < 1.5 * together);
    cubes_free(&set);
    set = cubes_simulate(CUBES_MODERATE, 100, 60, 100);
    assert_true(mean_size(&set, NULL, CUBES_COUNT) == mean_size(&set, NULL, 256));
    cubes_free(&set);
}

// Frames of one kind of motion, coded with its own tables, with those of another kind and with the
// default ones, which know both but not these seeds.
TEST("tables of other motion cost a quarter more, and both ends must have the same ones") {
    cubes_set blasts = cubes_simulate(CUBES_HEAVY, 101, 60, 90);
    cubes_set walk = cubes_simulate(CUBES_MODERATE, 101, 60, 120);
    static cairn_snapshot_model own, wrong;
    trainer_train(&own, &blasts, 1);
    trainer_train(&wrong, &walk, 1);
    const double size = mean_size(&blasts, &own, CUBES_COUNT);
    const double size_default = mean_size(&blasts, NULL, CUBES_COUNT);
    const double size_wrong = mean_size(&blasts, &wrong, CUBES_COUNT);
    printf("own tables %.1f, default %.1f, wrong %.1f bytes\n", size, size_default, size_wrong);
    assert_true(size < size_default && size_default < size_wrong);
    assert_true(size_default < 1.06 * size && size_wrong < 1.5 * size);

    cairn_codec_settings settings = cubes_settings();
    cairn_snapshot_codec *encoder = codec_of(&settings);
    settings.model = &wrong;
    cairn_snapshot_codec *decoder = codec_of(&settings);
    static uint8_t packet[PACKET_MAX];
    static cairn_quantised_body out[CUBES_COUNT];
    const cairn_codec_frames frames = cubes_frames(&blasts, CUBES_FIRST);
    const cairn_quantised_body *snapshot = cubes_frame(&blasts, CUBES_FIRST);
    const size_t bytes = cairn_snapshot_encode(encoder, &frames, snapshot, packet, sizeof packet);
    const cairn_status status = cairn_snapshot_decode(decoder, &frames, packet, bytes, out);
    assert_true(status != CAIRN_OK || memcmp(out, snapshot, sizeof out) != 0);
    cairn_snapshot_codec_destroy(encoder);
    cairn_snapshot_codec_destroy(decoder);
    cubes_free(&blasts);
    cubes_free(&walk);
}
