// SPDX-License-Identifier: MIT
#pragma once

// Robots that other programs describe, as scenes (docs/ROBOTS.md says what is read): URDF, and the
// model files of MuJoCo (MJCF). The root element says which of them a text is: <robot> or <mujoco>.
// Angles go through cairn/math.h and numbers through the reader of scenes, so one text gives the
// same bytes of a scene on every machine.

#include <stdbool.h>
#include <stddef.h>

#include <cairn/status.h>

#define CAIRN_ROBOT_ERROR_SIZE 256

typedef struct cairn_robot_options {
    bool fixed_base; // URDF: the root link does not move, even if it has a mass
    // Each tree of links is one articulated body (cairn/articulation.h): its joints never open, and
    // have stiffness, damping, friction and armature as the text gives them. What closes a loop is
    // an ordinary joint.
    bool articulated;
} cairn_robot_options;

typedef struct cairn_robot {
    char *scene; // a scene in JSON (schema/scene.h); owned
    size_t scene_size;
    // In JSON: the names of bodies and joints in the order of the scene, the actuators, and notes
    // about what was left out; owned. docs/ROBOTS.md has an example.
    char *parts;
    size_t parts_size;
    char error[CAIRN_ROBOT_ERROR_SIZE]; // "line 3, column 5: joint 'hip' axis: must not be zero"
} cairn_robot;

// Makes the scene of a text; `name` is the scene's if the text has none that a scene can have. On
// failure `error` is a sentence and no scene is made: CAIRN_MALFORMED (not XML, or not a number),
// CAIRN_INVALID_ARGUMENT (a value, or an element that cairn does not read), CAIRN_NON_FINITE,
// CAIRN_NOT_FOUND (a name that nothing has), CAIRN_CAPACITY (too large, or too long a chain),
// CAIRN_OUT_OF_MEMORY. Pair with destroy in any case.
cairn_status cairn_robot_read(const char *text, size_t size, const char *name,
    const cairn_robot_options *options, cairn_robot *out);
void cairn_robot_destroy(cairn_robot *robot);
