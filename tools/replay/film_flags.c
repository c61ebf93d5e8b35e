// SPDX-License-Identifier: MIT
// The camera of the command line.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flags.h"
#include "tools/replay/verbs.h"

const char *cairn_replay_read_size(void *out, const char *value, bool first) {
    cairn_painter_view *view = out;
    uint64_t numbers[2];
    char width[8], error[CAIRN_FLAGS_ERROR_SIZE];
    const size_t length = strcspn(value, "x");
    (void)first;
    snprintf(width, sizeof width, "%.*s", length < 7 ? (int)length : 7, value);
    if (value[length] != 'x' || !cairn_flags_number("", width, 1, 8192, &numbers[0], error) ||
        !cairn_flags_number("", value + length + 1, 1, 8192, &numbers[1], error)) {
        return "must be width and height in pixels, at most 8192 each, such as 960x540";
    }
    view->width = (uint32_t)numbers[0];
    view->height = (uint32_t)numbers[1];
    return NULL;
}

static const char *read_point(cairn_vec3 *point, const char *value) {
    float numbers[3];
    char *end = NULL;
    for (int i = 0; i < 3; ++i) {
        numbers[i] = strtof(value, &end);
        if (end == value || *end != (i < 2 ? ',' : '\0') ||
            !(numbers[i] >= -CAIRN_DISTANCE_MAX && numbers[i] <= CAIRN_DISTANCE_MAX)) {
            return "must be three numbers with commas between, such as 10,5,20";
        }
        value = end + 1;
    }
    *point = (cairn_vec3){.x = numbers[0], .y = numbers[1], .z = numbers[2]};
    return NULL;
}

const char *cairn_replay_read_eye(void *out, const char *value, bool first) {
    cairn_painter_view *view = out;
    (void)first;
    view->has_eye = true;
    return read_point(&view->eye, value);
}

const char *cairn_replay_read_target(void *out, const char *value, bool first) {
    cairn_painter_view *view = out;
    (void)first;
    view->has_target = true;
    return read_point(&view->target, value);
}
