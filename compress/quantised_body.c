// SPDX-License-Identifier: MIT
#include "compress/quantised_body.h"

#include <cairn/math.h>

#include "base/assert.h"

// No component but the largest is longer than the square root of a half.
#define COMPONENT_MAX 0.70710678f

cairn_quantisation cairn_quantisation_default(void) {
    return (cairn_quantisation){.position_step_m = 1.0f / 512.0f, .rotation_bits = 9};
}

static float component_scale(const cairn_quantisation *quantisation) {
    return (float)((1u << quantisation->rotation_bits) - 1u) / (2.0f * COMPONENT_MAX);
}

static int32_t nearest(float x) {
    return (int32_t)(x < 0.0f ? x - 0.5f : x + 0.5f);
}

cairn_quantised_body cairn_quantise(const cairn_quantisation *quantisation, cairn_pose pose) {
    const float q[4] = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w};
    cairn_quantised_body body = {
        .position = {nearest(pose.position.x / quantisation->position_step_m),
            nearest(pose.position.y / quantisation->position_step_m),
            nearest(pose.position.z / quantisation->position_step_m)}};
    for (uint16_t i = 1; i < 4; ++i) {
        if (cairn_float_abs(q[i]) > cairn_float_abs(q[body.largest])) {
            body.largest = i;
        }
    }
    // A quaternion and its negative are one rotation: the largest component is made positive.
    const float scale = component_scale(quantisation) * (q[body.largest] < 0.0f ? -1.0f : 1.0f);
    const float all_ones = (float)((1u << quantisation->rotation_bits) - 1u);
    for (uint32_t i = 0, k = 0; i < 4; ++i) {
        if (i != body.largest) {
            const float steps = q[i] * scale + 0.5f * all_ones;
            body.rotation[k++] = (uint16_t)nearest(cairn_float_clamp(steps, 0.0f, all_ones));
        }
    }
    return body;
}

cairn_quat cairn_dequantise_rotation(
    const cairn_quantisation *quantisation, const cairn_quantised_body *body) {
    const float scale = component_scale(quantisation);
    float q[4];
    float squares = 0.0f;
    for (uint32_t i = 0, k = 0; i < 4; ++i) {
        if (i != body->largest) {
            q[i] = (float)body->rotation[k++] / scale - COMPONENT_MAX;
            squares = squares + q[i] * q[i];
        }
    }
    // Rounding, or a hostile sender, may have made the three longer than 1.
    q[body->largest] = squares < 1.0f ? cairn_float_sqrt(1.0f - squares) : 0.0f;
    return cairn_quat_normalize((cairn_quat){q[0], q[1], q[2], q[3]});
}

cairn_pose cairn_dequantise(
    const cairn_quantisation *quantisation, const cairn_quantised_body *body) {
    const cairn_vec3 steps = {
        (float)body->position[0], (float)body->position[1], (float)body->position[2]};
    return (cairn_pose){.position = cairn_vec3_scale(steps, quantisation->position_step_m),
        .rotation = cairn_dequantise_rotation(quantisation, body)};
}
