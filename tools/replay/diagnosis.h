// SPDX-License-Identifier: MIT
#pragma once

// The state of a diagnosis: explain.c fills it, explain_text.c writes the paragraph.

#include "recording/desync_reader.h"
#include "tools/replay/explain.h"

typedef struct cairn_diagnosis {
    cairn_desync_report_content capsule;
    cairn_explanation *out;
    cairn_trace *here;  // the correct step
    cairn_trace *there; // under the last trial
    cairn_hash128 wanted;
    uint32_t faults;              // in the passport of the diverged peer
    bool server_diverged;         // not the client
    cairn_word_difference *found; // after the step
    uint32_t found_count;
} cairn_diagnosis;

void cairn_diagnosis_write_text(const cairn_diagnosis *q);
