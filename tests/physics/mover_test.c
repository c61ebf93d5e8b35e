// SPDX-License-Identifier: MIT
// A character that walks, slides, climbs and rides. The figure is a capsule of 1.8 m; the ground
// is at height 0 unless said otherwise, so a standing figure has its centre at 0.9 m.

#include "tests/physics/query_kit.h"

#include <string.h>

#include <cairn/mover.h>

#define STEP (1.0f / 60.0f)
#define STANDING 0.9f

static cairn_world *flat_world(void) {
    cairn_world *world = kit_world(NULL);
    const cairn_shape_def floor = box(50.0f, 0.5f, 50.0f);
    put_static(world, vec3(0.0f, -0.5f, 0.0f), &floor);
    return world;
}

static cairn_mover figure_at(cairn_vec3 position) {
    return (cairn_mover){.position = position};
}

// One tick as a game would do it: gravity in the air, the wanted velocity on the ground.
static void walk(const cairn_world *world, cairn_mover *figure, cairn_vec3 wanted) {
    const cairn_mover_def def = cairn_mover_def_default();
    if (figure->on_ground != 0) {
        figure->velocity = wanted;
    } else {
        figure->velocity.y -= 9.81f * STEP;
    }
    EXPECT_OK(cairn_mover_move(world, &def, figure, STEP));
}

static void walk_for(
    const cairn_world *world, cairn_mover *figure, cairn_vec3 wanted, uint32_t ticks) {
    for (uint32_t i = 0; i < ticks; ++i) {
        walk(world, figure, wanted);
    }
}

static cairn_mover standing_at(const cairn_world *world, cairn_vec3 position) {
    cairn_mover figure = figure_at(position);
    walk_for(world, &figure, vec3_zero(), 30);
    assert_int_equal(figure.on_ground, 1);
    return figure;
}

static void put_turned(
    cairn_world *world, cairn_vec3 position, cairn_quat rotation, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = position;
    def.rotation = rotation;
    kit_body(world, &def, shape);
}

static cairn_quat about_z(float angle) {
    return (cairn_quat){.z = sinf(0.5f * angle), .w = cosf(0.5f * angle)};
}

// A ramp that rises from the origin along x at this angle.
static cairn_world *ramp_world(float angle) {
    cairn_world *world = flat_world();
    const cairn_shape_def ramp = box(20.0f, 1.0f, 5.0f);
    const cairn_quat rotation = about_z(angle);
    const cairn_vec3 corner = quat_rotate(rotation, vec3(-20.0f, 1.0f, 0.0f));
    put_turned(world, vec3_negate(corner), rotation, &ramp);
    return world;
}

TEST("a figure falls to the ground and stands on it") {
    SCOPED(cairn_world) *world = flat_world();
    cairn_mover figure = figure_at(vec3(1.0f, 3.0f, 2.0f));
    walk_for(world, &figure, vec3_zero(), 60);
    assert_int_equal(figure.on_ground, 1);
    expect_vec3(figure.position, vec3(1.0f, STANDING, 2.0f), 1e-3f);
    expect_vec3(figure.velocity, vec3_zero(), 0.0f);
    expect_vec3(figure.ground_normal, vec3(0.0f, 1.0f, 0.0f), 1e-5f);
    const cairn_vec3 before = figure.position;
    walk_for(world, &figure, vec3_zero(), 600);
    expect_vec3(figure.position, before, 1e-4f); // it does not creep
}

TEST("on flat ground a figure goes as far as its speed says") {
    SCOPED(cairn_world) *world = flat_world();
    cairn_mover figure = standing_at(world, vec3(0.0f, STANDING, 0.0f));
    walk_for(world, &figure, vec3(3.0f, 0.0f, 4.0f), 120);
    expect_vec3(figure.position, vec3(6.0f, STANDING, 8.0f), 2e-3f);
    assert_int_equal(figure.on_ground, 1);
}

// Up and down a slope of 30 degrees the horizontal speed stays, and the height follows the slope:
// the foot touches it at a point that is not below the centre, so the centre is higher by
// r (1 / cos - 1) than on flat ground.
TEST("a figure walks up and down a slope at the same speed") {
    const float angle = 0.5235988f;
    SCOPED(cairn_world) *world = ramp_world(angle);
    cairn_mover figure = standing_at(world, vec3(-1.0f, STANDING, 0.0f));
    walk_for(world, &figure, vec3(2.0f, 0.0f, 0.0f), 150);
    const float height =
        figure.position.x * tanf(angle) + STANDING + 0.3f * (1.0f / cosf(angle) - 1.0f);
    expect_near(figure.position.x, 4.0f, 0.03f);
    expect_near(figure.position.y, height, 5e-3f);
    assert_int_equal(figure.on_ground, 1);
    for (uint32_t i = 0; i < 60; ++i) {
        walk(world, &figure, vec3(-2.0f, 0.0f, 0.0f));
        assert_int_equal(figure.on_ground, 1); // it does not hop down
    }
    expect_near(figure.position.x, 2.0f, 0.05f);
}

