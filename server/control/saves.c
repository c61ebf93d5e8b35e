// SPDX-License-Identifier: MIT
#include "server/control/saves.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

cairn_control_save *cairn_control_saves_find(cairn_control_saves *saves, const char *name) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        cairn_control_save *save = &saves->places[i];
        if (save->bytes != NULL && strcmp(save->name, name) == 0) {
            return save;
        }
    }
    return NULL;
}

void cairn_control_save_clear(cairn_control_save *save) {
    free(save->bytes);
    *save = (cairn_control_save){0};
}

void cairn_control_saves_clear(cairn_control_saves *saves) {
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        cairn_control_save_clear(&saves->places[i]);
    }
}

cairn_control_save *cairn_control_saves_add(
    cairn_control_saves *saves, const char *name, size_t size) {
    CAIRN_ASSERT(name[0] != '\0' && strlen(name) <= CAIRN_NAME_SIZE_MAX);
    cairn_control_save *place = cairn_control_saves_find(saves, name);
    size_t others_size = 0;
    for (uint32_t i = 0; i < CAIRN_CONTROL_SAVES_MAX; ++i) {
        cairn_control_save *other = &saves->places[i];
        others_size += other == place ? 0 : other->size;
        place = place == NULL && other->bytes == NULL ? other : place;
    }
    CAIRN_ASSERT(others_size <= CAIRN_CONTROL_SAVES_SIZE_MAX);
    const bool fits = size > 0 && size <= CAIRN_CONTROL_SAVES_SIZE_MAX - others_size;
    uint8_t *bytes = place != NULL && fits ? malloc(size) : NULL;
    if (bytes == NULL) {
        return NULL;
    }
    cairn_control_save_clear(place);
    *place = (cairn_control_save){.bytes = bytes, .size = size};
    snprintf(place->name, sizeof place->name, "%s", name);
    return place;
}
