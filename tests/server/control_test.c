// SPDX-License-Identifier: MIT
// Requests of operators and their effects; the room continues after every request.

#include "tests/kit/test.h"

#include <string.h>

#include "bridge/observe.h"
#include "server/control/queue.h"
#include "server/control/verbs.h"
#include "server/core/server_state.h"
#include "tests/server/operator_kit.h"

static void expect_root_of_world(void) {
    const cairn_hash128 full = story_root(&s);
    assert_int_equal(answer.answer.tick, story_tick(&s));
    assert_int_equal(answer.answer.root.lo, full.lo);
    assert_int_equal(answer.answer.root.hi, full.hi);
}

TEST("a request without the operator's right is refused") {
    s.operators = false;
    const uint32_t guest = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    static story_answer refused;
    memset(&refused, 0, sizeof refused);
    s.clients[guest].answer = &refused;
    story_run_ms(&s, 300);
    assert_int_equal(s.clients[guest].welcome.rights, 0);
    assert_int_equal(s.clients[0].welcome.rights, CAIRN_RIGHT_OPERATOR);
    kit_send(&s, guest, .number = 5, .verb = CAIRN_CONTROL_PAUSE);
    story_run_ms(&s, 100);
    assert_int_equal(refused.count, 1);
    assert_int_equal(refused.answer.number, 5);
    assert_int_equal(refused.answer.refusal, CAIRN_CONTROL_NO_RIGHT);
    assert_string_equal(refused.answer.reason, "no right");
    assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_NO_RIGHT], 1);
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    assert_true(story_has_event(&s, "control_refused"));
    expect_room_continues();
}

TEST("a client that keeps sending unauthorised requests is disconnected") {
    s.operators = false;
    const uint32_t guest = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    for (uint32_t i = 0; i < 64; ++i) {
        kit_send(&s, guest, .verb = CAIRN_CONTROL_PAUSE);
        story_run_ms(&s, 8);
    }
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    for (uint32_t i = 0; i < 16; ++i) {
        kit_send(&s, guest, .verb = CAIRN_CONTROL_PAUSE);
        story_run_ms(&s, 8);
    }
    story_run_ms(&s, 200);
    assert_int_equal(s.clients[guest].refusal, CAIRN_REFUSAL_MALFORMED);
    expect_room_continues();
}

TEST("a server without control refuses operators") {
    const cairn_server_config config = story_config();
    kit_start_with(&s, &answer, &config);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_PAUSE), CAIRN_CONTROL_CLOSED);
    assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_CLOSED], 1);
    const uint64_t tick = story_tick(&s);
    story_run_ms(&s, 200);
    assert_true(story_tick(&s) > tick);
}

TEST("each bad request gets its refusal and the room continues") {
    const cairn_vec3 far = {2e6f, 0.0f, 0.0f};
    const cairn_vec3 half = {0.5f, 0.5f, 0.5f};
    const cairn_vec3 thin = {0.5f, 1e-6f, 0.5f};
    const struct {
        cairn_control_request ask;
        uint32_t refusal;
    } rows[] = {{{.verb = 0}, CAIRN_CONTROL_VERB_UNKNOWN},
        {{.verb = CAIRN_CONTROL_VERB_COUNT}, CAIRN_CONTROL_VERB_UNKNOWN},
        {{.verb = UINT8_MAX}, CAIRN_CONTROL_VERB_UNKNOWN},
        {{.verb = CAIRN_CONTROL_STATE, .room = "nowhere"}, CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_STEP, .step = {1}}, CAIRN_CONTROL_NOT_PAUSED},
        {{.verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {1}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_RATE, .rate = {64001}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_BOX, .spawn_box = {.position = far, .half_extents = half}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_BOX, .spawn_box = {.half_extents = thin}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN_SPHERE, .spawn_sphere = {.radius = 0.0f}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN,
             .spawn = {.shape = CAIRN_SHAPE_CAPSULE, .size = {0.5f, 0.0f, 0.0f}}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN, .spawn = {.shape = CAIRN_SHAPE_MESH}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SPAWN, .spawn = {.shape = CAIRN_SHAPE_HULL}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_CREATE_JOINT,
             .create_joint = {.kind = CAIRN_JOINT_BALL, .body_a = 77777, .body_b = 1}},
            CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_CREATE_JOINT, .create_joint = {.kind = CAIRN_JOINT_ROW + 1}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_ACT, .act = {.fields = 32}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_ACT, .act = {.tick_count = 1}}, CAIRN_CONTROL_NOT_PAUSED},
        {{.verb = CAIRN_CONTROL_DELETE, .delete_body = {77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_DELETE, .delete_body = {0}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_GET, .get = {77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_IMPULSE, .impulse = {.body = 77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_BODIES, .bodies = {100000}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_RAY, .ray = {.origin = far}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_OVERLAP, .overlap = {.half_extents = thin}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_OVERLAP, .overlap = {.half_extents = half, .has_radius = true}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_CAST, .cast = {.half_extents = thin}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_CAST, .cast = {.half_extents = half, .translation = far}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_CLOSEST, .closest = {.distance_max = -1.0f}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_CLOSEST, .closest = {.position = far, .distance_max = 1.0f}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_DIFF, .diff = {"nowhere"}}, CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_DELETE, .room = "nowhere", .delete_body = {1}},
            CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_ACT, .room = "nowhere"}, CAIRN_CONTROL_ROOM_UNKNOWN},
        {{.verb = CAIRN_CONTROL_DIFF, .diff = {""}}, CAIRN_CONTROL_ROOM_UNKNOWN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint64_t before = story_statistics(&s).controls_refused[rows[i].refusal];
        const uint32_t refusal = kit_ask_request(&s, rows[i].ask);
        if (refusal != rows[i].refusal) {
            fail_msg(
                "row %zu: %s, %s", i, cairn_control_refusal_text(refusal), answer.answer.reason);
        }
        assert_true(answer.answer.reason[0] != '\0');
        assert_int_equal(story_statistics(&s).controls_refused[rows[i].refusal], before + 1);
        assert_int_equal(story_statistics(&s).protocol_violations, 0);
    }
    expect_room_continues();
}

