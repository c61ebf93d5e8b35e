// SPDX-License-Identifier: MIT
// How a server answers resync requests, honest and malicious, and what they may cost it.
#include "tests/kit/test.h"

#include <string.h>

#include "recording/desync_reader.h"
#include "server/core/server_state.h"
#include "sim/serialize/sketch.h"
#include "tests/kit/guarded.h"
#include "tests/kit/packed.h"
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
    assert_in_range(story_statistics(&s).total.resync_bytes, 64, 2048);
    assert_true(story_has_event(&s, "resynced"));
}

TEST("requests are looked for where there are places for them, and no further") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    cairn_sketch_build(s.clients[client].world, 40, sketch);
    request(client, cairn_world_tick(s.clients[client].world), SKETCH_SIZE);
    kit_guards = true; // what is read beyond the last place ends the test
    for (uint32_t i = 0; room->resync->deferred == NULL; ++i) {
        assert_true(i < 10);
        story_run_ms(&s, 4);
    }
    kit_guards = false;
    assert_true(kit_guarded_count > 0);
    story_run_ms(&s, 200);
    assert_int_equal(responses(client)[CAIRN_RESYNC_DONE], 1);
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

// Each of four sketches costs its room a look at the world; then the client must ask for the state.
TEST("a client whose sketches name no element is told to ask for the state, and demoted") {
    static const uint8_t fills[] = {0, 0xff}; // everything differs; no sketch has such bytes
    for (uint32_t k = 0; k < 2; ++k) {
        const uint32_t client = start(CAIRN_MODE_HEAL);
        const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
        story_run_ms(&s, 500);
        memset(sketch, fills[k], sizeof sketch);
        for (uint32_t i = 0; i < 100; ++i) {
            request(client, story_tick(&s), SKETCH_SIZE);
            story_run_ms(&s, 200);
        }
        story_run_ms(&s, 500);
        const cairn_server_room_statistics total = story_statistics(&s).total;
        const uint64_t named_nothing = total.resync_responses[CAIRN_RESYNC_TOO_MUCH] +
                                       total.resync_responses[CAIRN_RESYNC_MALFORMED];
        const uint64_t told = total.resync_responses[CAIRN_RESYNC_NO_MORE_SKETCHES];
        assert_int_equal(named_nothing, CAIRN_SERVER_RESYNC_HOPELESS_MAX);
        assert_int_equal(total.resyncs_hopeless, told);
        assert_int_equal(named_nothing + told, CAIRN_SERVER_RESYNC_ATTEMPTS_MAX + 1);
        assert_int_equal(s.clients[client].notices[CAIRN_EVENT_MODE], 1);
        assert_int_equal(s.clients[other].roots_wrong, 0);
        assert_int_equal(story_tick(&s), cairn_world_tick(s.clients[other].world));
        story_end(&s);
    }
}

static void request_stages(uint32_t client, uint64_t tick) {
    const cairn_message message = {.kind = CAIRN_MESSAGE_RESYNC_REQUEST,
        .resync_request = {.tick = tick, .want = CAIRN_RESYNC_WANT_STAGES}};
    story_send(&s, client, &message, true);
}

TEST("a room goes on while the stages of a step are found, and others wait for their turn") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    const uint32_t other = story_join(&s, CAIRN_MODE_HEAL, true);
    story_run_ms(&s, 600);
    s.holds_tasks = true;
    const uint64_t before = story_tick(&s);
    request_stages(client, before - 3);
    request_stages(other, before - 3);
    story_run_ms(&s, 400);
    assert_int_equal(s.task_count, 1);
    assert_in_range(story_tick(&s), before + 20, before + 30);
    cairn_sketch_build(s.clients[other].world, 40, sketch);
    request(other, cairn_world_tick(s.clients[other].world), SKETCH_SIZE);
    story_run_ms(&s, 40);
    assert_int_equal(responses(client)[CAIRN_RESYNC_DONE], 0);
    assert_int_equal(responses(other)[CAIRN_RESYNC_DONE], 0);
    story_run_tasks(&s);
    story_run_ms(&s, 100);
    assert_int_equal(story_statistics(&s).total.stages_sent, 2);
    assert_int_equal(responses(client)[CAIRN_RESYNC_DONE], 1);
    assert_int_equal(responses(other)[CAIRN_RESYNC_DONE], 2);
}

