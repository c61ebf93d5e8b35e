// SPDX-License-Identifier: MIT
#pragma once

// A scene that a command line names: built in, or in a file.

#include <stdio.h>

#include "schema/scene.h"

// Reads the scene `name`: a built-in one, or a JSON file if it has a slash or ends with ".json".
// The caller destroys it. NULL after messages on standard error, each as "FILE:LINE:COLUMN: error:
// text"; the last one counts them and begins with `program`. Warnings are printed as well.
cairn_scene *cairn_scene_file_load(const char *program, const char *name);
// The same of a text that was read already, from `path`; NULL: as above. `report` may be looked at.
cairn_scene *cairn_scene_text_load(
    const char *path, const char *json, size_t size, cairn_scene_report *report);
// Reads a whole file of at most `most` bytes; the caller frees. NULL: *error says why.
char *cairn_scene_file_bytes(const char *path, size_t most, size_t *size, const char **error);