TEST("a paused room does not step and keeps its clients") {
    const uint32_t player = story_join(&s, CAIRN_MODE_INTERPOLATE, false);
    story_run_ms(&s, 300);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_PAUSE), CAIRN_CONTROL_DONE);
    expect_root_of_world();
    const uint64_t tick = story_tick(&s);
    story_run_ms(&s, 8000); // longer than any time-out
    assert_int_equal(story_tick(&s), tick);
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
    assert_true(story_tick(&s) >= tick + 25 && story_tick(&s) <= tick + 40);
    assert_int_equal(story_statistics(&s).total.ticks_skipped, 0);
    assert_int_equal(s.clients[late].roots_wrong, 0);
}

TEST("a step runs its number of ticks and is then answered") {
    static const uint32_t counts[] = {1, 3, 64, 200};
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
        const uint64_t tick = story_tick(&s);
        assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_STEP, .step = {counts[i]}), 0);
        assert_int_equal(story_tick(&s), tick + counts[i]);
        assert_int_equal(answer.answer.run.tick_count, counts[i]);
        expect_root_of_world();
    }
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_STEP), CAIRN_CONTROL_OUT_OF_RANGE);
    expect_room_continues();
}

TEST("a room runs until a tick and pauses there") {
    uint64_t tick = story_tick(&s) + 40;
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {tick}), 0);
    assert_int_equal(story_tick(&s), tick);
    expect_root_of_world();
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RATE, .rate = {0}), 0);
    assert_int_equal(story_tick(&s), tick);
    tick += 300;
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {tick}), 0);
    assert_int_equal(story_tick(&s), tick);
    assert_int_equal(s.clients[0].notice.kind, CAIRN_EVENT_PAUSED);
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {tick}), 0);
    assert_int_equal(story_tick(&s), tick);
    expect_room_continues();
}

TEST("only a pause ends a run") {
    const uint32_t before = answer.count;
    kit_send(&s, 0, .number = 1, .verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {100000});
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, before);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_RESUME), CAIRN_CONTROL_BUSY);
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {100000}), CAIRN_CONTROL_BUSY);
    kit_send(&s, 0, .number = 2, .verb = CAIRN_CONTROL_PAUSE);
    story_run_ms(&s, 100);
    assert_int_equal(answer.count, before + 4);
    assert_int_equal(answer.answer.number, 1);
    assert_int_equal(answer.answer.refusal, CAIRN_CONTROL_DONE);
    assert_true(answer.answer.tick < 100000);
    expect_room_continues();
}

TEST("a rate slows or speeds up the room's time") {
    static const struct {
        uint32_t rate, ms, least, most;
    } rows[] = {{500, 1000, 28, 32}, {2000, 1000, 117, 123}, {1000, 1000, 58, 62},
        {0, 40, 600, 700}, {1, 1000, 0, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RATE, .rate = {rows[i].rate}), 0);
        assert_int_equal(s.clients[0].notice.kind, CAIRN_EVENT_RATE);
        assert_int_equal(s.clients[0].notice.value, rows[i].rate);
        const uint64_t tick = story_tick(&s);
        story_run_ms(&s, rows[i].ms);
        assert_in_range(story_tick(&s) - tick, rows[i].least, rows[i].most);
    }
}

