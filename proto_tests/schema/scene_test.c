// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "tests/kit/test.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/world_settings.h"
#include "schema/json_document.h"
#include "schema/scene.h"
#include "schema/scene_fields.h"
#include "schema/scene_schema.h"

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
    SCOPED(cairn_scene) *scene =
        parse_good("{'name': 'a', 'slop': 0.25, 'hit_threshold': 2.50000000000000000001}");
    assert_true(scene->world.hit_threshold == 2.5f);
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

#define BODY_ROW(fields, status, error)                                                            \
    { BODY(fields), status, error }
#define SHAPE_ROW(fields, status, error)                                                           \
    { SHAPE(fields), status, error }
#define JOINT_ROW(fields, status, error)                                                           \
    { JOINT(fields), status, error }

static const struct {
    const char *json;
    int status;
    const char *error;
} refusals[] = {
    // The text.
    {"", MALFORMED, "line 1, column 1: the text ends before the scene does"},
    {"{\n 'name': 'a',\n 'colour': 1}", MALFORMED,
        "line 3, column 2: colour: a scene has no such field"},
    {"{}", MALFORMED, "line 1, column 1: name: is missing; each scene must have it"},
    {"{'name': 'a\n'}", MALFORMED, "line 1, column 10: the closing quote of this text is missing"},
    {"{'name': 'a\x01'}", MALFORMED, "line 1, column 12: a control character in a text"},
    {"{'name' 'a'}", MALFORMED, "line 1, column 9: a colon is missing"},
    {"{'name' ", MALFORMED, "line 1, column 9: a colon is missing"},
    {"{'name': 'a' 'b'}", MALFORMED,
        "line 1, column 14: a comma or the closing bracket is expected here"},
    {"{'name': 'a',}", MALFORMED, "line 1, column 14: a comma before the closing bracket"},
    {"{'name': 'a'} 1", MALFORMED, "line 1, column 15: the scene has ended; nothing may follow it"},
    {"{'name': 'a',\n 'slop': sin(1)}", MALFORMED,
        "line 2, column 10: sin: a value is a number, true, false, a text in quotes, a list or an "
        "object"},
    {SETTING("'slop': 1."), MALFORMED, "line 1, column 23: a value is expected here, not '1'"},
    {SETTING("'slop': 1.e2"), MALFORMED, "line 1, column 23: a value is expected here, not '1'"},
    {SETTING("'slop': 1e"), MALFORMED, "line 1, column 23: a value is expected here, not '1'"},
    {SETTING("'slop': '1,5'"), MALFORMED, "line 1, column 23: slop: must be a number, is a text"},
    {SETTING("'seed': -1"), INVALID,
        "line 1, column 23: seed: must be a whole number below 2^64, is -1"},
    {SETTING("'gravity': [0, 1]"), MALFORMED,
        "line 1, column 26: gravity: must be a list of 3 numbers [x, y, z], has 2"},
    {BODY("'kind': 'heavy'"), MALFORMED,
        "line 1, column 35: bodies[0].kind: must be one of \"static\", \"kinematic\", \"dynamic\""},
    {"{'name': 'a'} / sin(1)", MALFORMED,
        "line 1, column 15: the scene has ended; nothing may follow it"}, // one slash does not
                                                                          // begin a comment
    // The settings.
    {SETTING("'rules': 'a\\tb'"), INVALID,
        "line 1, column 24: rules: must be at most 31 characters of printable ASCII"},
    {"{'name': ''}", INVALID, "line 1, column 10: name: must not be empty"},
    {"{'name': 'a\\u0000b'}", INVALID,
        "line 1, column 10: name: must be at most 31 characters of printable ASCII"},
    {"{'name': 'a\\nb'}", INVALID,
        "line 1, column 10: name: must be at most 31 characters of printable ASCII"},
    {"{'name': 'abcdefghijklmnopqrstuvwxyz123456'}", INVALID,
        "line 1, column 10: name: must be at most 31 characters of printable ASCII"},
    {SETTING("'body_capacity': 131073"), INVALID,
        "line 1, column 32: body_capacity: must be a whole number in [1, 131072], is 131073"},
    {SETTING("'shape_capacity': 0"), INVALID,
        "line 1, column 33: shape_capacity: must be a whole number in [1, 131072], is 0"},
    {SETTING("'joint_capacity': 65537"), INVALID,
        "line 1, column 33: joint_capacity: must be a whole number in [0, 65536], is 65537"},
    {SETTING("'contact_capacity': 0"), INVALID,
        "line 1, column 35: contact_capacity: must be a whole number in [1, 1048576], is 0"},
    {SETTING("'tick_rate_hz': 241"), INVALID,
        "line 1, column 31: tick_rate_hz: must be a whole number in [10, 240], is 241"},
    {SETTING("'gravity': [0, 1e999, 0]"), NON_FINITE,
        "line 1, column 30: gravity.y: must be a finite number"},
    {SETTING("'iterations': 256"), INVALID,
        "line 1, column 29: iterations: must be a whole number in [1, 255], is 256"},
    {SETTING("'friction_model': 2"), MALFORMED,
        "line 1, column 33: friction_model: must be one of \"coulomb\", \"constant\", \"pyramid\", "
        "\"cone\", is a number"},
    {SETTING("'solver': 2"), MALFORMED,
        "line 1, column 25: solver: must be one of \"soft_step\", \"pgs\", \"direct\", \"psor\", "
        "\"split\", \"gradient\", \"mprgp\", \"apgd\", \"pssor\", is a number"},
    {SETTING("'substeps': 0"), INVALID,
        "line 1, column 27: substeps: must be a whole number in [1, 64], is 0"},
    {SETTING("'substeps': 65"), INVALID,
        "line 1, column 27: substeps: must be a whole number in [1, 64], is 65"},
    {SETTING("'contact_hertz': 0"), INVALID,
        "line 1, column 32: contact_hertz: must be in [1e-06, 1000], is 0"},
    {SETTING("'contact_damping': -1"), INVALID,
        "line 1, column 34: contact_damping: must be in [0, 100], is -1"},
    {SETTING("'joint_hertz': 1001"), INVALID,
        "line 1, column 30: joint_hertz: must be in [1e-06, 1000], is 1001"},
    {SETTING("'joint_damping': nan"), MALFORMED,
        "line 1, column 32: nan: a value is a number, true, false, a text in quotes, a list or an "
        "object"},
    {SETTING("'baumgarte': 1.5"), INVALID,
        "line 1, column 28: baumgarte: must be in [1e-06, 1], is 1.5"},
    {SETTING("'slop': nan"), MALFORMED,
        "line 1, column 23: nan: a value is a number, true, false, a text in quotes, a list or an "
        "object"},
    {SETTING("'restitution_threshold': -1"), INVALID,
        "line 1, column 40: restitution_threshold: must be in [0, 10000], is -1"},
    {SETTING("'sleep_speed': -1"), INVALID,
        "line 1, column 30: sleep_speed: must be in [0, 10000], is -1"},
    {SETTING("'position_steps_per_m': 0"), INVALID,
        "line 1, column 39: position_steps_per_m: must be a whole number in [1, 10000], is 0"},
    {SETTING("'rotation_bits': 16"), INVALID,
        "line 1, column 32: rotation_bits: must be a whole number in [7, 15], is 16"},
    {SETTING("'coded_together_max': 0"), INVALID,
        "line 1, column 37: coded_together_max: must be a whole number in [1, 131072], is 0"},
    // Bodies.
    BODY_ROW("'kind': 3", MALFORMED,
        "line 1, column 35: bodies[0].kind: must be one of \"static\", \"kinematic\", \"dynamic\", "
        "is a number"),
    BODY_ROW("'position': [0, 0, 1e6]", INVALID,
        "line 1, column 46: bodies[0].position.z: must be in [-100000, 100000], is 1e6"),
    BODY_ROW("'rotation': [0, 0, 0, 0]", INVALID,
        "line 1, column 39: bodies[0].rotation: must be of length 1, is of length 0"),
    BODY_ROW("'rotation': [nan, 0, 0, 1]", MALFORMED,
        "line 1, column 40: nan: a value is a number, true, false, a text in quotes, a list or an "
        "object"),
    BODY_ROW("'linear_velocity': [10001, 0, 0]", INVALID,
        "line 1, column 47: bodies[0].linear_velocity.x: must be in [-10000, 10000], is 10001"),
    BODY_ROW("'angular_velocity': [0, inf, 0]", MALFORMED,
        "line 1, column 51: a number is expected here, as before in this list"),
    BODY_ROW("'linear_damping': -1", INVALID,
        "line 1, column 45: bodies[0].linear_damping: must be in [0, 1e+06], is -1"),
    BODY_ROW("'grid_count': [1, 0, 1]", INVALID,
        "line 1, column 45: bodies[0].grid_count.y: must be a whole number in [1, 1024], is 0"),
    BODY_ROW("'grid_count': [3, 1, 1], 'grid_spacing': [60000, 0, 0]", INVALID,
        "line 1, column 68: bodies[0].grid_spacing: the last copy is more than 100000 m from the "
        "origin"),
    {BODY("'grid_count': [1024, 1024, 1024]"), CAPACITY,
        "line 1, column 25: bodies: 1073741824 with every copy; body_capacity is 1024"},
    {BODY("'grid_count': [600, 1, 1], 'shapes': [{}, {}]"), CAPACITY,
        "line 1, column 25: bodies: 1200 shapes with every copy; shape_capacity is 1024"},
    BODY_ROW("'angular_damping': -1", INVALID,
        "line 1, column 46: bodies[0].angular_damping: must be in [0, 1e+06], is -1"),
    BODY_ROW("'gravity_scale': inf", MALFORMED,
        "line 1, column 44: inf: a value is a number, true, false, a text in quotes, a list or an "
        "object"),
    BODY_ROW("'grid_count': [0, 1, 1]", INVALID,
        "line 1, column 42: bodies[0].grid_count.x: must be a whole number in [1, 1024], is 0"),
    BODY_ROW("'grid_count': [1, 1, 1025]", INVALID,
        "line 1, column 48: bodies[0].grid_count.z: must be a whole number in [1, 1024], is 1025"),
    BODY_ROW("'grid_spacing': [0, 2e5, 0]", INVALID,
        "line 1, column 47: bodies[0].grid_spacing.y: must be in [-100000, 100000], is 2e5"),
    // Shapes.
    SHAPE_ROW("'kind': 0", MALFORMED,
        "line 1, column 51: bodies[1].shapes[0].kind: must be one of \"sphere\", \"capsule\", "
        "\"box\", \"half_space\", \"hull\", \"cylinder\", \"cone\", \"mesh\", \"height_field\", is "
        "a number"),
    SHAPE_ROW("'kind': 'half_space'", INVALID,
        "line 1, column 51: bodies[1].shapes[0].kind: may be half_space only on a static body"),
    SHAPE_ROW("'kind': 'sphere', 'radius': -1", INVALID,
        "line 1, column 71: bodies[1].shapes[0].radius: must be in [0.001, 10000], is -1"),
    SHAPE_ROW("'kind': 'capsule', 'half_height': 0", INVALID,
        "line 1, column 77: bodies[1].shapes[0].half_height: must be in [0.001, 10000], is 0"),
    SHAPE_ROW("'half_extents': [1, 1, 0]", INVALID,
        "line 1, column 66: bodies[1].shapes[0].half_extents.z: must be in [0.001, 10000], is 0"),
    SHAPE_ROW("'half_extents': [1e5, 1, 1]", INVALID,
        "line 1, column 60: bodies[1].shapes[0].half_extents.x: must be in [0.001, 10000], is 1e5"),
    SHAPE_ROW("'half_extents': [1, -1, 1]", INVALID,
        "line 1, column 63: bodies[1].shapes[0].half_extents.y: must be in [0.001, 10000], is -1"),
    SHAPE_ROW("'position': [0, nan, 0]", MALFORMED,
        "line 1, column 59: a number is expected here, as before in this list"),
    SHAPE_ROW("'rotation': [1, 1, 1, 1]", INVALID,
        "line 1, column 55: bodies[1].shapes[0].rotation: must be of length 1, is of length 2"),
    SHAPE_ROW("'density': 0", INVALID,
        "line 1, column 54: bodies[1].shapes[0].density: must be in [1e-06, 1e+06], is 0"),
    SHAPE_ROW("'friction': -1", INVALID,
        "line 1, column 55: bodies[1].shapes[0].friction: must be in [0, 1000], is -1"),
    SHAPE_ROW("'restitution': 2", INVALID,
        "line 1, column 58: bodies[1].shapes[0].restitution: must be in [0, 1], is 2"),
    SHAPE_ROW("'kind': 'cylinder', 'half_height': 0", INVALID,
        "line 1, column 78: bodies[1].shapes[0].half_height: must be in [0.001, 10000], is 0"),
    SHAPE_ROW("'kind': 'cone', 'radius': -1", INVALID,
        "line 1, column 69: bodies[1].shapes[0].radius: must be in [0.001, 10000], is -1"),
    SHAPE_ROW("'kind': 'hull'", INVALID,
        "line 1, column 42: bodies[1].shapes[0].hull: must be an index into the hulls of the "
        "scene, which has 0"),
    {"{'name': 'a', 'bodies': [{'kind': 'static', 'shapes': [{'kind': 'mesh', 'mesh': 1024}]}]}",
        INVALID,
        "line 1, column 81: bodies[0].shapes[0].mesh: must be a whole number in [0, 1023], is "
        "1024"},
    // Hulls.
    {SETTING("'hull_capacity': 1025"), INVALID,
        "line 1, column 32: hull_capacity: must be a whole number in [0, 1024], is 1025"},
    {SETTING("'hull_capacity': 1, 'hulls': [{}, {}]"), CAPACITY,
        "line 1, column 44: hulls: 2 with every copy; hull_capacity is 1"},
    {SETTING("'hulls': [{}]"), MALFORMED,
        "line 1, column 25: hulls[0].points: is missing; each hull must have it"},
    {SETTING("'hulls': [{'points': [[0,0,0],[1,0,0],[0,1,0]]}]"), INVALID,
        "line 1, column 36: hulls[0].points: must have 4 to 128 points, has 3"},
    {SETTING("'hulls': [{'points': [[0,0,0],[1,0,0],[0,2e4,0],[0,0,1]]}]"), INVALID,
        "line 1, column 56: hulls[0].points[2].y: must be in [-10000, 10000], is 2e4"},
    {SETTING("'hulls': [{'points': [[0,0,0],[1,0,0],[0,1,0],[0,0,nan]]}]"), MALFORMED,
        "line 1, column 66: a number is expected here, as before in this list"},
    // Meshes and height fields.
    SHAPE_ROW("'kind': 'mesh'", INVALID,
        "line 1, column 42: bodies[1].shapes[0].mesh: must be an index into the meshes of the "
        "scene, which has 0"),
    SHAPE_ROW("'kind': 'height_field'", INVALID,
        "line 1, column 42: bodies[1].shapes[0].mesh: must be an index into the height_fields of "
        "the scene, which has 0"),
    {SETTING("'mesh_capacity': 1025"), INVALID,
        "line 1, column 32: mesh_capacity: must be a whole number in [0, 1024], is 1025"},
    {SETTING("'meshes': [{}]"), MALFORMED,
        "line 1, column 26: meshes[0].vertices: is missing; each mesh must have it"},
    {SETTING("'meshes': [{'vertices': [[0,0,0],[1,0,0],[0,1,0]], 'indices': [0,1,2,0]}]"), INVALID,
        "line 1, column 77: meshes[0].indices: must be three for each triangle, are 4"},
    {SETTING("'meshes': [{'vertices': [[0,0,0],[1,0,0],[0,1,0]], 'indices': [[0,1,2]]}]"),
        MALFORMED, "line 1, column 77: meshes[0].indices: must be a list of numbers, is a list"},
    {SETTING("'meshes': [{'vertices': [[0,0,0],[1,0,0],[0,1,0]], 'indices': []}]"), INVALID,
        "line 1, column 77: meshes[0].indices: must have 3 to 3000000 indices, has 0"},
    {SETTING("'name': ~"), MALFORMED, "line 1, column 23: a value is expected here, not '~'"},
    {SETTING("'mesh_capacity': 0, 'height_fields': [{}]"), CAPACITY,
        "line 1, column 52: height_fields: 1 with every copy; mesh_capacity is 0"},
    {SETTING("'height_fields': [{'heights': [1,2,3], 'columns': 2}]"), INVALID,
        "line 1, column 45: height_fields[0].heights: must be rows of 2 heights, are 3"},
    // Joints.
    JOINT_ROW("'kind': 12, 'body_b': 1", MALFORMED,
        "line 1, column 74: joints[0].kind: must be one of \"ball\", \"distance\", \"hinge\", "
        "\"cone\", \"prismatic\", \"weld\", \"wheel\", \"motor\", \"gear\", \"pulley\", \"row\", "
        "is a number"),
    JOINT_ROW("'body_b': 2", INVALID,
        "line 1, column 76: joints[0].body_b: must be the index of a body, is 2; there are 2"),
    JOINT_ROW("'body_a': 2", INVALID,
        "line 1, column 76: joints[0].body_a: must be the index of a body, is 2; there are 2"),
    JOINT_ROW("'body_b': 1, 'anchor_a': [0, 0, 1e5]", INVALID,
        "line 1, column 98: joints[0].anchor_a.z: must be in [-10000, 10000], is 1e5"),
    JOINT_ROW("'body_b': 1, 'anchor_b': [nan, 0, 0]", MALFORMED,
        "line 1, column 92: nan: a value is a number, true, false, a text in quotes, a list or an "
        "object"),
    JOINT_ROW("'body_a': 1, 'body_b': 1", INVALID,
        "line 1, column 89: joints[0].body_b: must differ from body_a"),
    JOINT_ROW("'body_b': 1, 'length': -1", INVALID,
        "line 1, column 89: joints[0].length: must be in [0, 10000], is -1"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'axis_a': [0, 0.5, 0]", INVALID,
        "line 1, column 106: joints[0].axis_a: must be of length 1, is of length 0.5"),
    JOINT_ROW("'kind': 'cone', 'body_b': 1, 'axis_b': [0, nan, 0]", MALFORMED,
        "line 1, column 109: a number is expected here, as before in this list"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'normal_a': [1, 0, 0]", INVALID,
        "line 1, column 108: joints[0].normal_a: must be at right angles to axis_a"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'normal_b': [0.2, 0.9, 0]", INVALID,
        "line 1, column 108: joints[0].normal_b: must be at right angles to axis_b"),
    JOINT_ROW("'kind': 'cone', 'body_b': 1, 'cone': 3.2", INVALID,
        "line 1, column 103: joints[0].cone: must be in [0, 3.14159], is 3.2"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'lower': -4", INVALID,
        "line 1, column 105: joints[0].lower: must be in [-3.14159, 3.14159], is -4"),
    JOINT_ROW("'kind': 'hinge', 'body_b': 1, 'lower': 0.5, 'upper': 0.25", INVALID,
        "line 1, column 119: joints[0].upper: must be in [0.5, 3.14159], is 0.25"),
    JOINT_ROW("'body_b': 1, 'break_force': 0", INVALID,
        "line 1, column 94: joints[0].break_force: must be in [1e-06, 1e+12], is 0"),
    JOINT_ROW("'body_b': 1, 'motor_force': -1", INVALID,
        "line 1, column 94: joints[0].motor_force: must be in [0, 1e+12], is -1"),
    JOINT_ROW("'kind': 'motor', 'body_b': 1", INVALID,
        "line 1, column 65: joints[0].hertz: must be in [1e-06, 1000], is 0"),
    JOINT_ROW("'kind': 'wheel', 'body_b': 1, 'steering': true, 'steering_hertz': 0", INVALID,
        "line 1, column 132: joints[0].steering_hertz: must be in [1e-06, 1000], is 0"),
    JOINT_ROW("'kind': 'gear', 'body_b': 1, 'ratio': 0", INVALID,
        "line 1, column 104: joints[0].ratio: must be in [1e-06, 10000], is 0"),
    JOINT_ROW("'kind': 'row', 'body_b': 1, 'row_lower': 1", INVALID,
        "line 1, column 65: joints[0].row_upper: must be in [1, 1e+12], is 0"),
    JOINT_ROW("'kind': 'prismatic', 'body_b': 1, 'axis_a': [0, 0, 0]", INVALID,
        "line 1, column 110: joints[0].axis_a: must be of length 1, is of length 0"),
    JOINT_ROW("'kind': 'prismatic', 'body_b': 1, 'lower': 2, 'upper': 1", INVALID,
        "line 1, column 121: joints[0].upper: must be in [2, 10000], is 1"),
    {"{'name': 'a', 'joint_capacity': 0, 'bodies': [{}, {}], 'joints': [{'body_b': "
     "1}]}",
        CAPACITY, "line 1, column 66: joints: 1 with every copy; joint_capacity is 0"},
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

TEST("a wheel that does not steer needs no stiffness to do so") {
    SCOPED(cairn_scene) *scene =
        parse_good(JOINT("'kind': 'wheel', 'body_b': 1, 'steering_hertz': 0"));
    assert_int_equal(scene->joints[0].def.steering, 0);
    assert_true(scene->joints[0].def.steering_hertz == 0.0f);
}

TEST("a tensor of inertia with one number needs a mass as one with three does") {
    static const char *const tensors[] = {"[2, 0, 0]", "[0, 2, 0]", "[0, 0, 2]", "[2, 3, 4]"};
    for (uint32_t i = 0; i < 4; ++i) {
        char json[100], error[CAIRN_SCENE_ERROR_SIZE];
        cairn_scene *scene;
        snprintf(json, sizeof json, BODY("'inertia': %s"), tensors[i]);
        assert_int_equal(parse(json, &scene, error), INVALID);
        assert_string_equal(error, "line 1, column 38: bodies[0].inertia: needs mass as well");
    }
}

TEST("a zero byte does not end the text") {
    static const char json[] = "{\"name\":\"a\"}\0{";
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene;
    assert_int_equal(cairn_scene_parse(json, sizeof json - 1, &scene, error), CAIRN_MALFORMED);
    assert_string_equal(error, "line 1, column 13: the scene has ended; nothing may follow it");
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
    const size_t size = CAIRN_SCENE_JSON_SIZE_MAX;
    char *json = malloc(size);
    assert_non_null(json);
    for (size_t i = 0; i < size; ++i) {
        json[i] = "{},"[i % 3];
    }
    memcpy(json, "{\"bodies\": [{},", 15);
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_scene *scene;
    assert_int_equal(cairn_scene_parse(json, size, &scene, error), CAIRN_MALFORMED);
    assert_string_equal(
        error, "line 1, column 12582919: more values than a scene needs, or out of memory");
    assert_int_equal(cairn_scene_parse(json, size + 1, &scene, error), CAIRN_CAPACITY);
    free(json);
}

TEST("comments are skipped, texts are not searched for them") {
    cairn_scene_destroy(parse_good("// a (comment) with \"quotes\n{\"name\": \"a (b) \\\" //\"}"));
    cairn_scene_destroy(parse_good("/* one */ {'$schema': 'x', 'name': /* two * / */ 'a'}"));
}

TEST("a text may have escapes") {
    SCOPED(cairn_scene) *scene = parse_good("{'name': 'J\\u004f\\u004A\\u007e\\u0030\\/\\\\'}");
    assert_string_equal(scene->name, "JOJ~0/\\");
}

TEST("a scene does not depend on the one parsed before") {
    cairn_scene_destroy(parse_good("{'name': 'a', 'tick_rate_hz': 30}"));
    SCOPED(cairn_scene) *scene = parse_good("{'name': 'b'}");
    assert_int_equal(scene->world.tick_rate_hz, 60);
}

// Reads a text in which ' stands for ", and compares all messages.
static void expect_messages(const char *json, const char *expected) {
    char text[4096], all[4096] = "";
    cairn_scene_report report;
    cairn_scene *scene;
    const size_t size = strlen(json);
    for (size_t i = 0; i < size; ++i) {
        text[i] = json[i] == '\'' ? '"' : json[i];
    }
    const cairn_status status = cairn_scene_read(text, size, &scene, &report);
    assert_int_equal(status == CAIRN_OK, scene != NULL);
    assert_int_equal(report.error_count == 0, scene != NULL);
    for (uint32_t i = 0; i < report.count; ++i) {
        const cairn_scene_message *m = &report.messages[i];
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%u:%u: %s%s\n", (unsigned)m->line,
            (unsigned)m->column, m->status == CAIRN_OK ? "warning: " : "", m->text);
    }
    assert_string_equal(all, expected);
    cairn_scene_destroy(scene);
}

