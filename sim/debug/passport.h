// SPDX-License-Identifier: MIT
#pragma once

// The self-test of arithmetic: whether this build, on this machine, in the calling thread, computes
// what every other one computes. Peers exchange it before they share a simulation; what does not
// pass would sooner or later be found by a root that differs.
//
// It takes the floating-point environment as it finds it in the calling thread, and not the one
// that a step sets for itself: a thread with flush-to-zero is found although its worlds are sound,
// because whatever it computes for a world (inputs, rules' tables, edits) is not. The world that is
// stepped at the end is stepped as all worlds are.

#include <stdint.h>

#include "base/hash.h"
#include <cairn/status.h>

typedef enum cairn_passport_fault {
    CAIRN_PASSPORT_CONTRACTION = 1u << 0,
    CAIRN_PASSPORT_CONTRACTION_TURNS = 1u << 1,
    CAIRN_PASSPORT_FLUSH_TO_ZERO = 1u << 2,
    CAIRN_PASSPORT_DENORMALS_ARE_ZERO = 1u << 3,
    CAIRN_PASSPORT_ROUNDING = 1u << 4,
    CAIRN_PASSPORT_SUBNORMALS = 1u << 5,
    CAIRN_PASSPORT_MINIMUM = 1u << 6,
    CAIRN_PASSPORT_SQUARE_ROOT = 1u << 7,
    CAIRN_PASSPORT_TRIGONOMETRY = 1u << 8,
    CAIRN_PASSPORT_SCENE = 1u << 9,
} cairn_passport_fault;
#define CAIRN_PASSPORT_FAULT_COUNT 10

typedef struct cairn_passport {
    uint32_t faults;    // bit set of cairn_passport_fault; 0: fit
    cairn_hash128 hash; // full root of the short world after its last step
} cairn_passport;

// About a millisecond. CAIRN_OUT_OF_MEMORY: no world could be made, the hash is zero and the fault
// SCENE is set. No state anywhere is touched.
cairn_status cairn_passport_read(cairn_passport *out);

// Name and sentence of the lowest fault of the set, static texts; "none" and "" of 0, "unknown" and
// a sentence that says so for bits beyond.
const char *cairn_passport_fault_name(uint32_t faults);
const char *cairn_passport_fault_words(uint32_t faults);
