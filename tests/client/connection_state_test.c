// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "client_lib/connection_state.h"

#include <stdlib.h>
#include <string.h>

#include "client_lib/simulate/state_transfer.h"

#define IDLE CAIRN_CLIENT_IDLE
#define CONNECTING CAIRN_CLIENT_CONNECTING
#define JOINING CAIRN_CLIENT_JOINING
#define PLAYING CAIRN_CLIENT_PLAYING
#define LEFT CAIRN_CLIENT_LEFT
#define FAILED CAIRN_CLIENT_FAILED

// The next state for each event, written as the effect of the event rather than as the table.
TEST("every state answers every event") {
    for (int i = 0; i < CAIRN_CLIENT_STATE_COUNT; i++) {
        cairn_client_state from = (cairn_client_state)i;
        bool under_way = from == CONNECTING || from == JOINING || from == PLAYING;
        assert_int_equal(cairn_connection_state_next(from, CAIRN_CONNECTION_CONNECT), CONNECTING);
        assert_int_equal(cairn_connection_state_next(from, CAIRN_CONNECTION_TOKEN_REFUSED), FAILED);
        assert_int_equal(cairn_connection_state_next(from, CAIRN_CONNECTION_CONNECTED),
            from == CONNECTING ? JOINING : from);
        assert_int_equal(cairn_connection_state_next(from, CAIRN_CONNECTION_WORLD_HELD),
            from == JOINING ? PLAYING : from);
        assert_int_equal(cairn_connection_state_next(from, CAIRN_CONNECTION_WORLD_REPLACED),
            from == PLAYING ? JOINING : from);
        assert_int_equal(cairn_connection_state_next(from, CAIRN_CONNECTION_DISCONNECT),
            under_way ? LEFT : from);
        assert_int_equal(
            cairn_connection_state_next(from, CAIRN_CONNECTION_REFUSED), under_way ? FAILED : from);
        assert_int_equal(
            cairn_connection_state_next(from, CAIRN_CONNECTION_LOST), under_way ? FAILED : from);
        assert_int_equal(
            cairn_connection_state_next(from, CAIRN_CONNECTION_BROKEN), under_way ? FAILED : from);
    }
}

TEST("every end of a connection has its text") {
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

static cairn_state_message piece(uint64_t tick, uint32_t offset, uint32_t size) {
    return (cairn_state_message){.tick = tick,
        .offset = offset,
        .total_size = sizeof BYTES,
        .bytes = BYTES + offset,
        .size = size};
}

TEST("a state is complete when all pieces arrived in order") {
    cairn_state_transfer transfer;
    cairn_state_transfer_start(&transfer, 100);
    const struct {
        cairn_state_message message;
        cairn_state_verdict verdict;
    } rows[] = {
        {piece(7, 4, 2), CAIRN_STATE_OUT_OF_ORDER}, // nothing was begun
        {piece(7, 0, 4), CAIRN_STATE_MORE},
        {piece(7, 6, 2), CAIRN_STATE_OUT_OF_ORDER}, // a hole
        {piece(8, 4, 2), CAIRN_STATE_OUT_OF_ORDER}, // another state's
        {piece(7, 4, 5), CAIRN_STATE_MORE},
        {piece(7, 4, 5), CAIRN_STATE_OUT_OF_ORDER}, // a repetition
        {piece(7, 9, 1), CAIRN_STATE_WHOLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cairn_state_transfer_take(&transfer, &rows[i].message), rows[i].verdict);
    }
    assert_memory_equal(transfer.bytes, BYTES, sizeof BYTES);
    cairn_state_transfer_end(&transfer);
}

TEST("a new state transfer discards the unfinished one") {
    cairn_state_transfer transfer;
    cairn_state_transfer_start(&transfer, 100);
    cairn_state_message first = piece(7, 0, 9);
    cairn_state_message second = piece(9, 0, 5);
    cairn_state_message rest = piece(9, 5, 5);
    assert_int_equal(cairn_state_transfer_take(&transfer, &first), CAIRN_STATE_MORE);
    assert_int_equal(cairn_state_transfer_take(&transfer, &second), CAIRN_STATE_MORE);
    assert_int_equal(cairn_state_transfer_take(&transfer, &rest), CAIRN_STATE_WHOLE);
    assert_int_equal(transfer.tick, 9);
    assert_int_equal(transfer.started, 2);
    cairn_state_transfer_end(&transfer);
}

TEST("no more memory is taken than allowed") {
    cairn_state_transfer transfer;
    cairn_state_message first = piece(7, 0, 4);
    cairn_state_transfer_start(&transfer, sizeof BYTES - 1);
    assert_int_equal(cairn_state_transfer_take(&transfer, &first), CAIRN_STATE_TOO_LARGE);
    assert_null(transfer.bytes);
    cairn_state_transfer_start(&transfer, sizeof BYTES);
    assert_int_equal(cairn_state_transfer_take(&transfer, &first), CAIRN_STATE_MORE);
    cairn_state_transfer_end(&transfer);
}

TEST("a piece never exceeds the whole size") {
    cairn_state_transfer transfer;
    cairn_state_transfer_start(&transfer, 100);
    cairn_state_message first = piece(7, 0, 4);
    cairn_state_message wide = piece(7, 4, 6);
    wide.size = 7;
    cairn_state_message other_whole = piece(7, 4, 6);
    other_whole.total_size = 1000;
    assert_int_equal(cairn_state_transfer_take(&transfer, &first), CAIRN_STATE_MORE);
    assert_int_equal(cairn_state_transfer_take(&transfer, &wide), CAIRN_STATE_OUT_OF_ORDER);
    assert_int_equal(cairn_state_transfer_take(&transfer, &other_whole), CAIRN_STATE_OUT_OF_ORDER);
    cairn_state_transfer_end(&transfer);
}
