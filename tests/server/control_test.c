// SPDX-License-Identifier: MIT
// What operators may ask, what comes of it, and that the room goes on whatever they ask.
#include "tests/kit/test.h"

#include <string.h>

#include "tests/server/control_kit.h"

static story s; // too large for a stack
static story_answer answer;

static const float box[6] = {0.0f, 5.0f, 0.0f, 0.5f, 0.5f, 0.5f};

static void expect_root_of_world(void) {
    const cairn_hash128 full = cairn_world_hash_read(kit_world(&s)).full;
    assert_int_equal(answer.answer.tick, kit_tick(&s));
    assert_int_equal(answer.answer.root.lo, full.lo);
    assert_int_equal(answer.answer.root.hi, full.hi);
}

static void expect_room_goes_on(void) {
    const uint64_t tick = kit_tick(&s);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_RESUME), CAIRN_CONTROL_DONE);
    story_run_ms(&s, 200);
    assert_true(kit_tick(&s) >= tick + 10);
    assert_int_equal(s.clients[0].roots_wrong, 0);
}

TEST("without the right nothing is done") {
    kit_start(&s, &answer);
    s.operators = false;
    const uint32_t stranger = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    static story_answer refused;
    memset(&refused, 0, sizeof refused);
    s.clients[stranger].answer = &refused;
    story_run_ms(&s, 300);
    assert_int_equal(s.clients[stranger].welcome.rights, 0);
    assert_int_equal(s.clients[0].welcome.rights, CAIRN_RIGHT_OPERATOR);
    kit_say(&s, stranger, (cairn_control){.request = 5, .verb = CAIRN_CONTROL_PAUSE});
    story_run_ms(&s, 100);
    assert_int_equal(refused.count, 1);
    assert_int_equal(refused.answer.request, 5);
    assert_int_equal(refused.answer.refusal, CAIRN_CONTROL_NO_RIGHT);
    assert_string_equal(refused.words, "no right");
    assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_NO_RIGHT], 1);
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    assert_true(story_heard(&s, "control_refused"));
    expect_room_goes_on();
    story_end(&s);
}

TEST("who asks without the right beyond reason is shown the door") {
    kit_start(&s, &answer);
    s.operators = false;
    const uint32_t stranger = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    for (uint32_t i = 0; i < 64; ++i) {
        kit_say(&s, stranger, (cairn_control){.verb = CAIRN_CONTROL_PAUSE});
        story_run_ms(&s, 8);
    }
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    for (uint32_t i = 0; i < 16; ++i) {
        kit_say(&s, stranger, (cairn_control){.verb = CAIRN_CONTROL_PAUSE});
        story_run_ms(&s, 8);
    }
    story_run_ms(&s, 200);
    assert_int_equal(s.clients[stranger].refusal, CAIRN_REFUSAL_MALFORMED);
    expect_room_goes_on();
    story_end(&s);
}

TEST("without control operators are not heard") {
    const cairn_server_config config = story_config();
    kit_start_with(&s, &answer, &config);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_PAUSE), CAIRN_CONTROL_CLOSED);
    assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_CLOSED], 1);
    const uint64_t tick = kit_tick(&s);
    story_run_ms(&s, 200);
    assert_true(kit_tick(&s) > tick);
    story_end(&s);
}

