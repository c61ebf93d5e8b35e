// SPDX-License-Identifier: MIT
#include "compress/velocity.h"

#include <cairn/math.h>

static int32_t nearest_step(float steps) {
    const float limit = (float)CAIRN_QUANTISED_SPEED_MAX;
    steps = cairn_float_clamp(steps, -limit, limit);
    return (int32_t)(steps < 0.0f ? steps - 0.5f : steps + 0.5f);
}

static void quantise(cairn_vec3 v, float step, int32_t out[3]) {
    out[0] = nearest_step(v.x / step);
    out[1] = nearest_step(v.y / step);
    out[2] = nearest_step(v.z / step);
}

cairn_quantised_velocity cairn_quantise_velocity(cairn_vec3 linear, cairn_vec3 angular) {
    cairn_quantised_velocity out;
    quantise(linear, CAIRN_LINEAR_STEP, out.steps);
    quantise(angular, CAIRN_ANGULAR_STEP, out.steps + 3);
    return out;
}

void cairn_dequantise_velocity(
    const cairn_quantised_velocity *velocity, cairn_snapshot_body *body) {
    const int32_t *s = velocity->steps;
    body->linear_velocity =
        cairn_vec3_scale((cairn_vec3){(float)s[0], (float)s[1], (float)s[2]}, CAIRN_LINEAR_STEP);
    body->angular_velocity =
        cairn_vec3_scale((cairn_vec3){(float)s[3], (float)s[4], (float)s[5]}, CAIRN_ANGULAR_STEP);
}

bool cairn_velocity_in_range(const cairn_quantised_velocity *velocity) {
    for (uint32_t i = 0; i < CAIRN_VELOCITY_COMPONENTS; ++i) {
        if (velocity->steps[i] < -CAIRN_QUANTISED_SPEED_MAX ||
            velocity->steps[i] > CAIRN_QUANTISED_SPEED_MAX) {
            return false;
        }
    }
    return true;
}

// A kinematic body that moves is not awake in the sense of sleep.
bool cairn_velocity_is_coded(uint32_t flags) {
    const uint32_t kind = flags >> CAIRN_SNAPSHOT_BODY_KIND_SHIFT & CAIRN_SNAPSHOT_BODY_KIND_MASK;
    return kind != CAIRN_BODY_STATIC && (flags & CAIRN_SNAPSHOT_BODY_DISABLED) == 0 &&
           (kind == CAIRN_BODY_KINEMATIC || (flags & CAIRN_SNAPSHOT_BODY_AWAKE) != 0);
}

// The vector part of a turn is its axis times the sine of half the angle.
static cairn_vec3 turn_between(const cairn_quantisation *q, const cairn_quantised_body *later,
    const cairn_quantised_body *earlier) {
    const cairn_quat turn = cairn_quat_multiply(cairn_dequantise_rotation(q, later),
        cairn_quat_conjugate(cairn_dequantise_rotation(q, earlier)));
    return cairn_vec3_scale(cairn_quat_vector(turn), turn.w < 0.0f ? -2.0f : 2.0f);
}

// The mean velocities between two poses, in steps.
static void mean_velocity(const cairn_snapshot_frame *frame, const cairn_quantised_body *later,
    const cairn_quantised_body *earlier, uint32_t ticks, float out[CAIRN_VELOCITY_COMPONENTS]) {
    const cairn_quantisation *q = &frame->quantisation;
    const float rate = (float)frame->tick_rate_hz / (float)ticks;
    const float linear = q->position_step_m * rate / CAIRN_LINEAR_STEP;
    for (uint32_t i = 0; i < 3; ++i) {
        out[i] = ((float)later->position[i] - (float)earlier->position[i]) * linear;
    }
    const cairn_vec3 turn =
        cairn_vec3_scale(turn_between(q, later, earlier), rate / CAIRN_ANGULAR_STEP);
    out[3] = turn.x;
    out[4] = turn.y;
    out[5] = turn.z;
}

// The velocity at the newest pose if it changed evenly over both intervals, and how far half of
// that change is.
cairn_velocity_expectation cairn_velocity_expect(
    const cairn_snapshot_frame *frame, const cairn_velocity_path *path) {
    cairn_velocity_expectation out = {.error = 256.0f};
    float mean[CAIRN_VELOCITY_COMPONENTS];
    float before[CAIRN_VELOCITY_COMPONENTS];
    if (path->ticks == 0) {
        return out;
    }
    mean_velocity(frame, path->poses[0], path->poses[1], path->ticks, mean);
    if (path->ticks_before != 0) {
        mean_velocity(frame, path->poses[1], path->poses[2], path->ticks_before, before);
    }
    const float share = path->ticks_before == 0
                            ? 0.0f
                            : (float)path->ticks / ((float)path->ticks + (float)path->ticks_before);
    float bends = 0.0f;
    for (uint32_t i = 0; i < CAIRN_VELOCITY_COMPONENTS; ++i) {
        const float bend = path->ticks_before == 0 ? 0.0f : (mean[i] - before[i]) * share;
        bends += cairn_float_abs(bend);
        out.velocity.steps[i] = nearest_step(mean[i] + bend);
    }
    out.error = path->ticks_before == 0 ? 64.0f : bends / (float)CAIRN_VELOCITY_COMPONENTS;
    return out;
}
