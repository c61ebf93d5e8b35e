// SPDX-License-Identifier: MIT
// The canaries compiled with contraction, which no build may use. The first one detects it with
// every compiler. The second one is for gcc; clang fuses it or not, depending on its other options.

#include "tests/kit/test.h"

#include "sim/debug/passport_parts.h"

TEST("contraction of products and sums is found") {
    const uint32_t faults = cairn_passport_arithmetic_faults(&cairn_arithmetic_own);
    assert_int_equal(faults & CAIRN_PASSPORT_CONTRACTION, CAIRN_PASSPORT_CONTRACTION);
#ifndef __clang__
    assert_int_equal(faults & CAIRN_PASSPORT_CONTRACTION_TURNS, CAIRN_PASSPORT_CONTRACTION_TURNS);
#endif
}
