// SPDX-License-Identifier: MIT
#pragma once

// Flags from a file: one JSON object. Each member has the name of a flag without its dashes; the
// value is a text, a number or, for a switch, true or false; for a flag that may be repeated a list
// of these.

#include <stddef.h>
#include <stdint.h>

#include "program/flags_table.h"

// Larger files are refused.
#define CAIRN_CONFIG_FILE_SIZE_MAX 65536

// `line` and `column`, from 1, say where the value, or the syntax error, begins. 0: the message is
// about the file.
typedef void cairn_config_complaint(
    void *user, uint32_t line, uint32_t column, const char *sentence);

// Where a value begins.
typedef struct cairn_config_place {
    const char *text;
    uint32_t line;
    uint32_t column;
} cairn_config_place;
#define CAIRN_CONFIG_PLACES_MAX 1024

// The values of a file as texts, which flags point to. None is longer than in the file.
typedef struct cairn_config_texts {
    size_t size;
    char bytes[2 * CAIRN_CONFIG_FILE_SIZE_MAX];
    uint32_t place_count; // of the first values
    cairn_config_place places[CAIRN_CONFIG_PLACES_MAX];
} cairn_config_texts;

// Sets what the file says; its texts are in `texts`. Returns how many mistakes it has; each was
// handed to `complain`.
uint32_t cairn_config_file_read(const cairn_flags_program *program, const char *path,
    cairn_config_texts *texts, cairn_config_complaint *complain, void *user);
// The first value that is `begin`, or begins with it and a comma. NULL: none.
const cairn_config_place *cairn_config_texts_find(
    const cairn_config_texts *texts, const char *begin);
