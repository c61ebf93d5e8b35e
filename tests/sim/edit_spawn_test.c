// SPDX-License-Identifier: MIT
// Edits that make bodies: shapes, compounds, meshes and height fields.

#include "tests/sim/edit_kit.h"

#include <math.h>
#include <string.h>

TEST("each shape that an operator may make has its size") {
    const cairn_vec3 x = vec3(0.5f, 0.0f, 0.0f);
    const cairn_vec3 xy = vec3(0.5f, 0.25f, 0.0f);
    const struct {
        uint32_t kind;
        cairn_vec3 size, rotation;
        cairn_status expected;
    } cases[] = {{CAIRN_SHAPE_BOX, half, xy, CAIRN_OK},
        {CAIRN_SHAPE_BOX, xy, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_SPHERE, x, zero, CAIRN_OK},
        {CAIRN_SHAPE_SPHERE, xy, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CAPSULE, xy, zero, CAIRN_OK},
        {CAIRN_SHAPE_CAPSULE, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CYLINDER, half, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CONE, xy, vec3(1e3f, -1e3f, 0.0f), CAIRN_OK},
        {CAIRN_SHAPE_CONE, xy, vec3(1.01e3f, 0.0f, 0.0f), CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_CONE, vec3(0.5f, NAN, 0.0f), zero, CAIRN_NON_FINITE},
        {CAIRN_SHAPE_HULL, zero, x, CAIRN_OK}, {CAIRN_SHAPE_HULL, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HALF_SPACE, zero, x, CAIRN_OK}, {CAIRN_SHAPE_MESH, zero, x, CAIRN_OK},
        {CAIRN_SHAPE_MESH, x, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HEIGHT_FIELD, zero, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HEIGHT_FIELD, vec3(0.5f, 0.25f, 2.0f), x, CAIRN_OK},
        {CAIRN_SHAPE_HEIGHT_FIELD, vec3(0.5f, 0.25f, 1.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HEIGHT_FIELD, vec3(0.5f, 0.25f, 2.5f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_SHAPE_HEIGHT_FIELD, vec3(0.5f, 0.25f, 2049.0f), zero, CAIRN_INVALID_ARGUMENT},
        {0, half, zero, CAIRN_INVALID_ARGUMENT}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        const cairn_command command =
            edit(CAIRN_COMMAND_SHAPE, cases[i].kind, cases[i].size, cases[i].rotation);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
    for (uint32_t points = 0; points < 4; ++points) {
        const cairn_command pair = edit(CAIRN_COMMAND_HULL_POINTS, points, half, x);
        const cairn_command one = edit(CAIRN_COMMAND_HULL_POINTS, points, half, zero);
        assert_int_equal(cairn_command_check(&pair) == CAIRN_OK, points == 2);
        assert_int_equal(cairn_command_check(&one) == CAIRN_OK, points == 1 || points == 2);
    }
}

TEST("triangles and heights fill a part from its first number on") {
    const struct {
        uint32_t kind, count;
        cairn_vec3 move, aim;
        cairn_status expected;
    } cases[] = {{CAIRN_COMMAND_TRIANGLES, 1, vec3(16777215.0f, 0.0f, 0.0f), zero, CAIRN_OK},
        {CAIRN_COMMAND_TRIANGLES, 1, vec3(16777216.0f, 0.0f, 0.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_TRIANGLES, 1, vec3(1.0f, 1.0f, 0.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_TRIANGLES, 1, vec3(0.5f, 0.0f, 0.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_TRIANGLES, 0, zero, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_TRIANGLES, 7, zero, zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_HEIGHTS, 6, vec3(1e4f, -1e4f, 0.0f), half, CAIRN_OK},
        {CAIRN_COMMAND_HEIGHTS, 5, zero, half, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_HEIGHTS, 1, vec3(CAIRN_HEIGHT_HOLE, 0.0f, 0.0f), zero, CAIRN_OK},
        {CAIRN_COMMAND_HEIGHTS, 1, vec3(2e4f, 0.0f, 0.0f), zero, CAIRN_INVALID_ARGUMENT},
        {CAIRN_COMMAND_HEIGHTS, 6, zero, vec3(0.0f, 0.0f, NAN), CAIRN_NON_FINITE}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        const cairn_command command =
            edit(cases[i].kind, cases[i].count, cases[i].move, cases[i].aim);
        if (cairn_command_check(&command) != cases[i].expected) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

TEST("a box and a sphere are spawned") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[] = {
        edit(CAIRN_COMMAND_SPAWN_BOX, 7, vec3(1.0f, 50.0f, 2.0f), vec3(0.25f, 0.5f, 1.0f)),
        edit(CAIRN_COMMAND_SPAWN_SPHERE, 8, vec3(9.0f, 50.0f, 2.0f), vec3(0.25f, 0.0f, 0.0f))};
    commands[1].sequence = 1;
    cairn_world_step(world, commands, 2);
    const cairn_body_state box = kit_read(world, 1);
    const cairn_body_state sphere = kit_read(world, 2);
    assert_int_equal(box.kind, CAIRN_BODY_DYNAMIC);
    assert_int_equal(box.user, 7);
    assert_int_equal(sphere.user, 8);
    assert_float_equal(box.position.x, 1.0f, 0.0f);
    assert_float_equal(sphere.position.x, 9.0f, 0.0f);
    assert_float_equal(cairn_body_mass(world, 1), 1000.0f, 0.1f);
    assert_float_equal(cairn_body_mass(world, 2), 65.45f, 0.1f);
}

// The volumes of the textbook, in m^3, times 1000 kg/m^3.
TEST("each shape is spawned with its mass and its rotation") {
    const float pi = 3.14159265f;
    const cairn_vec3 turn = vec3(0.0f, 0.0f, 0.5f * pi);
    const struct {
        uint32_t kind;
        cairn_vec3 size;
        float mass;
    } cases[] = {{CAIRN_SHAPE_BOX, vec3(0.25f, 0.5f, 1.0f), 1000.0f},
        {CAIRN_SHAPE_SPHERE, vec3(0.5f, 0.0f, 0.0f), 1000.0f * pi / 6.0f},
        {CAIRN_SHAPE_CAPSULE, vec3(0.5f, 1.0f, 0.0f), 1000.0f * pi * (0.5f + 1.0f / 6.0f)},
        {CAIRN_SHAPE_CYLINDER, vec3(0.5f, 1.0f, 0.0f), 1000.0f * pi * 0.5f},
        {CAIRN_SHAPE_CONE, vec3(0.5f, 1.0f, 0.0f), 1000.0f * pi / 6.0f}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_command commands[] = {edit(CAIRN_COMMAND_SHAPE, cases[i].kind, cases[i].size, turn),
            edit(CAIRN_COMMAND_SPAWN, 7, vec3(1.0f, 50.0f, 2.0f), zero)};
        step_all(world, commands, 2);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
        assert_float_equal(cairn_body_mass(world, 1), cases[i].mass, 1e-4f * cases[i].mass);
        const cairn_body_state body = kit_read(world, 1);
        assert_int_equal(body.user, 7);
        const cairn_vec3 y = quat_rotate(body.rotation, vec3(0.0f, 1.0f, 0.0f));
        assert_float_equal(y.x, -1.0f, 1e-5f);
    }
}

#define CUBE_POINTS 8

// A cube of 1 m with a ninth point inside, from five commands, then shape and body.
static uint32_t cube_hull(cairn_command *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < CUBE_POINTS; i += 2) {
        const float y = (i & 2u) != 0 ? 0.5f : -0.5f;
        const float z = (i & 4u) != 0 ? 0.5f : -0.5f;
        out[count++] = edit(CAIRN_COMMAND_HULL_POINTS, 2, vec3(-0.5f, y, z), vec3(0.5f, y, z));
    }
    out[count++] = edit(CAIRN_COMMAND_HULL_POINTS, 1, vec3(0.125f, 0.0f, 0.0f), zero);
    out[count++] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HULL, zero, zero);
    out[count++] = edit(CAIRN_COMMAND_SPAWN, 9, vec3(0.0f, 50.0f, 0.0f), zero);
    return count;
}

TEST("a hull is made from the points before its shape, and shared by equal ones") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[16];
    const uint32_t count = cube_hull(commands);
    step_all(world, commands, count);
    step_all(world, commands, count);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    assert_int_equal(cairn_world_hulls(world, NULL, 0), 1);
    assert_float_equal(cairn_body_mass(world, 1), 1000.0f, 0.1f);
    assert_float_equal(cairn_body_mass(world, 2), 1000.0f, 0.1f);
}

TEST("a half-space that is spawned is a floor") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[] = {edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HALF_SPACE, zero, zero),
        edit(CAIRN_COMMAND_SPAWN, 0, zero, zero),
        edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(0.0f, 0.6f, 0.0f), half)};
    step_all(world, commands, LENGTH_OF(commands));
    kit_run(world, 120);
    assert_int_equal(kit_read(world, 1).kind, CAIRN_BODY_STATIC);
    assert_float_equal(kit_read(world, 2).position.y, 0.5f, 0.01f);
}

TEST("parts that do not belong to the command after them are refused and counted") {
    const cairn_vec3 x = vec3(0.5f, 0.0f, 0.0f);
    const cairn_command sphere = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_SPHERE, x, zero);
    const cairn_command points = edit(CAIRN_COMMAND_HULL_POINTS, 2, half, x);
    const cairn_command hull = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HULL, zero, zero);
    const cairn_command spawn = edit(CAIRN_COMMAND_SPAWN, 0, zero, zero);
    const cairn_command joint = edit(CAIRN_COMMAND_JOINT, 1, zero, x);
    const cairn_command box = edit(CAIRN_COMMAND_SPAWN_BOX, 0, zero, half);
    const cairn_command join =
        edit(CAIRN_COMMAND_CREATE_JOINT, 1, zero, vec3(CAIRN_JOINT_BALL, 0.0f, 0.0f));
    const struct {
        cairn_command commands[3];
        uint32_t count;
    } cases[] = {{{spawn}, 1}, {{joint, spawn}, 2}, {{points, sphere, spawn}, 3},
        {{sphere, points, spawn}, 3}, {{sphere, box}, 2}, {{join}, 1}, {{sphere, join}, 2},
        {{joint, joint, join}, 3}, {{points, hull, spawn}, 3}, {{points, sphere, joint}, 3},
        {{hull, spawn}, 2}};
    for (size_t i = 0; i < LENGTH_OF(cases); ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_command commands[3];
        memcpy(commands, cases[i].commands, sizeof commands);
        step_all(world, commands, cases[i].count);
        const cairn_world_counts counts = cairn_world_counts_read(world);
        if (counts.bodies + counts.hulls != 0 ||
            cairn_world_counters_read(world).edits_refused != 1) {
            fail_msg("case %u", (unsigned)i);
        }
    }
}

