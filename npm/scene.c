// SPDX-License-Identifier: MIT

// Scenes for JavaScript, by the reader of cairn's programs: what these accept or refuse is accepted
// or refused here, with the same messages and the same bits.

#include <stdio.h>

#include "bridge/scene_world.h"
#include "schema/scene.h"

enum { TEXT_SIZE = 8192 }; // scene.ts has the same number

// "line 3, column 20: body_capacity: must be ...", a line for each error.
static void print_errors(const cairn_scene_report *report, char text[TEXT_SIZE]) {
    int size = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < report->count && size < TEXT_SIZE; ++i) {
        const cairn_scene_message *message = &report->messages[i];
        if (message->status != CAIRN_OK) {
            size += snprintf(text + size, (size_t)(TEXT_SIZE - size), "%sline %u, column %u: %s",
                size == 0 ? "" : "\n", (unsigned)message->line, (unsigned)message->column,
                message->text);
        }
    }
}

cairn_status cairn_npm_scene_world(
    const char *json, size_t size, cairn_world **out, char text[TEXT_SIZE]);

// The world of a scene; pair with cairn_world_destroy. On failure *out is NULL and `text` says why.
cairn_status cairn_npm_scene_world(
    const char *json, size_t size, cairn_world **out, char text[TEXT_SIZE]) {
    cairn_scene_report report;
    cairn_scene *scene = NULL;
    *out = NULL;
    const cairn_status status = cairn_scene_read(json, size, &scene, &report);
    if (status != CAIRN_OK) {
        print_errors(&report, text);
        return status;
    }
    const cairn_status made = cairn_scene_world_create(scene, NULL, out, text);
    cairn_scene_destroy(scene);
    return made;
}
