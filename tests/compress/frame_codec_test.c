// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include <cairn/math.h>

#include "base/random.h"
#include "compress/frame_codec.h"
#include "compress/velocity.h"
#include "tests/kit/exact.h"

enum { ROOM = 200, HELD = 8, PACKET_MAX = 1 << 16 };

static cairn_frame_codec *codec_of(uint32_t capacity) {
    cairn_frame_codec *codec;
    assert_int_equal(cairn_frame_codec_create(capacity, &codec), CAIRN_OK);
    return codec;
}

static cairn_snapshot_frame frame_of(uint32_t capacity) {
    cairn_snapshot_frame frame;
    assert_int_equal(cairn_snapshot_frame_create(&frame, capacity), CAIRN_OK);
    frame.tick_rate_hz = 60;
    frame.quantisation = cairn_quantisation_default();
    frame.gravity = (cairn_vec3){0.0f, -10.0f, 0.0f};
    return frame;
}

static void expect_equal(const cairn_snapshot_frame *a, const cairn_snapshot_frame *b) {
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->tick_rate_hz, b->tick_rate_hz);
    assert_memory_equal(a->ids, b->ids, a->count * sizeof *a->ids);
    assert_memory_equal(a->flags, b->flags, a->count * sizeof *a->flags);
    assert_memory_equal(a->users, b->users, a->count * sizeof *a->users);
    assert_memory_equal(a->poses, b->poses, a->count * sizeof *a->poses);
    for (uint32_t i = 0; i < a->count; ++i) {
        const cairn_snapshot_body x = cairn_snapshot_frame_body(a, i),
                                  y = cairn_snapshot_frame_body(b, i);
        assert_memory_equal(&x, &y, sizeof x);
    }
    for (uint32_t i = 0; i < a->count; ++i) {
        assert_memory_equal(
            &a->bodies[i].half_extents, &b->bodies[i].half_extents, sizeof(cairn_vec3));
        assert_int_equal(a->bodies[i].leader, b->bodies[i].leader);
    }
    assert_memory_equal(&a->gravity, &b->gravity, sizeof a->gravity);
    assert_memory_equal(&a->quantisation, &b->quantisation, sizeof a->quantisation);
    assert_int_equal(cairn_snapshot_frame_check(a), cairn_snapshot_frame_check(b));
}

// ---- Any histories: bodies come, go, move, fall asleep and change in other ways.

typedef struct sketch {
    bool lives;
    uint32_t generation;
    cairn_snapshot_body body;
    cairn_vec3 half_extents;
} sketch;

static float unit(cairn_random *random) {
    return cairn_random_unit(random);
}

static void draw_body(cairn_random *random, sketch *s, uint32_t index) {
    s->lives = true;
    s->generation += 1;
    s->body = (cairn_snapshot_body){.id = s->generation << CAIRN_ID_INDEX_BITS | (index + 1),
        .flags = (uint32_t)cairn_random_below(random, 64 << CAIRN_SNAPSHOT_BODY_OWNER_SHIFT),
        .position = {50.0f * unit(random), 10.0f * unit(random), -50.0f * unit(random)},
        .rotation = cairn_quat_normalize(
            cairn_quat_of(unit(random) - 0.5f, unit(random) - 0.5f, unit(random) - 0.5f, 0.5f))};
    s->half_extents = (cairn_vec3){unit(random), unit(random), 200.0f * unit(random)};
}

static void change(cairn_random *random, sketch *s, uint32_t index, uint32_t haste) {
    if (cairn_random_below(random, 100) >= haste) {
        return;
    }
    switch (cairn_random_below(random, s->lives ? 7 : 2)) {
    case 0:
        s->lives = false;
        break;
    case 1:
        draw_body(random, s, index);
        break;
    case 2:
        s->body.flags ^= 1u << cairn_random_below(random, 13);
        break;
    case 3:
        s->body.user = (uint32_t)cairn_random_next(random);
        break;
    case 4:
        s->half_extents.x = 5.0f * unit(random);
        break;
    default:
        s->body.position.x += unit(random);
        s->body.flags |= CAIRN_SNAPSHOT_BODY_AWAKE;
    }
}

static void draw_frame(cairn_snapshot_frame *frame, const sketch *sketches, uint64_t tick) {
    frame->tick = tick;
    frame->count = 0;
    for (uint32_t i = 0; i < ROOM; ++i) {
        if (sketches[i].lives) {
            const cairn_vec3 extents =
                cairn_snapshot_extents(&frame->quantisation, sketches[i].half_extents);
            cairn_snapshot_frame_add(frame, &sketches[i].body, extents);
        }
    }
}

