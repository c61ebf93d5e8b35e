// SPDX-License-Identifier: MIT
// Free flight (Newton 1687): a body without forces keeps its velocity, a force changes it by F / m
// times its time, a torque changes the angular velocity by I^-1 T times its time.
//
// Time advances in steps of h: the velocity changes first, then the position with the new velocity
// (semi-implicit Euler). So a body that falls for t has the velocity g t, exactly, and is g h t / 2
// lower than g t^2 / 2.

#include "tests/physics/mechanics_kit.h"

TEST("a stone that is thrown follows the parabola") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = ball(0.1f);
        def.position = vec3(-3.0f, 2.0f, 1.0f);
        def.linear_velocity = vec3(12.0f, 9.0f, -5.0f);
        const cairn_body_id stone = kit_body(world, &def, &shape);
        for (uint32_t tick = 1; tick <= 120; ++tick) {
            const float t = (float)tick / TICKS_PER_SECOND;
            kit_run(world, 1);
            const cairn_body_state now = kit_read(world, stone);
            expect_vec3(now.linear_velocity, vec3(12.0f, 9.0f - GRAVITY * t, -5.0f), 1e-3f);
            expect_vec3(now.position,
                vec3(-3.0f + 12.0f * t,
                    2.0f + 9.0f * t - 0.5f * GRAVITY * t * (t + solver_step(solver)),
                    1.0f - 5.0f * t),
                1e-3f);
        }
    }
}

TEST("a body without forces moves straight on, at any speed and far away") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_in_space(solver);
        cairn_body_def def = cairn_body_def_default();
        def.position = vec3(4096.0f, -4096.0f, 0.0f);
        def.linear_velocity = vec3(-300.0f, 120.0f, 0.5f);
        def.angular_velocity = vec3(0.0f, 0.0f, 6.0f);
        const cairn_body_id cube = kit_body(world, &def, NULL);
        kit_run(world, 600);
        const cairn_body_state now = kit_read(world, cube);
        expect_vec3(now.linear_velocity, def.linear_velocity, 0.0f);
        expect_vec3(now.position, vec3(1096.0f, -2896.0f, 5.0f), 0.3f);
        expect_near(now.angular_velocity.z, 6.0f, 1e-5f);
        // 60 rad are 9 turns and 3.4513 rad.
        expect_near(fabsf(now.rotation.z), sinf(0.5f * 3.4513f), 5e-3f);
    }
}

// v' = -c v: the velocity falls as exp(-c t). In steps of h it is divided by 1 + c h each time,
// which is too slow by the fraction c^2 h t / 2.
TEST("damping slows a body exponentially, and a body that falls reaches g / c") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_in_space(solver);
        cairn_body_def def = cairn_body_def_default();
        def.linear_velocity = vec3(10.0f, 0.0f, 0.0f);
        def.angular_velocity = vec3(0.0f, 4.0f, 0.0f);
        def.linear_damping = 0.5f;
        def.angular_damping = 1.5f;
        const cairn_body_id cube = kit_body(world, &def, NULL);
        kit_run(world, 2 * TICKS_PER_SECOND);
        const cairn_body_state now = kit_read(world, cube);
        const float h = solver_step(solver);
        const float slowed = 10.0f * expf(-1.0f);
        const float turned_slower = 4.0f * expf(-3.0f);
        expect_near(now.linear_velocity.x, slowed, 1.1f * 0.25f * h * slowed);
        expect_near(now.angular_velocity.y, turned_slower, 1.1f * 2.25f * h * turned_slower);
        SCOPED(cairn_world) *earth = world_on_earth(solver);
        def = cairn_body_def_default();
        def.linear_damping = 2.0f;
        const cairn_body_id leaf = kit_body(earth, &def, NULL);
        kit_run(earth, 10 * TICKS_PER_SECOND);
        expect_near(
            kit_read(earth, leaf).linear_velocity.y, -0.5f * GRAVITY, 0.5f * 2.0f * h * GRAVITY);
    }
}

// A force of 6 kN on 1000 kg for one tick is 0.1 m/s, and the next tick adds nothing.
TEST("a force acts in the next step alone") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_in_space(solver);
        const cairn_body_id cube = kit_cube(world, vec3_zero());
        EXPECT_OK(cairn_body_apply_force(world, cube, vec3(6000.0f, 0.0f, 0.0f), vec3_zero()));
        for (uint32_t tick = 0; tick < 3; ++tick) {
            kit_run(world, 1);
            expect_near(kit_read(world, cube).linear_velocity.x, 0.1f, 1e-6f);
        }
        // Two forces of one tick add.
        EXPECT_OK(cairn_body_apply_force(world, cube, vec3(0.0f, 6000.0f, 0.0f), vec3_zero()));
        EXPECT_OK(cairn_body_apply_force(world, cube, vec3(0.0f, 6000.0f, 0.0f), vec3_zero()));
        kit_run(world, 1);
        expect_near(kit_read(world, cube).linear_velocity.y, 0.2f, 1e-6f);
    }
}

// A bar of 2 x 0.2 x 0.2 m: I = m / 12 (0.04 + 0.04) along it and m / 12 (4 + 0.04) across. Turned
// by an angle about z, a torque T about x turns it by R I^-1 R^T T.
TEST("a bar resists a torque along its own axes, however it lies") {
    FOR_BOTH_SOLVERS(solver) {
        for (int degrees = 0; degrees <= 90; degrees += 15) {
            SCOPED(cairn_world) *world = world_in_space(solver);
            const float angle = (float)degrees * PI / 180.0f;
            cairn_body_def def = cairn_body_def_default();
            const cairn_shape_def bar = box(1.0f, 0.1f, 0.1f);
            def.rotation = turned(vec3(0.0f, 0.0f, 1.0f), angle);
            const cairn_body_id body = kit_body(world, &def, &bar);
            const float mass = 80.0f;
            const float along = mass / 12.0f * 0.08f;
            const float across = mass / 12.0f * 4.04f;
            expect_near(cairn_body_mass(world, body), mass, 1e-3f);
            EXPECT_OK(cairn_body_apply_force(world, body, vec3_zero(), vec3(3.0f, 0.0f, 0.0f)));
            kit_run(world, 1);
            const cairn_vec3 w = kit_read(world, body).angular_velocity;
            const float c = cosf(angle);
            const float s = sinf(angle);
            expect_near(w.x, 3.0f / 60.0f * (c * c / along + s * s / across), 1e-4f);
            expect_near(w.y, 3.0f / 60.0f * (c * s / along - c * s / across), 1e-4f);
            expect_near(w.z, 0.0f, 1e-6f);
        }
    }
}

static cairn_body_id add_dumbbell(cairn_world *world, float radius, float half_length) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id body = 0;
    EXPECT_OK(cairn_body_create(world, &def, &body));
    for (int side = -1; side <= 1; side += 2) {
        cairn_shape_def shape = ball(radius);
        cairn_shape_id id = 0;
        shape.pose.position.x = (float)side * half_length;
        EXPECT_OK(cairn_shape_create(world, body, &shape, &id));
    }
    return body;
}

// Two balls of mass m at distances d from their middle: 2 (2/5 m r^2 + m d^2) across the line
// between them (Steiner). An impulse P on one of them gives P / 2 m and P d / I.
TEST("a dumbbell that is struck at one end moves and turns") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_in_space(solver);
        const float radius = 0.2f;
        const float d = 0.8f;
        const cairn_body_id dumbbell = add_dumbbell(world, radius, d);
        const float mass = 4.0f / 3.0f * PI * radius * radius * radius * 1000.0f; // of one ball
        const float inertia = 2.0f * (0.4f * mass * radius * radius + mass * d * d);
        const cairn_vec3 impulse = vec3(0.0f, 30.0f, 0.0f);
        EXPECT_OK(cairn_body_apply_impulse(world, dumbbell, impulse, vec3(d, 0.0f, 0.0f)));
        kit_run(world, 1);
        const cairn_body_state now = kit_read(world, dumbbell);
        expect_near(now.linear_velocity.y, 30.0f / (2.0f * mass), 1e-4f);
        expect_near(now.angular_velocity.z, 30.0f * d / inertia, 1e-4f);
    }
}

// A hammer turns about its centre of mass, which flies on the parabola; its handle, where the
// origin is, goes around that.
TEST("the centre of mass of a hammer flies like a stone") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        cairn_body_def def = cairn_body_def_default();
        cairn_body_id hammer = 0;
        cairn_shape_id id = 0;
        EXPECT_OK(cairn_body_create(world, &def, &hammer));
        const cairn_shape_def handle = box(0.5f, 0.05f, 0.05f); // 10 kg, middle at the origin
        cairn_shape_def head = box(0.1f, 0.25f, 0.1f);          // 20 kg, at the end
        head.pose.position.x = 0.6f;
        EXPECT_OK(cairn_shape_create(world, hammer, &handle, &id));
        EXPECT_OK(cairn_shape_create(world, hammer, &head, &id));
        const cairn_vec3 centre = vec3(0.4f, 0.0f, 0.0f);
        const cairn_vec3 v = vec3(4.0f, 8.0f, 0.0f);
        EXPECT_OK(cairn_body_set_velocity(world, hammer, v, vec3(0.0f, 0.0f, 9.0f)));
        for (uint32_t tick = 1; tick <= 90; ++tick) {
            const float t = (float)tick / TICKS_PER_SECOND;
            kit_run(world, 1);
            const cairn_body_state now = kit_read(world, hammer);
            const cairn_vec3 at = vec3_add(now.position, quat_rotate(now.rotation, centre));
            const float fall = 0.5f * GRAVITY * t * (t + solver_step(solver));
            expect_vec3(at, vec3(0.4f + v.x * t, v.y * t - fall, 0.0f), 2e-3f);
            expect_near(now.angular_velocity.z, 9.0f, 1e-4f);
        }
    }
}

TEST("a kinematic body moves and turns exactly as it is told") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        const cairn_body_id lift = kit_kinematic(world, vec3_zero(), vec3(0.0f, 1.5f, 0.0f));
        kit_drop(world, vec3(0.0f, 1.0f, 0.0f), NULL); // its load does not slow it down
        EXPECT_OK(
            cairn_body_set_velocity(world, lift, vec3(0.0f, 1.5f, 0.0f), vec3(0.0f, 1.0f, 0.0f)));
        kit_run(world, 2 * TICKS_PER_SECOND);
        const cairn_body_state now = kit_read(world, lift);
        expect_vec3(now.position, vec3(0.0f, 3.0f, 0.0f), 1e-4f);
        expect_near(now.rotation.y, sinf(1.0f), 1e-4f);
    }
}
