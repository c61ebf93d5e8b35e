// SPDX-License-Identifier: MIT
#pragma once

// The scenes of tests of rollbacks of a part: piles, chains and odd bodies, in which pushes reach
// some bodies and not others.

#include "tests/kit/watched.h"
#include "tests/sim/world_kit.h"

#include <cairn/joint.h>

#include "base/random.h"

enum { CASES = KIT_WATCHED ? 5 : 30, ROUNDS = 3 };

typedef struct scene {
    const char *name;
    void (*build)(cairn_world *world, cairn_random *random);
    uint32_t sleep;
    uint32_t warm_up;    // ticks
    float push;          // m/s, that a command changes a velocity by at most
    uint32_t scoped_min; // of 90
} scene;

static float between(cairn_random *random, float lower, float upper) {
    return lower + (upper - lower) * cairn_random_unit(random);
}

static void slab(cairn_world *world, cairn_vec3 at, cairn_vec3 half_extents) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = at;
    shape.half_extents = half_extents;
    kit_body(world, &def, &shape);
}

static cairn_shape_def any_shape(cairn_random *random) {
    cairn_shape_def shape = cairn_shape_def_default();
    static const uint32_t kinds[] = {CAIRN_SHAPE_BOX, CAIRN_SHAPE_SPHERE, CAIRN_SHAPE_CAPSULE,
        CAIRN_SHAPE_CYLINDER, CAIRN_SHAPE_BOX};
    shape.kind = kinds[cairn_random_below(random, 5)];
    shape.half_extents = vec3(between(random, 0.2f, 0.5f), between(random, 0.2f, 0.5f), 0.4f);
    shape.radius = between(random, 0.2f, 0.4f);
    shape.half_height = 0.3f;
    return shape;
}

// Columns of three boxes, some of them close together.
static void build_columns(cairn_world *world, cairn_random *random) {
    kit_ground(world);
    for (uint32_t i = 0; i < 30; ++i) {
        const float x = 1.6f * (float)(i % 6) + between(random, -0.2f, 0.2f);
        const float z = 1.6f * (float)(i / 6) + between(random, -0.2f, 0.2f);
        for (uint32_t k = 0; k < 3; ++k) {
            kit_cube(world, vec3(x, 0.5f + 1.001f * (float)k, z));
        }
    }
}

// Heaps of all kinds of shapes, far from each other, in slots that are mixed.
static void build_heaps(cairn_world *world, cairn_random *random) {
    slab(world, vec3(10.0f, -1.0f, 10.0f), vec3(80.0f, 1.0f, 80.0f));
    for (uint32_t i = 0; i < 96; ++i) {
        const cairn_shape_def shape = any_shape(random);
        const uint32_t heap = i % 8;
        kit_drop(world,
            vec3(7.0f * (float)(heap % 4) + between(random, -0.8f, 0.8f),
                0.6f + 0.7f * (float)(i / 8),
                7.0f * (float)(heap / 4) + between(random, -0.8f, 0.8f)),
            &shape);
    }
}

// Things that move fast, bounce, are heavy, and hit walls and sensors.
static void build_bouncing(cairn_world *world, cairn_random *random) {
    slab(world, vec3(0.0f, -1.0f, 0.0f), vec3(60.0f, 1.0f, 60.0f));
    slab(world, vec3(12.0f, 2.0f, 0.0f), vec3(0.1f, 2.0f, 20.0f));
    slab(world, vec3(-12.0f, 2.0f, 0.0f), vec3(0.1f, 2.0f, 20.0f));
    cairn_body_def zone = cairn_body_def_default();
    cairn_shape_def sensor = cairn_shape_def_default();
    zone.kind = CAIRN_BODY_STATIC;
    sensor.flags = CAIRN_SHAPE_SENSOR;
    sensor.half_extents = vec3(3.0f, 1.0f, 3.0f);
    kit_body(world, &zone, &sensor);
    for (uint32_t i = 0; i < 60; ++i) {
        cairn_shape_def shape = any_shape(random);
        cairn_body_def def = cairn_body_def_default();
        shape.restitution = i % 3 == 0 ? 0.7f : 0.0f;
        shape.density = i % 11 == 0 ? 40000.0f : 800.0f;
        shape.flags = i % 4 == 0 ? CAIRN_SHAPE_HIT_EVENTS : 0;
        def.position = vec3(between(random, -11.0f, 11.0f), between(random, 0.5f, 5.0f),
            between(random, -11.0f, 11.0f));
        def.linear_velocity =
            vec3(between(random, -9.0f, 9.0f), 0.0f, between(random, -9.0f, 9.0f));
        def.gyroscopic = i % 7 == 0 ? 1 : 0;
        def.locks = i % 13 == 0 ? CAIRN_LOCK_LINEAR_Z | CAIRN_LOCK_ANGULAR_X : 0;
        kit_body(world, &def, &shape);
    }
}