// Of every body that has one; the others are 0. Mostly small.
static void draw_velocities(
    cairn_random *random, const cairn_snapshot_frame *frame, cairn_quantised_velocity *out) {
    for (uint32_t i = 0; i < frame->count; ++i) {
        const float scale = cairn_random_below(random, 20) == 0 ? CAIRN_SPEED_MAX : 3.0f;
        const float v = scale * (2.0f * unit(random) - 1.0f);
        out[i] =
            cairn_velocity_is_coded(frame->flags[i])
                ? cairn_quantise_velocity((cairn_vec3){v, 0.5f * v, -v}, (cairn_vec3){-v, 0.0f, v})
                : (cairn_quantised_velocity){{0}};
    }
}

typedef struct history {
    sketch sketches[ROOM];
    cairn_snapshot_frame sent[HELD], received[HELD];
    uint32_t count;
} history;

static history *history_create(void) {
    history *h = calloc(1, sizeof *h);
    assert_non_null(h);
    for (uint32_t i = 0; i < HELD; ++i) {
        h->sent[i] = frame_of(ROOM);
        h->received[i] = frame_of(ROOM);
    }
    return h;
}

static void history_destroy(history *h) {
    for (uint32_t i = 0; i < HELD; ++i) {
        cairn_snapshot_frame_destroy(&h->sent[i]);
        cairn_snapshot_frame_destroy(&h->received[i]);
    }
    free(h);
}

// Three of those held, newest first; the oldest again where there are no more.
static cairn_frame_bases draw_bases(
    cairn_random *random, const cairn_snapshot_frame *frames, uint32_t count) {
    const uint32_t a = (uint32_t)cairn_random_below(random, count);
    const uint32_t b = a == 0 ? 0 : (uint32_t)cairn_random_below(random, a);
    const uint32_t c = b == 0 ? 0 : (uint32_t)cairn_random_below(random, b);
    return (cairn_frame_bases){&frames[a], &frames[b], &frames[c]};
}

static void play_history(uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    cairn_random of_receiver = random;
    cairn_frame_codec *sender = codec_of(ROOM), *receiver = codec_of(ROOM);
    history *h = history_create();
    uint8_t *bytes = malloc(PACKET_MAX);
    const uint32_t haste = seed % 4 == 0 ? 0 : seed % 4 == 1 ? 1 : 20;
    for (uint32_t i = 0; i < ROOM; i += 1 + (uint32_t)(seed % 3)) {
        draw_body(&random, &h->sketches[i], i);
    }
    for (uint32_t i = 0; i < HELD; ++i) {
        h->sent[i].quantisation.coded_together_max = seed % 2 == 0 ? 2 : ROOM;
    }
    for (; h->count < HELD; ++h->count) {
        cairn_snapshot_frame *sent = &h->sent[h->count];
        cairn_snapshot_frame *received = &h->received[h->count];
        for (uint32_t i = 0; i < ROOM; ++i) {
            change(&random, &h->sketches[i], i, haste);
        }
        if (cairn_random_below(&random, 10) == 0) {
            sent->gravity.x += 1.0f;
        }
        draw_frame(sent, h->sketches, 10 + 3 * h->count);
        received->tick = sent->tick;
        cairn_quantised_velocity velocities[2][ROOM];
        if (seed % 3 == 1) {
            sent->velocities = velocities[0];
            received->velocities = velocities[1];
            draw_velocities(&random, sent, velocities[0]);
            memset(velocities[1], 0xff, sizeof velocities[1]);
        }
        cairn_frame_bases from = {0}, to = {0};
        if (h->count > 0 && seed % 5 != 0) {
            of_receiver = random;
            from = draw_bases(&random, h->sent, h->count);
            to = draw_bases(&of_receiver, h->received, h->count);
        }
        const size_t size = cairn_frame_encode(sender, &from, sent, bytes, PACKET_MAX);
        assert_true(size > 0);
        uint8_t *exact = kit_exact_copy(bytes, size);
        assert_int_equal(cairn_frame_decode(receiver, &to, exact, size, received), CAIRN_OK);
        expect_equal(sent, received);
        assert_int_equal(cairn_frame_encode(sender, &from, sent, bytes, size - 1), 0);
        free(exact);
        if (sent->velocities != NULL) {
            assert_memory_equal(
                velocities[0], velocities[1], sent->count * sizeof velocities[0][0]);
            sent->velocities = received->velocities = NULL;
        }
    }
    free(bytes);
    history_destroy(h);
    cairn_frame_codec_destroy(sender);
    cairn_frame_codec_destroy(receiver);
}

