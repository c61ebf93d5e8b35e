// SPDX-License-Identifier: MIT
// Operators that set and read all of a body, its shapes and a joint, and make compounds and
// surfaces.

#include "tests/kit/test.h"

#include <string.h>

#include "server/control/queue.h"
#include "server/control/verbs.h"
#include "server/core/server_state.h"
#include "tests/server/operator_kit.h"
#include <cairn/math.h>

static const cairn_vec3 tetrahedron[] = {
    {0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};

TEST("each bad request about a definition gets its refusal") {
    const cairn_vec3 far = {2e6f, 0.0f, 0.0f};
    const cairn_vec3 half = {0.5f, 0.5f, 0.5f};
    const struct {
        cairn_control_request ask;
        uint32_t refusal;
    } rows[] = {
        {{.verb = CAIRN_CONTROL_SET_POSE, .set_pose = {.body = 77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SET_POSE, .set_pose = {.body = 1, .rotation = far}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SET_MASS,
             .set_mass = {.body = 77777, .mass = 1.0f, .inertia = half}},
            CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SET_MASS, .set_mass = {.body = 1, .inertia = half}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SET_SHAPE,
             .set_shape = {.shape = 77777, .property = CAIRN_BODY_PROPERTY_FRICTION}},
            CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SET_SHAPE,
             .set_shape = {.shape = 1, .property = CAIRN_BODY_PROPERTY_KIND}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_GET_BODY, .get_body = {77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SHAPES, .shapes = {.first = 100000}}, CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = 77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_GET_JOINT, .get_joint = {77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SET_JOINT,
             .set_joint = {.joint = 77777, .property = CAIRN_JOINT_PROPERTY_CONE}},
            CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SET_JOINT,
             .set_joint = {.property = CAIRN_JOINT_PROPERTY_LAST + 1}},
            CAIRN_CONTROL_OUT_OF_RANGE},
        {{.verb = CAIRN_CONTROL_SET_ROW, .set_row = {.joint = 77777}}, CAIRN_CONTROL_BODY_UNKNOWN},
        {{.verb = CAIRN_CONTROL_SET_ROW, .set_row = {.velocity = 2e4f}},
            CAIRN_CONTROL_OUT_OF_RANGE}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint32_t refusal = kit_ask_request(&s, rows[i].ask);
        if (refusal != rows[i].refusal || answer.answer.reason[0] == '\0') {
            fail_msg(
                "row %zu: %s, %s", i, cairn_control_refusal_text(refusal), answer.answer.reason);
        }
    }
    assert_int_equal(story_statistics(&s).protocol_violations, 0);
    expect_room_continues();
}

static uint32_t join(uint32_t kind, uint32_t a, uint32_t b) {
    kit_do(&s, .verb = CAIRN_CONTROL_CREATE_JOINT,
        .create_joint = {.kind = kind,
            .body_a = a,
            .body_b = b,
            .anchor_a = box.position,
            .anchor_b = box.position,
            .axis = {0.0f, 0.0f, 1.0f},
            .number = 1.0f});
    return answer.answer.edit.joint;
}

// The last property exists, and the next one does not.
TEST("a refusal says whether there is such a property") {
    const struct {
        uint32_t verb;
        uint32_t property;
        bool exists;
    } rows[] = {{CAIRN_CONTROL_SET_SHAPE, CAIRN_BODY_PROPERTY_LAST, true},
        {CAIRN_CONTROL_SET_SHAPE, CAIRN_BODY_PROPERTY_LAST + 1, false},
        {CAIRN_CONTROL_SET_JOINT, CAIRN_JOINT_PROPERTY_LAST, true},
        {CAIRN_CONTROL_SET_JOINT, CAIRN_JOINT_PROPERTY_LAST + 1, false},
        {CAIRN_CONTROL_SET_JOINT, 1, true}, {CAIRN_CONTROL_SET_JOINT, 0, false}};
    const cairn_vec3 wrong = {-1e9f, -1e9f, -1e9f};
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t joint = join(CAIRN_JOINT_BALL, spawn_box(), spawn_box());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        cairn_control_request ask = {.verb = rows[i].verb};
        if (rows[i].verb == CAIRN_CONTROL_SET_SHAPE) {
            ask.set_shape = (cairn_control_set_shape_request){
                .shape = 1, .property = rows[i].property, .value = wrong};
        } else {
            ask.set_joint = (cairn_control_set_joint_request){
                .joint = joint, .property = rows[i].property, .value = wrong};
        }
        assert_int_equal(kit_ask_request(&s, ask), CAIRN_CONTROL_OUT_OF_RANGE);
        assert_int_equal(strstr(answer.answer.reason, "no such property") == NULL, rows[i].exists);
    }
}

