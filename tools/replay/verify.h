// SPDX-License-Identifier: MIT
#pragma once

// Steps a recording again and compares: every tick's root, and every keyframe field by field.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/walk.h"

typedef enum cairn_verdict {
    CAIRN_VERDICT_SAME = 0,  // all there is verifies; the file may be cut off all the same
    CAIRN_VERDICT_DIFFERS,   // stepped again it is another world
    CAIRN_VERDICT_DAMAGED,   // verifies up to where the file is damaged
    CAIRN_VERDICT_UNREADABLE // nothing could be stepped
} cairn_verdict;

typedef struct cairn_verification {
    cairn_verdict verdict;
    bool started; // a first state was read
    uint32_t tick_rate_hz;
    uint64_t tick_first;
    uint64_t ticks;        // stepped and compared
    uint64_t commands;     // of them
    uint64_t keyframes;    // compared field by field
    uint64_t tick_differs; // the first tick whose root differs, when the verdict says so
    char end[CAIRN_REPLAY_WORDS_SIZE];           // how the file ends
    char finding[CAIRN_REPLAY_WORDS_SIZE + 128]; // the difference or the refusal; "" for none
} cairn_verification;

// `bytes` start on 8 bytes.
cairn_verification cairn_verify(const uint8_t *bytes, size_t size);
// Tells where two recordings of what should be one run part: start state, a tick's commands, a
// tick's root, a keyframe's field.
cairn_verification cairn_verify_against(
    const uint8_t *bytes, size_t size, const uint8_t *other, size_t other_size);
