// SPDX-License-Identifier: MIT
#include "python/native/native.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "bridge/scene_library.h"
#include "bridge/scene_world.h"
#include "schema/scene.h"
#include <cairn/rules_registry.h>

_Static_assert(CAIRN_NATIVE_ERROR_SIZE == CAIRN_SCENE_ERROR_SIZE, "errors of scenes fit");

const char *cairn_native_scene(const char *name) {
    const cairn_scene_text *found = cairn_scene_library_find(name);
    return found == NULL ? NULL : found->json;
}

const char *cairn_native_scene_name(uint32_t index) {
    uint32_t count = 0;
    const cairn_scene_text *scenes = cairn_scene_library(&count);
    return index < count ? scenes[index].name : NULL;
}

cairn_status cairn_native_world_create(const char *json, size_t size, const uint64_t *seed,
    const char *rules, cairn_world **out, char name[CAIRN_NAME_SIZE_MAX + 1],
    char error[CAIRN_NATIVE_ERROR_SIZE]) {
    CAIRN_ASSERT(json != NULL && out != NULL && error != NULL);
    *out = NULL;
    cairn_scene *scene = NULL;
    cairn_status status = cairn_scene_parse(json, size, &scene, error);
    if (status != CAIRN_OK) {
        return status;
    }
    const cairn_rules *found = NULL;
    if (rules != NULL && !cairn_rules_find(rules, &found)) {
        snprintf(error, CAIRN_NATIVE_ERROR_SIZE, "no rules are named '%.64s'", rules);
        status = CAIRN_NOT_FOUND;
    } else {
        memcpy(name, scene->name, sizeof scene->name);
        scene->world.seed = seed != NULL ? *seed : scene->world.seed;
        if (rules != NULL) {
            snprintf(scene->rules, sizeof scene->rules, "%s", rules);
        }
        status = cairn_scene_world_create(scene, NULL, out, error);
    }
    cairn_scene_destroy(scene);
    return status;
}