TEST("what is set of a joint is read again") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t a = spawn_box();
    const uint32_t b = spawn_box();
    const uint32_t hinge = join(CAIRN_JOINT_HINGE, a, b);
    const uint32_t row = join(CAIRN_JOINT_ROW, a, b);
    const cairn_control_get_joint_answer *got = &answer.answer.get_joint;
    kit_do(&s, .verb = CAIRN_CONTROL_SET_JOINT,
        .set_joint = {
            .joint = hinge, .property = CAIRN_JOINT_PROPERTY_BREAK, .value = {1e9f, 2e9f, 0.0f}});
    assert_int_equal(answer.answer.edit.body, CAIRN_ID_NULL);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_JOINT,
        .set_joint = {.joint = hinge, .property = CAIRN_JOINT_PROPERTY_USER, .word = 0xfedcba98u});
    kit_do(&s, .verb = CAIRN_CONTROL_SET_ROW,
        .set_row = {.joint = row,
            .linear_a = {1.0f, 2.0f, 3.0f},
            .angular_b = {4.0f, 5.0f, 6.0f},
            .lower = -7.0f,
            .upper = 8.0f,
            .velocity = 9.0f});
    step(1);
    kit_do(&s, .verb = CAIRN_CONTROL_GET_JOINT, .get_joint = {hinge});
    assert_true(got->joint.kind == CAIRN_JOINT_HINGE && got->joint.body_b == b);
    assert_true(got->breakable && got->break_force == 1e9f && got->break_torque == 2e9f);
    assert_int_equal(got->user, 0xfedcba98u);
    assert_float_equal(got->axis_a.z, 1.0f, 1e-6f);
    assert_true(got->error < 1e-3f && !got->motor && !got->articulated);
    assert_false(got->collide_connected);
    kit_do(&s, .verb = CAIRN_CONTROL_GET_JOINT, .get_joint = {row});
    assert_true(got->row_linear_a.z == 3.0f && got->row_angular_b.y == 5.0f);
    assert_true(got->row_lower == -7.0f && got->row_upper == 8.0f && got->row_velocity == 9.0f);
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_SET_ROW, .set_row = {.joint = hinge}),
        CAIRN_CONTROL_OUT_OF_RANGE);
    assert_non_null(strstr(answer.answer.reason, "the joint is not a row"));
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_SET_JOINT,
            .set_joint = {.joint = hinge, .property = CAIRN_JOINT_PROPERTY_RATIO, .value.x = 1.0f}),
        CAIRN_CONTROL_OUT_OF_RANGE);
    assert_non_null(strstr(answer.answer.reason, "does not have this property"));
    expect_room_continues();
}

