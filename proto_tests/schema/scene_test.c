// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "tests/kit/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/world_settings.h"
#include "schema/scene.h"

SCOPE_POINTER_ENDS(cairn_scene, cairn_scene_destroy)

// Parses a text in which ' stands for ".
static cairn_status parse(const char *json, cairn_scene **out, char error[CAIRN_SCENE_ERROR_SIZE]) {
    char quoted[4096];
    const size_t size = strlen(json);
    assert_true(size < sizeof quoted);
    for (size_t i = 0; i < size; ++i) {
        quoted[i] = json[i] == '\'' ? '"' : json[i];
    }
    return cairn_scene_parse(quoted, size, out, error);
}

static cairn_scene *parse_good(const char *json) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene;
    if (parse(json, &scene, error) != CAIRN_OK) {
        fail_msg("%s", error);
    }
    assert_string_equal(error, "");
    return scene;
}

TEST("a field that a scene leaves out has its default") {
    SCOPED(cairn_scene) *scene = parse_good("{'name': 'a', 'bodies': [{'shapes': [{}]}]}");
    assert_string_equal(scene->name, "a");
    assert_string_equal(scene->rules, "");
    assert_int_equal(scene->world.tick_rate_hz, 60);
    assert_true(scene->world.gravity.x == 0.0f && scene->world.gravity.y == -9.81f);
    const cairn_world_def def = cairn_world_def_default();
#define SCALAR(name, initial, lower, upper) assert_true(scene->world.name == def.name);
#define VEC3(name, a, b, c, limit) assert_memory_equal(&scene->world.name, &def.name, 12);
    CAIRN_WORLD_SETTINGS(SCALAR, SCALAR, VEC3)
    assert_true(scene->world.seed == def.seed);
    assert_int_equal(scene->body_count, 1);
    assert_int_equal(scene->bodies[0].def.kind, 2);
    assert_true(scene->bodies[0].def.rotation.w == 1.0f);
    assert_int_equal(scene->bodies[0].grid_count[1], 1);
    assert_int_equal(scene->shape_count, 1);
    assert_int_equal(scene->shapes[0].def.kind, 3);
    assert_true(scene->shapes[0].def.half_extents.z == 0.5f);
    assert_true(scene->shapes[0].def.mask == UINT32_MAX);
}

TEST("the shapes of all bodies are in one list") {
    SCOPED(cairn_scene) *scene =
        parse_good("{'name': 'a', 'bodies': [{'shapes': [{}, {'kind': 'sphere'}]}, {},"
                   " {'shapes': [{'kind': 'capsule'}]}],"
                   " 'joints': [{'kind': 'distance', 'body_b': 2, 'anchor_a': [1, 2, 3]}]}");
    assert_int_equal(scene->bodies[0].shape_count, 2);
    assert_int_equal(scene->bodies[1].shape_count, 0);
    assert_int_equal(scene->bodies[2].first_shape, 2);
    assert_int_equal(scene->shapes[2].def.kind, 2);
    assert_int_equal(scene->joints[0].def.kind, 2);
    assert_true(scene->joints[0].def.anchor_a.z == 3.0f);
}

TEST("a shape may be a sensor or ask for events, a world has a threshold for them") {
    SCOPED(cairn_scene) *scene =
        parse_good("{'name': 'a', 'event_capacity': 7, 'hit_threshold': 2.5, 'bodies': [{'shapes':"
                   " [{}, {'sensor': true}, {'hit_events': true},"
                   " {'sensor': true, 'hit_events': true}, {'contact_events': true}]}]}");
    assert_int_equal(scene->world.event_capacity, 7);
    assert_true(scene->world.hit_threshold == 2.5f);
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(scene->shapes[i].def.flags, i);
    }
}

