// SPDX-License-Identifier: MIT
// A room that waits for late inputs is not slowed down by a player whose inputs are always a little
// late. tests/storm/stall_test.c has the waits that are announced.
#include "tests/kit/test.h"

#include "tests/kit/packed.h"
#include "tests/server/story.h"

#define RATE_HZ 60
#define SECONDS 20

static story s; // too large for a stack

AFTER_EACH {
    story_end(&s);
}

static void send_input_for(uint32_t client, uint64_t tick) {
    const cairn_wire_input input = {.tick = tick, .sequence = (uint32_t)tick};
    const cairn_input_head head = {
        .ticks_acknowledged = cairn_world_tick(s.clients[client].world), .input_count = 1};
    const cairn_message message = kit_input(&head, &input);
    story_send(&s, client, &message, false);
}

// A player that sends the input of each tick `late_ms` after the tick before it was stepped.
// Returns how many ticks the room stepped.
static uint64_t ticks_with_late_player(uint32_t late_ms) {
    cairn_server_config config = story_config();
    config.first_room.wait_ms = 500;
    config.first_room.tick_rate_hz = RATE_HZ;
    story_start(&s, &config);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    const uint32_t late = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1000);
    s.clients[late].mute_inputs = true;
    const uint64_t from = story_tick(&s);
    uint64_t sent = from;
    uint64_t seen = from;
    uint64_t seen_ns = s.now_ns;
    for (const uint64_t end_ns = s.now_ns + SECONDS * CAIRN_NS_PER_S; s.now_ns < end_ns;) {
        story_run_ms(&s, 4);
        if (story_tick(&s) != seen) {
            seen = story_tick(&s);
            seen_ns = s.now_ns;
        }
        if (seen >= sent && s.now_ns - seen_ns >= late_ms * UINT64_C(1000000)) {
            sent = seen + 1;
            send_input_for(late, seen);
        }
    }
    return story_tick(&s) - from;
}

TEST("after a stall the room steps those ticks at once for which it has all inputs") {
    cairn_server_config config = story_config();
    config.first_room.wait_ms = 500;
    config.first_room.tick_rate_hz = RATE_HZ;
    config.first_room.catch_up_ticks_max = 60;
    story_start(&s, &config);
    const uint32_t player = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1000);
    s.clients[player].mute_inputs = true;
    const uint64_t next = story_tick(&s);
    for (uint64_t tick = next; tick < next + 40; ++tick) {
        send_input_for(player, tick);
        story_run_ms(&s, 4); // or the next one replaces it
    }
    story_run_ms(&s, 300);
    const uint64_t before = story_tick(&s);
    assert_in_range(before, next + 25, next + 30);
    s.now_ns += CAIRN_NS_PER_S / 2; // nobody is served meanwhile
    story_run_ms(&s, 8);
    assert_int_equal(story_tick(&s), next + 40);
    story_run_ms(&s, 100);
    assert_int_equal(story_tick(&s), next + 40);
}

TEST("inputs that are always a little late do not slow the room down") {
    for (uint32_t late_ms = 16; late_ms <= 40; late_ms += 4) {
        const uint64_t ticks = ticks_with_late_player(late_ms);
        assert_in_range(ticks, RATE_HZ * SECONDS * 95 / 100, RATE_HZ * SECONDS + 1);
        if (late_ms >= 24) {
            assert_true(story_statistics(&s).total.slots_given_up > 0);
        }
        assert_true(story_statistics(&s).total.input_wait_ns > 0);
    }
}
