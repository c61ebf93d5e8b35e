// SPDX-License-Identifier: MIT
// Convex hulls travel to clients of every mode with their corners.
#include "tests/kit/test.h"

#include <string.h>

#include "bridge/snapshot.h"
#include "tests/kit/rig.h"
#include <cairn/sim.h>

static const cairn_scene *scene_with_hulls(void) {
    return kit_scene("{'name': 'hulls', 'rules': 'sandbox', 'body_capacity': 32,"
                     " 'shape_capacity': 32, 'contact_capacity': 64, 'bodies': ["
                     "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
                     "{'kind': 'dynamic', 'position': [0, 2, 0], 'shapes': ["
                     "{'kind': 'hull', 'hull': 0}]},"
                     "{'kind': 'dynamic', 'position': [4, 2, 0], 'shapes': ["
                     "{'kind': 'box', 'half_extents': [0.5, 0.5, 0.5]}]}],"
                     " 'hulls': [{'points': [[-1, 0, -1], [1, 0, -1], [1, 0, 1],"
                     " [-1, 0, 1], [0, 1, 0]]}]}");
}

// The client lists the shapes of the server's world, each with its kind and corners.
static void expect_same_shapes(const rig *r, uint32_t client) {
    const cairn_world *world = cairn_server_world(r->system.server, CAIRN_ROOM_MAIN);
    cairn_client_shape shapes[32];
    uint32_t hulls = 0;
    const uint32_t count = cairn_client_shapes(rig_client(r, client), shapes, 32, NULL);
    assert_in_range(count, 3, 32);
    for (uint32_t i = 0; i < count; i++) {
        float corners[CAIRN_HULL_VERTICES_MAX][3];
        cairn_vec3 expected[CAIRN_HULL_VERTICES_MAX];
        const uint32_t corner_count = cairn_client_shape_corners(
            rig_client(r, client), shapes[i].id, corners, CAIRN_HULL_VERTICES_MAX);
        assert_int_equal(corner_count, cairn_shape_corners_read(world, shapes[i].id, expected));
        assert_memory_equal(corners, expected, corner_count * sizeof *expected);
        assert_int_equal(corner_count, shapes[i].kind == CAIRN_SHAPE_HULL ? 5 : 0);
        float one[1][3] = {{0}};
        assert_int_equal(
            cairn_client_shape_corners(rig_client(r, client), shapes[i].id, one, 1), corner_count);
        assert_memory_equal(one, corner_count > 0 ? corners : (float[1][3]){{0}}, sizeof one);
        hulls += shapes[i].kind == CAIRN_SHAPE_HULL ? 1 : 0;
    }
    assert_int_equal(hulls, 1);
}

TEST("a client of every mode has the corners of a hull") {
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_HEAL};
    RIG(r, .seed = 5, .scene = scene_with_hulls());
    for (uint32_t i = 0; i < 4; i++) {
        rig_join_mode(&r, modes[i]);
    }
    rig_wait_to_play(&r);
    rig_run_ms(&r, 500);
    for (uint32_t i = 0; i < 4; i++) {
        expect_same_shapes(&r, i);
    }
}

TEST("a shape that is not listed has no corners") {
    SCOPED(rig) r;
    float corners[CAIRN_HULL_VERTICES_MAX][3];
    rig_start(&r, .seed = 6, .scene = scene_with_hulls(), .clients = 1, .interpolating = 1);
    assert_int_equal(
        cairn_client_shape_corners(rig_client(&r, ALICE), 77, corners, CAIRN_HULL_VERTICES_MAX), 0);
}