TEST("a joint has its axes and limits") {
    SCOPED(cairn_scene) *scene =
        parse_good("{'name': 'a', 'solver': 'pgs', 'substeps': 8, 'joint_hertz': 30,"
                   " 'bodies': [{}, {}], 'joints': [{'kind': 'hinge', 'body_b': 1},"
                   " {'kind': 'cone', 'body_b': 1, 'axis_a': [0, 0, 1], 'cone': 0.5,"
                   " 'limited': true, 'lower': -0.25, 'upper': 1}]}");
    assert_int_equal(scene->world.solver, 1);
    assert_int_equal(scene->world.substeps, 8);
    assert_true(scene->world.joint_hertz == 30.0f && scene->world.contact_hertz == 42.0f);
    const cairn_joint_def *hinge = &scene->joints[0].def;
    assert_int_equal(hinge->kind, 3);
    assert_true(hinge->axis_a.x == 1.0f && hinge->axis_b.x == 1.0f);
    assert_true(hinge->normal_a.y == 1.0f && hinge->normal_b.y == 1.0f);
    assert_int_equal(hinge->limited, 0);
    const cairn_joint_def *cone = &scene->joints[1].def;
    assert_int_equal(cone->kind, 4);
    assert_true(cone->axis_a.z == 1.0f && cone->axis_a.x == 0.0f && cone->cone == 0.5f);
    assert_true(cone->lower == -0.25f && cone->upper == 1.0f && cone->limited == 1);
}

TEST("a joint has its springs, motors and break forces") {
    SCOPED(cairn_scene) *scene = parse_good(
        "{'name': 'a', 'bodies': [{}, {}], 'joints': ["
        " {'kind': 'prismatic', 'body_b': 1, 'spring': true, 'spring_hertz': 2, 'target': 0.5,"
        "  'motor': true, 'motor_speed': -3, 'motor_force': 7, 'limited': true, 'upper': 4},"
        " {'kind': 'wheel', 'body_b': 1, 'steering': true, 'steering_target': 0.25},"
        " {'kind': 'motor', 'body_b': 1, 'hertz': 3, 'target_position': [1, 2, 3],"
        "  'target_rotation': [0, 1, 0, 0], 'motor_torque': 9},"
        " {'kind': 'pulley', 'body_b': 1, 'ratio': 2, 'fixed_a': [0, 9, 0], 'length': 8},"
        " {'kind': 'row', 'body_b': 1, 'row_linear_b': [0, 1, 0], 'row_upper': 5},"
        " {'kind': 'weld', 'body_b': 1, 'break_torque': 6, 'disabled': true},"
        " {'kind': 'gear', 'body_b': 1, 'ratio': -3}, {'kind': 'ball', 'body_b': 1}]}");
    const cairn_joint_def *prismatic = &scene->joints[0].def;
    assert_true(prismatic->spring == 1 && prismatic->spring_hertz == 2.0f);
    assert_true(prismatic->spring_damping == 1.0f && prismatic->target == 0.5f);
    assert_true(prismatic->motor == 1 && prismatic->motor_speed == -3.0f);
    assert_true(prismatic->motor_force == 7.0f && prismatic->upper == 4.0f);
    const cairn_joint_def *wheel = &scene->joints[1].def;
    assert_true(wheel->steering == 1 && wheel->steering_target == 0.25f);
    assert_true(wheel->steering_hertz == 10.0f && wheel->steering_torque == CAIRN_FORCE_MAX);
    const cairn_joint_def *motor = &scene->joints[2].def;
    assert_true(motor->hertz == 3.0f && motor->target_position.z == 3.0f);
    assert_true(motor->target_rotation.y == 1.0f && motor->motor_torque == 9.0f);
    const cairn_joint_def *pulley = &scene->joints[3].def;
    assert_true(pulley->ratio == 2.0f && pulley->fixed_a.y == 9.0f && pulley->length == 8.0f);
    const cairn_joint_row *row = &scene->joints[4].def.row;
    assert_true(row->linear_b.y == 1.0f && row->upper == 5.0f && row->lower == 0.0f);
    const cairn_joint_def *weld = &scene->joints[5].def;
    assert_true(weld->breakable == 1 && weld->break_torque == 6.0f && weld->disabled == 1);
    assert_true(weld->break_force == CAIRN_FORCE_MAX);
    assert_true(scene->joints[6].def.ratio == -3.0f);
    assert_int_equal(scene->joints[7].def.breakable, 0);
    assert_true(scene->joints[7].def.target_rotation.w == 1.0f);
}

