// SPDX-License-Identifier: MIT
#pragma once

// Delta debugging: the smallest part of a list that still fails (ddmin of Zeller and Hildebrandt,
// Simplifying and Isolating Failure-Inducing Input, 2002).

#include <stdbool.h>
#include <stdint.h>

// Some lists to be tried side by side.
typedef struct cairn_ddmin_trials {
    const uint32_t *items[64];
    uint32_t counts[64];
    uint32_t count;
} cairn_ddmin_trials;

// Returns the index of the first trial that fails, or trials->count; sets *stop when time is over.
typedef uint32_t cairn_ddmin_test(void *context, const cairn_ddmin_trials *trials, bool *stop);

// Reduces items[0 .. count), which fail, keeping their order, and returns how many are left. The
// first ones are taken as those that matter most. `workers`: trials to be asked at once (1 .. 64);
// the result does not depend on it. If it was not stopped, no single item can be left out.
uint32_t cairn_ddmin(uint32_t *items, uint32_t count, uint32_t workers, cairn_ddmin_test *test,
    void *context, bool *stop);