TEST("a slope of 60 degrees is not climbed, and a figure on it slides down") {
    SCOPED(cairn_world) *world = ramp_world(1.0471976f);
    cairn_mover figure = standing_at(world, vec3(-1.0f, STANDING, 0.0f));
    walk_for(world, &figure, vec3(3.0f, 0.0f, 0.0f), 120);
    assert_true(figure.position.y < STANDING + 0.05f);
    assert_true(figure.position.x < 0.0f);
    figure = figure_at(vec3(2.0f, 6.0f, 0.0f));
    walk_for(world, &figure, vec3_zero(), 180);
    expect_near(figure.position.y, STANDING, 0.01f);
    assert_int_equal(figure.on_ground, 1);
}

// Steps of up to 0.35 m are climbed, higher ones are walls.
TEST("a step is climbed if it is low enough") {
    for (int i = 0; i < 4; ++i) {
        const float heights[] = {0.1f, 0.3f, 0.4f, 1.0f};
        SCOPED(cairn_world) *world = flat_world();
        const cairn_shape_def step = box(2.0f, heights[i], 2.0f); // half of it is below the ground
        put_static(world, vec3(4.0f, 0.0f, 0.0f), &step);
        cairn_mover figure = standing_at(world, vec3(0.0f, STANDING, 0.0f));
        walk_for(world, &figure, vec3(2.0f, 0.0f, 0.0f), 90);
        const bool climbed = heights[i] < 0.35f;
        expect_near(figure.position.y, STANDING + (climbed ? heights[i] : 0.0f), 5e-3f);
        expect_near(figure.position.x, climbed ? 3.0f : 1.7f, 0.02f);
        assert_int_equal(figure.on_ground, 1);
    }
}

TEST("stairs are climbed and descended without leaving them") {
    SCOPED(cairn_world) *world = flat_world();
    for (int i = 0; i < 10; ++i) {
        const cairn_shape_def step = box(5.0f, 0.1f * (float)(i + 1), 2.0f);
        put_static(world, vec3(6.0f + 0.35f * (float)i, 0.1f * (float)(i + 1), 0.0f), &step);
    }
    cairn_mover figure = standing_at(world, vec3(0.0f, STANDING, 0.0f));
    for (uint32_t i = 0; i < 150; ++i) {
        walk(world, &figure, vec3(2.0f, 0.0f, 0.0f));
        assert_int_equal(figure.on_ground, 1);
    }
    expect_near(figure.position.y, STANDING + 2.0f, 5e-3f);
    expect_near(figure.position.x, 5.0f, 0.05f);
    for (uint32_t i = 0; i < 150; ++i) {
        walk(world, &figure, vec3(-2.0f, 0.0f, 0.0f));
        assert_int_equal(figure.on_ground, 1);
    }
    expect_near(figure.position.y, STANDING, 5e-3f);
    expect_near(figure.position.x, 0.0f, 0.05f);
}

// Along a wall at 45 degrees only the part of the velocity along the wall is left: v / sqrt(2), of
// which half is along x.
TEST("a figure slides along a wall with the part of its speed that is along it") {
    SCOPED(cairn_world) *world = flat_world();
    const cairn_shape_def wall = box(20.0f, 3.0f, 0.5f);
    put_turned(world, vec3(0.0f, 1.0f, 0.0f),
        (cairn_quat){.y = sinf(-0.3926991f), .w = cosf(-0.3926991f)}, &wall);
    cairn_mover figure = standing_at(world, vec3(0.0f, STANDING, 3.0f));
    walk_for(world, &figure, vec3(0.0f, 0.0f, -2.0f), 120);
    const cairn_vec3 before = figure.position;
    walk_for(world, &figure, vec3(0.0f, 0.0f, -2.0f), 60);
    const cairn_vec3 gone = vec3_sub(figure.position, before);
    expect_near(gone.z, -1.0f, 0.02f);
    expect_near(float_abs(gone.x), 1.0f, 0.02f);
    expect_near(vec3_length(figure.velocity), sqrtf(2.0f), 0.01f);
}

