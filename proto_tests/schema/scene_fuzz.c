// SPDX-License-Identifier: MIT
// Any text as a scene: refused with an error, or a valid scene.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "schema/scene.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene;
    const cairn_status status = cairn_scene_parse((const char *)data, size, &scene, error);
    CAIRN_ASSERT(memchr(error, '\0', sizeof error) != NULL);
    CAIRN_ASSERT((status == CAIRN_OK) == (scene != NULL));
    CAIRN_ASSERT((status == CAIRN_OK) == (error[0] == '\0'));
    cairn_scene_destroy(scene);
    return 0;
}
