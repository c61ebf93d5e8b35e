// SPDX-License-Identifier: MIT
#include "schema/scene_parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

static cairn_status refuse(char *error, cairn_status status, const char *words) {
    CAIRN_ASSERT(status != CAIRN_OK);
    snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s", words);
    return status;
}

// Allocates at least one element, so that NULL always means out of memory.
static void *allocate(size_t count, size_t size) {
    CAIRN_ASSERT(size > 0 && count < SIZE_MAX);
    return calloc(count + 1, size);
}

cairn_status cairn_scene_make_room(
    cairn_scene *scene, const cairn_scene_counts *counts, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(scene->bodies == NULL && scene->shapes == NULL && scene->joints == NULL);
    if (counts->bodies > CAIRN_BODIES_MAX || counts->shapes > CAIRN_SHAPES_MAX ||
        counts->joints > CAIRN_JOINTS_MAX || counts->hulls > CAIRN_HULLS_MAX ||
        counts->meshes + counts->height_fields > CAIRN_MESHES_MAX) {
        return refuse(error, CAIRN_CAPACITY,
            "more bodies, shapes, joints, hulls or meshes than a world holds");
    }
    scene->bodies = allocate(counts->bodies, sizeof *scene->bodies);
    scene->shapes = allocate(counts->shapes, sizeof *scene->shapes);
    scene->joints = allocate(counts->joints, sizeof *scene->joints);
    scene->hulls = allocate(counts->hulls, sizeof *scene->hulls);
    scene->points = allocate(counts->points, sizeof *scene->points);
    scene->meshes = allocate(counts->meshes, sizeof *scene->meshes);
    scene->indices = allocate(counts->indices, sizeof *scene->indices);
    scene->height_fields = allocate(counts->height_fields, sizeof *scene->height_fields);
    scene->heights = allocate(counts->heights, sizeof *scene->heights);
    const bool whole = scene->bodies != NULL && scene->shapes != NULL && scene->joints != NULL &&
                       scene->hulls != NULL && scene->points != NULL && scene->meshes != NULL &&
                       scene->indices != NULL && scene->height_fields != NULL &&
                       scene->heights != NULL;
    return whole ? CAIRN_OK : CAIRN_OUT_OF_MEMORY;
}

static cairn_status take_name(const char *field, const char *text, size_t size,
    char out[CAIRN_NAME_SIZE_MAX + 1], char *error) {
    CAIRN_ASSERT(text != NULL || size > CAIRN_NAME_SIZE_MAX);
    if (size > CAIRN_NAME_SIZE_MAX || strlen(text) != size) {
        snprintf(error, CAIRN_SCENE_ERROR_SIZE, "%s: must be at most %d characters of ASCII", field,
            CAIRN_NAME_SIZE_MAX);
        return CAIRN_INVALID_ARGUMENT;
    }
    memcpy(out, text, size + 1);
    return CAIRN_OK;
}

cairn_status cairn_scene_take_names(cairn_scene *scene, const char *name, size_t name_size,
    const char *rules, size_t rules_size, char error[CAIRN_SCENE_ERROR_SIZE]) {
    const cairn_status status = take_name("name", name, name_size, scene->name, error);
    return status == CAIRN_OK ? take_name("rules", rules, rules_size, scene->rules, error) : status;
}

cairn_status cairn_scene_parse(
    const char *json, size_t size, cairn_scene **out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(json != NULL && out != NULL && error != NULL);
    *out = NULL;
    error[0] = '\0';
    if (size > CAIRN_SCENE_JSON_SIZE_MAX) {
        return refuse(error, CAIRN_CAPACITY, "a scene may have at most 16 MiB");
    }
    cairn_scene *scene = calloc(1, sizeof *scene);
    const cairn_status status =
        scene == NULL ? CAIRN_OUT_OF_MEMORY : cairn_scene_parse_into(json, size, scene, error);
    if (status == CAIRN_OUT_OF_MEMORY) {
        refuse(error, status, "out of memory");
    }
    if (status != CAIRN_OK) {
        cairn_scene_destroy(scene);
        return status;
    }
    *out = scene;
    return CAIRN_OK;
}

void cairn_scene_destroy(cairn_scene *scene) {
    if (scene != NULL) {
        free(scene->bodies);
        free(scene->shapes);
        free(scene->joints);
        free(scene->hulls);
        free(scene->points);
        free(scene->meshes);
        free(scene->indices);
        free(scene->height_fields);
        free(scene->heights);
        free(scene);
    }
}

cairn_scene cairn_scene_default(void) {
    return (cairn_scene){.world = cairn_world_def_default()};
}
