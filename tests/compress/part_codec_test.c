// SPDX-License-Identifier: MIT
// Parts of snapshots: what goes in comes out, from any bases; what is no part is refused by name.

#include "tests/kit/test.h"

#include <string.h>

#include "base/random.h"
#include "compress/velocity.h"
#include "tests/compress/frames.h"

static frames_story story; // the client holds all frames but the first
static cairn_part part;

static void make_frames(uint64_t seed) {
    frames_make(&story, seed);
    if (part.left == NULL) {
        assert_int_equal(cairn_part_create(&part, FRAMES_BODIES), CAIRN_OK);
    }
}

static cairn_body_sample find(void *user, uint32_t index, uint64_t tick) {
    const uint32_t *held = user;
    return frames_find(&story, *held, index, tick);
}

static cairn_status read_part(const uint8_t *bytes, size_t size, uint32_t held, uint32_t *check) {
    const cairn_part_source source = {&held, find};
    part.frame.tick = story.frames[0].tick;
    part.frame.tick_rate_hz = 0;
    return cairn_part_read(bytes, size, &source, &part, check);
}

static cairn_quantised_velocity sent[FRAMES_BODIES], received[FRAMES_BODIES];

// Of what moves, from nothing to the fastest; every third part has none.
static void make_velocities(uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    const cairn_snapshot_frame *frame = &story.frames[0];
    for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
        const float v =
            i % 10 == 0 ? CAIRN_SPEED_MAX : (float)cairn_random_below(&random, 9) - 4.0f;
        sent[i] = cairn_velocity_is_coded(frame->flags[i])
                      ? cairn_quantise_velocity((cairn_vec3){v, -v, 0.1f}, (cairn_vec3){0.0f, v, v})
                      : (cairn_quantised_velocity){{0}};
    }
    story.frames[0].velocities = seed % 3 == 0 ? NULL : sent;
    part.frame.velocities = seed % 3 == 0 ? NULL : received;
}

TEST("a part gives the bodies that it was made of") {
    for (uint64_t seed = 1; seed <= 200; ++seed) {
        uint8_t bytes[FRAMES_BYTES];
        uint32_t checks[2];
        make_frames(seed);
        make_velocities(seed);
        const size_t size = frames_write_part(&story, bytes, &checks[0]);
        assert_true(size > 0);
        assert_int_equal(read_part(bytes, size, FRAMES_COUNT, &checks[1]), CAIRN_OK);
        assert_int_equal(checks[0], checks[1]);
        uint32_t s = 0;
        uint32_t left = 0;
        for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
            if (i % 6 == 4) {
                assert_int_equal(part.left[left++], cairn_id_index(story.frames[0].ids[i]));
            } else if (i % 6 != 5) {
                const cairn_snapshot_body a = cairn_snapshot_frame_body(&story.frames[0], i);
                const cairn_snapshot_body b = cairn_snapshot_frame_body(&part.frame, s);
                assert_memory_equal(&a, &b, sizeof a);
                if (part.frame.velocities != NULL) {
                    assert_memory_equal(&sent[i], &received[s], sizeof sent[i]);
                }
                assert_memory_equal(&story.frames[0].bodies[i].half_extents,
                    &part.frame.bodies[s].half_extents, sizeof(cairn_vec3));
                assert_int_equal(part.rested[s], i % 8 == 1 && i % 6 != 0);
                s += 1;
            }
        }
        assert_int_equal(s, part.frame.count);
        assert_int_equal(left, part.left_count);
    }
    story.frames[0].velocities = part.frame.velocities = NULL;
}

// A server's frames have exact poses of all bodies, a client's only of static ones.
TEST("a body that becomes static where it lies keeps its pose") {
    static cairn_quat turned[FRAMES_BODIES];
    cairn_snapshot_frame servers[2];
    for (uint32_t f = 0; f < 2; ++f) {
        assert_int_equal(cairn_snapshot_frame_create(&servers[f], FRAMES_BODIES), CAIRN_OK);
        make_frames(1);
        cairn_snapshot_frame_copy(&story.frames[1], &servers[f]);
    }
    servers[0].tick = story.frames[0].tick;
    for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
        servers[0].flags[i] = 0;
        turned[i] = servers[0].exact[i].rotation;
        if (!cairn_snapshot_body_is_static(servers[1].flags[i])) {
            story.frames[1].exact[i] = (cairn_pose){0};
        }
    }
    uint8_t bytes[FRAMES_BYTES];
    uint32_t checks[2];
    cairn_part_writer writer = cairn_part_write(&servers[0], true, bytes, sizeof bytes);
    for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
        const cairn_body_sample bases[CAIRN_PART_BASES] = {
            {.frame = &servers[1], .place = i, .tick = servers[1].tick}};
        const cairn_part_spans spans = cairn_part_spans_of(&servers[0], bases);
        cairn_part_chunk chunk;
        cairn_part_chunk_of(&servers[0], i, bases, &spans, false, false, &chunk);
        cairn_part_go_on(&writer, i, bases, &spans, &chunk, cairn_part_hash(&servers[0], i));
    }
    const size_t size = cairn_part_finish(&writer, &checks[0]);
    assert_true(size > 0);
    assert_int_equal(read_part(bytes, size, FRAMES_COUNT, &checks[1]), CAIRN_OK);
    assert_int_equal(checks[0], checks[1]);
    for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
        assert_memory_equal(&part.frame.exact[i].rotation, &turned[i], sizeof turned[i]);
    }
    cairn_snapshot_frame_destroy(&servers[0]);
    cairn_snapshot_frame_destroy(&servers[1]);
}

