// SPDX-License-Identifier: MIT
#pragma once

// The self-test of arithmetic: whether this build, on this machine, in the calling thread, computes
// the same bits as every other one. Peers exchange its result before they share a simulation. A
// peer that fails it would sooner or later have a different root.
//
// It tests the floating-point environment of the calling thread, not the one that a step sets for
// itself. Client and server set theirs before (cairn_float_set_default), so a fault of the mode
// means that it cannot be set on this machine. The world at the end of the test is stepped like any
// other.

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
    uint32_t faults;    // bit set of cairn_passport_fault; 0: none
    cairn_hash128 hash; // full root of the short world after its last step
} cairn_passport;

// Takes about a millisecond and changes no state. CAIRN_OUT_OF_MEMORY: the world could not be
// created; the hash is zero and the fault SCENE is set.
cairn_status cairn_passport_read(cairn_passport *out);

// Name and description of the lowest fault of the set, static texts: "none" and "" for 0, "unknown"
// and a sentence that says so for other bits.
const char *cairn_passport_fault_name(uint32_t faults);
const char *cairn_passport_fault_words(uint32_t faults);
