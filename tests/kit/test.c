// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

#define TESTS_MAX 256

static struct CMUnitTest tests[TESTS_MAX];
static size_t test_count;
static void (*hooks[4])(void);

// CMocka needs a separate function for each hook.
#define HOOK_FUNCTION(name, hook)                                                                  \
    static int name(__attribute__((unused)) void **state) {                                        \
        if (hooks[hook] != NULL) {                                                                 \
            hooks[hook]();                                                                         \
        }                                                                                          \
        return 0;                                                                                  \
    }
HOOK_FUNCTION(before_all, TEST_BEFORE_ALL)
HOOK_FUNCTION(after_all, TEST_AFTER_ALL)
HOOK_FUNCTION(before_each, TEST_BEFORE_EACH)
HOOK_FUNCTION(after_each, TEST_AFTER_EACH)

void test_register_with(const char *name, void (*body)(void **state), void *initial) {
    CAIRN_ASSERT(test_count < TESTS_MAX);
    tests[test_count++] = (struct CMUnitTest){.name = name,
        .test_func = body,
        .setup_func = before_each,
        .teardown_func = after_each,
        .initial_state = initial};
}

void test_register(const char *name, void (*body)(void **state)) {
    test_register_with(name, body, NULL);
}

void test_register_hook(test_hook hook, void (*body)(void)) {
    CAIRN_ASSERT(hooks[hook] == NULL);
    hooks[hook] = body;
}

bool test_is_thorough(void) {
    return getenv("CAIRN_TEST_THOROUGH") != NULL;
}

bool test_is_in_share(uint64_t number) {
    unsigned first = 0;
    unsigned count = 1;
    const char *share = getenv("CAIRN_TEST_SHARE");
    if (share != NULL && (sscanf(share, "%u/%u", &first, &count) != 2 || first >= count)) {
        fail_msg("CAIRN_TEST_SHARE is %s, not K/N with K < N", share);
    }
    return number % count == first;
}

int test_run(const char *group_name, const char *pattern) {
    CAIRN_ASSERT(test_count > 0);
    if (pattern != NULL) {
        cmocka_set_test_filter(pattern);
    }
    return _cmocka_run_group_tests(group_name, tests, test_count, before_all, after_all);
}
