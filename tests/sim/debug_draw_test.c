// SPDX-License-Identifier: MIT

// The picture for developers: closed surfaces of the right size, outlines, boxes, contacts, joints,
// islands and sleep by colour, and the two forms of one picture.

#include "tests/sim/world_kit.h"

#include <cairn/debug_draw.h>
#include <stdlib.h>

enum { CAPACITY = 4096 };

static cairn_debug_line lines[CAPACITY];
static cairn_debug_triangle triangles[CAPACITY];

// By the divergence theorem; positive only if the corners run counter-clockwise seen from outside.
static double volume_of(const cairn_world *world) {
    const uint32_t count =
        cairn_world_debug_triangles(world, CAIRN_DEBUG_SURFACES, triangles, CAPACITY);
    double volume = 0.0;
    assert_in_range(count, 1, CAPACITY);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_vec3 *c = triangles[i].corners;
        volume += (double)vec3_dot(c[0], vec3_cross(c[1], c[2])) / 6.0;
    }
    return volume;
}

static uint32_t lines_of(const cairn_world *world, uint32_t parts) {
    const uint32_t count = cairn_world_debug_lines(world, parts, lines, CAPACITY);
    assert_in_range(count, 0, CAPACITY);
    return count;
}

static void expect_volume(const cairn_shape_def *shape, double wanted) {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_body_def body = cairn_body_def_default();
    body.position = vec3(1.0f, 2.0f, -1.0f);
    body.rotation = quat_normalize((cairn_quat){.x = 0.3f, .y = -0.2f, .z = 0.1f, .w = 1.0f});
    (void)kit_body(world, &body, shape);
    EXPECT_NEAR(volume_of(world), wanted, 0.08 * wanted);
    assert_true(lines_of(world, CAIRN_DEBUG_SHAPES) > 11);
}

TEST("surfaces are closed and seen from outside") {
    cairn_shape_def shape = cairn_shape_def_default();
    const double pi = 3.14159265;
    expect_volume(&shape, 1.0);
    shape.kind = CAIRN_SHAPE_SPHERE;
    expect_volume(&shape, pi / 6.0);
    shape.kind = CAIRN_SHAPE_CAPSULE;
    expect_volume(&shape, pi / 6.0 + pi / 4.0);
    shape.kind = CAIRN_SHAPE_CYLINDER;
    expect_volume(&shape, pi / 4.0);
    shape.kind = CAIRN_SHAPE_CONE;
    expect_volume(&shape, pi / 12.0);
}

TEST("hulls and meshes are drawn by their own edges") {
    const cairn_vec3 corners[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const uint32_t indices[3] = {0, 3, 1};
    const float heights[6] = {0, 0, CAIRN_HEIGHT_HOLE, 0, 0, 0};
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_def body = cairn_body_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    EXPECT_OK(cairn_hull_create(world, corners, 4, &shape.hull));
    (void)kit_body(world, &body, &shape);
    EXPECT_NEAR(volume_of(world), 1.0 / 6.0, 1e-4);
    assert_int_equal(lines_of(world, CAIRN_DEBUG_SHAPES), 6);
    const cairn_mesh_def mesh = {
        .vertices = corners, .vertex_count = 4, .indices = indices, .triangle_count = 1};
    const cairn_height_field_def field = {
        .heights = heights, .columns = 3, .rows = 2, .spacing_x = 1, .spacing_z = 1};
    body.kind = CAIRN_BODY_STATIC;
    shape.kind = CAIRN_SHAPE_MESH;
    EXPECT_OK(cairn_mesh_create(world, &mesh, &shape.mesh));
    (void)kit_body(world, &body, &shape);
    shape.kind = CAIRN_SHAPE_HEIGHT_FIELD;
    EXPECT_OK(cairn_height_field_create(world, &field, &shape.mesh));
    (void)kit_body(world, &body, &shape);
    // One triangle, and the two of the cell without a hole.
    assert_int_equal(lines_of(world, CAIRN_DEBUG_SHAPES), 6 + 3 + 6);
    assert_int_equal(cairn_world_debug_triangles(world, CAIRN_DEBUG_SURFACES, NULL, 0), 4 + 1 + 2);
}

TEST("boxes, contacts, joints and frames") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    (void)kit_ground(world);
    const cairn_body_id box = kit_cube(world, vec3(0, 0.5f, 0));
    const cairn_body_id other = kit_cube(world, vec3(3, 0.5f, 0));
    cairn_joint_def joint = cairn_joint_def_default();
    cairn_joint_id id = 0;
    joint.kind = CAIRN_JOINT_DISTANCE;
    joint.body_a = box;
    joint.body_b = other;
    joint.length = 3.0f;
    EXPECT_OK(cairn_joint_create(world, &joint, &id));
    assert_int_equal(lines_of(world, CAIRN_DEBUG_CONTACTS), 0);
    kit_run(world, 10);
    assert_int_equal(lines_of(world, CAIRN_DEBUG_BOXES), 24);
    for (uint32_t i = 0; i < 12; ++i) {
        assert_int_equal(lines[i].colour, CAIRN_DEBUG_COLOUR_BOX);
        assert_int_equal(lines[i].body, box);
        EXPECT_NEAR(vec3_distance(lines[i].from, lines[i].to), 1.0, 0.01);
    }
    assert_int_equal(lines_of(world, CAIRN_DEBUG_CONTACTS), 8 * 4);
    // 1000 kg on four points: 2450 N each, and the longest line.
    EXPECT_NEAR(vec3_distance(lines[3].from, lines[3].to), 1.0, 1e-3);
    assert_true(lines_of(world, CAIRN_DEBUG_JOINTS) >= 2);
    assert_int_equal(lines[0].colour, CAIRN_DEBUG_COLOUR_JOINT);
    assert_int_equal(lines_of(world, CAIRN_DEBUG_FRAMES), 3 * 3);
    assert_int_equal(lines[3].colour, 0xff0000);
    assert_int_equal(lines[4].colour, 0x00ff00);
}

