// SPDX-License-Identifier: MIT
#include "base/nearest_word.h"

#include <string.h>

#include "base/assert.h"

enum { LETTERS_MAX = 63 };

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t length_of(const char *word) {
    const size_t length = strlen(word);
    return length < LETTERS_MAX ? (uint32_t)length : LETTERS_MAX;
}

uint32_t cairn_word_distance(const char *a, const char *b) {
    CAIRN_ASSERT(a != NULL && b != NULL);
    const uint32_t a_length = length_of(a), b_length = length_of(b);
    // Rows of the table of distances between the beginnings of the two: this one and the last two.
    uint32_t rows[3][LETTERS_MAX + 1];
    for (uint32_t k = 0; k <= b_length; ++k) {
        rows[0][k] = k;
    }
    for (uint32_t i = 1; i <= a_length; ++i) {
        uint32_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = i;
        for (uint32_t k = 1; k <= b_length; ++k) {
            row[k] = least(least(row[k - 1], last[k]) + 1, last[k - 1] + (a[i - 1] != b[k - 1]));
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                row[k] = least(row[k], before[k - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

bool cairn_word_is_nearer(const char *word, const char *known, uint32_t *best) {
    const uint32_t a = length_of(word), b = length_of(known);
    const uint32_t distance = cairn_word_distance(word, known);
    const bool nearer = distance <= ((a > b ? a : b) + 1) / 3 && distance < *best;
    *best = nearer ? distance : *best;
    return nearer;
}
