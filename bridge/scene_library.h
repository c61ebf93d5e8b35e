// SPDX-License-Identifier: MIT
#pragma once

// The scenes of scenes/*.json, built into the program so that it runs from anywhere.

#include <stddef.h>
#include <stdint.h>

typedef struct cairn_scene_text {
    const char *name; // the file's name without its ending
    const char *json; // static storage, terminated
    size_t size;      // without the terminator
} cairn_scene_text;

// All of them in order of name.
const cairn_scene_text *cairn_scene_library(uint32_t *count);
// NULL if no scene has that name.
const cairn_scene_text *cairn_scene_library_find(const char *name);
