// SPDX-License-Identifier: MIT
#pragma once

// Bytes that another implementation of the standard wrote, from the text files in vectors/. A line
// is words and at its end bytes in hexadecimal; lines that start with # are comments.

#include <stddef.h>
#include <stdint.h>

#define VECTOR_SIZE_MAX 2048

typedef struct vector {
    char name[64];   // "challenge:7", "client", "server": the word before the bytes
    uint64_t number; // after the colon of the name, or the word before the name; 0 if neither
    size_t size;
    uint8_t bytes[VECTOR_SIZE_MAX];
} vector;

typedef struct vectors {
    size_t count;
    vector list[64];
} vectors;

// Reads a file of vectors/; a line that cannot be read ends the test program.
const vectors *vectors_read(const char *file_name);
// Finds a vector by its name, or by the part of it before the colon. It must exist.
const vector *vectors_find(const vectors *all, const char *name);