TEST("a spawn for which there is no room leaves nothing behind") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 4;
    def.shape_capacity = 1;
    cairn_world *created = NULL;
    EXPECT_OK(cairn_world_create(&def, &created));
    SCOPED(cairn_world) *world = created;
    cairn_command commands[17] = {edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(9.0f, 9.0f, 9.0f), half)};
    const uint32_t count = 1 + cube_hull(&commands[1]);
    step_all(world, commands, count);
    assert_int_equal(cairn_world_counts_read(world).bodies, 1);
    assert_int_equal(cairn_world_counts_read(world).hulls, 0);
    assert_int_equal(cairn_world_counters_read(world).creates_refused, 1);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
}

// A dumbbell of two spheres and a hull across them: five commands of the hull, three shapes.
static uint32_t dumbbell(cairn_command *out) {
    const cairn_vec3 ball = vec3(0.5f, 0.0f, 0.0f);
    uint32_t count = cube_hull(out) - 2;
    out[count++] =
        edit(CAIRN_COMMAND_SHAPE_POSE, 0, vec3(0.0f, 2.0f, 0.0f), vec3(0.0f, 0.5f, 0.0f));
    out[count++] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HULL, zero, zero);
    out[count++] = edit(CAIRN_COMMAND_SHAPE_POSE, 0, vec3(3.0f, 0.0f, 0.0f), zero);
    out[count++] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_SPHERE, ball, zero);
    out[count++] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_SPHERE, ball, vec3(0.0f, 0.0f, 1.0f));
    out[count++] = edit(CAIRN_COMMAND_SPAWN, 9, vec3(0.0f, 50.0f, 0.0f), zero);
    return count;
}

