// SPDX-License-Identifier: MIT
// Pairs of oblong bodies on joints, with arms up to three times as long as the bodies. They tumble,
// so the inertia that their joints meet turns by half a radian in a step.

#include "tests/physics/energy_kit.h"
#include "tests/physics/joint_kit.h"
#include "tests/physics/random_kit.h"

enum { PAIRS = 40, PAIR_TICKS = 20 * JOINT_TICK_RATE };

typedef struct pair {
    cairn_world *world;
    cairn_body_id bodies[2];
    cairn_quat rotations[2];
    cairn_vec3 positions[2];
} pair;

static cairn_vec3 any_direction(cairn_random *random) {
    return quat_rotate(any_rotation(random), vec3(1.0f, 0.0f, 0.0f));
}

static void add(pair *p, cairn_random *random, uint32_t index, cairn_vec3 position, float size,
    uint32_t gyroscopic) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    const float y = size * between(random, 0.2f, 1.0f);
    const float z = size * between(random, 0.2f, 1.0f);
    shape.half_extents = vec3(size, y, z);
    shape.density = between(random, 200.0f, 1000.0f);
    shape.mask = 0;
    def.position = position;
    def.rotation = any_rotation(random);
    def.gyroscopic = gyroscopic;
    if (gyroscopic != 0) {
        def.linear_velocity = vec3_scale(any_direction(random), between(random, 0.0f, 4.0f));
        def.angular_velocity = vec3_scale(any_direction(random), between(random, 0.0f, 6.0f));
    }
    p->positions[index] = position;
    p->rotations[index] = def.rotation;
    p->bodies[index] = kit_body(p->world, &def, &shape);
}

// Joins body a to body b at `point`. With a < 0 it joins the base to b.
static void join_at(pair *p, cairn_random *random, uint32_t kind, cairn_body_id base, int a, int b,
    cairn_vec3 point) {
    const cairn_quat frame = any_rotation(random);
    const cairn_vec3 axis = quat_rotate(frame, vec3(1.0f, 0.0f, 0.0f));
    const cairn_vec3 normal = quat_rotate(frame, vec3(0.0f, 1.0f, 0.0f));
    cairn_joint_def def = cairn_joint_def_default();
    const cairn_quat qa = a < 0 ? quat_identity() : p->rotations[a];
    const cairn_vec3 pa = a < 0 ? vec3_zero() : p->positions[a];
    def.kind = kind;
    def.body_a = a < 0 ? base : p->bodies[a];
    def.body_b = p->bodies[b];
    def.anchor_a = quat_rotate_inverse(qa, vec3_sub(point, pa));
    def.anchor_b = quat_rotate_inverse(p->rotations[b], vec3_sub(point, p->positions[b]));
    def.axis_a = quat_rotate_inverse(qa, axis);
    def.normal_a = quat_rotate_inverse(qa, normal);
    def.axis_b = quat_rotate_inverse(p->rotations[b], axis);
    def.normal_b = quat_rotate_inverse(p->rotations[b], normal);
    (void)kit_joint(p->world, &def);
}

// From the body's centre to the joint.
static cairn_vec3 any_arm(cairn_random *random, float size) {
    return vec3_scale(any_direction(random), size * between(random, 0.5f, 3.0f));
}

static pair make_pair(uint32_t kind, uint64_t seed, bool hung) {
    cairn_random random = cairn_random_of(seed);
    pair p = {.world = joint_world(CAIRN_SOLVER_SOFT_STEP, hung ? 9.81f : 0.0f)};
    const float size_a = between(&random, 0.1f, 0.4f);
    const float size_b = between(&random, 0.1f, 0.4f);
    const cairn_vec3 first = any_arm(&random, size_a);
    const cairn_vec3 point = vec3_add(first, any_arm(&random, size_a));
    add(&p, &random, 0, first, size_a, hung ? 0 : 1);
    add(&p, &random, 1, vec3_add(point, any_arm(&random, size_b)), size_b, hung ? 0 : 1);
    if (hung) {
        join_at(&p, &random, kind, joint_base(p.world), -1, 0, vec3_zero());
    }
    join_at(&p, &random, kind, p.bodies[0], 0, 1, point);
    return p;
}

// About the origin, N m s.
static cairn_vec3 momentum_of(const pair *p, uint32_t index) {
    const uint32_t slot = cairn_id_index(p->bodies[index]);
    const cairn_body *body = &p->world->state.bodies[slot];
    const cairn_motion *motion = &p->world->state.motions[slot];
    const cairn_vec3 w = quat_rotate_inverse(motion->rotation, motion->angular_velocity);
    const cairn_vec3 own = sym3_apply(sym3_inverse_scaled(body->inverse_inertia), w);
    const cairn_vec3 linear = vec3_scale(motion->linear_velocity, body->mass);
    return vec3_add(quat_rotate(motion->rotation, own), vec3_cross(motion->position, linear));
}

// Angular momentum and energy: in space, with gyroscopic torque.
static void expect_kept(uint32_t kind, uint64_t seed) {
    const pair p = make_pair(kind, seed, false);
    kit_run(p.world, 6); // the joint brakes what its bodies did against it
    const double energy0 = kinetic_energy(p.world);
    const cairn_vec3 start = vec3_add(momentum_of(&p, 0), momentum_of(&p, 1));
    const float size = vec3_length(momentum_of(&p, 0)) + vec3_length(momentum_of(&p, 1));
    for (uint32_t k = 0; k < PAIR_TICKS; ++k) {
        kit_run(p.world, 1);
        assert_true(kinetic_energy(p.world) < 1.1 * energy0);
    }
    const cairn_vec3 end = vec3_add(momentum_of(&p, 0), momentum_of(&p, 1));
    EXPECT_MEASURED(vec3_distance(start, end) / size, 0.0f, 0.05f);
    cairn_world_destroy(p.world);
}

TEST("pairs on ball joints, hinges and welds that tumble through space keep their momentum") {
    for (uint64_t seed = 1; seed <= PAIRS; ++seed) {
        expect_kept(CAIRN_JOINT_BALL, seed);
        expect_kept(CAIRN_JOINT_HINGE, seed);
        expect_kept(CAIRN_JOINT_WELD, seed);
    }
}

TEST("pairs that hang from ball joints and hinges gain no energy") {
    static const uint32_t kinds[] = {CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE};
    for (uint32_t i = 0; i < 2 * PAIRS; ++i) {
        const pair p = make_pair(kinds[i % 2], 100 + i, true);
        const double energy0 = energy(p.world);
        const double size =
            9.81 * (double)(cairn_body_mass(p.world, p.bodies[0]) * vec3_length(p.positions[0]) +
                            cairn_body_mass(p.world, p.bodies[1]) * vec3_length(p.positions[1]));
        for (uint32_t k = 0; k < PAIR_TICKS; ++k) {
            kit_run(p.world, 1);
            assert_true(energy(p.world) - energy0 < 0.1 * size);
        }
        cairn_world_destroy(p.world);
    }
}
