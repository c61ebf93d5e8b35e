// SPDX-License-Identifier: MIT
// Workers change no bit: worlds that are large enough to be shared, with joints of all kinds.

#include "tests/sim/articulation_kit.h"

#include "sim/collide/cached_pairs.h"
#include "tests/sim/pool_kit.h"

#define CARS 40u
#define CHAINS 12u
#define LINKS 60u
#define STEPS 60

static cairn_joint_id join(
    cairn_world *world, const cairn_joint_def *def, cairn_body_id a, cairn_body_id b) {
    cairn_joint_def joint = *def;
    cairn_joint_id id = 0;
    joint.body_a = a;
    joint.body_b = b;
    EXPECT_OK(cairn_joint_create(world, &joint, &id));
    return id;
}

// A body with four driven wheels on springs, which falls to the ground and drives away.
static cairn_body_id add_car(cairn_world *world, cairn_vec3 at) {
    cairn_shape_def box = cairn_shape_def_default();
    box.half_extents = vec3(0.8f, 0.2f, 0.4f);
    const cairn_body_id body = kit_drop(world, at, &box);
    cairn_joint_def wheel = cairn_joint_def_default();
    wheel.kind = CAIRN_JOINT_WHEEL;
    wheel.axis_a = vec3(0.0f, 1.0f, 0.0f);
    wheel.axis_b = vec3(0.0f, 1.0f, 0.0f);
    wheel.normal_a = vec3(0.0f, 0.0f, 1.0f);
    wheel.normal_b = vec3(0.0f, 0.0f, 1.0f);
    wheel.spring = 1;
    wheel.spring_hertz = 4.0f;
    wheel.spring_damping = 0.7f;
    wheel.motor = 1;
    wheel.motor_speed = 8.0f;
    wheel.motor_force = 50.0f;
    cairn_shape_def ball = cairn_shape_def_default();
    ball.kind = CAIRN_SHAPE_SPHERE;
    ball.radius = 0.2f;
    for (int i = 0; i < 4; ++i) {
        wheel.anchor_a = vec3((i & 1) != 0 ? 0.6f : -0.6f, -0.25f, (i & 2) != 0 ? 0.55f : -0.55f);
        join(world, &wheel, body, kit_drop(world, vec3_add(at, wheel.anchor_a), &ball));
    }
    return body;
}

// A chain of hinges, cones and balls in turn that hangs from the static body and swings.
static void add_chain(cairn_world *world, cairn_body_id ground, cairn_vec3 at) {
    static const uint32_t kinds[] = {
        CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE, CAIRN_JOINT_CONE, CAIRN_JOINT_DISTANCE};
    cairn_shape_def ball = cairn_shape_def_default();
    ball.kind = CAIRN_SHAPE_SPHERE;
    ball.radius = 0.1f;
    cairn_body_id last = ground;
    for (uint32_t i = 0; i < LINKS; ++i) {
        cairn_joint_def joint = cairn_joint_def_default();
        joint.kind = kinds[i % 4];
        joint.anchor_a = i == 0 ? vec3_sub(at, vec3(0.0f, -1.0f, 0.0f)) : vec3(0.15f, 0.0f, 0.0f);
        joint.anchor_b = vec3(-0.15f, 0.0f, 0.0f);
        joint.length = 0.05f;
        const cairn_vec3 place = vec3_add(at, vec3(0.15f + 0.3f * (float)i, 0.0f, 0.0f));
        const cairn_body_id next = kit_drop(world, place, &ball);
        join(world, &joint, last, next);
        last = next;
    }
}

// A world with room for so many bodies, shapes and joints, and eight times as many contacts.
static cairn_world *world_for(uint32_t bodies) {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = bodies;
    def.shape_capacity = bodies;
    def.joint_capacity = bodies;
    def.contact_capacity = 8 * bodies;
    return kit_world(&def);
}

