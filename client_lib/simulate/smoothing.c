// SPDX-License-Identifier: MIT
#include "client_lib/simulate/smoothing.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include <cairn/types.h>

#define STEP_NS 4166667u // 1/240 s
// After so long nothing is left of any offset.
#define STEPS_MAX 960u

static const float SMALL = 0.25f;
static const float LARGE = 1.0f;
static const float KEPT_SMALL = 0.987259f; // 0.95 to the power of 60 / 240
static const float KEPT_LARGE = 0.960185f; // 0.85 likewise
static const float NOTHING = 1e-4f;        // m and rad: no longer worth showing

cairn_status cairn_smoothing_create(cairn_smoothing *smoothing, uint32_t body_capacity) {
    *smoothing = (cairn_smoothing){.capacity = body_capacity};
    smoothing->offsets = calloc(body_capacity, sizeof smoothing->offsets[0]);
    return smoothing->offsets != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_smoothing_destroy(cairn_smoothing *smoothing) {
    free(smoothing->offsets);
    *smoothing = (cairn_smoothing){0};
}

void cairn_smoothing_clear(cairn_smoothing *smoothing) {
    for (uint32_t i = 0; i < smoothing->used; i++) {
        smoothing->offsets[i].id = 0;
    }
    smoothing->used = 0;
    smoothing->error_m = 0;
}

static cairn_smoothing_offset *offset_of(const cairn_smoothing *smoothing, uint32_t id) {
    const uint32_t index = cairn_id_index(id);
    return index < smoothing->capacity ? &smoothing->offsets[index] : NULL;
}

static float length3(const float v[3]) {
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

// out = a b, normalised.
static void multiply(const float a[4], const float b[4], float out[4]) {
    const float q[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
    const float length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) {
        out[i] = length > 0 ? q[i] / length : b[i];
    }
}

static float angle_of(const float q[4]) {
    return 2 * atan2f(length3(q), fabsf(q[3]));
}

// Turns by a share of the angle only, about the same axis, the short way.
static void shorten(float q[4], float share) {
    const float sine = length3(q);
    const float sign = q[3] < 0 ? -1.0f : 1.0f;
    const float half = atan2f(sine, fabsf(q[3])) * share;
    const float scale = sine > 0 ? sign * sinf(half) / sine : 0;
    for (int i = 0; i < 3; i++) {
        q[i] *= scale;
    }
    q[3] = cosf(half);
}

static float kept_of(float error) {
    const float share = (error - SMALL) / (LARGE - SMALL);
    const float blend = share < 0 ? 0 : share > 1 ? 1 : share;
    return KEPT_SMALL + (KEPT_LARGE - KEPT_SMALL) * blend;
}

static void decay(cairn_smoothing_offset *offset, uint32_t steps) {
    float metres = length3(offset->position);
    float radians = angle_of(offset->rotation);
    const float far = metres;
    const float wide = radians;
    for (uint32_t i = 0; i < steps; i++) {
        metres *= kept_of(metres);
        radians *= kept_of(radians);
    }
    for (int i = 0; i < 3; i++) {
        offset->position[i] *= far > 0 ? metres / far : 0;
    }
    shorten(offset->rotation, wide > 0 ? radians / wide : 0);
    offset->id = metres < NOTHING && radians < NOTHING ? 0 : offset->id;
}

static void measure(cairn_smoothing *smoothing) {
    uint32_t used = 0;
    smoothing->error_m = 0;
    for (uint32_t i = 0; i < smoothing->used; i++) {
        const cairn_smoothing_offset *offset = &smoothing->offsets[i];
        if (offset->id != 0) {
            const float metres = length3(offset->position);
            used = i + 1;
            smoothing->error_m = metres > smoothing->error_m ? metres : smoothing->error_m;
        }
    }
    smoothing->used = used;
}

void cairn_smoothing_advance(cairn_smoothing *smoothing, uint64_t now_ns) {
    const uint64_t steps = now_ns > smoothing->at_ns ? (now_ns - smoothing->at_ns) / STEP_NS : 0;
    smoothing->at_ns += steps * STEP_NS;
    if (steps == 0 || smoothing->used == 0) {
        return;
    }
    if (steps > STEPS_MAX) {
        cairn_smoothing_clear(smoothing);
        return;
    }
    for (uint32_t i = 0; i < smoothing->used; i++) {
        if (smoothing->offsets[i].id != 0) {
            decay(&smoothing->offsets[i], (uint32_t)steps);
        }
    }
    measure(smoothing);
}

cairn_smoothing_step cairn_smoothing_add(
    cairn_smoothing *smoothing, const cairn_client_body *before, const cairn_client_body *now) {
    cairn_smoothing_offset *offset = offset_of(smoothing, now->id);
    CAIRN_ASSERT(before->id == now->id && offset != NULL);
    const float *was = before->position;
    const float *is = now->position;
    const float *is_turned = now->rotation;
    const float back[4] = {-is_turned[0], -is_turned[1], -is_turned[2], is_turned[3]};
    const float way[3] = {was[0] - is[0], was[1] - is[1], was[2] - is[2]};
    float turn[4];
    multiply(before->rotation, back, turn);
    const cairn_smoothing_step step = {.moved_m = length3(way), .turned = angle_of(turn)};
    if (step.moved_m < NOTHING && step.turned < NOTHING) {
        return step;
    }
    if (offset->id != now->id) {
        *offset = (cairn_smoothing_offset){.id = now->id, .rotation = {0, 0, 0, 1}};
    }
    for (int i = 0; i < 3; i++) {
        offset->position[i] += way[i];
    }
    multiply(offset->rotation, turn, offset->rotation);
    const uint32_t place = (uint32_t)(offset - smoothing->offsets);
    smoothing->used = smoothing->used > place ? smoothing->used : place + 1;
    const float metres = length3(offset->position);
    smoothing->error_m = metres > smoothing->error_m ? metres : smoothing->error_m;
    return step;
}

void cairn_smoothing_apply(
    const cairn_smoothing *smoothing, cairn_client_body *bodies, uint32_t count) {
    for (uint32_t i = 0; i < count && smoothing->used > 0; i++) {
        cairn_client_body *body = &bodies[i];
        const cairn_smoothing_offset *offset = offset_of(smoothing, body->id);
        if (offset == NULL || offset->id != body->id) {
            continue;
        }
        for (int axis = 0; axis < 3; axis++) {
            body->position[axis] += offset->position[axis];
        }
        multiply(offset->rotation, body->rotation, body->rotation);
    }
}
