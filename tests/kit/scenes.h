// SPDX-License-Identifier: MIT
#pragma once

// Scenes for tests, in the text that users write.

#include "schema/scene.h"

// Parses a scene, in which ' stands for ", once for each string literal. The scene is valid until
// the program ends.
const cairn_scene *kit_scene(const char *json);
// A thousand cubes side by side on a floor, 60 Hz.
const cairn_scene *kit_scene_thousand(void);
// A floor, a stack of three cubes and a row of eight, with the sandbox rules; 60 Hz.
const cairn_scene *kit_scene_stack_and_row(void);