TEST("bodies can be spawned, moved, pushed and deleted") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t first = spawn_box();
    const uint32_t second = spawn_box(); // waits for the same tick
    assert_true(first != second);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_POSITION,
        .set_position = {.body = second, .position = {3.0f, 9.0f, -3.0f}});
    assert_int_equal(answer.answer.edit.body, second);
    step(1);
    assert_int_equal(get_body(first)->user, 42);
    const cairn_control_body *body = get_body(second);
    assert_true(body->position.x == 3.0f && body->position.z == -3.0f);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_VELOCITY,
        .set_velocity = {.body = second,
            .linear_velocity = {1.0f, 0.0f, 0.0f},
            .angular_velocity = {0.0f, 2.0f, 0.0f}});
    step(1);
    body = get_body(second);
    assert_true(body->linear_velocity.x > 0.9f && body->angular_velocity.y > 1.9f);
    kit_do(&s, .verb = CAIRN_CONTROL_IMPULSE,
        .impulse = {.body = second, .impulse = {0.0f, 0.0f, 1000.0f}});
    step(1);
    assert_true(get_body(second)->linear_velocity.z > 0.5f);
    const cairn_control_request delete_first = {
        .verb = CAIRN_CONTROL_DELETE, .delete_body = {first}};
    kit_do_request(&s, delete_first);
    assert_int_equal(
        kit_ask_request(&s, delete_first), CAIRN_CONTROL_BODY_UNKNOWN); // it will be gone then
    step(1);
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_GET, .get = {first}), CAIRN_CONTROL_BODY_UNKNOWN);
    expect_room_continues();
}

static const cairn_vec3 tetrahedron[] = {
    {0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};

TEST("every shape can be spawned, and joined to another one") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const struct {
        uint32_t shape;
        cairn_vec3 size;
    } cases[] = {{CAIRN_SHAPE_SPHERE, {0.5f, 0.0f, 0.0f}},
        {CAIRN_SHAPE_CAPSULE, {0.25f, 0.5f, 0.0f}}, {CAIRN_SHAPE_BOX, {0.5f, 0.5f, 0.5f}},
        {CAIRN_SHAPE_HULL, {0.0f, 0.0f, 0.0f}}, {CAIRN_SHAPE_CYLINDER, {0.25f, 0.5f, 0.0f}},
        {CAIRN_SHAPE_CONE, {0.25f, 0.5f, 0.0f}}, {CAIRN_SHAPE_HALF_SPACE, {0.0f, 0.0f, 0.0f}}};
    uint32_t last = spawn_box();
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        cairn_control_spawn_request spawn = {.shape = cases[i].shape,
            .size = cases[i].size,
            .position = {2.0f * (float)i, 30.0f, 0.0f},
            .user = 50 + i};
        spawn.points = tetrahedron;
        spawn.point_count = spawn.shape == CAIRN_SHAPE_HULL ? 4 : 0;
        kit_do(&s, .verb = CAIRN_CONTROL_SPAWN, .spawn = spawn);
        const uint32_t body = answer.answer.edit.body;
        assert_int_not_equal(body, 0);
        kit_do(&s, .verb = CAIRN_CONTROL_CREATE_JOINT,
            .create_joint = {.kind = CAIRN_JOINT_HINGE,
                .body_a = last,
                .body_b = body,
                .anchor_a = spawn.position,
                .anchor_b = spawn.position,
                .axis = {0.0f, 1.0f, 0.0f}});
        assert_int_not_equal(answer.answer.edit.joint, 0);
        assert_int_equal(answer.answer.edit.body, 0);
        last = body;
    }
    step(1);
    kit_verb(&s, CAIRN_CONTROL_JOINTS);
    const cairn_control_joints_answer *joints = &answer.answer.joints;
    const uint32_t joint_count = sizeof cases / sizeof *cases;
    assert_int_equal(joints->joint_count, joint_count);
    assert_int_equal(joints->listed_count, joint_count);
    for (uint32_t i = 0; i < joint_count; ++i) {
        assert_int_equal(joints->joints[i].kind, CAIRN_JOINT_HINGE);
        assert_true(i == 0 || joints->joints[i].body_a == joints->joints[i - 1].body_b);
    }
    assert_int_equal(joints->joints[joint_count - 1].body_b, last);
    kit_do(&s, .verb = CAIRN_CONTROL_JOINTS, .joints = {.first = joint_count - 1});
    assert_int_equal(joints->listed_count, 1);
    assert_int_equal(joints->joints[0].body_b, last);
    assert_int_equal(get_body(last)->user, 56);
    assert_int_equal(get_body(last)->kind, CAIRN_BODY_STATIC);
    expect_room_continues();
}

