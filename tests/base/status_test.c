// SPDX-License-Identifier: MIT
#include <cairn/status.h>

#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

static void every_status_has_its_own_short_lower_case_text(void **state) {
    (void)state;
    for (int i = 0; i < CAIRN_STATUS_COUNT; ++i) {
        const char *text = cairn_status_text((cairn_status)i);
        assert_non_null(text);
        assert_in_range(strlen(text), 2, 40);
        assert_int_equal(strspn(text, "abcdefghijklmnopqrstuvwxyz "), strlen(text));
        for (int k = 0; k < i; ++k) {
            assert_string_not_equal(text, cairn_status_text((cairn_status)k));
        }
    }
}

static void a_number_that_is_no_status_has_a_text_too(void **state) {
    (void)state;
    assert_string_equal(cairn_status_text(CAIRN_STATUS_COUNT), "unknown status");
    assert_string_equal(cairn_status_text((cairn_status)-1), "unknown status");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_short_lower_case_text),
        cmocka_unit_test(a_number_that_is_no_status_has_a_text_too),
    };
    return cmocka_run_group_tests_name("base.status", tests, NULL, NULL);
}