TEST("one run tells every error with its place") {
    expect_messages("{\n"
                    "  'name': 'a',\n"
                    "  'body_capacity': -5,\n"
                    "  'tick_rate_hz': '60',\n"
                    "  'joints': null,\n"
                    "  'bodeis': [],\n"
                    "  'bodies': [\n"
                    "    { 'kind': 'dynamik', 'shapes': [ { 'kind': 'sphere', 'raduis': 2 } ] },\n"
                    "    { 'position': [0, 1], 'position': [1, 2, 3], 'shapes': [{}, 7] }\n"
                    "  ],\n"
                    "  'shape_capacity': 99999999999,\n"
                    "  'substeps': 2.5\n"
                    "}\n",
        "3:20: body_capacity: must be a whole number in [1, 131072], is -5\n"
        "4:19: tick_rate_hz: must be a whole number, is a text\n"
        "5:13: joints: must be a list of objects, is null\n"
        "6:3: bodeis: a scene has no such field; did you mean bodies?\n"
        "8:15: bodies[0].kind: must be one of \"static\", \"kinematic\", \"dynamic\"; did you mean "
        "dynamic?\n"
        "8:58: bodies[0].shapes[0].raduis: a shape has no such field; did you mean radius?\n"
        "9:19: bodies[1].position: must be a list of 3 numbers [x, y, z], has 2\n"
        "9:27: bodies[1].position: is given twice\n"
        "9:65: bodies[1].shapes[1]: must be an object, is a number\n"
        "11:21: shape_capacity: must be a whole number in [1, 131072], is 99999999999\n"
        "12:15: substeps: must be a whole number in [1, 64], is 2.5\n");
}