TEST("what is set of a body and its shapes is read again") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const uint32_t body = spawn_box();
    step(1);
    const cairn_control_shapes_answer *shapes = &answer.answer.shapes;
    kit_do(&s, .verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = body});
    assert_int_equal(shapes->shape_count, 1);
    assert_true(shapes->shapes[0].kind == CAIRN_SHAPE_BOX && shapes->shapes[0].body == body);
    const uint32_t shape = shapes->shapes[0].id;
    kit_do(&s, .verb = CAIRN_CONTROL_SET_SHAPE,
        .set_shape = {.shape = shape, .property = CAIRN_BODY_PROPERTY_FRICTION, .value.x = 0.25f});
    kit_do(&s, .verb = CAIRN_CONTROL_SET_SHAPE,
        .set_shape = {.shape = shape, .property = CAIRN_BODY_PROPERTY_MASK, .word = 0x90000001u});
    assert_int_equal(answer.answer.edit.body, CAIRN_ID_NULL);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_POSE,
        .set_pose = {
            .body = body, .position = {1.0f, 90.0f, 2.0f}, .rotation = {0.0f, 1.57079633f, 0.0f}});
    assert_int_equal(answer.answer.edit.body, body);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_MASS,
        .set_mass = {.body = body,
            .mass = 5.0f,
            .centre = {0.0f, 0.25f, 0.0f},
            .inertia = {1.0f, 2.0f, 2.5f},
            .products = {0.25f, 0.0f, 0.0f}});
    kit_do(&s, .verb = CAIRN_CONTROL_SET_BODY,
        .set_body = {.body = body, .property = CAIRN_BODY_PROPERTY_GYROSCOPIC, .value.x = 1.0f});
    step(1);
    const cairn_control_get_body_answer *got = &answer.answer.get_body;
    kit_do(&s, .verb = CAIRN_CONTROL_GET_BODY, .get_body = {body});
    assert_true(got->mass == 5.0f && got->centre.y == 0.25f && got->gyroscopic && got->enabled);
    assert_float_equal(got->inertia.z, 2.5f, 1e-4f);
    assert_float_equal(got->products.x, 0.25f, 1e-4f);
    assert_float_equal(got->body.rotation.y, 0.70710678f, 1e-3f);
    assert_int_equal(got->owner, CAIRN_SLOT_NONE);
    kit_do(&s, .verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = body});
    assert_true(shapes->shapes[0].friction == 0.25f && shapes->shapes[0].mask == 0x90000001u);
    kit_verb(&s, CAIRN_CONTROL_SHAPES);
    assert_true(shapes->shape_count > 1 && shapes->listed_count == shapes->shape_count);
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_SET_MASS,
                         .set_mass = {.body = body, .mass = 5.0f, .inertia = {1.0f, 1.0f, -1.0f}}),
        CAIRN_CONTROL_OUT_OF_RANGE);
    assert_non_null(strstr(answer.answer.reason, "positive definite"));
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_SET_SHAPE,
                         .set_shape = {.shape = 77777, .property = CAIRN_BODY_PROPERTY_FRICTION}),
        CAIRN_CONTROL_BODY_UNKNOWN);
    assert_string_equal(answer.answer.reason, "unknown shape 77777");
    expect_room_continues();
}

TEST("a static body shields another from an operator's explosion") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_GRAVITY, .set_gravity = {{0.0f, 0.0f, 0.0f}});
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX,
        .spawn_box = {.position = {301.0f, 90.0f, 0.0f}, .half_extents = {0.1f, 5.0f, 5.0f}});
    kit_do(&s, .verb = CAIRN_CONTROL_SET_BODY,
        .set_body = {.body = answer.answer.edit.body,
            .property = CAIRN_BODY_PROPERTY_KIND,
            .value.x = (float)CAIRN_BODY_STATIC});
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX,
        .spawn_box = {.position = {303.0f, 90.0f, 0.0f}, .half_extents = {0.5f, 0.5f, 0.5f}});
    const uint32_t behind = answer.answer.edit.body;
    const cairn_control_explode_request explosion = {.centre = {300.0f, 90.0f, 0.0f},
        .radius = 5.0f,
        .impulse_per_area = 1000.0f,
        .mask = UINT32_MAX,
        .shield_mask = UINT32_MAX};
    kit_do(&s, .verb = CAIRN_CONTROL_EXPLODE, .explode = explosion);
    step(1);
    kit_do(&s, .verb = CAIRN_CONTROL_GET, .get = {behind});
    assert_true(answer.answer.get.body.linear_velocity.x == 0.0f);
    cairn_control_explode_request bare = explosion;
    bare.shield_mask = 0;
    kit_do(&s, .verb = CAIRN_CONTROL_EXPLODE, .explode = bare);
    step(1);
    kit_do(&s, .verb = CAIRN_CONTROL_GET, .get = {behind});
    assert_true(answer.answer.get.body.linear_velocity.x > 0.5f);
    expect_room_continues();
}

