// SPDX-License-Identifier: MIT
#include "tests/kit/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define SCENES_MAX 64

const cairn_scene *kit_scene(const char *json) {
    static char *texts[SCENES_MAX]; // a test may make its text, each time at the same address
    static const cairn_scene *scenes[SCENES_MAX];
    static uint32_t count;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(texts[i], json) == 0) {
            return scenes[i];
        }
    }
    char error[CAIRN_SCENE_ERROR_SIZE] = "";
    cairn_scene *scene = NULL;
    const size_t size = strlen(json);
    char *text = malloc(size + 1);
    CAIRN_ASSERT(text != NULL);
    for (size_t i = 0; i < size; i++) {
        text[i] = (char)(json[i] == '\'' ? '"' : json[i]);
    }
    const cairn_status status = cairn_scene_parse(text, size, &scene, error);
    free(text);
    fputs(error, stderr);
    CAIRN_ASSERT(status == CAIRN_OK && count < SCENES_MAX);
    texts[count] = malloc(size + 1);
    CAIRN_ASSERT(texts[count] != NULL);
    memcpy(texts[count], json, size + 1);
    scenes[count++] = scene;
    return scene;
}

const cairn_scene *kit_scene_stack_and_row(void) {
    return kit_scene("{'name': 'stack and row', 'rules': 'sandbox', 'body_capacity': 128,"
                     " 'shape_capacity': 128, 'contact_capacity': 1024, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [1, 3, 1],"
                     " 'grid_spacing': [2, 1, 1],"
                     " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]},"
                     "{'kind': 'dynamic', 'position': [-8, 2, 6], 'grid_count': [8, 1, 1],"
                     " 'grid_spacing': [2, 1, 1],"
                     " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
}

const cairn_scene *kit_scene_thousand(void) {
    return kit_scene("{'name': 'thousand', 'rules': 'sandbox', 'body_capacity': 1024,"
                     " 'shape_capacity': 1024, 'contact_capacity': 2048, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [40, 1, 25],"
                     " 'grid_spacing': [2, 1, 2],"
                     " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}");
}
