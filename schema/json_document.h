// SPDX-License-Identifier: MIT
#pragma once

// A JSON text as a tree in which every value knows its place in the text, so that an error can name
// line and column of any value. Comments (// and /* */) are allowed. The tree refers to the text,
// which must outlive it.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cairn/status.h>

typedef enum cairn_json_kind {
    CAIRN_JSON_NULL = 0,
    CAIRN_JSON_FALSE,
    CAIRN_JSON_TRUE,
    CAIRN_JSON_NUMBER,
    CAIRN_JSON_TEXT,
    CAIRN_JSON_NUMBERS, // a list of numbers only, at least one: it has no children
    CAIRN_JSON_LIST,    // any other list
    CAIRN_JSON_OBJECT,
} cairn_json_kind;

typedef struct cairn_json_node {
    uint32_t kind;  // cairn_json_kind
    uint32_t at;    // where the value begins
    uint32_t key;   // member of an object: where its key begins, behind the quote
    uint32_t next;  // the next element or member; 0: none
    uint32_t child; // the first element or member; 0: none
    uint32_t count; // elements or members
} cairn_json_node;

typedef struct cairn_json_document {
    const char *text;
    size_t size;
    cairn_json_node *nodes; // the first is the root
    uint32_t count;
    uint32_t capacity;
    size_t at;       // after a failure: where
    char error[128]; // after a failure: one clause
} cairn_json_document;

#define CAIRN_JSON_SIZE_MAX (16 * 1024 * 1024)
#define CAIRN_JSON_NODES_MAX 4194304
#define CAIRN_JSON_DEPTH_MAX 32
#define CAIRN_JSON_NUMBER_SIZE_MAX 400

// CAIRN_OK, CAIRN_MALFORMED, CAIRN_CAPACITY (too large) or CAIRN_OUT_OF_MEMORY. Pair with destroy
// in any case.
cairn_status cairn_json_document_parse(
    cairn_json_document *document, const char *text, size_t size);
void cairn_json_document_destroy(cairn_json_document *document);

// Both count from 1; columns count bytes.
void cairn_json_document_place(
    const cairn_json_document *document, size_t at, uint32_t *line, uint32_t *column);
// Whether the key of a member is `name`. Keys with escapes equal no name.
bool cairn_json_key_is(
    const cairn_json_document *document, const cairn_json_node *member, const char *name);
// Copies a text or a key that begins at `at`, escapes resolved; each byte that is not ASCII becomes
// '\1'.
// Returns its whole length; what does not fit is cut.
size_t cairn_json_text_copy(
    const cairn_json_document *document, size_t at, char *out, size_t out_size);
// The number that begins at `at`. *end is behind it.
float cairn_json_float(const cairn_json_document *document, size_t at, size_t *end);
// False unless it is a whole number without sign, point and exponent, below 2^64.
bool cairn_json_whole(const cairn_json_document *document, size_t at, uint64_t *out, size_t *end);
// Behind blanks, comments and one comma: the next number of a list of numbers.
size_t cairn_json_number_next(const cairn_json_document *document, size_t at);
