// SPDX-License-Identifier: MIT
#pragma once

// Faults that a determinism test must notice, put in on purpose: a build with
// CAIRN_NEGATIVE_CONTROLS has them all, the golden checker chooses one (--fault N) and must then
// see other hashes. A test that cannot fail is no evidence. In every other build each of these is
// false and costs nothing.
//   1  a restore loses the accumulated impulses that warm start needs
//   2  constraints are taken in another order
//   3  a sum of three terms is added in another order
//   4  constraints that share a body lie side by side in the lanes
//   5  what one lane needs is done to its neighbours, too
//   6  colours are taken in another order when there are helpers
//   7  helpers keep the floating-point mode they came with

#include <stdbool.h>

#ifdef CAIRN_NEGATIVE_CONTROLS
extern unsigned cairn_negative_control; // the golden checker's; 0 for none
#else
enum { cairn_negative_control = 0 };
#endif

static inline bool control_restore_forgets_impulses(void) {
    return cairn_negative_control == 1;
}
static inline bool control_constraints_reversed(void) {
    return cairn_negative_control == 2;
}
static inline bool control_sum_reordered(void) {
    return cairn_negative_control == 3;
}
static inline bool control_colours_mixed(void) {
    return cairn_negative_control == 4;
}
static inline bool control_lanes_meddle(void) {
    return cairn_negative_control == 5;
}
static inline bool control_workers_reorder(void) {
    return cairn_negative_control == 6;
}
static inline bool control_helpers_keep_mode(void) {
    return cairn_negative_control == 7;
}
