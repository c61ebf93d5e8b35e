// SPDX-License-Identifier: MIT
#include "tests/compress/tumble.h"

#include <string.h>

#include <cairn/math.h>

#define FALL_M 0.003f // of a tick, in a tick
#define HALF_M 0.25f
enum { RATE_HZ = 60, RIDERS = 30, RESTING = 40 };

static float uniform(cairn_random *random, float most) {
    return (2.0f * cairn_random_unit(random) - 1.0f) * most;
}

static cairn_vec3 random_vector(cairn_random *random, float most) {
    const float x = uniform(random, most);
    const float y = uniform(random, most);
    const float z = uniform(random, most);
    return cairn_vec3_of(x, y, z);
}

static float *vertical(tumble *t, cairn_vec3 *v) {
    return t->settings.gravity.x < 0.0f ? &v->x : t->settings.gravity.y < 0.0f ? &v->y : &v->z;
}

void tumble_start(tumble *t, uint32_t kind, uint64_t seed) {
    static const cairn_codec_settings settings[TUMBLE_KINDS] = {
        {.quantisation = {0.01f, 7, TUMBLE_COUNT},
            .tick_rate_hz = RATE_HZ,
            .gravity = {-10.0f, 0.0f, 0.0f}},
        {.quantisation = {1.0f / 512.0f, 9, TUMBLE_COUNT},
            .tick_rate_hz = RATE_HZ,
            .gravity = {0.0f, -10.0f, 0.0f}},
        {.quantisation = {CAIRN_POSITION_STEP_MIN, 15, TUMBLE_COUNT},
            .tick_rate_hz = RATE_HZ,
            .gravity = {0.0f, 0.0f, -10.0f}}};
    *t = (tumble){.settings = settings[kind], .random = cairn_random_of(seed)};
    for (uint32_t i = 0; i < TUMBLE_COUNT; ++i) {
        t->bodies[i] =
            (cairn_codec_body){.half_extents = {HALF_M, HALF_M, HALF_M}, .leader = i == 0};
        t->poses[i].position = random_vector(&t->random, 4.0f);
        *vertical(t, &t->poses[i].position) = HALF_M + 3.0f * cairn_random_unit(&t->random);
        const cairn_vec3 turn = random_vector(&t->random, 1.0f);
        t->poses[i].rotation = cairn_quat_normalize(cairn_quat_of(turn.x, turn.y, turn.z, 1.0f));
        t->velocities[i] = random_vector(&t->random, 0.05f);
        t->spins[i] = random_vector(&t->random, 0.05f);
    }
    for (uint32_t i = 0; i < TUMBLE_FRAMES; ++i) {
        tumble_step(t);
    }
}

static void fall(tumble *t, uint32_t i) {
    cairn_pose *pose = &t->poses[i];
    float *height = vertical(t, &pose->position);
    float *speed = vertical(t, &t->velocities[i]);
    *speed = *speed - FALL_M;
    if (*height < HALF_M && *speed < 0.0f) {
        *speed = -0.6f * *speed;
        t->spins[i] = random_vector(&t->random, 0.05f);
    }
    pose->position = cairn_vec3_add(pose->position, t->velocities[i]);
    const cairn_vec3 spin = t->spins[i];
    pose->rotation = cairn_quat_normalize(
        cairn_quat_multiply(cairn_quat_of(spin.x, spin.y, spin.z, 1.0f), pose->rotation));
}

// As one with the first body.
static void ride(tumble *t, uint32_t i, cairn_pose before) {
    const cairn_pose *now = &t->poses[0];
    const cairn_quat turn =
        cairn_quat_multiply(now->rotation, cairn_quat_conjugate(before.rotation));
    const cairn_vec3 arm = cairn_vec3_sub(t->poses[i].position, before.position);
    t->poses[i].position = cairn_vec3_add(now->position, cairn_quat_rotate(turn, arm));
    t->poses[i].rotation = cairn_quat_normalize(cairn_quat_multiply(turn, t->poses[i].rotation));
}

static void step_tick(tumble *t) {
    const cairn_pose before = t->poses[0];
    for (uint32_t i = 0; i < TUMBLE_COUNT - RESTING; ++i) {
        if (i == 0 || i > RIDERS) {
            fall(t, i);
        } else {
            ride(t, i, before);
        }
    }
}

void tumble_step(tumble *t) {
    for (uint32_t tick = 0; tick < TUMBLE_AGE; ++tick) {
        step_tick(t);
    }
    memmove(t->frames[0], t->frames[1], (TUMBLE_FRAMES - 1) * sizeof t->frames[0]);
    for (uint32_t i = 0; i < TUMBLE_COUNT; ++i) {
        t->frames[TUMBLE_FRAMES - 1][i] = cairn_quantise(&t->settings.quantisation, t->poses[i]);
    }
}

cairn_codec_frames tumble_frames(const tumble *t) {
    return (cairn_codec_frames){.count = TUMBLE_COUNT,
        .bodies = t->bodies,
        .baseline = t->frames[2],
        .earlier = t->frames[1],
        .earliest = t->frames[0],
        .ticks = TUMBLE_AGE,
        .ticks_earlier = TUMBLE_AGE,
        .ticks_earliest = TUMBLE_AGE};
}

bool tumble_in_range(const tumble *t, const cairn_quantised_body poses[TUMBLE_COUNT]) {
    for (uint32_t i = 0; i < TUMBLE_COUNT; ++i) {
        for (uint32_t k = 0; k < 3; ++k) {
            if (poses[i].rotation[k] >> t->settings.quantisation.rotation_bits != 0 ||
                poses[i].position[k] > 1000000000 || poses[i].position[k] < -1000000000) {
                return false;
            }
        }
        if (poses[i].largest > 3) {
            return false;
        }
    }
    return true;
}