TEST("in a corner a figure stands still") {
    SCOPED(cairn_world) *world = flat_world();
    const cairn_shape_def wall = box(10.0f, 3.0f, 0.5f);
    for (int i = -1; i <= 1; i += 2) {
        const float turn = 0.5f * 0.6f * (float)i;
        put_turned(world, vec3(5.0f, 1.0f, 3.0f * (float)i),
            (cairn_quat){.y = sinf(turn), .w = cosf(turn)}, &wall);
    }
    cairn_mover figure = standing_at(world, vec3(0.0f, STANDING, 0.1f));
    walk_for(world, &figure, vec3(5.0f, 0.0f, 0.0f), 300);
    const cairn_vec3 before = figure.position;
    for (uint32_t i = 0; i < 60; ++i) {
        walk(world, &figure, vec3(5.0f, 0.0f, 0.0f));
        expect_vec3(figure.position, before, 2e-3f);
        assert_int_equal(figure.on_ground, 1);
    }
}

// At 200 m/s a tick is 3.3 m long.
TEST("nothing is passed through at any speed") {
    for (int i = 0; i < 40; ++i) {
        SCOPED(cairn_world) *world = flat_world();
        const cairn_shape_def wall = box(0.005f, 3.0f, 10.0f);
        put_static(world, vec3(5.0f, 1.0f, 0.0f), &wall);
        cairn_mover figure = standing_at(world, vec3(0.05f * (float)i, STANDING, 0.0f));
        walk_for(world, &figure, vec3(5.0f * (float)(i + 1), 0.0f, 1.0f), 60);
        assert_true(figure.position.x < 4.71f);
        assert_true(figure.position.x > 4.68f || i == 0);
    }
}

TEST("a lift carries a figure up and down, and a turntable around") {
    SCOPED(cairn_world) *world = flat_world();
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_KINEMATIC;
    def.position = vec3(0.0f, -0.4f, 0.0f);
    def.angular_velocity = vec3(0.0f, 1.0f, 0.0f);
    const cairn_shape_def table = box(5.0f, 0.5f, 5.0f);
    const cairn_body_id body = kit_body(world, &def, &table);
    cairn_mover figure = standing_at(world, vec3(2.0f, STANDING + 0.1f, 0.0f));
    assert_int_equal(figure.ground, body);
    for (int phase = 0; phase < 3; ++phase) {
        const float speeds[] = {1.5f, 0.0f, -1.5f};
        EXPECT_OK(cairn_body_set_velocity(
            world, body, vec3(0.0f, speeds[phase], 0.0f), vec3(0.0f, 1.0f, 0.0f)));
        for (uint32_t i = 0; i < 60; ++i) {
            walk(world, &figure, vec3_zero());
            const float top = kit_read(world, body).position.y + 0.5f;
            assert_int_equal(figure.on_ground, 1);
            expect_near(figure.position.y, top + STANDING, 5e-3f);
            const float radius = sqrtf(
                figure.position.x * figure.position.x + figure.position.z * figure.position.z);
            expect_near(radius, 2.0f, 0.02f);
            kit_run(world, 1);
        }
    }
    expect_near(
        vec3_length(vec3(figure.ground_velocity.x, 0.0f, figure.ground_velocity.z)), 2.0f, 0.02f);
}

TEST("a moving wall pushes a figure along") {
    SCOPED(cairn_world) *world = flat_world();
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_KINEMATIC;
    def.position = vec3(-3.0f, 1.5f, 0.0f);
    def.linear_velocity = vec3(2.0f, 0.0f, 0.0f);
    const cairn_shape_def wall = box(0.2f, 1.4f, 5.0f);
    const cairn_body_id body = kit_body(world, &def, &wall);
    cairn_mover figure = standing_at(world, vec3(0.0f, STANDING, 0.0f));
    for (uint32_t i = 0; i < 180; ++i) {
        kit_run(world, 1);
        walk(world, &figure, vec3_zero());
    }
    const float face = kit_read(world, body).position.x + 0.2f;
    expect_near(figure.position.x, face + 0.3f, 0.02f);
    assert_int_equal(figure.on_ground, 1);
}

