// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "client_lib/connection.h"

#include <string.h>

#include "client_lib/simulate/state_transfer.h"

// The next state for each event, written as the effect of the event rather than as the table.
TEST("every state has a next state for every event") {
    for (int i = 0; i < CAIRN_CLIENT_STATE_COUNT; i++) {
        cairn_client_state from = (cairn_client_state)i;
        bool under_way = from == CAIRN_CLIENT_CONNECTING || from == CAIRN_CLIENT_JOINING ||
                         from == CAIRN_CLIENT_PLAYING;
        const cairn_client_state next[CAIRN_CONNECTION_EVENT_COUNT] = {
            [CAIRN_CONNECTION_CONNECT] = CAIRN_CLIENT_CONNECTING,
            [CAIRN_CONNECTION_TOKEN_REFUSED] = CAIRN_CLIENT_FAILED,
            [CAIRN_CONNECTION_CONNECTED] =
                from == CAIRN_CLIENT_CONNECTING ? CAIRN_CLIENT_JOINING : from,
            [CAIRN_CONNECTION_WORLD_HELD] =
                from == CAIRN_CLIENT_JOINING ? CAIRN_CLIENT_PLAYING : from,
            [CAIRN_CONNECTION_WORLD_REPLACED] =
                from == CAIRN_CLIENT_PLAYING ? CAIRN_CLIENT_JOINING : from,
            [CAIRN_CONNECTION_DISCONNECT] = under_way ? CAIRN_CLIENT_LEFT : from,
            [CAIRN_CONNECTION_REFUSED] = under_way ? CAIRN_CLIENT_FAILED : from,
            [CAIRN_CONNECTION_LOST] = under_way ? CAIRN_CLIENT_FAILED : from,
            [CAIRN_CONNECTION_BROKEN] = under_way ? CAIRN_CLIENT_FAILED : from,
        };
        for (int event = 0; event < CAIRN_CONNECTION_EVENT_COUNT; event++) {
            assert_int_equal(
                cairn_connection_state_next(from, (cairn_connection_event)event), next[event]);
        }
    }
}

TEST("every way that a connection ends has a text of its own") {
    const char *seen[8];
    int count = 0;
    for (int s = CAIRN_NETCODE_STATE_TOKEN_EXPIRED; s <= CAIRN_NETCODE_STATE_DISCONNECTED; s++) {
        const char *text = cairn_connection_state_loss_text((cairn_netcode_client_state)s);
        assert_true(strlen(text) > 10);
        for (int i = 0; i < count; i++) {
            assert_string_not_equal(text, seen[i]);
        }
        seen[count++] = text;
    }
    for (int s = CAIRN_NETCODE_STATE_SENDING_REQUEST; s <= CAIRN_NETCODE_STATE_CONNECTED; s++) {
        assert_string_equal(cairn_connection_state_loss_text((cairn_netcode_client_state)s), "");
    }
}

static const uint8_t BYTES[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

TEST("a state is complete when all its pieces arrived in order") {
    static const struct {
        uint64_t tick;
        uint32_t offset;
        uint32_t size;
        uint32_t total_size;
        cairn_state_verdict verdict;
    } rows[] = {
        {7, 4, 2, 10, CAIRN_STATE_OUT_OF_ORDER}, // no transfer has begun
        {7, 0, 4, 10, CAIRN_STATE_MORE},
        {7, 6, 2, 10, CAIRN_STATE_OUT_OF_ORDER}, // leaves a hole
        {8, 4, 2, 10, CAIRN_STATE_OUT_OF_ORDER}, // of another state
        {7, 4, 7, 10, CAIRN_STATE_OUT_OF_ORDER}, // exceeds the total size
        {7, 4, 6, 99, CAIRN_STATE_OUT_OF_ORDER}, // states another total size
        {7, 4, 5, 10, CAIRN_STATE_MORE},
        {7, 4, 5, 10, CAIRN_STATE_OUT_OF_ORDER}, // repeats the last piece
        {9, 0, 5, 10, CAIRN_STATE_MORE},         // begins another state, the first is dropped
        {9, 5, 5, 10, CAIRN_STATE_WHOLE},
        {9, 0, 4, 11, CAIRN_STATE_TOO_LARGE}, // for the memory allowed
        {9, 0, 4, 10, CAIRN_STATE_MORE},
    };
    cairn_state_transfer transfer;
    cairn_state_transfer_start(&transfer, sizeof BYTES);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const cairn_state_message piece = {.tick = rows[i].tick,
            .offset = rows[i].offset,
            .total_size = rows[i].total_size,
            .bytes = BYTES + rows[i].offset,
            .size = rows[i].size};
        assert_int_equal(cairn_state_transfer_take(&transfer, &piece), rows[i].verdict);
        if (rows[i].verdict == CAIRN_STATE_WHOLE) {
            assert_memory_equal(transfer.bytes, BYTES, sizeof BYTES);
            assert_int_equal(transfer.tick, 9);
            assert_int_equal(transfer.started, 2);
        }
        assert_true(rows[i].verdict != CAIRN_STATE_TOO_LARGE || transfer.bytes == NULL);
    }
    cairn_state_transfer_end(&transfer);
}