TEST("what is probably not meant is told as a warning, and the scene is read") {
    expect_messages("{'name': 'a', 'bodies': [{}, {'kind': 'static', 'mass': 2, 'shapes':\n"
                    "[{'kind': 'sphere', 'half_extents': [1, 1, 1]}]}]}",
        "1:26: warning: bodies[0]: is dynamic without shapes: it has no mass, and nothing collides "
        "with it\n"
        "1:57: warning: bodies[1].mass: is ignored: a body of kind \"static\" does not use it\n"
        "2:37: warning: bodies[1].shapes[0].half_extents: is ignored: a shape of kind \"sphere\" "
        "does not use it\n");
}

TEST("a report has room for 32 messages and counts the others") {
    char json[2048] = "{\"name\":\"a\"";
    for (int i = 0; i < 40; ++i) {
        snprintf(json + strlen(json), sizeof json - strlen(json), ",\"x%d\":0", i);
    }
    snprintf(json + strlen(json), sizeof json - strlen(json), "}");
    cairn_scene_report report;
    cairn_scene *scene;
    assert_int_equal(cairn_scene_read(json, strlen(json), &scene, &report), CAIRN_MALFORMED);
    assert_null(scene);
    assert_int_equal(report.count, CAIRN_SCENE_MESSAGES_MAX);
    assert_int_equal(report.error_count, 40);
}

