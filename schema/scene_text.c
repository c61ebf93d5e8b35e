// SPDX-License-Identifier: MIT
#include "schema/scene_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

// What the parser builds costs some hundred bytes for each object or list; the largest world needs
// fewer of them.
enum { BRACKETS_MAX = 1048576 };

typedef struct scanner {
    unsigned long line;
    unsigned long column;
    bool in_text;
    bool in_comment;
    bool escaped; // the character before was a backslash inside a text
} scanner;

static void write_error(char *error, unsigned long line, unsigned long column, const char *words) {
    CAIRN_ASSERT(error != NULL && words != NULL);
    snprintf(error, CAIRN_SCENE_ERROR_SIZE, "line %lu, column %lu: %.200s", line, column, words);
    for (char *c = error; *c != '\0'; ++c) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
}

static void advance(scanner *s, char c, char next) {
    CAIRN_ASSERT(!(s->in_text && s->in_comment));
    s->column += 1;
    if (c == '\n') {
        s->line += 1;
        s->column = 0;
        s->in_comment = false;
    } else if (s->in_text) {
        s->in_text = c != '"' || s->escaped;
        s->escaped = c == '\\' && !s->escaped;
    } else if (!s->in_comment) {
        s->in_text = c == '"';
        s->in_comment = c == '/' && next == '/';
    }
}

bool cairn_scene_text_check(const char *json, size_t size, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(json != NULL || size == 0);
    scanner s = {.line = 1};
    uint32_t brackets = 0;
    for (size_t i = 0; i < size; ++i) {
        advance(&s, json[i], i + 1 < size ? json[i + 1] : '\0');
        const bool is_code = !s.in_text && !s.in_comment;
        brackets += is_code && (json[i] == '{' || json[i] == '[');
        const char *refusal = json[i] == '\0'             ? "a zero byte is not allowed"
                              : brackets > BRACKETS_MAX   ? "more than 1048576 objects and lists"
                              : is_code && json[i] == '(' ? "functions are not allowed"
                                                          : NULL;
        if (refusal != NULL) {
            write_error(error, s.line, s.column, refusal);
            return false;
        }
    }
    return true;
}

void cairn_scene_text_explain(const char *said, char error[CAIRN_SCENE_ERROR_SIZE]) {
    CAIRN_ASSERT(said != NULL && error != NULL);
    char *end = NULL;
    const unsigned long line = strtoul(said, &end, 10);
    const unsigned long column = *end == ':' ? strtoul(end + 1, &end, 10) : 0;
    const char *words = strstr(end, "error: ");
    char first_line[CAIRN_SCENE_ERROR_SIZE];
    snprintf(first_line, sizeof first_line, "%s", words == NULL ? end : words + 7);
    first_line[strcspn(first_line, "\n")] = '\0';
    write_error(error, line, column, first_line);
}