TEST("an act edits, steps and observes in one request") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    step(1);
    const uint64_t tick = answer.answer.tick;
    const cairn_control_edit edits[] = {
        {.kind = CAIRN_COMMAND_SET_POSITION, .buttons = body, .move = {3.0f, 40.0f, 0.0f}},
        {.kind = CAIRN_COMMAND_SET_VELOCITY, .buttons = body, .move = {60.0f, 0.0f, 0.0f}}};
    const cairn_control_watched watched[] = {{body}, {77777}, {body}};
    kit_do(&s, .verb = CAIRN_CONTROL_ACT,
        .act = {.edits = edits,
            .edit_count = 2,
            .tick_count = 2,
            .fields = CAIRN_OBSERVE_POSITION | CAIRN_OBSERVE_AWAKE,
            .watched = watched,
            .watched_count = 3});
    const cairn_control_act_answer *act = &answer.answer.act;
    assert_int_equal(act->tick_count, 2);
    assert_int_equal(answer.answer.tick, tick + 2);
    assert_int_equal(act->body_count, 3);
    assert_int_equal(act->number_count, 12);
    for (uint32_t i = 0; i < 3; i += 2) {
        assert_float_equal(act->numbers[4 * i].value, 5.0f, 0.01f);
        assert_true(act->numbers[4 * i + 3].value == 1.0f);
    }
    assert_true(act->numbers[4].value == 0.0f);
    assert_float_equal(get_body(body)->position.x, 5.0f, 0.01f);
    kit_do(&s, .verb = CAIRN_CONTROL_ACT, .act = {.fields = CAIRN_OBSERVE_POSITION});
    assert_int_equal(answer.answer.act.tick_count, 0);
    assert_int_equal(answer.answer.act.number_count, 3 * answer.answer.act.body_count);
    expect_room_continues();
}

TEST("an act with one edit that is refused does nothing") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    step(1);
    const cairn_hash128 before = answer.answer.root;
    const cairn_control_edit edits[] = {
        {.kind = CAIRN_COMMAND_SET_POSITION, .buttons = body, .move = {3.0f, 40.0f, 0.0f}},
        {.kind = CAIRN_COMMAND_DESTROY, .buttons = 77777}};
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_ACT,
                         .act = {.edits = edits, .edit_count = 2, .tick_count = 1}),
        CAIRN_CONTROL_BODY_UNKNOWN);
    assert_string_equal(answer.answer.reason, "unknown body 77777");
    assert_true(cairn_hash_equal(answer.answer.root, before));
    const cairn_control_edit input = {.kind = CAIRN_COMMAND_INPUT};
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_ACT, .act = {.edits = &input, .edit_count = 1}),
        CAIRN_CONTROL_OUT_OF_RANGE);
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_ACT, .act = {.tick_count = 1000001}),
        CAIRN_CONTROL_OUT_OF_RANGE);
    kit_do(&s, .verb = CAIRN_CONTROL_ACT, .act = {.tick_count = 1});
    assert_true(get_body(body)->position.y < 39.0f);
    kit_verb(&s, CAIRN_CONTROL_RESUME);
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_ACT, .act = {.tick_count = 1}), CAIRN_CONTROL_NOT_PAUSED);
    expect_room_continues();
}

TEST("an edit meets nothing of one that was refused, nor of one that the room has stepped") {
    const cairn_control_edit edits[] = {
        {.kind = CAIRN_COMMAND_SPAWN_BOX, .move = box.position, .aim = box.half_extents},
        {.kind = CAIRN_COMMAND_DESTROY, .buttons = 77777}};
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t before = spawn_box();
        assert_int_equal(
            kit_ask(&s, .verb = CAIRN_CONTROL_ACT, .act = {.edits = edits, .edit_count = 2}),
            CAIRN_CONTROL_BODY_UNKNOWN);
        const uint32_t after = spawn_box();
        kit_do(&s, .verb = CAIRN_CONTROL_DELETE, .delete_body = {after});
        assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_DELETE, .delete_body = {after}),
            CAIRN_CONTROL_BODY_UNKNOWN);
        const uint32_t last = spawn_box();
        step(1);
        assert_non_null(get_body(before));
        assert_non_null(get_body(last));
    }
    expect_room_continues();
}

TEST("what makes no shape and no joint is refused by name") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    cairn_control_spawn_request spawn = {.shape = CAIRN_SHAPE_HEIGHT_FIELD};
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_SPAWN, .spawn = spawn), CAIRN_CONTROL_OUT_OF_RANGE);
    assert_non_null(strstr(answer.answer.reason, "spawn-height-field makes height fields"));
    spawn = (cairn_control_spawn_request){
        .shape = CAIRN_SHAPE_HULL, .points = tetrahedron, .point_count = 3};
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_SPAWN, .spawn = spawn), CAIRN_CONTROL_OUT_OF_RANGE);
    assert_string_equal(answer.answer.reason, cairn_hull_refusal(tetrahedron, 3));
    spawn.shape = CAIRN_SHAPE_CONE;
    spawn.size = (cairn_vec3){0.5f, 0.5f, 0.0f};
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_SPAWN, .spawn = spawn), CAIRN_CONTROL_OUT_OF_RANGE);
    assert_string_equal(answer.answer.reason, "only a hull has points");
    const cairn_control_create_joint_request joint = {
        .kind = CAIRN_JOINT_BALL, .body_a = body, .body_b = body};
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_CREATE_JOINT, .create_joint = joint),
        CAIRN_CONTROL_OUT_OF_RANGE);
    assert_non_null(strstr(answer.answer.reason, "a joint needs two bodies"));
    expect_room_continues();
}