TEST("frames of any histories come back as they were, from any bases") {
    for (uint64_t seed = 0; seed < (test_is_thorough() ? 400 : 60); ++seed) {
        play_history(seed);
    }
}

// A body in free fall: both ends expect how fast it is, so its velocity costs little. One that
// sleeps costs nothing.
TEST("velocities that follow from poses cost a few bits") {
    enum { BODIES = 100 };
    cairn_snapshot_frame frames[4];
    cairn_quantised_velocity velocities[BODIES];
    cairn_frame_codec *codec = codec_of(ROOM);
    size_t sizes[3][2];
    for (uint32_t kind = 0; kind < 3; ++kind) { // awake, asleep, awake and unexpected
        const uint32_t flags =
            CAIRN_BODY_DYNAMIC << CAIRN_SNAPSHOT_BODY_KIND_SHIFT | (kind != 1 ? 1u : 0u);
        for (uint32_t f = 0; f < 4; ++f) {
            frames[f] = frame_of(ROOM);
            frames[f].tick = 30 + 3 * f;
            const float t = 0.05f * (float)f;
            for (uint32_t i = 0; i < BODIES; ++i) {
                const float v = kind == 1 ? 0.0f : 0.1f * (float)i;
                const float fall = kind == 1 ? 0.0f : 10.0f;
                const cairn_snapshot_body body = {.id = i + 1,
                    .flags = flags,
                    .position = {2.0f * (float)i + v * t, 50.0f - 0.5f * fall * t * t, 0.0f},
                    .rotation = cairn_quat_identity()};
                cairn_snapshot_frame_add(&frames[f], &body, (cairn_vec3){0.5f, 0.5f, 0.5f});
                velocities[i] = cairn_quantise_velocity(
                    (cairn_vec3){kind == 2 ? (float)(i * i % 17) : v, -fall * t, 0.0f},
                    (cairn_vec3){0.0f, 0.0f, 0.0f});
            }
        }
        const cairn_frame_bases bases = {&frames[2], &frames[1], &frames[0]};
        for (uint32_t with = 0; with < 2; ++with) {
            uint8_t bytes[4096];
            frames[3].velocities = with != 0 ? velocities : NULL;
            sizes[kind][with] = cairn_frame_encode(codec, &bases, &frames[3], bytes, sizeof bytes);
            assert_true(sizes[kind][with] > 0);
        }
        for (uint32_t f = 0; f < 4; ++f) {
            cairn_snapshot_frame_destroy(&frames[f]);
        }
    }
    cairn_frame_codec_destroy(codec);
    assert_in_range(sizes[0][1] - sizes[0][0], 20, 2 * BODIES);
    assert_int_equal(sizes[1][1], sizes[1][0]);
    assert_true(sizes[2][1] > sizes[0][1] + BODIES);
}

// ---- Bytes that no encoder wrote

TEST("any bytes give a frame with room, or are refused") {
    cairn_random random = cairn_random_of(7);
    cairn_frame_codec *codec = codec_of(ROOM);
    cairn_snapshot_frame baseline = frame_of(ROOM), out = frame_of(ROOM);
    sketch *sketches = calloc(ROOM, sizeof *sketches);
    uint32_t outcomes[3] = {0, 0, 0};
    for (uint32_t i = 0; i < ROOM / 2; ++i) {
        draw_body(&random, &sketches[i], i);
    }
    draw_frame(&baseline, sketches, 5);
    for (uint32_t round = 0; round < 12000; ++round) {
        uint8_t bytes[100];
        for (uint32_t i = 0; i < sizeof bytes; ++i) {
            bytes[i] = (uint8_t)cairn_random_next(&random);
        }
        const cairn_frame_bases whole = {&baseline, &baseline, &baseline}, none = {0};
        const size_t size = cairn_random_below(&random, sizeof bytes);
        out.tick = 9;
        uint8_t *exact = kit_exact_copy(bytes, size);
        const cairn_status status =
            cairn_frame_decode(codec, round % 2 == 0 ? &whole : &none, exact, size, &out);
        free(exact);
        assert_true(status == CAIRN_OK || out.count == 0);
        for (uint32_t i = 1; i < out.count; ++i) {
            assert_true(cairn_id_index(out.ids[i - 1]) < cairn_id_index(out.ids[i]));
        }
        outcomes[status == CAIRN_OK ? 0 : status == CAIRN_CAPACITY ? 1 : 2] += 1;
    }
    assert_true(outcomes[0] > 0 && outcomes[1] > 0 && outcomes[2] > 0);
    free(sketches);
    cairn_snapshot_frame_destroy(&baseline);
    cairn_snapshot_frame_destroy(&out);
    cairn_frame_codec_destroy(codec);
}

