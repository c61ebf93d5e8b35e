// SPDX-License-Identifier: MIT
#include "sim/debug/passport.h"

#include "base/assert.h"
#include "sim/debug/passport_golden.h"
#include "sim/debug/passport_parts.h"
#include "sim/math/float_env.h"
#include "sim/math/trig.h"
#include "sim/math/vec.h"

#define TRIGONOMETRY_STEPS 64

static float own_sine(float a) {
    return lanes_sin(a);
}

static float own_cosine(float a) {
    return lanes_cos(a);
}

static float own_angle(float y, float x) {
    return lanes_atan2(y, x);
}

static float own_minimum(float a, float b) {
    return float_min(a, b);
}

static float own_maximum(float a, float b) {
    return float_max(a, b);
}

static float own_root(float a) {
    return float_sqrt(a);
}

const cairn_arithmetic cairn_arithmetic_own = {
    .minimum = own_minimum,
    .maximum = own_maximum,
    .root = own_root,
    .sine = own_sine,
    .cosine = own_cosine,
    .angle = own_angle,
};

// A float that the compiler cannot know, so that the machine computes the result. Bits are
// compared, never values: in a thread with denormals-are-zero all subnormal numbers equal zero.
static float hidden(uint32_t bits) {
    volatile uint32_t shown = bits;
    return float_of_bits(shown);
}

// The least normal number halved is subnormal.
static bool results_kept(void) {
    return float_bits(hidden(0x00800000u) * hidden(0x3f000000u)) == 0x00400000u;
}

// A subnormal number times 2^24 is normal.
static bool operands_kept(void) {
    return float_bits(hidden(0x00400000u) * hidden(0x4b800000u)) == 0x0c000000u;
}

// Ties go to the even neighbour, the rest to the nearer one, on both sides of zero.
static bool rounds_to_nearest(void) {
    const float one = hidden(0x3f800000u);
    const float odd = hidden(0x3f800001u);
    const float half = hidden(0x33800000u); // 2^-24
    const float more = hidden(0x33800001u);
    const float less = hidden(0x337fffffu);
    return float_bits(one + half) == 0x3f800000u && float_bits(odd + half) == 0x3f800002u &&
           float_bits(one + more) == 0x3f800001u && float_bits(one + less) == 0x3f800000u &&
           float_bits(-one - half) == 0xbf800000u && float_bits(-one - more) == 0xbf800001u;
}

// Gradual underflow: results are rounded once, to the precision they have, and the difference of
// two unequal numbers is not zero.
static bool subnormals_exact(void) {
    const float next = hidden(0x00800001u);
    const float least = hidden(0x00800000u);
    const float third = hidden(0x3eaaaaabu);
    return float_bits(next - least) == 0x00000001u &&
           float_bits(least * third) == 0x002aaaabu && // 2796202.75 steps of 2^-149
           float_bits(hidden(0x00000003u) / hidden(0x40000000u)) == 0x00000002u; // 1.5: to even
}

// The result for two zeros is the second one, as `a < b ? a : b` says.
static bool zeros_ordered(const cairn_arithmetic *arithmetic) {
    const float plus = hidden(0);
    const float minus = hidden(0x80000000u);
    return float_bits(arithmetic->minimum(plus, minus)) == 0x80000000u &&
           float_bits(arithmetic->minimum(minus, plus)) == 0 &&
           float_bits(arithmetic->maximum(plus, minus)) == 0x80000000u &&
           float_bits(arithmetic->maximum(minus, plus)) == 0;
}

// Whether `root` of 24 bits is the float nearest to the square root of `square`, in whole numbers:
// (root - 1/2)^2 < square < (root + 1/2)^2. A root is never half way between two floats.
static bool nearest_root(uint64_t square, uint64_t root) {
    CAIRN_ASSERT(root >= 1u << 23 && root < 1u << 24 && square >> 60 == 0);
    const uint64_t low = 2 * root - 1;
    const uint64_t high = 2 * root + 1;
    return low * low < 4 * square && 4 * square < high * high;
}

// For a float in [1, 4) the root lies in [1, 2), so both are whole numbers of steps of 2^-23 and
// 2^-46.
static bool root_ok(const cairn_arithmetic *arithmetic, uint32_t bits) {
    const uint64_t significand = (bits & 0x007fffffu) | 0x00800000u;
    const uint32_t exponent = bits >> 23; // 127 or 128
    CAIRN_ASSERT(exponent == 127 || exponent == 128);
    const uint32_t root = float_bits(arithmetic->root(hidden(bits)));
    return root >> 23 == 127 &&
           nearest_root(significand << (23 + exponent - 127), (root & 0x007fffffu) | 0x00800000u);
}