TEST("several shapes with their poses make a compound") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[16];
    const uint32_t count = dumbbell(commands);
    step_all(world, commands, count);
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    cairn_shape_id ids[3];
    assert_int_equal(cairn_body_shapes(world, 1, ids, 3), 3);
    cairn_shape_def def;
    cairn_body_id body;
    EXPECT_OK(cairn_shape_read(world, ids[0], &def, &body));
    assert_true(def.kind == CAIRN_SHAPE_HULL && def.pose.position.y == 2.0f);
    assert_float_equal(def.pose.rotation.y, sinf(0.25f), 1e-6f);
    EXPECT_OK(cairn_shape_read(world, ids[1], &def, &body));
    assert_true(def.kind == CAIRN_SHAPE_SPHERE && def.pose.position.x == 3.0f);
    assert_float_equal(cairn_body_mass(world, 1), 1000.0f + 2.0f * 523.6f, 1.0f);
    const cairn_vec3 y = quat_rotate(kit_read(world, 1).rotation, vec3(0.0f, 1.0f, 0.0f));
    assert_float_equal(y.x, 0.0f - sinf(1.0f), 1e-5f);
    assert_int_equal(kit_read(world, 1).kind, CAIRN_BODY_DYNAMIC);
}

TEST("what is no compound leaves nothing behind") {
    cairn_command commands[16];
    const uint32_t count = dumbbell(commands);
    for (uint32_t i = 0; i < 4; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_command changed[16];
        memcpy(changed, commands, sizeof changed);
        if (i == 0) { // a rotation in another shape than the last one
            changed[count - 3].aim.x = 1.0f;
        } else if (i == 1) { // two poses
            changed[count - 3] = changed[count - 4];
        } else if (i == 2) { // a hull that is flat, after one that is not
            changed[count - 3] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HULL, zero, zero);
            changed[count - 4] = edit(CAIRN_COMMAND_HULL_POINTS, 2, zero, half);
        } else { // a pose without a shape
            changed[count - 2] = changed[count - 4];
        }
        step_all(world, changed, count);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
        assert_int_equal(cairn_world_counts_read(world).bodies, 0);
        assert_int_equal(cairn_world_counts_read(world).hulls, 0);
    }
}

