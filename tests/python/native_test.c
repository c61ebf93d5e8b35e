// SPDX-License-Identifier: MIT
// The C of the Python package, without Python: so that the sanitizers see it.
#include "python/native/native.h"

#include <math.h>
#include <string.h>

#include "tests/kit/test.h"

static cairn_world *make(const char *scene) {
    cairn_world *world = NULL;
    char name[CAIRN_NAME_SIZE_MAX + 1];
    char error[CAIRN_NATIVE_ERROR_SIZE];
    const char *json = cairn_native_scene(scene);
    assert_non_null(json);
    assert_int_equal(
        cairn_native_world_create(json, strlen(json), NULL, NULL, &world, name, error), CAIRN_OK);
    assert_string_equal(name, scene);
    return world;
}

TEST("a scene that is wrong leaves no world and says why") {
    cairn_world *world = NULL;
    char name[CAIRN_NAME_SIZE_MAX + 1];
    char error[CAIRN_NATIVE_ERROR_SIZE];
    assert_int_equal(
        cairn_native_world_create("{", 1, NULL, NULL, &world, name, error), CAIRN_MALFORMED);
    assert_null(world);
    assert_true(strlen(error) > 0);
    const char *json = cairn_native_scene("empty");
    assert_int_equal(
        cairn_native_world_create(json, strlen(json), NULL, "arena", &world, name, error),
        CAIRN_NOT_FOUND);
    assert_null(world);
    assert_non_null(strstr(error, "arena"));
    assert_null(cairn_native_scene("no such scene"));
    assert_null(cairn_native_scene_name(1000));
}

TEST("a batch of worlds on threads is what each world is alone") {
    enum { WORLDS = 9, WIDTH = 13 };
    cairn_world *worlds[WORLDS];
    const cairn_body_id pushed[] = {11};
    const cairn_body_id watched[] = {11, 77777};
    float impulses[WORLDS][1][3] = {{{0}}};
    float out[WORLDS][2][WIDTH];
    cairn_native_pool *pool = NULL;
    assert_int_equal(cairn_native_pool_create(3, &pool), CAIRN_OK);
    for (uint32_t i = 0; i < WORLDS; ++i) {
        worlds[i] = make("stack10");
        impulses[i][0][0] = 10.0f * (float)i;
    }
    const cairn_native_batch batch = {.worlds = worlds,
        .world_count = WORLDS,
        .ticks = 5,
        .pushed = pushed,
        .pushed_count = 1,
        .impulses = &impulses[0][0][0],
        .watched = watched,
        .watched_count = 2,
        .fields = CAIRN_OBSERVE_ALL & ~(uint32_t)CAIRN_OBSERVE_AWAKE,
        .out = &out[0][0][0]};
    assert_int_equal(cairn_native_batch_run(pool, &batch), CAIRN_OK);
    for (uint32_t i = 0; i < WORLDS; ++i) {
        cairn_world *alone = make("stack10");
        const cairn_vec3 impulse = {impulses[i][0][0], 0.0f, 0.0f};
        if (i > 0) {
            (void)cairn_body_apply_impulse_at_centre(alone, 11, impulse);
        }
        assert_int_equal(cairn_native_step(alone, 5, NULL, 0), CAIRN_OK);
        assert_true(cairn_hash_equal(
            cairn_world_hash_read(alone).full, cairn_world_hash_read(worlds[i]).full));
        float row[WIDTH];
        assert_int_equal(cairn_native_observe(alone, watched, 1, batch.fields, row), CAIRN_OK);
        assert_memory_equal(row, out[i][0], sizeof row);
        assert_true(out[i][1][0] == 0.0f && out[i][1][6] == 0.0f);
        cairn_world_destroy(alone);
    }
    impulses[3][0][1] = INFINITY;
    assert_int_equal(cairn_native_batch_run(pool, &batch), CAIRN_NON_FINITE);
    assert_int_equal(cairn_world_tick(worlds[0]), 5);
    for (uint32_t i = 0; i < WORLDS; ++i) {
        cairn_world_destroy(worlds[i]);
    }
    cairn_native_pool_destroy(pool);
}

TEST("commands that no world accepts are refused before a step") {
    cairn_world *world = make("stack10");
    cairn_command command = {.kind = CAIRN_COMMAND_INPUT, .slot = CAIRN_SLOT_OPERATOR};
    assert_int_equal(cairn_native_step(world, 1, &command, 1), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_native_observe(world, NULL, 0, 0, NULL), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_world_tick(world), 0);
    cairn_world_destroy(world);
}

TEST("a torque goes to articulated joints, in order, up to the first that refuses it") {
    cairn_world *world = make("empty");
    cairn_joint_id joints[2];
    cairn_body_id body = CAIRN_ID_NULL;
    const cairn_shape_def cube = cairn_shape_def_default();
    cairn_shape_id shape;
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_body_def def = cairn_body_def_default();
        cairn_joint_def hang = cairn_joint_def_default();
        def.kind = i == 0 ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC;
        hang.kind = CAIRN_JOINT_HINGE;
        hang.body_a = body;
        assert_int_equal(cairn_body_create(world, &def, &body), CAIRN_OK);
        assert_int_equal(cairn_shape_create(world, body, &cube, &shape), CAIRN_OK);
        hang.body_b = body;
        hang.articulated = 1;
        if (i > 0) {
            assert_int_equal(cairn_joint_create(world, &hang, &joints[i - 1]), CAIRN_OK);
        }
    }
    const float torques[3][2] = {{2.0f, -3.0f}, {4.0f, INFINITY}, {5.0f, 1e13f}};
    cairn_joint_def def;
    assert_int_equal(cairn_native_push(world, joints, torques[0], 2), CAIRN_OK);
    assert_int_equal(cairn_joint_read(world, joints[1], &def), CAIRN_OK);
    assert_true(def.drive_torque.x == -3.0f);
    assert_int_equal(cairn_native_push(world, joints, torques[1], 2), CAIRN_NON_FINITE);
    assert_int_equal(cairn_native_push(world, joints, torques[2], 2), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_joint_read(world, joints[0], &def), CAIRN_OK);
    assert_true(def.drive_torque.x == 5.0f);
    joints[1] = 99;
    assert_int_equal(cairn_native_push(world, joints, torques[0], 2), CAIRN_NOT_FOUND);
    cairn_world_destroy(world);
}

TEST("a picture has every pixel") {
    enum { WIDTH = 17, HEIGHT = 11 };
    cairn_world *world = make("demo");
    uint8_t pixels[HEIGHT * WIDTH * 3 + 1];
    memset(pixels, 1, sizeof pixels);
    const cairn_native_camera camera = {
        .eye = {8.0f, 6.0f, 12.0f}, .field_of_view = 0.8f, .width = WIDTH, .height = HEIGHT};
    cairn_native_draw(world, &camera, pixels);
    for (uint32_t i = 0; i < HEIGHT * WIDTH * 3; ++i) {
        assert_true(pixels[i] > 1);
    }
    assert_int_equal(pixels[HEIGHT * WIDTH * 3], 1);
    cairn_world_destroy(world);
}
