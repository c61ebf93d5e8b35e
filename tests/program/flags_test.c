// SPDX-License-Identifier: MIT
// What is the same in every command line: verbs, words, --help. Kinds of flags are in
// tests/server/config_test.c.
#include "tests/kit/test.h"

#include "program/flags.h"

static uint32_t count;
static bool quick;

static const cairn_flag flags[] = {
    {"--count", NULL, "N", "how many", CAIRN_FLAG_U32, .out = &count, .verbs = "make take"},
    {"--quick", NULL, NULL, "not slow", CAIRN_FLAG_SWITCH, .out = &quick},
};
static const cairn_flags_verb verbs[] = {
    {"make", "OUT", "makes"}, {"take", "IN OUT [LOG]", "takes"}, {"wait", "", "waits"}};

static const char *refusal_of(const char *const *arguments, size_t verb_count, size_t words_max) {
    static char error[CAIRN_FLAGS_ERROR_SIZE];
    cairn_flags_program program = {.name = "probe",
        .usage = "",
        .about = "",
        .flags = flags,
        .flag_count = 2,
        .verbs = verbs,
        .verb_count = verb_count,
        .words_max = words_max};
    int argc = 0;
    while (arguments[argc] != NULL) {
        ++argc;
    }
    const cairn_flags_result result =
        cairn_flags_read(&program, argc, (char *const *)arguments, error);
    assert_int_equal(result == CAIRN_FLAGS_REFUSED, error[0] != '\0');
    return error;
}

TEST("each verb accepts its own arguments and flags") {
    static const struct {
        const char *arguments[8], *refusal;
    } rows[] = {{{"probe", "make", "out"}, ""},
        {{"probe", "--quick", "take", "in", "--count", "7", "out"}, ""},
        {{"probe", "take", "in", "out", "log"}, ""}, {{"probe", "wait"}, ""},
        {{"probe"}, "a verb is missing; --help lists all"},
        {{"probe", ""}, "a verb is missing; --help lists all"},
        {{"probe", "mak", "out"}, "mak: there is no such verb; --help lists all"},
        {{"probe", "make"}, "make: an argument is missing; use: probe make OUT"},
        {{"probe", "take", "in"}, "take: an argument is missing; use: probe take IN OUT [LOG]"},
        {{"probe", "take", "a", "b", "c", "d"},
            "take: too many arguments; use: probe take IN OUT [LOG]"},
        {{"probe", "wait", "long"}, "wait: too many arguments; use: probe wait"},
        {{"probe", "wait", "--count", "1"}, "--count: not a flag of wait, but of: make take"},
        {{"probe", "make", "out", "--count"}, "--count N: the value is missing"},
        {{"probe", "make", "out", "--quick=1"}, "--quick 1: takes no value"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_string_equal(refusal_of(rows[i].arguments, 3, 0), rows[i].refusal);
    }
    assert_int_equal(count, 1);
    assert_true(quick);
}

TEST("words may be negative numbers or a dash") {
    static const char *const few[] = {"probe", "-3", "-", NULL};
    static const char *const many[] = {"probe", "a", "b", "c", NULL};
    assert_string_equal(refusal_of(few, 0, 2), "");
    assert_string_equal(refusal_of(many, 0, 2), "c: not expected; --help lists the arguments");
}

TEST("a number is decimal or hexadecimal digits within its range") {
    static const struct {
        const char *text;
        bool good;
    } rows[] = {{"0", false}, {"1", true}, {"0x10", true}, {"0XFf", true}, {"17", true},
        {"18446744073709551615", true}, {"18446744073709551616", false}, {"", false}, {"-1", false},
        {" 1", false}, {"1 ", false}, {"0x", false}, {"0xg", false}, {"1e3", false}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint64_t number = 0;
        char error[CAIRN_FLAGS_ERROR_SIZE];
        assert_int_equal(
            cairn_flags_number("N", rows[i].text, 1, UINT64_MAX, &number, error), rows[i].good);
        assert_int_equal(number != 0, rows[i].good);
    }
}
