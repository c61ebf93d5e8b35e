// SPDX-License-Identifier: MIT
#pragma once

// How the canonical encoding of a world divides into elements of little-endian words, for those
// that pack it.

#include <stdint.h>

// What a packer may know of the words of an element.
typedef enum cairn_word_role {
    CAIRN_WORDS_PLAIN = 0,
    CAIRN_WORDS_SETTINGS,   // one element
    CAIRN_WORDS_BODY_SLOTS, // one word for each slot of a body; its highest bit: there is a body
    // One element for each body that is there, in the order of the slots.
    CAIRN_WORDS_MOTIONS,
    CAIRN_WORDS_REFERENCE_POSES,
    CAIRN_WORDS_SLEEP,
    CAIRN_WORDS_CONTACTS,
    CAIRN_WORDS_ROLE_COUNT
} cairn_word_role;

// `count` elements of `words` words each.
typedef struct cairn_word_group {
    uint32_t role; // cairn_word_role; all but PLAIN occur once
    uint32_t words;
    uint32_t count;
} cairn_word_group;

// The word of the settings that is the float of steps in a second.
#define CAIRN_WORDS_STEP_RATE 53

#define CAIRN_WORD_GROUPS_MAX 32
#define CAIRN_WORD_GROUP_WORDS_MAX 511 // of an element
