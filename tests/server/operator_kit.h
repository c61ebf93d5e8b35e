// SPDX-License-Identifier: MIT
#pragma once

// A story of one operator for each test of a file, and what the tests of verbs ask all the time.

#include "tests/kit/test.h"

#include "tests/server/story.h"

static story s; // too large for a stack
static story_answer answer;

BEFORE_EACH {
    kit_start(&s, &answer);
}

AFTER_EACH {
    story_end(&s);
}

static const cairn_control_spawn_box_request box = {
    .position = {0.0f, 5.0f, 0.0f}, .half_extents = {0.5f, 0.5f, 0.5f}, .user = 42};

static inline void step(uint32_t count) {
    kit_do(&s, .verb = CAIRN_CONTROL_STEP, .step = {count});
}

static inline uint32_t spawn_box(void) {
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX, .spawn_box = box);
    assert_int_not_equal(answer.answer.edit.body, 0);
    return answer.answer.edit.body;
}

// The body is valid until the next answer.
static inline const cairn_control_body *get_body(uint32_t id) {
    kit_do(&s, .verb = CAIRN_CONTROL_GET, .get = {id});
    assert_int_equal(answer.answer.get.body.id, id);
    return &answer.answer.get.body;
}

static inline void expect_room_continues(void) {
    const uint64_t tick = story_tick(&s);
    assert_int_equal(kit_verb(&s, CAIRN_CONTROL_RESUME), CAIRN_CONTROL_DONE);
    story_run_ms(&s, 200);
    assert_true(story_tick(&s) >= tick + 10);
    assert_int_equal(s.clients[0].roots_wrong, 0);
}
