// SPDX-License-Identifier: MIT
// Linked before cairn-bot's own program: a bot that steps without the warm start from some tick on.
// The world of the self-test, which is smaller, is stepped correctly.

#include "tools/replay/trial.h"

void __real_cairn_world_step(
    cairn_world *world, const cairn_command *commands, uint32_t command_count);
void __wrap_cairn_world_step(
    cairn_world *world, const cairn_command *commands, uint32_t command_count);

#define FROM_TICK 60
#define BODIES_MIN 100

void __wrap_cairn_world_step(
    cairn_world *world, const cairn_command *commands, uint32_t command_count) {
    if (cairn_world_tick(world) >= FROM_TICK &&
        cairn_world_counts_read(world).bodies >= BODIES_MIN) {
        cairn_trial_clear_impulses(world);
    }
    __real_cairn_world_step(world, commands, command_count);
}
