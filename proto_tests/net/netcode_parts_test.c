// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/limits.h"
#include "base/random.h"
#include "net/crypto.h"
#include "net/lookup.h"
#include "net/netcode_handshake.h"
#include "net/outbox.h"
#include "net/token_history.h"
#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(cairn_token_history, cairn_token_history_destroy)
SCOPE_ENDS(cairn_handshakes, cairn_handshakes_destroy)

static const uint8_t hash_key[CAIRN_SIPHASH_KEY_SIZE] = {1, 2, 3};

TEST("a lookup finds the same items as a search through a list") {
    enum { ITEMS = 100, KEYS = 300 };
    cairn_lookup lookup;
    assert_int_equal(cairn_lookup_create(&lookup, ITEMS, hash_key), CAIRN_OK);
    uint64_t keys[ITEMS];
    bool used[ITEMS] = {false};
    cairn_random random = cairn_random_of(1);
    for (int i = 0; i < 20000; ++i) {
        const uint64_t key = cairn_random_below(&random, KEYS);
        uint32_t expected = CAIRN_LOOKUP_NONE;
        for (uint32_t item = 0; item < ITEMS; ++item) {
            expected = used[item] && keys[item] == key ? item : expected;
        }
        assert_int_equal(cairn_lookup_find(&lookup, &key, sizeof key), expected);
        const uint32_t item = (uint32_t)cairn_random_below(&random, ITEMS);
        if (used[item]) {
            cairn_lookup_remove(&lookup, item);
            used[item] = false;
        } else if (expected == CAIRN_LOOKUP_NONE) {
            cairn_lookup_insert(&lookup, &key, sizeof key, item);
            keys[item] = key;
            used[item] = true;
        }
    }
    cairn_lookup_destroy(&lookup);
}

TEST("an outbox returns its datagrams in order") {
    cairn_outbox outbox;
    assert_int_equal(cairn_outbox_create(&outbox, 4000), CAIRN_OK);
    cairn_random random = cairn_random_of(2);
    uint64_t pushed = 0;
    uint64_t popped = 0;
    for (int i = 0; i < 20000; ++i) {
        cairn_address address = {.family = CAIRN_ADDRESS_IPV4};
        uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
        if (cairn_random_below(&random, 2) == 0) {
            const size_t size = (size_t)(pushed % CAIRN_DATAGRAM_SIZE_MAX) + 1;
            memset(bytes, (int)(pushed & 0xff), size);
            address.port = (uint16_t)pushed;
            const bool fits = CAIRN_OUTBOX_RECORD_SIZE + size <= cairn_outbox_room(&outbox);
            assert_int_equal(cairn_outbox_push(&outbox, &address, bytes, size), fits);
            pushed += fits ? 1 : 0;
            continue;
        }
        const size_t size = cairn_outbox_pop(&outbox, &address, bytes);
        assert_int_equal(size, pushed == popped ? 0 : popped % CAIRN_DATAGRAM_SIZE_MAX + 1);
        if (size > 0) {
            assert_int_equal(address.port, (uint16_t)popped);
            assert_int_equal(bytes[0], popped & 0xff);
            assert_int_equal(bytes[size - 1], popped & 0xff);
            ++popped;
        }
    }
    assert_true(popped > 1000);
    cairn_outbox_destroy(&outbox);
}

static cairn_netcode_drop show_token(
    cairn_token_history *history, uint8_t token, const char *from, uint64_t now, uint64_t expire) {
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {token};
    const cairn_address address = kit_address(from);
    return cairn_token_history_show(history, mac, &address, now, expire);
}

static void consume(cairn_token_history *history, uint8_t token) {
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {token};
    cairn_token_history_consume(history, mac);
}

TEST("a pending token belongs to the address that sent it first") {
    SCOPED(cairn_token_history) history;
    assert_int_equal(cairn_token_history_create(&history, 4, hash_key), CAIRN_OK);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:1", 100, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:1", 101, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:2", 101, 130), CAIRN_NETCODE_DROP_TOKEN_USED);
    assert_int_equal(show_token(&history, 1, "1.1.1.2:1", 101, 130), CAIRN_NETCODE_DROP_TOKEN_USED);
    assert_int_equal(show_token(&history, 2, "1.1.1.2:1", 101, 130), CAIRN_NETCODE_TAKEN);
}

TEST("a consumed token admits no client") {
    SCOPED(cairn_token_history) history;
    assert_int_equal(cairn_token_history_create(&history, 4, hash_key), CAIRN_OK);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:1", 100, 130), CAIRN_NETCODE_TAKEN);
    consume(&history, 1);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:1", 101, 130), CAIRN_NETCODE_DROP_TOKEN_USED);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:1", 129, 130), CAIRN_NETCODE_DROP_TOKEN_USED);
    consume(&history, 9);
}

