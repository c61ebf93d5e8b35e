// SPDX-License-Identifier: MIT
#pragma once

// The steps of cairn_scene_parse (schema/scene.h), in C and in the codec.

#include "schema/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_scene_counts {
    size_t bodies;
    size_t shapes;
    size_t joints;
    size_t hulls;
    size_t points;
    size_t meshes;
    size_t indices;
    size_t height_fields;
    size_t heights;
} cairn_scene_counts;

// In the codec. Fills a scene that is all zeros; after a failure the caller destroys it.
cairn_status cairn_scene_parse_into(
    const char *json, size_t size, cairn_scene *scene, char error[CAIRN_SCENE_ERROR_SIZE]);

// The arrays of the scene; their counts stay zero. CAIRN_CAPACITY, CAIRN_OUT_OF_MEMORY.
cairn_status cairn_scene_make_room(
    cairn_scene *scene, const cairn_scene_counts *counts, char error[CAIRN_SCENE_ERROR_SIZE]);
// CAIRN_INVALID_ARGUMENT when a name does not fit, or holds a zero byte.
cairn_status cairn_scene_take_names(cairn_scene *scene, const char *name, size_t name_size,
    const char *rules, size_t rules_size, char error[CAIRN_SCENE_ERROR_SIZE]);

#ifdef __cplusplus
}
#endif
