// SPDX-License-Identifier: MIT
#include "sim/math/float_env.h"

#include "base/assert.h"
#include <cairn/sim.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

// All exceptions masked, round to nearest, neither flush-to-zero nor denormals-are-zero.
static const uint32_t default_mode = 0x1f80;
static const bool mode_known = true;

static uint64_t mode_read(void) {
    return _mm_getcsr();
}

static void mode_write(uint64_t mode) {
    _mm_setcsr((uint32_t)mode);
}
#elif defined(__aarch64__)
static const uint32_t default_mode = 0;
static const bool mode_known = true;

static uint64_t mode_read(void) {
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static void mode_write(uint64_t mode) {
    __asm__ volatile("msr fpcr, %0" : : "r"(mode));
}
#else
// WebAssembly has no control word; its only mode is the required one. On other machines no control
// word is known, so only the arithmetic is checked.
static const uint32_t default_mode = 0;
static const bool mode_known = false;

static uint64_t mode_read(void) {
    return default_mode;
}

static void mode_write(uint64_t mode) {
    (void)mode;
}
#endif

bool cairn_float_mode_known(void) {
    return mode_known;
}

uint64_t cairn_float_mode_word(void) {
    return mode_read();
}

bool cairn_float_mode_ok(void) {
    volatile const float tiny = 1e-30f;
    volatile const float small = 1e-10f;
    volatile const float one = 1.0f;
    volatile const float half_ulp = 5.9604644775390625e-8f; // 2^-24
    volatile const float more = 6.0e-8f;
    const float subnormal = tiny * small;
    const float product = subnormal * one;
    const float even = one + half_ulp;
    const float up = one + more;
    const float down = -one - half_ulp;
    return product > 0.0f && even == 1.0f && up > 1.0f && down == -1.0f;
}

uint64_t cairn_float_set_default(void) {
    const uint64_t saved = mode_read();
    mode_write(default_mode);
    return saved;
}

uint64_t cairn_float_enter(void) {
    const uint64_t saved = cairn_float_set_default();
    CAIRN_ASSERT(cairn_float_mode_ok());
    return saved;
}

void cairn_float_leave(uint64_t saved) {
    mode_write(saved);
}

// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: the last term is lost if the product is rounded before the
// sum, and kept if both are one instruction.
bool cairn_float_sums_ok(void) {
    volatile const float factor = 1.000244140625f;
    volatile const float rounded = -1.00048828125f;
    const float a = factor;
    const float b = rounded;
    const float sum = a * a + b;
    return sum == 0.0f;
}

// The same for four sums of alternating sign, as in a product of quaternions. There is an
// instruction for these as well, and gcc 12 used it even with -ffp-contract=off. A volatile pointer
// hides the operands.
bool cairn_float_alternating_sums_ok(void) {
    static const float hidden[8] = {1.000244140625f, 1.000244140625f, 1.000244140625f,
        1.000244140625f, 1.00048828125f, -1.00048828125f, 1.00048828125f, -1.00048828125f};
    const float *volatile const volatile_hidden = hidden;
    const float *const a = volatile_hidden;
    const float *const b = a + 4;
    float sums[4];
    float *volatile const volatile_sums = sums;
    float *const out = volatile_sums;
    const float s0 = a[0] * a[0] - b[0];
    const float s1 = a[1] * a[1] + b[1];
    const float s2 = a[2] * a[2] - b[2];
    const float s3 = a[3] * a[3] + b[3];
    out[0] = s0;
    out[1] = s1;
    out[2] = s2;
    out[3] = s3;
    return sums[0] == 0.0f && sums[1] == 0.0f && sums[2] == 0.0f && sums[3] == 0.0f;
}

bool cairn_float_contract_ok(void) {
    return cairn_float_sums_ok() && cairn_float_alternating_sums_ok();
}