static void expect_rotation(const char *fields, float x, float y, float z, float w) {
    char json[256];
    snprintf(json, sizeof json, "{'name': 'a', 'bodies': [{'shapes': [{}], %s}]}", fields);
    SCOPED(cairn_scene) *scene = parse_good(json);
    const cairn_quat q = scene->bodies[0].def.rotation;
    assert_float_equal(q.x, x, 1e-6f);
    assert_float_equal(q.y, y, 1e-6f);
    assert_float_equal(q.z, z, 1e-6f);
    assert_float_equal(q.w, w, 1e-6f);
}

TEST("a rotation is a quaternion, Euler angles, or axis and angle") {
    const float half = 0.70710678f;
    expect_rotation("'rotation': [0, 1, 0, 0]", 0, 1, 0, 0);
    expect_rotation("'rotation_deg': [90, 0, 0]", half, 0, 0, half);
    expect_rotation("'rotation_axis': [0, 5, 0], 'rotation_angle_deg': 90", 0, half, 0, half);
    // About x first: it takes y to z; then about z, which stays.
    expect_rotation("'rotation_deg': [90, 0, 90]", 0.5f, 0.5f, 0.5f, 0.5f);
    expect_messages("{'name': 'a', 'bodies': [\n"
                    "{'shapes': [{}], 'rotation': [0, 0, 0, 1], 'rotation_deg': [1, 2, 3]},\n"
                    "{'shapes': [{}], 'rotation_axis': [0, 0, 1]},\n"
                    "{'shapes': [{}], 'rotation_axis': [0, 0, 0], 'rotation_angle_deg': 9}]}",
        "2:60: bodies[0].rotation_deg: one rotation is enough: as a quaternion, as Euler angles, "
        "or "
        "as axis and angle\n"
        "3:35: bodies[1].rotation_axis: needs rotation_angle_deg as well\n"
        "4:35: bodies[2].rotation_axis: must not be zero\n");
}

