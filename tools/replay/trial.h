// SPDX-License-Identifier: MIT
#pragma once

// Ways to compute one step that a correct build does not use: each reproduces a hazard on purpose,
// to see whether it reaches the state hash of a peer that diverged.

#include <stdbool.h>
#include <stdint.h>

#include "sim/debug/trace.h"

typedef enum cairn_hazard {
    CAIRN_HAZARD_NONE = 0,      // both peers agree
    CAIRN_HAZARD_CONTRACTION,   // products fused into sums
    CAIRN_HAZARD_FLUSH_TO_ZERO, // subnormal numbers treated as zero
    CAIRN_HAZARD_ROUNDING,      // another rounding mode
    CAIRN_HAZARD_WARM_START,    // the step began without the last step's impulses
    CAIRN_HAZARD_FIELD_CHANGED, // memory was changed from outside
    CAIRN_HAZARD_UNINITIALISED, // the step reads memory that is not part of the state
    CAIRN_HAZARD_RULES,         // other rules under the same name and version
    CAIRN_HAZARD_ARITHMETIC,    // a passport with faults, of which none reaches that hash
    CAIRN_HAZARD_UNKNOWN,
    CAIRN_HAZARD_COUNT
} cairn_hazard;
const char *cairn_hazard_name(cairn_hazard hazard);

typedef struct cairn_trial {
    cairn_hazard hazard;
    const char *words; // "with flush-to-zero", ...
    bool fused;
    bool no_warm_start; // impulses of contacts and joints are cleared before the step
    uint32_t mode;      // bit set of the modes below; 0: that of the determinism contract
} cairn_trial;

// Floating-point modes of a trial, switched on after commands and rules.
enum {
    CAIRN_TRIAL_FLUSH = 1u << 0,     // results
    CAIRN_TRIAL_SUBNORMAL = 1u << 1, // operands
    CAIRN_TRIAL_DOWN = 1u << 2,
    CAIRN_TRIAL_UP = 1u << 3,
    CAIRN_TRIAL_TO_ZERO = 1u << 4,
};

// The correct step.
extern const cairn_trial cairn_trial_plain;
// Hazards that this machine can reproduce; returns their number.
uint32_t cairn_trials(const cairn_trial **out);

// Clears the impulses of all contacts and joints.
void cairn_trial_clear_impulses(cairn_world *world);

// Prepares a world for a step of any kind under a trial, and restores it. `trial` must last until
// end.
void cairn_trial_begin(const cairn_trial *trial, cairn_world *world);
void cairn_trial_end(cairn_world *world);

// Steps `world` under a trial. `out`, if not NULL, receives the hashes of its stages.
void cairn_trial_step(const cairn_trial *trial, cairn_world *world, const cairn_command *commands,
    uint32_t count, cairn_trace *out);
// The step frozen at one point; NULL as cairn_world_step_frozen.
cairn_frame *cairn_trial_freeze(const cairn_trial *trial, cairn_world *world,
    const cairn_command *commands, uint32_t count, uint32_t point);

// Steps a fork of `world` correctly, but with all memory that is not state filled with `byte`,
// including the stack below the rules. False: out of memory.
bool cairn_trial_step_with_fill(const cairn_world *world, unsigned char byte,
    const cairn_command *commands, uint32_t count, cairn_hash128 *root);
