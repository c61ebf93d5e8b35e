// SPDX-License-Identifier: MIT
#pragma once

// Articulated figures for tests: bodies joined at world points, and a humanoid of thirty hinges.

#include "tests/sim/world_kit.h"

#include <cairn/articulation.h>

static const cairn_vec3 X = {1.0f, 0.0f, 0.0f};
static const cairn_vec3 Y = {0.0f, 1.0f, 0.0f};
static const cairn_vec3 Z = {0.0f, 0.0f, 1.0f};

static inline cairn_world *kit_articulated_world(float gravity) {
    cairn_world_def def = cairn_world_def_default();
    def.gravity = vec3(0.0f, 0.0f - gravity, 0.0f);
    def.sleep = 0;
    return kit_world(&def);
}

// A box that touches no other, or a static one.
static inline cairn_body_id kit_link(
    cairn_world *world, cairn_vec3 at, cairn_vec3 half_extents, uint32_t kind) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = kind;
    def.position = at;
    def.linear_damping = 0.0f;
    def.angular_damping = 0.0f;
    shape.half_extents = half_extents;
    shape.category = 2;
    shape.mask = 1;
    return kit_body(world, &def, &shape);
}

// A joint at a point between two bodies that are not turned.
static inline cairn_joint_def kit_hang(const cairn_world *world, uint32_t kind, cairn_body_id a,
    cairn_body_id b, cairn_vec3 at, cairn_vec3 axis) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = vec3_sub(at, kit_read(world, a).position);
    def.anchor_b = vec3_sub(at, kit_read(world, b).position);
    def.axis_a = axis;
    def.axis_b = axis;
    def.normal_a = vec3_tangent(axis);
    def.normal_b = def.normal_a;
    def.articulated = 1;
    return def;
}

// The largest distance between anchors that a joint holds together.
static inline float kit_joint_gap(const cairn_world *world) {
    cairn_joint_id joints[256];
    const uint32_t count = cairn_world_joints(world, joints, 256);
    float worst = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        float error = 0.0f;
        EXPECT_OK(cairn_joint_error(world, joints[i], &error));
        worst = float_max(worst, error);
    }
    return worst;
}

typedef struct kit_motion_sum {
    float energy; // with the potential energy under `gravity`
    cairn_vec3 momentum;
    cairn_vec3 angular_momentum; // about the origin
} kit_motion_sum;

static inline kit_motion_sum kit_sum_of_motion(const cairn_world *world, float gravity) {
    cairn_body_state bodies[256];
    const uint32_t count = cairn_world_bodies(world, bodies, 256);
    kit_motion_sum sum = {.energy = 0.0f};
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_body_state *body = &bodies[i];
        cairn_mass_properties mass;
        if (body->kind != CAIRN_BODY_DYNAMIC) {
            continue;
        }
        EXPECT_OK(cairn_body_read_mass(world, body->id, &mass));
        const cairn_vec3 spin = quat_rotate_inverse(body->rotation, body->angular_velocity);
        const cairn_vec3 own = sym3_apply(sym3_of(mass.inertia), spin);
        const cairn_vec3 p = vec3_scale(body->linear_velocity, mass.mass);
        sum.energy += 0.5f * (vec3_dot(p, body->linear_velocity) + vec3_dot(spin, own)) +
                      mass.mass * gravity * body->position.y;
        sum.momentum = vec3_add(sum.momentum, p);
        sum.angular_momentum = vec3_add(sum.angular_momentum,
            vec3_add(vec3_cross(body->position, p), quat_rotate(body->rotation, own)));
    }
    return sum;
}

typedef struct kit_humanoid {
    cairn_world *world;
    cairn_joint_def joint; // of all; kind, bodies and frames are filled in
    uint32_t count;        // of joints so far
} kit_humanoid;

static inline cairn_body_id kit_limb(
    kit_humanoid *h, cairn_body_id on, cairn_vec3 at, cairn_vec3 joint, float radius) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_CAPSULE;
    shape.radius = radius;
    shape.half_height = 0.03f;
    shape.category = 2; // limbs do not touch each other
    shape.mask = 1;
    const cairn_body_id body = kit_drop(h->world, at, &shape);
    if (on != CAIRN_ID_NULL) {
        const cairn_vec3 axes[3] = {X, Y, Z};
        cairn_joint_def def = h->joint;
        const cairn_joint_def place =
            kit_hang(h->world, CAIRN_JOINT_HINGE, on, body, joint, axes[h->count % 3]);
        def.kind = place.kind;
        def.body_a = on;
        def.body_b = body;
        def.anchor_a = place.anchor_a;
        def.anchor_b = place.anchor_b;
        def.axis_a = def.axis_b = place.axis_a;
        def.normal_a = def.normal_b = place.normal_a;
        (void)kit_joint(h->world, &def);
        h->count += 1;
    }
    return body;
}

// Thirty hinges: spine, neck and head, six in each limb. Returns the pelvis.
static inline cairn_body_id kit_humanoid_at(
    cairn_world *world, cairn_vec3 at, bool articulated, float stiffness) {
    kit_humanoid h = {.world = world, .joint = cairn_joint_def_default()};
    h.joint.limited = 1;
    h.joint.lower = -1.2f;
    h.joint.upper = 1.2f;
    h.joint.articulated = articulated ? 1 : 0;
    h.joint.drive_stiffness = articulated ? stiffness : 0.0f;
    h.joint.drive_damping = articulated ? 0.05f * stiffness : 0.0f;
    h.joint.armature = articulated ? 0.01f : 0.0f;
    const cairn_body_id pelvis = kit_limb(&h, CAIRN_ID_NULL, at, at, 0.12f);
    cairn_body_id trunk = pelvis;
    for (uint32_t i = 0; i < 6; ++i) {
        const cairn_vec3 place = vec3_add(at, vec3(0.0f, 0.22f + 0.15f * (float)i, 0.0f));
        trunk = kit_limb(
            &h, trunk, place, vec3_sub(place, vec3(0.0f, 0.07f, 0.0f)), i < 4 ? 0.11f : 0.08f);
        for (uint32_t side = 0; i == 3 && side < 2; ++side) {
            const float out = side == 0 ? 1.0f : -1.0f;
            cairn_body_id arm = trunk;
            for (uint32_t k = 0; k < 6; ++k) {
                const cairn_vec3 p =
                    vec3_add(place, vec3(out * (0.2f + 0.12f * (float)k), 0.0f, 0.0f));
                arm = kit_limb(&h, arm, p, vec3_sub(p, vec3(out * 0.06f, 0.0f, 0.0f)), 0.045f);
            }
        }
    }
    for (uint32_t side = 0; side < 2; ++side) {
        cairn_body_id leg = pelvis;
        for (uint32_t k = 0; k < 6; ++k) {
            const cairn_vec3 p =
                vec3_add(at, vec3(side == 0 ? 0.12f : -0.12f, -0.15f - 0.16f * (float)k, 0.0f));
            leg = kit_limb(&h, leg, p, vec3_add(p, vec3(0.0f, 0.08f, 0.0f)), 0.06f);
        }
    }
    assert_int_equal(h.count, 30);
    return pelvis;
}