// The pieces of the answer before this one, as they are now.
static void expect_parts_of_box(
    const cairn_control_shape *pieces, uint32_t count, float mass, cairn_vec3 velocity) {
    cairn_vec3 momentum = {0};
    float sum = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        kit_do(&s, .verb = CAIRN_CONTROL_GET_BODY, .get_body = {pieces[i].body});
        const cairn_control_get_body_answer *piece = &answer.answer.get_body;
        assert_int_equal(piece->body.user, box.user);
        sum += piece->mass;
        momentum =
            cairn_vec3_add(momentum, cairn_vec3_scale(piece->body.linear_velocity, piece->mass));
        kit_do(&s, .verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = pieces[i].body});
        assert_int_equal(answer.answer.shapes.listed_count, 1);
        assert_int_equal(answer.answer.shapes.shapes[0].id, pieces[i].shape);
        assert_int_equal(answer.answer.shapes.shapes[0].kind, CAIRN_SHAPE_HULL);
    }
    assert_float_equal(sum, mass, 1e-4f * mass);
    assert_float_equal(momentum.x, mass * velocity.x, 1e-3f * mass);
    assert_float_equal(momentum.y, mass * velocity.y, 1e-3f * mass);
    assert_float_equal(momentum.z, mass * velocity.z, 1e-3f * mass);
}

TEST("a body breaks into the pieces of the answer, which have its mass and momentum") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    kit_do(&s, .verb = CAIRN_CONTROL_SET_GRAVITY, .set_gravity = {{0.0f, 0.0f, 0.0f}});
    const cairn_vec3 away = {300.0f, 90.0f, 0.0f};
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_BOX,
        .spawn_box = {.position = away, .half_extents = box.half_extents, .user = box.user});
    const uint32_t whole = answer.answer.edit.body;
    const cairn_vec3 velocity = {2.0f, -3.0f, 4.0f};
    kit_do(&s, .verb = CAIRN_CONTROL_SET_VELOCITY,
        .set_velocity = {whole, velocity, {0.5f, 0.0f, 1.0f}});
    step(1);
    kit_do(&s, .verb = CAIRN_CONTROL_GET_BODY, .get_body = {whole});
    const float mass = answer.answer.get_body.mass;
    const cairn_control_fracture_request fracture = {.body = whole,
        .point = answer.answer.get_body.body.position,
        .pieces = 12,
        .crowding = 0.5f,
        .thickness_min = 0.02f};
    kit_do(&s, .verb = CAIRN_CONTROL_FRACTURE, .fracture = fracture);
    const uint32_t count = answer.answer.fracture.piece_count;
    assert_in_range(count, 2, 12);
    cairn_control_shape pieces[12];
    memcpy(pieces, answer.answer.fracture.pieces, count * sizeof *pieces);
    kit_do(&s, .verb = CAIRN_CONTROL_GET, .get = {whole}); // until the next step
    // A later edit of the tick finds the pieces, and not what broke.
    kit_do(&s, .verb = CAIRN_CONTROL_SET_BODY,
        .set_body = {.body = pieces[0].body, .property = CAIRN_BODY_PROPERTY_ALLOW_SLEEP});
    assert_int_equal(kit_ask(&s, .verb = CAIRN_CONTROL_FRACTURE, .fracture = fracture),
        CAIRN_CONTROL_BODY_UNKNOWN);
    step(1);
    assert_int_equal(
        kit_ask(&s, .verb = CAIRN_CONTROL_GET, .get = {whole}), CAIRN_CONTROL_BODY_UNKNOWN);
    expect_parts_of_box(pieces, count, mass, velocity);
    expect_room_continues();
}

TEST("a seed breaks a body into other pieces, the same ones each time") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    kit_do(&s, .verb = CAIRN_CONTROL_SAVE, .save = {"whole"});
    const uint32_t seeds[] = {0, 7, 7};
    cairn_hash128 roots[3];
    for (uint32_t i = 0; i < 3; ++i) {
        story_run_ms(&s, 1000); // a room's world is replaced twice a second
        kit_do(&s, .verb = CAIRN_CONTROL_LOAD, .load = {"whole"});
        const uint32_t whole = spawn_box();
        kit_do(&s, .verb = CAIRN_CONTROL_FRACTURE,
            .fracture = {.body = whole, .point = box.position, .pieces = 8, .seed = seeds[i]});
        step(1);
        kit_verb(&s, CAIRN_CONTROL_HASH);
        roots[i] = answer.answer.hash.full;
    }
    assert_false(cairn_hash_equal(roots[0], roots[1]));
    assert_true(cairn_hash_equal(roots[1], roots[2]));
}