TEST("a client that left while a task works for it gets nothing, and its room may close") {
    for (uint32_t closes = 0; closes < 2; ++closes) {
        const uint32_t client = start(CAIRN_MODE_HEAL);
        s.holds_tasks = true;
        request_stages(client, story_tick(&s) - 3);
        story_run_ms(&s, 40);
        assert_int_equal(s.task_count, 1);
        story_leave(&s, client);
        story_run_ms(&s, 100);
        if (closes > 0) {
            assert_true(cairn_server_room_destroy(s.server, s.now_ns, CAIRN_ROOM_MAIN, "over"));
        }
        story_run_ms(&s, 100);
        story_run_tasks(&s);
        assert_int_equal(story_statistics(&s).total.stages_sent, 0);
        story_end(&s);
    }
}

// A step that cannot be repeated costs as much of the budget, before anything is done for it.
TEST("a client id gets eight lists of stages in an hour, however often it connects") {
    story_start(&s, NULL);
    for (uint32_t k = 0; k < 3; ++k) {
        s.next_client_id = 7;
        const uint32_t client = story_join(&s, CAIRN_MODE_HEAL, true);
        story_run_ms(&s, 600);
        for (uint32_t i = 0; i < 6; ++i) {
            request_stages(client, story_tick(&s) - (k == 0 ? 3 : 0));
            story_run_ms(&s, 300);
        }
        story_leave(&s, client);
        story_run_ms(&s, 100);
    }
    assert_int_equal(s.server->resync.stages.count, CAIRN_SERVER_RESYNC_STAGES_PER_CLIENT_MAX);
    assert_in_range(story_statistics(&s).total.stages_sent, 6, 8);
    assert_in_range(story_statistics(&s).total.stages_refused, 10, 12);
    s.next_client_id = 8;
    const uint32_t client = story_join(&s, CAIRN_MODE_HEAL, true);
    story_run_ms(&s, 600);
    request_stages(client, story_tick(&s) - 3);
    story_run_ms(&s, 200);
    assert_int_equal(responses(client)[CAIRN_RESYNC_DONE], 1);
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
        story_run_ms(&s, 200);
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

static uint32_t capsules_received;
static uint8_t capsule_bytes[1 << 20];
static size_t capsule_size;

static void on_capsule(void *user, const char *room, uint64_t tick, uint64_t client_id,
    const uint8_t *bytes, size_t size) {
    (void)user;
    (void)room;
    (void)tick;
    (void)client_id;
    capsules_received += 1;
    capsule_size = size < sizeof capsule_bytes ? size : sizeof capsule_bytes;
    memcpy(capsule_bytes, bytes, capsule_size);
}

// A client that connects, reports two roots wrongly, each after right ones, and leaves.
static void lie_twice(uint64_t client_id) {
    s.next_client_id = client_id;
    const uint32_t liar = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 500);
    for (uint32_t i = 0; i < 2; ++i) {
        s.clients[liar].corrupt_roots = true;
        story_run_ms(&s, 40);
        s.clients[liar].corrupt_roots = false;
        story_run_ms(&s, 200);
    }
    story_leave(&s, liar);
    story_run_ms(&s, 100);
}

TEST("a client id that lies again and again uses up its own capsules alone") {
    cairn_server_config config = story_config();
    config.on_capsule = on_capsule;
    story_start(&s, &config);
    for (uint32_t i = 0; i < 3; ++i) {
        lie_twice(7);
        assert_int_equal(story_statistics(&s).total.capsules, 2);
    }
    assert_true(story_statistics(&s).total.capsules_over_budget >= 4);
    lie_twice(8);
    assert_int_equal(story_statistics(&s).total.capsules, 4);
    // An hour later.
    for (uint32_t i = 0; i < CAIRN_DESYNC_CAPSULES_MAX; ++i) {
        s.server->resync.capsules.budget.spent[i].at_ns -= CAIRN_HOUR_BUDGET_NS;
    }
    lie_twice(7);
    assert_int_equal(story_statistics(&s).total.capsules, 6);
}