TEST("too many edits or bodies are refused") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    for (uint32_t i = 0; i < 64; ++i) {
        (void)spawn_box();
    }
    const cairn_control_request one_more = {.verb = CAIRN_CONTROL_SPAWN_BOX, .spawn_box = box};
    assert_int_equal(kit_ask_request(&s, one_more), CAIRN_CONTROL_CAPACITY);
    step(1);
    uint32_t refusal = 0;
    for (uint32_t i = 0; i < 256 && refusal == 0; ++i) {
        refusal = kit_ask_request(&s, one_more);
        if (i % 60 == 59) {
            step(1);
        }
    }
    assert_int_equal(refusal, CAIRN_CONTROL_CAPACITY);
    assert_string_equal(
        answer.answer.reason, "the world has no free body, shape, hull, mesh or joint");
    expect_room_continues();
}

static const cairn_control_ray_request ray_down = {
    .origin = {0.0f, 50.0f, 0.0f}, .translation = {0.0f, -100.0f, 0.0f}};

static const cairn_control_ray_answer *cast_ray(cairn_control_ray_request ray) {
    kit_do(&s, .verb = CAIRN_CONTROL_RAY, .ray = ray);
    return &answer.answer.ray;
}

TEST("rays and overlaps name the shapes they hit") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    step(1);
    const cairn_control_ray_answer *hit = cast_ray(ray_down);
    assert_true(hit->hit && hit->body == body && hit->shape != 0);
    assert_true(hit->point.y > 5.4f && hit->normal.y > 0.99f);
    assert_true(hit->fraction > 0.4f && hit->fraction < 0.5f);
    cairn_control_ray_request ray = ray_down;
    ray.ignored_body = body;
    hit = cast_ray(ray);
    assert_true(hit->hit && hit->body != body);
    ray = ray_down;
    ray.translation.y = 100.0f;
    assert_false(cast_ray(ray)->hit);
    const cairn_control_overlap_request shapes[] = {
        {.position = {0.0f, 5.0f, 0.0f}, .has_radius = true, .radius = 1.0f},
        {.position = {0.0f, 5.0f, 0.0f}, .half_extents = {1.0f, 1.0f, 1.0f}}};
    for (size_t i = 0; i < 2; ++i) {
        kit_do(&s, .verb = CAIRN_CONTROL_OVERLAP, .overlap = shapes[i]);
        assert_int_equal(answer.answer.overlap.shape_count, 1);
        assert_int_equal(answer.answer.overlap.listed_count, 1);
        assert_int_equal(answer.answer.overlap.shapes[0].body, body);
    }
}

static cairn_vec3 along(uint32_t axis, float value) {
    float at[3] = {0.5f, 0.5f, 0.5f};
    at[axis] = value;
    return (cairn_vec3){at[0], at[1], at[2]};
}

static uint32_t ask_at(uint32_t kind, cairn_vec3 at) {
    const cairn_vec3 half = {0.5f, 0.5f, 0.5f};
    switch (kind) {
    case 0:
        return kit_ask(&s, .verb = CAIRN_CONTROL_RAY, .ray = {.origin = at});
    case 1:
        return kit_ask(&s, .verb = CAIRN_CONTROL_RAY, .ray = {.translation = at});
    case 2:
        return kit_ask(
            &s, .verb = CAIRN_CONTROL_CAST, .cast = {.position = at, .half_extents = half});
    case 3:
        return kit_ask(
            &s, .verb = CAIRN_CONTROL_CAST, .cast = {.translation = at, .half_extents = half});
    case 4:
        return kit_ask(&s, .verb = CAIRN_CONTROL_CLOSEST, .closest = {.position = at});
    default:
        return kit_ask(
            &s, .verb = CAIRN_CONTROL_OVERLAP, .overlap = {.position = at, .half_extents = half});
    }
}

TEST("a query may reach to the ends of the world on each axis, and no further") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    for (uint32_t kind = 0; kind < 6; ++kind) {
        for (uint32_t axis = 0; axis < 3; ++axis) {
            for (int32_t sign = -1; sign <= 1; sign += 2) {
                const float end = (float)sign * CAIRN_DISTANCE_MAX;
                assert_int_equal(ask_at(kind, along(axis, end)), CAIRN_CONTROL_DONE);
                assert_int_equal(
                    ask_at(kind, along(axis, 1.001f * end)), CAIRN_CONTROL_OUT_OF_RANGE);
            }
        }
    }
    for (uint32_t axis = 0; axis < 3; ++axis) {
        static const float sizes[] = {CAIRN_SHAPE_SIZE_MIN, 0.99f * CAIRN_SHAPE_SIZE_MIN,
            CAIRN_SHAPE_SIZE_MAX, 1.01f * CAIRN_SHAPE_SIZE_MAX};
        for (uint32_t i = 0; i < 4; ++i) {
            assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_OVERLAP,
                                 .overlap = {.half_extents = along(axis, sizes[i])}),
                i % 2 == 0 ? CAIRN_CONTROL_DONE : CAIRN_CONTROL_OUT_OF_RANGE);
            assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_OVERLAP,
                                 .overlap = {.has_radius = true, .radius = sizes[i]}),
                i % 2 == 0 ? CAIRN_CONTROL_DONE : CAIRN_CONTROL_OUT_OF_RANGE);
        }
    }
    static const float reaches[] = {0.0f, -0.1f, CAIRN_DISTANCE_MAX, 1.001f * CAIRN_DISTANCE_MAX};
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(
            kit_ask(&s, .verb = CAIRN_CONTROL_CLOSEST, .closest = {.distance_max = reaches[i]}),
            i % 2 == 0 ? CAIRN_CONTROL_DONE : CAIRN_CONTROL_OUT_OF_RANGE);
    }
}

