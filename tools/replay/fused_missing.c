// SPDX-License-Identifier: MIT
#include "tools/replay/fused.h"

#include <stddef.h>

// For builds without the second simulation.
bool cairn_fused_available(void) {
    return false;
}

void cairn_fused_step(cairn_world *world, const cairn_command *commands, uint32_t count) {
    (void)world;
    (void)commands;
    (void)count;
}

void cairn_fused_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out) {
    (void)world;
    (void)commands;
    (void)count;
    out->count = 0;
}

cairn_frame *cairn_fused_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point) {
    (void)world;
    (void)commands;
    (void)count;
    (void)point;
    return NULL;
}
