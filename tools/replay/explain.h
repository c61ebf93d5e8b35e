// SPDX-License-Identifier: MIT
#pragma once

// Finds out why two peers computed one step differently. Repeats the step of a desync capsule,
// first correctly and then under every hazard that can be reproduced, and names the hazard that
// reaches the diverged peer's state hash, with the stage, section, body, field and bits of the
// first difference.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/json.h"
#include "recording/chunk_reader.h"
#include "sim/debug/trace.h"
#include "tools/replay/trial.h"

#define CAIRN_EXPLANATION_SIZE 1024

// The peer whose state hash this program reaches.
typedef enum cairn_agreeing_side {
    CAIRN_AGREES_WITH_NEITHER = 0,
    CAIRN_AGREES_WITH_SERVER,
    CAIRN_AGREES_WITH_CLIENT,
} cairn_agreeing_side;

// A word in which the diverged peer differs from this program's step.
typedef struct cairn_explained_word {
    bool known;
    cairn_word_difference at; // bits_a: here, bits_b: the diverged peer's
    uint32_t bodies[2];       // ids
    uint32_t body_count;
    bool is_float;
    uint32_t ulps; // between two floats
    uint32_t bit;  // the lowest that differs
} cairn_explained_word;

typedef struct cairn_explanation {
    uint64_t tick; // of the worlds that differ
    cairn_agreeing_side agrees_with;
    bool start_agreed; // the state in the file is the one on which both agreed
    bool repeats;      // the client reached the same state hash when it repeated the step
    bool stage_known;  // the first difference:
    cairn_trace_point stage;
    cairn_explained_word word;
    uint32_t difference_count; // words that differ after the step; 0: not known
    cairn_hazard hazard;
    bool certain;      // the trial reaches the very state hash; for UNINITIALISED: several
    const char *trial; // "with flush-to-zero"; NULL: none reached it
    char text[CAIRN_EXPLANATION_SIZE]; // one paragraph
} cairn_explanation;

// `bytes` are aligned to 8. `rules` NULL: the built-in ones, by name. False: one sentence in
// out->text says why nothing can be explained.
bool cairn_explain(
    const uint8_t *bytes, size_t size, const cairn_rules *rules, cairn_explanation *out);

// Pair with cairn_json_destroy.
cairn_json *cairn_explanation_json(const cairn_explanation *explanation);
