// SPDX-License-Identifier: MIT
#include "schema/scene_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/nearest_word.h"
#include <cairn/math.h>

enum { WORDS_SIZE = 160 };

// ---- Messages

static void add_message(cairn_scene_reader *r, size_t at, cairn_status status, const char *field,
    const char *format, va_list arguments) {
    cairn_scene_report *report = r->report;
    const bool warning = status == CAIRN_OK;
    *(warning ? &report->warning_count : &report->error_count) += 1;
    if (report->status == CAIRN_OK) {
        report->status = status;
    }
    if (report->count == CAIRN_SCENE_MESSAGES_MAX) {
        return;
    }
    cairn_scene_message *message = &report->messages[report->count++];
    *message = (cairn_scene_message){.status = status};
    cairn_json_document_place(&r->document, at, &message->line, &message->column);
    char *text = message->text;
    const size_t size = sizeof message->text;
    size_t used = 0;
    for (uint32_t i = 0; i < r->path_length; ++i) {
        used += (size_t)snprintf(text + used, size - used, "%s%s[%u]", i == 0 ? "" : ".",
            r->path[i].name, (unsigned)r->path[i].index);
    }
    if (field != NULL) {
        used += (size_t)snprintf(
            text + used, size - used, "%s%.48s", r->path_length == 0 ? "" : ".", field);
    }
    used += (size_t)snprintf(text + used, size - used, "%s", used == 0 ? "" : ": ");
    CAIRN_ASSERT(used < size);
    vsnprintf(text + used, size - used, format, arguments);
    for (char *c = text; *c != '\0'; ++c) {
        *c = *c >= ' ' && *c <= '~' ? *c : '?';
    }
}

void cairn_scene_fail(cairn_scene_reader *r, size_t at, cairn_status status, const char *field,
    const char *format, ...) {
    CAIRN_ASSERT(status != CAIRN_OK);
    va_list arguments;
    va_start(arguments, format);
    add_message(r, at, status, field, format, arguments);
    va_end(arguments);
}

void cairn_scene_warn(
    cairn_scene_reader *r, size_t at, const char *field, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    add_message(r, at, CAIRN_OK, field, format, arguments);
    va_end(arguments);
}

// ---- The tree

static const cairn_json_node *node_at(const cairn_scene_reader *r, uint32_t index) {
    return index == 0 ? NULL : &r->document.nodes[index];
}

const cairn_json_node *cairn_scene_member(
    const cairn_scene_reader *r, const cairn_json_node *object, const char *name) {
    const cairn_json_node *member = node_at(r, object->child);
    while (member != NULL && !cairn_json_key_is(&r->document, member, name)) {
        member = node_at(r, member->next);
    }
    return member;
}

size_t cairn_scene_place(
    const cairn_scene_reader *r, const cairn_json_node *object, const char *name) {
    const cairn_json_node *member = cairn_scene_member(r, object, name);
    return member != NULL ? member->at : object->at;
}

const cairn_json_node *cairn_scene_next_element(const cairn_scene_reader *r,
    const cairn_json_node *object, const char *name, const cairn_json_node *last) {
    const cairn_json_node *element = NULL;
    if (last != NULL) {
        element = node_at(r, last->next);
    } else {
        const cairn_json_node *list = cairn_scene_member(r, object, name);
        element = list == NULL || list->kind != CAIRN_JSON_LIST ? NULL : node_at(r, list->child);
    }
    while (element != NULL && element->kind != CAIRN_JSON_OBJECT) {
        element = node_at(r, element->next);
    }
    return element;
}

void cairn_scene_path_push(cairn_scene_reader *r, const char *name, uint32_t index) {
    CAIRN_ASSERT(r->path_length < CAIRN_SCENE_PATH_MAX);
    r->path[r->path_length].name = name;
    r->path[r->path_length].index = index;
    r->path_length += 1;
}

void cairn_scene_path_pop(cairn_scene_reader *r) {
    CAIRN_ASSERT(r->path_length > 0);
    r->path_length -= 1;
}

