// SPDX-License-Identifier: MIT
#include "tools/scene/import_verb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_world.h"
#include "program/output_file.h"
#include "program/scene_file.h"
#include "robot/robot.h"
#include "tools/scene/gltf_import.h"

enum { PATH_SIZE = 4096 };

// The length of the folder of a path, with its slash.
static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

// A file beside the one that names it; a name that leads elsewhere is refused.
static uint8_t *load_beside(void *context, const char *uri, size_t *size) {
    const char *path = context, *error;
    char beside[PATH_SIZE];
    if (uri[0] == '\0' || strpbrk(uri, "/\\:%") != NULL || strstr(uri, "..") != NULL) {
        return NULL;
    }
    const int length = snprintf(beside, sizeof beside, "%.*s%s", (int)folder_size(path), path, uri);
    return length < 0 || length >= PATH_SIZE
               ? NULL
               : (uint8_t *)cairn_scene_file_bytes(beside, CAIRN_GLTF_SIZE_MAX, size, &error);
}

// "models/arena.v2.glb" -> "arena.v2"
static void name_of(const char *path, char name[CAIRN_NAME_SIZE_MAX + 1]) {
    const char *base = path + folder_size(path);
    const char *point = strrchr(base, '.');
    const size_t size = point == NULL ? strlen(base) : (size_t)(point - base);
    snprintf(name, CAIRN_NAME_SIZE_MAX + 1, "%.*s", (int)size, base);
}

// Whether a world can be made of it. Its errors name fields of the scene that was to be written.
static bool is_well(const char *path, const char *text, size_t size) {
    char label[PATH_SIZE], error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene_report report;
    cairn_world *world = NULL;
    snprintf(label, sizeof label, "scene of %s", path);
    cairn_scene *scene = cairn_scene_text_load(label, text, size, &report);
    const bool well =
        scene != NULL && cairn_scene_world_create(scene, NULL, &world, error) == CAIRN_OK;
    if (scene != NULL && !well) {
        fprintf(stderr, "cairn-scene: %s: %s\n", path, error);
    }
    cairn_world_destroy(world);
    cairn_scene_destroy(scene);
    return well;
}

static bool write_scene(const char *out, const char *text, size_t size) {
    const bool written = out == NULL ? fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0
                                     : cairn_output_file_write(out, 0666, text, size);
    if (!written) {
        fprintf(stderr, "cairn-scene: %s: %s\n", out == NULL ? "standard output" : out,
            strerror(errno));
    }
    return written;
}

static bool is_robot(const char *path) {
    static const char *const endings[] = {".urdf", ".xml", ".mjcf"};
    const size_t size = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; ++i) {
        const size_t length = strlen(endings[i]);
        if (size > length && strcmp(path + size - length, endings[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool import_robot(const char *path, const char *bytes, size_t size, const char *name,
    const cairn_scene_import_options *options) {
    const cairn_robot_options how = {
        .fixed_base = options->fixed_base, .articulated = options->articulated};
    cairn_robot robot;
    if (cairn_robot_read(bytes, size, name, &how, &robot) != CAIRN_OK) {
        fprintf(stderr, "cairn-scene: %s: %s\n", path, robot.error);
    }
    const bool written =
        robot.scene != NULL && is_well(path, robot.scene, robot.scene_size) &&
        (options->parts == NULL || write_scene(options->parts, robot.parts, robot.parts_size)) &&
        write_scene(options->out, robot.scene, robot.scene_size);
    cairn_robot_destroy(&robot);
    return written;
}

static bool import_gltf(const char *path, const char *bytes, size_t size, const char *name,
    const cairn_scene_import_options *options) {
    size_t text_size = 0;
    cairn_gltf file;
    char *text = cairn_gltf_open(&file, (const uint8_t *)bytes, size, load_beside, (void *)path)
                     ? cairn_gltf_scene(&file, name, &text_size)
                     : NULL;
    if (text == NULL) {
        fprintf(stderr, "cairn-scene: %s: %s\n", path, file.error);
    }
    cairn_gltf_close(&file);
    const bool written = text != NULL && is_well(path, text, text_size) &&
                         write_scene(options->out, text, text_size);
    free(text);
    return written;
}

bool cairn_scene_import(const char *path, const cairn_scene_import_options *options) {
    char name[CAIRN_NAME_SIZE_MAX + 1];
    const char *error;
    size_t size;
    char *bytes = cairn_scene_file_bytes(path, CAIRN_GLTF_SIZE_MAX, &size, &error);
    if (bytes == NULL) {
        fprintf(stderr, "cairn-scene: %s: %s\n", path, error);
        return false;
    }
    name_of(path, name);
    const bool written = is_robot(path) ? import_robot(path, bytes, size, name, options)
                                        : import_gltf(path, bytes, size, name, options);
    free(bytes);
    return written;
}
