// SPDX-License-Identifier: MIT
// Rules of one's own: water below y = 0 that carries boxes, by Archimedes' principle.
//
// Each box is cut into columns along the axis that is most nearly vertical. A column displaces
// water up to the surface: the force is rho g V of what is submerged, upwards, at the middle of it.
// Drag is linear in the velocity there. Nothing but forces is applied, at the start of each step,
// from the poses alone, so a tick that is stepped again gives the same bits.

#include <cairn/math.h>
#include <cairn/rules.h>
#include <cairn/sim.h>

#define WATER_DENSITY 1000.0f // kg/m^3
#define DRAG 0.5f             // 1/s
#define COLUMNS 4             // along each side
#define BODIES_MAX 256

static float component(cairn_vec3 v, int axis) {
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static cairn_vec3 along(int axis, float length) {
    return cairn_vec3_of(
        axis == 0 ? length : 0.0f, axis == 1 ? length : 0.0f, axis == 2 ? length : 0.0f);
}

// One column of the cross section `area`, from its middle (world) by `half` both ways.
static void push_column(cairn_world *world, const cairn_body_state *body, cairn_vec3 middle,
    cairn_vec3 half, float area, float gravity) {
    const float height = cairn_float_abs(half.y);
    const float depth = 0.0f - (middle.y - height); // of the lower end
    const float share = height > 0.0f ? cairn_float_clamp(0.5f * depth / height, 0.0f, 1.0f) : 0.0f;
    if (share <= 0.0f) {
        return;
    }
    // From the lower end upwards; `half` may point either way.
    const cairn_vec3 up = half.y < 0.0f ? cairn_vec3_negate(half) : half;
    const cairn_vec3 point = cairn_vec3_add_scaled(middle, up, share - 1.0f);
    const float mass = WATER_DENSITY * area * 2.0f * cairn_vec3_length(half) * share;
    // The velocity of the point. The body's position must be its centre of mass.
    const cairn_vec3 velocity = cairn_vec3_add(body->linear_velocity,
        cairn_vec3_cross(body->angular_velocity, cairn_vec3_sub(point, body->position)));
    cairn_vec3 force = cairn_vec3_scale(velocity, 0.0f - DRAG * mass);
    force.y += mass * gravity;
    (void)cairn_body_apply_force_at(world, body->id, force, point);
}

static void push_box(
    cairn_world *world, const cairn_body_state *body, const cairn_shape_def *shape, float gravity) {
    const cairn_pose pose =
        cairn_pose_multiply(cairn_pose_of(body->position, body->rotation), shape->pose);
    const cairn_vec3 up = cairn_quat_rotate_inverse(pose.rotation, cairn_vec3_of(0.0f, 1.0f, 0.0f));
    const cairn_vec3 steep = cairn_vec3_abs(up);
    const int axis = steep.x > steep.y && steep.x > steep.z ? 0 : steep.y > steep.z ? 1 : 2;
    const int first = (axis + 1) % 3;
    const int second = (axis + 2) % 3;
    const float wide = 2.0f * component(shape->half_extents, first) / COLUMNS;
    const float deep = 2.0f * component(shape->half_extents, second) / COLUMNS;
    const cairn_vec3 half =
        cairn_quat_rotate(pose.rotation, along(axis, component(shape->half_extents, axis)));
    for (int i = 0; i < COLUMNS * COLUMNS; ++i) {
        const float x = ((float)(i % COLUMNS) + 0.5f - 0.5f * COLUMNS) * wide;
        const float y = ((float)(i / COLUMNS) + 0.5f - 0.5f * COLUMNS) * deep;
        const cairn_vec3 local = cairn_vec3_add(along(first, x), along(second, y));
        push_column(world, body, cairn_pose_apply(pose, local), half, wide * deep, gravity);
    }
}

static void float_boxes(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    cairn_body_state bodies[BODIES_MAX];
    cairn_shape_id shapes[8];
    const float gravity = cairn_vec3_length(cairn_world_gravity(world));
    const uint32_t all = cairn_world_bodies(world, bodies, BODIES_MAX);
    (void)state;
    (void)commands;
    (void)command_count;
    for (uint32_t i = 0; i < all && i < BODIES_MAX; ++i) {
        const uint32_t count = bodies[i].kind != CAIRN_BODY_DYNAMIC || bodies[i].enabled == 0
                                   ? 0
                                   : cairn_body_shapes(world, bodies[i].id, shapes, 8);
        for (uint32_t k = 0; k < count && k < 8; ++k) {
            cairn_shape_def shape;
            cairn_body_id owner;
            if (cairn_shape_read(world, shapes[k], &shape, &owner) == CAIRN_OK &&
                shape.kind == CAIRN_SHAPE_BOX) {
                push_box(world, &bodies[i], &shape, gravity);
            }
        }
    }
}

extern const cairn_rules example_buoyancy;
const cairn_rules example_buoyancy = {
    .name = "buoyancy", .version = 1, .state_size = 0, .step = float_boxes};
