// SPDX-License-Identifier: MIT
// The parts of prediction, each alone: input prediction, rollback attribution, the delay
// controller, smoothing.

#include "tests/kit/test.h"

#include <math.h>

#include "client_lib/clock/delay_controller.h"
#include "client_lib/simulate/input_prediction.h"
#include "client_lib/simulate/rollback.h"
#include "client_lib/simulate/smoothing.h"
#include "server/room/inbox.h"

SCOPE_POINTER_ENDS(cairn_inbox, cairn_inbox_destroy)
SCOPE_ENDS(cairn_smoothing, cairn_smoothing_destroy)

#define HOLD 9

static cairn_command input(uint32_t slot, uint32_t sequence, uint32_t buttons) {
    return (cairn_command){
        .kind = CAIRN_COMMAND_INPUT, .slot = slot, .sequence = sequence, .buttons = buttons};
}

static cairn_command joins(uint32_t slot) {
    return (cairn_command){.kind = CAIRN_COMMAND_JOIN, .slot = slot};
}

static void expect_input(
    const cairn_input_prediction *prediction, uint64_t tick, const cairn_command *expected) {
    cairn_command command;
    const bool has_input = cairn_input_prediction_predict(prediction, 3, tick, &command);
    assert_int_equal(has_input, expected != NULL);
    if (has_input) {
        assert_memory_equal(&command, expected, sizeof command);
    }
}

TEST("a player is predicted to hold its last input") {
    cairn_input_prediction prediction;
    cairn_input_prediction_start(&prediction, 100, HOLD, 1);
    const cairn_command first[] = {joins(3), input(3, 7, 1)};
    cairn_input_prediction_confirm(&prediction, first, 2);
    for (uint64_t tick = 101; tick < 160; tick++) {
        const cairn_command next = input(3, 7 + (uint32_t)(tick - 100), 1);
        expect_input(&prediction, tick, &next);
    }
    // The player's input was missing once: the server repeated the last one, and does so until the
    // hold time ends.
    cairn_input_prediction_confirm(&prediction, &first[1], 1);
    expect_input(&prediction, 102, &first[1]);
    expect_input(&prediction, 109, &first[1]);
    expect_input(&prediction, 110, NULL);
    const cairn_command back = input(3, 9, 2);
    const cairn_command on = input(3, 10, 2);
    cairn_input_prediction_confirm(&prediction, &back, 1);
    expect_input(&prediction, 103, &on);
    const cairn_command leave = {.kind = CAIRN_COMMAND_LEAVE, .slot = 3};
    cairn_input_prediction_confirm(&prediction, &leave, 1);
    expect_input(&prediction, 104, NULL);
}

TEST("a silent player is predicted to stay silent") {
    cairn_input_prediction prediction;
    cairn_input_prediction_start(&prediction, 0, HOLD, 1);
    const cairn_command join = joins(3);
    expect_input(&prediction, 0, NULL);
    cairn_input_prediction_confirm(&prediction, &join, 1);
    expect_input(&prediction, 1, NULL);
    // A player whose inputs have no sequence numbers is not taken for a silent one for ever.
    const cairn_command same = input(3, 0, 4);
    for (int i = 0; i < 30; i++) {
        cairn_input_prediction_confirm(&prediction, &same, 1);
    }
    expect_input(&prediction, 60, &same);
    cairn_input_prediction_confirm(&prediction, NULL, 0);
    expect_input(&prediction, 60, NULL);
}

// Compares the prediction with the server's own inbox.
TEST("a silent player is predicted as the server substitutes its input") {
    SCOPED(cairn_inbox) *inbox = NULL;
    cairn_input_prediction prediction;
    const cairn_inbox_config config = {
        .tick = 50, .window_ticks = 120, .slots = 8, .hold_ticks = HOLD};
    assert_int_equal(cairn_inbox_create(&config, &inbox), CAIRN_OK);
    cairn_input_prediction_start(&prediction, 50, HOLD, 1);
    for (int i = 0; i < 4; i++) {
        cairn_inbox_join(inbox);
    }
    for (uint64_t tick = 50; tick < 60; tick++) {
        const cairn_command held = input(3, (uint32_t)tick, 5);
        cairn_inbox_take(inbox, 3, tick, &held);
    }
    cairn_command commands[CAIRN_INBOX_COMMANDS_MAX];
    for (uint64_t tick = 50; tick < 61; tick++) { // the server substitutes the last of these
        cairn_input_prediction_confirm(&prediction, commands, cairn_inbox_gather(inbox, commands));
    }
    for (uint64_t tick = 61; tick < 80; tick++) {
        const uint32_t count = cairn_inbox_gather(inbox, commands);
        assert_int_equal(count, tick - 59 <= HOLD ? 1 : 0);
        expect_input(&prediction, tick, count > 0 ? &commands[0] : NULL);
    }
}

