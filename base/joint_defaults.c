// SPDX-License-Identifier: MIT
#include "base/joint_defaults.h"

cairn_joint_def cairn_joint_defaults(void) {
    return (cairn_joint_def){.kind = CAIRN_JOINT_BALL,
        .length = 1.0f,
        .axis_a = {.x = 1.0f},
        .axis_b = {.x = 1.0f},
        .normal_a = {.y = 1.0f},
        .normal_b = {.y = 1.0f},
        .cone = CAIRN_ANGLE_MAX,
        .damping = 1.0f,
        .spring_hertz = 1.0f,
        .spring_damping = 1.0f,
        .motor_force = CAIRN_FORCE_MAX,
        .motor_torque = CAIRN_FORCE_MAX,
        .steering_hertz = 10.0f,
        .steering_damping = 1.0f,
        .steering_torque = CAIRN_FORCE_MAX,
        .ratio = 1.0f,
        .break_force = CAIRN_FORCE_MAX,
        .break_torque = CAIRN_FORCE_MAX};
}
