// SPDX-License-Identifier: MIT
#pragma once

// What reading a recording to its end, without stepping, finds out: whether its chunks follow each
// other, whether its seal is valid, and where its segments begin.

#include "recording/chain.h"
#include "recording/chunk_reader.h"
#include "recording/index.h"
#include <cairn/recording.h>

typedef struct cairn_survey {
    cairn_recording_index segments; // the states that ticks may follow
    cairn_chain chain;
    uint64_t next_tick;
    uint64_t ticks;
    cairn_seal_verdict seal;
    uint8_t public_key[CAIRN_SIGN_PUBLIC_SIZE]; // as the file says; zeros: none
    bool out_of_memory;
    char damage[CAIRN_RECORDING_ERROR_SIZE]; // one sentence; "" for none
    char end[CAIRN_RECORDING_ERROR_SIZE];    // how the file ends
} cairn_survey;

// `bytes` are aligned to 8. Surveys a damaged file up to the damage. Pair with cairn_survey_end.
cairn_survey cairn_survey_of(const uint8_t *bytes, size_t size);
void cairn_survey_end(cairn_survey *survey);
