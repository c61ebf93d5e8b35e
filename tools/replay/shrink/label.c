// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/label.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include <cairn/types.h>

// FNV-1a is h = (h ^ byte) * PRIME. The prime has an inverse modulo 2^32, so hashes are computed
// forwards from the beginning and backwards from the end: three characters each meet.
#define BASIS 2166136261u
#define PRIME 16777619u
#define INVERSE 899433627u
_Static_assert((uint32_t)(PRIME *INVERSE) == 1u, "the inverse");

#define SIDE 64
#define TABLE (SIDE * SIDE * SIDE)
static const char letters[SIDE + 1] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

typedef struct middle {
    uint32_t hash;
    uint32_t text; // which three letters
} middle;

static int compare(const void *a, const void *b) {
    const middle *left = a, *right = b;
    if (left->hash != right->hash) {
        return left->hash < right->hash ? -1 : 1;
    }
    return left->text < right->text ? -1 : 1;
}

static uint32_t letter(uint32_t text, uint32_t place) {
    return (unsigned char)letters[text >> (6 * place) & (SIDE - 1)];
}

static const middle *find(const middle *table, uint32_t hash) {
    size_t low = 0, high = TABLE;
    while (low < high) {
        const size_t at = (low + high) / 2;
        if (table[at].hash < hash) {
            low = at + 1;
        } else {
            high = at;
        }
    }
    return low < TABLE && table[low].hash == hash ? &table[low] : NULL;
}

// What the hash was before the letters `text` and `more` more at the end.
static uint32_t before(uint32_t hash, uint32_t text) {
    for (uint32_t place = 3; place-- > 0;) {
        hash = hash * INVERSE ^ letter(text, place);
    }
    return hash;
}

static bool search(const middle *table, uint32_t hash, const char *tail, char *text) {
    uint32_t end = hash;
    for (size_t i = strlen(tail); i-- > 0;) {
        end = end * INVERSE ^ (unsigned char)tail[i];
    }
    for (uint32_t last = 0; last < TABLE; ++last) {
        const middle *first = find(table, before(end, last));
        if (first != NULL) {
            for (uint32_t place = 0; place < 3; ++place) {
                text[place] = (char)letter(first->text, place);
                text[3 + place] = (char)letter(last, place);
            }
            strcpy(text + 6, tail);
            return true;
        }
    }
    return false;
}

const char *cairn_label_of(uint32_t hash, char text[CAIRN_LABEL_SIZE]) {
    text[0] = '\0';
    middle *table = hash == 0 ? NULL : malloc(TABLE * sizeof *table);
    if (table == NULL) {
        return text;
    }
    for (uint32_t i = 0; i < TABLE; ++i) {
        uint32_t h = BASIS;
        for (uint32_t place = 0; place < 3; ++place) {
            h = (h ^ letter(i, place)) * PRIME;
        }
        table[i] = (middle){.hash = h, .text = i};
    }
    qsort(table, TABLE, sizeof *table, compare);
    // There are sixteen texts of six letters for each hash on average; one more letter tries again.
    char tail[2] = "";
    for (uint32_t i = 0; !search(table, hash, tail, text) && i < SIDE; ++i) {
        tail[0] = letters[i];
    }
    free(table);
    CAIRN_ASSERT(cairn_name_hash(text) == hash);
    return text;
}