TEST("each refusal has its name and the room goes on") {
    static const float far[6] = {2e6f, 0.0f, 0.0f, 0.5f, 0.5f, 0.5f};
    static const float thin[6] = {0.0f, 0.0f, 0.0f, 0.5f, 1e-6f, 0.5f};
    const struct {
        cairn_control ask;
        uint32_t refusal;
    } rows[] = {
        {{.verb = 0}, CAIRN_CONTROL_VERB_UNKNOWN},
        {{.verb = CAIRN_CONTROL_VERB_COUNT}, CAIRN_CONTROL_VERB_UNKNOWN},
        {{.verb = UINT32_MAX}, CAIRN_CONTROL_VERB_UNKNOWN},
        {{.verb = CAIRN_CONTROL_STATE, .room = "nowhere"}, CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_STEP, .count = 1}, CAIRN_CONTROL_NOT_PAUSED},
        {{.verb = CAIRN_CONTROL_RUN_UNTIL, .tick = 1}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_RATE, .count = 64001}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_BOX}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_BOX, .numbers = box, .number_count = 5},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_BOX, .numbers = far, .number_count = 6},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_BOX, .numbers = thin, .number_count = 6},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_DELETE, .body = 77777}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_DELETE, .body = 0}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_GET, .body = 77777}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_IMPULSE, .body = 77777, .numbers = box, .number_count = 3},
            CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_BODIES, .count = 100000}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_RAY, .numbers = far, .number_count = 6},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_OVERLAP, .numbers = thin, .number_count = 6},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_DIFF, .name = "nowhere"}, CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_DIFF}, CAIRN_CONTROL_ROOM_UNKNOWN},
    };
    kit_start(&s, &answer);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint64_t before = story_statistics(&s).controls_refused[rows[i].refusal];
        const uint32_t refusal = kit_ask(&s, rows[i].ask);
        if (refusal != rows[i].refusal) {
            fail_msg("row %zu: %s, %s", i, cairn_control_refusal_text(refusal), answer.words);
        }
        assert_true(answer.words[0] != '\0');
        assert_int_equal(story_statistics(&s).controls_refused[rows[i].refusal], before + 1);
        assert_int_equal(story_statistics(&s).protocol_violations, 0);
    }
    expect_room_goes_on();
    story_end(&s);
}

TEST("a paused room stands still and keeps its clients") {
    kit_start(&s, &answer);
    const uint32_t player = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_PAUSE), CAIRN_CONTROL_DONE);
    expect_root_of_world();
    const uint64_t tick = kit_tick(&s);
    story_run_ms(&s, 8000); // longer than any time-out
    assert_int_equal(kit_tick(&s), tick);
    assert_int_equal(s.clients[player].notices[CAIRN_EVENT_PAUSED], 1);
    assert_int_equal(story_statistics(&s).clients, 2);
    const uint32_t late = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    const uint32_t watcher = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    assert_non_null(s.clients[late].world);
    assert_int_equal(cairn_world_tick(s.clients[late].world), tick);
    assert_int_equal(s.clients[late].notices[CAIRN_EVENT_PAUSED], 1);
    assert_int_equal(story_newest(&s.clients[watcher])->tick, tick);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_RESUME), CAIRN_CONTROL_DONE);
    assert_int_equal(s.clients[player].notices[CAIRN_EVENT_RESUMED], 1);
    story_run_ms(&s, 500);
    assert_true(kit_tick(&s) >= tick + 25 && kit_tick(&s) <= tick + 40);
    assert_int_equal(story_statistics(&s).ticks_skipped, 0);
    assert_int_equal(s.clients[late].roots_wrong, 0);
    story_end(&s);
}

TEST("a step runs as many ticks and answers then") {
    static const uint32_t counts[] = {1, 3, 64, 200};
    kit_start(&s, &answer);
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        const uint64_t tick = kit_tick(&s);
        assert_int_equal(
            kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_STEP, .count = counts[i]}), 0);
        assert_int_equal(kit_tick(&s), tick + counts[i]);
        assert_int_equal(answer.answer.count, counts[i]);
        expect_root_of_world();
    }
    assert_int_equal(
        kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_STEP}), CAIRN_CONTROL_OUT_OF_RANGE);
    expect_room_goes_on();
    story_end(&s);
}