// Chains that hang and lie about, beside boxes.
static void build_chains(cairn_world *world, cairn_random *random) {
    kit_ground(world);
    for (uint32_t i = 0; i < 9; ++i) {
        cairn_body_id last = 0;
        const float x = 4.0f * (float)(i % 3);
        const float z = 4.0f * (float)(i / 3);
        for (uint32_t k = 0; k < 5; ++k) {
            cairn_joint_def joint = cairn_joint_def_default();
            const cairn_body_id link =
                kit_box(world, vec3(x + 0.7f * (float)k, 1.0f + between(random, 0.0f, 0.2f), z),
                    vec3(0.3f, 0.1f, 0.1f), 1000.0f);
            joint.kind = k % 2 == 0 ? CAIRN_JOINT_HINGE : CAIRN_JOINT_BALL;
            joint.body_a = last;
            joint.body_b = link;
            joint.anchor_a = vec3(0.35f, 0.0f, 0.0f);
            joint.anchor_b = vec3(-0.35f, 0.0f, 0.0f);
            if (k > 0) {
                kit_joint(world, &joint);
            }
            last = link;
        }
    }
    for (uint32_t i = 0; i < 40; ++i) {
        kit_cube(world, vec3(1.7f * (float)(i % 8), 0.5f, 14.0f + 1.7f * (float)(i / 8)));
    }
}

// Bodies of several shapes, and hulls.
static void build_compounds(cairn_world *world, cairn_random *random) {
    kit_ground(world);
    const cairn_vec3 corners[] = {{0.5f, 0.0f, 0.0f}, {-0.5f, 0.0f, 0.0f}, {0.0f, 0.5f, 0.0f},
        {0.0f, -0.5f, 0.0f}, {0.0f, 0.0f, 0.5f}, {0.0f, 0.0f, -0.5f}};
    cairn_hull_id hull = 0;
    EXPECT_OK(cairn_hull_create(world, corners, 6, &hull));
    for (uint32_t i = 0; i < 60; ++i) {
        cairn_shape_def shapes[2] = {any_shape(random), any_shape(random)};
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id body;
        cairn_shape_id ids[2];
        shapes[1].pose.position = vec3(0.5f, 0.1f, 0.0f);
        if (i % 3 == 0) {
            shapes[0].kind = CAIRN_SHAPE_HULL;
            shapes[0].hull = hull;
        }
        def.position = vec3(2.4f * (float)(i % 8) + between(random, 0.0f, 0.3f),
            0.8f + (float)(i % 2), 2.4f * (float)(i / 8));
        EXPECT_OK(cairn_body_create_compound(world, &def, shapes, 2, &body, ids));
    }
}

// Bodies that pass through others, carry sensors, slide on belts, float, turn, and hardly touch.
static void build_odd(cairn_world *world, cairn_random *random) {
    cairn_body_def belt = cairn_body_def_default();
    cairn_shape_def belt_shape = cairn_shape_def_default();
    belt.kind = CAIRN_BODY_STATIC;
    belt.position = vec3(8.0f, -1.0f, 8.0f);
    belt_shape.half_extents = vec3(30.0f, 1.0f, 30.0f);
    belt_shape.surface_velocity = vec3(0.7f, 0.0f, 0.2f);
    kit_body(world, &belt, &belt_shape);
    belt.kind = CAIRN_BODY_KINEMATIC; // at rest
    belt.position = vec3(8.0f, 1.0f, 8.0f);
    belt_shape.half_extents = vec3(1.0f, 1.0f, 1.0f);
    kit_body(world, &belt, &belt_shape);
    for (uint32_t i = 0; i < 72; ++i) {
        cairn_shape_def shapes[2] = {any_shape(random), any_shape(random)};
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id body;
        cairn_shape_id ids[2];
        shapes[0].category = i % 5 == 0 ? 2 : 1;
        shapes[0].mask = i % 9 == 0 ? 2 : 3;
        shapes[0].mask = i % 17 == 0 ? 0 : shapes[0].mask;
        shapes[0].restitution = i % 6 == 0 ? 0.9f : 0.0f;
        shapes[0].rolling_resistance = 0.01f;
        shapes[0].flags = i % 2 == 0 ? CAIRN_SHAPE_HIT_EVENTS | CAIRN_SHAPE_CONTACT_EVENTS : 0;
        shapes[1].flags = CAIRN_SHAPE_SENSOR;
        shapes[1].pose.position = vec3(0.0f, 0.5f, 0.2f);
        def.gravity_scale = i % 7 == 0 ? 0.0f : 1.0f;
        def.angular_damping = i % 3 == 0 ? 0.5f : 0.0f;
        def.gyroscopic = i % 4 == 0 ? 1 : 0;
        def.allow_sleep = i % 8 == 0 ? 0 : 1;
        def.locks = i % 10 == 0 ? CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Z : 0;
        def.position = vec3(1.7f * (float)(i % 9) + between(random, 0.0f, 0.5f),
            0.5f + 1.1f * (float)(i % 3), 1.7f * (float)(i / 9));
        EXPECT_OK(cairn_body_create_compound(world, &def, shapes, i % 3 == 0 ? 2 : 1, &body, ids));
    }
}

static const scene scenes[] = {
    {"columns", build_columns, 0, 30, 6.0f, 80},
    {"sleeping columns", build_columns, 1, 90, 8.0f, 60},
    {"heaps", build_heaps, 0, 60, 6.0f, 80},
    {"sleeping heaps", build_heaps, 1, 150, 8.0f, 80},
    {"bouncing", build_bouncing, 0, 20, 20.0f, 80},
    {"bouncing to rest", build_bouncing, 1, 100, 20.0f, 80},
    {"chains", build_chains, 1, 30, 6.0f, 80},
    {"compounds", build_compounds, 1, 30, 6.0f, 80},
    {"odd bodies", build_odd, 1, 60, 8.0f, 80},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };
