// SPDX-License-Identifier: MIT
// What undamped articulations do with their energy: ropes of light and of equal links, from level
// and from odd poses, on a base and afloat, for a minute. None gains any, however fast its links
// whip round, and no joint opens.

#include "tests/sim/articulation_kit.h"

#define GRAVITY 9.81f
#define MINUTE 3600

typedef struct rope_case {
    uint32_t kind; // of joint
    uint32_t links;
    float length; // m, of a link
    float ratio;  // of the mass of the last link to that of the others
    bool odd;     // each joint is bent at the start
    bool floats;  // without gravity, each joint moves at the start
} rope_case;

// Links in a row along x from the origin.
static cairn_body_id add_rope(cairn_world *world, const rope_case *rope) {
    cairn_body_id on = CAIRN_ID_NULL;
    if (!rope->floats) {
        on = kit_link(world, vec3_zero(), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    }
    for (uint32_t i = 0; i < rope->links; ++i) {
        const float x = rope->length * (float)i;
        const float thick = 0.2f * rope->length;
        const cairn_body_id body = kit_link(world, vec3(x + 0.5f * rope->length, 0.0f, 0.0f),
            vec3(0.5f * rope->length, thick, thick), CAIRN_BODY_DYNAMIC);
        cairn_mass_properties mass;
        EXPECT_OK(cairn_body_read_mass(world, body, &mass));
        const float scale = i + 1 == rope->links ? 1.0f : 1.0f / rope->ratio;
        mass.mass *= scale;
        for (uint32_t k = 0; k < 6; ++k) {
            mass.inertia[k] *= scale;
        }
        EXPECT_OK(cairn_body_set_mass_properties(world, body, &mass));
        if (on != CAIRN_ID_NULL) {
            const cairn_joint_def def =
                kit_hang(world, rope->kind, on, body, vec3(x, 0.0f, 0.0f), Z);
            (void)kit_joint(world, &def);
        }
        on = body;
    }
    return on;
}

// Numbers for the axes, of about `size`.
static void fill(float *out, uint32_t count, float size) {
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = size * ((float)((i * 7 + 3) % 11) - 5.0f) / 5.0f;
    }
}

// Takes the motion of the centre of mass from all, so that the rope stays near the origin.
static void stop_centre(cairn_world *world) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(world, bodies, 64);
    const cairn_vec3 momentum = kit_sum_of_motion(world, 0.0f).momentum;
    float all = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        cairn_mass_properties mass;
        EXPECT_OK(cairn_body_read_mass(world, bodies[i].id, &mass));
        all += mass.mass;
    }
    for (uint32_t i = 0; i < count; ++i) {
        EXPECT_OK(cairn_body_set_velocity(world, bodies[i].id,
            vec3_sub_scaled(bodies[i].linear_velocity, momentum, 1.0f / all),
            bodies[i].angular_velocity));
    }
}

static void start(cairn_world *world, const rope_case *rope, cairn_body_id end) {
    cairn_articulation found;
    float numbers[256];
    EXPECT_OK(cairn_articulation_read(world, end, &found));
    assert_true(found.axis_count <= 256);
    if (rope->odd) {
        fill(numbers, found.axis_count, 1.1f);
        EXPECT_OK(cairn_articulation_set_positions(world, end, numbers, found.axis_count));
    }
    if (rope->floats) {
        fill(numbers, found.axis_count, 3.0f);
        EXPECT_OK(cairn_articulation_set_speeds(world, end, numbers, found.axis_count));
        stop_centre(world);
    }
}

// Of the rope hanging straight down against level; or what it has at the start, afloat.
static float energy_scale(const cairn_world *world, const rope_case *rope) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(world, bodies, 64);
    float scale = 0.0f;
    float reach = -0.5f * rope->length;
    for (uint32_t i = 0; i < count; ++i) {
        cairn_mass_properties mass;
        if (bodies[i].kind == CAIRN_BODY_DYNAMIC) {
            EXPECT_OK(cairn_body_read_mass(world, bodies[i].id, &mass));
            reach += rope->length;
            scale += mass.mass * GRAVITY * reach;
        }
    }
    return rope->floats ? kit_sum_of_motion(world, 0.0f).energy : scale;
}

static void keeps_its_energy(const rope_case *rope) {
    const float gravity = rope->floats ? 0.0f : GRAVITY;
    SCOPED(cairn_world) *world = kit_articulated_world(gravity);
    const cairn_body_id end = add_rope(world, rope);
    start(world, rope, end);
    const float scale = energy_scale(world, rope);
    const kit_motion_sum before = kit_sum_of_motion(world, gravity);
    for (uint32_t i = 0; i < MINUTE; ++i) {
        kit_run(world, 1);
        const float energy = kit_sum_of_motion(world, gravity).energy;
        assert_true(energy <= before.energy + 0.01f * scale);
        if (i % 10 == 0) {
            EXPECT_NEAR(kit_joint_gap(world), 0.0f, 1e-5f);
        }
    }
    assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
    if (rope->floats) {
        const cairn_vec3 momentum = kit_sum_of_motion(world, 0.0f).momentum;
        EXPECT_NEAR(vec3_distance(momentum, before.momentum), 0.0f, 0.01f);
    }
}

TEST("ropes on a base gain no energy in a minute") {
    static const rope_case ropes[] = {
        {CAIRN_JOINT_HINGE, 30, 0.10f, 1.0f, false, false},
        {CAIRN_JOINT_BALL, 20, 0.10f, 1.0f, false, false},
        {CAIRN_JOINT_BALL, 40, 0.20f, 1.0f, true, false},
        {CAIRN_JOINT_HINGE, 40, 0.05f, 1.0f, true, false},
        {CAIRN_JOINT_HINGE, 10, 0.25f, 30.0f, false, false},
        {CAIRN_JOINT_HINGE, 10, 0.25f, 1000.0f, false, false},
        {CAIRN_JOINT_BALL, 40, 0.25f, 1000.0f, false, false},
        {CAIRN_JOINT_BALL, 20, 0.05f, 100.0f, true, false},
        {CAIRN_JOINT_HINGE, 25, 0.15f, 300.0f, true, false},
        {CAIRN_JOINT_BALL, 10, 0.05f, 10.0f, true, false},
    };
    for (uint32_t i = 0; i < sizeof ropes / sizeof ropes[0]; ++i) {
        keeps_its_energy(&ropes[i]);
    }
}

TEST("a slow chain keeps its energy for a minute") {
    SCOPED(cairn_world) *world = kit_articulated_world(GRAVITY);
    const rope_case rope = {CAIRN_JOINT_HINGE, 5, 1.0f, 1.0f, false, false};
    (void)add_rope(world, &rope);
    const float scale = energy_scale(world, &rope);
    kit_run(world, MINUTE);
    EXPECT_NEAR(kit_sum_of_motion(world, GRAVITY).energy, 0.0f, 0.05f * scale);
}

TEST("ropes afloat gain no energy in a minute") {
    static const rope_case ropes[] = {
        {CAIRN_JOINT_HINGE, 10, 0.25f, 1.0f, false, true},
        {CAIRN_JOINT_BALL, 30, 0.10f, 1.0f, true, true},
        {CAIRN_JOINT_BALL, 15, 0.05f, 1000.0f, true, true},
        {CAIRN_JOINT_HINGE, 40, 0.10f, 100.0f, true, true},
    };
    for (uint32_t i = 0; i < sizeof ropes / sizeof ropes[0]; ++i) {
        keeps_its_energy(&ropes[i]);
    }
}
