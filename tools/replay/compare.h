// SPDX-License-Identifier: MIT
#pragma once

// Finds where two recordings of what should be one run begin to differ: in the first state, a
// tick's commands or a tick's state hash, and the section, element, field and bits of the two
// worlds.

#include <stddef.h>
#include <stdint.h>

#include "program/progress.h"
#include "recording/chunk_reader.h"

typedef enum cairn_divergence {
    CAIRN_DIVERGENCE_NONE = 0,   // all ticks that both hold are equal
    CAIRN_DIVERGENCE_STATE,      // the worlds at the first tick that both hold
    CAIRN_DIVERGENCE_COMMANDS,   // the commands of a tick
    CAIRN_DIVERGENCE_ROOT,       // the recorded hashes after a tick, from equal worlds and commands
    CAIRN_DIVERGENCE_KEYFRAME,   // a keyframe in one, while all state hashes agree
    CAIRN_DIVERGENCE_REPLACED,   // one world was replaced, or both by different ones
    CAIRN_DIVERGENCE_VERSION,    // one of them needs another simulation or other rules
    CAIRN_DIVERGENCE_DAMAGED,    // none before the damage in one of them
    CAIRN_DIVERGENCE_UNREADABLE, // one of them cannot be read, or they have no tick in common
} cairn_divergence;
const char *cairn_divergence_name(cairn_divergence divergence); // one word, lower case

typedef struct cairn_comparison {
    cairn_divergence divergence;
    uint64_t tick;  // of the first difference
    uint64_t first; // the first tick that both hold
    uint64_t ticks; // compared
    char words[2 * CAIRN_RECORDING_ERROR_SIZE];
} cairn_comparison;

typedef struct cairn_comparison_side {
    const uint8_t *bytes; // aligned to 8
    size_t size;
} cairn_comparison_side;

// Steps both, so that a difference of commands or hashes can be named by field. `progress` counts
// ticks; it was begun by the caller and may be NULL.
cairn_comparison cairn_recordings_compare(
    cairn_comparison_side a, cairn_comparison_side b, cairn_progress *progress);
