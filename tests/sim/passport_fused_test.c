// SPDX-License-Identifier: MIT

// The canaries compiled as no build of ours may be, with products fused into sums: both notice.

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "sim/passport_parts.h"

static void fused_products_are_found(void **state) {
    (void)state;
    if (!__builtin_cpu_supports("fma")) {
        skip();
    }
    const uint32_t both = CAIRN_PASSPORT_CONTRACTION | CAIRN_PASSPORT_CONTRACTION_TURNS;
    assert_int_equal(cairn_passport_arithmetic_faults(&cairn_arithmetic_own) & both, both);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_products_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
