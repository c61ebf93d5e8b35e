// SPDX-License-Identifier: MIT
// What the server believes of an acknowledgement of ticks.
#include "tests/kit/test.h"

#include "server/replicate/tick_stream.h"
#include "server/room/command_log.h"

static cairn_room room;
static cairn_ticks_sent sent;

BEFORE_EACH {
    room = (cairn_room){.name = "room"};
    sent = (cairn_ticks_sent){0};
    assert_int_equal(cairn_command_log_create(200, 4, &room.command_log), CAIRN_OK);
    for (uint64_t tick = 0; tick < 100; ++tick) {
        cairn_command_log_add(room.command_log, tick, NULL, 0, (cairn_hash128){0});
    }
}

AFTER_EACH {
    cairn_command_log_destroy(room.command_log);
}

TEST("a client holds no ticks that do not exist") {
    static const struct {
        uint64_t acknowledged;
        uint64_t early; // of ticks that exist
    } cases[] = {{100, 0}, {99, 0}, {98, 1}, {97, 3}, {95, 0xf}, {37, UINT64_MAX >> 2},
        {36, UINT64_MAX >> 1}, {35, UINT64_MAX}, {0, UINT64_MAX}};
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        sent = (cairn_ticks_sent){0};
        cairn_tick_stream_acknowledge(&sent, &room, cases[i].acknowledged, UINT64_MAX);
        assert_int_equal(sent.acknowledged, cases[i].acknowledged);
        assert_true(sent.early == cases[i].early);
    }
}

TEST("an acknowledgement that is older, or of a tick to come, is ignored") {
    cairn_tick_stream_acknowledge(&sent, &room, 90, 5);
    cairn_tick_stream_acknowledge(&sent, &room, 89, 1);
    cairn_tick_stream_acknowledge(&sent, &room, 101, 0);
    assert_int_equal(sent.acknowledged, 90);
    assert_int_equal(sent.early, 5);
    cairn_tick_stream_acknowledge(&sent, &room, 90, 7);
    assert_int_equal(sent.early, 7);
}
