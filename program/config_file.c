// SPDX-License-Identifier: MIT
#include "program/config_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "program/flags.h"
#include "program/json.h"

#define NAME_SIZE 64
// Of members that are compared: more than there are flags.
#define MEMBERS_MAX 256

// The text is JSON when this walks through it, so it may trust what it finds.
typedef struct walk {
    const cairn_flags_program *program;
    cairn_config_texts *texts;
    cairn_config_complaint *complain;
    void *user;
    uint32_t mistakes;
    const char *at;
    const char *end;
    const char *line_begin;
    uint32_t line;
    struct {
        char name[NAME_SIZE];
        uint32_t line;
    } seen[MEMBERS_MAX];
    uint32_t seen_count;
} walk;

static void complain(walk *w, const char *at, const char *sentence) {
    w->mistakes += 1;
    w->complain(w->user, w->line, (uint32_t)(at - w->line_begin) + 1, sentence);
}

static void skip_space(walk *w) {
    for (; w->at < w->end && strchr(" \t\r\n", *w->at) != NULL; ++w->at) {
        if (*w->at == '\n') {
            w->line += 1;
            w->line_begin = w->at + 1;
        }
    }
}

static void expect(walk *w, char letter) {
    skip_space(w);
    CAIRN_ASSERT(w->at < w->end && *w->at == letter);
    w->at += 1;
    skip_space(w);
}

static bool take(walk *w, char letter) {
    skip_space(w);
    const bool found = w->at < w->end && *w->at == letter;
    w->at += found ? 1 : 0;
    skip_space(w);
    return found;
}

// Leaves the walk after the text, which has no line in it. Returns its size with the quotes.
static size_t skip_text(walk *w) {
    const char *begin = w->at;
    CAIRN_ASSERT(*begin == '"');
    for (w->at += 1; *w->at != '"'; ++w->at) {
        w->at += *w->at == '\\' ? 1 : 0;
    }
    w->at += 1;
    return (size_t)(w->at - begin);
}

// What flags do not take: an object, or a list in a list.
static void skip_nested(walk *w) {
    uint32_t depth = 0;
    do {
        if (*w->at == '"') {
            (void)skip_text(w);
        } else {
            depth += *w->at == '{' || *w->at == '[' ? 1 : 0;
            depth -= *w->at == '}' || *w->at == ']' ? 1 : 0;
            w->at += 1;
        }
        skip_space(w);
    } while (depth > 0);
}

// A number, true, false or null.
static size_t skip_word(walk *w) {
    const char *begin = w->at;
    while (w->at < w->end && strchr(",]} \t\r\n", *w->at) == NULL) {
        w->at += 1;
    }
    return (size_t)(w->at - begin);
}

static void skip_value(walk *w) {
    if (*w->at == '{' || *w->at == '[') {
        skip_nested(w);
    } else {
        (void)(*w->at == '"' ? skip_text(w) : skip_word(w));
    }
}

// Whether the member is the first of its name.
static bool is_first(walk *w, const char *at, const char *name) {
    char error[CAIRN_FLAGS_ERROR_SIZE];
    for (uint32_t i = 0; i < w->seen_count; ++i) {
        if (strcmp(w->seen[i].name, name) == 0) {
            snprintf(
                error, sizeof error, "%s: is in line %" PRIu32 " already", name, w->seen[i].line);
            complain(w, at, error);
            return false;
        }
    }
    if (w->seen_count < MEMBERS_MAX) {
        memcpy(w->seen[w->seen_count].name, name, NAME_SIZE);
        w->seen[w->seen_count++].line = w->line;
    }
    return true;
}

static const char *keep_text(cairn_config_texts *texts, const char *bytes, size_t size) {
    char *out = texts->bytes + texts->size;
    if (bytes[0] == '"') {
        const bool unquoted =
            cairn_json_unquote(bytes, size, out, sizeof texts->bytes - texts->size);
        CAIRN_ASSERT(unquoted);
    } else {
        memcpy(out, bytes, size);
        out[size] = '\0';
    }
    texts->size += strlen(out) + 1;
    return out;
}