// A ball that is cast down meets the top of a box when its centre is one radius above it.
TEST("casts and the nearest shape are those of the world") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    step(1);
    const float top = get_body(body)->position.y + box.half_extents.y;
    cairn_control_cast_request cast = {.position = {0.0f, 10.0f, 0.0f},
        .has_radius = true,
        .radius = 0.5f,
        .translation = {0.0f, -8.0f, 0.0f}};
    kit_do(&s, .verb = CAIRN_CONTROL_CAST, .cast = cast);
    const cairn_control_ray_answer *hit = &answer.answer.ray;
    assert_true(hit->hit && hit->body == body && hit->normal.y > 0.999f);
    assert_float_equal(hit->fraction, (9.5f - top) / 8.0f, 1e-4f);
    cast.ignored_body = body;
    kit_do(&s, .verb = CAIRN_CONTROL_CAST, .cast = cast);
    assert_true(answer.answer.ray.body != body); // a body below
    const cairn_control_closest_request above = {
        .position = {0.25f, top + 2.0f, 0.0f}, .distance_max = 2.5f};
    kit_do(&s, .verb = CAIRN_CONTROL_CLOSEST, .closest = above);
    const cairn_control_closest_answer *closest = &answer.answer.closest;
    assert_true(closest->found && closest->body == body && closest->shape != 0);
    assert_float_equal(closest->distance, 2.0f, 1e-5f);
    assert_float_equal(closest->point.x, 0.25f, 1e-5f);
    assert_float_equal(closest->normal.y, 1.0f, 1e-5f);
    kit_do(&s, .verb = CAIRN_CONTROL_CLOSEST,
        .closest = {.position = above.position, .distance_max = 1.5f});
    assert_false(answer.answer.closest.found);
}

// The body falls, and the client shows it where it was some ticks ago.
TEST("what is asked of a place beyond 100 km, along any axis, is refused") {
    for (uint32_t i = 0; i < 12; ++i) {
        const float to = (i & 1) != 0 ? -1.0f : 1.0f;
        const float size = i < 6 ? 100001.0f : 99999.0f;
        const uint32_t axis = i / 2 % 3;
        const cairn_vec3 at = {axis == 0 ? to * size : 0.0f, axis == 1 ? to * size : 0.0f,
            axis == 2 ? to * size : 0.0f};
        const uint32_t expected = i < 6 ? CAIRN_CONTROL_OUT_OF_RANGE : CAIRN_CONTROL_DONE;
        assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_RAY,
                             .ray = {.origin = at, .translation = {0.0f, 1.0f, 0.0f}}),
            expected);
        assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_CAST,
                             .cast = {.half_extents = {0.5f, 0.5f, 0.5f}, .position = at}),
            expected);
        assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_CLOSEST,
                             .closest = {.position = at, .distance_max = 1.0f}),
            expected);
    }
}

TEST("a ray can be cast into the world as a client sees it") {
    const uint32_t watcher = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    story_run_ms(&s, 500);
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX,
        .spawn_box = {.position = {0.0f, 40.0f, 0.0f}, .half_extents = {0.5f, 0.5f, 0.5f}});
    const uint32_t body = answer.answer.edit.body;
    story_run_ms(&s, 1000);
    const float now = cast_ray(ray_down)->point.y;
    assert_int_equal(answer.answer.ray.body, body);
    cairn_control_ray_request ray = ray_down;
    ray.has_seen_by = true;
    ray.seen_by = s.clients[watcher].client_id;
    const cairn_control_ray_answer *hit = cast_ray(ray);
    assert_int_equal(hit->body, body);
    assert_true(hit->point.y > now + 0.2f && hit->point.y < now + 5.0f);
    ray.seen_by = s.clients[0].client_id;
    assert_int_equal(cast_ray(ray)->body, body);
    ray.seen_by = 7;
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_RAY, .ray = ray), CAIRN_CONTROL_NAME_UNKNOWN);
    expect_room_continues();
}

static bool feature_writes(const char *name) {
    const cairn_control_features_answer *features = &answer.answer.features;
    for (uint32_t i = 0; i < features->verb_count; ++i) {
        if (strcmp(features->verbs[i].name, name) == 0) {
            assert_int_equal(features->verbs[i].verb, cairn_control_verb_find(name));
            return features->verbs[i].writes != 0;
        }
    }
    fail_msg("no verb %s", name);
    return false;
}

