// SPDX-License-Identifier: MIT
// How a server answers resync requests, honest and malicious, and what they may cost it.
#include "tests/kit/test.h"

#include <string.h>

#include "server/core/server_state.h"
#include "sim/serialize/sketch.h"
#include "tests/server/story.h"

#define SKETCH_SIZE (40 * CAIRN_SKETCH_CELL_SIZE)

static story s; // too large for a stack
static uint8_t sketch[CAIRN_DIFFERENCE_SKETCH_SIZE_MAX];

AFTER_EACH {
    story_end(&s);
}

static uint32_t start(cairn_mode mode) {
    story_start(&s, NULL);
    const uint32_t client = story_join(&s, mode, true);
    story_run_ms(&s, 600);
    return client;
}

static void request(uint32_t client, uint64_t tick, size_t size) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
        .resync_request = {.tick = tick,
            .want = CAIRN_RESYNC_WANT_ELEMENTS,
            .difference_sketch = sketch,
            .difference_sketch_size = (uint32_t)size}};
    story_send(&s, client, &message, true);
}

static const uint32_t *responses(uint32_t client) {
    return s.clients[client].responses;
}

TEST("a client whose world agrees gets an empty response") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    cairn_sketch_build(s.clients[client].world, 40, sketch);
    request(client, cairn_world_tick(s.clients[client].world), SKETCH_SIZE);
    story_run_ms(&s, 200);
    assert_int_equal(responses(client)[CAIRN_RESYNC_DONE], 1);
    assert_int_equal(story_statistics(&s).total.resync_requests, 1);
    assert_int_equal(story_statistics(&s).total.resync_elements, 0);
    assert_true(story_has_event(&s, "resynced"));
}

TEST("states are kept only while a client may need them") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    assert_true(cairn_state_history_statistics_read(room->state_history).ticks > 20);
    story_leave(&s, client);
    story_run_ms(&s, 300);
    assert_int_equal(cairn_state_history_statistics_read(room->state_history).ticks, 0);
    assert_int_equal(cairn_state_history_statistics_read(room->state_history).bytes, 0);
}

TEST("ticks that are not held are refused") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    const uint64_t ticks[] = {0, story_tick(&s) + 100, UINT64_MAX};
    cairn_sketch_build(s.clients[client].world, 40, sketch);
    for (uint32_t i = 0; i < 3; ++i) {
        request(client, ticks[i], SKETCH_SIZE);
        story_run_ms(&s, 100);
        assert_int_equal(responses(client)[CAIRN_RESYNC_TICK_GONE], i + 1);
    }
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
}

TEST("a malformed sketch is refused as malformed") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    memset(sketch, 0xff, sizeof sketch);
    request(client, story_tick(&s), SKETCH_SIZE);
    request(client, story_tick(&s), 17);
    story_run_ms(&s, 100);
    assert_int_equal(responses(client)[CAIRN_RESYNC_MALFORMED], 2);
}

// Of a sketch of nothing everything differs.
TEST("a difference too large for the sketch is refused as too much") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    memset(sketch, 0, sizeof sketch);
    request(client, story_tick(&s), SKETCH_SIZE);
    story_run_ms(&s, 100);
    assert_int_equal(responses(client)[CAIRN_RESYNC_TOO_MUCH], 1);
}

TEST("a flood of resync requests costs little and disturbs no client") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 500);
    memset(sketch, 0, sizeof sketch);
    for (uint32_t i = 0; i < 100; ++i) {
        request(client, story_tick(&s), SKETCH_SIZE);
        story_run_ms(&s, 8);
    }
    story_run_ms(&s, 500);
    const cairn_server_statistics statistics = story_statistics(&s);
    const uint32_t answered = responses(client)[CAIRN_RESYNC_TOO_MUCH];
    assert_int_equal(statistics.total.resync_requests, 100);
    assert_in_range(
        answered, 10, CAIRN_SERVER_RESYNC_BURST_NS / CAIRN_SERVER_RESYNC_REQUEST_NS + 8);
    assert_int_equal(responses(client)[CAIRN_RESYNC_TOO_OFTEN], 100 - answered);
    assert_int_equal(s.clients[other].roots_wrong, 0);
    assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[other].world));
}

