// SPDX-License-Identifier: MIT
#pragma once

// The known word that is nearest to an unknown one: what its author may have meant.

#include <stdbool.h>
#include <stdint.h>

// How many letters must be inserted, deleted, replaced or swapped with their neighbour to turn one
// word into the other. Only the first 63 characters of each count.
uint32_t cairn_word_distance(const char *a, const char *b);
// Whether `word` is close enough to `known` to ask "did you mean": a distance of at most a third of
// the longer one's length, and below *best, which it then becomes. Begin with *best UINT32_MAX.
bool cairn_word_is_nearer(const char *word, const char *known, uint32_t *best);
