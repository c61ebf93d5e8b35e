// SPDX-License-Identifier: MIT

// Cars of docs/example_vehicle.c: rules with four wheel joints, an engine, brakes and steering.

#include "tests/physics/query_kit.h"

extern const cairn_rules example_vehicle;

enum { CARS_TICK_RATE = 60 };

#define TORQUE 800.0 // N m, as in the example
#define RADIUS 0.35
#define FREE_FALL 9.81 // m/s^2

typedef struct street {
    cairn_world *world;
    cairn_body_id chassis;
} street;

static void street_destroy(street *s) {
    cairn_world_destroy(s->world);
}
SCOPE_ENDS(street, street_destroy)

static void drive(const street *s, uint32_t kind, float throttle, float steering, bool brake) {
    const cairn_command command = {
        .kind = kind, .buttons = brake ? 1 : 0, .move = vec3(throttle, 0, steering)};
    cairn_world_step(s->world, &command, 1);
}

static void run(const street *s, int ticks, float throttle, float steering, bool brake) {
    for (int i = 0; i < ticks; ++i) {
        drive(s, CAIRN_COMMAND_INPUT, throttle, steering, brake);
    }
}

// One car on a plane that rises by `slope` rad along +x, at rest on its wheels.
static street street_create(float slope) {
    cairn_world_def def = cairn_world_def_default();
    def.rules = &example_vehicle;
    def.gravity = vec3(0, -(float)FREE_FALL, 0);
    street s = {.world = kit_world(&def)};
    cairn_body_def ground = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    ground.kind = CAIRN_BODY_STATIC;
    ground.rotation = (cairn_quat){.z = sinf(0.5f * slope), .w = cosf(0.5f * slope)};
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    shape.friction = 1.0f;
    (void)kit_body(s.world, &ground, &shape);
    drive(&s, CAIRN_COMMAND_JOIN, 0, 0, false);
    cairn_body_state bodies[8];
    assert_int_equal(cairn_world_bodies(s.world, bodies, 8), 6);
    s.chassis = bodies[1].id;
    run(&s, 2 * CARS_TICK_RATE, 0, 0, true);
    return s;
}

static double total_mass(const street *s) {
    cairn_body_state bodies[8];
    double mass = 0.0;
    const uint32_t count = cairn_world_bodies(s->world, bodies, 8);
    for (uint32_t i = 0; i < count; ++i) {
        mass += (double)cairn_body_mass(s->world, bodies[i].id);
    }
    return mass;
}

static cairn_vec3 velocity_of(const street *s) {
    return kit_read(s->world, s->chassis).linear_velocity;
}

// The engine pushes with T / r the mass of the car, and the wheels, which also turn: each adds
// I / r^2, which is 2 m / 5 for a ball.
TEST("a car accelerates by its torque over radius and mass") {
    SCOPED(street) s = street_create(0.0f);
    const double mass = total_mass(&s);
    const double wheels = 4.0 * 110.0 * (4.0 / 3.0) * 3.14159265 * RADIUS * RADIUS * RADIUS;
    const double expected = TORQUE / RADIUS / (mass + 0.4 * wheels);
    run(&s, CARS_TICK_RATE, 1, 0, false);
    const double before = (double)velocity_of(&s).x;
    run(&s, 2 * CARS_TICK_RATE, 1, 0, false);
    const double got = ((double)velocity_of(&s).x - before) / 2.0;
    print_message("acceleration %.4f m/s^2, closed form %.4f\n", got, expected);
    EXPECT_MEASURED(got, expected, 0.01 * expected);
    EXPECT_MEASURED((double)velocity_of(&s).z, 0.0, 0.01);
}

