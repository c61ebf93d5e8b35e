// SPDX-License-Identifier: MIT
#pragma once

// A scene: a named world with its parameters, written in JSON (docs/SCENES.md;
// `cairn-scene schema` lists every field). A server's room is made from one (cairn/server.h).

#include <stddef.h>

#include <cairn/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cairn_scene cairn_scene;

#define CAIRN_SCENE_ERROR_SIZE 256
#define CAIRN_SCENE_JSON_SIZE_MAX (16 * 1024 * 1024)

// Parses and checks a scene. On failure *out is NULL and `error` holds the first error:
// "line 12, column 7: bodies[3].shapes[0].radius: must be in [0.001, 10000], is -1".
// CAIRN_MALFORMED, CAIRN_INVALID_ARGUMENT, CAIRN_NON_FINITE, CAIRN_CAPACITY, CAIRN_OUT_OF_MEMORY.
cairn_status cairn_scene_parse(
    const char *json, size_t size, cairn_scene **out, char error[CAIRN_SCENE_ERROR_SIZE]);
void cairn_scene_destroy(cairn_scene *scene); // NULL is allowed

#ifdef __cplusplus
}
#endif
