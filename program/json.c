// SPDX-License-Identifier: MIT
#include "program/json.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define PRINT_FLAGS (JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9))

// The library's value under our name: cairn_json is never defined.
static json_t *value_of(cairn_json *json) {
    return (json_t *)json;
}

static const json_t *constant_value_of(const cairn_json *json) {
    return (const json_t *)json;
}

cairn_json *cairn_json_create(void) {
    return (cairn_json *)json_object();
}

cairn_json *cairn_json_create_array(void) {
    return (cairn_json *)json_array();
}

void cairn_json_destroy(cairn_json *json) {
    json_decref(value_of(json));
}

// Takes ownership of the value, even if it cannot be added. Returns it; NULL if it was not added.
static json_t *put(cairn_json *json, const char *name, json_t *value) {
    CAIRN_ASSERT(json == NULL || json_is_array(value_of(json)) == (name == NULL));
    const int failed = name == NULL ? json_array_append_new(value_of(json), value)
                                    : json_object_set_new(value_of(json), name, value);
    return failed == 0 ? value : NULL;
}

// Two bytes of UTF-8 for each byte above 0x7f.
static json_t *latin1_string(const unsigned char *bytes, size_t size) {
    char *utf8 = malloc(2 * size + 1);
    size_t at = 0;
    for (size_t i = 0; utf8 != NULL && i < size; ++i) {
        if (bytes[i] >= 0x80) {
            utf8[at++] = (char)(0xc0 | bytes[i] >> 6);
        }
        utf8[at++] = (char)(bytes[i] < 0x80 ? bytes[i] : 0x80 | (bytes[i] & 0x3f));
    }
    CAIRN_ASSERT(at <= 2 * size);
    json_t *string = utf8 == NULL ? NULL : json_stringn(utf8, at);
    free(utf8);
    return string;
}

void cairn_json_put_bytes(cairn_json *json, const char *name, const void *text, size_t size) {
    CAIRN_ASSERT(text != NULL || size == 0);
    json_t *string = json_stringn(text, size);
    put(json, name, string != NULL ? string : latin1_string(text, size));
}

void cairn_json_put_text(cairn_json *json, const char *name, const char *text) {
    CAIRN_ASSERT(text != NULL);
    cairn_json_put_bytes(json, name, text, strlen(text));
}

void cairn_json_put_count(cairn_json *json, const char *name, uint64_t count) {
    put(json, name,
        count <= INT64_MAX ? json_integer((json_int_t)count) : json_sprintf("%" PRIu64, count));
}

void cairn_json_put_integer(cairn_json *json, const char *name, int64_t integer) {
    put(json, name, json_integer(integer));
}

void cairn_json_put_real(cairn_json *json, const char *name, double real) {
    json_t *value = json_real(real); // NULL when it is not finite
    put(json, name, value != NULL ? value : json_null());
}

void cairn_json_put_bool(cairn_json *json, const char *name, bool value) {
    put(json, name, json_boolean(value));
}

void cairn_json_put_null(cairn_json *json, const char *name) {
    put(json, name, json_null());
}

cairn_json *cairn_json_put_object(cairn_json *json, const char *name) {
    return (cairn_json *)put(json, name, json_object());
}

cairn_json *cairn_json_put_array(cairn_json *json, const char *name) {
    return (cairn_json *)put(json, name, json_array());
}

bool cairn_json_print(const cairn_json *json, FILE *out) {
    CAIRN_ASSERT(out != NULL);
    return json_dumpf(constant_value_of(json), out, PRINT_FLAGS) == 0 && fputc('\n', out) == '\n' &&
           fflush(out) == 0;
}

size_t cairn_json_write(const cairn_json *json, char *out, size_t size) {
    CAIRN_ASSERT(out != NULL || size == 0);
    const size_t needed = json_dumpb(constant_value_of(json), out, size, PRINT_FLAGS);
    if (needed == 0 || needed >= size) {
        return 0;
    }
    out[needed] = '\n';
    return needed + 1;
}

char *cairn_json_text(const cairn_json *json, size_t *size) {
    CAIRN_ASSERT(size != NULL);
    char *text = json_dumps(constant_value_of(json), PRINT_FLAGS);
    *size = text == NULL ? 0 : strlen(text);
    return text;
}

cairn_json *cairn_json_parse(const char *text, size_t size) {
    CAIRN_ASSERT(text != NULL || size == 0);
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(value)) {
        json_decref(value);
        return NULL;
    }
    return (cairn_json *)value;
}

