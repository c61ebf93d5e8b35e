// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/limits.h"
#include "base/random.h"
#include "net/crypto.h"
#include "net/lookup.h"
#include "net/netcode_handshake.h"
#include "net/outbox.h"
#include "net/token.h"
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

static cairn_netcode_drop consume(cairn_token_history *history, uint8_t token, uint64_t client_id,
    uint64_t now_unix_s, uint64_t expire_unix_s) {
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {token};
    const cairn_token_use use = {
        mac, client_id, expire_unix_s, now_unix_s, now_unix_s * KIT_S, 30 * KIT_S};
    return cairn_token_history_consume(history, &use);
}

static bool holds(const cairn_token_history *history, uint8_t token, uint64_t now_unix_s,
    uint64_t expire_unix_s) {
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {token};
    return cairn_token_history_holds(history, mac, expire_unix_s, now_unix_s * KIT_S);
}

TEST("a full history evicts only expired tokens") {
    SCOPED(cairn_token_history) history;
    assert_int_equal(cairn_token_history_create(&history, 3, hash_key), CAIRN_OK);
    assert_false(holds(&history, 1, 100, 110));
    assert_int_equal(consume(&history, 1, 1, 100, 110), CAIRN_NETCODE_TAKEN);
    assert_int_equal(consume(&history, 2, 2, 100, 120), CAIRN_NETCODE_TAKEN);
    assert_int_equal(consume(&history, 3, 3, 100, 110), CAIRN_NETCODE_TAKEN);
    assert_true(holds(&history, 1, 100, 110) && holds(&history, 2, 100, 120));
    const cairn_netcode_drop full = CAIRN_NETCODE_DROP_TOKEN_HISTORY_FULL;
    assert_int_equal(consume(&history, 4, 4, 100, 130), full);
    assert_int_equal(consume(&history, 4, 4, 109, 130), full);
    assert_int_equal(consume(&history, 4, 4, 110, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(consume(&history, 5, 5, 110, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(consume(&history, 6, 6, 110, 130), full);
    assert_true(holds(&history, 2, 110, 120));
}

TEST("a client id has a budget of tokens until they expire") {
    enum { CAPACITY = 2 * CAIRN_TOKENS_PER_ID_MAX };
    SCOPED(cairn_token_history) history;
    assert_int_equal(cairn_token_history_create(&history, CAPACITY, hash_key), CAIRN_OK);
    for (uint8_t i = 0; i < CAIRN_TOKENS_PER_ID_MAX; ++i) {
        assert_int_equal(consume(&history, i, 7, 100, 110 + i), CAIRN_NETCODE_TAKEN);
    }
    assert_int_equal(consume(&history, 200, 7, 100, 130), CAIRN_NETCODE_DROP_ID_TOKENS);
    assert_int_equal(consume(&history, 200, 8, 100, 130), CAIRN_NETCODE_TAKEN);
    assert_int_equal(consume(&history, 201, 7, 109, 139), CAIRN_NETCODE_DROP_ID_TOKENS);
    assert_int_equal(consume(&history, 201, 7, 110, 140), CAIRN_NETCODE_TAKEN);
    assert_int_equal(consume(&history, 202, 7, 110, 140), CAIRN_NETCODE_DROP_ID_TOKENS);
}

TEST("a clock that was ahead for a while lets no token be used twice") {
    SCOPED(cairn_token_history) history;
    assert_int_equal(cairn_token_history_create(&history, 1, hash_key), CAIRN_OK);
    assert_int_equal(consume(&history, 1, 1, 100, 130), CAIRN_NETCODE_TAKEN);
    // The wall clock jumps two hours ahead at 101 s; token 1 is forgotten.
    const uint8_t mac[CAIRN_AEAD_MAC_SIZE] = {2};
    const cairn_token_use ahead = {mac, 2, 7330, 7301, 101 * KIT_S, 30 * KIT_S};
    assert_int_equal(cairn_token_history_consume(&history, &ahead), CAIRN_NETCODE_TAKEN);
    // It is right again.
    assert_true(holds(&history, 1, 102, 130));
    assert_true(holds(&history, 3, 102, 130));
    assert_false(holds(&history, 3, 102, 131));
    // By now token 1 has expired.
    assert_false(holds(&history, 3, 131, 130));
}

typedef struct handshake_fields {
    const char *from;
    int32_t timeout_s;
    uint64_t now_ns;
    uint64_t client_id;
    uint8_t token;
} handshake_fields;

static cairn_netcode_drop put_fields(cairn_handshakes *handshakes, handshake_fields fields) {
    const cairn_handshake handshake = {.address = kit_address(fields.from),
        .client_id = fields.client_id,
        .timeout_s = fields.timeout_s,
        .mac = {fields.token}};
    return cairn_handshakes_put(handshakes, &handshake, fields.now_ns);
}

// Each address shows a token of its own client.
static bool put(cairn_handshakes *handshakes, const char *from, int32_t timeout_s, uint64_t now) {
    const uint8_t token = (uint8_t)from[strlen(from) - 1];
    return put_fields(handshakes, (handshake_fields){from, timeout_s, now, token, token}) ==
           CAIRN_NETCODE_TAKEN;
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

TEST("a pending token belongs to the address that sent it first") {
    SCOPED(cairn_handshakes) handshakes;
    assert_int_equal(cairn_handshakes_create(&handshakes, 4, hash_key), CAIRN_OK);
    const struct {
        const char *from;
        uint8_t token;
        cairn_netcode_drop drop;
    } cases[] = {{"1.1.1.1:1", 1, CAIRN_NETCODE_TAKEN}, {"1.1.1.1:1", 1, CAIRN_NETCODE_TAKEN},
        {"1.1.1.1:2", 1, CAIRN_NETCODE_DROP_TOKEN_USED},
        {"1.1.1.2:1", 1, CAIRN_NETCODE_DROP_TOKEN_USED}, {"1.1.1.2:1", 2, CAIRN_NETCODE_TAKEN},
        {"1.1.1.2:1", 1, CAIRN_NETCODE_DROP_TOKEN_USED},
        // The first address begins again with another token.
        {"1.1.1.1:1", 3, CAIRN_NETCODE_TAKEN}, {"1.1.1.2:1", 1, CAIRN_NETCODE_TAKEN}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        assert_int_equal(
            put_fields(&handshakes, (handshake_fields){cases[i].from, 5, 0, 1, cases[i].token}),
            cases[i].drop);
    }
}

TEST("a client id has a few pending handshakes and no more") {
    SCOPED(cairn_handshakes) handshakes;
    assert_int_equal(cairn_handshakes_create(&handshakes, 16, hash_key), CAIRN_OK);
    char from[] = "1.1.1.1:1";
    for (uint8_t i = 0; i < CAIRN_HANDSHAKES_PER_ID_MAX; ++i) {
        from[8] = (char)('1' + i);
        assert_int_equal(
            put_fields(&handshakes, (handshake_fields){from, 5, 0, 7, i}), CAIRN_NETCODE_TAKEN);
    }
    // Another token at an address that has one replaces it; another address does not.
    assert_int_equal(
        put_fields(&handshakes, (handshake_fields){from, 5, 0, 7, 50}), CAIRN_NETCODE_TAKEN);
    const handshake_fields more = {"1.1.1.2:1", 5, 0, 7, 51};
    assert_int_equal(put_fields(&handshakes, more), CAIRN_NETCODE_DROP_ID_HANDSHAKES);
    const handshake_fields other = {"1.1.1.2:1", 5, 0, 8, 51};
    assert_int_equal(put_fields(&handshakes, other), CAIRN_NETCODE_TAKEN);
    cairn_handshakes_expire(&handshakes, 5 * KIT_S);
    assert_int_equal(put_fields(&handshakes, more), CAIRN_NETCODE_TAKEN);
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
    {"version 2",            {"cairnusr\2\0\0\0\1\0\0\0"}, CAIRN_USER_RIGHT_OPERATOR},
    {"a later version",      {"cairnusr\3\0\0\0\1\0\0\0"}, 0},
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

// Where fields of a public token are.
enum {
    VERSION_AT = 0,
    COUNT_AT = 13 + 3 * 8 + CAIRN_TOKEN_NONCE_SIZE + CAIRN_TOKEN_PRIVATE_SIZE + 4
};

static cairn_token_public token_of(
    uint64_t create_unix_s, uint64_t expire_unix_s, uint32_t servers) {
    cairn_token_public token = {
        .create_unix_s = create_unix_s, .expire_unix_s = expire_unix_s, .server_count = servers};
    for (uint32_t i = 0; i < servers; ++i) {
        token.servers[i] = kit_address(i % 2 == 0 ? "192.0.2.1:4" : "[2001:db8::1]:5");
    }
    return token;
}

TEST("the times of a token may be equal, and it names one to 32 servers of known families") {
    static const struct {
        uint64_t create, expire;
        uint32_t servers;
        int32_t count;  // replaces the number of servers in the bytes; -1: it is not replaced
        uint8_t family; // replaces the first server's address family; 0: it is not replaced
        cairn_token_refusal refusal;
    } rows[] = {{0, 0, 1, -1, 0, CAIRN_TOKEN_OK}, {5, 5, 1, -1, 0, CAIRN_TOKEN_OK},
        {6, 5, 1, -1, 0, CAIRN_TOKEN_TIMES_WRONG}, {1, 0, 1, -1, 0, CAIRN_TOKEN_TIMES_WRONG},
        {UINT64_MAX, UINT64_MAX, 1, -1, 0, CAIRN_TOKEN_OK},
        {0, 1, CAIRN_TOKEN_SERVERS_MAX, -1, 0, CAIRN_TOKEN_OK},
        {0, 1, CAIRN_TOKEN_SERVERS_MAX, CAIRN_TOKEN_SERVERS_MAX + 1, 0, CAIRN_TOKEN_SERVER_COUNT},
        {0, 1, 1, 0, 0, CAIRN_TOKEN_SERVER_COUNT}, {0, 1, 1, -1, 3, CAIRN_TOKEN_ADDRESS_TYPE},
        {0, 1, 2, -1, 255, CAIRN_TOKEN_ADDRESS_TYPE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        uint8_t bytes[CAIRN_CONNECT_TOKEN_SIZE + 1] = {0};
        const cairn_token_public token = token_of(rows[i].create, rows[i].expire, rows[i].servers);
        cairn_token_public read;
        cairn_token_write_public(&token, bytes);
        if (rows[i].count >= 0) {
            bytes[COUNT_AT] = (uint8_t)rows[i].count;
        }
        if (rows[i].family > 0) {
            bytes[COUNT_AT + 4] = rows[i].family;
        }
        assert_int_equal(
            cairn_token_read_public(bytes, CAIRN_CONNECT_TOKEN_SIZE, &read), rows[i].refusal);
        if (rows[i].refusal == CAIRN_TOKEN_OK) {
            assert_memory_equal(&read, &token, sizeof read);
        }
        assert_int_equal(cairn_token_read_public(bytes, CAIRN_CONNECT_TOKEN_SIZE + 1, &read),
            CAIRN_TOKEN_SIZE_WRONG);
        assert_int_equal(cairn_token_read_public(bytes, CAIRN_CONNECT_TOKEN_SIZE - 1, &read),
            CAIRN_TOKEN_SIZE_WRONG);
        bytes[VERSION_AT] ^= 1;
        assert_int_equal(cairn_token_read_public(bytes, CAIRN_CONNECT_TOKEN_SIZE, &read),
            CAIRN_TOKEN_VERSION_WRONG);
    }
}

TEST("a token is issued only for valid servers and for times that fit 64 bits") {
    static const uint8_t key[CAIRN_KEY_SIZE] = {1}, entropy[CAIRN_TOKEN_ENTROPY_SIZE] = {2};
    static cairn_address servers[CAIRN_TOKEN_SERVERS_MAX];
    for (uint32_t i = 0; i < CAIRN_TOKEN_SERVERS_MAX; ++i) {
        servers[i] = kit_address("192.0.2.1:4");
    }
    const cairn_token_request good = {.server_addresses = servers,
        .server_count = 1,
        .private_key = key,
        .entropy = entropy,
        .create_unix_s = UINT64_MAX - 60,
        .lifetime_s = 60};
    cairn_token_request rows[10];
    for (uint32_t i = 0; i < 10; ++i) {
        rows[i] = good;
    }
    rows[1].server_count = CAIRN_TOKEN_SERVERS_MAX;
    rows[2].lifetime_s = 0;
    rows[3].create_unix_s += 1;
    rows[4].server_count = 0;
    rows[5].server_count = CAIRN_TOKEN_SERVERS_MAX + 1;
    rows[6].server_addresses = NULL;
    rows[7].private_key = NULL;
    rows[8].entropy = NULL;
    static cairn_address streams[2];
    streams[0] = servers[0];
    streams[1] = servers[0];
    streams[1].family = CAIRN_ADDRESS_IPV6 + 1; // no datagram goes there
    rows[9].server_addresses = streams;
    rows[9].server_count = 2;
    for (uint32_t i = 0; i < 10; ++i) {
        uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
        cairn_token_public read;
        assert_int_equal(
            cairn_token_issue(&rows[i], token), i < 3 ? CAIRN_OK : CAIRN_INVALID_ARGUMENT);
        assert_true(
            i >= 3 || cairn_token_read_public(token, sizeof token, &read) == CAIRN_TOKEN_OK);
    }
}