// ---- Values

static const char *kind_words(uint32_t kind) {
    static const char *const words[] = {
        "null", "false", "true", "a number", "a text", "a list of numbers", "a list", "an object"};
    return words[kind];
}

static void fail_kind(cairn_scene_reader *r, const cairn_json_node *value,
    const cairn_scene_field *field, const char *must) {
    cairn_scene_fail(r, value->at, CAIRN_MALFORMED, field->name, "must be %s, is %s", must,
        value->kind == CAIRN_JSON_LIST && value->count == 0 ? "an empty list"
                                                            : kind_words(value->kind));
}

// The number as it is written.
static int number_length(const cairn_scene_reader *r, size_t at, size_t end) {
    CAIRN_ASSERT(end > at && end <= r->document.size);
    return end - at < 24 ? (int)(end - at) : 24;
}

static bool read_float(cairn_scene_reader *r, const cairn_scene_field *field, const char *name,
    size_t at, float *out, size_t *end) {
    const float value = cairn_json_float(&r->document, at, end) + 0.0f; // never -0
    double least, most;
    cairn_scene_field_range(field, &least, &most);
    if (!cairn_float_finite(value)) {
        cairn_scene_fail(r, at, CAIRN_NON_FINITE, name, "must be a finite number");
        return false;
    }
    if (value < (float)least || value > (float)most) {
        cairn_scene_fail(r, at, CAIRN_INVALID_ARGUMENT, name, "must be in [%g, %g], is %.*s", least,
            most, number_length(r, at, *end), r->document.text + at);
        return false;
    }
    *out = value;
    return true;
}

static bool read_whole(cairn_scene_reader *r, const cairn_scene_field *field, const char *name,
    size_t at, uint64_t *out, size_t *end) {
    double least, most;
    cairn_scene_field_range(field, &least, &most);
    const bool whole = cairn_json_whole(&r->document, at, out, end);
    if (whole && (double)*out >= least && (double)*out <= most) {
        return true;
    }
    char range[64] = "below 2^64";
    if (most < 1.8e19) {
        snprintf(range, sizeof range, "in [%.0f, %.0f]", least, most);
    }
    cairn_scene_fail(r, at, CAIRN_INVALID_ARGUMENT, name, "must be a whole number %s, is %.*s",
        range, number_length(r, at, *end), r->document.text + at);
    return false;
}

// A list of `count` numbers, whole ones if `words` is given.
static void read_vector(cairn_scene_reader *r, const cairn_json_node *value,
    const cairn_scene_field *field, uint32_t count, float *floats, uint32_t *words) {
    const char *const form = count == 4 ? "[x, y, z, w]" : "[x, y, z]";
    if (value->kind != CAIRN_JSON_NUMBERS) {
        char must[64];
        snprintf(must, sizeof must, "a list of %u numbers %s", (unsigned)count, form);
        fail_kind(r, value, field, must);
        return;
    }
    if (value->count != count) {
        cairn_scene_fail(r, value->at, CAIRN_MALFORMED, field->name,
            "must be a list of %u numbers %s, has %u", (unsigned)count, form,
            (unsigned)value->count);
        return;
    }
    size_t at = cairn_json_number_next(&r->document, value->at + 1);
    for (uint32_t i = 0; i < count; ++i) {
        char name[48];
        size_t end;
        uint64_t whole;
        snprintf(name, sizeof name, "%.32s.%c", field->name, "xyzw"[i]);
        if (words == NULL) {
            (void)read_float(r, field, name, at, &floats[i], &end);
        } else if (read_whole(r, field, name, at, &whole, &end)) {
            words[i] = (uint32_t)whole;
        }
        at = cairn_json_number_next(&r->document, end);
    }
}

static void add_hint(char *text, size_t size, const char *best) {
    const size_t used = strlen(text);
    if (best != NULL) {
        snprintf(text + used, size - used, "; did you mean %s?", best);
    }
}

