// SPDX-License-Identifier: MIT
// What a backend says about a client: docs/PROTOCOL.md, User data.
#include "tests/kit/test.h"

#include <string.h>

#include <cairn/token.h>

static const cairn_user_data whole = {.rights = CAIRN_USER_RIGHT_OPERATOR,
    .room = "side",
    .player = "Zo\xc3\xab",
    .opaque_size = 3,
    .opaque = {7, 0, 9}};

TEST("user data are read as they were written") {
    uint8_t bytes[CAIRN_TOKEN_USER_DATA_SIZE];
    cairn_user_data read;
    assert_int_equal(cairn_user_data_encode(&whole, bytes), CAIRN_OK);
    assert_memory_equal(bytes, "cairnusr\2\0\0\0\1\0\0\0side\0", 21);
    assert_memory_equal(bytes + 80, "\3\0\7\0\11", 5);
    assert_int_equal(cairn_user_data_decode(bytes, &read), CAIRN_OK);
    assert_memory_equal(&read, &whole, sizeof read);
    assert_int_equal(cairn_user_data_rights(bytes), CAIRN_USER_RIGHT_OPERATOR);
}

TEST("older tokens, those of other backends and of later versions are read") {
    uint8_t bytes[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
    cairn_user_data read;
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(cairn_user_data_decode(bytes, &read), CAIRN_OK);
    assert_true(read.rights == 0 && read.room[0] == '\0' && read.opaque_size == 0);
    cairn_user_data_write(bytes, CAIRN_USER_RIGHT_OPERATOR);
    assert_int_equal(cairn_user_data_decode(bytes, &read), CAIRN_OK);
    assert_true(read.rights == CAIRN_USER_RIGHT_OPERATOR && read.room[0] == '\0');
    bytes[8] = 3;
    assert_int_equal(cairn_user_data_decode(bytes, &read), CAIRN_OK);
    assert_int_equal(read.rights, 0);
}

TEST("user data that break their layout are refused") {
    static const struct {
        uint32_t from, count;
        uint8_t with;
    } faults[] = {{16, 32, 'a'}, {48, 32, 'a'}, {80, 1, 175}, {81, 1, 1}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; ++i) {
        uint8_t bytes[CAIRN_TOKEN_USER_DATA_SIZE];
        cairn_user_data read;
        assert_int_equal(cairn_user_data_encode(&whole, bytes), CAIRN_OK);
        memset(bytes + faults[i].from, faults[i].with, faults[i].count);
        assert_int_equal(cairn_user_data_decode(bytes, &read), CAIRN_MALFORMED);
        assert_int_equal(read.rights, 0);
        assert_int_equal(cairn_user_data_rights(bytes), 0);
    }
    cairn_user_data long_one = whole;
    uint8_t bytes[CAIRN_TOKEN_USER_DATA_SIZE];
    long_one.opaque_size = CAIRN_USER_OPAQUE_SIZE + 1;
    assert_int_equal(cairn_user_data_encode(&long_one, bytes), CAIRN_INVALID_ARGUMENT);
    long_one = whole;
    memset(long_one.player, 'a', sizeof long_one.player);
    assert_int_equal(cairn_user_data_encode(&long_one, bytes), CAIRN_INVALID_ARGUMENT);
}
