// SPDX-License-Identifier: MIT
// Bodies that break in a room: clients that simulate break them by the same rules, and those that
// do not are sent the shapes of the pieces, corners included.

#include "tests/kit/test.h"

#include "bridge/snapshot.h"
#include "tests/kit/rig.h"
#include <cairn/sim.h>

#define SHAPES_MAX 64

extern const cairn_rules example_fracture;

static void set_rules(cairn_server_config *config) {
    config->first_room.rules = &example_fracture;
}

// Bricks that fall one after the other, the last one six seconds after the first.
static const cairn_scene *scene_with_bricks(void) {
    return kit_scene(
        "{'name': 'bricks', 'rules': 'fracture', 'body_capacity': 64, 'shape_capacity': 64,"
        " 'hull_capacity': 64, 'contact_capacity': 512, 'bodies': ["
        "{'kind': 'static', 'shapes': [{'kind': 'half_space'}]},"
        "{'kind': 'dynamic', 'name': 'brittle', 'position': [0, 5, 0], 'shapes': ["
        "{'kind': 'box', 'half_extents': [0.4, 0.3, 0.2], 'hit_events': true}]},"
        "{'kind': 'dynamic', 'name': 'brittle', 'position': [3, 30, 0], 'shapes': ["
        "{'kind': 'box', 'half_extents': [0.4, 0.3, 0.2], 'hit_events': true}]},"
        "{'kind': 'dynamic', 'name': 'brittle', 'position': [6, 150, 0], 'shapes': ["
        "{'kind': 'cylinder', 'radius': 0.4, 'half_height': 0.3, 'hit_events': true}]}]}");
}

static void expect_same_shapes(const rig *r, uint32_t client) {
    const cairn_world *world = rig_server_world(r);
    cairn_client_shape shapes[SHAPES_MAX];
    cairn_shape_id ids[SHAPES_MAX];
    uint32_t hulls = 0;
    const uint32_t count = cairn_client_shapes(rig_client(r, client), shapes, SHAPES_MAX, NULL);
    assert_int_equal(count, cairn_world_shapes(world, ids, SHAPES_MAX));
    for (uint32_t i = 0; i < count; i++) {
        float corners[CAIRN_HULL_VERTICES_MAX][3];
        cairn_vec3 expected[CAIRN_HULL_VERTICES_MAX];
        assert_int_equal(shapes[i].id, ids[i]);
        const uint32_t corner_count = cairn_client_shape_corners(
            rig_client(r, client), shapes[i].id, corners, CAIRN_HULL_VERTICES_MAX);
        assert_int_equal(corner_count, cairn_shape_corners_read(world, shapes[i].id, expected));
        assert_memory_equal(corners, expected, corner_count * sizeof *expected);
        hulls += shapes[i].kind == CAIRN_SHAPE_HULL ? 1 : 0;
    }
    assert_true(hulls >= 10);
}

TEST("clients of every mode see the pieces of what breaks") {
    static const cairn_client_mode modes[] = {
        CAIRN_CLIENT_INTERPOLATE, CAIRN_CLIENT_LOCKSTEP, CAIRN_CLIENT_PREDICT, CAIRN_CLIENT_HEAL};
    RIG(r, .seed = 5, .scene = scene_with_bricks(), .configure = set_rules, .loss_permille = 20);
    for (uint32_t i = 0; i < 4; i++) {
        cairn_client_config config = rig_config(modes[i]);
        config.rules = &example_fracture;
        (void)rig_join(&r, &config, NULL);
    }
    rig_wait_to_play(&r);
    rig_run_ms(&r, 9000);
    for (uint32_t i = 0; i < 4; i++) {
        expect_playing(&r, i);
        expect_same_shapes(&r, i);
    }
    expect_no_difference(&r);
}