TEST("a part against samples that are not held is refused") {
    uint8_t bytes[FRAMES_BYTES];
    uint32_t check;
    make_frames(3);
    const size_t size = frames_write_part(&story, bytes, &check);
    for (uint32_t held = 1; held < FRAMES_COUNT; ++held) {
        assert_int_equal(read_part(bytes, size, held, &check), CAIRN_NOT_FOUND);
        assert_int_equal(part.frame.count, 0);
    }
}

TEST("a part without settings needs those of another one") {
    uint8_t bytes[FRAMES_BYTES];
    uint32_t check;
    make_frames(4);
    cairn_part_writer writer = cairn_part_write(&story.frames[0], false, bytes, FRAMES_BYTES);
    const size_t size = cairn_part_finish(&writer, &check);
    assert_int_equal(read_part(bytes, size, FRAMES_COUNT, &check), CAIRN_NOT_FOUND);
}

// The pose of a static body that stands would be in steps of its sample, which are others.
TEST("a part in other steps than its samples is refused") {
    uint8_t bytes[FRAMES_BYTES];
    uint32_t check;
    make_frames(7);
    for (uint32_t changed = 0; changed < 2; ++changed) {
        cairn_quantisation *steps = &story.frames[0].quantisation;
        *steps = cairn_quantisation_default();
        steps->position_step_m *= changed == 0 ? 2.0f : 1.0f;
        steps->rotation_bits += changed;
        const size_t size = frames_write_part(&story, bytes, &check);
        assert_int_equal(read_part(bytes, size, FRAMES_COUNT, &check), CAIRN_MALFORMED);
        assert_int_equal(part.frame.count, 0);
    }
}

TEST("a part that is cut short is refused") {
    uint8_t bytes[FRAMES_BYTES];
    uint32_t check;
    make_frames(5);
    const size_t size = frames_write_part(&story, bytes, &check);
    for (size_t cut = 0; cut + 1 < size; ++cut) {
        const cairn_status status = read_part(bytes, cut, FRAMES_COUNT, &check);
        assert_true(status == CAIRN_MALFORMED || status == CAIRN_NOT_FOUND);
        assert_int_equal(part.frame.count, 0);
        assert_int_equal(part.left_count, 0);
    }
}

TEST("a part for which there is no room says so") {
    uint8_t bytes[FRAMES_BYTES];
    uint32_t check;
    make_frames(6);
    const size_t size = frames_write_part(&story, bytes, &check);
    cairn_part small;
    const uint32_t held = FRAMES_COUNT;
    const cairn_part_source source = {(void *)(uintptr_t)&held, find};
    assert_int_equal(cairn_part_create(&small, 8), CAIRN_OK);
    small.frame.tick = story.frames[0].tick;
    assert_int_equal(cairn_part_read(bytes, size, &source, &small, &check), CAIRN_CAPACITY);
    cairn_part_destroy(&small);
    cairn_part_writer writer = cairn_part_write(&story.frames[0], true, bytes, 64);
    for (uint32_t i = 0; i < FRAMES_BODIES; ++i) {
        cairn_part_enter(&writer, i);
    }
    assert_int_equal(cairn_part_finish(&writer, &check), 0);
}

TEST("numbers of every length come back") {
    uint8_t bytes[FRAMES_BYTES * 4];
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

TEST("numbers that are put at once are those that are coded bit by bit") {
    uint8_t bytes[2][FRAMES_BYTES * 4];
    cairn_bits put = cairn_bits_writer(bytes[0], sizeof bytes[0]);
    cairn_bits coded = cairn_bits_writer(bytes[1], sizeof bytes[1]);
    for (uint32_t i = 0; i < 1000; ++i) {
        const uint32_t number = (UINT32_MAX - i) >> i % 33 % 32;
        cairn_bits_put_number(&put, i % 20, number);
        cairn_bits_code_number(&coded, i % 20, number);
    }
    const size_t size = cairn_bits_finish(&put);
    assert_int_equal(size, cairn_bits_finish(&coded));
    assert_memory_equal(bytes[0], bytes[1], size);
}

TEST("a writer fills its room to the last bit and writes nothing beyond") {
    for (uint32_t size = 1; size <= 20; ++size) {
        uint8_t bytes[24];
        memset(bytes, 0xa5, sizeof bytes);
        cairn_bits writer = cairn_bits_writer(bytes, size);
        for (uint32_t i = 0; i < 8 * size; ++i) {
            cairn_bits_put(&writer, 1, 1);
        }
        assert_int_equal(cairn_bits_finish(&writer), size);
        for (uint32_t i = 0; i < sizeof bytes; ++i) {
            assert_int_equal(bytes[i], i < size ? 0xff : 0xa5);
        }
        writer = cairn_bits_writer(bytes, size);
        for (uint32_t i = 0; i <= size; ++i) {
            cairn_bits_put(&writer, 8, 0);
        }
        assert_true(writer.failed);
        assert_int_equal(bytes[size], 0xa5);
    }
}