TEST("a capsule is made from copies, while the room goes on") {
    cairn_server_config config = story_config();
    config.on_capsule = on_capsule;
    story_start(&s, &config);
    capsules_received = 0;
    const uint32_t liar = story_join(&s, CAIRN_MODE_LOCKSTEP, false);
    story_run_ms(&s, 500);
    s.clients[liar].buttons = CAIRN_SANDBOX_SPAWN;
    s.holds_tasks = true;
    s.clients[liar].corrupt_roots = true;
    story_run_ms(&s, 40);
    s.clients[liar].corrupt_roots = false;
    const uint64_t before = story_tick(&s);
    story_run_ms(&s, 3000);
    assert_int_equal(capsules_received, 0);
    assert_in_range(story_tick(&s), before + 170, before + 190);
    story_run_tasks(&s);
    assert_int_equal(capsules_received, 1);
    cairn_desync_report_content content;
    char error[CAIRN_RECORDING_ERROR_SIZE];
    static uint64_t aligned[sizeof capsule_bytes / 8];
    memcpy(aligned, capsule_bytes, capsule_size);
    assert_true(
        cairn_desync_report_open(&content, (const uint8_t *)aligned, capsule_size, NULL, error));
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    uint32_t count;
    const cairn_command *commands =
        cairn_command_log_commands(room->command_log, content.desync.head.tick - 1, &count);
    assert_true(count > 0);
    assert_int_equal(content.command_count, count);
    assert_memory_equal(content.commands, commands, count * sizeof *commands);
    // The step that the capsule holds gives the root that the server had.
    cairn_world_step(content.before, content.commands, content.command_count);
    assert_true(cairn_hash_equal(
        cairn_world_hash_read(content.before).full, content.desync.head.root_server));
    cairn_desync_report_close(&content);
}

TEST("a server writes a bounded number of capsules in an hour") {
    cairn_server_config config = story_config();
    config.on_capsule = on_capsule;
    story_start(&s, &config);
    for (uint32_t i = 0; i < CAIRN_DESYNC_CAPSULES_MAX; ++i) { // by other clients, half an hour ago
        s.server->resync.capsules.budget.spent[i] =
            (cairn_hour_spent){.client_id = 100 + i, .at_ns = s.now_ns - CAIRN_HOUR_BUDGET_NS / 2};
    }
    s.server->resync.capsules.budget.count = CAIRN_DESYNC_CAPSULES_MAX;
    lie_twice(7);
    assert_int_equal(story_statistics(&s).total.capsules, 0);
    s.server->resync.capsules.budget.spent[0].at_ns -= CAIRN_HOUR_BUDGET_NS / 2;
    lie_twice(7);
    assert_int_equal(story_statistics(&s).total.capsules, 1);
}

// Its acknowledgements may be on their way while another client's state is encoded: a state from
// before them would need ticks that the server believes to be held.
TEST("a renewed state is not older than what the client holds") {
    const uint32_t client = start(CAIRN_MODE_HEAL);
    s.clients[client].mute_inputs = true;
    story_run_ms(&s, 1000);
    story_join(&s, CAIRN_MODE_LOCKSTEP, true); // the room is encoded
    story_run_ms(&s, 300);
    const uint64_t held = cairn_world_tick(s.clients[client].world);
    request(client, held, 0);
    story_run_ms(&s, 20);
    const cairn_message late = kit_input(&(cairn_input_head){.ticks_acknowledged = held}, NULL);
    story_send(&s, client, &late, false);
    story_run_ms(&s, 20);
    s.clients[client].mute_inputs = false;
    story_run_ms(&s, 2000);
    assert_int_equal(s.clients[client].states_begun, 2);
    assert_int_equal(cairn_world_tick(s.clients[client].world), story_tick(&s));
    assert_int_equal(s.clients[client].roots_wrong, 0);
}

// Those that ask in the same second get the same encoding.
TEST("many clients that ask for states share encodings") {
    story_start(&s, NULL);
    uint32_t clients[4];
    for (uint32_t i = 0; i < 4; ++i) {
        clients[i] = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    }
    story_run_ms(&s, 600);
    const uint64_t before = story_statistics(&s).total.states_encoded;
    for (uint32_t n = 0; n < 50; ++n) {
        for (uint32_t i = 0; i < 4; ++i) {
            request(clients[i], story_tick(&s), 0);
        }
        story_run_ms(&s, 100);
    }
    const uint64_t encoded = story_statistics(&s).total.states_encoded - before;
    assert_in_range(encoded, 2, 6);
    assert_true(story_statistics(&s).total.states_resent >= 8);
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(s.clients[clients[i]].roots_wrong, 0);
    }
}
