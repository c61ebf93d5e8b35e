// SPDX-License-Identifier: MIT
#include "sim/step.h"

#include <string.h>

#include "base/assert.h"
#include "sim/body.h"
#include "sim/float_env.h"

static void check_commands(const cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        CAIRN_ASSERT(cairn_command_check(&commands[i]) == CAIRN_OK);
        CAIRN_ASSERT(i == 0 || !cairn_command_before(&commands[i], &commands[i - 1]));
    }
}

static void apply_rules(cairn_world *world, const cairn_command *commands, uint32_t count) {
    if (world->def.rules != NULL) {
        world->def.rules->step(world, world->state.rules, commands, count);
    }
}

static void keep_contacts(cairn_world *world) {
    const uint32_t count = world->scratch.contact_count;
    memcpy(world->state.contacts, world->scratch.contacts, count * sizeof(cairn_contact));
    world->state.settings->contact_count = count;
}

static void count_tick(cairn_world *world) {
    const uint64_t tick = cairn_world_tick(world) + 1;
    world->state.settings->tick_low = (uint32_t)tick;
    world->state.settings->tick_high = (uint32_t)(tick >> 32);
}

static void advance(cairn_world *world) {
    const uint32_t pair_count = cairn_step_find_pairs(world);
    cairn_step_collide(world, pair_count);
    cairn_step_build_islands(world);
    cairn_step_revive(world);
    cairn_step_compare_contacts(world);
    cairn_step_integrate_forces(world);
    cairn_step_solve(world);
    keep_contacts(world);
    cairn_step_integrate_positions(world);
    cairn_step_rest(world);
}

void cairn_world_step(cairn_world *world, const cairn_command *commands, uint32_t command_count) {
    check_commands(commands, command_count);
    const uint64_t mode = cairn_float_enter();
    apply_rules(world, commands, command_count);
    if (cairn_step_idle(world)) {
        world->event_count = 0;
    } else {
        advance(world);
    }
    count_tick(world);
    cairn_float_leave(mode);
}