TEST("a full history evicts only expired tokens") {
    SCOPED(cairn_token_history) history;
    assert_int_equal(cairn_token_history_create(&history, 3, hash_key), CAIRN_OK);
    assert_int_equal(show_token(&history, 1, "1.1.1.1:1", 100, 110), CAIRN_NETCODE_TAKEN);
    assert_int_equal(show_token(&history, 2, "1.1.1.1:1", 100, 120), CAIRN_NETCODE_TAKEN);
    assert_int_equal(show_token(&history, 3, "1.1.1.1:1", 100, 110), CAIRN_NETCODE_TAKEN);
    consume(&history, 1);
    const cairn_netcode_drop full = CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL;
    assert_int_equal(show_token(&history, 4, "1.1.1.1:1", 100, 130), full);
    assert_int_equal(show_token(&history, 4, "1.1.1.1:1", 109, 130), full);
    assert_int_equal(show_token(&history, 4, "1.1.1.1:1", 110, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(show_token(&history, 5, "1.1.1.1:1", 110, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(show_token(&history, 6, "1.1.1.1:1", 110, 130), full);
    assert_int_equal(show_token(&history, 2, "1.1.1.1:2", 110, 120), CAIRN_NETCODE_DROP_TOKEN_USED);
}

static bool put(cairn_handshakes *handshakes, const char *from, int32_t timeout_s, uint64_t now) {
    const cairn_address address = kit_address(from);
    const cairn_token_private token = {.client_id = 1, .timeout_s = timeout_s};
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {1};
    return cairn_handshakes_put(handshakes, &address, &token, mac, now);
}

static bool known(const cairn_handshakes *handshakes, const char *from, uint64_t now) {
    const cairn_address address = kit_address(from);
    return cairn_handshakes_find(handshakes, &address, now) != NULL;
}

TEST("a handshake expires after its token's time-out") {
    SCOPED(cairn_handshakes) handshakes;
    assert_int_equal(cairn_handshakes_create(&handshakes, 4, hash_key), CAIRN_OK);
    assert_int_equal(handshakes.earliest_ns, UINT64_MAX);
    assert_true(put(&handshakes, "1.1.1.1:1", 5, 0));
    assert_int_equal(handshakes.earliest_ns, 5 * KIT_S);
    assert_true(known(&handshakes, "1.1.1.1:1", 5 * KIT_S - 1));
    assert_false(known(&handshakes, "1.1.1.1:1", 5 * KIT_S));
    assert_true(put(&handshakes, "1.1.1.1:1", 5, 3 * KIT_S));
    assert_true(known(&handshakes, "1.1.1.1:1", 8 * KIT_S - 1));
    assert_true(put(&handshakes, "1.1.1.1:2", -1, 0));
    assert_true(known(&handshakes, "1.1.1.1:2", CAIRN_HANDSHAKE_TIMEOUT_NS_MAX - 1));
    assert_false(known(&handshakes, "1.1.1.1:2", CAIRN_HANDSHAKE_TIMEOUT_NS_MAX));
    assert_true(put(&handshakes, "1.1.1.1:3", INT32_MAX, 0));
    assert_false(known(&handshakes, "1.1.1.1:3", CAIRN_HANDSHAKE_TIMEOUT_NS_MAX));
}

TEST("a full pool of handshakes has room again when one expires") {
    SCOPED(cairn_handshakes) handshakes;
    assert_int_equal(cairn_handshakes_create(&handshakes, 2, hash_key), CAIRN_OK);
    assert_true(put(&handshakes, "1.1.1.1:1", 5, 0));
    assert_true(put(&handshakes, "1.1.1.1:2", 6, 0));
    assert_false(put(&handshakes, "1.1.1.1:3", 5, 0));
    cairn_handshakes_expire(&handshakes, 5 * KIT_S - 1);
    assert_false(put(&handshakes, "1.1.1.1:3", 5, 0));
    cairn_handshakes_expire(&handshakes, 5 * KIT_S);
    assert_int_equal(handshakes.earliest_ns, 6 * KIT_S);
    assert_true(put(&handshakes, "1.1.1.1:3", 5, 5 * KIT_S));
    assert_true(known(&handshakes, "1.1.1.1:2", 5 * KIT_S));
    assert_false(known(&handshakes, "1.1.1.1:1", 5 * KIT_S));
}

typedef struct user_data_row {
    const char *name;
    uint8_t head[17];
    uint32_t rights;
} user_data_row;

// clang-format off
static const user_data_row user_data_rows[] = {
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

TEST("the head of the user data grants its rights") {
    for (size_t i = 0; i < sizeof user_data_rows / sizeof *user_data_rows; ++i) {
        uint8_t data[CAIRN_TOKEN_USER_DATA_SIZE] = {0};
        memcpy(data, user_data_rows[i].head, 16);
        if (cairn_user_data_rights(data) != user_data_rows[i].rights) {
            fail_msg("%s: rights %u, expected %u", user_data_rows[i].name,
                cairn_user_data_rights(data), user_data_rows[i].rights);
        }
    }
}

TEST("user data after the head belongs to the backend") {
    uint8_t data[CAIRN_TOKEN_USER_DATA_SIZE];
    memset(data, 0xa5, sizeof data);
    assert_int_equal(cairn_user_data_rights(data), 0);
    cairn_user_data_write(data, CAIRN_USER_RIGHT_OPERATOR);
    assert_memory_equal(data, user_data_rows[0].head, 16);
    for (size_t i = 16; i < sizeof data; ++i) {
        assert_int_equal(data[i], 0xa5);
    }
    assert_int_equal(cairn_user_data_rights(data), CAIRN_USER_RIGHT_OPERATOR);
}

TEST("every reason and every refusal has its own text") {
    for (int i = 0; i < CAIRN_NETCODE_DROP_COUNT; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_string_not_equal(cairn_netcode_drop_text((cairn_netcode_drop)i),
                cairn_netcode_drop_text((cairn_netcode_drop)k));
        }
    }
    assert_string_equal(cairn_netcode_drop_text(CAIRN_NETCODE_DROP_COUNT), "unknown reason");
    for (int i = 0; i < CAIRN_TOKEN_REFUSAL_COUNT; ++i) {
        for (int k = 0; k < i; ++k) {
            assert_string_not_equal(cairn_token_refusal_text((cairn_token_refusal)i),
                cairn_token_refusal_text((cairn_token_refusal)k));
        }
    }
    assert_string_equal(cairn_token_refusal_text(CAIRN_TOKEN_REFUSAL_COUNT), "unknown refusal");
}
