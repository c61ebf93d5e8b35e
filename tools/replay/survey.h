// SPDX-License-Identifier: MIT
#pragma once

// A recording read from end to end without stepping: whether its chunks follow each other, whether
// its seal holds, and where its segments begin.

#include "recording/chain.h"
#include "recording/index.h"
#include "tools/replay/verify.h"

typedef struct cairn_survey {
    cairn_recording_entry *segments; // owned; the states that ticks follow
    uint32_t count;
    uint32_t capacity;
    cairn_chain chain;
    uint64_t next_tick;
    uint64_t ticks;
    bool memory_gone;
} cairn_survey;

// Fills seal, public_key and end. Surveys a damaged file up to the damage.
cairn_survey cairn_survey_of(const uint8_t *bytes, size_t size, cairn_verification *out);
void cairn_survey_end(cairn_survey *survey);
