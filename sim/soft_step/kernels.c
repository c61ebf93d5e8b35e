// SPDX-License-Identifier: MIT
#include "sim/soft_step/solver.h"

// Worlds with room for so many bodies have sixteen lanes, where the CPU has instructions for them.
#define BODIES_OF_SIXTEEN 256

#define DECLARE(name)                                                                              \
    extern const cairn_constraint_kernel cairn_contact_##name;                                     \
    extern const cairn_constraint_kernel cairn_joint_##name;                                       \
    extern const cairn_body_passes cairn_bodies_##name;                                            \
    extern const struct cairn_figure_kernel cairn_figure_##name;

#define KERNEL_WITH(name, width, of_few_figures)                                                   \
    (cairn_kernel) {                                                                               \
        .lanes = (width), .bodies = &cairn_bodies_##name, .contacts = &cairn_contact_##name,       \
        .joints = &cairn_joint_##name, .figures = &cairn_figure_##of_few_figures,                  \
        .many_figures = &cairn_figure_##name                                                       \
    }
#define KERNEL(name, width) KERNEL_WITH(name, width, name)

DECLARE(lanes1)
DECLARE(lanes4)

// Kernels of 8 and 16 lanes without the instructions for them, which no CPU gains from: the golden
// matrix alone builds them, to show that they give the same bits.
#ifdef CAIRN_KERNELS_ALL
DECLARE(lanes8)
DECLARE(lanes16)
#define WITHOUT_INSTRUCTIONS(name, width) (*out = KERNEL(name, width), true)
#else
#define WITHOUT_INSTRUCTIONS(name, width) ((void)out, false)
#endif

#ifdef CAIRN_KERNELS_AVX2
DECLARE(lanes8_avx2)

static bool find_eight(cairn_kernel *out) {
    if (__builtin_cpu_supports("avx2")) {
        *out = KERNEL(lanes8_avx2, 8);
        return true;
    }
    return WITHOUT_INSTRUCTIONS(lanes8, 8);
}

// Sixteen take hardly longer than eight, because most of a visit is one chain of dependent
// operations. But the colours of a small world do not fill them, nor do few figures: these have
// eight, with the instructions of AVX-512, which has twice as many registers. A caller that asks
// for eight gets the other kernel, so tests on such a CPU run both.
cairn_kernel cairn_kernel_for(uint32_t bodies) {
#ifdef CAIRN_KERNELS_AVX512
    DECLARE(lanes8_avx512)
    DECLARE(lanes16_avx512)
    if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        return bodies < BODIES_OF_SIXTEEN ? KERNEL(lanes8_avx512, 8)
                                          : KERNEL_WITH(lanes16_avx512, 16, lanes8_avx512);
    }
#endif
    (void)bodies;
    return __builtin_cpu_supports("avx2") ? KERNEL(lanes8_avx2, 8) : KERNEL(lanes4, 4);
}
#else
static bool find_eight(cairn_kernel *out) {
    return WITHOUT_INSTRUCTIONS(lanes8, 8);
}

cairn_kernel cairn_kernel_for(uint32_t bodies) {
    (void)bodies;
    return KERNEL(lanes4, 4);
}
#endif

static bool find_sixteen(cairn_kernel *out) {
#ifdef CAIRN_KERNELS_AVX512
    DECLARE(lanes16_avx512)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
        *out = KERNEL(lanes16_avx512, 16);
        return true;
    }
#endif
    return WITHOUT_INSTRUCTIONS(lanes16, 16);
}

bool cairn_kernel_of(uint32_t lanes, cairn_kernel *out) {
    switch (lanes) {
    case 1:
        *out = KERNEL(lanes1, 1);
        return true;
    case 4:
        *out = KERNEL(lanes4, 4);
        return true;
    case 8:
        return find_eight(out);
    case 16:
        return find_sixteen(out);
    default:
        return false;
    }
}
