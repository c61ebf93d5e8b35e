// SPDX-License-Identifier: MIT
#include "tests/compress/words.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/random.h"
#include "sim/math/packed_rotation.h"

enum { SLOTS = WORDS_BODIES + WORDS_BODIES / 4 };

typedef struct body {
    uint32_t slot;
    float position[3];
    cairn_packed_rotation rotation;
} body;

static float eighth(cairn_random *random) {
    return (float)(int32_t)(cairn_random_below(random, 2001) - 1000) / 8.0f;
}

// What sums, products, roots and quotients of small integers make, which are exactly rounded.
static cairn_quat turn(cairn_random *random) {
    float parts[4];
    for (uint32_t k = 0; k < 4; ++k) {
        parts[k] = (float)(int32_t)cairn_random_below(random, 201) - 100.0f;
    }
    return quat_normalize((cairn_quat){parts[0], parts[1], parts[2], parts[3] + 0.5f});
}

static void write_bodies(cairn_writer *writer, cairn_random *random, body bodies[WORDS_BODIES]) {
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < SLOTS; ++slot) {
        const bool taken = slot % 5 != 3 && count < WORDS_BODIES;
        cairn_write_u32(writer, taken ? 0x80000001u : 2u);
        if (taken) {
            bodies[count++].slot = slot;
        }
    }
    CAIRN_ASSERT(count == WORDS_BODIES);
    for (uint32_t i = 0; i < WORDS_BODIES; ++i) {
        body *b = &bodies[i];
        for (uint32_t k = 0; k < 3; ++k) {
            b->position[k] = eighth(random);
            cairn_write_f32(writer, b->position[k]);
        }
        for (uint32_t k = 0; k < 3; ++k) { // a centre that is seldom elsewhere
            cairn_write_f32(writer, b->position[k] + (i % 16 == 7 ? 0.5f : 0.0f));
        }
        const cairn_quat q = turn(random);
        const float rotation[] = {q.x, q.y, q.z, q.w};
        b->rotation = packed_rotation_pack(q, CAIRN_PACKED_COARSE);
        for (uint32_t k = 0; k < 4; ++k) {
            cairn_write_f32(writer, rotation[k]);
        }
        for (uint32_t k = 0; k < 6; ++k) {
            cairn_write_u32(writer, i % 3 == 0 ? (uint32_t)cairn_random_next(random) : 0);
        }
    }
}

// Some of the steps of the grid of reference poses.
static float steps(cairn_random *random) {
    return ((float)(int32_t)cairn_random_below(random, 61) - 30.0f) / 32768.0f;
}

static void write_poses(cairn_writer *writer, cairn_random *random, body bodies[WORDS_BODIES]) {
    for (uint32_t i = 0; i < WORDS_BODIES; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            bodies[i].position[k] += steps(random); // of the grid
            cairn_write_f32(writer, bodies[i].position[k]);
        }
        cairn_write_u32s(writer, bodies[i].rotation.words, 2);
    }
}

// Friction along two axes of a body whose third axis is the normal, as the solver stores it.
static cairn_vec3 friction_on(
    cairn_random *random, cairn_packed_rotation rotation, uint32_t axis, float normal_impulse) {
    const cairn_quat q = packed_rotation_unpack(rotation);
    const float along = (float)(int32_t)cairn_random_below(random, 4001) - 2000.0f;
    const float across = (float)(int32_t)cairn_random_below(random, 4001) - 2000.0f;
    const float parts[3] = {0.0f, along * 0.0001f, across * 0.0001f};
    const cairn_vec3 friction =
        quat_rotate(q, vec3(parts[(3 - axis) % 3], parts[(4 - axis) % 3], parts[(5 - axis) % 3]));
    const float coarse = 64.0f * normal_impulse;
    return vec3(
        friction.x + coarse - coarse, friction.y + coarse - coarse, friction.z + coarse - coarse);
}

// 18 digits.
static uint32_t impulse_word(cairn_random *random) {
    return 0x3f000000u + ((uint32_t)cairn_random_below(random, 1 << 14) << 6);
}

