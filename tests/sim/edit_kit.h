// SPDX-License-Identifier: MIT
#pragma once

// Commands of an operator for tests.

#include "tests/sim/world_kit.h"

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

static const cairn_vec3 zero = {.x = 0.0f};
static const cairn_vec3 half = {.x = 0.5f, .y = 0.5f, .z = 0.5f};

static inline cairn_command edit(uint32_t kind, uint32_t buttons, cairn_vec3 move, cairn_vec3 aim) {
    return (cairn_command){
        .kind = kind, .slot = CAIRN_SLOT_OPERATOR, .buttons = buttons, .move = move, .aim = aim};
}

static inline void step(cairn_world *world, cairn_command command) {
    EXPECT_OK(cairn_command_check(&command));
    cairn_world_step(world, &command, 1);
}

static inline cairn_vec3 property(uint32_t number) {
    return vec3((float)number, 0.0f, 0.0f);
}

typedef struct edit_case {
    uint32_t kind;
    cairn_vec3 move;
    cairn_vec3 aim;
    cairn_status expected; // of cairn_command_check
} edit_case;

static inline void expect_checks(const edit_case *cases, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const cairn_command command = edit(cases[i].kind, 7, cases[i].move, cases[i].aim);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

// Applies commands in their order, as one tick.
static inline void step_all(cairn_world *world, cairn_command *commands, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        commands[i].sequence = i;
        EXPECT_OK(cairn_command_check(&commands[i]));
    }
    cairn_world_step(world, commands, count);
}