bool cairn_json_check(const char *text, size_t size, bool repeats, uint32_t *line, uint32_t *column,
    char *why, size_t why_size) {
    CAIRN_ASSERT(text != NULL && line != NULL && column != NULL && why_size > 0);
    json_error_t error = {.line = 1, .column = 1, .text = "must be an object: { ... }"};
    json_t *value = json_loadb(text, size, repeats ? 0 : JSON_REJECT_DUPLICATES, &error);
    const bool good = json_is_object(value);
    if (value != NULL && !good) {
        error = (json_error_t){.line = 1, .column = 1, .text = "must be an object: { ... }"};
    }
    json_decref(value);
    *line = (uint32_t)error.line;
    *column = (uint32_t)error.column;
    snprintf(why, why_size, "%s", error.text);
    return good;
}

bool cairn_json_unquote(const char *quoted, size_t size, char *out, size_t out_size) {
    json_t *value = json_loadb(quoted, size, JSON_DECODE_ANY, NULL);
    const size_t length = json_string_length(value);
    const bool fits = json_is_string(value) && length < out_size;
    if (fits) {
        memcpy(out, json_string_value(value), length);
        out[length] = '\0';
    }
    json_decref(value);
    return fits;
}

bool cairn_json_get_number(const cairn_json *json, const char *name, double *out) {
    CAIRN_ASSERT(name != NULL && out != NULL);
    const json_t *value = json_object_get(constant_value_of(json), name);
    *out = json_is_number(value) ? json_number_value(value) : *out;
    return json_is_number(value);
}

const cairn_json *cairn_json_get_object(const cairn_json *json, const char *name) {
    const json_t *value = json_object_get(constant_value_of(json), name);
    return json_is_object(value) ? (const cairn_json *)(const void *)value : NULL;
}

const cairn_json *cairn_json_get_element(const cairn_json *json, const char *name, size_t index) {
    const json_t *value = json_array_get(json_object_get(constant_value_of(json), name), index);
    return json_is_object(value) ? (const cairn_json *)(const void *)value : NULL;
}

bool cairn_json_get_bool(const cairn_json *json, const char *name, bool *out) {
    CAIRN_ASSERT(name != NULL && out != NULL);
    const json_t *value = json_object_get(constant_value_of(json), name);
    *out = json_is_boolean(value) ? json_is_true(value) : *out;
    return json_is_boolean(value);
}

bool cairn_json_get_text(const cairn_json *json, const char *name, char *out, size_t size) {
    const char *text = json_string_value(json_object_get(constant_value_of(json), name));
    CAIRN_ASSERT(size > 0);
    if (text == NULL) {
        return false;
    }
    const size_t length = strlen(text) < size ? strlen(text) : size - 1;
    CAIRN_ASSERT(length < size);
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

cairn_json *cairn_json_member(const cairn_json *json, const char *name) {
    CAIRN_ASSERT(name != NULL);
    return (cairn_json *)json_object_get(constant_value_of(json), name);
}

const char *cairn_json_first_name(const cairn_json *json) {
    json_t *object = value_of((cairn_json *)json); // the library's iterators take no constant
    return json_object_iter_key(json_object_iter(object));
}

void cairn_json_remove(cairn_json *json, const char *name) {
    (void)json_object_del(value_of(json), name);
}

bool cairn_json_is_object(const cairn_json *value) {
    return json_is_object(constant_value_of(value));
}

size_t cairn_json_length(const cairn_json *value) {
    return json_is_array(constant_value_of(value)) ? json_array_size(constant_value_of(value))
                                                   : SIZE_MAX;
}

cairn_json *cairn_json_element(const cairn_json *array, size_t at) {
    return (cairn_json *)json_array_get(constant_value_of(array), at);
}

bool cairn_json_read_count(const cairn_json *value, uint64_t *out) {
    CAIRN_ASSERT(out != NULL);
    const json_t *from = constant_value_of(value);
    const char *text = json_string_value(from);
    if (text == NULL) {
        const bool good = json_is_integer(from) && json_integer_value(from) >= 0;
        *out = good ? (uint64_t)json_integer_value(from) : *out;
        return good;
    }
    char *end;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 10);
    const bool good = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    *out = good ? number : *out;
    return good;
}

bool cairn_json_read_real(const cairn_json *value, double *out) {
    const bool good = json_is_number(constant_value_of(value));
    *out = good ? json_number_value(constant_value_of(value)) : *out;
    return good;
}

bool cairn_json_read_bool(const cairn_json *value, bool *out) {
    const bool good = json_is_boolean(constant_value_of(value));
    *out = good ? json_is_true(constant_value_of(value)) : *out;
    return good;
}

bool cairn_json_read_text(const cairn_json *value, char *out, size_t size) {
    const char *text = json_string_value(constant_value_of(value));
    const bool good = text != NULL && json_string_length(constant_value_of(value)) < size;
    if (good) {
        memcpy(out, text, strlen(text) + 1);
    }
    return good;
}