static void read_choice(cairn_scene_reader *r, const cairn_json_node *value,
    const cairn_scene_field *field, uint32_t *out) {
    char text[48] = "", allowed[WORDS_SIZE] = "one of";
    const char *best = NULL;
    uint32_t distance = UINT32_MAX;
    if (value->kind == CAIRN_JSON_TEXT) {
        (void)cairn_json_text_copy(&r->document, value->at + 1, text, sizeof text);
    }
    for (uint32_t i = 0; field->words[i] != NULL; ++i) {
        const char *word = field->words[i];
        if (value->kind == CAIRN_JSON_TEXT && word[0] != '\0' && strcmp(word, text) == 0) {
            *out = i;
            return;
        }
        const size_t used = strlen(allowed);
        if (word[0] != '\0') {
            snprintf(allowed + used, sizeof allowed - used, "%s \"%s\"",
                allowed[used - 1] == 'f' ? "" : ",", word);
            best = cairn_word_is_nearer(text, word, &distance) ? word : best;
        }
    }
    if (value->kind != CAIRN_JSON_TEXT) {
        fail_kind(r, value, field, allowed);
        return;
    }
    add_hint(allowed, sizeof allowed, best);
    cairn_scene_fail(r, value->at, CAIRN_MALFORMED, field->name, "must be %s", allowed);
}

static void read_name(cairn_scene_reader *r, const cairn_json_node *value,
    const cairn_scene_field *field, char *out) {
    char text[CAIRN_NAME_SIZE_MAX + 2];
    if (value->kind != CAIRN_JSON_TEXT) {
        fail_kind(r, value, field, "a text");
        return;
    }
    const size_t length = cairn_json_text_copy(&r->document, value->at + 1, text, sizeof text);
    bool printable = true;
    for (const char *c = text; *c != '\0'; ++c) {
        printable = printable && *c >= ' ' && *c <= '~';
    }
    if (length > CAIRN_NAME_SIZE_MAX || !printable) {
        cairn_scene_fail(r, value->at, CAIRN_INVALID_ARGUMENT, field->name,
            "must be at most %d characters of printable ASCII", CAIRN_NAME_SIZE_MAX);
    } else if (length == 0 && field->required) {
        cairn_scene_fail(r, value->at, CAIRN_INVALID_ARGUMENT, field->name, "must not be empty");
    } else {
        memcpy(out, text, length + 1);
    }
}

static void check_list(
    cairn_scene_reader *r, const cairn_json_node *value, const cairn_scene_field *field) {
    const bool objects = field->type == CAIRN_SCENE_OBJECTS;
    const bool plain = field->type == CAIRN_SCENE_FLOATS || field->type == CAIRN_SCENE_WORDS;
    const bool empty = value->kind == CAIRN_JSON_LIST && value->count == 0;
    if (value->kind != (plain ? CAIRN_JSON_NUMBERS : CAIRN_JSON_LIST) && !empty) {
        fail_kind(r, value, field,
            objects ? "a list of objects"
            : plain ? "a list of numbers"
                    : "a list of [x, y, z]");
        return;
    }
    uint32_t i = 0;
    for (const cairn_json_node *element = node_at(r, value->child); element != NULL && objects;
         element = node_at(r, element->next), ++i) {
        if (element->kind != CAIRN_JSON_OBJECT) {
            cairn_scene_path_push(r, field->name, i);
            cairn_scene_fail(r, element->at, CAIRN_MALFORMED, NULL, "must be an object, is %s",
                kind_words(element->kind));
            cairn_scene_path_pop(r);
        }
    }
}

