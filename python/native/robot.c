// SPDX-License-Identifier: MIT
#include "robot/robot.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "python/native/native.h"

_Static_assert(CAIRN_NATIVE_ERROR_SIZE == CAIRN_ROBOT_ERROR_SIZE, "errors of robots fit");

cairn_status cairn_native_robot(const char *text, size_t size, const char *name, bool fixed_base,
    bool articulated, char **scene, char **parts, char error[CAIRN_NATIVE_ERROR_SIZE]) {
    const cairn_robot_options options = {.fixed_base = fixed_base, .articulated = articulated};
    cairn_robot robot;
    const cairn_status status = cairn_robot_read(text, size, name, &options, &robot);
    snprintf(error, CAIRN_NATIVE_ERROR_SIZE, "%s", robot.error);
    *scene = robot.scene;
    *parts = robot.parts;
    return status;
}

void cairn_native_free(char *text) {
    free(text);
}

cairn_status cairn_native_travel(
    const cairn_world *world, const cairn_joint_id *joints, uint32_t joint_count, float *out) {
    CAIRN_ASSERT(joint_count == 0 || (joints != NULL && out != NULL));
    for (uint32_t i = 0; i < joint_count; ++i) {
        cairn_joint_travel travel;
        const cairn_status status = cairn_joint_travel_read(world, joints[i], &travel);
        if (status != CAIRN_OK) {
            return status;
        }
        out[2 * i] = travel.position;
        out[2 * i + 1] = travel.velocity;
    }
    return CAIRN_OK;
}

cairn_status cairn_native_drive(cairn_world *world, const cairn_joint_id *joints,
    const float *speeds, const float *forces, uint32_t joint_count) {
    for (uint32_t i = 0; i < joint_count; ++i) {
        const cairn_status status = cairn_joint_set_motor(world, joints[i], speeds[i], forces[i]);
        if (status != CAIRN_OK) {
            return status;
        }
    }
    return CAIRN_OK;
}

cairn_status cairn_native_push(
    cairn_world *world, const cairn_joint_id *joints, const float *torques, uint32_t joint_count) {
    for (uint32_t i = 0; i < joint_count; ++i) {
        cairn_joint_def def;
        cairn_status status = cairn_joint_read(world, joints[i], &def);
        if (status == CAIRN_OK) {
            def.drive_torque.x = torques[i];
            status = cairn_joint_set(world, joints[i], &def);
        }
        if (status != CAIRN_OK) {
            return status;
        }
    }
    return CAIRN_OK;
}
