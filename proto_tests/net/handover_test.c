// SPDX-License-Identifier: MIT
// Which sessions of netcode another process takes over (tests/server has whole servers).
#include "tests/kit/test.h"

#include "net/handover.h"
#include "proto_tests/net/netcode_kit.h"

SCOPE_ENDS(kit, kit_close)

TEST(
    "sessions of datagrams and of streams are handed over, and those of no known address are not") {
    for (uint8_t family = 1; family <= 5; ++family) {
        SCOPED(kit) k = kit_open(1);
        k.client_addresses[0].family = family;
        assert_false(cairn_netcode_server_is_given(k.server, 0)); // nobody is there
        kit_join(&k, 0);
        assert_int_equal(
            cairn_netcode_server_is_given(k.server, 0), family <= CAIRN_ADDRESS_IPV6 + 1);
    }
}
