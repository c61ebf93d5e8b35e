// SPDX-License-Identifier: MIT
#pragma once

// One table per element kind, one entry per word: what encode, decode, hash and diff are driven by,
// so that they can never disagree about what a world holds.

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

// Each word of an element by its field: CAIRN_OK, or CAIRN_MALFORMED or CAIRN_NON_FINITE and in
// *where the name of the first invalid one.
cairn_status cairn_fields_check(
    const cairn_field_table *table, const uint32_t *words, const char **where);
