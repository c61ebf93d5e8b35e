// SPDX-License-Identifier: MIT
#include "compress/body_motion.h"

#include <cairn/math.h>

cairn_vec3 cairn_steps_between(const int32_t from[3], const int32_t to[3]) {
    return (cairn_vec3){(float)((int64_t)to[0] - from[0]), (float)((int64_t)to[1] - from[1]),
        (float)((int64_t)to[2] - from[2])};
}

cairn_turn cairn_turn_between(cairn_quat from, cairn_quat to) {
    const cairn_quat turn = cairn_quat_multiply(to, cairn_quat_conjugate(from));
    return cairn_vec3_scale(cairn_quat_vector(turn), turn.w < 0.0f ? -2.0f : 2.0f);
}

cairn_quat cairn_quat_of_turn(cairn_turn turn) {
    const float sine_squared_max = 0.98f; // 164 degrees: further is not extrapolated
    cairn_vec3 half = cairn_vec3_scale(turn, 0.5f);
    float squared = cairn_vec3_length_squared(half);
    if (squared > sine_squared_max) {
        half = cairn_vec3_scale(half, cairn_float_sqrt(sine_squared_max / squared));
        squared = sine_squared_max;
    }
    return (cairn_quat){half.x, half.y, half.z, cairn_float_sqrt(1.0f - squared)};
}

cairn_vec3 cairn_rigid_displacement(
    const int32_t at[3], const int32_t from[3], cairn_quat turn, const int32_t to[3]) {
    const cairn_vec3 arm = cairn_steps_between(from, at);
    const cairn_vec3 swing = cairn_vec3_sub(cairn_quat_rotate(turn, arm), arm);
    return cairn_vec3_add(swing, cairn_steps_between(from, to));
}

float cairn_motion_slip(const cairn_body_motion *body, const cairn_body_motion *other) {
    const cairn_vec3 rigid = cairn_rigid_displacement(body->earlier->position,
        other->earlier->position, other->turned_quat, other->baseline->position);
    return cairn_vec3_distance(
        rigid, cairn_steps_between(body->earlier->position, body->baseline->position));
}
