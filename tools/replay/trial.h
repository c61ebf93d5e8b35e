// SPDX-License-Identifier: MIT
#pragma once

// Ways to take one step that a sound build does not take: each is a hazard put in on purpose, to
// see whether it leads where a peer went.

#include <stdbool.h>
#include <stdint.h>

#include "sim/debug/trace.h"

typedef enum cairn_hazard {
    CAIRN_HAZARD_NONE = 0,      // both sides agree with each other or nothing could be told
    CAIRN_HAZARD_CONTRACTION,   // products fused into sums
    CAIRN_HAZARD_FLUSH_TO_ZERO, // subnormal numbers taken for zero
    CAIRN_HAZARD_ROUNDING,      // another rounding mode
    CAIRN_HAZARD_WARM_START,    // the step began without the last step's impulses
    CAIRN_HAZARD_FIELD_CHANGED, // memory was written to from outside
    CAIRN_HAZARD_UNINITIALISED, // the step reads what is no state
    CAIRN_HAZARD_RULES,         // other rules under the same name and version
    CAIRN_HAZARD_ARITHMETIC,    // a passport with faults, of which none leads to that root
    CAIRN_HAZARD_UNKNOWN,
    CAIRN_HAZARD_COUNT
} cairn_hazard;
const char *cairn_hazard_name(cairn_hazard hazard);

typedef struct cairn_trial {
    cairn_hazard hazard;
    const char *words; // "with flush-to-zero", ...
    bool fused;
    bool cold;     // impulses of contacts and joints are zeroed before
    uint32_t mode; // bit set of what follows; 0: the contract's
} cairn_trial;

// Floating-point modes of a trial, switched on once commands and rules are done.
enum {
    CAIRN_TRIAL_FLUSH = 1u << 0,     // results
    CAIRN_TRIAL_SUBNORMAL = 1u << 1, // operands
    CAIRN_TRIAL_DOWN = 1u << 2,
    CAIRN_TRIAL_UP = 1u << 3,
    CAIRN_TRIAL_TO_ZERO = 1u << 4,
};

// The step as it should be.
extern const cairn_trial cairn_trial_plain;
// Hazards that this machine can put in; returns how many.
uint32_t cairn_trials(const cairn_trial **out);

// Zeroes the impulses of all contacts and joints.
void cairn_trial_cool(cairn_world *world);

// What a trial does to a world before a step of any kind, and after it. `trial` lasts until then.
void cairn_trial_begin(const cairn_trial *trial, cairn_world *world);
void cairn_trial_end(cairn_world *world);

// Steps `world` so. With `out` its points are written down.
void cairn_trial_step(const cairn_trial *trial, cairn_world *world, const cairn_command *commands,
    uint32_t count, cairn_trace *out);
// The step frozen at one point; NULL as cairn_world_step_frozen.
cairn_frame *cairn_trial_freeze(const cairn_trial *trial, cairn_world *world,
    const cairn_command *commands, uint32_t count, uint32_t point);

// Steps a fork of `world` as it should be, but with all memory that is no state full of `byte`, the
// stack below the rules as well. False: no memory.
bool cairn_trial_stained(const cairn_world *world, unsigned char byte,
    const cairn_command *commands, uint32_t count, cairn_hash128 *root);
