// SPDX-License-Identifier: MIT
#pragma once

// What explain.c asks with and explain_text.c tells from.

#include "recording/capsule.h"
#include "tools/replay/explain.h"

typedef struct inquiry {
    cairn_capsule_content capsule;
    cairn_explanation *out;
    cairn_trace *here;  // the step as it should be
    cairn_trace *there; // and as the last trial took it
    cairn_hash128 wanted;
    uint32_t faults;              // of the side that went astray
    bool server_astray;           // not the client
    cairn_word_difference *found; // after the step
    uint32_t found_count;
} inquiry;

void cairn_explanation_tell(const inquiry *q);