static void read_value(cairn_scene_reader *r, const cairn_json_node *value,
    const cairn_scene_field *field, char *out) {
    uint64_t whole;
    size_t end;
    void *const place = out + field->offset;
    switch (field->type) {
    case CAIRN_SCENE_FLOAT:
        if (value->kind != CAIRN_JSON_NUMBER) {
            fail_kind(r, value, field, "a number");
        } else {
            (void)read_float(r, field, field->name, value->at, place, &end);
        }
        return;
    case CAIRN_SCENE_WORD:
    case CAIRN_SCENE_LONG:
        if (value->kind != CAIRN_JSON_NUMBER) {
            fail_kind(r, value, field, "a whole number");
        } else if (read_whole(r, field, field->name, value->at, &whole, &end)) {
            const uint32_t word = (uint32_t)whole;
            memcpy(place, field->type == CAIRN_SCENE_LONG ? (const void *)&whole : &word,
                field->type == CAIRN_SCENE_LONG ? sizeof whole : sizeof word);
        }
        return;
    case CAIRN_SCENE_SWITCH:
        if (value->kind != CAIRN_JSON_TRUE && value->kind != CAIRN_JSON_FALSE) {
            fail_kind(r, value, field, "true or false");
        } else {
            *(uint32_t *)place = value->kind == CAIRN_JSON_TRUE;
        }
        return;
    case CAIRN_SCENE_CHOICE:
        read_choice(r, value, field, place);
        return;
    case CAIRN_SCENE_NAME:
        read_name(r, value, field, place);
        return;
    case CAIRN_SCENE_LABEL: {
        char label[CAIRN_NAME_SIZE_MAX + 1] = "";
        read_name(r, value, field, label);
        *(uint32_t *)place = label[0] == '\0' ? 0 : cairn_name_hash(label);
        return;
    }
    case CAIRN_SCENE_VEC3:
        read_vector(r, value, field, 3, place, NULL);
        return;
    case CAIRN_SCENE_QUAT:
        read_vector(r, value, field, 4, place, NULL);
        return;
    case CAIRN_SCENE_WORDS3:
        read_vector(r, value, field, 3, NULL, place);
        return;
    case CAIRN_SCENE_IGNORED:
        return;
    default:
        check_list(r, value, field);
        return;
    }
}

// ---- Objects

static void fail_unknown(
    cairn_scene_reader *r, const cairn_json_node *member, const cairn_scene_object *table) {
    char key[48], text[WORDS_SIZE];
    const char *best = NULL;
    uint32_t distance = UINT32_MAX;
    (void)cairn_json_text_copy(&r->document, member->key, key, sizeof key);
    for (uint32_t i = 0; i < table->field_count; ++i) {
        const char *name = table->fields[i].name;
        best = cairn_word_is_nearer(key, name, &distance) ? name : best;
    }
    snprintf(text, sizeof text, "a %s has no such field", table->name);
    add_hint(text, sizeof text, best);
    cairn_scene_fail(r, member->key - 1, CAIRN_MALFORMED, key, "%s", text);
}

static void finish_object(cairn_scene_reader *r, const cairn_json_node *object,
    const cairn_scene_object *table, uint64_t seen, const char *out) {
    for (uint32_t i = 0; i < table->field_count; ++i) {
        const cairn_scene_field *field = &table->fields[i];
        const bool given = (seen >> i & 1) != 0;
        if (field->required && !given) {
            cairn_scene_fail(r, object->at, CAIRN_MALFORMED, field->name,
                "is missing; each %s must have it", table->name);
        }
        uint32_t kind = 0;
        if (given && field->kinds != 0) {
            memcpy(&kind, out + table->kind, sizeof kind);
        }
        if (given && field->kinds != 0 && (field->kinds >> kind & 1) == 0) {
            const char *const *words = table->fields[0].words;
            cairn_scene_warn(r, cairn_scene_place(r, object, field->name), field->name,
                "is ignored: a %s of kind \"%s\" does not use it", table->name, words[kind]);
        }
    }
}