static void keep_place(walk *w, const char *at, const char *text) {
    cairn_config_texts *texts = w->texts;
    if (texts->place_count < CAIRN_CONFIG_PLACES_MAX) {
        texts->places[texts->place_count++] = (cairn_config_place){
            .text = text, .line = w->line, .column = (uint32_t)(at - w->line_begin) + 1};
    }
}

static void set_flag(walk *w, const char *name, const char *at, const char *value, bool first) {
    char error[CAIRN_FLAGS_ERROR_SIZE];
    keep_place(w, at, value);
    const bool is_word = *at == 't' || *at == 'f' || *at == 'n';
    if (!cairn_flags_set(w->program, name, value, is_word, first, error)) {
        complain(w, at, error);
    }
}

// One text, number or word; the walk stands on it. `name` NULL: it is passed over.
static void read_value(walk *w, const char *name, bool first) {
    const char *at = w->at;
    if (name == NULL) {
        skip_value(w);
        return;
    }
    if (*at == '{' || *at == '[') {
        complain(w, at, "must be a text, a number, true, false, or a list of them");
        skip_nested(w);
        return;
    }
    const size_t size = *at == '"' ? skip_text(w) : skip_word(w);
    set_flag(w, name, at, keep_text(w->texts, at, size), first);
}

static void read_member(walk *w) {
    char name[NAME_SIZE] = "";
    const char *at = w->at;
    if (!cairn_json_unquote(at, skip_text(w), name, sizeof name)) {
        snprintf(name, sizeof name, "%.20s...", at + 1);
    }
    const char *wanted = is_first(w, at, name) ? name : NULL;
    expect(w, ':');
    if (*w->at != '[') {
        read_value(w, wanted, true);
        return;
    }
    expect(w, '[');
    for (bool first = true; !take(w, ']'); first = false) {
        read_value(w, wanted, first);
        (void)take(w, ',');
    }
}

static void read_object(walk *w) {
    expect(w, '{');
    while (!take(w, '}')) {
        read_member(w);
        (void)take(w, ',');
    }
}

static size_t read_text(const char *path, char *text, const char **why) {
    FILE *file = fopen(path, "rb");
    *why = file == NULL ? strerror(errno) : NULL;
    const size_t size = file == NULL ? 0 : fread(text, 1, CAIRN_CONFIG_FILE_SIZE_MAX + 1, file);
    if (file != NULL && ferror(file) != 0) {
        *why = strerror(errno);
    } else if (size > CAIRN_CONFIG_FILE_SIZE_MAX) {
        *why = "the file is larger than 64 KiB";
    }
    if (file != NULL) {
        fclose(file);
    }
    return size;
}

uint32_t cairn_config_file_read(const cairn_flags_program *program, const char *path,
    cairn_config_texts *texts, cairn_config_complaint *complaint, void *user) {
    static char text[CAIRN_CONFIG_FILE_SIZE_MAX + 1];
    char error[CAIRN_FLAGS_ERROR_SIZE];
    const char *why;
    uint32_t line = 0;
    uint32_t column = 0;
    texts->size = 0;
    texts->place_count = 0;
    const size_t size = read_text(path, text, &why);
    if (why != NULL) {
        complaint(user, 0, 0, why);
        return 1;
    }
    if (!cairn_json_check(text, size, true, &line, &column, error, sizeof error)) {
        complaint(user, line, column, error);
        return 1;
    }
    walk w = {.program = program,
        .texts = texts,
        .complain = complaint,
        .user = user,
        .at = text,
        .end = text + size,
        .line_begin = text,
        .line = 1};
    read_object(&w);
    return w.mistakes;
}

const cairn_config_place *cairn_config_texts_find(
    const cairn_config_texts *texts, const char *begin) {
    const size_t size = strlen(begin);
    for (uint32_t i = 0; i < texts->place_count; ++i) {
        const char *text = texts->places[i].text;
        if (strncmp(text, begin, size) == 0 && (text[size] == '\0' || text[size] == ',')) {
            return &texts->places[i];
        }
    }
    return NULL;
}