TEST("rooms, bodies and clients can be listed") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    kit_verb(&s, CAIRN_CONTROL_FEATURES);
    assert_true(feature_writes("pause"));
    assert_false(feature_writes("get"));
    assert_int_equal(answer.answer.features.verb_count, CAIRN_CONTROL_VERB_COUNT - 1);
    assert_int_equal(answer.answer.features.protocol_version, CAIRN_PROTOCOL_VERSION);
    kit_verb(&s, CAIRN_CONTROL_ROOMS);
    assert_int_equal(answer.answer.rooms.room_count, 1);
    assert_string_equal(answer.answer.rooms.rooms[0].name, "main");
    assert_int_equal(answer.answer.rooms.rooms[0].tick, story_tick(&s));
    kit_verb(&s, CAIRN_CONTROL_STATE);
    assert_true(answer.answer.state.paused);
    assert_string_equal(answer.answer.state.scene, "test");
    assert_int_equal(answer.answer.state.clients, 1);
    kit_verb(&s, CAIRN_CONTROL_CLIENTS);
    const cairn_control_clients_answer *clients = &answer.answer.clients;
    assert_int_equal(clients->client_count, 1);
    assert_int_equal(clients->clients[0].client_id, 1000);
    assert_int_equal(clients->clients[0].mode, CAIRN_MODE_LOCKSTEP);
    assert_int_equal(clients->clients[0].slot, CAIRN_SLOT_NONE);
    assert_int_equal(clients->clients[0].rights, CAIRN_RIGHT_OPERATOR);
    kit_verb(&s, CAIRN_CONTROL_HASH);
    expect_root_of_world();
    assert_memory_equal(&answer.answer.hash.full, &answer.answer.root, sizeof(cairn_hash128));
    assert_int_equal(answer.answer.hash.section_count, CAIRN_SECTION_COUNT);
    kit_verb(&s, CAIRN_CONTROL_BODIES);
    const uint32_t body_count = cairn_world_counts_read(story_world(&s)).bodies;
    assert_int_equal(answer.answer.bodies.body_count, body_count);
    assert_int_equal(answer.answer.bodies.listed_count, body_count);
    kit_do(&s, .verb = CAIRN_CONTROL_DIFF, .diff = {"main"});
    assert_int_equal(answer.answer.diff.difference_count, 0);
    expect_room_continues();
}

static uint32_t ask_for_faults(cairn_control_faults_request faults) {
    return kit_ask(&s, .verb = CAIRN_CONTROL_FAULTS, .faults = faults);
}

TEST("link faults degrade one client's path and can be removed") {
    const uint32_t other = story_join(&s, CAIRN_MODE_LOCKSTEP, true);
    story_run_ms(&s, 300);
    cairn_control_faults_request faults = {.client_id = s.clients[other].client_id,
        .loss = 0.2f,
        .delay_ms = 60.0f,
        .jitter_ms = 20.0f};
    assert_int_equal(ask_for_faults(faults), CAIRN_CONTROL_DONE);
    story_run_ms(&s, 3000);
    cairn_server_client_info info;
    assert_true(cairn_server_client_read(s.server, other, &info));
    assert_true(info.rtt_ns > 100000000);
    const uint64_t jitter_ns = cairn_link_path_read(s.clients[other].link).jitter_ns;
    assert_in_range(jitter_ns, 4000000, 40000000);
    assert_true(cairn_server_client_read(s.server, 0, &info));
    assert_true(info.rtt_ns < 50000000);
    faults = (cairn_control_faults_request){.client_id = faults.client_id};
    assert_int_equal(ask_for_faults(faults), CAIRN_CONTROL_DONE);
    story_run_ms(&s, 2000);
    assert_true(story_tick(&s) - cairn_world_tick(s.clients[other].world) < 10);
    assert_int_equal(s.clients[other].roots_wrong, 0);
    faults.loss = 1.5f;
    assert_int_equal(ask_for_faults(faults), CAIRN_CONTROL_OUT_OF_RANGE);
    faults = (cairn_control_faults_request){.client_id = 9};
    assert_int_equal(ask_for_faults(faults), CAIRN_CONTROL_NAME_UNKNOWN);
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    expect_room_continues();
}

TEST("requests of a client that left are dropped") {
    kit_send(&s, 0, .verb = CAIRN_CONTROL_RUN_UNTIL, .run_until = {story_tick(&s) + 60});
    story_run_ms(&s, 50);
    story_leave(&s, 0);
    story_run_ms(&s, 3000);
    assert_int_equal(story_statistics(&s).clients, 0);
}

