// SPDX-License-Identifier: MIT
#pragma once

// JSON for programs: log lines, statistics and answers are built as objects and printed as one
// line. json.c is the only file that includes the JSON library. When memory runs out a member is
// missing and the program continues: every function accepts NULL in place of an object or array.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct cairn_json cairn_json; // an object or an array

// Pair with destroy, which frees everything in it. Members keep the order in which they were put.
cairn_json *cairn_json_create(void);
cairn_json *cairn_json_create_array(void);
void cairn_json_destroy(cairn_json *json);

// Each puts a member into an object or, when `name` is NULL, an element at the end of an array.
// `text` is UTF-8; if it is not valid UTF-8, each byte is taken as Latin-1, so that any bytes can
// be printed.
void cairn_json_put_text(cairn_json *json, const char *name, const char *text);
void cairn_json_put_bytes(cairn_json *json, const char *name, const void *text, size_t size);
// A number; as text above INT64_MAX, which many readers could not hold.
void cairn_json_put_count(cairn_json *json, const char *name, uint64_t count);
void cairn_json_put_integer(cairn_json *json, const char *name, int64_t integer);
// Nine significant digits, which hold a float exactly; null if it is not finite.
void cairn_json_put_real(cairn_json *json, const char *name, double real);
void cairn_json_put_bool(cairn_json *json, const char *name, bool value);
void cairn_json_put_null(cairn_json *json, const char *name);
// The new object or array belongs to `json`.
cairn_json *cairn_json_put_object(cairn_json *json, const char *name);
cairn_json *cairn_json_put_array(cairn_json *json, const char *name);

// Prints one line of printable ASCII and a newline. False if it cannot be written.
bool cairn_json_print(const cairn_json *json, FILE *out);
// The same into `out`, without a terminator. Returns the size, 0 if it does not fit.
size_t cairn_json_write(const cairn_json *json, char *out, size_t size);
// The same without the newline, with a terminator; the caller frees it. NULL: out of memory.
char *cairn_json_text(const cairn_json *json, size_t *size);

// Parses one object. NULL: `text` is not a JSON object. Pair with destroy.
cairn_json *cairn_json_parse(const char *text, size_t size);
// Whether `text` is one object, without a name that is there twice unless it `repeats`. False:
// `why`, and where from 1.
bool cairn_json_check(const char *text, size_t size, bool repeats, uint32_t *line, uint32_t *column,
    char *why, size_t why_size);
// The content of a text in quotes. False: it does not fit, or has a zero.
bool cairn_json_unquote(const char *quoted, size_t size, char *out, size_t out_size);
// The member of this name if it is an object, else NULL; it belongs to `json`.
const cairn_json *cairn_json_get_object(const cairn_json *json, const char *name);
// The same of element `index` of a member that is an array.
const cairn_json *cairn_json_get_element(const cairn_json *json, const char *name, size_t index);
// False, with *out unchanged, if there is no member of this name and type.
bool cairn_json_get_number(const cairn_json *json, const char *name, double *out);
bool cairn_json_get_bool(const cairn_json *json, const char *name, bool *out);
bool cairn_json_get_text(const cairn_json *json, const char *name, char *out, size_t size); // cut

// Values of any type: members of an object and elements of an array. NULL stands for a missing
// value.
cairn_json *cairn_json_member(const cairn_json *json, const char *name);
const char *cairn_json_first_name(const cairn_json *json); // NULL: the object is empty
void cairn_json_remove(cairn_json *json, const char *name);
bool cairn_json_is_object(const cairn_json *value);
// SIZE_MAX: not an array.
size_t cairn_json_length(const cairn_json *value);
cairn_json *cairn_json_element(const cairn_json *array, size_t at);
// Each returns false, with *out unchanged, if the value is of another type.
bool cairn_json_read_count(const cairn_json *value, uint64_t *out); // as put_count writes it
bool cairn_json_read_real(const cairn_json *value, double *out);
bool cairn_json_read_bool(const cairn_json *value, bool *out);
// False as well if it does not fit whole, or has a zero.
bool cairn_json_read_text(const cairn_json *value, char *out, size_t size);