static cairn_world *world_of_joints(void) {
    cairn_world *world = world_for(1024);
    cairn_body_def body = cairn_body_def_default();
    cairn_shape_def slab = cairn_shape_def_default();
    body.kind = CAIRN_BODY_STATIC;
    body.position = vec3(0.0f, -1.0f, 0.0f);
    slab.half_extents = vec3(100.0f, 1.0f, 100.0f);
    const cairn_body_id ground = kit_body(world, &body, &slab);
    // Trains of three cars.
    cairn_joint_def spring = cairn_joint_def_default();
    spring.kind = CAIRN_JOINT_DISTANCE;
    spring.length = 3.0f;
    spring.spring = 1;
    spring.spring_hertz = 2.0f;
    spring.spring_damping = 0.5f;
    cairn_body_id last = 0;
    for (uint32_t i = 0; i < CARS; ++i) {
        const cairn_body_id car = add_car(
            world, vec3(3.0f * (float)(i % 8), 0.8f + 0.1f * (float)i, -3.0f * (float)(i / 8)));
        if (i % 3 != 0) {
            join(world, &spring, last, car);
        }
        last = car;
    }
    for (uint32_t i = 0; i < CHAINS; ++i) {
        add_chain(world, ground, vec3(0.0f, 6.0f, 2.0f + 0.15f * (float)i));
    }
    return world;
}

// Humanoids that stand, fall on each other and hold each other, under boxes.
static cairn_world *world_of_figures(void) {
    cairn_world *world = world_for(512);
    cairn_joint_def rope = cairn_joint_def_default();
    rope.kind = CAIRN_JOINT_DISTANCE;
    rope.length = 0.8f;
    (void)kit_ground(world);
    cairn_body_id last = 0;
    for (uint32_t i = 0; i < 12; ++i) {
        const cairn_vec3 at = vec3(0.8f * (float)(i % 4), 1.1f, 0.8f * (float)(i / 4));
        const cairn_body_id pelvis = kit_humanoid_at(world, at, true, i % 3 == 0 ? 100.0f : 0.0f);
        (void)kit_cube(world, vec3_add(at, vec3(0.3f, 2.0f + 0.3f * (float)i, 0.1f)));
        if (i % 2 == 1) {
            (void)join(world, &rope, last, pelvis);
        }
        last = pelvis;
    }
    return world;
}

// Equal cubes side by side, with so many contacts that two threads build the graph.
static cairn_world *world_of_cubes(void) {
    cairn_world *world = world_for(1024);
    // This box is the first of all shapes. It lies aside: nothing has a pair with it until a cube
    // comes near.
    cairn_body_def aside = cairn_body_def_default();
    const cairn_shape_def box = cairn_shape_def_default();
    aside.kind = CAIRN_BODY_STATIC;
    aside.position = vec3(-9.0f, 0.5f, -9.0f);
    (void)kit_body(world, &aside, &box);
    (void)kit_ground(world);
    for (uint32_t i = 0; i < 512; ++i) {
        const float lean = 0.02f * (float)(i / 64);
        (void)kit_cube(
            world, vec3((float)(i % 8) + lean, 0.5f + (float)(i / 64), (float)(i / 8 % 8)));
    }
    return world;
}

// Pairs of boxes on hinges and ball joints ride on a platform that moves and turns. Ropes connect
// the first ones with the platform.
static cairn_world *world_on_platform(bool bounces) {
    cairn_world *world = world_for(512);
    (void)kit_ground(world);
    cairn_body_def platform = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    platform.kind = CAIRN_BODY_KINEMATIC;
    platform.position = vec3(8.0f, 1.5f, 8.0f);
    platform.linear_velocity = vec3(1.0f, 0.0f, 0.0f);
    platform.angular_velocity = vec3(0.0f, 0.7f, 0.0f);
    shape.half_extents = vec3(12.0f, 0.5f, 12.0f);
    const cairn_body_id carrier = kit_body(world, &platform, &shape);
    shape.half_extents = vec3(0.3f, 0.2f, 0.4f);
    shape.restitution = bounces ? 0.4f : 0.0f;
    shape.flags = bounces ? CAIRN_SHAPE_HIT_EVENTS : 0;
    cairn_joint_def joint = cairn_joint_def_default();
    joint.anchor_a = vec3(0.4f, 0.0f, 0.0f);
    joint.anchor_b = vec3(-0.4f, 0.0f, 0.0f);
    joint.limited = 1;
    joint.lower = -0.3f;
    joint.upper = 0.3f;
    for (uint32_t i = 0; i < 200; ++i) {
        const cairn_vec3 at =
            vec3(1.6f * (float)(i % 10), 2.25f + 0.45f * (float)(i / 100), (float)(i / 10 % 10));
        const cairn_body_id left = kit_drop(world, at, &shape);
        const cairn_body_id right = kit_drop(world, vec3_add(at, vec3(0.8f, 0.0f, 0.0f)), &shape);
        joint.kind = i % 2 == 0 ? CAIRN_JOINT_HINGE : CAIRN_JOINT_BALL;
        (void)join(world, &joint, left, right);
        if (i < 5) {
            cairn_joint_def rope = cairn_joint_def_default();
            rope.kind = CAIRN_JOINT_DISTANCE;
            rope.anchor_a = vec3(-6.0f, 0.5f, (float)i - 6.0f);
            rope.length = 3.0f;
            (void)join(world, &rope, carrier, left);
        }
        if (bounces && i % 7 == 0) {
            EXPECT_OK(cairn_body_set_gyroscopic(world, left, true));
        }
    }
    return world;
}

