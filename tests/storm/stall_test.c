// SPDX-License-Identifier: MIT
// Rooms that wait for late inputs: who is waited for, how long, and who goes on meanwhile.
#include "tests/kit/test.h"

#include "tests/virtual/story.h"

static void all_press(cairn_story *s, uint32_t count) {
    for (uint32_t who = 0; who < count; ++who) {
        story_press(s, who, CAIRN_SANDBOX_PUSH);
    }
    story_run_ms(s, 500);
}

TEST("inputs in time make nobody wait") {
    cairn_story *s = story_start(.clients = 3, .interpolating = 1, .delay_ms = 30, .wait_ms = 300);
    all_press(s, 3);
    const cairn_server_statistics before = story_server(s);
    story_run_ms(s, 2000);
    const cairn_server_statistics after = story_server(s);
    assert_int_equal(after.stalls, before.stalls);
    assert_int_equal(after.ticks_waited, before.ticks_waited);
    assert_in_range(after.tick - before.tick, 119, 121);
    story_end(s);
}

TEST("a peer that is late suddenly loses no input") {
    for (uint32_t wait_ms = 0; wait_ms <= 400; wait_ms += 400) {
        cairn_story *s =
            story_start(.clients = 3, .interpolating = 1, .delay_ms = 10, .wait_ms = wait_ms);
        all_press(s, 3);
        const cairn_server_statistics before = story_server(s);
        story_delay(s, BOB, 150);
        story_run_ms(s, 3000);
        const cairn_server_statistics after = story_server(s);
        if (wait_ms == 0) {
            assert_true(after.inputs_late > before.inputs_late);
            assert_int_equal(after.stalls, 0);
        } else {
            assert_int_equal(after.inputs_late, before.inputs_late);
            assert_in_range(after.stalls, 1, 3);
            assert_in_range(after.ticks_waited, 5, 20);
        }
        assert_true(after.tick - before.tick >= 180 - 21);
        expect_servers_world(s, CAROL);
        expect_behind_at_most_ticks(s, CAROL, 10);
        expect_no_alarm(s);
        story_end(s);
    }
}

TEST("a peer that vanishes holds the room once") {
    cairn_story *s = story_start(.clients = 3, .interpolating = 1, .delay_ms = 20, .wait_ms = 250);
    all_press(s, 3);
    const cairn_server_statistics before = story_server(s);
    story_cut(s, BOB);
    story_run_ms(s, 3000);
    const cairn_server_statistics after = story_server(s);
    assert_int_equal(after.stalls, before.stalls + 1);
    assert_in_range(after.stalled_ns - before.stalled_ns, 250000000, 270000000);
    assert_in_range(after.tick - before.tick, 180 - 17, 180 - 13);
    expect_behind_at_most_ticks(s, ALICE, 10);
    expect_servers_world(s, ALICE);
    expect_servers_world(s, CAROL);
    story_heal(s, BOB);
    story_run_ms(s, 1500);
    expect_servers_world(s, BOB);
    expect_no_alarm(s);
    story_end(s);
}

TEST("nobody waits for who only watches") {
    cairn_story *s = story_start(.clients = 3, .interpolating = 1, .delay_ms = 20, .wait_ms = 250);
    all_press(s, 3);
    const cairn_server_statistics before = story_server(s);
    story_cut(s, CAROL);
    story_run_ms(s, 2000);
    assert_int_equal(story_server(s).stalls, before.stalls);
    assert_in_range(story_server(s).tick - before.tick, 119, 121);
    story_end(s);
}

TEST("a spectator gets the ticks that are stepped") {
    cairn_story *s = story_start(.clients = 3, .interpolating = 1, .delay_ms = 20, .wait_ms = 5000);
    all_press(s, 2);
    story_cut(s, BOB);
    story_run_ms(s, 600);
    const uint64_t stalled_at = story_server(s).tick;
    assert_int_equal(story_server(s).stalls, 1);
    assert_int_equal(story_ticks_behind(s, ALICE), 0);
    assert_in_range(story_ticks_behind(s, CAROL), 0, 3);
    // After a second of silence nobody waits, however long the room could.
    story_run_ms(s, 1400);
    assert_true(story_server(s).tick > stalled_at + 40);
    expect_behind_at_most_ticks(s, CAROL, 10);
    expect_servers_world(s, CAROL);
    expect_no_alarm(s);
    story_end(s);
}

TEST("who joins a room that waits plays when it goes on") {
    cairn_story *s = story_start(.clients = 2, .delay_ms = 20, .wait_ms = 2000);
    all_press(s, 2);
    story_cut(s, BOB);
    story_run_ms(s, 300);
    story_join(s, DAVE, CAIRN_CLIENT_LOCKSTEP);
    story_join(s, CAROL, CAIRN_CLIENT_INTERPOLATE);
    story_run_ms(s, 3000);
    expect_playing(s, DAVE);
    expect_playing(s, CAROL);
    expect_behind_at_most_ticks(s, DAVE, 10);
    expect_servers_world(s, DAVE);
    expect_servers_world(s, CAROL);
    assert_int_equal(story_server(s).stalls, 1);
    story_end(s);
}

TEST("patience ends and comes back") {
    cairn_story *s = story_start(.clients = 2, .delay_ms = 10, .wait_ms = 1000);
    all_press(s, 2);
    for (uint32_t round = 1; round <= 3; ++round) {
        assert_int_equal(story_server(s).slots_given_up, 0);
        story_cut(s, BOB);
        story_run_ms(s, 300);
        story_heal(s, BOB);
        story_run_ms(s, 700);
    }
    assert_int_equal(story_server(s).stalls, 3);
    assert_int_equal(story_server(s).slots_given_up, 1);
    cairn_server_client_info bob;
    assert_true(cairn_server_client_read(s->system.server, BOB, &bob));
    assert_int_equal(bob.stalls, 3);
    assert_true(bob.stalled_ns >= 600000000);
    story_cut(s, BOB);
    story_run_ms(s, 300);
    story_heal(s, BOB);
    assert_int_equal(story_server(s).stalls, 3);
    // A second of inputs in time, and the room waits again.
    story_run_ms(s, 3000);
    story_cut(s, BOB);
    story_run_ms(s, 300);
    assert_int_equal(story_server(s).stalls, 4);
    story_end(s);
}
