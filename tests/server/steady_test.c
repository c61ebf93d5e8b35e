// SPDX-License-Identifier: MIT
// Properties that must hold however long a server runs and for any messages of its clients.
#include "tests/kit/test.h"

#include <malloc.h>
#include <string.h>

#include "base/random.h"
#include "server/core/server_state.h"
#include "tests/server/story.h"

static story s;

TEST("a steady server allocates nothing") {
    story_start(&s, NULL);
    story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 1000);
    s.clients[0].buttons = CAIRN_SANDBOX_JUMP;
    const struct mallinfo2 before = mallinfo2();
    story_run_ms(&s, 2000);
    const struct mallinfo2 after = mallinfo2();
    assert_int_equal(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd);
    assert_int_equal(s.snapshots_wrong, 0);
    story_end(&s);
}

static uint64_t any_tick(cairn_random *random, uint64_t now) {
    switch (cairn_random_below(random, 4)) {
    case 0:
        return now + cairn_random_below(random, 80);
    case 1:
        return now - cairn_random_below(random, now);
    case 2:
        return cairn_random_next(random);
    default:
        return UINT64_MAX - cairn_random_below(random, 2);
    }
}

// A message the codec takes, with values no client of ours would choose.
static void say_anything(cairn_random *random, uint32_t client) {
    uint64_t now = story_tick(&s);
    cairn_wire_input inputs[8];
    uint64_t tick = now - cairn_random_below(random, now);
    for (uint32_t i = 0; i < 8; ++i) {
        tick += 1 + cairn_random_below(random, 20);
        inputs[i] = (cairn_wire_input){.tick = tick,
            .sequence = (uint32_t)cairn_random_next(random),
            .buttons = (uint32_t)cairn_random_below(random, 4),
            .move = {.x = cairn_random_unit(random) * 2.0f - 1.0f}};
    }
    const cairn_wire_root root = {.tick = any_tick(random, now), .lo = 1, .hi = 2};
    cairn_message message = {.kind = CAIRN_MESSAGE_INPUT,
        .input = {.snapshot_acknowledged = any_tick(random, now),
            .ticks_acknowledged = any_tick(random, now),
            .inputs = inputs,
            .input_count = (uint32_t)cairn_random_below(random, 9)}};
    if (cairn_random_below(random, 4) == 0) {
        message = (cairn_message){
            .kind = CAIRN_MESSAGE_ROOT_REPORT, .root_report = {.roots = &root, .root_count = 1}};
    }
    story_say_message(&s, client, &message, false);
}

TEST("no message of a client breaks the room") {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        cairn_random random = cairn_random_of(seed);
        story_start(&s, NULL);
        uint32_t shown = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
        uint32_t exact = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
        uint32_t liar =
            story_join(&s, seed % 2 == 0 ? CAIRN_MODE_LOCKSTEP : CAIRN_MODE_INTERPOLATE, false);
        story_run_ms(&s, 300);
        s.clients[liar].silent = true;
        for (uint32_t i = 0; i < 200; ++i) {
            say_anything(&random, liar);
            story_run_ms(&s, 4);
        }
        story_run_ms(&s, 500);
        if (s.snapshots_wrong != 0 || s.clients[exact].roots_wrong != 0 ||
            s.clients[shown].deltas_failed != 0 || s.clients[shown].deltas < 20) {
            fail_msg("seed %u", (unsigned)seed);
        }
        assert_int_equal(cairn_world_tick(s.clients[exact].world), story_tick(&s));
        story_end(&s);
    }
}

TEST("each client sends one payload before any sends a second") {
    story_start(&s, NULL);
    for (uint32_t i = 0; i < 3; ++i) {
        story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    }
    story_run_ms(&s, 500);
    static const uint8_t long_message[20000] = {1};
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_link_send_unreliable(s.server->sessions[i].link, long_message, sizeof long_message);
    }
    uint32_t turns[3] = {0};
    for (uint32_t n = 0; n < 60; ++n) {
        uint8_t bytes[CAIRN_DATAGRAM_SIZE_MAX];
        cairn_address to;
        assert_true(cairn_server_send(s.server, s.now_ns, &to, bytes) > 0);
        turns[to.port - 50000] += 1;
        for (uint32_t i = 0; i < 3; ++i) {
            assert_in_range(turns[i], (n + 1) / 3, (n + 1) / 3 + 1);
        }
    }
    story_end(&s);
}

TEST("readers of the state are counted until they leave") {
    story_start(&s, NULL);
    for (uint32_t i = 0; i < 3; ++i) {
        story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    }
    story_run_ms(&s, 300);
    story_leave(&s, 0);
    story_run_ms(&s, 300);
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    assert_int_equal(room->replication->state.readers, 0);
    assert_int_equal(room->replication->state.generation, 1);
    assert_int_equal(story_statistics(&s).total.state_transfers, 3);
    story_end(&s);
}
