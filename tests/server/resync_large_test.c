// SPDX-License-Identifier: MIT
// What full states cost a server and its other clients when a client asks for them again and again,
// in large rooms.
#include "tests/kit/test.h"

#include <stdio.h>

#include "server/core/server_state.h"
#include "sim/serialize/sketch.h"
#include "tests/kit/scenes.h"
#include "tests/server/story.h"

static story s; // too large for a stack

AFTER_EACH {
    story_end(&s);
}

static void request_state(uint32_t client) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
        .resync_request = {.tick = story_tick(&s), .want = CAIRN_RESYNC_WANT_ELEMENTS}};
    story_send(&s, client, &message, true);
}

// A room with so many boxes; none touches another.
static void start_large(uint32_t rows, uint32_t columns, uint32_t tick_rate_hz) {
    char text[512];
    snprintf(text, sizeof text,
        "{'name': 'large', 'rules': 'sandbox', 'body_capacity': %u, 'shape_capacity': %u,"
        " 'joint_capacity': 8, 'contact_capacity': 32768, 'seed': 1, 'bodies': ["
        "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
        "{'kind': 'dynamic', 'position': [0, 0.5, 0], 'grid_count': [%u, 1, %u],"
        " 'grid_spacing': [2, 1, 2],"
        " 'shapes': [{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}]}",
        rows * columns + 64, rows * columns + 64, rows, columns);
    cairn_server_config config = story_config();
    config.first_room.scene = kit_scene(text);
    config.first_room.tick_rate_hz = tick_rate_hz;
    story_start(&s, &config);
}

static uint32_t ms_until_following(uint32_t client) {
    uint32_t ms = 0;
    for (; s.clients[client].ticks_stepped == 0 && ms < 30000; ms += 20) {
        story_run_ms(&s, 20);
    }
    return ms;
}

// One spectator asks for the full state ten times a second.
static void run_with_requests(uint32_t attacker, uint32_t ms) {
    for (uint32_t i = 0; i < ms; i += 100) {
        request_state(attacker);
        story_run_ms(&s, 100);
    }
}

TEST("a client that asks for states again and again keeps nobody from joining") {
    static const uint32_t sides[] = {60, 70}; // 3600 boxes; 4900, more than a keyframe holds
    for (uint32_t i = 0; i < 2; ++i) {
        start_large(sides[i], sides[i], 20);
        const uint32_t attacker = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
        const uint32_t ideal_ms = ms_until_following(attacker);
        run_with_requests(attacker, 3000);
        const uint32_t joiner = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
        uint32_t ms = 0;
        for (; s.clients[joiner].ticks_stepped == 0 && ms < 20000; ms += 100) {
            run_with_requests(attacker, 100);
        }
        assert_in_range(ms, 1, ideal_ms + 1000);
        assert_int_equal(s.clients[joiner].states_begun, 1);
        run_with_requests(attacker, 500);
        assert_int_equal(s.clients[joiner].roots_wrong, 0);
        assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[joiner].world));
        story_end(&s);
    }
}

TEST(
    "asking for states brings at most twenty bytes for each one sent, and one state now and then") {
    start_large(60, 60, 20);
    const uint32_t attacker = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    ms_until_following(attacker);
    story_run_ms(&s, 1000);
    cairn_server_statistics before = story_statistics(&s);
    story_run_ms(&s, 10000);
    cairn_server_statistics after = story_statistics(&s);
    const uint64_t usual = after.bytes_sent - before.bytes_sent;
    for (uint32_t i = 0; i < 3; ++i) {
        before = story_statistics(&s);
        run_with_requests(attacker, 10000);
        after = story_statistics(&s);
        const uint64_t state_size =
            cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN)->replication->state.size;
        const uint64_t owed = usual + state_size + state_size / 5; // headers of datagrams
        const uint64_t asked = 20 * (after.bytes_received - before.bytes_received);
        assert_true(after.bytes_sent - before.bytes_sent <= owed + asked);
    }
    assert_true(story_statistics(&s).total.resyncs_over_budget > 10);
    assert_int_equal(s.clients[attacker].roots_wrong, 0);
}

// Six clients ask about ticks of their own; each request needs a copy of another state.
TEST("a room copies as many states at once as it has time for, and the others wait") {
    static uint8_t sketch[40 * CAIRN_SKETCH_CELL_SIZE];
    start_large(60, 60, 20);
    uint32_t clients[6];
    for (uint32_t i = 0; i < 6; ++i) {
        clients[i] = story_join(&s, CAIRN_MODE_HEAL, true);
    }
    story_run_ms(&s, 8000);
    for (uint32_t i = 0; i < 6; ++i) {
        const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
            .resync_request = {.tick = story_tick(&s) - 2 - i,
                .want = CAIRN_RESYNC_WANT_ELEMENTS,
                .difference_sketch = sketch,
                .difference_sketch_size = sizeof sketch}};
        story_send(&s, clients[i], &message, true);
    }
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    const uint64_t *answers = room->statistics.resync_responses;
    story_run_ms(&s, 4);
    assert_in_range(answers[CAIRN_RESYNC_TOO_MUCH], 1, 5);
    story_run_ms(&s, 1000);
    assert_int_equal(answers[CAIRN_RESYNC_TOO_MUCH], 6);
}

// For three minutes it is thought to be slow; the ticks since its state are kept for it.
TEST("a client that acknowledges no tick is not sent state after state") {
    start_large(30, 30, 60);
    const uint32_t mute = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    s.clients[mute].mute_inputs = true;
    story_run_ms(&s, 175000);
    assert_int_equal(s.clients[mute].states_begun, 1);
    assert_int_equal(story_statistics(&s).total.clients_demoted, 0);
}
