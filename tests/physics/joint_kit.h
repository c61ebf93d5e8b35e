// SPDX-License-Identifier: MIT
#pragma once

// Worlds of a few bodies with joints, for both solvers.

#include "tests/physics/query_kit.h"

enum { JOINT_TICK_RATE = 60 };

// No ground; gravity along -y or none.
static inline cairn_world *joint_world(uint32_t solver, float gravity) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.gravity = vec3(0, -gravity, 0);
    def.tick_rate_hz = JOINT_TICK_RATE;
    def.sleep = 0;
    return kit_world(&def);
}

static inline cairn_body_id joint_base(cairn_world *world) {
    const cairn_shape_def shape = box(0.1f, 0.1f, 0.1f);
    return put_static(world, vec3(0, 0, 0), &shape);
}

// A cube of half size `half` with this mass, kg.
static inline cairn_body_id joint_cube(
    cairn_world *world, cairn_vec3 position, float half, float mass) {
    cairn_shape_def shape = box(half, half, half);
    shape.density = mass / (8.0f * half * half * half);
    return put(world, CAIRN_BODY_DYNAMIC, position, &shape);
}

// Between the centres of two bodies that are `offset` apart, with axis x: anchors at b's centre.
static inline cairn_joint_def joint_between(
    uint32_t kind, cairn_body_id a, cairn_body_id b, cairn_vec3 offset) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a = offset;
    return def;
}

static inline cairn_joint_travel joint_travel(const cairn_world *world, cairn_joint_id joint) {
    cairn_joint_travel travel;
    EXPECT_OK(cairn_joint_travel_read(world, joint, &travel));
    return travel;
}

static inline cairn_joint_reaction joint_reaction(const cairn_world *world, cairn_joint_id joint) {
    cairn_joint_reaction reaction;
    EXPECT_OK(cairn_joint_reaction_read(world, joint, &reaction));
    return reaction;
}

// Steps until the position passes 0 upward for the second time; returns the time between the first
// and the last of `periods` + 1 passages, by linear interpolation, as one period.
static inline float joint_period(cairn_world *world, cairn_joint_id joint, int periods) {
    float last = joint_travel(world, joint).position;
    float first_time = -1.0f;
    int passages = 0;
    for (int i = 1; i < 60 * JOINT_TICK_RATE; ++i) {
        kit_run(world, 1);
        const float now = joint_travel(world, joint).position;
        if (last < 0.0f && now >= 0.0f) {
            const float time = ((float)i - now / (now - last)) / JOINT_TICK_RATE;
            if (passages == 0) {
                first_time = time;
            } else if (passages == periods) {
                return (time - first_time) / (float)periods;
            }
            ++passages;
        }
        last = now;
    }
    fail_msg("the position does not oscillate");
    return 0.0f;
}
