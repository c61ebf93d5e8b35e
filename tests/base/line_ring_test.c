// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <string.h>

#include "base/line_ring.h"
#include "base/random.h"

static char memory[16];
static cairn_line_ring ring;

BEFORE_EACH {
    memset(memory, '?', sizeof memory);
    ring = cairn_line_ring_of(memory, sizeof memory);
}

static bool put(const char *line) {
    return cairn_line_ring_put(&ring, line, strlen(line));
}

// Everything that waits.
static const char *taken(void) {
    static char text[64];
    size_t size = 0;
    for (size_t more; (more = cairn_line_ring_take(&ring, text + size, 5)) > 0;) {
        size += more;
    }
    text[size] = '\0';
    return text;
}

TEST("lines are taken in order, in pieces, also around the end of the ring") {
    for (uint32_t i = 0; i < 20; ++i) {
        assert_true(put("one\n"));
        assert_true(put("three\n"));
        assert_string_equal(taken(), "one\nthree\n");
    }
    assert_int_equal(ring.lost, 0);
}

TEST("a line that fills the ring to its end fits, and one more byte does not") {
    assert_true(put("0123456789abcde\n"));
    assert_string_equal(taken(), "0123456789abcde\n");
    assert_false(put("0123456789abcdef\n"));
    assert_int_equal(cairn_line_ring_take_lost(&ring), 1);
}

TEST("after a lost line all are lost until the loss was taken, at its place") {
    assert_true(put("first line\n"));
    assert_false(put("second line\n"));
    assert_false(put("3\n"));                              // it would fit
    assert_int_equal(cairn_line_ring_take_lost(&ring), 0); // the first line waits
    assert_string_equal(taken(), "first line\n");
    assert_false(put("4\n"));
    assert_int_equal(cairn_line_ring_take_lost(&ring), 3);
    assert_int_equal(cairn_line_ring_take_lost(&ring), 0);
    assert_true(put("5\n"));
    assert_string_equal(taken(), "5\n");
    assert_int_equal(ring.lost, 3);
}
