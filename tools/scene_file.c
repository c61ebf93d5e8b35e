// SPDX-License-Identifier: MIT
#include "tools/scene_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_library.h"

// The caller frees. NULL: errno says why.
static char *read_text(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = file == NULL ? NULL : malloc(CAIRN_SCENE_JSON_SIZE_MAX + 1);
    *size = text == NULL ? 0 : fread(text, 1, CAIRN_SCENE_JSON_SIZE_MAX + 1, file);
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

bool cairn_scene_file_read(const char *program, const char *name, cairn_scene **out) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    const cairn_scene_text *built_in = cairn_scene_library_find(name);
    size_t size = built_in == NULL ? 0 : built_in->size;
    char *text = built_in != NULL ? NULL : read_text(name, &size);
    *out = NULL;
    if (built_in == NULL && text == NULL) {
        snprintf(error, sizeof error, "%s", strerror(errno));
    } else if (size > CAIRN_SCENE_JSON_SIZE_MAX) {
        snprintf(error, sizeof error, "the file is too large");
    } else {
        const char *json = built_in != NULL ? built_in->json : text;
        (void)cairn_scene_parse(json, size, out, error);
    }
    free(text);
    if (*out == NULL) {
        fprintf(stderr, "%s: %s: %s\n", program, name, error);
    }
    return *out != NULL;
}