TEST("what does not break is refused by name, and nothing changes") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_SPHERE,
        .spawn_sphere = {.position = {300.0f, 90.0f, 0.0f}, .radius = 0.5f});
    const uint32_t ball = answer.answer.edit.body;
    const uint32_t cube = spawn_box();
    step(1);
    kit_verb(&s, CAIRN_CONTROL_HASH);
    const cairn_hash128 before = answer.answer.hash.full;
    const cairn_vec3 at = box.position;
    const struct {
        cairn_control_fracture_request fracture;
        uint32_t refusal;
        const char *says;
    } rows[] = {{{.body = 99999, .point = at, .pieces = 4}, CAIRN_CONTROL_BODY_UNKNOWN,
                    "unknown body 99999"},
        {{.body = ball, .point = {300.0f, 90.0f, 0.0f}, .pieces = 4}, CAIRN_CONTROL_OUT_OF_RANGE,
            "neither box, hull, cylinder nor cone"},
        {{.body = 1, .point = at, .pieces = 4}, CAIRN_CONTROL_OUT_OF_RANGE, "is not dynamic"},
        {{.body = cube, .point = {90.0f, 0.0f, 0.0f}, .pieces = 4}, CAIRN_CONTROL_OUT_OF_RANGE,
            "too far from the body"},
        {{.body = cube, .point = at, .pieces = 1}, CAIRN_CONTROL_OUT_OF_RANGE, "2 to 64 pieces"},
        {{.body = cube, .point = at, .pieces = 65}, CAIRN_CONTROL_OUT_OF_RANGE, "2 to 64 pieces"},
        {{.body = cube, .point = at, .pieces = 4, .crowding = 2.0f}, CAIRN_CONTROL_OUT_OF_RANGE,
            "a crowding in [0, 1]"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const uint32_t refusal =
            kit_ask(&s, .verb = CAIRN_CONTROL_FRACTURE, .fracture = rows[i].fracture);
        if (refusal != rows[i].refusal || strstr(answer.answer.reason, rows[i].says) == NULL) {
            fail_msg(
                "row %zu: %s, %s", i, cairn_control_refusal_text(refusal), answer.answer.reason);
        }
    }
    kit_verb(&s, CAIRN_CONTROL_HASH);
    assert_true(cairn_hash_equal(answer.answer.hash.full, before));
    expect_room_continues();
}

static const cairn_control_triangle faces[] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