static float float_of_word(uint32_t word) {
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static void write_impulses(
    cairn_writer *writer, cairn_random *random, const body *a, const body *b, uint32_t axis_hint) {
    float sum = 0.0f;
    for (uint32_t k = 0; k < 4; ++k) {
        const uint32_t impulse = impulse_word(random);
        sum += float_of_word(impulse);
        cairn_write_u32(writer, axis_hint << 6 | k << 2 | (uint32_t)cairn_random_below(random, 4));
        cairn_write_u32(writer, impulse);
    }
    const cairn_packed_rotation rotation = axis_hint <= 3 ? a->rotation : b->rotation;
    const cairn_vec3 friction = friction_on(random, rotation, (axis_hint - 1) % 3, sum);
    cairn_write_f32(writer, friction.x);
    cairn_write_f32(writer, friction.y);
    cairn_write_f32(writer, friction.z);
    cairn_write_u32(writer, impulse_word(random));
    cairn_write_zeros(writer, 4 * sizeof(uint32_t));
}

static void write_contact(
    cairn_writer *writer, cairn_random *random, const body *a, const body *b) {
    const uint32_t axis_hint = 1 + (uint32_t)cairn_random_below(random, 6);
    cairn_write_u32(writer, a->slot + 1);
    cairn_write_u32(writer, b->slot + 1);
    cairn_write_u32(writer, a->slot + 1);
    cairn_write_u32(writer, b->slot + 1);
    cairn_write_u32(writer, 0);
    cairn_write_u32(writer, axis_hint);
    cairn_write_u32(writer, 4);
    cairn_write_zeros(writer, 2 * sizeof(uint32_t));
    for (uint32_t k = 0; k < 3; ++k) {
        cairn_write_f32(writer, b->position[k] - a->position[k] + steps(random));
    }
    cairn_write_u32s(writer, a->rotation.words, 2);
    cairn_packed_rotation turned = b->rotation;
    turned.words[0] += (uint32_t)cairn_random_below(random, 16);
    turned.words[1] ^= (uint32_t)cairn_random_below(random, 8) / 7;
    cairn_write_u32s(writer, turned.words, 2);
    write_impulses(writer, random, a, &(body){.rotation = turned}, axis_hint);
}

void words_make(words_state *out, uint64_t seed) {
    static const cairn_word_group groups[WORDS_GROUPS] = {{CAIRN_WORDS_PLAIN, 2, 1},
        {CAIRN_WORDS_BODY_SLOTS, 1, SLOTS}, {CAIRN_WORDS_MOTIONS, 16, WORDS_BODIES},
        {CAIRN_WORDS_REFERENCE_POSES, 5, WORDS_BODIES}, {CAIRN_WORDS_PLAIN, 9, 0},
        {CAIRN_WORDS_PLAIN, 3, 40}, {CAIRN_WORDS_CONTACTS, 32, WORDS_CONTACTS}};
    body bodies[WORDS_BODIES];
    cairn_random random = cairn_random_of(seed);
    cairn_writer writer = cairn_writer_of(out->bytes, sizeof out->bytes);
    memcpy(out->groups, groups, sizeof groups);
    cairn_write_u32(&writer, 0x574e5243u);
    cairn_write_u32(&writer, 7);
    write_bodies(&writer, &random, bodies);
    write_poses(&writer, &random, bodies);
    for (uint32_t i = 0; i < 40; ++i) {
        cairn_write_u32(&writer, i);
        cairn_write_u32(&writer, 1000 - 3 * i);
        cairn_write_u32(&writer, (uint32_t)cairn_random_next(&random));
    }
    for (uint32_t i = 0; i < WORDS_CONTACTS; ++i) {
        write_contact(&writer, &random, &bodies[i * 2 / 3 % WORDS_BODIES],
            &bodies[(i * 7 + 1) % WORDS_BODIES]);
    }
    CAIRN_ASSERT(writer.ok);
    out->size = writer.at;
}
