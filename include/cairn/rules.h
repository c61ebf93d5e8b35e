// SPDX-License-Identifier: MIT
#pragma once

// A game's rules. An author of rules also includes cairn/sim.h (bodies, joints, queries) and
// cairn/math.h (arithmetic that is equal on every machine).

#include <stdint.h>

#include <cairn/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// Pure functions that a step calls. `step` runs when it begins, with that tick's JOINs, LEAVEs and
// INPUTs; edits were applied just before: any body may be gone or moved. `after_step` runs when it
// ends, with the bodies at their new poses and the events of this step. Both see the same
// cairn_world_tick. `state` is part of the world's state: saved, hashed, rolled back. It must hold
// no pointer, no padding other than zeros, and no -0 or NaN. Allowed: every cairn_body_,
// cairn_shape_, cairn_joint_, event and query function on `world`, cairn/math.h, cairn_random_at.
// Not allowed: anything else outside `state`.
typedef struct cairn_rules {
    const char *name;    // ASCII, at most CAIRN_NAME_SIZE_MAX characters
    uint32_t version;    // incremented when behaviour changes
    uint32_t state_size; // bytes, multiple of 4, at most CAIRN_RULES_STATE_SIZE_MAX; hash and
                         // encoding read it as u32 words
    // Called once, at create, after `state` was zeroed; may be NULL.
    void (*start)(cairn_world *world, void *state);
    // Called at the start of each step; `commands` are sorted and valid during the call.
    void (*step)(
        cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count);
    // Called at the end of each step; may be NULL. What it changes takes part in the next step.
    void (*after_step)(cairn_world *world, void *state);
} cairn_rules;

// The built-in rules, which make the server useful without code: each player drives a box (spawned
// at JOIN, removed at LEAVE) with `move` as a horizontal force, and the buttons below.
extern const cairn_rules cairn_rules_sandbox;

enum {
    CAIRN_SANDBOX_JUMP = 1u << 0,  // an upward impulse if something is beneath
    CAIRN_SANDBOX_PUSH = 1u << 1,  // an impulse along `aim` on the first body that the aim ray hits
    CAIRN_SANDBOX_THROW = 1u << 2, // spawns a small sphere and throws it along `aim`
    CAIRN_SANDBOX_SPAWN = 1u << 3, // spawns a cube above the player
};

// Counter-based random numbers: the value depends on the four arguments alone, not on earlier
// calls, so a tick that is stepped again draws the same values. `seed` is the world def's.
// SplitMix64's finaliser (Steele, Lea, Flood 2014) over the mixed counters.
uint64_t cairn_random_at(uint64_t seed, uint64_t tick, uint64_t entity, uint64_t stream);

#ifdef __cplusplus
}
#endif