TEST("a number becomes the nearest float") {
    SCOPED(cairn_scene) *scene =
        parse_good("{'name': 'a', 'gravity': [1e-45, -0.0, 0.1],"
                   " 'seed': 18446744073709551615, 'slop': 0.500000029802322387695312500000001}");
    assert_true(scene->world.gravity.x == 0x1p-149f);
    assert_false(1.0f / scene->world.gravity.y < 0.0f); // no -0 enters a world
    assert_true(scene->world.gravity.z == 0x1.99999ap-4f);
    assert_true(scene->world.slop == 0x1.000002p-1f); // just above half way
    assert_true(scene->world.seed == UINT64_MAX);
}

#ifdef CAIRN_COMMA_LOCALE // the folder with the locale that CMakeLists.txt makes
TEST("a locale with a decimal comma does not matter") {
    assert_int_equal(setenv("LOCPATH", CAIRN_COMMA_LOCALE, 1), 0);
    assert_non_null(setlocale(LC_ALL, "comma"));
    assert_true(strtod("0,25", NULL) == 0.25);
    SCOPED(cairn_scene) *scene = parse_good("{'name': 'a', 'slop': 0.25}");
    setlocale(LC_ALL, "C");
    assert_true(scene->world.slop == 0.25f);
}
#endif

TEST("bodies, shapes and joints have names and user words") {
    SCOPED(cairn_scene) *scene =
        parse_good("{'name': 'a', 'bodies': [{'name': 'ball', 'user': 1, 'shapes': [{'name': "
                   "'skin', 'user': 2}]},"
                   "{}], 'joints': [{'body_b': 1, 'name': 'rope', 'user': 3}]}");
    assert_int_equal(scene->bodies[0].def.name, cairn_name_hash("ball"));
    assert_int_equal(scene->bodies[0].def.user, 1);
    assert_int_equal(scene->bodies[1].def.name, 0);
    assert_int_equal(scene->shapes[0].def.name, cairn_name_hash("skin"));
    assert_int_equal(scene->shapes[0].def.user, 2);
    assert_int_equal(scene->joints[0].def.name, cairn_name_hash("rope"));
    assert_int_equal(scene->joints[0].def.user, 3);
}

#define SHAPE(fields) "{'name': 'a', 'bodies': [{}, {'shapes': [{" fields "}]}]}"
#define BODY(fields) "{'name': 'a', 'bodies': [{" fields "}]}"
#define SETTING(fields) "{'name': 'a', " fields "}"
#define JOINT(fields)                                                                              \
    "{'name': 'a', 'bodies': [{'grid_count': [2, 1, 1]}], 'joints': [{" fields "}]}"

enum {
    INVALID = CAIRN_INVALID_ARGUMENT,
    MALFORMED = CAIRN_MALFORMED,
    NON_FINITE = CAIRN_NON_FINITE,
    CAPACITY = CAIRN_CAPACITY
};

// Rows whose error begins with the path of the object that the fields belong to.
#define BODY_ROW(fields, status, error)                                                            \
    { BODY(fields), status, "bodies[0]." error }
#define SHAPE_ROW(fields, status, error)                                                           \
    { SHAPE(fields), status, "bodies[1].shapes[0]." error }
#define JOINT_ROW(fields, status, error)                                                           \
    { JOINT(fields), status, "joints[0]." error }