// The first operator asks as often as it can before anything is carried out.
TEST("an operator's flood of requests does not make another operator's busy") {
    const uint32_t other = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    static story_answer others;
    memset(&others, 0, sizeof others);
    s.clients[other].answer = &others;
    story_run_ms(&s, 300);
    const cairn_control_request ask = {.verb = CAIRN_CONTROL_STATE, .room = "", .number = 7};
    for (uint32_t i = 0; i < 300; ++i) {
        assert_false(cairn_control_queue_receive(s.server, &s.server->sessions[0], &ask));
    }
    const uint64_t busy = story_statistics(&s).controls_refused[CAIRN_CONTROL_BUSY];
    assert_int_equal(busy, 300 - CAIRN_CONTROL_QUEUE_PER_CLIENT_MAX);
    for (uint32_t i = 0; i < 10; ++i) {
        assert_false(cairn_control_queue_receive(s.server, &s.server->sessions[other], &ask));
    }
    assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_BUSY], busy);
    story_run_ms(&s, 1000);
    assert_int_equal(others.count, 10);
    assert_int_equal(others.answer.refusal, CAIRN_CONTROL_DONE);
}

TEST("a queue that many operators fill has places left for one that asks seldom") {
    uint32_t operators[5] = {0};
    for (uint32_t i = 1; i < 5; ++i) {
        operators[i] = story_join(&s, CAIRN_MODE_INTERPOLATE, true);
    }
    story_run_ms(&s, 300);
    const cairn_control_request ask = {.verb = CAIRN_CONTROL_STATE, .room = "", .number = 7};
    for (uint32_t i = 0; i < 4 * CAIRN_CONTROL_QUEUE_MAX; ++i) {
        cairn_control_queue_receive(s.server, &s.server->sessions[operators[i % 4]], &ask);
    }
    const uint64_t busy = story_statistics(&s).controls_refused[CAIRN_CONTROL_BUSY];
    for (uint32_t i = 0; i < CAIRN_CONTROL_QUEUE_FEW + 1; ++i) {
        cairn_control_queue_receive(s.server, &s.server->sessions[operators[4]], &ask);
        assert_int_equal(story_statistics(&s).controls_refused[CAIRN_CONTROL_BUSY] - busy,
            i < CAIRN_CONTROL_QUEUE_FEW ? 0 : 1);
    }
}

// Answers are compared whole, so that no byte of an earlier name may stay.
TEST("a name is followed by zeros, however long it is") {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    for (size_t length = 0; length <= CAIRN_NAME_SIZE_MAX + 1; ++length) {
        char text[CAIRN_NAME_SIZE_MAX + 2] = "";
        char wanted[CAIRN_NAME_SIZE_MAX + 1] = "";
        char name[CAIRN_NAME_SIZE_MAX + 1];
        memset(name, 'x', sizeof name);
        memcpy(text, letters, length);
        memcpy(wanted, letters, length < CAIRN_NAME_SIZE_MAX ? length : CAIRN_NAME_SIZE_MAX);
        cairn_control_name_set(name, text);
        assert_memory_equal(name, wanted, sizeof name);
    }
}

// Each sends every client a new state.
TEST("a room's world is replaced four times at once and twice a second, for all operators "
     "together") {
    kit_start(&s, &answer);
    uint32_t done = 0;
    for (uint32_t i = 0; i < 300; ++i) { // for at least 1.2 s
        const uint32_t refusal = kit_verb(&s, CAIRN_CONTROL_RESET);
        done += refusal == CAIRN_CONTROL_DONE ? 1 : 0;
        assert_true(refusal == CAIRN_CONTROL_DONE || refusal == CAIRN_CONTROL_BUSY);
    }
    const uint64_t took_ns = s.now_ns - STORY_START_NS;
    assert_in_range(done, 5, 4 + 2 * took_ns / CAIRN_NS_PER_S);
    story_run_ms(&s, 2000);
    for (uint32_t i = 0; i < 4; ++i) {
        kit_do(&s, .verb = CAIRN_CONTROL_RESET);
    }
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_RESET), CAIRN_CONTROL_BUSY);
    story_run_ms(&s, 500);
    kit_do(&s, .verb = CAIRN_CONTROL_RESET);
}

TEST("what an act observes is all that an answer can hold, and no more") {
    static cairn_control_lists lists;
    static uint32_t watched[CAIRN_CONTROL_ACT_NUMBERS_MAX + 1];
    const cairn_room *room = cairn_room_table_at(&s.server->rooms, CAIRN_ROOM_MAIN);
    static const uint32_t fields[] = {
        CAIRN_OBSERVE_ROTATION, CAIRN_OBSERVE_AWAKE, CAIRN_OBSERVE_POSITION, CAIRN_OBSERVE_ALL};
    for (uint32_t i = 0; i < sizeof fields / sizeof *fields; ++i) {
        const cairn_control_wait wait = {.fields = fields[i],
            .watched_count = CAIRN_CONTROL_ACT_NUMBERS_MAX + 1,
            .watched = watched};
        const uint32_t rows = CAIRN_CONTROL_ACT_NUMBERS_MAX / cairn_observe_width(fields[i]);
        const cairn_control_act_answer act = cairn_control_observe(room, &wait, &lists);
        assert_int_equal(act.body_count, rows);
        assert_int_equal(act.number_count, rows * cairn_observe_width(fields[i]));
    }
}