void cairn_scene_read_object(cairn_scene_reader *r, const cairn_json_node *object,
    const cairn_scene_object *table, void *out) {
    CAIRN_ASSERT(object->kind == CAIRN_JSON_OBJECT && table->field_count <= 64);
    uint64_t seen = 0;
    for (const cairn_json_node *member = node_at(r, object->child); member != NULL;
         member = node_at(r, member->next)) {
        uint32_t i = 0;
        while (i < table->field_count &&
               !cairn_json_key_is(&r->document, member, table->fields[i].name)) {
            i += 1;
        }
        if (i == table->field_count) {
            fail_unknown(r, member, table);
        } else if ((seen >> i & 1) != 0) {
            cairn_scene_fail(
                r, member->key - 1, CAIRN_MALFORMED, table->fields[i].name, "is given twice");
        } else {
            seen |= UINT64_C(1) << i;
            read_value(r, member, &table->fields[i], out);
        }
    }
    finish_object(r, object, table, seen, out);
}

// ---- Lists of numbers

void *cairn_scene_grow(cairn_scene_reader *r, void *array, uint32_t count, uint32_t more,
    uint32_t *capacity, size_t size) {
    if (more <= *capacity - count) {
        return array;
    }
    uint64_t wanted = (uint64_t)count + more;
    wanted = wanted < 2 * (uint64_t)*capacity ? 2 * (uint64_t)*capacity : wanted;
    void *wider = wanted > UINT32_MAX ? NULL : realloc(array, (size_t)wanted * size);
    if (wider == NULL) {
        r->out_of_memory = true;
        return array;
    }
    *capacity = (uint32_t)wanted;
    return wider;
}

// Appends a list of floats, or of whole numbers as words; both have four bytes.
static void *read_numbers(cairn_scene_reader *r, const cairn_json_node *object,
    const cairn_scene_field *field, bool whole, void *array, uint32_t *count, uint32_t *capacity) {
    _Static_assert(sizeof(float) == sizeof(uint32_t), "one size");
    const cairn_json_node *list = cairn_scene_member(r, object, field->name);
    if (list == NULL || list->kind != CAIRN_JSON_NUMBERS) {
        return array;
    }
    array = cairn_scene_grow(r, array, *count, list->count, capacity, sizeof(uint32_t));
    size_t at = cairn_json_number_next(&r->document, list->at + 1), end;
    for (uint32_t i = 0; i < list->count && !r->out_of_memory; ++i) {
        if (whole) {
            uint64_t number = 0;
            (void)read_whole(r, field, field->name, at, &number, &end);
            ((uint32_t *)array)[(*count)++] = (uint32_t)number;
        } else {
            float number = 0.0f;
            (void)read_float(r, field, field->name, at, &number, &end);
            ((float *)array)[(*count)++] = number;
        }
        at = cairn_json_number_next(&r->document, end);
    }
    return array;
}

float *cairn_scene_read_floats(cairn_scene_reader *r, const cairn_json_node *object,
    const cairn_scene_field *field, float *array, uint32_t *count, uint32_t *capacity) {
    return read_numbers(r, object, field, false, array, count, capacity);
}

uint32_t *cairn_scene_read_words(cairn_scene_reader *r, const cairn_json_node *object,
    const cairn_scene_field *field, uint32_t *array, uint32_t *count, uint32_t *capacity) {
    return read_numbers(r, object, field, true, array, count, capacity);
}

cairn_vec3 *cairn_scene_read_points(cairn_scene_reader *r, const cairn_json_node *object,
    const cairn_scene_field *field, cairn_vec3 *array, uint32_t *count, uint32_t *capacity) {
    const cairn_json_node *list = cairn_scene_member(r, object, field->name);
    if (list == NULL || list->kind != CAIRN_JSON_LIST) {
        return array;
    }
    array = cairn_scene_grow(r, array, *count, list->count, capacity, sizeof *array);
    uint32_t i = 0;
    for (const cairn_json_node *point = node_at(r, list->child); point != NULL && !r->out_of_memory;
         point = node_at(r, point->next)) {
        char name[32];
        snprintf(name, sizeof name, "%.15s[%u]", field->name, (unsigned)i++);
        cairn_scene_field element = *field;
        element.name = name;
        float numbers[3] = {0.0f, 0.0f, 0.0f};
        read_vector(r, point, &element, 3, numbers, NULL);
        array[(*count)++] = cairn_vec3_of(numbers[0], numbers[1], numbers[2]);
    }
    return array;
}
