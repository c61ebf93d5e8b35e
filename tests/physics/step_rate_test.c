// SPDX-License-Identifier: MIT
// Steps of changing length (Catto 2005, section 6). What is exact for one length of the step is
// exact for a mixture: velocities change by g h, positions by those velocities. What rests stays at
// rest, because the impulses that a step starts with follow its length; what has a target reaches
// it; half a second at rest is half a second of the world.

#include <cairn/history.h>

#include "base/random.h"
#include "tests/physics/mechanics_kit.h"

// Hz, from 30 to 480.
static float some_rate(cairn_random *random) {
    return 30.0f * powf(16.0f, cairn_random_unit(random));
}

static void step_at(cairn_world *world, float rate_hz) {
    EXPECT_OK(cairn_world_set_step_rate(world, rate_hz));
    kit_run(world, 1);
}

TEST("a stone in steps of random length follows the parabola") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        cairn_random random = cairn_random_of(3);
        const float parts = solver == CAIRN_SOLVER_SOFT_STEP ? 4.0f : 1.0f;
        cairn_body_def def = cairn_body_def_default();
        def.linear_velocity = vec3(3.0f, 9.0f, 0.0f);
        const cairn_body_id stone = kit_body(world, &def, NULL);
        double t = 0.0, y = 0.0, v = 9.0;
        for (uint32_t tick = 1; tick <= 200; ++tick) {
            const float rate = some_rate(&random);
            step_at(world, rate);
            const double h = 1.0 / (double)rate;
            y += v * h - (double)GRAVITY * h * h * 0.5 * (1.0 + 1.0 / (double)parts);
            v -= (double)GRAVITY * h;
            t += h;
            const cairn_body_state now = kit_read(world, stone);
            expect_vec3(now.linear_velocity, vec3(3.0f, (float)v, 0.0f), 1e-4f);
            expect_vec3(now.position, vec3(3.0f * (float)t, (float)y, 0.0f), 1e-3f);
        }
    }
}

// The largest speed that a body gets in the step after another rate.
static float stir(cairn_world *world, const cairn_body_id *bodies, uint32_t count, float rate_hz) {
    float most = 0.0f;
    step_at(world, rate_hz);
    for (uint32_t i = 0; i < count; ++i) {
        most = fmaxf(most, vec3_length(kit_read(world, bodies[i]).linear_velocity));
    }
    return most;
}

TEST("a stack that rests does not notice that steps become shorter and longer") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        cairn_body_id cubes[5];
        (void)kit_ground(world);
        for (uint32_t i = 0; i < 5; ++i) {
            cubes[i] = kit_cube(world, vec3(0.0f, 0.5f + (float)i, 0.0f));
        }
        kit_run(world, 300);
        const float rests_at = kit_read(world, cubes[4]).position.y;
        static const float rates[] = {120.0f, 480.0f, 60.0f, 240.0f, 60.0f};
        for (uint32_t i = 0; i < sizeof rates / sizeof rates[0]; ++i) {
            expect_near(stir(world, cubes, 5, rates[i]), 0.0f, 0.002f);
            kit_run(world, 60);
        }
        expect_near(kit_read(world, cubes[4]).position.y, rests_at, 0.002f);
        // Contacts are softer in long steps (contact_hertz), and what lies on them sinks.
        expect_near(stir(world, cubes, 5, 30.0f), 0.0f, 0.03f);
        kit_run(world, 60);
        expect_near(kit_read(world, cubes[4]).position.y, rests_at, 0.01f);
    }
}

TEST("a pendulum in steps of random length keeps its height for a minute") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    cairn_random random = cairn_random_of(5);
    cairn_body_def fixed = cairn_body_def_default();
    fixed.kind = CAIRN_BODY_STATIC;
    cairn_joint_def arm = cairn_joint_def_default();
    arm.kind = CAIRN_JOINT_BALL;
    arm.body_a = kit_body(world, &fixed, NULL);
    arm.body_b = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
    arm.anchor_b = vec3(-1.0f, 0.0f, 0.0f);
    (void)kit_joint(world, &arm);
    float highest = -1.0f;
    for (double t = 0.0; t < 60.0;) {
        const float rate = some_rate(&random);
        step_at(world, rate);
        t += 1.0 / (double)rate;
        if (t > 57.0) {
            highest = fmaxf(highest, kit_read(world, arm.body_b).position.y);
        }
    }
    expect_near(highest, 0.0f, 0.02f);
}

TEST("what is exerted in a shorter step is read as the same force") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        cairn_body_def fixed = cairn_body_def_default();
        fixed.kind = CAIRN_BODY_STATIC;
        cairn_joint_def rope = cairn_joint_def_default();
        rope.kind = CAIRN_JOINT_BALL;
        rope.body_a = kit_body(world, &fixed, NULL);
        rope.body_b = kit_cube(world, vec3(0.0f, -2.0f, 0.0f)); // 1000 kg
        rope.anchor_b = vec3(0.0f, 2.0f, 0.0f);
        const cairn_joint_id joint = kit_joint(world, &rope);
        kit_run(world, 300);
        cairn_joint_reaction before, after;
        EXPECT_OK(cairn_joint_reaction_read(world, joint, &before));
        EXPECT_OK(cairn_world_set_step_rate(world, 333.0f));
        EXPECT_OK(cairn_joint_reaction_read(world, joint, &after));
        expect_near(before.force.y, 9810.0f, 50.0f);
        expect_near(after.force.y, before.force.y, 0.01f);
        kit_run(world, 1);
        EXPECT_OK(cairn_joint_reaction_read(world, joint, &after));
        expect_near(after.force.y, before.force.y, 50.0f);
    }
}