TEST("a room runs until a tick and pauses there") {
    kit_start(&s, &answer);
    uint64_t tick = kit_tick(&s) + 40;
    assert_int_equal(
        kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RUN_UNTIL, .tick = tick}), 0);
    assert_int_equal(kit_tick(&s), tick);
    expect_root_of_world();
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RATE, .count = 0}), 0);
    assert_int_equal(kit_tick(&s), tick);
    tick += 300;
    assert_int_equal(
        kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RUN_UNTIL, .tick = tick}), 0);
    assert_int_equal(kit_tick(&s), tick);
    assert_int_equal(s.clients[0].notice.kind, CAIRN_EVENT_PAUSED);
    assert_int_equal(
        kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RUN_UNTIL, .tick = tick}), 0);
    assert_int_equal(kit_tick(&s), tick);
    expect_room_goes_on();
    story_end(&s);
}

TEST("a run is ended by a pause and by nothing else") {
    kit_start(&s, &answer);
    const uint32_t before = answer.count;
    kit_say(&s, 0, (cairn_control){.request = 1, .verb = CAIRN_CONTROL_RUN_UNTIL, .tick = 100000});
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, before);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_RESUME), CAIRN_CONTROL_BUSY);
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RUN_UNTIL, .tick = 100000}),
        CAIRN_CONTROL_BUSY);
    kit_say(&s, 0, (cairn_control){.request = 2, .verb = CAIRN_CONTROL_PAUSE});
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, before + 4);
    assert_int_equal(answer.answer.request, 1);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
    assert_true(answer.answer.tick < 100000);
    expect_room_goes_on();
    story_end(&s);
}

TEST("a rate makes time pass slower or faster") {
    static const struct {
        uint32_t rate, ms, least, most;
    } rows[] = {{500, 1000, 28, 32}, {2000, 1000, 117, 123}, {1000, 1000, 58, 62},
        {0, 40, 600, 700}, {1, 1000, 0, 1}};
    kit_start(&s, &answer);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(
            kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RATE, .count = rows[i].rate}), 0);
        assert_int_equal(s.clients[0].notice.kind, CAIRN_EVENT_RATE);
        assert_int_equal(s.clients[0].notice.value, rows[i].rate);
        const uint64_t tick = kit_tick(&s);
        story_run_ms(&s, rows[i].ms);
        assert_in_range(kit_tick(&s) - tick, rows[i].least, rows[i].most);
    }
    story_end(&s);
}

static uint32_t spawn_box(void) {
    assert_int_equal(
        kit_ask(&s,
            (cairn_control){
                .verb = CAIRN_CONTROL_SPAWN_BOX, .body = 42, .numbers = box, .number_count = 6}),
        0);
    assert_int_equal(answer.answer.id_count, 1);
    return answer.ids[0];
}

static void ask_for_body(uint32_t id) {
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_GET, .body = id}), 0);
    assert_int_equal(answer.answer.number_count, 13);
    assert_int_equal(answer.ids[0], id);
}

static void step(uint32_t count) {
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_STEP, .count = count}), 0);
}

TEST("bodies are spawned moved pushed and deleted") {
    static const float there[3] = {3.0f, 9.0f, -3.0f};
    static const float fast[6] = {1.0f, 0.0f, 0.0f, 0.0f, 2.0f, 0.0f};
    static const float push[3] = {0.0f, 0.0f, 1000.0f};
    kit_start(&s, &answer);
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t first = spawn_box();
    const uint32_t second = spawn_box(); // waits for the same tick
    assert_true(first != second);
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_SET_POSITION,
                                     .body = second,
                                     .numbers = there,
                                     .number_count = 3}),
        0);
    step(1);
    ask_for_body(first);
    assert_int_equal(answer.ids[3], 42);
    ask_for_body(second);
    assert_true(answer.numbers[0] == 3.0f && answer.numbers[2] == -3.0f);
    kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_SET_VELOCITY,
                    .body = second,
                    .numbers = fast,
                    .number_count = 6});
    step(1);
    ask_for_body(second);
    assert_true(answer.numbers[7] > 0.9f && answer.numbers[11] > 1.9f);
    kit_ask(
        &s, (cairn_control){
                .verb = CAIRN_CONTROL_IMPULSE, .body = second, .numbers = push, .number_count = 3});
    step(1);
    ask_for_body(second);
    assert_true(answer.numbers[9] > 0.5f);
    kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_DELETE, .body = first});
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_DELETE, .body = first}),
        CAIRN_CONTROL_BODY_UNKNOWN); // it will be gone then
    step(1);
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_GET, .body = first}),
        CAIRN_CONTROL_BODY_UNKNOWN);
    expect_room_goes_on();
    story_end(&s);
}

