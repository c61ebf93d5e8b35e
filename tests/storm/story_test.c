// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tests/kit/rig.h"

TEST("every client holds the server's world") {
    RIG(r, .clients = 4, .interpolating = 2, .delay_ms = 40);
    for (uint32_t round = 0; round < 10; round++) {
        rig_press(&r, round % 4, round % 2 == 0 ? CAIRN_SANDBOX_SPAWN : CAIRN_SANDBOX_JUMP, 1);
        rig_run_ticks(&r, 30);
        for (uint32_t client = ALICE; client <= DAVE; client++) {
            expect_servers_world(&r, client);
            expect_behind_at_most_ticks(&r, client, 20);
        }
    }
    expect_no_difference(&r);
}

TEST("every client sees the effect of an input") {
    RIG(r, .clients = 2, .interpolating = 1, .delay_ms = 20);
    const uint32_t before = rig_body_count(&r, BOB);
    rig_press(&r, ALICE, CAIRN_SANDBOX_SPAWN, 1);
    rig_run_ticks(&r, 60);
    assert_int_equal(rig_body_count(&r, BOB), before + 1);
    assert_int_equal(rig_body_count(&r, ALICE), before + 1);
}

TEST("a client cut off for one second catches up") {
    RIG(r, .clients = 3, .interpolating = 1, .delay_ms = 40);
    rig_press(&r, ALICE, CAIRN_SANDBOX_PUSH, 1);
    rig_cut(&r, BOB, true);
    rig_cut(&r, CAROL, true);
    rig_run_ticks(&r, 60);
    assert_true(rig_ticks_behind(&r, BOB) >= 55);
    assert_true(rig_ticks_behind(&r, CAROL) >= 55);
    rig_cut(&r, BOB, false);
    rig_cut(&r, CAROL, false);
    rig_run_ticks(&r, 60);
    expect_behind_at_most_ticks(&r, BOB, 20);
    expect_behind_at_most_ticks(&r, CAROL, 20);
    expect_servers_world(&r, BOB);
    expect_servers_world(&r, CAROL);
    expect_no_difference(&r);
}

TEST("a client cut off for too long is dropped and may connect again") {
    RIG(r, .clients = 2, .delay_ms = 10);
    rig_cut(&r, BOB, true);
    rig_run_ms(&r, (CAIRN_SYSTEM_TIMEOUT_S + 2) * 1000);
    assert_int_equal(rig_state(&r, BOB), CAIRN_CLIENT_FAILED);
    assert_int_equal(rig_server_statistics(&r).clients, 1);
    assert_int_equal(rig_server_statistics(&r).total.leaves, 1);
    rig_cut(&r, BOB, false);
    rig_connect_again(&r, BOB);
    rig_run_ms(&r, 2000);
    expect_playing(&r, BOB);
    expect_servers_world(&r, BOB);
    expect_playing(&r, ALICE);
    expect_no_difference(&r);
}

TEST("a late joiner receives the current world") {
    RIG(r, .clients = 1, .delay_ms = 30, .loss_permille = 50);
    rig_press(&r, ALICE, CAIRN_SANDBOX_SPAWN | CAIRN_SANDBOX_JUMP, 1);
    rig_run_ticks(&r, 120);
    rig_join_mode(&r, CAIRN_CLIENT_LOCKSTEP);
    rig_join_mode(&r, CAIRN_CLIENT_INTERPOLATE);
    rig_run_ms(&r, 3000);
    expect_playing(&r, BOB);
    expect_playing(&r, CAROL);
    expect_servers_world(&r, BOB);
    expect_servers_world(&r, CAROL);
    expect_behind_at_most_ticks(&r, BOB, 30);
    expect_no_difference(&r);
}

TEST("a client that disconnects leaves at once") {
    RIG(r, .clients = 2, .delay_ms = 20);
    const uint32_t before = rig_body_count(&r, ALICE);
    rig_leave(&r, BOB);
    rig_run_ms(&r, 500);
    assert_int_equal(rig_state(&r, BOB), CAIRN_CLIENT_LEFT);
    assert_int_equal(rig_server_statistics(&r).total.players, 1);
    assert_int_equal(rig_body_count(&r, ALICE), before - 1);
}

TEST("every client can connect to a restarted server") {
    RIG(r, .clients = 2, .interpolating = 1, .delay_ms = 20);
    rig_restart_server(&r);
    rig_run_ms(&r, (CAIRN_SYSTEM_TIMEOUT_S + 2) * 1000);
    assert_int_equal(rig_state(&r, ALICE), CAIRN_CLIENT_FAILED);
    assert_int_equal(rig_state(&r, BOB), CAIRN_CLIENT_FAILED);
    rig_connect_again(&r, ALICE);
    rig_connect_again(&r, BOB);
    rig_run_ms(&r, 3000);
    for (uint32_t client = ALICE; client <= BOB; client++) {
        expect_playing(&r, client);
        expect_servers_world(&r, client);
    }
    expect_no_difference(&r);
}

TEST("a bad path delays but does not change the world") {
    RIG(r, .clients = 2, .interpolating = 1, .delay_ms = 80, .jitter_ms = 60, .loss_permille = 150,
        .seed = 5);
    for (uint32_t round = 0; round < 10; round++) {
        rig_press(&r, round % 2, round % 3 == 0 ? CAIRN_SANDBOX_THROW : 0, 1);
        rig_run_ticks(&r, 30);
        expect_servers_world(&r, ALICE);
        expect_servers_world(&r, BOB);
        expect_behind_at_most_ticks(&r, ALICE, 90);
        expect_behind_at_most_ticks(&r, BOB, 90);
    }
    expect_no_difference(&r);
}
