// SPDX-License-Identifier: MIT
#pragma once

// Where a recording fails for the first time, and the reproduction that it is: a state some ticks
// before and the commands since then.

#include "tools/replay/shrink/oracle.h"
#include "tools/replay/verbs.h"

typedef struct cairn_shrink {
    const cairn_replay_options *options;
    const cairn_system_map *input;
    cairn_oracle oracle;
    cairn_predicate predicate, start; // in the ids of the recording
    uint64_t lead;                    // ticks from the start to the failure, at least
    uint64_t deadline_ns;
    uint64_t begin_ns;
    cairn_hash128 recorded; // the hash after the tick that fails
    uint64_t tick_failed;   // of the recording's world, after the step that fails
    cairn_body_id focus;    // a body that has to do with it, in the ids of `best`; 0: none
    cairn_repro best;       // the smallest that was found
    uint64_t asked;         // candidates
    bool stopped;           // the time is over
} cairn_shrink;

// One line on standard error, with the seconds since the beginning.
void cairn_shrink_say(const cairn_shrink *shrink, const char *format, ...);
// Finds the failure and fills `best`. Returns an exit code, after a complaint if it is not
// CAIRN_EXIT_GOOD.
int cairn_shrink_find(cairn_shrink *shrink);