TEST("a client without a world may not request a resync") {
    const uint32_t client = start(CAIRN_MODE_INTERPOLATE);
    request(client, story_tick(&s), SKETCH_SIZE);
    story_run_ms(&s, 100);
    assert_int_equal(story_statistics(&s).protocol_violations, 1);
    assert_int_equal(story_statistics(&s).total.resync_requests, 0);
}

TEST("a resync request without a sketch asks for the state") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    assert_int_equal(s.clients[client].states_begun, 1);
    request(client, story_tick(&s), 0);
    story_run_ms(&s, 500);
    assert_int_equal(s.clients[client].states_begun, 2);
    assert_int_equal(story_statistics(&s).total.states_resent, 1);
    assert_int_equal(s.clients[client].roots_wrong, 0);
    assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[client].world));
}

TEST("a client may ask to be served by snapshots") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    const cairn_message less = {
        .kind = CAIRN_MESSAGE_HELLO, .hello = story_hello(CAIRN_MODE_INTERPOLATE, true)};
    story_send(&s, client, &less, true);
    story_run_ms(&s, 500);
    assert_int_equal(s.clients[client].notices[CAIRN_EVENT_MODE], 1);
    assert_int_equal(s.clients[client].notice.value, CAIRN_MODE_INTERPOLATE);
    assert_true(s.clients[client].keyframes > 0);
    assert_int_equal(story_statistics(&s).total.clients_demoted, 1);
    assert_int_equal(story_statistics(&s).protocol_violations,
        0); // its last resync_requests and roots are forgiven
    story_send(&s, client, &less, true);
    story_run_ms(&s, 100);
    assert_int_equal(story_statistics(&s).protocol_violations, 1);
}

TEST("a client that needs too many resyncs is demoted") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    for (uint32_t i = 0; i <= CAIRN_SERVER_RESYNC_ATTEMPTS_MAX; ++i) {
        cairn_sketch_build(s.clients[client].world, 40, sketch);
        request(client, cairn_world_tick(s.clients[client].world), SKETCH_SIZE);
        story_run_ms(&s, 300);
    }
    assert_int_equal(responses(client)[CAIRN_RESYNC_DONE], CAIRN_SERVER_RESYNC_ATTEMPTS_MAX + 1);
    assert_int_equal(s.clients[client].notices[CAIRN_EVENT_MODE], 1);
    assert_true(story_has_event(&s, "client_demoted"));
}

// Of a client in another mode it is only counted.
TEST("a client that reports wrong roots and requests no resync is demoted") {
    static const cairn_mode modes[] = {CAIRN_MODE_HEAL, CAIRN_MODE_LOCKSTEP};
    for (uint32_t i = 0; i < 2; ++i) {
        const uint32_t client = start(modes[i]);
        s.clients[client].corrupt_roots = true;
        story_run_ms(&s, 4000);
        assert_true(story_statistics(&s).total.roots_differed > 64);
        assert_int_equal(s.clients[client].notices[CAIRN_EVENT_MODE], i == 0 ? 1 : 0);
        story_end(&s);
    }
}

TEST("a client whose passport differs is served by snapshots") {
    story_start(&s, NULL);
    cairn_hello hello = story_hello(CAIRN_MODE_LOCKSTEP, true);
    hello.passport_hash.hi ^= 1;
    const uint32_t client = story_join_as(&s, &hello);
    hello = story_hello(CAIRN_MODE_HEAL, true);
    hello.passport_faults = 0x80000000u; // of a build that knows more checks than this one
    const uint32_t newer = story_join_as(&s, &hello);
    story_run_ms(&s, 500);
    assert_int_equal(s.clients[client].welcome.mode, CAIRN_MODE_INTERPOLATE);
    assert_int_equal(s.clients[newer].welcome.mode, CAIRN_MODE_INTERPOLATE);
    assert_int_equal(story_statistics(&s).total.clients_unfit, 2);
    assert_true(story_has_event(&s, "client_unfit"));
    assert_true(s.clients[client].deltas > 0);
}
