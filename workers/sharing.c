// SPDX-License-Identifier: MIT
#include "workers/sharing.h"

#include "base/assert.h"

// A task begins alone: where another process has taken the processors, each shared run may wait for
// a time slice of the system, and a short life would be spent with that.
#define FIRST_TRIAL_AFTER 4u
#define TRIAL_AFTER_MIN 16u
#define TRIAL_AFTER_MAX 512u
// The first run of a trial is not measured: helpers may sleep, and their caches are cold.
#define TRIAL_RUNS 3u
// A run of a trial that takes so many times the mean has met a stall.
#define STALL_FACTOR 2u
// Runs alone after that, at least: a stall costs as much as some ten of them, and where one is met
// the next trial would soon meet another.
#define STALL_ALONE_RUNS 256u

cairn_sharing cairn_sharing_new(void) {
    return (cairn_sharing){.shared = false, .next_after = FIRST_TRIAL_AFTER};
}

bool cairn_sharing_next(const cairn_sharing *s) {
    return s->runs < s->next_after ? s->shared : !s->shared;
}

bool cairn_sharing_begins_trial(const cairn_sharing *s) {
    return !s->shared && s->runs == s->next_after;
}

static void end_trial(cairn_sharing *s, bool faster, uint32_t least) {
    const uint32_t after = 2 * s->next_after > least ? 2 * s->next_after : least;
    s->next_after = faster ? TRIAL_AFTER_MIN : after < TRIAL_AFTER_MAX ? after : TRIAL_AFTER_MAX;
    s->shared = faster ? !s->shared : s->shared;
    s->mean_ns = faster ? s->trial_ns : s->mean_ns;
    s->runs = 0;
}

void cairn_sharing_put_off_trial(cairn_sharing *s) {
    CAIRN_ASSERT(cairn_sharing_begins_trial(s));
    end_trial(s, false, 0);
}

// A trial that was faster changes the way; one that meets a stall is over, because each may cost as
// much as ten runs.
void cairn_sharing_learn(cairn_sharing *s, uint64_t ns) {
    CAIRN_ASSERT(s->next_after >= FIRST_TRIAL_AFTER && s->next_after <= TRIAL_AFTER_MAX);
    if (s->runs < s->next_after) {
        s->runs += 1;
        s->mean_ns = s->mean_ns == 0 ? ns : s->mean_ns - s->mean_ns / 8 + ns / 8;
        return;
    }
    s->runs += 1;
    const uint32_t run = s->runs - s->next_after; // of the trial, from 1
    CAIRN_ASSERT(run >= 1 && run <= TRIAL_RUNS);
    if (run == 2 || ns < s->trial_ns) {
        s->trial_ns = ns;
    }
    if (ns > STALL_FACTOR * s->mean_ns && ns >= CAIRN_SHARING_STALL_MIN_NS) {
        end_trial(s, false, s->shared ? 0 : STALL_ALONE_RUNS);
    } else if (run == TRIAL_RUNS) {
        // By a sixteenth, so that noise does not decide between ways that take equally long.
        end_trial(s, s->trial_ns < s->mean_ns - s->mean_ns / 16, 0);
    }
}