TEST("a figure that walks over an edge falls, and one that jumps leaves the ground") {
    SCOPED(cairn_world) *world = flat_world();
    const cairn_shape_def block = box(2.0f, 1.0f, 2.0f);
    put_static(world, vec3(0.0f, 1.0f, 0.0f), &block);
    cairn_mover figure = standing_at(world, vec3(0.0f, STANDING + 2.0f, 0.0f));
    walk_for(world, &figure, vec3(3.0f, 0.0f, 0.0f), 60);
    assert_int_equal(figure.on_ground, 0);
    walk_for(world, &figure, vec3(3.0f, 0.0f, 0.0f), 60);
    assert_int_equal(figure.on_ground, 1);
    expect_near(figure.position.y, STANDING, 1e-3f);
    // A jump of 5 m/s rises by v^2 / 2 g, less half a tick's way for the steps of gravity.
    const cairn_mover_def def = cairn_mover_def_default();
    figure.velocity = vec3(0.0f, 5.0f, 0.0f);
    float highest = 0.0f;
    EXPECT_OK(cairn_mover_move(world, &def, &figure, STEP));
    assert_int_equal(figure.on_ground, 0);
    for (uint32_t i = 0; i < 90; ++i) {
        highest = float_max(highest, figure.position.y);
        walk(world, &figure, vec3_zero());
    }
    expect_near(highest - STANDING, 25.0f / 19.62f, 0.06f);
    assert_int_equal(figure.on_ground, 1);
}

TEST("planes name what is near, in order of index") {
    SCOPED(cairn_world) *world = flat_world();
    const cairn_shape_def wall = box(0.5f, 3.0f, 5.0f);
    put_static(world, vec3(0.85f, 1.0f, 0.0f), &wall);
    const cairn_mover_def def = cairn_mover_def_default();
    cairn_mover_plane planes[CAIRN_MOVER_PLANES_MAX];
    assert_int_equal(
        cairn_mover_planes(world, &def, vec3(0.0f, STANDING + 0.02f, 0.0f), 0.1f, planes), 2);
    expect_vec3(planes[0].normal, vec3(0.0f, 1.0f, 0.0f), 1e-5f);
    expect_near(planes[0].separation, 0.02f, 1e-4f);
    expect_vec3(planes[1].normal, vec3(-1.0f, 0.0f, 0.0f), 1e-5f);
    expect_near(planes[1].separation, 0.05f, 1e-4f);
}

TEST("a move refuses values that are out of range and leaves the mover") {
    SCOPED(cairn_world) *world = flat_world();
    cairn_mover_def def = cairn_mover_def_default();
    cairn_mover figure = figure_at(vec3(0.0f, 2.0f, 0.0f));
    const cairn_mover before = figure;
    assert_int_equal(cairn_mover_move(world, &def, &figure, 0.0f), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_mover_move(world, &def, &figure, NAN), CAIRN_NON_FINITE);
    def.up = vec3_zero();
    assert_int_equal(cairn_mover_move(world, &def, &figure, STEP), CAIRN_INVALID_ARGUMENT);
    def = cairn_mover_def_default();
    def.radius = -1.0f;
    assert_int_equal(cairn_mover_move(world, &def, &figure, STEP), CAIRN_INVALID_ARGUMENT);
    assert_memory_equal(&figure, &before, sizeof figure);
}

// Among crates that fall and roll: a figure in the world and one in a copy that is restored in
// every tick take the same way, bit for bit.
TEST("a figure takes the same way in a world that is restored in every tick") {
    SCOPED(cairn_world) *world = flat_world();
    SCOPED(cairn_world) *twin = kit_world(NULL);
    for (int i = 0; i < 60; ++i) {
        kit_box(world,
            vec3(
                -4.0f + 1.1f * (float)(i % 8), 1.0f + 0.7f * (float)(i / 8), 0.9f * (float)(i % 5)),
            vec3(0.3f, 0.25f, 0.4f), 500.0f);
    }
    cairn_mover figures[2] = {
        figure_at(vec3(-6.0f, STANDING, 0.5f)), figure_at(vec3(-6.0f, STANDING, 0.5f))};
    for (uint32_t tick = 0; tick < 240; ++tick) {
        SCOPED(kit_bytes) saved = kit_save(world);
        EXPECT_OK(cairn_world_load(twin, saved.bytes, saved.size));
        const cairn_vec3 wanted = vec3(3.0f, 0.0f, tick % 60 < 30 ? 1.0f : -1.0f);
        walk(world, &figures[0], wanted);
        walk(twin, &figures[1], wanted);
        assert_memory_equal(&figures[0], &figures[1], sizeof figures[0]);
        kit_run(world, 1);
    }
}
