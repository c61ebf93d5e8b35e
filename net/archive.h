// SPDX-License-Identifier: MIT
#pragma once

// Values that one process hands to another on the same machine, in one order: the same function
// writes and reads them, so that both cannot differ. What is read is checked against the range that
// the function names; the first value outside it is remembered by name, and from then on every
// value is its least. Bytes of numbers are in the machine's order.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cairn_archive {
    bool reading;
    uint8_t *out; // owned, grows; NULL when reading
    size_t capacity;
    const uint8_t *in; // not owned; NULL when writing
    size_t size;       // of `in`, or written so far
    size_t at;
    const char *refused; // static text: which value, or "out of memory"; NULL: none
} cairn_archive;

cairn_archive cairn_archive_writer(void);
cairn_archive cairn_archive_reader(const void *bytes, size_t size);
// Has memory for so many bytes in all, and touches it; false: refused as out of memory.
bool cairn_archive_reserve(cairn_archive *archive, size_t size);
void cairn_archive_free(cairn_archive *archive); // may be called again

// `what` names the value: static text. `least` and `most` bound what is read.
void cairn_archive_u64(
    cairn_archive *archive, const char *what, uint64_t *value, uint64_t least, uint64_t most);
void cairn_archive_u32(
    cairn_archive *archive, const char *what, uint32_t *value, uint32_t least, uint32_t most);
void cairn_archive_bool(cairn_archive *archive, const char *what, bool *value);
// `count` numbers of any value.
void cairn_archive_words(cairn_archive *archive, uint64_t *values, size_t count);
void cairn_archive_bytes(cairn_archive *archive, void *bytes, size_t size);
// A text of at most `size` - 1 bytes in an array of `size`, which is filled with zeros.
void cairn_archive_text(cairn_archive *archive, const char *what, char *text, size_t size);

// For what no range says. The first refusal counts.
void cairn_archive_refuse(cairn_archive *archive, const char *what);
// Whether everything was read, and nothing refused.
bool cairn_archive_is_done(const cairn_archive *archive);
