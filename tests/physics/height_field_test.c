// SPDX-License-Identifier: MIT
// Height fields: surfaces that are generated from samples on a grid. They obey the rules of meshes.

#include "tests/physics/ride_kit.h"

static cairn_mesh_id field_of(
    cairn_world *world, uint32_t side, float spacing, const float *heights) {
    const cairn_height_field_def def = {.heights = heights,
        .columns = side,
        .rows = side,
        .spacing_x = spacing,
        .spacing_z = spacing};
    cairn_mesh_id field = 0;
    EXPECT_OK(cairn_height_field_create(world, &def, &field));
    return field;
}

// The middle of the field is at the origin.
static cairn_pose centred(uint32_t side, float spacing) {
    const float half = 0.5f * spacing * (float)(side - 1);
    return (cairn_pose){.position = vec3(-half, 0.0f, -half), .rotation = quat_identity()};
}

static void flat_field(cairn_world *world) {
    static const float heights[61 * 61];
    const cairn_mesh_id field = field_of(world, 61, 0.3f, heights);
    mesh_body(world, CAIRN_BODY_STATIC, field, centred(61, 0.3f));
}

TEST("what rolls or slides over a flat height field does as on a plane") {
    ride_all(flat_field);
}

static float hill(float x, float z) {
    return 0.3f * sinf(0.9f * x) * cosf(0.7f * z) + 0.1f * sinf(2.3f * x + 1.7f * z);
}

static void hills(float heights[31 * 31]) {
    for (uint32_t i = 0; i < 31 * 31; ++i) {
        heights[i] = hill(0.4f * (float)(i % 31), 0.4f * (float)(i / 31));
    }
}

// The triangles of a height field as a mesh: the same scene plays the same on both, up to the order
// in which triangles come.
TEST("a height field is the mesh of its triangles") {
    float heights[31 * 31];
    hills(heights);
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *on_field = kit_world(&def);
    SCOPED(cairn_world) *on_mesh = kit_world(&def);
    cairn_world *const worlds[2] = {on_field, on_mesh};
    mesh_body(
        worlds[0], CAIRN_BODY_STATIC, field_of(worlds[0], 31, 0.4f, heights), pose_identity());
    SCOPED(mesh_grid) grid = mesh_grid_flat(31, 31, 0.4f);
    uint32_t *index = grid.indices;
    for (uint32_t i = 0; i < 31 * 31; ++i) {
        grid.vertices[i] = vec3(0.4f * (float)(i % 31), heights[i], 0.4f * (float)(i / 31));
    }
    for (uint32_t i = 0; i < 30 * 30; ++i) {
        const uint32_t a = i / 30 * 31 + i % 30;
        const uint32_t cell[6] = {a, a + 31, a + 32, a, a + 32, a + 1};
        for (uint32_t k = 0; k < 6; ++k) {
            *index++ = cell[k];
        }
    }
    mesh_ground(worlds[1], &grid);
    cairn_body_id bodies[2][12];
    for (uint32_t w = 0; w < 2; ++w) {
        for (uint32_t i = 0; i < 12; ++i) {
            cairn_body_def body = cairn_body_def_default();
            cairn_shape_def shape = ride_shape(worlds[w], (figure)(i % FIGURES), &body.rotation);
            const float x = 1.5f + 2.4f * (float)(i % 4);
            const float z = 1.5f + 2.4f * (float)(i / 4);
            body.position = vec3(x, hill(x, z) + 0.6f, z);
            bodies[w][i] = kit_body(worlds[w], &body, &shape);
        }
    }
    for (uint32_t tick = 0; tick < 26; ++tick) {
        cairn_world_step(worlds[0], NULL, 0);
        cairn_world_step(worlds[1], NULL, 0);
        for (uint32_t i = 0; i < 12; ++i) {
            const cairn_vec3 a = kit_read(worlds[0], bodies[0][i]).position;
            const cairn_vec3 b = kit_read(worlds[1], bodies[1][i]).position;
            assert_true(vec3_distance(a, b) < (i % FIGURES == BALL ? 1e-4f : 0.03f));
        }
    }
}

TEST("a ball falls through a hole, and its neighbour lies beside it") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    float heights[81] = {0.0f};
    heights[40] = CAIRN_HEIGHT_HOLE; // the cells around the middle
    mesh_body(world, CAIRN_BODY_STATIC, field_of(world, 9, 1.0f, heights), centred(9, 1.0f));
    const cairn_body_id through = kit_sphere(world, vec3(0.1f, 1.0f, 0.0f), 0.4f);
    const cairn_body_id beside = kit_sphere(world, vec3(2.1f, 1.0f, 0.0f), 0.4f);
    kit_run(world, 120);
    assert_true(kit_read(world, through).position.y < -5.0f);
    EXPECT_NEAR(kit_read(world, beside).position.y, 0.4f, 5e-3f);
}

TEST("boxes on a height field come to rest and sleep") {
    float heights[31 * 31];
    hills(heights);
    const cairn_world_def def = mesh_world_def();
    SCOPED(cairn_world) *world = kit_world(&def);
    mesh_body(world, CAIRN_BODY_STATIC, field_of(world, 31, 0.4f, heights), pose_identity());
    cairn_body_id bodies[36];
    for (uint32_t i = 0; i < 36; ++i) {
        const cairn_vec3 at =
            vec3(3.0f + 1.1f * (float)(i % 6), 1.2f, 3.0f + 1.1f * (float)(i / 6));
        bodies[i] = kit_box(world, at, vec3(0.3f, 0.25f, 0.4f), 1000.0f);
    }
    uint32_t awake = 1;
    for (uint32_t tick = 0; tick < 900 && awake > 0; ++tick) {
        cairn_world_step(world, NULL, 0);
        awake = cairn_world_counts_read(world).bodies_awake;
    }
    assert_int_equal(awake, 0);
    for (uint32_t i = 0; i < 36; ++i) {
        const cairn_vec3 at = kit_read(world, bodies[i]).position;
        assert_true(at.y > hill(at.x, at.z) + 0.1f);
    }
}
