// SPDX-License-Identifier: MIT
#include "bridge/scene_library.h"

#include <string.h>

#include "base/assert.h"

// Written at build time from scenes/*.json (cmake/embed_scenes.cmake).
extern const cairn_scene_text cairn_scene_texts[];
extern const uint32_t cairn_scene_text_count;

const cairn_scene_text *cairn_scene_library(uint32_t *count) {
    *count = cairn_scene_text_count;
    return cairn_scene_texts;
}

const cairn_scene_text *cairn_scene_library_find(const char *name) {
    CAIRN_ASSERT(name != NULL);
    for (uint32_t i = 0; i < cairn_scene_text_count; ++i) {
        if (strcmp(cairn_scene_texts[i].name, name) == 0) {
            return &cairn_scene_texts[i];
        }
    }
    return NULL;
}