TEST("a receiver with room for fewer bodies is told so") {
    cairn_random random = cairn_random_of(8);
    cairn_frame_codec *codec = codec_of(ROOM);
    cairn_snapshot_frame frame = frame_of(ROOM), small = frame_of(9);
    sketch *sketches = calloc(ROOM, sizeof *sketches);
    uint8_t bytes[4096];
    for (uint32_t i = 0; i < 10; ++i) {
        draw_body(&random, &sketches[i], i);
    }
    draw_frame(&frame, sketches, 5);
    const cairn_frame_bases none = {0}, same = {&frame, &frame, &frame};
    size_t size = cairn_frame_encode(codec, &none, &frame, bytes, sizeof bytes);
    assert_int_equal(cairn_frame_decode(codec, &none, bytes, size, &small), CAIRN_CAPACITY);
    size = cairn_frame_encode(codec, &same, &frame, bytes, sizeof bytes);
    assert_true(size <= 2); // nothing changed
    assert_int_equal(cairn_frame_decode(codec, &same, bytes, size, &small), CAIRN_CAPACITY);
    // One of many goes: those that stay are too many already.
    cairn_snapshot_frame many = frame_of(ROOM), fewer = frame_of(ROOM);
    for (uint32_t i = 10; i < ROOM; ++i) {
        draw_body(&random, &sketches[i], i);
    }
    draw_frame(&many, sketches, 5);
    sketches[3].lives = false;
    draw_frame(&fewer, sketches, 6);
    const cairn_frame_bases before = {&many, &many, &many};
    size = cairn_frame_encode(codec, &before, &fewer, bytes, sizeof bytes);
    assert_true(size > 0);
    assert_int_equal(cairn_frame_decode(codec, &before, bytes, size, &small), CAIRN_CAPACITY);
    cairn_snapshot_frame_destroy(&many);
    cairn_snapshot_frame_destroy(&fewer);
    free(sketches);
    cairn_snapshot_frame_destroy(&frame);
    cairn_snapshot_frame_destroy(&small);
    cairn_frame_codec_destroy(codec);
}

TEST("bodies far outside the world, moving and static, are shown at its end") {
    const float far[] = {1e5f, 1e9f, 3e38f, -3e38f};
    cairn_frame_codec *codec = codec_of(ROOM);
    cairn_snapshot_frame frames[2] = {frame_of(ROOM), frame_of(ROOM)}, out = frame_of(ROOM);
    uint8_t bytes[4096];
    for (uint32_t i = 0; i < 2; ++i) {
        frames[i].tick = 5 + i;
        frames[i].quantisation.position_step_m = 1e-4f;
        for (uint32_t k = 0; k < 8; ++k) {
            const float x = i == 0 ? 0.0f : far[k % 4];
            const cairn_snapshot_body body = {.id = 1u << CAIRN_ID_INDEX_BITS | (k + 1),
                .flags = k < 4 ? 0 : CAIRN_BODY_DYNAMIC << CAIRN_SNAPSHOT_BODY_KIND_SHIFT,
                .position = {x, -x, x},
                .rotation = {0.0f, 0.0f, 0.0f, 1.0f}};
            const cairn_vec3 extents =
                cairn_snapshot_extents(&frames[i].quantisation, (cairn_vec3){3e38f, 0.0f, 1.0f});
            cairn_snapshot_frame_add(&frames[i], &body, extents);
        }
    }
    const cairn_frame_bases none = {0}, first = {&frames[0], &frames[0], &frames[0]};
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_frame_bases *bases = i == 0 ? &none : &first;
        const size_t size = cairn_frame_encode(codec, bases, &frames[i], bytes, sizeof bytes);
        assert_true(size > 0);
        out.tick = frames[i].tick;
        assert_int_equal(cairn_frame_decode(codec, bases, bytes, size, &out), CAIRN_OK);
        expect_equal(&frames[i], &out);
    }
    assert_true(cairn_snapshot_frame_body(&out, 5).position.x > 9.9e4f);
    cairn_snapshot_frame_destroy(&frames[0]);
    cairn_snapshot_frame_destroy(&frames[1]);
    cairn_snapshot_frame_destroy(&out);
    cairn_frame_codec_destroy(codec);
}

