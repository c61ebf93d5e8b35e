// SPDX-License-Identifier: MIT
#pragma once

// Bodies near a body that are coded before it, and how well they told its motion up to the
// baseline: what rides on another body, or lies in one heap with it, moves as it does.

#include <stddef.h>
#include <stdint.h>

#include "compress/body_motion.h"

typedef struct cairn_companions {
    const cairn_body_motion *leader; // the nearest within some two metres; NULL: none
    float leader_slip;
    const cairn_body_motion *neighbours[2]; // the best first; NULL: fewer
    float slips[2];  // how far the body's place is from where it would be if it had moved as one
                     // with the neighbour since the earlier frame
    uint32_t around; // bodies coded in the cells about it
    cairn_vec4 surprise; // their mean: a blast moves all that are around; the last lane is the mean
                         // of the lengths
    cairn_vec4 slope;    // that mean, in which near bodies count more, less an even one
} cairn_companions;

// A grid over the baseline places of coded bodies.
typedef struct cairn_companion_finder cairn_companion_finder;

// NULL: no memory.
cairn_companion_finder *cairn_companion_finder_create(uint32_t capacity);
size_t cairn_companion_finder_bytes(const cairn_companion_finder *finder);
void cairn_companion_finder_destroy(cairn_companion_finder *finder); // NULL is allowed
// Of these bodies and no others. `motions` is the array that ranks refer to, leaders first; what is
// known of all of them before any is coded is there. Steps are of `step_m`.
void cairn_companion_finder_start(
    cairn_companion_finder *finder, const cairn_body_motion *motions, uint32_t count, float step_m);
// In order of rank, each after it was coded.
void cairn_companion_finder_add(cairn_companion_finder *finder, uint32_t rank);
void cairn_companion_finder_find(
    const cairn_companion_finder *finder, uint32_t rank, cairn_companions *found);