TEST("a lift with a target reaches it although the next step is shorter") {
    SCOPED(cairn_world) *world = world_in_space(CAIRN_SOLVER_SOFT_STEP);
    const cairn_body_id lift = kit_kinematic(world, vec3_zero(), vec3_zero());
    const cairn_pose target = {
        .position = vec3(0.25f, 0.5f, 0.0f), .rotation = turned(vec3(0.0f, 1.0f, 0.0f), 0.2f)};
    EXPECT_OK(cairn_body_set_target(world, lift, target));
    step_at(world, 400.0f);
    expect_vec3(kit_read(world, lift).position, target.position, 1e-5f);
    expect_near(kit_read(world, lift).rotation.y, target.rotation.y, 1e-4f);
}

// At the top of its flight a ball is slower than a sleeper for a hundredth of a second, which is a
// hundred steps of slow motion.
TEST("half a second at rest is half a second of the world") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_def thrown = cairn_body_def_default();
    const cairn_shape_def shape = ball(0.5f);
    thrown.position = vec3(0.0f, 50.0f, 0.0f);
    thrown.linear_velocity = vec3(0.0f, 0.1f, 0.0f);
    const cairn_body_id flies = kit_body(world, &thrown, &shape);
    (void)kit_ground(world);
    const cairn_body_id lies = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    EXPECT_OK(cairn_world_set_step_rate(world, 10000.0f));
    kit_run(world, 2500);
    assert_int_equal(kit_read(world, flies).awake, 1);
    assert_int_equal(kit_read(world, lies).awake, 1); // for a quarter of a second
    EXPECT_OK(cairn_world_set_step_rate(world, 20.0f));
    kit_run(world, 4);
    assert_int_equal(kit_read(world, lies).awake, 1);
    kit_run(world, 4);
    assert_int_equal(kit_read(world, lies).awake, 0);
    EXPECT_OK(cairn_world_set_step_rate(world, 500.0f));
    kit_run(world, 1);
    assert_int_equal(kit_read(world, lies).awake, 0);
}

// Slow motion of a game: its rules stretch time for a while after each start of a second.
static void stretch(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    (void)state;
    (void)commands;
    (void)command_count;
    const uint64_t phase = cairn_world_tick(world) % 60;
    (void)cairn_world_set_step_rate(world, phase < 20 ? 60.0f + 20.0f * (float)phase : 60.0f);
}

TEST("a world whose rules stretch time is the same after saving, encoding and going back") {
    static const cairn_rules rules = {.name = "stretch", .version = 1, .step = stretch};
    cairn_world_def def = cairn_world_def_default();
    def.rules = &rules;
    SCOPED(cairn_world) *world = kit_world(&def);
    SCOPED(cairn_world) *twin = kit_world(&def);
    cairn_history *history = NULL;
    EXPECT_OK(cairn_history_create(world, 64, 0, &history));
    (void)kit_ground(world);
    for (uint32_t i = 0; i < 8; ++i) {
        (void)kit_cube(world, vec3(0.2f * (float)i, 0.6f + 1.1f * (float)i, 0.0f));
    }
    cairn_hash128 hashes[150];
    for (uint32_t tick = 0; tick < 150; ++tick) {
        kit_step_beside_reloaded(world, twin);
        hashes[tick] = kit_hash(world);
        EXPECT_OK(cairn_history_save(history, tick < 60 ? 0 : tick - 60));
    }
    const float rate = cairn_world_step_rate(world);
    EXPECT_OK(cairn_history_restore(history, cairn_world_tick(world) - 20));
    assert_true(cairn_world_step_rate(world) != rate);
    for (uint32_t tick = 130; tick < 150; ++tick) {
        kit_run(world, 1);
        const cairn_hash128 now = kit_hash(world);
        assert_memory_equal(&now, &hashes[tick], sizeof now);
    }
    cairn_history_destroy(history);
}

TEST("a rate out of range is refused, and changes nothing") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    (void)kit_cube(world, vec3_zero());
    kit_run(world, 3);
    const cairn_hash128 before = kit_hash(world);
    assert_int_equal(cairn_world_set_step_rate(world, NAN), CAIRN_NON_FINITE);
    assert_int_equal(cairn_world_set_step_rate(world, INFINITY), CAIRN_NON_FINITE);
    assert_int_equal(cairn_world_set_step_rate(world, 9.99f), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_world_set_step_rate(world, 10001.0f), CAIRN_INVALID_ARGUMENT);
    assert_int_equal(cairn_world_set_step_rate(world, -60.0f), CAIRN_INVALID_ARGUMENT);
    EXPECT_OK(cairn_world_set_step_rate(world, 60.0f));
    const cairn_hash128 after = kit_hash(world);
    assert_memory_equal(&before, &after, sizeof after);
    EXPECT_OK(cairn_world_set_step_rate(world, 10.0f));
    EXPECT_OK(cairn_world_set_step_rate(world, 10000.0f));
}