// Near 1 and 4, roots come within 2^-26 of a step of the midpoint between two floats. The other
// samples are spread evenly, and the last one is subnormal.
static bool roots_nearest(const cairn_arithmetic *arithmetic) {
    bool ok = root_ok(arithmetic, 0x3f800001u) && root_ok(arithmetic, 0x3f800003u) &&
              root_ok(arithmetic, 0x407ffffeu) && root_ok(arithmetic, 0x407ffffdu);
    for (uint32_t bits = 0x3f800000u; bits < 0x40800000u; bits += 0x0003fffbu) {
        ok = ok && root_ok(arithmetic, bits);
    }
    return ok && float_bits(arithmetic->root(hidden(0x00000002u))) == 0x1a800000u; // 2^-74
}

cairn_hash128 cairn_passport_trigonometry(const cairn_arithmetic *arithmetic) {
    uint32_t results[3 * TRIGONOMETRY_STEPS];
    for (uint32_t i = 0; i < TRIGONOMETRY_STEPS; ++i) {
        // Multiples of 2^-6 are exact, so the table is the same everywhere.
        const float at = hidden(float_bits((float)i * 0.046875f));
        const float half = hidden(float_bits(1.5f));
        results[3 * i] = float_bits(arithmetic->sine(at - half));
        results[3 * i + 1] = float_bits(arithmetic->cosine(at));
        results[3 * i + 2] = float_bits(arithmetic->angle(at - half, half - at * at));
    }
    return cairn_hash_words(0, results, 3 * TRIGONOMETRY_STEPS);
}

static uint32_t fault_unless(bool ok, cairn_passport_fault fault) {
    return ok ? 0 : (uint32_t)fault;
}

uint32_t cairn_passport_arithmetic_faults(const cairn_arithmetic *arithmetic) {
    const cairn_hash128 angles = cairn_passport_trigonometry(arithmetic);
    return fault_unless(cairn_float_sums_ok(), CAIRN_PASSPORT_CONTRACTION) |
           fault_unless(cairn_float_alternating_sums_ok(), CAIRN_PASSPORT_CONTRACTION_TURNS) |
           fault_unless(results_kept(), CAIRN_PASSPORT_FLUSH_TO_ZERO) |
           fault_unless(operands_kept(), CAIRN_PASSPORT_DENORMALS_ARE_ZERO) |
           fault_unless(rounds_to_nearest(), CAIRN_PASSPORT_ROUNDING) |
           fault_unless(subnormals_exact(), CAIRN_PASSPORT_SUBNORMALS) |
           fault_unless(zeros_ordered(arithmetic), CAIRN_PASSPORT_MINIMUM) |
           fault_unless(roots_nearest(arithmetic), CAIRN_PASSPORT_SQUARE_ROOT) |
           fault_unless(cairn_hash_equal(angles, cairn_passport_golden_trigonometry),
               CAIRN_PASSPORT_TRIGONOMETRY);
}

cairn_status cairn_passport_read(cairn_passport *out) {
    *out = (cairn_passport){
        .faults = cairn_passport_arithmetic_faults(&cairn_arithmetic_own),
    };
    const cairn_status status = cairn_passport_scene(&out->hash);
    out->faults |= fault_unless(
        cairn_hash_equal(out->hash, cairn_passport_golden_scene), CAIRN_PASSPORT_SCENE);
    return status;
}

typedef struct fault_text {
    const char *name;
    const char *words;
} fault_text;

static const fault_text none = {"none", ""};
static const fault_text unknown = {"unknown", "a check failed that this build does not know"};
static const fault_text texts[CAIRN_PASSPORT_FAULT_COUNT] = {
    {"contraction", "products are fused into sums: build with -ffp-contract=off"},
    {"contraction of turns", "products are fused into sums by turns of sign: gcc, -O3 with FMA"},
    {"flush-to-zero", "subnormal results become zero: a library with fast-math, or ftz set"},
    {"denormals-are-zero", "subnormal operands count as zero: a library with fast-math, or daz "
                           "set"},
    {"rounding", "results are not rounded to nearest: the rounding mode was changed"},
    {"subnormals", "subnormal results are not exact"},
    {"minimum", "minimum or maximum of signed zeros differs: fminf or an instruction is in use"},
    {"square root", "square roots are not correctly rounded: an estimate is in use"},
    {"trigonometry", "sine, cosine or arc tangent differ in some bits"},
    {"scene", "a short test world ends with a different root: another build or simulation version"},
};

static const fault_text *text_of(uint32_t faults) {
    for (uint32_t i = 0; i < CAIRN_PASSPORT_FAULT_COUNT; ++i) {
        if ((faults >> i & 1) != 0) {
            return &texts[i];
        }
    }
    return faults == 0 ? &none : &unknown;
}

const char *cairn_passport_fault_name(uint32_t faults) {
    return text_of(faults)->name;
}

const char *cairn_passport_fault_words(uint32_t faults) {
    return text_of(faults)->words;
}
