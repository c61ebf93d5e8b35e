// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "server/replicate/view.h"
#include <cairn/rules.h>

static bool is_hidden;

static float hide_second(
    const cairn_world *world, const void *state, uint32_t slot, cairn_body_id body) {
    (void)world;
    (void)state;
    (void)slot;
    return is_hidden && cairn_id_index(body) == 1 ? 0.0f : 1.0f;
}

static void do_nothing(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)world;
    (void)state;
    (void)commands;
    (void)command_count;
}

// The player's own body at x, and another one 5 m from the origin.
static void take_snapshot(cairn_snapshot_frame *frame, uint64_t tick, float x) {
    frame->tick = tick;
    frame->tick_rate_hz = 60;
    frame->quantisation = cairn_quantisation_default();
    frame->gravity = (cairn_vec3){0.0f, -10.0f, 0.0f};
    frame->count = 0;
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_snapshot_body body = {.id = i + 1,
            .flags = i == 0 ? 1u << CAIRN_SNAPSHOT_BODY_OWNER_SHIFT : 0,
            .position = {i == 0 ? x : 5.0f, 0.0f, 0.0f},
            .rotation = {.w = 1.0f}};
        cairn_snapshot_frame_add(frame, &body, (cairn_vec3){0.1f, 0.1f, 0.1f});
    }
}

TEST("a body that was hidden is seen again where it is, without another search") {
    static const cairn_rules rules = {
        .name = "hide", .version = 1, .step = do_nothing, .relevance = hide_second};
    cairn_world_def def = cairn_world_def_default();
    cairn_room room = {.settings = {.view_distance_m = 20}};
    const cairn_session session = {.slot = 0};
    cairn_snapshot_frame frames[2];
    cairn_room_interest interest;
    cairn_view *view = cairn_view_create(2, NULL);
    def.rules = &rules;
    assert_non_null(view);
    assert_int_equal(cairn_world_create(&def, &room.world), CAIRN_OK);
    assert_true(cairn_room_interest_create(&interest, 2, 1));
    assert_int_equal(cairn_snapshot_frame_create(&frames[0], 2), CAIRN_OK);
    assert_int_equal(cairn_snapshot_frame_create(&frames[1], 2), CAIRN_OK);
    for (uint32_t i = 0; i < 6; ++i) {
        // The second time it has moved up and searches, while it holds the other one.
        take_snapshot(&frames[i % 2], 3 * i + 3, i == 0 ? 0.0f : 4.0f);
        cairn_room_interest_update(&interest, &frames[i % 2], i == 0 ? NULL : &frames[(i + 1) % 2]);
        is_hidden = i == 3;
        assert_true(cairn_view_update(view, &interest, &room, &session));
        assert_int_equal(cairn_view_shows(view, 2), i != 3);
    }
    cairn_view_destroy(view);
    cairn_room_interest_destroy(&interest);
    cairn_snapshot_frame_destroy(&frames[0]);
    cairn_snapshot_frame_destroy(&frames[1]);
    cairn_world_destroy(room.world);
}