// A floor of two triangles, 8 m square, from its vertices and triangles.
static uint32_t floor_mesh(cairn_command *out) {
    uint32_t count = 0;
    out[count++] =
        edit(CAIRN_COMMAND_HULL_POINTS, 2, vec3(-4.0f, 0.0f, -4.0f), vec3(-4.0f, 0.0f, 4.0f));
    out[count++] =
        edit(CAIRN_COMMAND_HULL_POINTS, 2, vec3(4.0f, 0.0f, 4.0f), vec3(4.0f, 0.0f, -4.0f));
    out[count++] = edit(CAIRN_COMMAND_TRIANGLES, 2,
        vec3(0.0f + 256.0f * 1.0f + 65536.0f * 2.0f, 0.0f + 256.0f * 2.0f + 65536.0f * 3.0f, 0.0f),
        zero);
    out[count++] = edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_MESH, zero, zero);
    out[count++] = edit(CAIRN_COMMAND_SPAWN, 9, zero, zero);
    return count;
}

static void expect_carries_box(cairn_world *world) {
    step(world, edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(1.0f, 0.6f, 1.5f), half));
    assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
    kit_run(world, 120);
    assert_int_equal(kit_read(world, 1).kind, CAIRN_BODY_STATIC);
    assert_float_equal(kit_read(world, 2).position.y, 0.5f, 0.02f);
}

