// SPDX-License-Identifier: MIT
// What a text of JSON says, as the readers of scenes ask for it.
#include "tests/kit/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "schema/json_document.h"

static cairn_json_document document;

// Parses [text]; what it says begins at 1.
static void parse_list(const char *text) {
    static char list[256];
    const int size = snprintf(list, sizeof list, "[%s]", text);
    assert_true(size > 0 && (size_t)size < sizeof list);
    assert_int_equal(cairn_json_document_parse(&document, list, (size_t)size), CAIRN_OK);
}

static float read_float(const char *text) {
    size_t end = 0;
    parse_list(text);
    const float value = cairn_json_float(&document, 1, &end);
    assert_int_equal(end, 1 + strlen(text));
    cairn_json_document_destroy(&document);
    return value;
}

// Rounded to a double first, each of these is half-way between two floats, and the even one of them
// is not the nearest.
TEST("a number that a double takes half-way between two floats becomes the nearest as well") {
    static const struct {
        const char *text;
        float nearest;
    } rows[] = {{"0.0307662608101964", 0x1.f8130ep-6f}, {"0.0543192345649004", 0x1.bcfbb2p-5f},
        {"0.100559052079916", 0x1.9be3cep-4f}, {"0.159114308655262", 0x1.45ddbap-3f},
        {"0.454259917140007", 0x1.d12982p-2f}, {"0.979946643114090", 0x1.f5bb92p-1f},
        {"1.74384206533432", 0x1.be6c6ep+0f}, {"1.96469384431839", 0x1.f6f62ep+0f},
        {"2.62891948223114", 0x1.50806ep+1f}, {"7.45059609413147", 0x1.dcd692p+2f},
        {"9.26317548751831", 0x1.286beep+3f}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_true(read_float(rows[i].text) == rows[i].nearest);
    }
}

TEST("numbers of any length are those of the C library") {
    static const char *const texts[] = {"0", "-0", "0.0", "1", "-1", "123456789012345",
        "1234567890123456", "0.000000000000000000000001", "0.0000000000000000000000123456789",
        "3.4028235e38", "3.4028236e38", "1e39", "-1e39", "1.17549435e-38", "1.2e-38", "1e-38",
        "1e-45", "1e-46", "1E5", "1e+5", "12.5e-3", "100e99999", "1e-99999", "16777217", "16777219",
        "0.1", "0.30000001192092896"};
    cairn_random random = cairn_random_of(3);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
        assert_true(read_float(texts[i]) == strtof(texts[i], NULL));
    }
    for (uint32_t i = 0; i < 20000; ++i) {
        char text[64];
        const uint32_t digits = 1 + (uint32_t)cairn_random_below(&random, 20);
        const uint32_t point = (uint32_t)cairn_random_below(&random, digits + 1);
        uint32_t at = 0;
        if (cairn_random_below(&random, 2) == 0) {
            text[at++] = '-';
        }
        if (point == 0) {
            text[at++] = '0';
        }
        for (uint32_t k = 0; k < digits; ++k) {
            if (k == point) {
                text[at++] = '.';
            }
            text[at++] = (char)((k == 0 && point > 0 ? '1' : '0') +
                                (char)cairn_random_below(&random, k == 0 ? 9 : 10));
        }
        text[at] = '\0';
        if (cairn_random_below(&random, 3) == 0) {
            snprintf(
                text + at, sizeof text - at, "e%d", (int)cairn_random_below(&random, 100) - 60);
        }
        const float value = read_float(text), wanted = strtof(text, NULL);
        if (value != wanted) {
            fail_msg("%s is %a, wanted %a", text, (double)value, (double)wanted);
        }
    }
}

TEST("a whole number has no sign, point or exponent and fits 64 bits") {
    static const struct {
        const char *text;
        bool whole;
        uint64_t value;
    } rows[] = {{"0", true, 0}, {"9", true, 9}, {"10", true, 10},
        {"18446744073709551615", true, UINT64_MAX}, {"18446744073709551616", false, 0},
        {"18446744073709551620", false, 0}, {"99999999999999999999", false, 0}, {"-1", false, 0},
        {"1.0", false, 0}, {"1e2", false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint64_t value = 0;
        size_t end = 0;
        parse_list(rows[i].text);
        assert_int_equal(cairn_json_whole(&document, 1, &value, &end), rows[i].whole);
        assert_int_equal(end, 1 + strlen(rows[i].text));
        assert_int_equal(value, rows[i].value);
        cairn_json_document_destroy(&document);
    }
}

TEST("a text has its escapes resolved, and is cut to what fits") {
    static const struct {
        const char *text, *value;
    } rows[] = {{"", ""}, {"abc", "abc"}, {"a\\n\\t\\r\\b\\f", "a\n\t\r\b\f"},
        {"\\\"\\\\\\/", "\"\\/"}, {"\\u0041\\u007e", "A~"}, {"\\u007f", "\1"}, {"\\u0000", "\1"},
        {"\\u00e4", "\1"}, {"\303\244", "\1\1"}, {"\\u004A\\u004a", "JJ"}, {"\\u0001", "\1"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        char list[64], out[32];
        snprintf(list, sizeof list, "\"%s\"", rows[i].text);
        parse_list(list);
        const size_t size = strlen(rows[i].value);
        for (size_t room = 1; room < sizeof out; ++room) {
            memset(out, '?', sizeof out);
            assert_int_equal(cairn_json_text_copy(&document, 2, out, room), size);
            const size_t kept = size < room ? size : room - 1;
            assert_memory_equal(out, rows[i].value, kept);
            assert_int_equal(out[kept], '\0');
            assert_true(room == sizeof out || out[room] == '?');
        }
        cairn_json_document_destroy(&document);
    }
}