static const struct {
    const char *json;
    int status;
    const char *error;
} refusals[] = {
    // The text.
    {"", MALFORMED, "line 1, column 0: input file is empty"},
    {"{\n 'name': 'a',\n 'colour': 1}", MALFORMED, "line 3, column 12: unknown field: colour"},
    {"{}", MALFORMED, "line 1, column 2: required field is missing: name in Scene"},
    {"{'name': 'a',}", MALFORMED, "line 1, column 14: expecting: string constant instead got: }"},
    {"{'name': 'a'} 1", MALFORMED,
        "line 1, column 15: expecting: end of file instead got: integer constant"},
    {"{'name': 'a',\n 'slop': sin(1)}", MALFORMED, "line 2, column 13: functions are not allowed"},
    {SETTING("'slop': '1,5'"), MALFORMED, "line 1, column 28: invalid number: \"1,5\""},
    {SETTING("'seed': -1"), MALFORMED,
        "line 1, column 25: invalid number: \"-1\", constant does not fit [0; "
        "18446744073709551615]"},
    {SETTING("'gravity': [0, 1]"), MALFORMED,
        "line 1, column 32: wrong number of unnamed fields in table vector"},
    {BODY("'kind': 'heavy'"), MALFORMED, "line 1, column 41: unknown enum value: heavy"},
    {"{'name': 'a'} / sin(1)", MALFORMED,
        "line 1, column 20: functions are not allowed"}, // one slash does not begin a comment
    // The settings.
    {SETTING("'rules': 'a\\tb'"), INVALID, "rules: must be printable ASCII"},
    {"{'name': ''}", INVALID, "name: must not be empty"},
    {"{'name': 'a\\u0000b'}", INVALID, "name: must be at most 31 characters of ASCII"},
    {"{'name': 'a\\nb'}", INVALID, "name: must be printable ASCII"},
    {"{'name': 'abcdefghijklmnopqrstuvwxyz123456'}", INVALID,
        "name: must be at most 31 characters of ASCII"},
    {SETTING("'body_capacity': 131073"), INVALID,
        "body_capacity: must be in [1, 131072], is 131073"},
    {SETTING("'shape_capacity': 0"), INVALID, "shape_capacity: must be in [1, 131072], is 0"},
    {SETTING("'joint_capacity': 65537"), INVALID,
        "joint_capacity: must be in [0, 65536], is 65537"},
    {SETTING("'contact_capacity': 0"), INVALID, "contact_capacity: must be in [1, 1048576], is 0"},
    {SETTING("'tick_rate_hz': 241"), INVALID, "tick_rate_hz: must be in [10, 240], is 241"},
    {SETTING("'gravity': [0, 1e999, 0]"), NON_FINITE, "gravity.y: must be a finite number"},
    {SETTING("'iterations': 256"), INVALID, "iterations: must be in [1, 255], is 256"},
    {SETTING("'friction_model': 2"), INVALID, "friction_model: must be in [0, 1], is 2"},
    {SETTING("'solver': 2"), INVALID, "solver: must be in [0, 1], is 2"},
    {SETTING("'substeps': 0"), INVALID, "substeps: must be in [1, 64], is 0"},
    {SETTING("'substeps': 65"), INVALID, "substeps: must be in [1, 64], is 65"},
    {SETTING("'contact_hertz': 0"), INVALID, "contact_hertz: must be in [1e-06, 1000], is 0"},
    {SETTING("'contact_damping': -1"), INVALID, "contact_damping: must be in [0, 100], is -1"},
    {SETTING("'joint_hertz': 1001"), INVALID, "joint_hertz: must be in [1e-06, 1000], is 1001"},
    {SETTING("'joint_damping': nan"), NON_FINITE, "joint_damping: must be a finite number"},
    {SETTING("'baumgarte': 1.5"), INVALID, "baumgarte: must be in [1e-06, 1], is 1.5"},
    {SETTING("'slop': nan"), NON_FINITE, "slop: must be a finite number"},
    {SETTING("'restitution_threshold': -1"), INVALID,
        "restitution_threshold: must be in [0, 10000], is -1"},
    {SETTING("'sleep_speed': -1"), INVALID, "sleep_speed: must be in [0, 10000], is -1"},
    {SETTING("'limit_damping': nan"), NON_FINITE, "limit_damping: must be a finite number"},
    // Bodies.
    BODY_ROW("'kind': 3", INVALID, "kind: must be in [0, 2], is 3"),
    BODY_ROW(
        "'position': [0, 0, 1e6]", INVALID, "position.z: must be in [-100000, 100000], is 1e+06"),
    BODY_ROW("'rotation': [0, 0, 0, 0]", INVALID, "rotation: must be of length 1"),
    BODY_ROW("'rotation': [nan, 0, 0, 1]", NON_FINITE, "rotation: must be finite numbers"),
    BODY_ROW("'linear_velocity': [10001, 0, 0]", INVALID,
        "linear_velocity.x: must be in [-10000, 10000], is 10001"),
    BODY_ROW("'angular_velocity': [0, inf, 0]", NON_FINITE,
        "angular_velocity.y: must be a finite number"),
    BODY_ROW("'linear_damping': -1", INVALID, "linear_damping: must be in [0, 1e+06], is -1"),
    BODY_ROW("'grid_count': [1, 0, 1]", INVALID, "grid_count.y: must be in [1, 1024], is 0"),
    BODY_ROW("'grid_count': [3, 1, 1], 'grid_spacing': [60000, 0, 0]", INVALID,
        "grid_spacing, last body.x: must be in [-100000, 100000], is 120000"),
    {BODY("'grid_count': [1024, 1024, 1024]"), CAPACITY,
        "bodies, grids unrolled: must be in [0, 1024], is 1073741824"},
    {BODY("'grid_count': [600, 1, 1], 'shapes': [{}, {}]"), CAPACITY,
        "shapes, grids unrolled: must be in [0, 1024], is 1200"},
    BODY_ROW("'angular_damping': -1", INVALID, "angular_damping: must be in [0, 1e+06], is -1"),
    BODY_ROW("'gravity_scale': inf", NON_FINITE, "gravity_scale: must be a finite number"),
    BODY_ROW("'grid_count': [0, 1, 1]", INVALID, "grid_count.x: must be in [1, 1024], is 0"),
    BODY_ROW("'grid_count': [1, 1, 1025]", INVALID, "grid_count.z: must be in [1, 1024], is 1025"),
    BODY_ROW("'grid_spacing': [0, 2e5, 0]", INVALID,
        "grid_spacing.y: must be in [-100000, 100000], is 200000"),
    // Shapes.
    SHAPE_ROW("'kind': 0", INVALID, "kind: must be in [1, 9], is 0"),
    SHAPE_ROW("'kind': 'half_space'", INVALID, "kind: may be half_space only on a static body"),
    SHAPE_ROW(
        "'kind': 'sphere', 'radius': -1", INVALID, "radius: must be in [0.001, 10000], is -1"),
    SHAPE_ROW("'kind': 'capsule', 'half_height': 0", INVALID,
        "half_height: must be in [0.001, 10000], is 0"),
    SHAPE_ROW(
        "'half_extents': [1, 1, 0]", INVALID, "half_extents.z: must be in [0.001, 10000], is 0"),
    SHAPE_ROW("'half_extents': [1e5, 1, 1]", INVALID,
        "half_extents.x: must be in [0.001, 10000], is 100000"),
    SHAPE_ROW(
        "'half_extents': [1, -1, 1]", INVALID, "half_extents.y: must be in [0.001, 10000], is -1"),
    SHAPE_ROW("'position': [0, nan, 0]", NON_FINITE, "position.y: must be a finite number"),
    SHAPE_ROW("'rotation': [1, 1, 1, 1]", INVALID, "rotation: must be of length 1"),
    SHAPE_ROW("'density': 0", INVALID, "density: must be in [1e-06, 1e+06], is 0"),
    SHAPE_ROW("'friction': -1", INVALID, "friction: must be in [0, 1000], is -1"),
    SHAPE_ROW("'restitution': 2", INVALID, "restitution: must be in [0, 1], is 2"),
    SHAPE_ROW("'kind': 'cylinder', 'half_height': 0", INVALID,
        "half_height: must be in [0.001, 10000], is 0"),
    SHAPE_ROW("'kind': 'cone', 'radius': -1", INVALID, "radius: must be in [0.001, 10000], is -1"),
    SHAPE_ROW("'kind': 'hull'", INVALID, "hull: must be an index into the hulls of the scene"),
    // Hulls.
    {SETTING("'hull_capacity': 1025"), INVALID, "hull_capacity: must be in [0, 1024], is 1025"},
    {SETTING("'hull_capacity': 1, 'hulls': [{}, {}]"), CAPACITY, "hulls: must be in [0, 1], is 2"},
    {SETTING("'hulls': [{}]"), INVALID, "hulls[0].points: must be in [4, 128], is 0"},
    {SETTING("'hulls': [{'points': [[0,0,0],[1,0,0],[0,1,0]]}]"), INVALID,
        "hulls[0].points: must be in [4, 128], is 3"},
    {SETTING("'hulls': [{'points': [[0,0,0],[1,0,0],[0,2e4,0],[0,0,1]]}]"), INVALID,
        "hulls[0].points[2].y: must be in [-10000, 10000], is 20000"},
    {SETTING("'hulls': [{'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,nan]]}]"), NON_FINITE,
        "hulls[0].points[3].z: must be a finite number"},
    // Meshes and height fields.
    SHAPE_ROW("'kind': 'mesh'", INVALID, "mesh: must be an index into the meshes of the scene"),
    SHAPE_ROW("'kind': 'height_field'", INVALID,
        "mesh: must be an index into the height_fields of the scene"),
    {SETTING("'mesh_capacity': 1025"), INVALID, "mesh_capacity: must be in [0, 1024], is 1025"},
    {SETTING("'meshes': [{}]"), INVALID, "meshes[0].vertices: must be in [3, 1000000], is 0"},
    {SETTING("'meshes': [{'vertices': [[0,0,0],[1,0,0],[0,1,0]], 'indices': [0,1,2,0]}]"), INVALID,
        "meshes[0].indices: must be three for each triangle"},
    {SETTING("'mesh_capacity': 0, 'height_fields': [{}]"), CAPACITY,
        "meshes and height_fields: must be in [0, 0], is 1"},
    {SETTING("'height_fields': [{'heights': [1,2,3], 'columns': 2}]"), INVALID,
        "height_fields[0].heights: must be rows of `columns` heights"},
    // Joints.
    JOINT_ROW("'kind': 12", INVALID, "kind: must be in [1, 11], is 12"),
    JOINT_ROW("'body_b': 2", INVALID, "body_b: must be in [0, 1], is 2"),
    JOINT_ROW("'body_a': 2", INVALID, "body_a: must be in [0, 1], is 2"),
    JOINT_ROW("'body_b': 1, 'anchor_a': [0, 0, 1e5]", INVALID,
        "anchor_a.z: must be in [-10000, 10000], is 100000"),
    JOINT_ROW(
        "'body_b': 1, 'anchor_b': [nan, 0, 0]", NON_FINITE, "anchor_b.x: must be a finite number"),
    JOINT_ROW("'body_a': 1, 'body_b': 1", INVALID, "body_b: must differ from body_a"),
    JOINT_ROW("'body_b': 1, 'length': -1", INVALID, "length: must be in [0, 10000], is -1"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'axis_a': [0, 0.5, 0]", INVALID,
        "axis_a: must be of length 1"),
    JOINT_ROW("'kind': 'cone', 'body_b': 1, 'axis_b': [0, nan, 0]", NON_FINITE,
        "axis_b: must be finite numbers"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'normal_a': [1, 0, 0]", INVALID,
        "normal_a: must be at right angles to axis_a"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'normal_b': [0.2, 0.9, 0]", INVALID,
        "normal_b: must be at right angles to axis_b"),
    JOINT_ROW("'kind': 'cone', 'body_b': 1, 'cone': 3.2", INVALID,
        "cone: must be in [0, 3.14159], is 3.2"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'lower': -4", INVALID,
        "lower: must be in [-3.14159, 3.14159], is -4"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'lower': 0.5, 'upper': 0.25", INVALID,
        "upper: must be in [0.5, 3.14159], is 0.25"),
    JOINT_ROW(
        "'body_b': 1, 'break_force': 0", INVALID, "break_force: must be in [1e-06, 1e+12], is 0"),
    JOINT_ROW(
        "'body_b': 1, 'motor_force': -1", INVALID, "motor_force: must be in [0, 1e+12], is -1"),
    JOINT_ROW("'kind': 'motor', 'body_b': 1", INVALID, "hertz: must be in [1e-06, 1000], is 0"),
    JOINT_ROW("'kind': 'gear', 'body_b': 1, 'ratio': 0", INVALID,
        "ratio: must be in [1e-06, 10000], is 0"),
    JOINT_ROW("'kind': 'row', 'body_b': 1, 'row_lower': 1", INVALID,
        "row_upper: must be in [1, 1e+12], is 0"),
    JOINT_ROW("'kind': 'prismatic', 'body_b': 1, 'axis_a': [0, 0, 0]", INVALID,
        "axis_a: must be of length 1"),
    JOINT_ROW("'kind': 'prismatic', 'body_b': 1, 'lower': 2, 'upper': 1", INVALID,
        "upper: must be in [2, 10000], is 1"),
    {"{'name': 'a', 'joint_capacity': 0, 'bodies': [{}, {}], 'joints': [{'body_b': "
     "1}]}",
        CAPACITY, "joints: must be in [0, 0], is 1"},
};

