// SPDX-License-Identifier: MIT
#pragma once

// The verbs of cairn-ctl: their arguments, from words to a request, and their help.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/flags.h"
#include <cairn/control.h>

#define CAIRN_CTL_ERROR_SIZE 256
#define CAIRN_CTL_WORDS_MAX (32 + 3 * CAIRN_CONTROL_POINTS_MAX + 3 * CAIRN_CONTROL_TRIANGLES_MAX)

// Texts are the words themselves. It may not be moved: a request points to its points.
typedef struct cairn_ctl_command {
    cairn_control_request request;               // its room is NULL unless the words name one
    const char *file;                            // of save-read and save-write; NULL for the others
    cairn_vec3 points[CAIRN_CONTROL_POINTS_MAX]; // of spawn and spawn-mesh
    cairn_control_part parts[CAIRN_CONTROL_PARTS_MAX];
    cairn_control_triangle triangles[CAIRN_CONTROL_TRIANGLES_MAX];
    cairn_control_height heights[CAIRN_CONTROL_HEIGHTS_MAX];
} cairn_ctl_command;

// words[0] is the verb. False: `error` holds one sentence, with the verb's usage.
bool cairn_ctl_parse(const char *const *words, size_t word_count, cairn_ctl_command *out,
    char error[CAIRN_CTL_ERROR_SIZE]);

// Every verb with its arguments and what it does, for --help.
const cairn_flags_verb *cairn_ctl_verbs(size_t *count);
// Usage, meaning and the fields of the answer, on standard output. False if there is no such verb.
bool cairn_ctl_help_print(const char *verb);