static cairn_world *world_of_passengers(void) {
    return world_on_platform(false);
}

static cairn_world *world_of_bouncing_passengers(void) {
    return world_on_platform(true);
}

// A world steps alone once. Then pools of two to five workers step forks of its beginning.
static void expect_no_difference(cairn_world *build(void), int steps) {
    SCOPED(cairn_world) *alone = build();
    SCOPED(cairn_world) *begin = kit_fork(alone);
    cairn_hash128 expected[STEPS];
    assert_in_range(steps, 1, STEPS);
    for (int step = 0; step < steps; ++step) {
        cairn_world_step(alone, NULL, 0);
        expected[step] = kit_hash(alone);
    }
    for (uint32_t workers = 2; workers <= 5; ++workers) {
        kit_expect_steps(begin, expected, steps, 0, workers);
    }
}

TEST("a world with joints of all kinds steps to the same state with any number of workers") {
    expect_no_difference(world_of_joints, STEPS);
}

TEST("a heap with more than a thousand contacts steps to the same state with any number of "
     "workers") {
    expect_no_difference(world_of_cubes, 20);
}

TEST("a world of articulated figures steps to the same state with any number of workers") {
    expect_no_difference(world_of_figures, 45);
}

TEST("bodies on one that moves, and on joints with it, step to the same state with any number of "
     "workers") {
    expect_no_difference(world_of_passengers, 45);
    expect_no_difference(world_of_bouncing_passengers, 30);
}

TEST("two workers merge the list of pairs that one merges, each a half of it") {
    SCOPED(cairn_world) *alone = world_of_cubes();
    for (uint32_t i = 0; i < 24; ++i) {
        const cairn_vec3 at = vec3(0.37f * (float)(i % 8), 9.0f + 0.7f * (float)i, 0.4f * (float)i);
        const cairn_body_id cube = kit_cube(alone, at);
        EXPECT_OK(cairn_body_apply_impulse_at_centre(alone, cube, vec3(0.0f, -9000.0f, 700.0f)));
    }
    SCOPED(cairn_world) *shared = kit_fork(alone);
    SCOPED(cairn_pool) *pool = kit_pool(2);
    const cairn_parallel parallel = kit_parallel_of(pool);
    EXPECT_OK(cairn_world_set_parallel(shared, &parallel));
    // A cube falls on the static one: their pair is new and comes before all others.
    const cairn_pose aside = {.position = vec3(-9.0f, 3.0f, -9.0f), .rotation = quat_identity()};
    cairn_body_state states[3];
    cairn_world_bodies(alone, states, 3);
    const cairn_body_id first_cube = states[2].id;
    uint32_t merged = 0;
    for (int step = 0; step < STEPS; ++step) {
        if (step == 5) {
            EXPECT_OK(cairn_body_set_pose(alone, first_cube, aside));
            EXPECT_OK(cairn_body_set_pose(shared, first_cube, aside));
        }
        cairn_world_step(alone, NULL, 0);
        cairn_world_step(shared, NULL, 0);
        const cairn_pair_cache *cache = shared->pair_cache;
        const uint32_t count = alone->pair_cache->pair_count;
        assert_int_equal(cache->pair_count, count);
        assert_memory_equal(cache->pairs, alone->pair_cache->pairs, count * sizeof *cache->pairs);
        merged += cache->pairs != cache->list ? 1 : 0;
    }
    assert_true(merged > 0);
    assert_true(alone->pair_cache->pairs == alone->pair_cache->list);
}
