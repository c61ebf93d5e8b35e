// SPDX-License-Identifier: MIT
#pragma once

// One table for each kind of element, with one entry for each word. Encode, decode, hash and diff
// all use these tables, so they cannot disagree about the contents of a world.

#include <stddef.h>
#include <stdint.h>

#include "sim/state/state_array.h"
#include <cairn/status.h>

typedef enum cairn_field_kind {
    CAIRN_FIELD_WORD,  // unsigned, at most `max`
    CAIRN_FIELD_FLOAT, // finite, not -0, magnitude at most `limit`
    CAIRN_FIELD_SIZE,  // such a float that is not negative
} cairn_field_kind;

typedef struct cairn_field {
    const char *name; // static text
    size_t offset;    // bytes; entry i is word i
    cairn_field_kind kind;
    uint32_t max;
    float limit;
} cairn_field;

typedef struct cairn_field_table {
    cairn_section section;
    uint32_t word_count; // of one element, and entries in `fields`
    const cairn_field *fields;
} cairn_field_table;

const cairn_field_table *cairn_field_table_of(cairn_array array);

// Checks each word of an element by its field: CAIRN_OK, or CAIRN_MALFORMED or CAIRN_NON_FINITE
// with the name of the first invalid word in *where.
cairn_status cairn_fields_check(
    const cairn_field_table *table, const uint32_t *words, const char **where);