TEST("bodies repeat along a line and round a circle") {
    SCOPED(cairn_scene) *scene = parse_good(
        "{'name': 'a', 'bodies': [{'shapes': [{}], 'position': [1, 0, 0], 'line_count': 3,"
        " 'line_step': [0, 1, 0.5]}, {'shapes': [{}], 'position': [0, 5, 0], 'circle_count': 4,"
        " 'circle_radius': 2, 'linear_velocity': [1, 0, 0]}], 'joints': [{'body_a': 2,"
        " 'body_b': 6}]}");
    assert_int_equal(scene->body_count, 7);
    assert_int_equal(scene->shape_count, 2); // copies share their shapes
    assert_true(scene->bodies[2].def.position.y == 2 && scene->bodies[2].def.position.z == 1);
    const cairn_body_def *quarter = &scene->bodies[4].def; // x turned by 90 degrees about y is -z
    assert_float_equal(quarter->position.z, -2.0f, 1e-6f);
    assert_float_equal(quarter->position.y, 5.0f, 1e-6f);
    assert_float_equal(quarter->linear_velocity.z, -1.0f, 1e-6f);
    assert_float_equal(quarter->rotation.y, 0.70710678f, 1e-6f);
    expect_messages("{'name': 'a', 'bodies': [{'shapes': [{}], 'line_count': 3,\n"
                    "'circle_count': 2}]}",
        "2:17: bodies[0].circle_count: an object is repeated in one way: on a grid, along a line "
        "or "
        "round a circle; put it into a prefab to combine them\n");
    expect_messages("{'name': 'a', 'bodies': [{'shapes': [{}], 'line_count': 3,\n"
                    "'line_step': [60000, 0, 0]}]}",
        "1:26: bodies[0]: its copy 2 is more than 100000 m from the origin\n");
}