TEST("an error says where and what is wrong") {
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; ++i) {
        char error[CAIRN_SCENE_ERROR_SIZE];
        cairn_scene *scene;
        const cairn_status status = parse(refusals[i].json, &scene, error);
        assert_null(scene);
        assert_string_equal(error, refusals[i].error);
        assert_int_equal(status, refusals[i].status);
    }
}

TEST("a zero byte does not end the text") {
    static const char json[] = "{\"name\":\"a\"}\0{";
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene;
    assert_int_equal(cairn_scene_parse(json, sizeof json - 1, &scene, error), CAIRN_MALFORMED);
    assert_string_equal(error, "line 1, column 13: a zero byte is not allowed");
}

TEST("nesting is limited") {
    char json[4096];
    char error[CAIRN_SCENE_ERROR_SIZE];
    memset(json, '[', sizeof json - 1);
    json[sizeof json - 1] = '\0';
    memcpy(json, "{\"bodies\":", 10);
    cairn_scene *scene;
    assert_int_not_equal(parse(json, &scene, error), CAIRN_OK);
    assert_null(scene);
    assert_string_not_equal(error, "");
}

TEST("a hostile text is refused at limited cost") {
    const size_t size = 4 * 1024 * 1024;
    char *json = malloc(size);
    assert_non_null(json);
    for (size_t i = 0; i < size; i += 2) {
        memcpy(json + i, "{}", 2);
    }
    memcpy(json, "{\"bodies\":[{},", 14);
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene;
    assert_int_equal(cairn_scene_parse(json, size, &scene, error), CAIRN_MALFORMED);
    assert_string_equal(error, "line 1, column 2097161: more than 1048576 objects and lists");
    assert_int_equal(
        cairn_scene_parse(json, CAIRN_SCENE_JSON_SIZE_MAX + 1, &scene, error), CAIRN_CAPACITY);
    free(json);
}

TEST("parentheses in texts and comments are not function calls") {
    cairn_scene_destroy(parse_good("// a (comment) with \"quotes\n{\"name\": \"a (b) \\\" (\"}"));
}

TEST("a scene does not depend on the one parsed before") {
    cairn_scene_destroy(parse_good("{'name': 'a', 'tick_rate_hz': 30}"));
    SCOPED(cairn_scene) *scene = parse_good("{'name': 'b'}");
    assert_int_equal(scene->world.tick_rate_hz, 60);
}
