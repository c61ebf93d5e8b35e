// SPDX-License-Identifier: MIT
#pragma once

// Where two recordings of what should be one run part: states, a tick's commands, a tick's root,
// and behind that section, element, field and bits of the two worlds.

#include <stddef.h>
#include <stdint.h>

#include "recording/walk.h"

typedef enum cairn_parting {
    CAIRN_PARTING_NONE = 0,   // all ticks that both have are one
    CAIRN_PARTING_STATE,      // the worlds they begin with, at the first tick that both have
    CAIRN_PARTING_COMMANDS,   // what reached the worlds at a tick
    CAIRN_PARTING_ROOT,       // the recorded roots behind a tick, from equal worlds and commands
    CAIRN_PARTING_KEYFRAME,   // a keyframe in one, while all roots agree
    CAIRN_PARTING_REPLACED,   // one world was replaced, or each by another
    CAIRN_PARTING_VERSION,    // one of them needs another simulation or other rules
    CAIRN_PARTING_UNREADABLE, // one of them cannot be read, or they have no tick in common
} cairn_parting;
const char *cairn_parting_name(cairn_parting parting); // one word, lower case

typedef struct cairn_part {
    cairn_parting parting;
    uint64_t tick;  // of the world where they part
    uint64_t first; // the first tick that both have
    uint64_t ticks; // compared
    char words[2 * CAIRN_REPLAY_WORDS_SIZE];
} cairn_part;

typedef struct cairn_part_side {
    const uint8_t *bytes; // start on 8 bytes
    size_t size;
} cairn_part_side;

// Steps both, so that a difference of inputs or roots is told to the field.
cairn_part cairn_part_of(cairn_part_side a, cairn_part_side b);
