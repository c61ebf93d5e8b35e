// SPDX-License-Identifier: MIT
#include "compress/quantised_body.h"

#include <cairn/math.h>

#include "base/assert.h"
#include "compress/body_motion.h"

cairn_quantisation cairn_quantisation_default(void) {
    return (cairn_quantisation){.position_step_m = 1.0f / 512.0f, .rotation_bits = 9};
}

static float component_scale(const cairn_quantisation *quantisation) {
    return (float)((1u << quantisation->rotation_bits) - 1u) / (2.0f * CAIRN_COMPONENT_MAX);
}

static int32_t nearest(float x) {
    return (int32_t)(x < 0.0f ? x - 0.5f : x + 0.5f);
}

// What flew away is at the end of the range.
static int32_t steps_of(float position, float step) {
    return nearest(cairn_float_clamp(
        position / step, -(float)CAIRN_QUANTISED_MAX, (float)CAIRN_QUANTISED_MAX));
}

cairn_quantised_body cairn_quantise(const cairn_quantisation *quantisation, cairn_pose pose) {
    const float q[4] = {pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w};
    cairn_quantised_body body = {
        .position = {steps_of(pose.position.x, quantisation->position_step_m),
            steps_of(pose.position.y, quantisation->position_step_m),
            steps_of(pose.position.z, quantisation->position_step_m)}};
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
            const float steps = q[i] * scale + cairn_rotation_middle(quantisation);
            body.rotation[k++] = (uint16_t)nearest(cairn_float_clamp(steps, 0.0f, all_ones));
        }
    }
    return body;
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
