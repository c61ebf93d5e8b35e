// SPDX-License-Identifier: MIT
#include "sim/soft_step/solver.h"

#define DECLARE(name)                                                                              \
    extern const cairn_passes cairn_contact_##name;                                                \
    extern const cairn_passes cairn_joint_##name;                                                  \
    extern const cairn_body_passes cairn_bodies_##name;
#define KERNEL(name, width)                                                                        \
    (cairn_kernel) {                                                                               \
        .lanes = (width), .bodies = &cairn_bodies_##name, .contacts = &cairn_contact_##name,       \
        .joints = &cairn_joint_##name                                                              \
    }

DECLARE(lanes1)
DECLARE(lanes4)
DECLARE(lanes8)
DECLARE(lanes16)

#ifdef CAIRN_KERNELS_AVX2
DECLARE(lanes8_avx2)

static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") != 0;
}

static cairn_kernel eight(void) {
    return has_avx2() ? KERNEL(lanes8_avx2, 8) : KERNEL(lanes8, 8);
}

// Eight even where there are sixteen: colours of a small world do not fill wider groups.
static cairn_kernel best(void) {
    return has_avx2() ? eight() : KERNEL(lanes4, 4);
}
#else
static cairn_kernel eight(void) {
    return KERNEL(lanes8, 8);
}

static cairn_kernel best(void) {
    return KERNEL(lanes4, 4);
}
#endif

#ifdef CAIRN_KERNELS_AVX512
DECLARE(lanes16_avx512)

static cairn_kernel sixteen(void) {
    const bool able =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0;
    return able ? KERNEL(lanes16_avx512, 16) : KERNEL(lanes16, 16);
}
#else
static cairn_kernel sixteen(void) {
    return KERNEL(lanes16, 16);
}
#endif

bool cairn_kernel_of(uint32_t lanes, cairn_kernel *out) {
    switch (lanes) {
    case 0:
        *out = best();
        return true;
    case 1:
        *out = KERNEL(lanes1, 1);
        return true;
    case 4:
        *out = KERNEL(lanes4, 4);
        return true;
    case 8:
        *out = eight();
        return true;
    case 16:
        *out = sixteen();
        return true;
    default:
        return false;
    }
}