TEST("the reaction of a joint is a line from its anchor along the force") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id ground = kit_ground(world);
    const cairn_body_id hung = kit_cube(world, vec3(0, 2, 0));
    cairn_joint_def def = cairn_joint_def_default();
    def.body_a = ground;
    def.body_b = hung;
    def.anchor_a = vec3(0, 3, 0);
    def.anchor_b = vec3(0, 1, 0);
    cairn_joint_id joint;
    EXPECT_OK(cairn_joint_create(world, &def, &joint));
    kit_run(world, 60);
    assert_int_equal(lines_of(world, CAIRN_DEBUG_REACTIONS), 1); // a ball joint has no torque
    assert_int_equal(lines[0].colour, CAIRN_DEBUG_COLOUR_FORCE);
    EXPECT_NEAR(vec3_distance(lines[0].from, vec3(0, 3, 0)), 0.0, 1e-3);
    // It holds the weight, which is more than the longest line.
    EXPECT_NEAR(vec3_distance(lines[0].to, vec3(0, 4, 0)), 0.0, 1e-2);
}

static uint32_t colour_of(const cairn_world *world, uint32_t parts, cairn_body_id body) {
    const uint32_t count = lines_of(world, parts);
    for (uint32_t i = 0; i < count; ++i) {
        if (lines[i].body == body) {
            return lines[i].colour;
        }
    }
    fail_msg("body %u is not drawn", body);
    return 0;
}

TEST("colours say what state a body is in and which island it belongs to") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    const cairn_body_id ground = kit_ground(world);
    const cairn_body_id low = kit_cube(world, vec3(0, 0.5f, 0));
    const cairn_body_id high = kit_cube(world, vec3(0, 1.5f, 0));
    const cairn_body_id alone = kit_cube(world, vec3(5, 0.5f, 0));
    kit_run(world, 5);
    const uint32_t islands = CAIRN_DEBUG_SHAPES | CAIRN_DEBUG_ISLANDS;
    assert_int_equal(colour_of(world, CAIRN_DEBUG_SHAPES, ground), CAIRN_DEBUG_COLOUR_STATIC);
    assert_int_equal(colour_of(world, CAIRN_DEBUG_SHAPES, low), CAIRN_DEBUG_COLOUR_AWAKE);
    assert_int_equal(colour_of(world, islands, low), colour_of(world, islands, high));
    assert_int_not_equal(colour_of(world, islands, low), colour_of(world, islands, alone));
    assert_int_equal(colour_of(world, islands, ground), CAIRN_DEBUG_COLOUR_STATIC);
    EXPECT_OK(cairn_body_set_awake(world, alone, false));
    assert_int_equal(colour_of(world, islands, alone), CAIRN_DEBUG_COLOUR_ASLEEP);
    EXPECT_OK(cairn_body_set_enabled(world, alone, false));
    assert_int_equal(colour_of(world, islands, alone), CAIRN_DEBUG_COLOUR_DISABLED);
}

typedef struct seen {
    uint32_t lines;
    uint32_t triangles;
} seen;

static void see_line(void *context, const cairn_debug_line *line) {
    seen *s = context;
    assert_memory_equal(line, &lines[s->lines], sizeof *line);
    s->lines += 1;
}

static void see_triangle(void *context, const cairn_debug_triangle *triangle) {
    seen *s = context;
    assert_memory_equal(triangle, &triangles[s->triangles], sizeof *triangle);
    s->triangles += 1;
}

TEST("callbacks and arrays have the same picture, and the world is unchanged") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    (void)kit_ground(world);
    (void)kit_cube(world, vec3(0, 0.5f, 0));
    (void)kit_sphere(world, vec3(3, 0.5f, 0), 0.5f);
    kit_run(world, 10);
    const cairn_world_hash before = cairn_world_hash_read(world);
    const uint32_t line_count = lines_of(world, CAIRN_DEBUG_ALL);
    const uint32_t triangle_count =
        cairn_world_debug_triangles(world, CAIRN_DEBUG_ALL, triangles, CAPACITY);
    seen s = {0, 0};
    const cairn_debug_draw draw = {
        .parts = CAIRN_DEBUG_ALL, .context = &s, .line = see_line, .triangle = see_triangle};
    cairn_world_debug_draw(world, &draw);
    assert_int_equal(s.lines, line_count);
    assert_int_equal(s.triangles, triangle_count);
    assert_int_equal(cairn_world_debug_lines(world, CAIRN_DEBUG_ALL, lines, 3), line_count);
    assert_true(cairn_hash_equal(before.full, cairn_world_hash_read(world).full));
}
