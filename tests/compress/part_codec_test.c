// SPDX-License-Identifier: MIT
// Parts of snapshots: what goes in comes out, from any bases; what is no part is refused by name.

#include "tests/kit/test.h"

#include <string.h>

#include <cairn/math.h>

#include "base/random.h"
#include "compress/part_codec.h"

enum { BODIES = 60, FRAMES = 4, BYTES = 8192 };

static cairn_snapshot_frame frames[FRAMES]; // newest first, as the client holds all but the first
static cairn_part part;

static float noise(cairn_random *random) {
    return (float)cairn_random_below(random, 2001) * 1e-3f - 1.0f;
}

// Bodies that move in their own ways; some are static, some change in every way.
static void make_frames(uint64_t seed) {
    static const float ages[FRAMES] = {0.0f, 3.0f, 6.0f, 12.0f};
    for (uint32_t f = 0; f < FRAMES; ++f) {
        cairn_snapshot_frame *frame = &frames[f];
        cairn_random random = cairn_random_of(seed);
        if (frame->ids == NULL) {
            assert_int_equal(cairn_snapshot_frame_create(frame, BODIES), CAIRN_OK);
        }
        frame->count = 0;
        frame->tick = 1000 - (uint64_t)ages[f];
        frame->tick_rate_hz = 60;
        frame->quantisation = cairn_quantisation_default();
        frame->gravity.y = -10.0f;
        for (uint32_t i = 0; i < BODIES; ++i) {
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
    if (part.left == NULL) {
        assert_int_equal(cairn_part_create(&part, BODIES), CAIRN_OK);
    }
}

static cairn_body_sample find(void *user, uint32_t index, uint64_t tick) {
    const uint32_t *held = user; // of the frames that the client holds
    for (uint32_t f = 1; f < *held; ++f) {
        uint32_t place = 0;
        if (frames[f].tick == tick && cairn_snapshot_frame_find_index(&frames[f], index, &place)) {
            return (cairn_body_sample){.frame = &frames[f], .place = place, .tick = tick};
        }
    }
    return (cairn_body_sample){.frame = NULL};
}

// Body i enters, goes on from up to three samples, leaves or is not named.
static size_t write_part(uint8_t bytes[BYTES], uint32_t *check) {
    cairn_part_writer writer = cairn_part_write(&frames[0], true, bytes, BYTES);
    for (uint32_t i = 0; i < BODIES; ++i) {
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
            const cairn_part_chunk chunk = cairn_part_chunk_of(&frames[0], i, bases, i % 8 == 1);
            cairn_part_go_on(&writer, i, bases, &chunk);
        }
    }
    return cairn_part_finish(&writer, check);
}

static cairn_status read_part(const uint8_t *bytes, size_t size, uint32_t held, uint32_t *check) {
    const cairn_part_source source = {&held, find};
    part.frame.tick = frames[0].tick;
    part.frame.tick_rate_hz = 0;
    return cairn_part_read(bytes, size, &source, &part, check);
}

TEST("a part gives the bodies that it was made of") {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        uint8_t bytes[BYTES];
        uint32_t checks[2];
        make_frames(seed);
        const size_t size = write_part(bytes, &checks[0]);
        assert_true(size > 0);
        assert_int_equal(read_part(bytes, size, FRAMES, &checks[1]), CAIRN_OK);
        assert_int_equal(checks[0], checks[1]);
        uint32_t s = 0;
        uint32_t left = 0;
        for (uint32_t i = 0; i < BODIES; ++i) {
            if (i % 6 == 4) {
                assert_int_equal(part.left[left++], cairn_id_index(frames[0].ids[i]));
            } else if (i % 6 != 5) {
                const cairn_snapshot_body a = cairn_snapshot_frame_body(&frames[0], i);
                const cairn_snapshot_body b = cairn_snapshot_frame_body(&part.frame, s);
                assert_memory_equal(&a, &b, sizeof a);
                assert_memory_equal(&frames[0].bodies[i].half_extents,
                    &part.frame.bodies[s].half_extents, sizeof(cairn_vec3));
                assert_int_equal(part.rested[s], i % 8 == 1 && i % 6 != 0);
                s += 1;
            }
        }
        assert_int_equal(s, part.frame.count);
        assert_int_equal(left, part.left_count);
    }
}

TEST("a part against samples that are not held is refused") {
    uint8_t bytes[BYTES];
    uint32_t check;
    make_frames(3);
    const size_t size = write_part(bytes, &check);
    for (uint32_t held = 1; held < FRAMES; ++held) {
        assert_int_equal(read_part(bytes, size, held, &check), CAIRN_NOT_FOUND);
        assert_int_equal(part.frame.count, 0);
    }
}

TEST("a part without settings needs those of another one") {
    uint8_t bytes[BYTES];
    uint32_t check;
    make_frames(4);
    cairn_part_writer writer = cairn_part_write(&frames[0], false, bytes, BYTES);
    const size_t size = cairn_part_finish(&writer, &check);
    assert_int_equal(read_part(bytes, size, FRAMES, &check), CAIRN_NOT_FOUND);
}

TEST("a part that is cut short is refused") {
    uint8_t bytes[BYTES];
    uint32_t check;
    make_frames(5);
    const size_t size = write_part(bytes, &check);
    for (size_t cut = 0; cut + 1 < size; ++cut) {
        const cairn_status status = read_part(bytes, cut, FRAMES, &check);
        assert_true(status == CAIRN_MALFORMED || status == CAIRN_NOT_FOUND);
        assert_int_equal(part.frame.count, 0);
        assert_int_equal(part.left_count, 0);
    }
}

TEST("a part for which there is no room says so") {
    uint8_t bytes[BYTES];
    uint32_t check;
    make_frames(6);
    const size_t size = write_part(bytes, &check);
    cairn_part small;
    const uint32_t held = FRAMES;
    const cairn_part_source source = {(void *)(uintptr_t)&held, find};
    assert_int_equal(cairn_part_create(&small, 8), CAIRN_OK);
    small.frame.tick = frames[0].tick;
    assert_int_equal(cairn_part_read(bytes, size, &source, &small, &check), CAIRN_CAPACITY);
    cairn_part_destroy(&small);
    cairn_part_writer writer = cairn_part_write(&frames[0], true, bytes, 64);
    for (uint32_t i = 0; i < BODIES; ++i) {
        cairn_part_enter(&writer, i);
    }
    assert_int_equal(cairn_part_finish(&writer, &check), 0);
}

TEST("numbers of every length come back") {
    uint8_t bytes[BYTES * 4];
    cairn_bits writer = cairn_bits_writer(bytes, sizeof bytes);
    for (uint32_t i = 0; i < 1000; ++i) {
        cairn_bits_code_number(&writer, i % 20, UINT32_MAX >> i % 33 % 32);
        (void)cairn_bits_code_change(&writer, i % 7, (int32_t)i - 500, 500 - (int32_t)(i * i));
    }
    const size_t size = cairn_bits_finish(&writer);
    cairn_bits reader = cairn_bits_reader(bytes, size);
    for (uint32_t i = 0; i < 1000; ++i) {
        assert_int_equal(cairn_bits_code_number(&reader, i % 20, 0), UINT32_MAX >> i % 33 % 32);
        assert_int_equal(
            cairn_bits_code_change(&reader, i % 7, (int32_t)i - 500, 0), 500 - (int32_t)(i * i));
    }
    assert_false(reader.failed);
}
