// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include <cairn/token.h>

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

TEST("user data gives the rights of its head") {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint8_t data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
        memcpy(data, rows[i].head, 16);
        if (cairn_user_data_rights(data) != rows[i].rights) {
            fail_msg("%s: %u", rows[i].name, cairn_user_data_rights(data));
        }
    }
}

TEST("user data after the head belongs to the backend") {
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
