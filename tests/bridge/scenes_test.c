// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "base/world_settings.h"
#include "bridge/scene_library.h"
#include "bridge/scene_world.h"
#include "tests/kit/scenes.h"

SCOPE_POINTER_ENDS(cairn_world, cairn_world_destroy)

static cairn_world *create_world(const cairn_scene *scene) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_world *world;
    if (cairn_scene_world_create(scene, NULL, &world, error) != CAIRN_OK) {
        fail_msg("%s: %s", scene->name, error);
    }
    return world;
}

static cairn_world *world_of_library(const char *name) {
    const cairn_scene_text *text = cairn_scene_library_find(name);
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    assert_non_null(text);
    if (cairn_scene_parse(text->json, text->size, &scene, error) != CAIRN_OK) {
        fail_msg("%s", error);
    }
    assert_string_equal(scene->name, name);
    cairn_world *world = create_world(scene);
    cairn_scene_destroy(scene);
    return world;
}

TEST("every built-in scene has the bodies and joints it states, and steps") {
    static const struct {
        const char *name;
        uint32_t bodies;
        uint32_t joints;
    } scenes[] = {{"empty", 1, 0}, {"stack10", 11, 0}, {"field", 257, 0}, {"cubes901", 902, 0},
        {"joints", 12, 8}, {"demo", 265, 1}, {"thousand", 1001, 0}, {"drum901", 903, 0}};
    uint32_t count;
    (void)cairn_scene_library(&count);
    assert_int_equal(count, sizeof scenes / sizeof scenes[0]);
    for (size_t i = 0; i < count; ++i) {
        SCOPED(cairn_world) *world = world_of_library(scenes[i].name);
        const cairn_world_counts counts = cairn_world_counts_read(world);
        assert_int_equal(counts.bodies, scenes[i].bodies);
        assert_int_equal(counts.joints, scenes[i].joints);
        cairn_world_step(world, NULL, 0);
        assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
        assert_int_equal(cairn_world_counters_read(world).contacts_dropped, 0);
    }
}

TEST("the joints of the built-in scenes have no error at the start") {
    static const char *const names[] = {"joints", "demo"};
    for (size_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = world_of_library(names[i]);
        for (cairn_joint_id joint = 1;; ++joint) {
            float error;
            if (cairn_joint_error(world, joint, &error) != CAIRN_OK) {
                assert_true(joint > 1);
                break;
            }
            assert_true(error < 1e-4f);
        }
    }
}

TEST("a grid runs along x then y then z") {
    SCOPED(cairn_world) *world = create_world(
        kit_scene("{'name': 'grid', 'bodies': [{'position': [1, 2, 3], 'grid_count': [2, 3, 2],"
                  " 'grid_spacing': [10, 20, 30], 'shapes': [{}]}]}"));
    cairn_body_state bodies[12];
    assert_int_equal(cairn_world_bodies(world, bodies, 12), 12);
    assert_true(bodies[1].position.x == 11.0f && bodies[1].position.y == 2.0f);
    assert_true(bodies[2].position.x == 1.0f && bodies[2].position.y == 22.0f);
    assert_true(bodies[6].position.y == 2.0f && bodies[6].position.z == 33.0f);
    assert_true(bodies[11].position.x == 11.0f && bodies[11].position.y == 42.0f);
}

