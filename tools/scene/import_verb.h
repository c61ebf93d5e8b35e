// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

// Writes the scene of a glTF file to the file `out`, to standard output if that is NULL. False
// after messages on standard error: nothing is written then.
bool cairn_scene_import(const char *path, const char *out);
