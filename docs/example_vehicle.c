// SPDX-License-Identifier: MIT
// Rules for cars: each player drives one. A car is a chassis and four wheel joints; the rear wheels
// have the engine, the front wheels steer, and all have brakes. Forward is +x of the chassis, up is
// +y. Inputs: move.x the throttle, -1 to 1; move.z the steering, -1 (left) to 1; buttons bit 0 the
// brake.
#include <cairn/math.h>
#include <cairn/rules.h>
#include <cairn/sim.h>
#include <string.h>

enum { WHEELS = 4, PLAYERS = CAIRN_SLOTS_MAX, BRAKE = 1 };

#define HALF_BASE 1.25f      // m, from the middle to the axles
#define HALF_TRACK 0.75f     // m, from the middle to the wheels
#define WHEEL_RADIUS 0.35f   // m
#define ENGINE_TORQUE 800.0f // N m, of both rear wheels
#define BRAKE_TORQUE 3000.0f // N m, of each wheel
#define CURVATURE_MAX 0.15f  // 1/m: the smallest circle has a radius of 6.7 m

// Words without padding: part of the state of the world.
typedef struct car {
    cairn_body_id chassis;
    cairn_body_id wheels[WHEELS]; // front left, front right, rear left, rear right
    cairn_joint_id joints[WHEELS];
} car;

typedef struct cars {
    car of_slot[PLAYERS];
} cars;

static float sideways(int wheel) { // right is +z
    return wheel % 2 == 0 ? -HALF_TRACK : HALF_TRACK;
}

static void add_wheel(cairn_world *world, car *c, int wheel, cairn_vec3 position) {
    const int front = wheel < 2;
    const cairn_vec3 place = cairn_vec3_of(front ? HALF_BASE : -HALF_BASE, -0.35f, sideways(wheel));
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def tyre = cairn_shape_def_default();
    cairn_shape_id shape;
    body.position = cairn_vec3_add(position, place);
    tyre.kind = CAIRN_SHAPE_SPHERE;
    tyre.radius = WHEEL_RADIUS;
    tyre.density = 110.0f; // 20 kg
    tyre.friction = 1.0f;
    if (cairn_body_create(world, &body, &c->wheels[wheel]) != CAIRN_OK ||
        cairn_shape_create(world, c->wheels[wheel], &tyre, &shape) != CAIRN_OK) {
        return;
    }
    cairn_joint_def joint = cairn_joint_def_default();
    joint.kind = CAIRN_JOINT_WHEEL;
    joint.body_a = c->chassis;
    joint.body_b = c->wheels[wheel];
    joint.anchor_a = place;
    joint.axis_a = cairn_vec3_of(0, 1, 0);
    joint.normal_a = cairn_vec3_of(0, 0, -1); // a positive spin about it rolls forward
    joint.axis_b = cairn_vec3_of(0, 0, -1);
    joint.normal_b = cairn_vec3_of(0, 1, 0);
    joint.spring = 1; // of the suspension; its mass is the wheel's, so it is stiff
    joint.spring_hertz = 8.0f;
    joint.spring_damping = 2.0f;
    joint.limited = 1;
    joint.lower = -0.15f;
    joint.upper = 0.15f;
    joint.motor = 1;
    joint.motor_force = 0.0f;
    joint.steering = front ? 1 : 0;
    joint.steering_hertz = 12.0f;
    (void)cairn_joint_create(world, &joint, &c->joints[wheel]);
}

static void create_car(cairn_world *world, car *c, cairn_vec3 position) {
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def box = cairn_shape_def_default();
    cairn_shape_id shape;
    body.position = position;
    box.half_extents = cairn_vec3_of(2.0f, 0.25f, 0.6f);
    box.density = 380.0f; // 912 kg
    if (cairn_body_create(world, &body, &c->chassis) != CAIRN_OK ||
        cairn_shape_create(world, c->chassis, &box, &shape) != CAIRN_OK) {
        return;
    }
    for (int i = 0; i < WHEELS; ++i) {
        add_wheel(world, c, i, position);
    }
}

static void destroy_car(cairn_world *world, car *c) {
    for (int i = 0; i < WHEELS; ++i) {
        (void)cairn_body_destroy(world, c->wheels[i]); // its joint goes with it
    }
    (void)cairn_body_destroy(world, c->chassis);
    memset(c, 0, sizeof *c);
}

// After Ackermann: the axles of all wheels meet in the middle of the circle, which is on the line
// of the rear axle. Positive angles turn left.
static float steering_angle(int wheel, float curvature) {
    return cairn_float_atan2(2.0f * HALF_BASE * curvature, 1.0f + curvature * sideways(wheel));
}

static void drive_car(cairn_world *world, const car *c, const cairn_command *input) {
    const float throttle = input->move.x;
    const int brake = (input->buttons & BRAKE) != 0;
    const float engine = 0.5f * ENGINE_TORQUE * (throttle < 0.0f ? -throttle : throttle);
    for (int i = 0; i < WHEELS; ++i) {
        const float torque = brake ? BRAKE_TORQUE : (i >= 2 ? engine : 0.0f);
        const float speed = brake ? 0.0f : (throttle < 0.0f ? -200.0f : 200.0f);
        (void)cairn_joint_set_motor(world, c->joints[i], speed, torque);
        if (i < 2) {
            const float curvature = -input->move.z * CURVATURE_MAX;
            (void)cairn_joint_set_steering(world, c->joints[i], steering_angle(i, curvature));
        }
    }
}

static void step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    cars *all = state;
    for (uint32_t i = 0; i < command_count; ++i) {
        const cairn_command *command = &commands[i];
        car *c = &all->of_slot[command->slot];
        if (command->kind == CAIRN_COMMAND_JOIN) {
            create_car(world, c, cairn_vec3_of(0, 0.75f, 6.0f * (float)command->slot));
        } else if (command->kind == CAIRN_COMMAND_LEAVE) {
            destroy_car(world, c);
        } else if (c->chassis != CAIRN_ID_NULL) {
            drive_car(world, c, command);
        }
    }
}

extern const cairn_rules example_vehicle;
const cairn_rules example_vehicle = {
    .name = "vehicle", .version = 1, .state_size = sizeof(cars), .step = step};
