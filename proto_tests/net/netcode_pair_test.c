// SPDX-License-Identifier: MIT
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "proto_tests/net/netcode_kit.h"

static void a_client_connects_without_waiting(void **state) {
    (void)state;
    kit k = kit_open(4);
    kit_connect(&k, 0);
    kit_exchange(&k);
    assert_int_equal(kit_state(&k, 0), CAIRN_NETCODE_STATE_CONNECTED);
    assert_int_equal(k.event_count, 1);
    assert_int_equal(k.events[0].kind, CAIRN_NETCODE_CONNECTED);
    assert_int_equal(k.events[0].client, 0);
    assert_int_equal(k.events[0].client_id, 1);
    kit_close(&k);
}

static void the_user_data_of_the_token_reaches_the_server(void **state) {
    (void)state;
    kit k = kit_open(4);
    kit_join(&k, 0);
    uint8_t token[CAIRN_CONNECT_TOKEN_SIZE];
    KIT_TOKEN(token, .client_id = 1);
    cairn_token_public public;
    cairn_token_private private;
    assert_int_equal(cairn_token_read_public(token, sizeof token, &public), CAIRN_TOKEN_OK);
    assert_int_equal(cairn_token_read_private(public.private_data, public.nonce, KIT_PROTOCOL_ID,
                         public.expire_unix_s, kit_key, &private),
        CAIRN_TOKEN_OK);
    assert_memory_equal(k.events[0].user_data, private.user_data, CAIRN_TOKEN_USER_DATA_SIZE);
    kit_close(&k);
}

static void payloads_of_every_size_arrive_both_ways(void **state) {
    (void)state;
    kit k = kit_open(4);
    kit_join(&k, 0);
    for (size_t size = 1; size <= CAIRN_PAYLOAD_SIZE_MAX; size += size < 40 ? 1 : 97) {
        kit_datagram datagram = kit_client_payload(&k, 0, size);
        assert_int_equal(kit_to_server(&k, &datagram), CAIRN_NETCODE_TAKEN);
        cairn_netcode_event event;
        assert_true(cairn_netcode_server_next_event(k.server, &event));
        assert_int_equal(event.kind, CAIRN_NETCODE_PAYLOAD);
        assert_int_equal(event.client, 0);
        assert_int_equal(event.payload_size, size);
        assert_int_equal((uintptr_t)event.payload % 8, 0);

        datagram = kit_server_payload(&k, 0, size);
        assert_int_equal(kit_to_client(&k, 0, &datagram), CAIRN_NETCODE_TAKEN);
        size_t received;
        const uint8_t *payload = cairn_netcode_client_next_payload(k.clients[0], &received);
        assert_int_equal(received, size);
        assert_int_equal((uintptr_t)payload % 8, 0);
        assert_memory_equal(payload, event.payload, size);
        assert_null(cairn_netcode_client_next_payload(k.clients[0], &received));
    }
    kit_close(&k);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_connects_without_waiting),
        cmocka_unit_test(the_user_data_of_the_token_reaches_the_server),
        cmocka_unit_test(payloads_of_every_size_arrive_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
