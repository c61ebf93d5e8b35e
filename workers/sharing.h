// SPDX-License-Identifier: MIT
#pragma once

// Whether a task is faster when its shares are given to several threads or when its caller runs
// them all depends on the machine, on what else runs there and on the size of the task. So both are
// measured: after so many runs one way come some the other way, a trial, and the faster way is
// kept. While the same way wins, the trials become rarer. The decision depends on the times alone
// that are given, so tests need no clock.

#include <stdbool.h>
#include <stdint.h>

// A wait that is longer than this is no exchange between threads: the other one has lost its
// processor.
#define CAIRN_SHARING_STALL_MIN_NS 100000u

// What is known of one task.
typedef struct cairn_sharing {
    bool shared;         // the faster way, as far as is known
    uint64_t mean_ns;    // of that way, of about the last eight runs; 0: not measured
    uint32_t runs;       // since the last trial
    uint32_t next_after; // runs until the next trial
    uint64_t trial_ns;   // the least of the trial so far
} cairn_sharing;

// A task that never ran is tried alone first, then soon shared.
cairn_sharing cairn_sharing_new(void);

// Whether the next run is to be shared.
bool cairn_sharing_next(const cairn_sharing *s);

// Whether that would be the first shared run of a trial, and the trial put off, as if it had
// failed.
bool cairn_sharing_begins_trial(const cairn_sharing *s);
void cairn_sharing_put_off_trial(cairn_sharing *s);

// Takes the time of the run that cairn_sharing_next has decided.
void cairn_sharing_learn(cairn_sharing *s, uint64_t ns);
