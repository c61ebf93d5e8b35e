// SPDX-License-Identifier: MIT
// Rooms that wait for late inputs: for which players, how long, and what continues meanwhile.
#include "tests/kit/test.h"

#include "tests/kit/rig.h"

static void all_press(rig *r, uint32_t count) {
    for (uint32_t client = 0; client < count; ++client) {
        rig_press(r, client, CAIRN_SANDBOX_PUSH, 1);
    }
    rig_run_ms(r, 500);
}

TEST("a room does not wait for inputs that are on time") {
    RIG(r, .clients = 3, .interpolating = 1, .delay_ms = 30, .wait_ms = 300);
    all_press(&r, 3);
    const cairn_server_statistics before = rig_server_statistics(&r);
    rig_run_ms(&r, 2000);
    const cairn_server_statistics after = rig_server_statistics(&r);
    assert_int_equal(after.total.input_waits, before.total.input_waits);
    assert_int_equal(after.total.ticks_waited, before.total.ticks_waited);
    assert_in_range(after.total.tick - before.total.tick, 119, 121);
}

TEST("a player that becomes late loses no input if the room waits") {
    for (uint32_t wait_ms = 0; wait_ms <= 400; wait_ms += 400) {
        RIG(r, .clients = 3, .interpolating = 1, .delay_ms = 10, .wait_ms = wait_ms);
        all_press(&r, 3);
        const cairn_server_statistics before = rig_server_statistics(&r);
        rig_delay(&r, BOB, 150);
        rig_run_ms(&r, 3000);
        const cairn_server_statistics after = rig_server_statistics(&r);
        if (wait_ms == 0) {
            assert_true(after.total.inputs_late > before.total.inputs_late);
            assert_int_equal(after.total.input_waits, 0);
        } else {
            assert_int_equal(after.total.inputs_late, before.total.inputs_late);
            assert_in_range(after.total.input_waits, 1, 3);
            assert_in_range(after.total.ticks_waited, 5, 20);
        }
        assert_true(after.total.tick - before.total.tick >= 180 - 21);
        expect_servers_world(&r, CAROL);
        expect_behind_at_most_ticks(&r, CAROL, 10);
        expect_no_difference(&r);
    }
}

TEST("a room waits once for a client that vanishes") {
    RIG(r, .clients = 3, .interpolating = 1, .delay_ms = 20, .wait_ms = 250);
    all_press(&r, 3);
    const cairn_server_statistics before = rig_server_statistics(&r);
    rig_cut(&r, BOB, true);
    rig_run_ms(&r, 3000);
    const cairn_server_statistics after = rig_server_statistics(&r);
    assert_int_equal(after.total.input_waits, before.total.input_waits + 1);
    assert_in_range(after.total.input_wait_ns - before.total.input_wait_ns, 250000000, 270000000);
    assert_in_range(after.total.tick - before.total.tick, 180 - 17, 180 - 13);
    expect_behind_at_most_ticks(&r, ALICE, 10);
    expect_servers_world(&r, ALICE);
    expect_servers_world(&r, CAROL);
    rig_cut(&r, BOB, false);
    rig_run_ms(&r, 1500);
    expect_servers_world(&r, BOB);
    expect_no_difference(&r);
}

TEST("a room does not wait for spectators") {
    RIG(r, .clients = 3, .interpolating = 1, .delay_ms = 20, .wait_ms = 250);
    all_press(&r, 3);
    const cairn_server_statistics before = rig_server_statistics(&r);
    rig_cut(&r, CAROL, true);
    rig_run_ms(&r, 2000);
    assert_int_equal(rig_server_statistics(&r).total.input_waits, before.total.input_waits);
    assert_in_range(rig_server_statistics(&r).total.tick - before.total.tick, 119, 121);
}

TEST("a spectator receives the ticks that are stepped") {
    RIG(r, .clients = 3, .interpolating = 1, .delay_ms = 20, .wait_ms = 5000);
    all_press(&r, 2);
    rig_cut(&r, BOB, true);
    rig_run_ms(&r, 600);
    const uint64_t stalled_at = rig_server_statistics(&r).total.tick;
    assert_int_equal(rig_server_statistics(&r).total.input_waits, 1);
    assert_int_equal(rig_ticks_behind(&r, ALICE), 0);
    assert_in_range(rig_ticks_behind(&r, CAROL), 0, 3);
    // After a second of silence the room waits no longer, however long its limit is.
    rig_run_ms(&r, 1400);
    assert_true(rig_server_statistics(&r).total.tick > stalled_at + 40);
    expect_behind_at_most_ticks(&r, CAROL, 10);
    expect_servers_world(&r, CAROL);
    expect_no_difference(&r);
}

TEST("a client that joins a waiting room plays when it continues") {
    RIG(r, .clients = 2, .delay_ms = 20, .wait_ms = 2000);
    all_press(&r, 2);
    rig_cut(&r, BOB, true);
    rig_run_ms(&r, 300);
    rig_join_mode(&r, CAIRN_CLIENT_INTERPOLATE); // CAROL
    rig_join_mode(&r, CAIRN_CLIENT_LOCKSTEP);    // DAVE
    rig_run_ms(&r, 3000);
    expect_playing(&r, DAVE);
    expect_playing(&r, CAROL);
    expect_behind_at_most_ticks(&r, DAVE, 10);
    expect_servers_world(&r, DAVE);
    expect_servers_world(&r, CAROL);
    assert_int_equal(rig_server_statistics(&r).total.input_waits, 1);
}

TEST("a room stops waiting for a slot that is often late and waits again later") {
    RIG(r, .clients = 2, .delay_ms = 10, .wait_ms = 1000);
    all_press(&r, 2);
    for (uint32_t round = 1; round <= 3; ++round) {
        assert_int_equal(rig_server_statistics(&r).total.slots_given_up, 0);
        rig_cut(&r, BOB, true);
        rig_run_ms(&r, 300);
        rig_cut(&r, BOB, false);
        rig_run_ms(&r, 700);
    }
    assert_int_equal(rig_server_statistics(&r).total.input_waits, 3);
    assert_int_equal(rig_server_statistics(&r).total.slots_given_up, 1);
    cairn_server_client_info bob;
    assert_true(cairn_server_client_read(r.system.server, BOB, &bob));
    assert_int_equal(bob.input_waits, 3);
    assert_true(bob.input_wait_ns >= 600000000);
    rig_cut(&r, BOB, true);
    rig_run_ms(&r, 300);
    rig_cut(&r, BOB, false);
    assert_int_equal(rig_server_statistics(&r).total.input_waits, 3);
    // A second of inputs in time, and the room waits again.
    rig_run_ms(&r, 3000);
    rig_cut(&r, BOB, true);
    rig_run_ms(&r, 300);
    assert_int_equal(rig_server_statistics(&r).total.input_waits, 4);
}