#define ARCH                                                                                       \
    "'prefabs': [{'name': 'arch', 'bodies': [{'shapes': [{}], 'position': [1, 0, 0],"              \
    " 'grid_count': [1, 2, 1], 'grid_spacing': [0, 3, 0]}], 'joints': [{'kind': 'pulley',"         \
    " 'body_a': 0, 'body_b': 1, 'fixed_a': [0, 9, 1]}]}]"

TEST("a prefab is placed with a pose, its joints with it") {
    SCOPED(cairn_scene) *scene = parse_good(
        "{'name': 'a', 'joints': [{'body_a': 0, 'body_b': 6}],"
        " 'instances': [{'prefab': 'arch', 'position': [0, 0, 10], 'rotation_deg': [0, 90, 0]},"
        " {'prefab': 'arch', 'line_count': 2, 'line_step': [5, 0, 0]}],"
        " 'bodies': [{'shapes': [{}]}], " ARCH "}");
    assert_int_equal(scene->body_count, 7);
    assert_int_equal(scene->joint_count, 4);
    const cairn_body_def *upper = &scene->bodies[2].def;
    assert_float_equal(upper->position.x, 0.0f, 1e-6f);
    assert_float_equal(upper->position.y, 3.0f, 1e-6f);
    assert_float_equal(upper->position.z, 9.0f, 1e-6f);
    assert_float_equal(scene->bodies[6].def.position.x, 6.0f, 1e-6f);
    assert_int_equal(scene->joints[0].body_b, 6); // the scene's own come first
    assert_int_equal(scene->joints[1].body_a, 1);
    assert_int_equal(scene->joints[3].body_b, 6);
    assert_float_equal(scene->joints[1].def.fixed_a.x, 1.0f, 1e-6f);
    assert_float_equal(scene->joints[1].def.fixed_a.y, 9.0f, 1e-6f);
    assert_float_equal(scene->joints[1].def.fixed_a.z, 10.0f, 1e-6f);
}