TEST("shapes name the meshes and height fields of their scene") {
    SCOPED(cairn_world) *world = create_world(
        kit_scene("{'name': 'a', 'meshes': [{'vertices': [[0,0,0],[0,0,1],[1,0,0]],"
                  " 'indices': [0,1,2]}], 'height_fields': [{'heights': [0,1,2,3,4,1e30],"
                  " 'columns': 3, 'spacing_x': 2}], 'bodies': [{'kind': 'static', 'shapes':"
                  " [{'kind': 'height_field', 'mesh': 0}, {'kind': 'mesh', 'mesh': 0}]}]}"));
    cairn_mesh_id meshes[3];
    cairn_mesh_info info;
    float heights[6];
    assert_int_equal(cairn_world_meshes(world, meshes, 3), 2);
    assert_int_equal(cairn_mesh_info_read(world, meshes[0], &info), CAIRN_OK);
    assert_int_equal(info.triangle_count, 1);
    assert_int_equal(cairn_mesh_info_read(world, meshes[1], &info), CAIRN_OK);
    assert_int_equal(info.columns, 3);
    assert_int_equal(info.rows, 2);
    assert_true(info.spacing_x == 2.0f && info.spacing_z == 1.0f);
    assert_int_equal(cairn_height_field_read(world, meshes[1], heights), CAIRN_OK);
    assert_true(heights[4] == 4.0f && heights[5] == CAIRN_HEIGHT_HOLE);
    assert_int_equal(cairn_world_counts_read(world).shapes, 2);
}

TEST("shapes name the hulls of their scene") {
    SCOPED(cairn_world) *world = create_world(kit_scene(
        "{'name': 'a', 'hulls': [{'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.1,0.1,0.1]]},"
        "{'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,-1]]}], 'bodies': [{'grid_count':"
        " [3, 1, 1], 'shapes': [{'kind': 'hull', 'hull': 1}]}]}"));
    cairn_hull_id hulls[3];
    cairn_shape_id shapes[3];
    cairn_vec3 vertices[CAIRN_HULL_VERTICES_MAX];
    uint32_t count = 0;
    assert_int_equal(cairn_world_hulls(world, hulls, 3), 2);
    assert_int_equal(cairn_hull_read(world, hulls[0], vertices, &count), CAIRN_OK);
    assert_int_equal(count, 4);
    assert_int_equal(cairn_hull_read(world, hulls[1], vertices, &count), CAIRN_OK);
    assert_true(vertices[3].z == -1.0f);
    assert_int_equal(cairn_world_shapes(world, shapes, 3), 3);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_shape_def def;
        cairn_body_id body;
        assert_int_equal(cairn_shape_read(world, shapes[i], &def, &body), CAIRN_OK);
        assert_int_equal(def.kind, CAIRN_SHAPE_HULL);
        assert_int_equal(def.hull, hulls[1]);
    }
}

TEST("an empty scene is the default world") {
    const cairn_world_def ours = cairn_scene_world_def(kit_scene("{'name': 'a'}"), NULL);
    const cairn_world_def theirs = cairn_world_def_default();
#define SAME(name, ...) assert_memory_equal(&ours.name, &theirs.name, sizeof ours.name);
    CAIRN_WORLD_SETTINGS(SAME, SAME, SAME)
#undef SAME
    assert_true(ours.seed == theirs.seed && ours.rules == theirs.rules);
}

TEST("a scene that no world can hold is refused with a reason") {
    static const struct {
        const char *json;
        cairn_status status;
        const char *error;
    } rows[] = {{"{'name': 'a', 'rules': 'chess'}", CAIRN_NOT_FOUND,
                    "rules: no rules are named 'chess'; --rules FILE loads others than sandbox"},
        {"{'name': 'a', 'hulls': [{'points': [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}]}",
            CAIRN_INVALID_ARGUMENT, "hulls[0]: the points lie in a plane, or all but"},
        {"{'name': 'a', 'meshes': [{'vertices': [[0,0,0],[1,0,0],[0,1,0]], 'indices': [0,1,3]}]}",
            CAIRN_INVALID_ARGUMENT, "meshes[0]: an index is not that of a vertex"},
        {"{'name': 'a', 'height_fields': [{'heights': [0, 0], 'columns': 2}]}",
            CAIRN_INVALID_ARGUMENT, "height_fields[0]: a height field has at least 2 x 2 samples"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char error[CAIRN_SCENE_ERROR_SIZE];
        cairn_world *world;
        const cairn_status status =
            cairn_scene_world_create(kit_scene(rows[i].json), NULL, &world, error);
        assert_int_equal(status, rows[i].status);
        assert_null(world);
        assert_string_equal(error, rows[i].error);
    }
}
