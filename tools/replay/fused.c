// SPDX-License-Identifier: MIT
#include "tools/replay/fused.h"

#include "sim/soft_step/soft_step.h"

bool cairn_fused_available(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma") != 0 && __builtin_cpu_supports("avx2") != 0;
#else
    return true;
#endif
}

typedef struct kernels {
    cairn_kernel wide;
    cairn_kernel single;
} kernels;

// The world holds kernels of the other build; they are replaced by those of the same width here.
static kernels exchange_kernels(cairn_world *world) {
    cairn_soft_step *soft_step = world->soft_step;
    const kernels others = {.wide = soft_step->wide_kernel, .single = soft_step->overflow_kernel};
    (void)cairn_kernel_of(others.wide.lanes, &soft_step->wide_kernel);
    (void)cairn_kernel_of(1, &soft_step->overflow_kernel);
    return others;
}

static void restore_kernels(cairn_world *world, kernels others) {
    world->soft_step->wide_kernel = others.wide;
    world->soft_step->overflow_kernel = others.single;
}

void cairn_fused_step(cairn_world *world, const cairn_command *commands, uint32_t count) {
    const kernels others = exchange_kernels(world);
    cairn_world_step(world, commands, count);
    restore_kernels(world, others);
}

void cairn_fused_step_traced(
    cairn_world *world, const cairn_command *commands, uint32_t count, cairn_trace *out) {
    const kernels others = exchange_kernels(world);
    cairn_world_step_traced(world, commands, count, out);
    restore_kernels(world, others);
}

cairn_frame *cairn_fused_step_frozen(
    cairn_world *world, const cairn_command *commands, uint32_t count, uint32_t point) {
    const kernels others = exchange_kernels(world);
    cairn_frame *frame = cairn_world_step_frozen(world, commands, count, point);
    restore_kernels(world, others);
    return frame;
}
