// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

typedef struct cairn_scene_import_options {
    const char *out;   // NULL: standard output
    const char *parts; // NULL: none; of a robot: where names, actuators and notes go, in JSON
    bool fixed_base;   // of URDF: the root link does not move
    bool articulated;  // of a robot: its trees are in joint coordinates
} cairn_scene_import_options;

// Writes the scene of a file to another one: glTF, or, if it ends with ".urdf", ".xml" or ".mjcf",
// a robot. False after messages on standard error: nothing is written then.
bool cairn_scene_import(const char *path, const cairn_scene_import_options *options);