TEST("edits and bodies have their bounds") {
    kit_start(&s, &answer);
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    for (uint32_t i = 0; i < 64; ++i) {
        (void)spawn_box();
    }
    const cairn_control one_more = {
        .verb = CAIRN_CONTROL_SPAWN_BOX, .numbers = box, .number_count = 6};
    assert_int_equal(kit_ask(&s, one_more), CAIRN_CONTROL_CAPACITY);
    step(1);
    uint32_t refusal = 0;
    for (uint32_t i = 0; i < 256 && refusal == 0; ++i) {
        refusal = kit_ask(&s, one_more);
        if (i % 60 == 59) {
            step(1);
        }
    }
    assert_int_equal(refusal, CAIRN_CONTROL_CAPACITY);
    assert_string_equal(answer.words, "the world has no room for it");
    expect_room_goes_on();
    story_end(&s);
}

TEST("rays and overlaps tell what they meet") {
    static const float down[6] = {0.0f, 50.0f, 0.0f, 0.0f, -100.0f, 0.0f};
    static const float up[6] = {0.0f, 50.0f, 0.0f, 0.0f, 100.0f, 0.0f};
    static const float ball[6] = {0.0f, 5.0f, 0.0f, 1.0f, 0.0f, 0.0f};
    kit_start(&s, &answer);
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    step(1);
    kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RAY, .numbers = down, .number_count = 6});
    assert_int_equal(answer.answer.count, 1);
    assert_int_equal(answer.ids[0], body);
    assert_true(answer.numbers[1] > 5.4f && answer.numbers[4] > 0.99f);
    kit_ask(&s, (cairn_control){
                    .verb = CAIRN_CONTROL_RAY, .body = body, .numbers = down, .number_count = 6});
    assert_true(answer.ids[0] != body);
    kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_RAY, .numbers = up, .number_count = 6});
    assert_int_equal(answer.answer.count, 0);
    kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_OVERLAP, .numbers = ball, .number_count = 6});
    assert_int_equal(answer.answer.count, 1);
    assert_int_equal(answer.ids[0], body);
    story_end(&s);
}

// The body falls, and the client shows it where it was some ticks ago.
TEST("a ray meets what a client sees") {
    static const float down[6] = {0.0f, 50.0f, 0.0f, 0.0f, -100.0f, 0.0f};
    static const float high[6] = {0.0f, 40.0f, 0.0f, 0.5f, 0.5f, 0.5f};
    kit_start(&s, &answer);
    const uint32_t watcher = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    kit_ask(
        &s, (cairn_control){.verb = CAIRN_CONTROL_SPAWN_BOX, .numbers = high, .number_count = 6});
    const uint32_t body = answer.ids[0];
    story_run_ms(&s, 1000);
    cairn_control ray = {.verb = CAIRN_CONTROL_RAY, .numbers = down, .number_count = 6};
    assert_int_equal(kit_ask(&s, ray), CAIRN_CONTROL_DONE);
    const float now = answer.numbers[1];
    assert_int_equal(answer.ids[0], body);
    ray.count = 1;
    ray.seed = s.clients[watcher].client_id;
    assert_int_equal(kit_ask(&s, ray), CAIRN_CONTROL_DONE);
    assert_int_equal(answer.ids[0], body);
    assert_true(answer.numbers[1] > now + 0.2f && answer.numbers[1] < now + 5.0f);
    ray.seed = 7;
    assert_int_equal(kit_ask(&s, ray), CAIRN_CONTROL_NAME_UNKNOWN);
    expect_room_goes_on();
    story_end(&s);
}

