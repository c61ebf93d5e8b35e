// SPDX-License-Identifier: MIT
#pragma once

// Why two peers took one step differently. The step of a capsule is taken again here, as it should
// be and under every hazard that can be put in on purpose; the hazard that leads where the peer
// went is named, with the stage, the section, the body, the field and the bits at which the two
// part.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/json.h"
#include "recording/walk.h"
#include "sim/debug/trace.h"
#include "tools/replay/trial.h"

#define CAIRN_EXPLANATION_SIZE 1024

// Who came to what this program comes to.
typedef enum cairn_sound_side {
    CAIRN_SOUND_NEITHER = 0,
    CAIRN_SOUND_SERVER,
    CAIRN_SOUND_CLIENT,
} cairn_sound_side;

// A word at which the side that went astray differs from this program's step.
typedef struct cairn_explained_word {
    bool known;
    cairn_word_difference at; // bits_a: here, bits_b: astray
    uint32_t bodies[2];       // slots
    uint32_t body_count;
    bool is_float;
    uint32_t ulps; // between two floats
    uint32_t bit;  // the lowest that differs
} cairn_explained_word;

typedef struct cairn_explanation {
    uint64_t tick; // of the worlds that differ
    cairn_sound_side sound;
    bool start_sound; // the state in the file is the one on which both agreed
    bool repeats;     // the client came to the same root when it took the step once more
    bool stage_known; // where the two part:
    cairn_trace_point stage;
    cairn_explained_word word;
    uint32_t difference_count; // words that differ after the step; 0: not known
    cairn_hazard hazard;
    bool certain; // taken so, the step leads to the very root; or, for UNINITIALISED, to several
    const char *trial;                 // "with flush-to-zero"; NULL: none led there
    char text[CAIRN_EXPLANATION_SIZE]; // one paragraph
} cairn_explanation;

// `bytes` start on 8 bytes. `rules`: those to step with; NULL: those built in, by name. False: one
// sentence in out->text says why there is nothing to explain.
bool cairn_explain(
    const uint8_t *bytes, size_t size, const cairn_rules *rules, cairn_explanation *out);

// Pair with cairn_json_destroy.
cairn_json *cairn_explanation_json(const cairn_explanation *explanation);
