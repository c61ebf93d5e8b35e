// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tests/virtual/story.h"

TEST("everybody holds the servers world") {
    cairn_story *s = story_start(.clients = 4, .interpolating = 2, .delay_ms = 40);
    for (uint32_t round = 0; round < 10; round++) {
        story_press(s, round % 4, round % 2 == 0 ? CAIRN_SANDBOX_SPAWN : CAIRN_SANDBOX_JUMP);
        story_run_ticks(s, 30);
        for (uint32_t who = ALICE; who <= DAVE; who++) {
            expect_servers_world(s, who);
            expect_behind_at_most_ticks(s, who, 20);
        }
    }
    expect_no_alarm(s);
    story_end(s);
}

TEST("what one presses all see") {
    cairn_story *s = story_start(.clients = 2, .interpolating = 1, .delay_ms = 20);
    const uint32_t before = story_bodies(s, BOB);
    story_press(s, ALICE, CAIRN_SANDBOX_SPAWN);
    story_run_ticks(s, 60);
    assert_int_equal(story_bodies(s, BOB), before + 1);
    assert_int_equal(story_bodies(s, ALICE), before + 1);
    story_end(s);
}

TEST("a client cut off for one second catches up") {
    cairn_story *s = story_start(.clients = 3, .interpolating = 1, .delay_ms = 40);
    story_press(s, ALICE, CAIRN_SANDBOX_PUSH);
    story_cut(s, BOB);
    story_cut(s, CAROL);
    story_run_ticks(s, 60);
    assert_true(story_ticks_behind(s, BOB) >= 55);
    assert_true(story_ticks_behind(s, CAROL) >= 55);
    story_heal(s, BOB);
    story_heal(s, CAROL);
    story_run_ticks(s, 60);
    expect_behind_at_most_ticks(s, BOB, 20);
    expect_behind_at_most_ticks(s, CAROL, 20);
    expect_servers_world(s, BOB);
    expect_servers_world(s, CAROL);
    expect_no_alarm(s);
    story_end(s);
}

TEST("who is silent too long is gone and may come back") {
    cairn_story *s = story_start(.clients = 2, .delay_ms = 10);
    story_cut(s, BOB);
    story_run_ms(s, (CAIRN_SYSTEM_TIMEOUT_S + 2) * 1000);
    assert_int_equal(story_state(s, BOB), CAIRN_CLIENT_FAILED);
    assert_int_equal(story_server(s).clients, 1);
    assert_int_equal(story_server(s).leaves, 1);
    story_heal(s, BOB);
    story_rejoin(s, BOB);
    story_run_ms(s, 2000);
    expect_playing(s, BOB);
    expect_servers_world(s, BOB);
    expect_playing(s, ALICE);
    expect_no_alarm(s);
    story_end(s);
}

TEST("a late joiner gets the world as it is") {
    cairn_story *s = story_start(.clients = 1, .delay_ms = 30, .loss_permille = 50);
    story_press(s, ALICE, CAIRN_SANDBOX_SPAWN | CAIRN_SANDBOX_JUMP);
    story_run_ticks(s, 120);
    story_join(s, BOB, CAIRN_CLIENT_LOCKSTEP);
    story_join(s, CAROL, CAIRN_CLIENT_INTERPOLATE);
    story_run_ms(s, 3000);
    expect_playing(s, BOB);
    expect_playing(s, CAROL);
    expect_servers_world(s, BOB);
    expect_servers_world(s, CAROL);
    expect_behind_at_most_ticks(s, BOB, 30);
    expect_no_alarm(s);
    story_end(s);
}

TEST("who says goodbye is gone at once") {
    cairn_story *s = story_start(.clients = 2, .delay_ms = 20);
    const uint32_t before = story_bodies(s, ALICE);
    story_leave(s, BOB);
    story_run_ms(s, 500);
    assert_int_equal(story_state(s, BOB), CAIRN_CLIENT_LEFT);
    assert_int_equal(story_server(s).players, 1);
    assert_int_equal(story_bodies(s, ALICE), before - 1);
    story_end(s);
}

TEST("a server that comes back takes everybody again") {
    cairn_story *s = story_start(.clients = 2, .interpolating = 1, .delay_ms = 20);
    story_restart_server(s);
    story_run_ms(s, (CAIRN_SYSTEM_TIMEOUT_S + 2) * 1000);
    assert_int_equal(story_state(s, ALICE), CAIRN_CLIENT_FAILED);
    assert_int_equal(story_state(s, BOB), CAIRN_CLIENT_FAILED);
    story_rejoin(s, ALICE);
    story_rejoin(s, BOB);
    story_run_ms(s, 3000);
    for (uint32_t who = ALICE; who <= BOB; who++) {
        expect_playing(s, who);
        expect_servers_world(s, who);
    }
    expect_no_alarm(s);
    story_end(s);
}

TEST("a bad path delays but does not change the world") {
    cairn_story *s = story_start(.clients = 2, .interpolating = 1, .delay_ms = 80, .jitter_ms = 60,
        .loss_permille = 150, .seed = 5);
    for (uint32_t round = 0; round < 10; round++) {
        story_press(s, round % 2, round % 3 == 0 ? CAIRN_SANDBOX_THROW : 0);
        story_run_ticks(s, 30);
        expect_servers_world(s, ALICE);
        expect_servers_world(s, BOB);
        expect_behind_at_most_ticks(s, ALICE, 90);
        expect_behind_at_most_ticks(s, BOB, 90);
    }
    expect_no_alarm(s);
    story_end(s);
}
