// SPDX-License-Identifier: MIT
#include "client_lib/simulate/smoothing.h"

#include <math.h>
#include <stdlib.h>

#include "base/assert.h"
#include <cairn/types.h>

#define STEP_NS 4166667u // 1/240 s

static const float SMALL = 0.25f;
static const float LARGE = 1.0f;
static const float DECAY_SMALL = 0.987259f; // 0.95 to the power of 60 / 240
static const float DECAY_LARGE = 0.960185f; // 0.85 to the power of 60 / 240
static const float INVISIBLE = 1e-4f;       // m and rad

cairn_status cairn_smoothing_create(cairn_smoothing *smoothing, uint32_t body_capacity) {
    CAIRN_ASSERT(body_capacity > 0);
    *smoothing = (cairn_smoothing){.capacity = body_capacity};
    smoothing->offsets = calloc(body_capacity, sizeof smoothing->offsets[0]);
    return smoothing->offsets != NULL ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

void cairn_smoothing_destroy(cairn_smoothing *smoothing) {
    free(smoothing->offsets);
    *smoothing = (cairn_smoothing){0};
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

// Rotates by a fraction of the angle only, about the same axis, the short way.
static void scale_angle(float q[4], float fraction) {
    CAIRN_ASSERT(fraction >= 0 && fraction <= 1);
    const float sine = length3(q);
    const float sign = q[3] < 0 ? -1.0f : 1.0f;
    const float half = atan2f(sine, fabsf(q[3])) * fraction;
    const float scale = sine > 0 ? sign * sinf(half) / sine : 0;
    for (int i = 0; i < 3; i++) {
        q[i] *= scale;
    }
    q[3] = cosf(half);
}

static float decay_factor(float error) {
    CAIRN_ASSERT(error >= 0);
    const float fraction = (error - SMALL) / (LARGE - SMALL);
    const float blend = fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
    return DECAY_SMALL + (DECAY_LARGE - DECAY_SMALL) * blend;
}

static void decay(cairn_smoothing_offset *offset, uint64_t steps) {
    float metres = length3(offset->position);
    float radians = angle_of(offset->rotation);
    const float metres_before = metres;
    const float radians_before = radians;
    for (uint64_t i = 0; i < steps && (metres >= INVISIBLE || radians >= INVISIBLE); i++) {
        metres *= decay_factor(metres);
        radians *= decay_factor(radians);
    }
    for (int i = 0; i < 3; i++) {
        offset->position[i] *= metres_before > 0 ? metres / metres_before : 0;
    }
    scale_angle(offset->rotation, radians_before > 0 ? radians / radians_before : 0);
    offset->id = metres < INVISIBLE && radians < INVISIBLE ? 0 : offset->id;
}

static void update_largest(cairn_smoothing *smoothing) {
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
    CAIRN_ASSERT(used <= smoothing->capacity && smoothing->error_m >= 0);
    smoothing->used = used;
}

void cairn_smoothing_advance(cairn_smoothing *smoothing, uint64_t now_ns) {
    const uint64_t steps =
        now_ns > smoothing->decayed_ns ? (now_ns - smoothing->decayed_ns) / STEP_NS : 0;
    smoothing->decayed_ns += steps * STEP_NS;
    if (steps == 0 || smoothing->used == 0) {
        return;
    }
    for (uint32_t i = 0; i < smoothing->used; i++) {
        if (smoothing->offsets[i].id != 0) {
            decay(&smoothing->offsets[i], steps);
        }
    }
    update_largest(smoothing);
}

cairn_smoothing_step cairn_smoothing_add(
    cairn_smoothing *smoothing, const cairn_client_body *before, const cairn_client_body *now) {
    cairn_smoothing_offset *offset = offset_of(smoothing, now->id);
    CAIRN_ASSERT(before->id == now->id && offset != NULL);
    const float *from = now->position;
    const float *to = before->position;
    const float *rotation = now->rotation;
    const float inverse[4] = {-rotation[0], -rotation[1], -rotation[2], rotation[3]};
    const float displacement[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    float delta_rotation[4];
    multiply(before->rotation, inverse, delta_rotation);
    const cairn_smoothing_step step = {
        .distance_m = length3(displacement), .angle = angle_of(delta_rotation)};
    if (step.distance_m < INVISIBLE && step.angle < INVISIBLE) {
        return step;
    }
    if (offset->id != now->id) {
        *offset = (cairn_smoothing_offset){.id = now->id, .rotation = {0, 0, 0, 1}};
    }
    for (int i = 0; i < 3; i++) {
        offset->position[i] += displacement[i];
    }
    multiply(offset->rotation, delta_rotation, offset->rotation);
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
