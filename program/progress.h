// SPDX-License-Identifier: MIT
#pragma once

// How far a long piece of work is, on a terminal: after a second, share done, rate and time left in
// one line that is written again. Nothing if standard error is not a terminal.

#include <stdbool.h>
#include <stdint.h>

typedef struct cairn_progress {
    const char *what; // "ticks"
    uint64_t total;   // 0: not known
    uint64_t done;
    uint64_t begin_ns;
    uint64_t shown_ns; // 0: not yet
    bool terminal;
} cairn_progress;

void cairn_progress_begin(cairn_progress *progress, const char *what, uint64_t total);
// `more` is done. To be called often: on a terminal it asks the clock each time.
void cairn_progress_step(cairn_progress *progress, uint64_t more);
// Removes the line.
void cairn_progress_end(cairn_progress *progress);
// "42 %, 1234 ticks/s, 3 min 20 s left". `text` has room for 80 characters.
void cairn_progress_text(const cairn_progress *progress, uint64_t now_ns, char text[80]);