TEST("a mesh that is spawned carries a box") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[8];
    step_all(world, commands, floor_mesh(commands));
    expect_carries_box(world);
    cairn_mesh_id mesh;
    cairn_mesh_info info;
    assert_int_equal(cairn_world_meshes(world, &mesh, 1), 1);
    EXPECT_OK(cairn_mesh_info_read(world, mesh, &info));
    assert_true(info.vertex_count == 4 && info.triangle_count == 2 && info.dropped_count == 0);
}

TEST("a height field that is spawned carries a box") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    cairn_command commands[] = {edit(CAIRN_COMMAND_HEIGHTS, 6, zero, zero),
        edit(CAIRN_COMMAND_HEIGHTS, 2, zero, zero),
        edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HEIGHT_FIELD, vec3(2.0f, 3.0f, 4.0f), zero),
        edit(CAIRN_COMMAND_SPAWN, 0, zero, zero)};
    step_all(world, commands, LENGTH_OF(commands));
    expect_carries_box(world);
    cairn_mesh_id mesh;
    cairn_mesh_info info;
    assert_int_equal(cairn_world_meshes(world, &mesh, 1), 1);
    EXPECT_OK(cairn_mesh_info_read(world, mesh, &info));
    assert_true(info.columns == 4 && info.rows == 2 && info.spacing_z == 3.0f);
}

TEST("what is no mesh and no height field leaves nothing behind") {
    for (uint32_t i = 0; i < 6; ++i) {
        SCOPED(cairn_world) *world = kit_world(NULL);
        cairn_command commands[8];
        uint32_t count = floor_mesh(commands);
        if (i == 0) { // a triangle of a vertex that there is not
            commands[2].move.x = 4.0f;
        } else if (i == 1) { // triangles of a hull
            commands[3].buttons = CAIRN_SHAPE_HULL;
        } else if (i == 2) { // no triangles
            commands[2] = commands[1];
        } else if (i == 3) { // heights of a mesh
            commands[0] = edit(CAIRN_COMMAND_HEIGHTS, 1, zero, zero);
        } else if (i == 4) { // points of a height field
            commands[3] =
                edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HEIGHT_FIELD, vec3(1.0f, 1.0f, 2.0f), zero);
        } else { // no whole rows
            commands[0] = edit(CAIRN_COMMAND_HEIGHTS, 5, zero, zero);
            commands[1] =
                edit(CAIRN_COMMAND_SHAPE, CAIRN_SHAPE_HEIGHT_FIELD, vec3(1.0f, 1.0f, 2.0f), zero);
            commands[2] = edit(CAIRN_COMMAND_SPAWN, 0, zero, zero);
            count = 3;
        }
        step_all(world, commands, count);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 1);
        assert_int_equal(cairn_world_counts_read(world).bodies, 0);
        assert_int_equal(cairn_world_meshes(world, NULL, 0), 0);
    }
}

TEST("a spawn in a full world leaves nothing behind") {
    for (uint32_t lacking = 0; lacking < 2; ++lacking) {
        cairn_world_def def = cairn_world_def_default();
        def.body_capacity = lacking == 0 ? 1 : 2;
        def.shape_capacity = lacking == 0 ? 2 : 1;
        SCOPED(cairn_world) *world = kit_world(&def);
        kit_sphere(world, zero, 0.5f);
        step(world, edit(CAIRN_COMMAND_SPAWN_BOX, 0, vec3(0.0f, 9.0f, 0.0f), half));
        assert_int_equal(cairn_world_counters_read(world).creates_refused, 1);
        assert_int_equal(cairn_world_counters_read(world).edits_refused, 0);
        assert_int_equal(cairn_world_counts_read(world).bodies, 1);
        assert_int_equal(cairn_world_counts_read(world).shapes, 1);
    }
}