TEST("a rollback is attributed to the player who caused it") {
    cairn_input_prediction prediction;
    cairn_input_prediction_start(&prediction, 10, HOLD, 1);
    const cairn_command past[] = {joins(1), joins(2), input(1, 5, 0), input(2, 5, 0)};
    cairn_input_prediction_confirm(&prediction, past, 4);
    const cairn_command predicted[] = {input(1, 6, 0), input(2, 6, 0)};
    const cairn_command edit = {.kind = CAIRN_COMMAND_DESTROY, .slot = CAIRN_SLOT_OPERATOR};
    const cairn_command leave = {.kind = CAIRN_COMMAND_LEAVE, .slot = 2};
    const struct {
        cairn_command confirmed[3];
        uint32_t count;
        cairn_client_rollback_cause cause;
        uint32_t slot;
    } rows[] = {{{input(1, 6, 0), input(2, 6, 9)}, 2, CAIRN_ROLLBACK_WRONG_PREDICTION, 2},
        {{input(1, 6, 0), input(2, 5, 0)}, 2, CAIRN_ROLLBACK_LATE_INPUT, 2},
        {{input(1, 6, 0)}, 1, CAIRN_ROLLBACK_WRONG_PREDICTION, 2},
        {{input(1, 5, 0), input(2, 6, 9)}, 2, CAIRN_ROLLBACK_OWN_INPUT, 1},
        {{input(1, 6, 3), input(2, 6, 9)}, 2, CAIRN_ROLLBACK_WRONG_PREDICTION, 1},
        {{input(1, 6, 0), leave}, 2, CAIRN_ROLLBACK_JOIN_LEAVE, 2},
        {{input(1, 5, 0), joins(4), input(2, 6, 0)}, 3, CAIRN_ROLLBACK_JOIN_LEAVE, 4},
        {{edit, input(1, 5, 0), leave}, 3, CAIRN_ROLLBACK_OPERATOR, CAIRN_SLOT_NONE}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const cairn_rollback_attribution attribution = cairn_rollback_attribution_find(
            &prediction, 11, 1, predicted, 2, rows[i].confirmed, rows[i].count);
        assert_int_equal(attribution.cause, rows[i].cause);
        assert_int_equal(attribution.slot, rows[i].slot);
    }
}

static const cairn_delay_controller_config usual = {.tick_ns = 1e9 / 60,
    .input_delay_first = 3,
    .predict_max = 8,
    .input_delay_fixed = CAIRN_DELAY_ADAPTIVE};

