// SPDX-License-Identifier: MIT
#pragma once

#include <stddef.h>

#include <cairn/rules.h>

// Rules that read memory that was never set: the result depends on what the stack held before.
static void sum_bytes(volatile unsigned char *area, size_t size, uint32_t *out) {
    uint32_t sum = 0;
    for (size_t i = 0; i < size; ++i) {
        sum = sum * 31 + area[i];
    }
    *out = sum;
}

static void step_uninitialised(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)commands;
    (void)command_count;
    void (*volatile read)(volatile unsigned char *, size_t, uint32_t *) = sum_bytes;
    volatile unsigned char never_set[512];
    read(never_set, sizeof never_set, state);
}

static const cairn_rules uninitialised_rules = {
    .name = "uninitialised", .version = 1, .state_size = 4, .step = step_uninitialised};
