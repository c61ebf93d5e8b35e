// SPDX-License-Identifier: MIT
// The canaries compiled as no build of ours may be, with products fused into sums: the first one
// notices whatever the compiler. The second is there for what gcc does, and clang fuses it or not
// as its other options go.

#include "tests/kit/test.h"

#include "sim/debug/passport_parts.h"

TEST("fused products are found") {
    const uint32_t faults = cairn_passport_arithmetic_faults(&cairn_arithmetic_own);
    assert_int_equal(faults & CAIRN_PASSPORT_CONTRACTION, CAIRN_PASSPORT_CONTRACTION);
#ifndef __clang__
    assert_int_equal(faults & CAIRN_PASSPORT_CONTRACTION_TURNS, CAIRN_PASSPORT_CONTRACTION_TURNS);
#endif
}