TEST("a body that comes from outside the range of poses is refused") {
    static uint8_t packet[PACKET_MAX];
    cairn_frame_codec *codec = codec_of(1);
    cairn_snapshot_frame sent = frame_of(1), received = frame_of(1);
    const cairn_snapshot_body body = {.id = 1,
        .flags = CAIRN_BODY_DYNAMIC << CAIRN_SNAPSHOT_BODY_KIND_SHIFT,
        .rotation = cairn_quat_identity()};
    const cairn_frame_bases none = {0};
    cairn_snapshot_frame_add(&sent, &body, cairn_vec3_zero());
    for (int32_t beyond = -1; beyond <= 1; ++beyond) {
        sent.poses[0].position[2] =
            (CAIRN_QUANTISED_MAX + (beyond == 0 ? 0 : 1)) * (beyond < 0 ? -1 : 1);
        const size_t size = cairn_frame_encode(codec, &none, &sent, packet, sizeof packet);
        assert_int_equal(cairn_frame_decode(codec, &none, packet, size, &received),
            beyond == 0 ? CAIRN_OK : CAIRN_MALFORMED);
    }
    cairn_snapshot_frame_destroy(&sent);
    cairn_snapshot_frame_destroy(&received);
    cairn_frame_codec_destroy(codec);
}

TEST("the check of a frame depends on each word of each body") {
    cairn_random random = cairn_random_of(9);
    cairn_snapshot_frame frame = frame_of(ROOM);
    sketch *sketches = calloc(ROOM, sizeof *sketches);
    for (uint32_t i = 0; i < 70; ++i) {
        draw_body(&random, &sketches[i], i);
    }
    draw_frame(&frame, sketches, 5);
    const uint32_t check = cairn_snapshot_frame_check(&frame);
    for (uint32_t i = 0; i < 70; i += 23) {
        frame.poses[i].position[2] ^= 1;
        assert_int_not_equal(cairn_snapshot_frame_check(&frame), check);
        frame.poses[i].position[2] ^= 1;
        frame.poses[i].largest ^= 1;
        assert_int_not_equal(cairn_snapshot_frame_check(&frame), check);
        frame.poses[i].largest ^= 1;
        frame.flags[i] ^= 1;
        assert_int_not_equal(cairn_snapshot_frame_check(&frame), check);
        frame.flags[i] ^= 1;
        assert_int_equal(cairn_snapshot_frame_check(&frame), check);
    }
    free(sketches);
    cairn_snapshot_frame_destroy(&frame);
}

// ---- What they cost

// The bodies of the challenge's scene as they lie at the start.
static void add_grid(cairn_snapshot_frame *frame) {
    cairn_random random = cairn_random_of(3);
    for (uint32_t i = 0; i < 901; ++i) {
        const float x = (float)(i % 30) - 14.5f, z = (float)(i / 30) - 14.5f;
        const float turn = 0.01f * unit(&random);
        const cairn_snapshot_body body = {.id = 1u << CAIRN_ID_INDEX_BITS | (i + 1),
            .flags = CAIRN_BODY_DYNAMIC << CAIRN_SNAPSHOT_BODY_KIND_SHIFT,
            .position = {x + 0.2f * unit(&random), 0.2f, z + 0.2f * unit(&random)},
            .rotation = cairn_quat_normalize(cairn_quat_of(0.0f, turn, 0.0f, 1.0f))};
        cairn_snapshot_frame_add(frame, &body, (cairn_vec3){0.25f, 0.25f, 0.25f});
    }
}

TEST("a keyframe of 901 resting bodies takes less than 9 kB, and a rest that goes on two bytes") {
    cairn_frame_codec *codec = codec_of(901);
    cairn_snapshot_frame frame = frame_of(901);
    uint8_t bytes[16384];
    add_grid(&frame);
    frame.tick = 4;
    const cairn_frame_bases none = {0}, same = {&frame, &frame, &frame};
    const size_t size = cairn_frame_encode(codec, &none, &frame, bytes, sizeof bytes);
    print_message("keyframe: %zu bytes\n", size);
    assert_in_range(size, 901, 8999);
    frame.tick = 5;
    assert_in_range(cairn_frame_encode(codec, &same, &frame, bytes, sizeof bytes), 1, 2);
    cairn_snapshot_frame_destroy(&frame);
    cairn_frame_codec_destroy(codec);
}
