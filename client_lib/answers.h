// SPDX-License-Identifier: MIT
#pragma once

// Answers that wait for the host to take them, as they came. Memory is taken for each answer: an
// operator's client is no game's.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CAIRN_ANSWERS_MAX 64

typedef struct cairn_answer_bytes {
    uint8_t *bytes; // owned, starts on 8
    size_t size;
} cairn_answer_bytes;

typedef struct cairn_answers {
    uint32_t count;
    cairn_answer_bytes list[CAIRN_ANSWERS_MAX]; // oldest first
    cairn_answer_bytes taken;                   // what the host looks at
    uint32_t request;                           // number of the newest request
} cairn_answers;

// Keeps a copy. False: too many wait, or out of memory.
bool cairn_answers_add(cairn_answers *answers, const uint8_t *bytes, size_t size);
// The oldest becomes `taken`; what was taken before is freed. False: there is none.
bool cairn_answers_next(cairn_answers *answers);
void cairn_answers_clear(cairn_answers *answers);
