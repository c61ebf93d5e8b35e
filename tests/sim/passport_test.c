// SPDX-License-Identifier: MIT
// Each check of the passport passes here and fails when what it is there for is planted.

#include "tests/kit/test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "sim/debug/passport_parts.h"
#include "sim/math/vec.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

TEST("this build is fit") {
    cairn_passport passport;
    assert_int_equal(cairn_passport_read(&passport), CAIRN_OK);
    assert_int_equal(passport.faults, 0);
    assert_true(passport.hash.lo != 0 && passport.hash.hi != 0);
}

TEST("two readings are equal") {
    cairn_passport a;
    cairn_passport b;
    assert_int_equal(cairn_passport_read(&a), CAIRN_OK);
    assert_int_equal(cairn_passport_read(&b), CAIRN_OK);
    assert_true(cairn_hash_equal(a.hash, b.hash));
}

// Of the calling thread, as it is; the world is stepped in its own mode and ends as ever.
static void expect_in_mode(uint32_t faults_wanted) {
    cairn_passport passport;
    const cairn_status status = cairn_passport_read(&passport);
#if defined(__SSE2__)
    _mm_setcsr(0x1f80);
#endif
    fesetround(FE_TONEAREST);
    assert_int_equal(status, CAIRN_OK);
    assert_int_equal(passport.faults & faults_wanted, faults_wanted);
    assert_int_equal(passport.faults & CAIRN_PASSPORT_SCENE, 0);
}

TEST("another rounding mode is found") {
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (uint32_t i = 0; i < 3; ++i) {
        if (fesetround(modes[i]) == 0) {
            expect_in_mode(CAIRN_PASSPORT_ROUNDING);
        }
    }
}

#if defined(__SSE2__)
TEST("flush to zero is found") {
    _mm_setcsr(0x1f80 | 0x8000);
    expect_in_mode(CAIRN_PASSPORT_FLUSH_TO_ZERO | CAIRN_PASSPORT_SUBNORMALS);
}

TEST("denormals are zero is found") {
    _mm_setcsr(0x1f80 | 0x0040);
    expect_in_mode(CAIRN_PASSPORT_DENORMALS_ARE_ZERO | CAIRN_PASSPORT_SUBNORMALS);
}

TEST("flush to zero alone spares operands") {
    _mm_setcsr(0x1f80 | 0x8000);
    const uint32_t flushed = cairn_passport_arithmetic_faults(&cairn_arithmetic_own);
    _mm_setcsr(0x1f80 | 0x0040);
    const uint32_t denied = cairn_passport_arithmetic_faults(&cairn_arithmetic_own);
    _mm_setcsr(0x1f80);
    assert_int_equal(flushed & CAIRN_PASSPORT_DENORMALS_ARE_ZERO, 0);
    assert_int_equal(denied & CAIRN_PASSPORT_FLUSH_TO_ZERO, 0);
}
#endif

static float minimum_by_sign(float a, float b) {
    return a < b || (a == b && signbit(a)) ? a : b; // as some fminf do
}

static float maximum_by_sign(float a, float b) {
    return a > b || (a == b && !signbit(a)) ? a : b;
}

// One Newton step from an estimate of 12 bits: what a square root by estimate gives.
static float root_by_estimate(float a) {
    const float inverse = float_of_bits(float_bits(1.0f / sqrtf(a)) & 0xfffff000u);
    return a * inverse * (1.5f - 0.5f * a * inverse * inverse);
}

static float root_one_off(float a) {
    return a == 1.00000012f ? 1.00000012f : sqrtf(a); // next to half way: 1 is nearer
}

TEST("other arithmetic is found") {
    cairn_arithmetic planted = cairn_arithmetic_own;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), 0);
    planted.minimum = minimum_by_sign;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_MINIMUM);
    planted = cairn_arithmetic_own;
    planted.maximum = maximum_by_sign;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_MINIMUM);
    planted = cairn_arithmetic_own;
    planted.root = root_by_estimate;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_SQUARE_ROOT);
    planted.root = root_one_off;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_SQUARE_ROOT);
    planted = cairn_arithmetic_own;
    planted.sine = sinf;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_TRIGONOMETRY);
    planted = cairn_arithmetic_own;
    planted.cosine = cosf;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_TRIGONOMETRY);
    planted = cairn_arithmetic_own;
    planted.angle = atan2f;
    assert_int_equal(cairn_passport_arithmetic_faults(&planted), CAIRN_PASSPORT_TRIGONOMETRY);
}

TEST("every fault has a name and a sentence") {
    assert_string_equal(cairn_passport_fault_name(0), "none");
    assert_string_equal(cairn_passport_fault_words(0), "");
    for (uint32_t i = 0; i < 32; ++i) {
        const bool known = i < CAIRN_PASSPORT_FAULT_COUNT;
        const char *name = cairn_passport_fault_name(1u << i);
        assert_int_equal(known, strcmp(name, "unknown") != 0);
        assert_true(cairn_passport_fault_words(1u << i)[0] != '\0');
    }
}
