// SPDX-License-Identifier: MIT
// Each check of the passport passes here and fails when its fault is planted.

#include "tests/kit/test.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "sim/debug/passport_parts.h"
#include "sim/math/vec.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

TEST("this build has no faults and always the same hash") {
    cairn_passport a;
    cairn_passport b;
    assert_int_equal(cairn_passport_read(&a), CAIRN_OK);
    assert_int_equal(cairn_passport_read(&b), CAIRN_OK);
    assert_int_equal(a.faults, 0);
    assert_true(a.hash.lo != 0 && a.hash.hi != 0);
    assert_true(cairn_hash_equal(a.hash, b.hash));
}

// Reads the passport in the floating-point mode of the calling thread, which becomes the usual one.
// The world is stepped in its own mode, so its hash must not change.
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
// Of the calling thread, in whose control register only these bits are set.
static void expect_in_register(unsigned bits, uint32_t wanted, uint32_t unwanted) {
    _mm_setcsr(0x1f80 | bits);
    const uint32_t faults = cairn_passport_arithmetic_faults(&cairn_arithmetic_own);
    assert_int_equal(faults & unwanted, 0);
    expect_in_mode(wanted | CAIRN_PASSPORT_SUBNORMALS);
}

TEST("flush to zero and denormals are zero are found and told apart") {
    expect_in_register(0x8000, CAIRN_PASSPORT_FLUSH_TO_ZERO, CAIRN_PASSPORT_DENORMALS_ARE_ZERO);
    expect_in_register(0x0040, CAIRN_PASSPORT_DENORMALS_ARE_ZERO, CAIRN_PASSPORT_FLUSH_TO_ZERO);
}
#endif

static float minimum_by_sign(float a, float b) {
    return a < b || (a == b && signbit(a)) ? a : b; // like some fminf
}

static float maximum_by_sign(float a, float b) {
    return a > b || (a == b && !signbit(a)) ? a : b;
}

// One Newton step from an estimate of 12 bits.
static float root_by_estimate(float a) {
    const float inverse = float_of_bits(float_bits(1.0f / sqrtf(a)) & 0xfffff000u);
    return a * inverse * (1.5f - 0.5f * a * inverse * inverse);
}

static float root_one_off(float a) {
    return a == 1.00000012f ? 1.00000012f : sqrtf(a); // close to the midpoint: 1 is nearer
}

// Replaces one function of the arithmetic, which must cause exactly this fault.
#define EXPECT_FAULT(member, replacement, fault)                                                   \
    do {                                                                                           \
        cairn_arithmetic planted = cairn_arithmetic_own;                                           \
        planted.member = (replacement);                                                            \
        assert_int_equal(cairn_passport_arithmetic_faults(&planted), fault);                       \
    } while (0)

TEST("each function of other arithmetic is found") {
    EXPECT_FAULT(minimum, minimum_by_sign, CAIRN_PASSPORT_MINIMUM);
    EXPECT_FAULT(maximum, maximum_by_sign, CAIRN_PASSPORT_MINIMUM);
    EXPECT_FAULT(root, root_by_estimate, CAIRN_PASSPORT_SQUARE_ROOT);
    EXPECT_FAULT(root, root_one_off, CAIRN_PASSPORT_SQUARE_ROOT);
    EXPECT_FAULT(sine, sinf, CAIRN_PASSPORT_TRIGONOMETRY);
    EXPECT_FAULT(cosine, cosf, CAIRN_PASSPORT_TRIGONOMETRY);
    EXPECT_FAULT(angle, atan2f, CAIRN_PASSPORT_TRIGONOMETRY);
}

TEST("every fault has a name and a description") {
    assert_string_equal(cairn_passport_fault_name(0), "none");
    assert_string_equal(cairn_passport_fault_words(0), "");
    for (uint32_t i = 0; i < 32; ++i) {
        const bool known = i < CAIRN_PASSPORT_FAULT_COUNT;
        const char *name = cairn_passport_fault_name(1u << i);
        assert_int_equal(known, strcmp(name, "unknown") != 0);
        assert_true(cairn_passport_fault_words(1u << i)[0] != '\0');
    }
}
