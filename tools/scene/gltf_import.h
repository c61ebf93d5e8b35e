// SPDX-License-Identifier: MIT
#pragma once

// A scene (docs/SCENES.md) from a glTF file. Which nodes are bodies and which shapes their meshes
// become say the extras that cairn's own export writes, or words in the names of nodes and meshes.

#include "tools/scene/gltf_file.h"

// The text of a scene, which the caller frees; NULL: file->error says what is wrong. `name` is the
// scene's, unless the file has one.
char *cairn_gltf_scene(cairn_gltf *file, const char *name, size_t *size);