TEST("every joint of a prefab is placed") {
    SCOPED(cairn_scene) *scene = parse_good(
        "{'name': 'a', 'instances': [{'prefab': 'chain'}],"
        " 'prefabs': [{'name': 'chain', 'bodies': [{'shapes': [{}], 'grid_count': [1, 4, 1]}],"
        " 'joints': [{'body_a': 0, 'body_b': 1}, {'body_a': 1, 'body_b': 2},"
        " {'body_a': 2, 'body_b': 3}]}]}");
    assert_int_equal(scene->joint_count, 3);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(scene->joints[i].body_a, i);
        assert_int_equal(scene->joints[i].body_b, i + 1);
    }
}

TEST("each prefab has bodies of its own") {
    SCOPED(cairn_scene) *scene = parse_good(
        "{'name': 'a', 'instances': [{'prefab': 'two', 'position': [5, 0, 0]}, {'prefab': 'one'}],"
        " 'prefabs': [{'name': 'one', 'bodies': [{'shapes': [{}]}, {'shapes': [{}]}, {'shapes': "
        "[{}]}]},"
        " {'name': 'two', 'bodies': [{'shapes': [{}], 'user': 7}, {'shapes': [{}], 'user': 8}]}]}");
    assert_int_equal(scene->body_count, 5);
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(scene->bodies[i].def.user, i < 2 ? 7 + i : 0);
        assert_float_equal(scene->bodies[i].def.position.x, i < 2 ? 5.0f : 0.0f, 1e-6f);
    }
}

