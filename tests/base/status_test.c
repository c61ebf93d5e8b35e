// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <cairn/status.h>

#include <string.h>

TEST("every status has a short lower-case text of its own") {
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

TEST("a number that is no status has a text too") {
    assert_string_equal(cairn_status_text(CAIRN_STATUS_COUNT), "unknown status");
    assert_string_equal(cairn_status_text((cairn_status)-1), "unknown status");
}