TEST("compounds, meshes and height fields are spawned") {
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    const cairn_control_part parts[] = {
        {.shape = CAIRN_SHAPE_HULL, .point_count = 4, .position = {1.0f, 0.0f, 0.0f}},
        {.shape = CAIRN_SHAPE_CAPSULE, .size = {0.25f, 0.5f, 0.0f}}};
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_COMPOUND,
        .spawn_compound = {.position = {0.0f, 80.0f, 0.0f},
            .user = 7,
            .parts = parts,
            .part_count = 2,
            .points = tetrahedron,
            .point_count = 4});
    const uint32_t compound = answer.answer.edit.body;
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_COMPOUND,
        .spawn_compound = {.position = {9.0f, 80.0f, 0.0f},
            .rotation = {0.0f, 0.5f, 0.0f},
            .parts = parts,
            .part_count = 2,
            .points = tetrahedron,
            .point_count = 4});
    const uint32_t turned = answer.answer.edit.body;
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_MESH,
        .spawn_mesh = {.position = {0.0f, 60.0f, 0.0f},
            .points = tetrahedron,
            .point_count = 4,
            .triangles = faces,
            .triangle_count = 4});
    const uint32_t mesh = answer.answer.edit.body;
    const cairn_control_height heights[] = {
        {0.0f}, {1.0f}, {CAIRN_HEIGHT_HOLE}, {0.0f}, {2.0f}, {0.0f}, {1.0f}, {1.0f}};
    kit_do(&s, .verb = CAIRN_CONTROL_SPAWN_HEIGHT_FIELD,
        .spawn_height_field = {.position = {0.0f, 50.0f, 0.0f},
            .columns = 4,
            .spacing_x = 1.0f,
            .spacing_z = 2.0f,
            .heights = heights,
            .height_count = 8});
    const uint32_t field = answer.answer.edit.body;
    step(1);
    assert_int_equal(get_body(compound)->user, 7);
    assert_true(get_body(turned)->rotation.y > 0.24f); // sin(0.25)
    assert_true(get_body(turned)->rotation.y < 0.25f);
    assert_int_equal(get_body(mesh)->kind, CAIRN_BODY_STATIC);
    const cairn_control_shapes_answer *shapes = &answer.answer.shapes;
    kit_do(&s, .verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = compound});
    assert_true(shapes->shape_count == 2 && shapes->shapes[0].position.x == 1.0f);
    const uint32_t second = shapes->shapes[1].id;
    kit_do(&s, .verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = compound, .first = 1});
    assert_true(shapes->shape_count == 2 && shapes->listed_count == 1);
    assert_int_equal(shapes->shapes[0].id, second);
    kit_do(&s, .verb = CAIRN_CONTROL_SHAPES, .shapes = {.body = field});
    assert_true(shapes->shapes[0].kind == CAIRN_SHAPE_HEIGHT_FIELD && shapes->shapes[0].mesh != 0);
    kit_do(&s, .verb = CAIRN_CONTROL_RAY,
        .ray = {.origin = {0.2f, 70.0f, 0.2f}, .translation = {0.0f, -20.0f, 0.0f}});
    assert_int_equal(answer.answer.ray.body, mesh);
    expect_room_continues();
}

static void expect_refused(cairn_control_request request, uint32_t refusal, const char *reason) {
    assert_int_equal(kit_ask_request(&s, request), refusal);
    if (strstr(answer.answer.reason, reason) == NULL) {
        fail_msg("%s: %s", reason, answer.answer.reason);
    }
}

TEST("what makes no compound, mesh or height field is refused by name") {
    static cairn_vec3 points[CAIRN_CONTROL_POINTS_MAX];
    static cairn_control_triangle triangles[CAIRN_CONTROL_TRIANGLES_MAX];
    kit_verb(&s, CAIRN_CONTROL_PAUSE);
    cairn_control_part part = {.shape = CAIRN_SHAPE_HULL, .point_count = 3};
    cairn_control_request compound = {.verb = CAIRN_CONTROL_SPAWN_COMPOUND,
        .spawn_compound = {.points = tetrahedron, .point_count = 4}};
    expect_refused(compound, CAIRN_CONTROL_OUT_OF_RANGE, "at least one part");
    compound.spawn_compound.parts = &part;
    compound.spawn_compound.part_count = 1;
    expect_refused(compound, CAIRN_CONTROL_OUT_OF_RANGE, "must name all points");
    compound.spawn_compound.point_count = 3;
    expect_refused(compound, CAIRN_CONTROL_OUT_OF_RANGE, cairn_hull_refusal(tetrahedron, 3));
    compound.spawn_compound.point_count = 0;
    for (uint32_t i = 0; i < 2; ++i) {
        part = (cairn_control_part){.shape = i == 0 ? CAIRN_SHAPE_MESH : CAIRN_SHAPE_HEIGHT_FIELD};
        expect_refused(compound, CAIRN_CONTROL_OUT_OF_RANGE, "parts of a compound are shapes");
    }
    cairn_control_triangle odd = {0, 1, 258}; // 2 modulo 256
    cairn_control_request mesh = {.verb = CAIRN_CONTROL_SPAWN_MESH,
        .spawn_mesh = {
            .points = tetrahedron, .point_count = 4, .triangles = &odd, .triangle_count = 1}};
    const uint32_t indices[] = {0, 1, 258};
    const cairn_mesh_def def = {
        .vertices = tetrahedron, .vertex_count = 4, .indices = indices, .triangle_count = 1};
    expect_refused(mesh, CAIRN_CONTROL_OUT_OF_RANGE, cairn_mesh_refusal(&def));
    for (uint32_t i = 0; i < CAIRN_CONTROL_TRIANGLES_MAX; ++i) {
        points[i % CAIRN_CONTROL_POINTS_MAX].x = (float)(i % CAIRN_CONTROL_POINTS_MAX);
        points[i % CAIRN_CONTROL_POINTS_MAX].z = (float)(i % 7);
        triangles[i] = (cairn_control_triangle){i % 118, i % 118 + 1, i % 118 + 2};
    }
    mesh.spawn_mesh = (cairn_control_spawn_mesh_request){
        .points = points, .point_count = 74, .triangles = triangles, .triangle_count = 151};
    expect_refused(mesh, CAIRN_CONTROL_CAPACITY, "this takes 65 edits, of which a tick has 64");
    const cairn_control_height heights[] = {{0.0f}, {1.0f}, {2.0f}};
    expect_refused((cairn_control_request){.verb = CAIRN_CONTROL_SPAWN_HEIGHT_FIELD,
                       .spawn_height_field = {.columns = 2,
                           .spacing_x = 1.0f,
                           .spacing_z = 1.0f,
                           .heights = heights,
                           .height_count = 3}},
        CAIRN_CONTROL_OUT_OF_RANGE, "whole rows");
    expect_room_continues();
}