TEST("an instance names a prefab, and a world has room for all copies") {
    expect_messages("{'name': 'a', 'instances': [{'prefab': 'arhc'}, {}],\n" ARCH "}",
        "1:40: instances[0].prefab: no prefab is called \"arhc\"; did you mean arch?\n"
        "1:49: instances[1].prefab: is missing; each instance must have it\n"
        "1:49: instances[1].prefab: no prefab is called \"\"\n");
    expect_messages("{'name': 'a', 'instances': [{'prefab': 'arch', 'line_count': 70000}],\n" ARCH
                    "}",
        "1:29: instances[0]: more bodies or joints than a world holds\n");
    expect_messages("{'name': 'a', 'instances': [{'prefab': 'arch', 'line_count': 600}],\n" ARCH
                    "}",
        "1:1: joints: 600 with every copy; joint_capacity is 256\n"
        "1:28: instances: 1200 with every copy; body_capacity is 1024\n"
        "1:28: instances: 1200 shapes with every copy; shape_capacity is 1024\n");
}

static uint32_t count_of(const char *text, const char *word) {
    uint32_t count = 0;
    while ((text = strstr(text, word)) != NULL) {
        text += strlen(word);
        count += 1;
    }
    return count;
}

TEST("the schema describes every field of every object once") {
    static const cairn_scene_object *const objects[] = {&cairn_scene_object_scene,
        &cairn_scene_object_shape, &cairn_scene_object_body, &cairn_scene_object_joint,
        &cairn_scene_object_hull, &cairn_scene_object_mesh, &cairn_scene_object_height_field,
        &cairn_scene_object_prefab, &cairn_scene_object_instance};
    const size_t size = cairn_scene_schema(NULL, 0);
    char *text = malloc(size + 1);
    assert_int_equal(cairn_scene_schema(text, size + 1), size);
    assert_int_equal(strlen(text), size);
    uint32_t fields = 0;
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; ++i) {
        fields += objects[i]->field_count;
        for (uint32_t k = 0; k < objects[i]->field_count; ++k) {
            char line[128];
            snprintf(
                line, sizeof line, "  \"%s\": {\"description\": \"", objects[i]->fields[k].name);
            assert_true(count_of(text, line) >= 1);
        }
    }
    assert_int_equal(count_of(text, "\"description\": "), fields);
    assert_int_equal(count_of(text, "\"type\": \"object\""), sizeof objects / sizeof objects[0]);
    assert_int_equal(count_of(text, "{"), count_of(text, "}"));
    assert_int_equal(count_of(text, "["), count_of(text, "]"));
    assert_int_equal(count_of(text, ",\n}"), 0); // no comma after the last field
    // Of each object, those of its fields that must be there.
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; ++i) {
        char list[512] = "\"required\": [";
        const char *separator = "";
        for (uint32_t k = 0; k < objects[i]->field_count; ++k) {
            if (objects[i]->fields[k].required) {
                snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%s\"", separator,
                    objects[i]->fields[k].name);
                separator = ", ";
            }
        }
        strcat(list, "], \"properties\": {\n  \"");
        strcat(list, objects[i]->fields[0].name);
        assert_true(count_of(text, list) >= 1); // several may begin with "kind"
    }
    // A shorter text is its beginning.
    char start[100];
    memset(start, '#', sizeof start);
    assert_int_equal(cairn_scene_schema(start, 50), size);
    assert_memory_equal(start, text, 49);
    assert_int_equal(start[49], '\0');
    assert_int_equal(start[50], '#');
    free(text);
}

// The bytes behind the end of the text must not be read as part of it.
TEST("an escape that the end of a text cuts is refused there") {
    static const char *const followers[] = {"n\"", "\"", "", "x"};
    for (uint32_t i = 0; i < sizeof followers / sizeof *followers; ++i) {
        cairn_json_document document;
        char text[8] = "\"a\\";
        strcat(text, followers[i]);
        assert_int_equal(cairn_json_document_parse(&document, text, 3), CAIRN_MALFORMED);
        assert_int_equal(document.at, 3);
        assert_string_equal(document.error, "an unknown escape in a text");
        cairn_json_document_destroy(&document);
    }
}
