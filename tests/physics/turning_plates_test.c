// SPDX-License-Identifier: MIT
// Thin kinematic plates that turn, and small bodies that are thrown at them or slide over them. A
// plate comes towards what is beside it although its centre rests, and its normal turns during a
// tick. No body may get to the other side.

#include "tests/sim/world_kit.h"

#include <math.h>

#include "base/random.h"

#define THROWS 1000u
#define TICKS 12u

typedef struct plate_kind {
    uint32_t shape;
    float half;  // m, half the length of its sides
    float rate;  // rad/s, at most
    float slide; // m/s along the plate, at most
} plate_kind;

static float uniform(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

static cairn_world *world_of_plate(void) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = 2;
    def.shape_capacity = 2;
    def.joint_capacity = 0;
    def.contact_capacity = 16;
    def.hull_capacity = 1;
    def.mesh_block_capacity = 8;
    def.gravity = vec3_zero();
    return kit_world(&def);
}

// In the plane x = 0, or 1 cm thick about it; a mesh is seen from the side of the throws.
static cairn_shape_def plate_of(cairn_world *world, const plate_kind *kind) {
    const float half = kind->half;
    cairn_shape_def plate = cairn_shape_def_default();
    plate.kind = kind->shape;
    plate.half_extents = vec3(0.005f, half, half);
    if (kind->shape == CAIRN_SHAPE_HULL) {
        cairn_vec3 corners[8];
        for (uint32_t i = 0; i < 8; ++i) {
            corners[i] = vec3((i & 1u) != 0 ? 0.005f : -0.005f, (i & 2u) != 0 ? half : -half,
                (i & 4u) != 0 ? half : -half);
        }
        EXPECT_OK(cairn_hull_create(world, corners, 8, &plate.hull));
    } else if (kind->shape == CAIRN_SHAPE_MESH) {
        const cairn_vec3 corners[4] = {
            {0.0f, -half, -half}, {0.0f, half, -half}, {0.0f, half, half}, {0.0f, -half, half}};
        const uint32_t indices[6] = {0, 2, 1, 0, 3, 2};
        const cairn_mesh_def mesh = {
            .vertices = corners, .vertex_count = 4, .indices = indices, .triangle_count = 2};
        EXPECT_OK(cairn_mesh_create(world, &mesh, &plate.mesh));
    }
    return plate;
}

// Throws a body of 5 cm from x < 0. `i`: the shape and the axis about which the plate turns.
static cairn_body_id thrown_at(
    cairn_world *world, const plate_kind *kind, cairn_random *random, uint32_t i, float rate) {
    static const uint32_t kinds[] = {CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE, CAIRN_SHAPE_BOX,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_CONE};
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = kinds[i % 5];
    shape.radius = 0.05f;
    shape.half_height = 0.05f;
    shape.half_extents = vec3(0.05f, 0.05f, 0.05f);
    cairn_body_def def = cairn_body_def_default();
    const float speed = uniform(random, 10.0f, 300.0f);
    const float y = uniform(random, -0.95f, 0.95f) * kind->half;
    const float z = uniform(random, -0.95f, 0.95f) * kind->half;
    // The plate must not run away from it.
    const float away = (i % 2 == 0 ? 0.0f - rate * y : rate * z) + 10.0f;
    def.position = vec3(-0.3f - uniform(random, 0.0f, speed / 60.0f), y, z);
    def.linear_velocity = vec3(fmaxf(speed, away), uniform(random, 0.0f - kind->slide, kind->slide),
        uniform(random, 0.0f - kind->slide, kind->slide));
    def.angular_velocity = vec3(uniform(random, -20.0f, 20.0f), uniform(random, -20.0f, 20.0f),
        uniform(random, -20.0f, 20.0f));
    return kit_body(world, &def, &shape);
}

// Where the body is as seen from the plate.
static cairn_vec3 place_on(const cairn_world *world, cairn_body_id plate, cairn_body_id body) {
    return quat_rotate_inverse(kit_read(world, plate).rotation, kit_read(world, body).position);
}

// Whether the centre of the body passes the plate, at most `inside` metres from the middle.
static bool passes(cairn_world *world, cairn_body_id plate, cairn_body_id body, float inside) {
    cairn_vec3 last = place_on(world, plate, body);
    for (uint32_t tick = 0; tick < TICKS; ++tick) {
        kit_run(world, 1);
        const cairn_vec3 now = place_on(world, plate, body);
        if (now.x > 0.0f) {
            const float part = last.x / (last.x - now.x);
            return fabsf(last.y + part * (now.y - last.y)) < inside &&
                   fabsf(last.z + part * (now.z - last.z)) < inside;
        }
        last = now;
    }
    return false;
}

static void expect_none_passes(const plate_kind *kind, uint64_t seed) {
    cairn_random random = cairn_random_of(seed);
    uint32_t passed = 0;
    // A body that flies past the rim may seem to cross the plate, because the rim moves in the
    // tick.
    const float inside = kind->half - (kind->half < 5.0f ? 0.1f : 0.6f);
    for (uint32_t i = 0; i < THROWS; ++i) {
        SCOPED(cairn_world) *world = world_of_plate();
        const cairn_shape_def shape = plate_of(world, kind);
        const float size = uniform(&random, 0.1f, 1.0f) * kind->rate;
        const float rate = i % 4 < 2 ? size : 0.0f - size;
        cairn_body_def def = cairn_body_def_default();
        def.kind = CAIRN_BODY_KINEMATIC;
        def.angular_velocity = i % 2 == 0 ? vec3(0.0f, 0.0f, rate) : vec3(0.0f, rate, 0.0f);
        const cairn_body_id plate = kit_body(world, &def, &shape);
        const cairn_body_id body = thrown_at(world, kind, &random, i, rate);
        if (passes(world, plate, body, inside)) {
            print_error("throw %u passed\n", i);
            ++passed;
        }
    }
    assert_int_equal(passed, 0);
}

TEST("no body passes a plate of 20 m or 3 m that turns") {
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_BOX, 10.0f, 2.0f, 20.0f}, 1);
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_BOX, 1.5f, 5.0f, 20.0f}, 2);
}

// The core of a hull is the hull made smaller about its centre, but not at its rim by a metre.
TEST("no body passes a hull of 20 m that turns") {
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_HULL, 10.0f, 2.0f, 20.0f}, 3);
}

TEST("no body passes a mesh that turns") {
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_MESH, 10.0f, 2.0f, 20.0f}, 4);
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_MESH, 1.5f, 5.0f, 20.0f}, 5);
}

TEST("nothing that slides over a turning plate sinks through it") {
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_BOX, 10.0f, 3.0f, 100.0f}, 6);
    expect_none_passes(&(plate_kind){CAIRN_SHAPE_MESH, 10.0f, 3.0f, 60.0f}, 7);
}