// With locked wheels a car slides with mu g.
TEST("a car brakes within v^2 / (2 mu g)") {
    SCOPED(street) s = street_create(0.0f);
    run(&s, 6 * CARS_TICK_RATE, 1, 0, false);
    const double speed = (double)velocity_of(&s).x;
    const double start = (double)kit_read(s.world, s.chassis).position.x;
    run(&s, 5 * CARS_TICK_RATE, 0, 0, true);
    const double way = (double)kit_read(s.world, s.chassis).position.x - start;
    const double expected = speed * speed / (2.0 * FREE_FALL);
    print_message("from %.2f m/s: %.3f m, closed form %.3f m\n", speed, way, expected);
    EXPECT_MEASURED(way, expected, 0.04 * expected);
    EXPECT_MEASURED((double)velocity_of(&s).x, 0.0, 1e-3);
}

TEST("a car stands on a slope of 15 degrees with its brakes, and rolls down it without") {
    const double slope = 15.0 * 3.14159265 / 180.0;
    SCOPED(street) s = street_create((float)slope);
    const cairn_vec3 start = kit_read(s.world, s.chassis).position;
    run(&s, 10 * CARS_TICK_RATE, 0, 0, true);
    const cairn_vec3 end = kit_read(s.world, s.chassis).position;
    print_message("moved %.5f m in 10 s\n", (double)vec3_distance(start, end));
    EXPECT_MEASURED((double)vec3_distance(start, end), 0.0, 0.005);
    run(&s, CARS_TICK_RATE, 0, 0, false);
    const double mass = total_mass(&s);
    const double wheels = 4.0 * 110.0 * (4.0 / 3.0) * 3.14159265 * RADIUS * RADIUS * RADIUS;
    const double expected = FREE_FALL * sin(slope) * mass / (mass + 0.4 * wheels);
    EXPECT_MEASURED((double)vec3_length(velocity_of(&s)), expected, 0.02 * expected);
}

// Slow wheels roll without slip along a circle about the point where their axles meet: its radius,
// to the middle of the rear axle, is what the steering says.
TEST("a car turns on the circle of its steering") {
    SCOPED(street) s = street_create(0.0f);
    run(&s, 45, 0.5f, 0, false);
    run(&s, 2 * CARS_TICK_RATE, 0, -0.5f, false);
    cairn_vec3 places[3]; // of the middle of the rear axle
    for (int i = 0; i < 3; ++i) {
        run(&s, 90, 0, -0.5f, false);
        const cairn_body_state state = kit_read(s.world, s.chassis);
        places[i] = vec3_add(state.position, quat_rotate(state.rotation, vec3(-1.25f, 0, 0)));
        places[i].y = 0.0f;
    }
    // The circle through three points: a b c / (4 area).
    const float a = vec3_distance(places[0], places[1]);
    const float b = vec3_distance(places[1], places[2]);
    const float c = vec3_distance(places[2], places[0]);
    const cairn_vec3 cross =
        vec3_cross(vec3_sub(places[1], places[0]), vec3_sub(places[2], places[0]));
    const double radius = (double)(a * b * c / (2.0f * vec3_length(cross)));
    const double expected = 1.0 / (0.5 * 0.15);
    print_message("radius %.3f m, closed form %.3f m, %.2f m/s\n", radius, expected,
        (double)vec3_length(velocity_of(&s)));
    EXPECT_MEASURED(radius, expected, 0.03 * expected);
    assert_true(kit_read(s.world, s.chassis).angular_velocity.y > 0.0f); // to the left
}

TEST("cars go on with the same bits after a restore in every tick") {
    SCOPED(street) s = street_create(0.0f);
    SCOPED(cairn_world) *twin = kit_fork(s.world);
    for (int i = 0; i < 90; ++i) {
        const cairn_command command = {.kind = CAIRN_COMMAND_INPUT,
            .buttons = i > 60 ? 1 : 0,
            .move = vec3(1, 0, 0.01f * (float)i)};
        SCOPED(kit_bytes) saved = kit_save(s.world);
        cairn_world_step(s.world, &command, 1);
        EXPECT_OK(cairn_world_load(twin, saved.bytes, saved.size));
        cairn_world_step(twin, &command, 1);
        assert_true(kit_equal(s.world, twin));
    }
}
