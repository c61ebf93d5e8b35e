// SPDX-License-Identifier: MIT
// Shapes of bodies that a client sees already.
#include "tests/kit/test.h"

#include "server/core/server_state.h"
#include "server/replicate/shapes.h"
#include "server/replicate/view.h"
#include "tests/server/story.h"

static story s; // too large for a stack

// Replaces the one of the server (CMakeLists.txt).
static bool memory_is_short;
cairn_view *__real_cairn_view_create(uint32_t body_capacity, const cairn_snapshot_frame *held);
cairn_view *__wrap_cairn_view_create(uint32_t body_capacity, const cairn_snapshot_frame *held);
cairn_view *__wrap_cairn_view_create(uint32_t body_capacity, const cairn_snapshot_frame *held) {
    return memory_is_short ? NULL : __real_cairn_view_create(body_capacity, held);
}

// The same.
static bool sends_nothing;
bool __real_cairn_shape_batch_send(const cairn_server_context *context, cairn_session *session,
    cairn_shapes_sent *sent, const cairn_shape_batch *batch);
bool __wrap_cairn_shape_batch_send(const cairn_server_context *context, cairn_session *session,
    cairn_shapes_sent *sent, const cairn_shape_batch *batch);
bool __wrap_cairn_shape_batch_send(const cairn_server_context *context, cairn_session *session,
    cairn_shapes_sent *sent, const cairn_shape_batch *batch) {
    return !sends_nothing && __real_cairn_shape_batch_send(context, session, sent, batch);
}

AFTER_EACH {
    story_end(&s);
}

TEST("a client is told when a body in its view gains or loses a shape, and nothing about other "
     "bodies") {
    cairn_server_config config = story_config();
    config.first_room.view_distance_m = 100;
    story_start(&s, &config);
    const story_client *client = &s.clients[story_join(&s, CAIRN_MODE_INTERPOLATE, false)];
    story_run_ms(&s, 1000);
    // Those of all bodies came together.
    assert_true(client->shapes_seen > 4);
    assert_int_equal(s.server->sessions[0].replication->shapes.messages, 1);
    cairn_world *world = s.server->rooms.rooms[0]->world;
    cairn_body_state bodies[STORY_BODIES_MAX];
    const uint32_t count = cairn_world_bodies(world, bodies, STORY_BODIES_MAX);
    assert_true(count > 3);
    cairn_shape_def def = cairn_shape_def_default();
    def.half_extents = (cairn_vec3){0.1f, 0.1f, 0.1f};
    for (uint32_t i = 1; i < count; ++i) {
        cairn_shape_id added;
        const uint32_t seen = client->shapes_seen;
        const uint32_t removed = client->shapes_removed;
        assert_int_equal(cairn_shape_create(world, bodies[i].id, &def, &added), CAIRN_OK);
        story_run_ms(&s, 200);
        assert_int_equal(client->shapes_seen, seen + 1);
        assert_int_equal(client->shapes_removed, removed);
        assert_int_equal(cairn_shape_destroy(world, added), CAIRN_OK);
        story_run_ms(&s, 200);
        assert_int_equal(client->shapes_seen, seen + 1);
        assert_int_equal(client->shapes_removed, removed + 1);
    }
    assert_int_equal(client->decode_failures, 0);
}

TEST("a client for whose view there is no memory is sent no snapshot, which is counted, until "
     "there is") {
    cairn_server_config config = story_config();
    config.first_room.view_distance_m = 100;
    story_start(&s, &config);
    memory_is_short = true;
    const story_client *client = &s.clients[story_join(&s, CAIRN_MODE_INTERPOLATE, false)];
    story_run_ms(&s, 1000);
    const uint64_t missed = story_statistics(&s).total.snapshots_too_large;
    assert_in_range(missed, 5, 100);
    assert_int_equal(client->parts, 0);
    memory_is_short = false;
    story_run_ms(&s, 1000);
    assert_int_equal(story_statistics(&s).total.snapshots_too_large, missed);
    assert_true(client->parts > 5);
}

TEST("all shapes of a body that leaves are taken back, and come again when it does") {
    cairn_server_config config = story_config();
    config.first_room.view_distance_m = 100;
    story_start(&s, &config);
    const story_client *client = &s.clients[story_join(&s, CAIRN_MODE_INTERPOLATE, false)];
    story_run_ms(&s, 1000);
    cairn_world *world = s.server->rooms.rooms[0]->world;
    cairn_body_state bodies[STORY_BODIES_MAX];
    assert_true(cairn_world_bodies(world, bodies, STORY_BODIES_MAX) > 3);
    const cairn_shape_def def = cairn_shape_def_default();
    for (uint32_t i = 0; i < 2; ++i) { // beside the one that it has
        cairn_shape_id added;
        assert_int_equal(cairn_shape_create(world, bodies[1].id, &def, &added), CAIRN_OK);
    }
    story_run_ms(&s, 300);
    const uint32_t seen = client->shapes_seen;
    const cairn_pose far = {.position = {300.0f, 5.0f, 0.0f}, .rotation = {.w = 1.0f}};
    assert_int_equal(cairn_body_set_pose(world, bodies[1].id, far), CAIRN_OK);
    story_run_ms(&s, 1500);
    assert_int_equal(client->shapes_removed, 3);
    sends_nothing = true;
    const cairn_pose back = {.position = {0.0f, 9.0f, 0.0f}, .rotation = {.w = 1.0f}};
    assert_int_equal(cairn_body_set_pose(world, bodies[1].id, back), CAIRN_OK);
    story_run_ms(&s, 500);
    assert_int_equal(client->shapes_seen, seen);
    sends_nothing = false; // there is memory again
    story_run_ms(&s, 500);
    assert_int_equal(client->shapes_seen, seen + 3);
    assert_int_equal(client->shapes_removed, 3);
    assert_int_equal(client->decode_failures, 0);
}
