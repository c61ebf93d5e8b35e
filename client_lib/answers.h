// SPDX-License-Identifier: MIT
#pragma once

// Encoded answers to control requests that wait until the host takes them. Each is allocated when
// it comes: only operators' clients have any, and those do not play.

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
    cairn_answer_bytes taken;                   // the host's until it takes the next one
    uint32_t request;                           // number of the last request
} cairn_answers;

// Adds a copy. False: CAIRN_ANSWERS_MAX wait already, or out of memory.
bool cairn_answers_add(cairn_answers *answers, const uint8_t *bytes, size_t size);
// The oldest becomes `taken`; the one taken before is freed. False: there is none.
bool cairn_answers_next(cairn_answers *answers);
void cairn_answers_clear(cairn_answers *answers);