TEST("a longer path is met by delay first, then by prediction, then by more delay") {
    const struct {
        double need;
        uint32_t predict_max;
        uint32_t delay;
    } rows[] = {{0, 8, 0}, {0.2, 8, 1}, {3, 8, 3}, {3.1, 8, 3}, {11, 8, 3}, {11.2, 8, 4},
        {30, 8, 22}, {8, 2, 6}, {-1, 8, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(cairn_delay_controller_target(&usual, rows[i].need, rows[i].predict_max),
            rows[i].delay);
    }
    cairn_delay_controller_config fixed = usual;
    fixed.input_delay_fixed = 1;
    assert_int_equal(cairn_delay_controller_target(&fixed, 30, 8), 1);
}

// `need` changes by `wobble` ticks up and down with each call.
static void run_controller(
    cairn_delay_controller *controller, uint64_t *now_ns, double need, double wobble, int ms) {
    for (int i = 0; i < ms; i += 10) {
        *now_ns += 10000000;
        cairn_delay_controller_advance(
            controller, *now_ns, need + ((i / 10) % 2 == 0 ? wobble : -wobble), usual.predict_max);
    }
}

TEST("the delay follows a lasting need and ignores a wavering one") {
    cairn_delay_controller controller;
    uint64_t now_ns = 1000;
    cairn_delay_controller_start(&controller, &usual);
    run_controller(&controller, &now_ns, 6, 0, 10);
    assert_int_equal(controller.input_delay, 3);
    EXPECT_NEAR(controller.ahead, 3, 1e-9); // at once, because it is the first
    run_controller(&controller, &now_ns, 6, 0, 3000);
    const uint64_t changes = controller.changes;
    run_controller(&controller, &now_ns, 11, 0.6, 10000); // sometimes a tick more is needed
    assert_int_equal(controller.changes, changes);
    run_controller(&controller, &now_ns, 14, 0, 100);
    assert_int_equal(controller.input_delay, 3);
    run_controller(&controller, &now_ns, 14, 0, 200);
    assert_int_equal(controller.input_delay, 6);
    run_controller(
        &controller, &now_ns, 12.5, 0.6, 10000); // a tick less would do, but with none to spare
    assert_int_equal(controller.input_delay, 6);
    run_controller(&controller, &now_ns, 9, 0, 2900);
    assert_int_equal(controller.input_delay, 6);
    run_controller(&controller, &now_ns, 9, 0, 200);
    assert_int_equal(controller.input_delay, 3);
}

TEST("the predicted tick follows smoothly, and at once if it is far off") {
    cairn_delay_controller controller;
    uint64_t now_ns = 1000;
    cairn_delay_controller_start(&controller, &usual);
    run_controller(&controller, &now_ns, 4, 0, 3000);
    EXPECT_NEAR(controller.ahead, 1, 1e-9);
    run_controller(&controller, &now_ns, 9, 0, 100); // by a tenth of 100 ms: 0.6 ticks
    EXPECT_NEAR(controller.ahead, 1.6, 0.01);
    run_controller(&controller, &now_ns, 9, 0, 1000);
    EXPECT_NEAR(controller.ahead, 6, 1e-9);
    cairn_delay_controller_config fixed = usual;
    fixed.input_delay_fixed = 1;
    cairn_delay_controller_start(&controller, &fixed);
    run_controller(&controller, &now_ns, 4, 0, 10);
    run_controller(&controller, &now_ns, 40, 0, 10); // 600 ms off: at once
    EXPECT_NEAR(controller.ahead, 39, 1e-9);
    const double ahead = controller.ahead;
    cairn_delay_controller_advance(&controller, now_ns - 5000000, 39.5, 8); // the clock moved back
    EXPECT_NEAR(controller.ahead, ahead, 1e-9);
    cairn_delay_controller_advance(
        &controller, now_ns + UINT64_C(3600000000000), 40, 8); // an hour's pause
    EXPECT_NEAR(controller.ahead, 39, 1e-9);
}

static cairn_client_body body_at(float x) {
    return (cairn_client_body){.id = 5, .position = {x}, .rotation = {0, 0, 0, 1}};
}

// The offset at which a body is shown `ms` after a correction by `error`, in frames of `frame_ms`.
static float offset_after(float error, uint32_t frame_ms, uint32_t ms) {
    SCOPED(cairn_smoothing) smoothing;
    assert_int_equal(cairn_smoothing_create(&smoothing, 16), CAIRN_OK);
    cairn_smoothing_advance(&smoothing, CAIRN_NS_PER_S);
    const cairn_client_body was = body_at(2 + error);
    cairn_client_body now = body_at(2);
    const cairn_smoothing_step step = cairn_smoothing_add(&smoothing, &was, &now);
    EXPECT_NEAR(step.distance_m, fabsf(error), 1e-6);
    for (uint32_t t = frame_ms; t <= ms; t += frame_ms) {
        cairn_smoothing_advance(&smoothing, CAIRN_NS_PER_S + (uint64_t)t * 1000000);
    }
    cairn_smoothing_apply(&smoothing, &now, 1);
    return now.position[0] - 2;
}

TEST("an error decays by the published factors") {
    EXPECT_NEAR(offset_after(0.2f, 1, 0), 0.2, 1e-6); // shown where it was
    EXPECT_NEAR(offset_after(0.2f, 50, 50), 0.2 * pow(0.95, 3), 1e-4);
    EXPECT_NEAR(offset_after(0.2f, 100, 500), 0.2 * pow(0.95, 30), 1e-4);
    EXPECT_NEAR(offset_after(4.0f, 50, 50), 4 * pow(0.85, 3), 1e-3);
    EXPECT_NEAR(offset_after(-4.0f, 50, 50), -4 * pow(0.85, 3), 1e-3);
    const float between = offset_after(0.625f, 50, 50);
    assert_true(between > 0.625f * powf(0.9f, 3) && between < 0.625f * powf(0.92f, 3));
    EXPECT_NEAR(offset_after(1.0f, 1000, 10000), 0, 0);
}

TEST("the decay does not depend on the frame rate") {
    for (float error = 0.1f; error < 3.0f; error += 0.7f) {
        const float fine = offset_after(error, 1, 300);
        EXPECT_NEAR(offset_after(error, 10, 300), fine, 1e-5);
        EXPECT_NEAR(offset_after(error, 60, 300), fine, 1e-5);
        EXPECT_NEAR(offset_after(error, 300, 300), fine, 1e-5);
    }
}

TEST("a corrected rotation fades out the short way") {
    SCOPED(cairn_smoothing) smoothing;
    cairn_client_body was = body_at(0);
    cairn_client_body now = body_at(0);
    assert_int_equal(cairn_smoothing_create(&smoothing, 16), CAIRN_OK);
    was.rotation[1] = sinf(0.1f); // -0.2 rad about y, as the quaternion with negative w
    was.rotation[3] = -cosf(0.1f);
    const cairn_smoothing_step step = cairn_smoothing_add(&smoothing, &was, &now);
    EXPECT_NEAR(step.angle, 0.2, 1e-5);
    cairn_smoothing_apply(&smoothing, &now, 1);
    EXPECT_NEAR(fabsf(now.rotation[1]), sinf(0.1f), 1e-5);
    cairn_smoothing_advance(&smoothing, 51000000);
    now = body_at(0);
    cairn_smoothing_apply(&smoothing, &now, 1);
    EXPECT_NEAR(2 * asinf(fabsf(now.rotation[1])), 0.2 * pow(0.95, 3), 1e-3);
    assert_true(now.rotation[1] * now.rotation[3] < 0); // still in the direction of the error
}

TEST("a body that reused the index of a corrected one has no offset") {
    SCOPED(cairn_smoothing) smoothing;
    const cairn_client_body was = body_at(1);
    const cairn_client_body is = body_at(0);
    cairn_client_body other = body_at(0);
    assert_int_equal(cairn_smoothing_create(&smoothing, 16), CAIRN_OK);
    cairn_smoothing_add(&smoothing, &was, &is);
    other.id = 5 | 1u << 20;
    cairn_smoothing_apply(&smoothing, &other, 1);
    EXPECT_NEAR(other.position[0], 0, 0);
}

TEST("the last rollbacks are kept and all are counted") {
    static cairn_rollback_log rollbacks;
    cairn_client_rollback out[CAIRN_CLIENT_ROLLBACKS_HELD];
    assert_int_equal(cairn_rollback_log_read(&rollbacks, out, 8), 0);
    for (uint32_t i = 0; i < 100; i++) {
        const cairn_client_rollback rollback = {
            .tick_from = i, .ticks = 2, .cause = i % 2 == 0 ? CAIRN_ROLLBACK_RESYNC : 0};
        cairn_rollback_log_add(&rollbacks, &rollback);
    }
    assert_int_equal(rollbacks.count, 100);
    assert_int_equal(rollbacks.ticks, 200);
    assert_int_equal(rollbacks.by_cause[CAIRN_ROLLBACK_RESYNC], 50);
    assert_int_equal(cairn_rollback_log_read(&rollbacks, out, 3), 3);
    assert_int_equal(out[0].tick_from, 97);
    assert_int_equal(cairn_rollback_log_read(&rollbacks, out, 64), 64);
    assert_int_equal(out[0].tick_from, 36);
    assert_int_equal(out[63].tick_from, 99);
    for (uint32_t i = 0; i < CAIRN_ROLLBACK_CAUSE_COUNT; i++) {
        assert_non_null(cairn_client_rollback_cause_text(i));
    }
    assert_string_equal(cairn_client_rollback_cause_text(CAIRN_ROLLBACK_CAUSE_COUNT), "unknown");
}
