// SPDX-License-Identifier: MIT
#pragma once

// The scenes that a tool's command line names.

#include <stdbool.h>

#include "schema/scene.h"

// Reads a built-in scene, or a JSON file. The caller destroys it. False after one sentence on
// standard error.
bool cairn_scene_file_read(const char *program, const char *name, cairn_scene **out);
