// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "net/user_data.h"

typedef struct row {
    const char *name;
    uint8_t head[17];
    uint32_t rights;
} row;

// clang-format off
static const row rows[] = {
    {"operator",             {"cairnusr\1\0\0\0\1\0\0\0"}, CAIRN_USER_RIGHT_OPERATOR},
    {"no right",             {"cairnusr\1\0\0\0\0\0\0\0"}, 0},
    {"unknown rights",       {"cairnusr\1\0\0\0\xfe\xff\xff\xff"}, 0},
    {"known and unknown",    {"cairnusr\1\0\0\0\xff\xff\xff\xff"}, CAIRN_USER_RIGHT_OPERATOR},
    {"another backend's",    {0}, 0},
    {"another magic",        {"cairnusR\1\0\0\0\1\0\0\0"}, 0},
    {"a later version",      {"cairnusr\2\0\0\0\1\0\0\0"}, 0},
    {"no version",           {"cairnusr\0\0\0\0\1\0\0\0"}, 0},
    {"big-endian version",   {"cairnusr\0\0\0\1\1\0\0\0"}, 0},
    {"big-endian rights",    {"cairnusr\1\0\0\0\0\0\0\1"}, 0},
};
// clang-format on

static void user_data_gives_the_rights_of_its_head(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint8_t data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
        memcpy(data, rows[i].head, 16);
        if (cairn_user_data_rights(data) != rows[i].rights) {
            fail_msg("%s: %u", rows[i].name, cairn_user_data_rights(data));
        }
    }
}

static void what_is_behind_the_head_is_the_backends(void **state) {
    (void)state;
    uint8_t data[CAIRN_TOKEN_USER_DATA_SIZE];
    memset(data, 0xa5, sizeof data);
    assert_int_equal(cairn_user_data_rights(data), 0);
    cairn_user_data_write(data, CAIRN_USER_RIGHT_OPERATOR);
    assert_memory_equal(data, rows[0].head, 16);
    for (size_t i = 16; i < sizeof data; ++i) {
        assert_int_equal(data[i], 0xa5);
    }
    assert_int_equal(cairn_user_data_rights(data), CAIRN_USER_RIGHT_OPERATOR);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(user_data_gives_the_rights_of_its_head),
        cmocka_unit_test(what_is_behind_the_head_is_the_backends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
