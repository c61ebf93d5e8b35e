// SPDX-License-Identifier: MIT
#pragma once

// Faults that a determinism test must notice, compiled in on purpose: a build of the golden checker
// with -DCAIRN_NEGATIVE_CONTROL=n (n of the list) must print other hashes. A test that cannot fail
// is no evidence. Without the define every one of these is false and costs nothing.
//   1  a restore loses the accumulated impulses that warm start needs
//   2  constraints are taken in another order
//   3  a sum of three terms is added in another order
//   4  constraints that share a body lie side by side in the lanes
//   5  what one lane needs is done to its neighbours, too
//   6  colours are taken in another order when there are helpers
//   7  helpers keep the floating-point mode they came with

#include <stdbool.h>

#ifndef CAIRN_NEGATIVE_CONTROL
#define CAIRN_NEGATIVE_CONTROL 0
#endif

static const bool control_restore_forgets_impulses = CAIRN_NEGATIVE_CONTROL == 1;
static const bool control_constraints_reversed = CAIRN_NEGATIVE_CONTROL == 2;
static const bool control_sum_reordered = CAIRN_NEGATIVE_CONTROL == 3;
static const bool control_colours_mixed = CAIRN_NEGATIVE_CONTROL == 4;
static const bool control_lanes_meddle = CAIRN_NEGATIVE_CONTROL == 5;
static const bool control_workers_reorder = CAIRN_NEGATIVE_CONTROL == 6;
static const bool control_helpers_keep_mode = CAIRN_NEGATIVE_CONTROL == 7;
