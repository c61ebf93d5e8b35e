// SPDX-License-Identifier: MIT
#include "compress/quantised_body.h"

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/body_motion.h"

cairn_quantisation cairn_quantisation_default(void) {
    return (cairn_quantisation){.position_step_m = 1.0f / 512.0f,
        .rotation_bits = 9,
        .coded_together_max = CAIRN_CODED_TOGETHER_DEFAULT};
}

static float component_scale(const cairn_quantisation *quantisation) {
    return (float)((1u << quantisation->rotation_bits) - 1u) / (2.0f * CAIRN_COMPONENT_MAX);
}

// The nearest integers, halves away from zero, of numbers that are moved into the range before.
CAIRN_VEC4_INLINE cairn_int4 nearest_within(cairn_vec4 x, float least, float most) {
    const cairn_vec4 low = cairn_vec4_all(least), high = cairn_vec4_all(most);
    x = cairn_vec4_select(x < low, low, x);
    x = cairn_vec4_select(x > high, high, x);
    const cairn_int4 signs = (cairn_int4)x & INT32_MIN;
    const cairn_vec4 half = cairn_vec4_negate_lanes(cairn_vec4_all(0.5f), signs);
    return __builtin_convertvector(x + half, cairn_int4);
}

static uint16_t larger_of(const float q[4], uint16_t a, uint16_t b) {
    return cairn_float_abs(q[b]) > cairn_float_abs(q[a]) ? b : a;
}

// What flew away is at the end of the range.
cairn_quantised_body cairn_quantise(const cairn_quantisation *quantisation, cairn_pose pose) {
    const float q[4] = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w};
    const float limit = (float)CAIRN_QUANTISED_MAX;
    const cairn_vec4 position = cairn_vec4_of(pose.position.x, pose.position.y, pose.position.z) /
                                cairn_vec4_all(quantisation->position_step_m);
    const cairn_int4 place = nearest_within(position, -limit, limit);
    const uint16_t largest = larger_of(q, larger_of(q, 0, 1), larger_of(q, 2, 3));
    // A quaternion and its negative are one rotation: the largest component is made positive.
    const float scale = component_scale(quantisation) * (q[largest] < 0.0f ? -1.0f : 1.0f);
    const cairn_vec4 steps = cairn_vec4_load(q) * cairn_vec4_all(scale) +
                             cairn_vec4_all(cairn_rotation_middle(quantisation));
    const float all_ones = (float)((1u << quantisation->rotation_bits) - 1u);
    const cairn_int4 components = nearest_within(steps, 0.0f, all_ones);
    return (cairn_quantised_body){.position = {place[0], place[1], place[2]},
        .rotation = {(uint16_t)components[largest == 0], (uint16_t)components[1 + (largest <= 1)],
            (uint16_t)components[2 + (largest <= 2)]},
        .largest = largest};
}

float cairn_rotation_step(const cairn_quantisation *quantisation) {
    return 1.0f / component_scale(quantisation);
}

float cairn_rotation_middle(const cairn_quantisation *quantisation) {
    return (float)(1u << (quantisation->rotation_bits - 1));
}

cairn_quat cairn_dequantise_rotation(
    const cairn_quantisation *quantisation, const cairn_quantised_body *body) {
    const cairn_vec4 q = cairn_rotation_of(
        body, cairn_rotation_step(quantisation), cairn_rotation_middle(quantisation));
    return cairn_quat_normalize(cairn_quat_of(q[0], q[1], q[2], q[3]));
}

cairn_pose cairn_dequantise(
    const cairn_quantisation *quantisation, const cairn_quantised_body *body) {
    const cairn_vec3 steps = {
        (float)body->position[0], (float)body->position[1], (float)body->position[2]};
    return (cairn_pose){.position = cairn_vec3_scale(steps, quantisation->position_step_m),
        .rotation = cairn_dequantise_rotation(quantisation, body)};
}
