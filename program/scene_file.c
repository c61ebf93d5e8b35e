// SPDX-License-Identifier: MIT
#include "program/scene_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest_word.h"
#include "bridge/scene_library.h"

char *cairn_scene_file_bytes(const char *path, size_t most, size_t *size, const char **error) {
    FILE *file = fopen(path, "rb");
    char *bytes = file == NULL ? NULL : malloc(most + 1);
    *error = NULL;
    if (bytes == NULL) {
        *error = strerror(errno);
    } else {
        *size = fread(bytes, 1, most + 1, file);
        *error = *size > most ? "the file is too large" : ferror(file) ? "cannot be read" : NULL;
    }
    if (file != NULL) {
        fclose(file);
    }
    if (*error != NULL) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

cairn_scene *cairn_scene_text_load(
    const char *path, const char *json, size_t size, cairn_scene_report *report) {
    cairn_scene *scene;
    (void)cairn_scene_read(json, size, &scene, report);
    for (uint32_t i = 0; i < report->count; ++i) {
        const cairn_scene_message *message = &report->messages[i];
        fprintf(stderr, "%s:%u:%u: %s: %s\n", path, (unsigned)message->line,
            (unsigned)message->column, message->status == CAIRN_OK ? "warning" : "error",
            message->text);
    }
    return scene;
}

static bool names_file(const char *scene) {
    const size_t size = strlen(scene);
    return strchr(scene, '/') != NULL || (size > 5 && strcmp(scene + size - 5, ".json") == 0);
}

static void print_unknown(const char *program, const char *name) {
    uint32_t count, distance = UINT32_MAX;
    const cairn_scene_text *library = cairn_scene_library(&count);
    const char *best = NULL;
    for (uint32_t i = 0; i < count; ++i) {
        best = cairn_word_is_nearer(name, library[i].name, &distance) ? library[i].name : best;
    }
    fprintf(stderr, "%s: --scene %s: not a file's name and not built in", program, name);
    if (best != NULL) {
        fprintf(stderr, "; did you mean %s?\n", best);
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        fprintf(stderr, "%s%s", i == 0 ? "; built in are " : ", ", library[i].name);
    }
    fputc('\n', stderr);
}

cairn_scene *cairn_scene_file_load(const char *program, const char *name) {
    const cairn_scene_text *built_in = cairn_scene_library_find(name);
    char *bytes = NULL;
    size_t size = 0;
    if (built_in == NULL && !names_file(name)) {
        print_unknown(program, name);
        return NULL;
    }
    if (built_in == NULL) {
        const char *error;
        bytes = cairn_scene_file_bytes(name, CAIRN_SCENE_JSON_SIZE_MAX, &size, &error);
        if (bytes == NULL) {
            fprintf(stderr, "%s: %s: %s\n", program, name, error);
            return NULL;
        }
    }
    cairn_scene_report report;
    cairn_scene *scene = cairn_scene_text_load(name, built_in != NULL ? built_in->json : bytes,
        built_in != NULL ? built_in->size : size, &report);
    free(bytes);
    if (scene == NULL && report.error_count > 1) {
        fprintf(stderr, "%s: %s: %u errors in this scene\n", program, name,
            (unsigned)report.error_count);
    }
    return scene;
}
