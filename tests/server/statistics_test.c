// SPDX-License-Identifier: MIT
// The list of what was dropped.
#include "tests/kit/test.h"

#include <string.h>

#include "net/link.h"
#include "net/netcode_drop.h"
#include "schema/codec.h"
#include <cairn/server_statistics.h>

TEST("each reason for which something was dropped is listed once") {
    static cairn_server_statistics counted;
    cairn_server_drop drops[CAIRN_SERVER_DROPS_MAX];
    assert_int_equal(cairn_server_drops_read(&counted, drops), 0);
    for (uint32_t i = 0; i < CAIRN_SERVER_NETCODE_DROPS_MAX; ++i) {
        counted.drops_netcode[i] = 100 + i;
    }
    for (uint32_t i = 0; i < CAIRN_SERVER_LINK_DROPS_MAX; ++i) {
        counted.drops_link[i] = 200 + i;
    }
    for (uint32_t i = 0; i < CAIRN_SERVER_DECODE_DROPS_MAX; ++i) {
        counted.drops_decode[i] = 300 + i;
    }
    counted.payloads_over_budget = 400;
    const uint32_t count = cairn_server_drops_read(&counted, drops);
    const struct {
        const char *layer;
        uint64_t first;
        uint32_t count;
    } rows[] = {{"netcode", 101, CAIRN_NETCODE_DROP_COUNT - 1},
        {"link", 201, CAIRN_LINK_DROP_COUNT - 1}, {"message", 301, CAIRN_DECODE_REFUSAL_COUNT - 1},
        {"session", 400, 1}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        uint32_t found = 0;
        for (uint32_t i = 0; i < count; ++i) {
            if (strcmp(drops[i].layer, rows[k].layer) == 0) {
                assert_int_equal(drops[i].count, rows[k].first + found);
                found += 1;
            }
        }
        assert_int_equal(found, rows[k].count);
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < i; ++k) {
            assert_true(strcmp(drops[i].layer, drops[k].layer) != 0 ||
                        strcmp(drops[i].reason, drops[k].reason) != 0);
        }
    }
}
