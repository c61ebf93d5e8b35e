// SPDX-License-Identifier: MIT
#pragma once

// The macros of the C tests, over CMocka:
//
//     TEST("a datagram is accepted once") {
//         assert_true(...);
//     }
//
// Each test registers itself and runs in the order of the source. The kit has the main; a program
// with a main of its own calls test_run. An argument of the program is a pattern of CMocka's
// (* and ?) for the names of the tests to run.

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/kit/scoped.h"

typedef enum test_hook {
    TEST_BEFORE_ALL,
    TEST_AFTER_ALL,
    TEST_BEFORE_EACH,
    TEST_AFTER_EACH
} test_hook;

void test_register(const char *name, void (*body)(void **state));
// The body finds `initial` in *state.
void test_register_with(const char *name, void (*body)(void **state), void *initial);
void test_register_hook(test_hook hook, void (*body)(void));
// Whether this run is the thorough one of a test that has two (cairn_test's THOROUGH): the fast one
// plays a part of the cases, spread over all of them, and the thorough one every case.
bool test_is_thorough(void);
// Whether this run plays case `number` of a long test: CAIRN_TEST_SHARE=K/N in the environment
// leaves all but the K-th of each N to other runs (`./dev test`). Without it every case is played.
bool test_is_in_share(uint64_t number);
// Runs every registered test; returns the number of failures.
int test_run(const char *group_name, const char *pattern);

#define TEST(name) TEST_EXPAND(name, __LINE__)
#define TEST_EXPAND(name, line) TEST_DEFINE(name, line)
#define TEST_DEFINE(name, line)                                                                    \
    static void test_at_line_##line(void **);                                                      \
    __attribute__((constructor)) static void register_test_at_line_##line(void) {                  \
        test_register(name, test_at_line_##line);                                                  \
    }                                                                                              \
    static void test_at_line_##line(__attribute__((unused)) void **test_state)

// At most one of each in a program.
#define BEFORE_ALL TEST_HOOK(before_all, TEST_BEFORE_ALL)
#define AFTER_ALL TEST_HOOK(after_all, TEST_AFTER_ALL)
#define BEFORE_EACH TEST_HOOK(before_each, TEST_BEFORE_EACH)
#define AFTER_EACH TEST_HOOK(after_each, TEST_AFTER_EACH)
#define TEST_HOOK(name, hook)                                                                      \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void register_##name(void) {                               \
        test_register_hook(hook, name);                                                            \
    }                                                                                              \
    static void name(void)

// CMocka's own comparison is for float alone; this one prints both numbers when it fails.
#define EXPECT_NEAR(got, wanted, within)                                                           \
    do {                                                                                           \
        double got_value = (double)(got);                                                          \
        double wanted_value = (double)(wanted);                                                    \
        double off =                                                                               \
            got_value > wanted_value ? got_value - wanted_value : wanted_value - got_value;        \
        if (!(off <= (double)(within))) {                                                          \
            fail_msg("%s is %.9g, wanted %.9g", #got, got_value, wanted_value);                    \
        }                                                                                          \
    } while (0)