TEST("what there is can be asked") {
    kit_start(&s, &answer);
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    kit_verb(&s, CAIRN_CONTROL_FEATURES);
    assert_non_null(strstr((char *)answer.bytes, "\nverb_pause writes\n"));
    assert_non_null(strstr((char *)answer.bytes, "\nverb_get reads\n"));
    kit_verb(&s, CAIRN_CONTROL_ROOMS);
    assert_int_equal(answer.answer.count, 1);
    kit_verb(&s, CAIRN_CONTROL_STATE);
    assert_non_null(strstr((char *)answer.bytes, "state paused\n"));
    assert_non_null(strstr((char *)answer.bytes, "scene test\n"));
    assert_int_equal(answer.answer.count, 1);
    kit_verb(&s, CAIRN_CONTROL_CLIENTS);
    assert_non_null(strstr((char *)answer.bytes, "1000 lockstep slot=255 "));
    kit_verb(&s, CAIRN_CONTROL_HASH);
    expect_root_of_world();
    assert_non_null(strstr((char *)answer.bytes, "\ncontacts "));
    kit_verb(&s, CAIRN_CONTROL_BODIES);
    assert_int_equal(answer.answer.count, cairn_world_counts_read(kit_world(&s)).bodies);
    assert_int_equal(answer.answer.id_count, 4 * answer.answer.count);
    assert_int_equal(answer.answer.number_count, 13 * answer.answer.count);
    kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_DIFF, .name = "main"});
    assert_int_equal(answer.answer.count, 0);
    expect_room_goes_on();
    story_end(&s);
}

TEST("one clients path is made bad and good again") {
    static const float bad[4] = {0.2f, 0.0f, 60.0f, 20.0f};
    static const float worse[4] = {1.5f, 0.0f, 0.0f, 0.0f};
    kit_start(&s, &answer);
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 300);
    const uint64_t client_id = s.clients[other].client_id;
    const cairn_control ask = {
        .verb = CAIRN_CONTROL_FAULTS, .tick = client_id, .numbers = bad, .number_count = 4};
    assert_int_equal(kit_ask(&s, ask), CAIRN_CONTROL_DONE);
    story_run_ms(&s, 3000);
    cairn_server_client_info info;
    assert_true(cairn_server_client_read(s.server, other, &info));
    assert_true(info.rtt_ns > 100000000);
    assert_true(cairn_server_client_read(s.server, 0, &info));
    assert_true(info.rtt_ns < 50000000);
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_FAULTS, .tick = client_id}),
        CAIRN_CONTROL_DONE);
    story_run_ms(&s, 2000);
    assert_true(kit_tick(&s) - cairn_world_tick(s.clients[other].world) < 10);
    assert_int_equal(s.clients[other].roots_wrong, 0);
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_FAULTS,
                                     .tick = client_id,
                                     .numbers = worse,
                                     .number_count = 4}),
        CAIRN_CONTROL_OUT_OF_RANGE);
    assert_int_equal(kit_ask(&s, (cairn_control){.verb = CAIRN_CONTROL_FAULTS, .tick = 9}),
        CAIRN_CONTROL_NAME_UNKNOWN);
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    expect_room_goes_on();
    story_end(&s);
}

TEST("requests of who left are forgotten") {
    kit_start(&s, &answer);
    kit_say(&s, 0, (cairn_control){.verb = CAIRN_CONTROL_RUN_UNTIL, .tick = kit_tick(&s) + 60});
    story_run_ms(&s, 50);
    cairn_netcode_client_disconnect(s.clients[0].netcode, s.now_ns);
    story_run_ms(&s, 3000);
    assert_int_equal(story_statistics(&s).clients, 0);
    story_end(&s);
}