// The numbers that the commands of one kind carry, six in each, one after the other.
static uint32_t numbers_of(
    const cairn_command *commands, uint32_t count, uint32_t kind, float out[64]) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_command *c = &commands[i];
        const float six[] = {c->move.x, c->move.y, c->move.z, c->aim.x, c->aim.y, c->aim.z};
        for (uint32_t k = 0; c->kind == kind && k < 6; ++k) {
            if (k < c->buttons) {
                out[found++] = six[k];
            } else {
                assert_true(six[k] == 0.0f);
            }
        }
    }
    return found;
}

TEST("heights and triangles travel by six, all of them and each in its place") {
    static cairn_command commands[CAIRN_CONTROL_COMMANDS_MAX];
    static cairn_control_height heights[20];
    static cairn_control_triangle triangles[20];
    for (uint32_t i = 0; i < 20; ++i) {
        heights[i].value = 1.0f + (float)i;
        triangles[i] = (cairn_control_triangle){i, i + 1, i + 2};
    }
    for (uint32_t count = 1; count <= 20; ++count) {
        float found[64];
        const cairn_control_request field = {.verb = CAIRN_CONTROL_SPAWN_HEIGHT_FIELD,
            .spawn_height_field = {.columns = count, .heights = heights, .height_count = count}};
        uint32_t made = cairn_control_spawn_commands(&field, commands);
        assert_int_equal(made, (count + 5) / 6 + 2);
        assert_int_equal(numbers_of(commands, made, CAIRN_COMMAND_HEIGHTS, found), count);
        for (uint32_t i = 0; i < count; ++i) {
            assert_true(found[i] == heights[i].value);
        }
        const cairn_control_request mesh = {.verb = CAIRN_CONTROL_SPAWN_MESH,
            .spawn_mesh = {.points = tetrahedron,
                .point_count = 4,
                .triangles = triangles,
                .triangle_count = count}};
        made = cairn_control_spawn_commands(&mesh, commands);
        assert_int_equal(numbers_of(commands, made, CAIRN_COMMAND_TRIANGLES, found), count);
        for (uint32_t i = 0; i < count; ++i) {
            assert_true(found[i] == (float)(i + 256 * (i + 1) + 65536 * (i + 2)));
        }
    }
}

TEST("a reason is cut to the longest text") {
    static char reason[CAIRN_TEXT_SIZE_MAX + 2];
    char text[CAIRN_TEXT_SIZE_MAX + 100];
    cairn_control_context context = {.reason = reason};
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memset(reason, '?', sizeof reason);
    assert_int_equal(
        cairn_control_refuse(&context, CAIRN_CONTROL_BUSY, "%s", text), CAIRN_CONTROL_BUSY);
    assert_int_equal(strlen(reason), CAIRN_TEXT_SIZE_MAX);
    assert_int_equal(reason[CAIRN_TEXT_SIZE_MAX + 1], '?');
}
