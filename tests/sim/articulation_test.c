// SPDX-License-Identifier: MIT
// Articulated bodies in worlds: what moves and how, what joints hold, state, refusals, and the
// public functions.

#include "tests/sim/articulation_kit.h"

#include <string.h>

#include "base/random.h"
#include "sim/articulation/hang.h"
#include "sim/debug/poison.h"
#include "sim/state/world.h"

static cairn_vec3 rod(void) {
    return vec3(0.5f, 0.05f, 0.05f);
}

// Rods of 1 m in a row along x from the origin, which hang on a static body.
static cairn_body_id add_pendulum(cairn_world *world, uint32_t count) {
    cairn_body_id on = kit_link(world, vec3_zero(), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    for (uint32_t i = 0; i < count; ++i) {
        const float x = (float)i;
        const cairn_body_id body =
            kit_link(world, vec3(x + 0.5f, 0.0f, 0.0f), rod(), CAIRN_BODY_DYNAMIC);
        const cairn_joint_def def =
            kit_hang(world, CAIRN_JOINT_HINGE, on, body, vec3(x, 0.0f, 0.0f), Z);
        (void)kit_joint(world, &def);
        on = body;
    }
    return on;
}

// One rod on a static body, by a joint that `def` describes beside its place.
static cairn_joint_id add_rod(cairn_world *world, cairn_joint_def def, cairn_body_id *body) {
    const cairn_body_id on =
        kit_link(world, vec3_zero(), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    *body = kit_link(world, vec3(0.5f, 0.0f, 0.0f), rod(), CAIRN_BODY_DYNAMIC);
    const cairn_joint_def place = kit_hang(world, def.kind, on, *body, vec3_zero(), Z);
    def.body_a = on;
    def.body_b = *body;
    def.anchor_b = place.anchor_b;
    def.axis_a = def.axis_b = Z;
    def.normal_a = def.normal_b = X;
    def.articulated = 1;
    return kit_joint(world, &def);
}

static cairn_joint_def hinge(void) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_HINGE;
    return def;
}

static cairn_joint_travel travel_of(const cairn_world *world, cairn_joint_id joint) {
    cairn_joint_travel travel;
    EXPECT_OK(cairn_joint_travel_read(world, joint, &travel));
    return travel;
}

static float fastest_turn(const cairn_world *world) {
    cairn_body_state bodies[64];
    const uint32_t count = cairn_world_bodies(world, bodies, 64);
    float most = 0.0f;
    for (uint32_t i = 0; i < count; ++i) {
        most = float_max(most, vec3_length(bodies[i].angular_velocity));
    }
    return most;
}

TEST("a double pendulum keeps its energy, and its joints stay closed") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    (void)add_pendulum(world, 2);
    for (uint32_t i = 0; i < 600; ++i) {
        kit_run(world, 1);
        // Of 147 J that it swings through.
        EXPECT_NEAR(kit_sum_of_motion(world, 9.81f).energy, 0.0f, 3.0f);
        EXPECT_NEAR(kit_joint_gap(world), 0.0f, 1e-6f);
    }
}

TEST("a floating chain keeps energy and both momenta") {
    SCOPED(cairn_world) *world = kit_articulated_world(0.0f);
    cairn_body_id on = CAIRN_ID_NULL;
    for (uint32_t i = 0; i < 6; ++i) {
        const float x = (float)i;
        const cairn_body_id body =
            kit_link(world, vec3(x, 0.0f, 0.0f), vec3(0.45f, 0.08f, 0.05f), CAIRN_BODY_DYNAMIC);
        if (i > 0) {
            const uint32_t kind = i % 2 == 1 ? CAIRN_JOINT_BALL : CAIRN_JOINT_HINGE;
            const cairn_joint_def def =
                kit_hang(world, kind, on, body, vec3(x - 0.5f, 0.0f, 0.0f), Z);
            (void)kit_joint(world, &def);
        }
        EXPECT_OK(cairn_body_set_velocity(
            world, body, vec3(0.3f * x, 1.0f - 0.5f * x, 0.2f), vec3(0.5f, -1.0f, x - 2.0f)));
        on = body;
    }
    kit_run(world, 1); // the joints take what they do not allow
    const kit_motion_sum before = kit_sum_of_motion(world, 0.0f);
    kit_run(world, 300);
    const kit_motion_sum after = kit_sum_of_motion(world, 0.0f);
    assert_true(before.energy > 30.0f);
    EXPECT_NEAR(after.energy, before.energy, 0.003f * before.energy);
    EXPECT_NEAR(vec3_distance(after.momentum, before.momentum), 0.0f, 0.01f);
    EXPECT_NEAR(vec3_distance(after.angular_momentum, before.angular_momentum), 0.0f, 0.05f);
}

TEST("a ragdoll falls, lies still, and never opens a joint") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    (void)kit_ground(world);
    const cairn_body_id pelvis = kit_humanoid_at(world, vec3(0.0f, 1.3f, 0.0f), true, 0.0f);
    for (uint32_t i = 0; i < 400; ++i) {
        kit_run(world, 1);
        EXPECT_NEAR(kit_joint_gap(world), 0.0f, 2e-6f);
    }
    const cairn_body_state state = kit_read(world, pelvis);
    EXPECT_NEAR(state.position.y, 0.145f, 0.02f);
    EXPECT_NEAR(vec3_length(state.linear_velocity), 0.0f, 0.02f);
}

TEST("a humanoid with springs in its joints stands") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    (void)kit_ground(world);
    const cairn_body_id pelvis = kit_humanoid_at(world, vec3(0.0f, 1.1f, 0.0f), true, 300.0f);
    kit_run(world, 300);
    const cairn_body_state state = kit_read(world, pelvis);
    EXPECT_NEAR(state.position.y, 1.04f, 0.02f);
    EXPECT_NEAR(vec3_length(state.linear_velocity), 0.0f, 0.01f);
}

TEST("an articulation falls asleep whole, and wakes whole") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    (void)kit_ground(world);
    const cairn_body_id pelvis = kit_humanoid_at(world, vec3(0.0f, 1.3f, 0.0f), true, 0.0f);
    for (uint32_t i = 0; i < 3000 && kit_read(world, pelvis).awake != 0; ++i) {
        kit_run(world, 1);
    }
    cairn_body_state bodies[40];
    const uint32_t count = cairn_world_bodies(world, bodies, 40);
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(bodies[i].awake, 0);
    }
    const cairn_hash128 asleep = kit_hash(world);
    kit_run(world, 1);
    assert_int_equal(kit_read(world, pelvis).awake, 0);
    assert_false(cairn_hash_equal(asleep, kit_hash(world))); // the tick
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, pelvis, vec3(0.0f, 20.0f, 0.0f)));
    kit_run(world, 1);
    (void)cairn_world_bodies(world, bodies, 40);
    for (uint32_t i = 1; i < count; ++i) {
        assert_int_equal(bodies[i].awake, 1);
    }
}

// ---- The state

static cairn_world *crowded(void) {
    cairn_world *world = kit_articulated_world(9.81f);
    (void)kit_ground(world);
    (void)kit_humanoid_at(world, vec3(0.0f, 1.2f, 0.0f), true, 50.0f);
    (void)kit_humanoid_at(world, vec3(0.3f, 1.4f, 0.2f), true, 0.0f);
    for (uint32_t i = 0; i < 8; ++i) {
        (void)kit_cube(world, vec3(0.4f * (float)i - 1.5f, 3.0f + 0.8f * (float)i, 0.1f));
    }
    return world;
}

TEST("a world with articulations continues from its save, and from its encoding, at every tick") {
    SCOPED(cairn_world) *world = crowded();
    SCOPED(cairn_world) *twin = crowded();
    for (uint32_t i = 0; i < 120; ++i) {
        kit_step_beside_reloaded(world, twin);
    }
    SCOPED(kit_bytes) bytes = kit_encode(world);
    EXPECT_OK(cairn_world_decode(twin, bytes.bytes, bytes.size, NULL));
    assert_true(kit_equal(world, twin));
    kit_run(world, 20);
    kit_run(twin, 20);
    assert_true(kit_equal(world, twin));
}

TEST("no bit depends on lanes or on what the scratch holds") {
    SCOPED(cairn_world) *world = crowded();
    SCOPED(cairn_world) *narrow = crowded();
    SCOPED(cairn_world) *poisoned = crowded();
    EXPECT_OK(cairn_world_set_lanes(narrow, 1));
    for (uint32_t i = 0; i < 90; ++i) {
        cairn_world_poison(poisoned, 0xff);
        kit_run(world, 1);
        kit_run(narrow, 1);
        kit_run(poisoned, 1);
        assert_true(kit_equal(world, narrow));
        assert_true(kit_equal(world, poisoned));
    }
}

// ---- Drives

TEST("an axis stops at its limits, and leaves them") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    cairn_joint_def def = hinge();
    cairn_body_id body;
    def.limited = 1;
    def.lower = -0.5f;
    def.upper = 0.3f;
    const cairn_joint_id joint = add_rod(world, def, &body);
    for (uint32_t i = 0; i < 120; ++i) {
        kit_run(world, 1);
        assert_true(travel_of(world, joint).position > -0.501f);
    }
    EXPECT_NEAR(travel_of(world, joint).position, -0.5f, 1e-4f);
    EXPECT_NEAR(travel_of(world, joint).velocity, 0.0f, 1e-4f);
    EXPECT_OK(cairn_body_apply_angular_impulse(world, body, vec3(0.0f, 0.0f, 9.0f)));
    kit_run(world, 6);
    assert_true(travel_of(world, joint).position > -0.45f);
    EXPECT_OK(cairn_world_set_gravity(world, vec3(0.0f, 9.81f, 0.0f)));
    kit_run(world, 120);
    EXPECT_NEAR(travel_of(world, joint).position, 0.3f, 1e-4f);
}

TEST("friction holds a rod that is light enough for it, and slows a heavier one") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
        cairn_joint_def def = hinge();
        cairn_body_id body;
        def.joint_friction = i == 0 ? 50.0f : 24.525f; // 10 kg on an arm of 0.5 m take 49.05
        const cairn_joint_id joint = add_rod(world, def, &body);
        kit_run(world, 12);
        const float inertia = 10.0f * (1.0f + 0.01f) / 12.0f + 10.0f * 0.25f;
        const float expected = i == 0 ? 0.0f : 0.0f - 0.2f * 24.525f / inertia;
        EXPECT_NEAR(travel_of(world, joint).velocity, expected, 0.02f);
    }
}

TEST("a motor reaches its speed with what it has, and no more") {
    SCOPED(cairn_world) *world = kit_articulated_world(0.0f);
    cairn_joint_def def = hinge();
    cairn_body_id body;
    def.motor = 1;
    def.motor_speed = 2.0f;
    def.motor_force = 10.0f;
    const cairn_joint_id joint = add_rod(world, def, &body);
    kit_run(world, 6);
    const float inertia = 10.0f * (1.0f + 0.01f) / 12.0f + 10.0f * 0.25f;
    EXPECT_NEAR(travel_of(world, joint).velocity, 0.1f * 10.0f / inertia, 1e-3f);
    kit_run(world, 60);
    EXPECT_NEAR(travel_of(world, joint).velocity, 2.0f, 1e-4f);
}

// A cart of 8 kg with a pole of 10 kg: what pushes it sideways is the motor alone.
TEST("a motor that cannot reach its speed gives its force, and goes no further than a limit") {
    SCOPED(cairn_world) *world = kit_articulated_world(10.0f);
    const cairn_body_id base =
        kit_link(world, vec3(0, 0, 0), vec3(1, 0.1f, 0.1f), CAIRN_BODY_STATIC);
    const cairn_body_id cart =
        kit_link(world, vec3(0, 0, 1), vec3(0.1f, 0.1f, 0.1f), CAIRN_BODY_DYNAMIC);
    const cairn_body_id pole =
        kit_link(world, vec3(0, 0.5f, 1), vec3(0.05f, 0.5f, 0.05f), CAIRN_BODY_DYNAMIC);
    cairn_joint_def slide = kit_hang(world, CAIRN_JOINT_PRISMATIC, base, cart, vec3(0, 0, 1), X);
    slide.motor = 1;
    slide.motor_speed = 1e4f;
    slide.motor_force = 20.0f;
    slide.limited = 1;
    slide.lower = -2.4f;
    slide.upper = 2.4f;
    const cairn_joint_def hinge = kit_hang(world, CAIRN_JOINT_HINGE, cart, pole, vec3(0, 0, 1), Z);
    cairn_joint_id joint;
    EXPECT_OK(cairn_joint_create(world, &slide, &joint));
    EXPECT_OK(cairn_joint_create(world, &hinge, &joint));
    kit_run(world, 90);
    EXPECT_NEAR(8.0f * kit_read(world, cart).linear_velocity.x +
                    10.0f * kit_read(world, pole).linear_velocity.x,
        20.0f * 1.5f, 0.1f);
    for (uint32_t i = 0; i < 400; ++i) {
        kit_run(world, 1);
        assert_true(kit_read(world, cart).position.x < 2.401f);
        assert_true(kit_read(world, cart).position.x > -2.401f);
    }
}

// Thirty motors and limits cannot all be told apart in a few tries. Before motors were let go at
// the end, those that still held took their links to 1e4 rad/s.
TEST("weak motors of any speed throw nothing, however many there are") {
    static const float speeds[] = {10.0f, 1e4f};
    for (uint32_t k = 0; k < 2; ++k) {
        SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
        (void)kit_ground(world);
        (void)kit_humanoid_at(world, vec3(0.0f, 1.3f, 0.0f), true, 0.0f);
        cairn_random random = cairn_random_of(6);
        cairn_joint_id joints[30];
        assert_int_equal(cairn_world_joints(world, joints, 30), 30);
        for (uint32_t tick = 0; tick < 600; ++tick) {
            for (uint32_t i = 0; tick % 10 == 0 && i < 30; ++i) {
                const float speed = cairn_random_below(&random, 2) == 0 ? speeds[k] : -speeds[k];
                EXPECT_OK(cairn_joint_set_motor(world, joints[i], speed, 5.0f));
            }
            kit_run(world, 1);
            // 5 N m turn a rotor of 0.01 kg m^2 by 8 rad/s in a tick at most.
            assert_true(fastest_turn(world) < 150.0f);
            EXPECT_NEAR(kit_joint_gap(world), 0.0f, 2e-6f);
        }
    }
}

TEST("springs of any stiffness are stable, and rest at their target") {
    const float stiffness[] = {100.0f, 1e4f, 1e7f};
    for (uint32_t i = 0; i < 3; ++i) {
        SCOPED(cairn_world) *world = kit_articulated_world(0.0f);
        cairn_joint_def def = hinge();
        cairn_body_id body;
        def.drive_stiffness = stiffness[i];
        def.drive_damping = 0.2f * stiffness[i];
        def.target = 0.7f;
        const cairn_joint_id joint = add_rod(world, def, &body);
        kit_run(world, 300);
        EXPECT_NEAR(travel_of(world, joint).position, 0.7f, 1e-3f);
    }
}

TEST("a cone keeps a rod within its swing, and a ball turns to its target") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    cairn_joint_def def = hinge();
    cairn_body_id body;
    def.kind = CAIRN_JOINT_CONE;
    def.cone = 0.4f;
    const cairn_joint_id cone = add_rod(world, def, &body);
    (void)cone;
    EXPECT_OK(cairn_body_set_velocity(world, body, vec3_zero(), vec3(0.0f, 3.0f, 0.0f)));
    for (uint32_t i = 0; i < 200; ++i) {
        cairn_joint_angles angles;
        kit_run(world, 1);
        EXPECT_OK(cairn_joint_angles_read(world, cone, &angles));
        assert_true(angles.swing < 0.41f);
        EXPECT_NEAR(kit_joint_gap(world), 0.0f, 1e-6f);
    }
    SCOPED(cairn_world) *other = kit_articulated_world(0.0f);
    def.kind = CAIRN_JOINT_BALL;
    def.drive_stiffness = 400.0f;
    def.drive_damping = 60.0f;
    def.target_rotation = (cairn_quat){.y = 0.6f, .w = 0.8f};
    (void)add_rod(other, def, &body);
    kit_run(other, 300);
    EXPECT_NEAR(kit_read(other, body).rotation.y, 0.6f, 1e-3f);
}

TEST("a base that moves carries its links") {
    SCOPED(cairn_world) *world = kit_articulated_world(0.0f);
    const cairn_body_id base =
        kit_link(world, vec3_zero(), vec3(0.1f, 0.1f, 0.1f), CAIRN_BODY_KINEMATIC);
    const cairn_body_id body =
        kit_link(world, vec3(0.0f, -1.0f, 0.0f), vec3(0.1f, 0.1f, 0.1f), CAIRN_BODY_DYNAMIC);
    const cairn_joint_def def = kit_hang(world, CAIRN_JOINT_WELD, base, body, vec3_zero(), X);
    (void)kit_joint(world, &def);
    EXPECT_OK(cairn_body_set_velocity(world, base, vec3(1.0f, 0.0f, 0.0f), vec3(0.0f, 0.0f, 1.0f)));
    kit_run(world, 60);
    EXPECT_NEAR(kit_joint_gap(world), 0.0f, 2e-6f);
    const cairn_body_state state = kit_read(world, body);
    EXPECT_NEAR(state.position.x, 1.0f + 0.84147f, 2e-3f);
    EXPECT_NEAR(state.position.y, -0.5403f, 2e-3f);
}

TEST("an ordinary joint closes a loop of links") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    const cairn_body_id end = add_pendulum(world, 4);
    const cairn_body_id wall =
        kit_link(world, vec3(2.0f, 0.0f, 0.0f), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    cairn_joint_def def = cairn_joint_def_default();
    def.body_a = wall;
    def.body_b = end;
    def.anchor_b = vec3(0.5f, 0.0f, 0.0f);
    def.hertz = 5.0f; // pulls the end of the chain to the wall
    def.damping = 2.0f;
    (void)kit_joint(world, &def);
    kit_run(world, 600);
    const cairn_body_state state = kit_read(world, end);
    const cairn_vec3 tip =
        vec3_add(state.position, quat_rotate(state.rotation, vec3(0.5f, 0.0f, 0.0f)));
    EXPECT_NEAR(vec3_distance(tip, vec3(2.0f, 0.0f, 0.0f)), 0.0f, 0.1f);
}

// Pulls the end of two rods that reach 2 m to a place.
static cairn_body_id add_pulled_arm(cairn_world *world, cairn_vec3 to) {
    const cairn_body_id end = add_pendulum(world, 2);
    cairn_joint_def def = cairn_joint_def_default();
    def.body_a = kit_link(world, to, vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    def.body_b = end;
    def.anchor_b = vec3(0.5f, 0.0f, 0.0f);
    (void)kit_joint(world, &def);
    return end;
}

TEST("a joint that no pose closes pulls slowly, and comes to rest") {
    const float away[] = {2.5f, 4.0f, 10.0f};
    for (uint32_t i = 0; i < 3; ++i) {
        SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
        const cairn_body_id end = add_pulled_arm(world, vec3(away[i], 1.0f, 0.0f));
        for (uint32_t k = 0; k < 900; ++k) {
            kit_run(world, 1);
            const cairn_body_state state = kit_read(world, end);
            assert_true(vec3_length(state.linear_velocity) < 2.0f);
        }
        EXPECT_NEAR(vec3_length(kit_read(world, end).linear_velocity), 0.0f, 1e-2f);
    }
}

TEST("a four-bar of rigid links stays closed, and gains no energy") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    const cairn_body_id base =
        kit_link(world, vec3_zero(), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    const cairn_vec3 size = vec3(0.05f, 0.5f, 0.05f);
    const cairn_body_id crank = kit_link(world, vec3(0, 0.5f, 0), size, CAIRN_BODY_DYNAMIC);
    const cairn_body_id bar = kit_link(world, vec3(0.5f, 1, 0), rod(), CAIRN_BODY_DYNAMIC);
    const cairn_body_id rocker = kit_link(world, vec3(1, 0.5f, 0), size, CAIRN_BODY_DYNAMIC);
    cairn_joint_def def = kit_hang(world, CAIRN_JOINT_HINGE, base, crank, vec3_zero(), Z);
    (void)kit_joint(world, &def);
    def = kit_hang(world, CAIRN_JOINT_HINGE, crank, bar, vec3(0, 1, 0), Z);
    (void)kit_joint(world, &def);
    def = kit_hang(world, CAIRN_JOINT_HINGE, bar, rocker, vec3(1, 1, 0), Z);
    (void)kit_joint(world, &def);
    def = kit_hang(world, CAIRN_JOINT_HINGE, base, rocker, vec3(1, 0, 0), Z);
    def.articulated = 0;
    (void)kit_joint(world, &def);
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, bar, vec3(5.0f, 0.0f, 0.0f)));
    kit_run(world, 1);
    const float before = kit_sum_of_motion(world, 9.81f).energy;
    for (uint32_t i = 0; i < 1200; ++i) {
        kit_run(world, 1);
        const float energy = kit_sum_of_motion(world, 9.81f).energy;
        assert_true(energy < before + 4.0f && energy > before - 40.0f); // of 400 J that it turns by
        EXPECT_NEAR(kit_joint_gap(world), 0.0f, 1e-3f);
    }
}

// ---- Loads

static cairn_body_id add_load(cairn_world *world, cairn_vec3 at, cairn_vec3 size, float mass) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = size;
    shape.density = mass / (8.0f * size.x * size.y * size.z);
    return kit_drop(world, at, &shape);
}

TEST("a shelf of a link carries a thousand times its mass") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
        const cairn_body_id wall =
            kit_link(world, vec3(-0.55f, 0.0f, 0.0f), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
        const cairn_body_id shelf = add_load(world, vec3_zero(), vec3(0.5f, 0.05f, 0.5f), 1.0f);
        const uint32_t kind = i == 0 ? CAIRN_JOINT_WELD : CAIRN_JOINT_HINGE;
        cairn_joint_def def = kit_hang(world, kind, wall, shelf, vec3(-0.5f, 0.0f, 0.0f), Z);
        def.drive_stiffness = i == 0 ? 0.0f : 1e7f;
        def.drive_damping = i == 0 ? 0.0f : 5e5f;
        (void)kit_joint(world, &def);
        const cairn_body_id load =
            add_load(world, vec3(0.0f, 0.551f, 0.0f), vec3(0.3f, 0.5f, 0.3f), 1000.0f);
        kit_run(world, 300);
        EXPECT_NEAR(kit_read(world, load).position.y, 0.55f, 1e-3f);
    }
}

TEST("a table of links carries a hundred times its mass") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    (void)kit_ground(world);
    const cairn_body_id top =
        add_load(world, vec3(0.0f, 1.05f, 0.0f), vec3(0.6f, 0.05f, 0.6f), 2.0f);
    for (uint32_t i = 0; i < 4; ++i) {
        const cairn_vec3 at = vec3(i % 2 == 0 ? -0.5f : 0.5f, 0.5f, i < 2 ? -0.5f : 0.5f);
        const cairn_body_id leg = add_load(world, at, vec3(0.05f, 0.499f, 0.05f), 0.5f);
        const cairn_joint_def def =
            kit_hang(world, CAIRN_JOINT_WELD, top, leg, vec3(at.x, 1.0f, at.z), Z);
        (void)kit_joint(world, &def);
    }
    const cairn_body_id load =
        add_load(world, vec3(0.0f, 1.6f, 0.0f), vec3(0.4f, 0.5f, 0.4f), 200.0f);
    kit_run(world, 600);
    EXPECT_NEAR(kit_read(world, load).position.y, 1.6f, 0.03f);
}

// ---- The public functions

TEST("positions and speeds are read as they were set") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    const cairn_body_id pelvis = kit_humanoid_at(world, vec3(0.0f, 1.2f, 0.0f), true, 0.0f);
    cairn_articulation found;
    EXPECT_OK(cairn_articulation_read(world, pelvis, &found));
    assert_int_equal(found.root, pelvis);
    assert_int_equal(found.base, CAIRN_ID_NULL);
    assert_int_equal(found.link_count, 31);
    assert_int_equal(found.axis_count, 36);
    float positions[36];
    float speeds[36];
    float out[36];
    for (uint32_t i = 0; i < 36; ++i) {
        positions[i] = 0.05f * (float)i - 0.8f;
        speeds[i] = 0.3f * (float)(i % 7) - 1.0f;
    }
    EXPECT_OK(cairn_articulation_set_positions(world, pelvis, positions, 36));
    EXPECT_OK(cairn_articulation_positions(world, pelvis, out, 36));
    for (uint32_t i = 0; i < 36; ++i) {
        EXPECT_NEAR(out[i], positions[i], 1e-5f);
    }
    EXPECT_OK(cairn_articulation_set_speeds(world, pelvis, speeds, 36));
    EXPECT_OK(cairn_articulation_speeds(world, pelvis, out, 36));
    for (uint32_t i = 0; i < 36; ++i) {
        EXPECT_NEAR(out[i], speeds[i], 1e-5f);
    }
    EXPECT_NEAR(kit_joint_gap(world), 0.0f, 2e-6f);
    assert_int_equal(cairn_articulation_speeds(world, pelvis, out, 35), CAIRN_CAPACITY);
    assert_int_equal(cairn_articulation_speeds(world, 0, out, 36), CAIRN_NOT_FOUND);
    positions[3] = float_of_bits(0x7fc00000u);
    assert_int_equal(
        cairn_articulation_set_positions(world, pelvis, positions, 36), CAIRN_NON_FINITE);
}

TEST("the Jacobian gives a point's velocity, and impulses on it change speeds by M^-1 J^T") {
    SCOPED(cairn_world) *world = kit_articulated_world(0.0f);
    const cairn_body_id pelvis = kit_humanoid_at(world, vec3(0.0f, 1.2f, 0.0f), true, 0.0f);
    cairn_body_id bodies[31];
    float jacobian[6 * 36];
    float mass[36 * 36];
    float before[36];
    float after[36];
    EXPECT_OK(cairn_articulation_links(world, pelvis, bodies, NULL, NULL, 31));
    const cairn_body_id hand = bodies[20];
    const cairn_body_state state = kit_read(world, hand);
    EXPECT_OK(cairn_articulation_jacobian(world, hand, state.position, jacobian, 6 * 36));
    EXPECT_OK(cairn_articulation_mass_matrix(world, pelvis, mass, 36 * 36));
    EXPECT_OK(cairn_articulation_speeds(world, pelvis, before, 36));
    const cairn_vec3 impulse = vec3(0.1f, -0.2f, 0.15f);
    EXPECT_OK(cairn_body_apply_impulse_at_centre(world, hand, impulse));
    kit_run(world, 1);
    EXPECT_OK(cairn_articulation_speeds(world, pelvis, after, 36));
    for (uint32_t i = 0; i < 36; ++i) {
        float momentum = 0.0f;
        for (uint32_t k = 0; k < 36; ++k) {
            momentum += mass[i * 36 + k] * (after[k] - before[k]);
        }
        const float pushed = jacobian[3 * 36 + i] * impulse.x + jacobian[4 * 36 + i] * impulse.y +
                             jacobian[5 * 36 + i] * impulse.z;
        EXPECT_NEAR(momentum, pushed, 0.01f); // the pose moves in a step
    }
}

TEST("forces that inverse dynamics asks for make the accelerations in a step") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    const cairn_body_id end = add_pendulum(world, 3);
    const float wanted[3] = {1.0f, -2.0f, 3.0f};
    float torques[3];
    float again[3];
    float speeds[3];
    EXPECT_OK(cairn_articulation_inverse_dynamics(world, end, wanted, torques, 3));
    EXPECT_OK(cairn_articulation_forward_dynamics(world, end, torques, again, 3));
    EXPECT_OK(cairn_articulation_set_torques(world, end, torques, 3));
    kit_run(world, 1);
    EXPECT_OK(cairn_articulation_speeds(world, end, speeds, 3));
    for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_NEAR(again[i], wanted[i], 1e-3f);
        EXPECT_NEAR(60.0f * speeds[i], wanted[i], 0.1f);
    }
}

// ---- Refusals

TEST("joints that cannot be articulated are refused, and change nothing") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    const cairn_body_id a = kit_link(world, vec3_zero(), rod(), CAIRN_BODY_DYNAMIC);
    const cairn_body_id b = kit_link(world, vec3(1, 0, 0), rod(), CAIRN_BODY_DYNAMIC);
    const cairn_body_id c = kit_link(world, vec3(2, 0, 0), rod(), CAIRN_BODY_DYNAMIC);
    const cairn_body_id still = kit_link(world, vec3(3, 0, 0), rod(), CAIRN_BODY_STATIC);
    cairn_body_def empty = cairn_body_def_default();
    cairn_body_id massless = 0;
    EXPECT_OK(cairn_body_create(world, &empty, &massless));
    const cairn_vec3 at = vec3(0.5f, 0.0f, 0.0f);
    cairn_joint_def def = kit_hang(world, CAIRN_JOINT_HINGE, a, b, at, Z);
    (void)kit_joint(world, &def);
    def = kit_hang(world, CAIRN_JOINT_HINGE, b, c, at, Z);
    (void)kit_joint(world, &def);
    const cairn_hash128 before = kit_hash(world);
    cairn_joint_def cases[12];
    cairn_status expected[12];
    for (uint32_t i = 0; i < 12; ++i) {
        cases[i] = kit_hang(world, CAIRN_JOINT_HINGE, still, a, at, Z);
        expected[i] = CAIRN_INVALID_ARGUMENT;
    }
    cases[0] = kit_hang(world, CAIRN_JOINT_HINGE, c, a, at, Z); // a cycle
    cases[1] = kit_hang(world, CAIRN_JOINT_HINGE, a, c, at, Z); // c hangs on b
    cases[2].kind = CAIRN_JOINT_WHEEL;
    cases[3].spring = 1;
    cases[4].hertz = 1.0f;
    cases[5].breakable = 1;
    cases[6].disabled = 1;
    cases[7].armature = -1.0f;
    cases[8].drive_stiffness = float_of_bits(0x7f800000u);
    expected[8] = CAIRN_NON_FINITE;
    cases[9].body_a = a;
    cases[9].body_b = still;
    expected[9] = CAIRN_WRONG_STATE;
    cases[10].body_a = a;
    cases[10].body_b = massless;
    expected[10] = CAIRN_WRONG_STATE;
    cases[11].lower = 1.0f;
    cases[11].upper = -1.0f;
    for (uint32_t i = 0; i < 12; ++i) {
        cairn_joint_id joint = 1;
        assert_int_equal(cairn_joint_create(world, &cases[i], &joint), expected[i]);
        assert_int_equal(joint, CAIRN_ID_NULL);
    }
    assert_int_equal(cairn_body_set_locks(world, b, 1), CAIRN_WRONG_STATE);
    assert_true(cairn_hash_equal(before, kit_hash(world)));
    cairn_world_def other = cairn_world_def_default();
    other.solver = CAIRN_SOLVER_PGS;
    SCOPED(cairn_world) *rows = kit_world(&other);
    const cairn_body_id p = kit_link(rows, vec3_zero(), rod(), CAIRN_BODY_DYNAMIC);
    const cairn_body_id q = kit_link(rows, vec3(1, 0, 0), rod(), CAIRN_BODY_DYNAMIC);
    def = kit_hang(rows, CAIRN_JOINT_HINGE, p, q, at, Z);
    cairn_joint_id joint = 1;
    assert_int_equal(cairn_joint_create(rows, &def, &joint), CAIRN_WRONG_STATE);
}

TEST("a chain is as long as the bound, and no longer") {
    cairn_world_def def = cairn_world_def_default();
    def.body_capacity = def.shape_capacity = 2 * CAIRN_ARTICULATION_LINKS_MAX;
    def.joint_capacity = 2 * CAIRN_ARTICULATION_LINKS_MAX;
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_id on = kit_link(world, vec3_zero(), rod(), CAIRN_BODY_DYNAMIC);
    for (uint32_t i = 1; i <= CAIRN_ARTICULATION_LINKS_MAX; ++i) {
        const cairn_body_id body =
            kit_link(world, vec3((float)i, 0.0f, 0.0f), rod(), CAIRN_BODY_DYNAMIC);
        const cairn_joint_def hang =
            kit_hang(world, CAIRN_JOINT_BALL, on, body, vec3((float)i - 0.5f, 0, 0), Z);
        cairn_joint_id joint = 0;
        const bool last = i == CAIRN_ARTICULATION_LINKS_MAX;
        assert_int_equal(
            cairn_joint_create(world, &hang, &joint), last ? CAIRN_INVALID_ARGUMENT : CAIRN_OK);
        on = body;
    }
    kit_run(world, 30);
    assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
}

TEST("bodies of a tree that come and go leave trees") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    (void)kit_ground(world);
    const cairn_body_id pelvis = kit_humanoid_at(world, vec3(0.0f, 1.2f, 0.0f), true, 20.0f);
    cairn_body_id bodies[31];
    EXPECT_OK(cairn_articulation_links(world, pelvis, bodies, NULL, NULL, 31));
    kit_run(world, 10);
    EXPECT_OK(cairn_body_destroy(world, bodies[3]));
    kit_run(world, 10);
    EXPECT_OK(cairn_body_set_enabled(world, bodies[20], false));
    kit_run(world, 10);
    EXPECT_OK(cairn_body_set_enabled(world, bodies[20], true));
    EXPECT_OK(cairn_body_set_kind(world, bodies[12], CAIRN_BODY_STATIC));
    kit_run(world, 60);
    EXPECT_OK(cairn_body_set_kind(world, bodies[12], CAIRN_BODY_DYNAMIC));
    EXPECT_OK(cairn_body_destroy(world, pelvis));
    kit_run(world, 60);
    EXPECT_NEAR(kit_joint_gap(world), 0.0f, 2e-6f);
}

TEST("a link that is struck out of the valid range leaves a state that decodes") {
    for (uint32_t k = 0; k < 12; ++k) {
        SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
        SCOPED(cairn_world) *twin = kit_articulated_world(9.81f);
        const cairn_body_id end = add_pendulum(world, 3);
        const float size = (k % 2 == 0 ? 1e30f : 1e20f) * (k % 3 == 0 ? -1.0f : 1.0f);
        (void)cairn_body_apply_impulse(world, k % 4 < 2 ? end : end - 1, vec3(size, 1.0f, size),
            vec3(1e3f * (float)k, 0.5f, 0.2f));
        for (uint32_t i = 0; i < 5; ++i) {
            kit_run(world, 1);
            SCOPED(kit_bytes) encoded = kit_encode(world);
            EXPECT_OK(cairn_world_decode(twin, encoded.bytes, encoded.size, NULL));
            EXPECT_OK(cairn_world_validate(world, NULL));
        }
    }
}

TEST("a state with a ring of articulated joints steps on, and the ring exerts nothing") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    cairn_body_id bodies[3];
    for (uint32_t i = 0; i < 3; ++i) {
        bodies[i] = kit_link(world, vec3((float)i, 0.0f, 0.0f), rod(), CAIRN_BODY_DYNAMIC);
        if (i > 0) {
            const cairn_joint_def def = kit_hang(world, CAIRN_JOINT_HINGE, bodies[i - 1], bodies[i],
                vec3((float)i - 0.5f, 0.0f, 0.0f), Z);
            (void)kit_joint(world, &def);
        }
    }
    // No function does this. Decoded bytes may.
    world->state.joints[0].body_a = bodies[2];
    world->hangs->stale = true;
    world->pair_cache_valid = false;
    kit_run(world, 30);
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_body_state state = kit_read(world, bodies[i]);
        assert_true(vec3_finite(state.position) && state.position.y < -0.5f);
    }
    cairn_articulation found;
    EXPECT_OK(cairn_articulation_read(world, bodies[2], &found));
    assert_int_equal(found.link_count, 2);
}

// Joins a chain of `count` bodies, from its end or from its top.
static void join_chain(
    cairn_world *world, const cairn_body_id *bodies, uint32_t count, bool leaves_first) {
    for (uint32_t k = 1; k < count; ++k) {
        const uint32_t i = leaves_first ? count - k : k;
        const cairn_joint_def def = kit_hang(world, CAIRN_JOINT_HINGE, bodies[i - 1], bodies[i],
            vec3_add(kit_read(world, bodies[i]).position, vec3(0.0f, 0.5f, 0.0f)), X);
        (void)kit_joint(world, &def);
    }
}

#define CHAIN_LINKS 30u

static void make_chain(cairn_world *world, float x, cairn_body_id bodies[CHAIN_LINKS]) {
    for (uint32_t i = 0; i < CHAIN_LINKS; ++i) {
        bodies[i] = kit_link(
            world, vec3(x, 0.0f - (float)i, 0.0f), vec3(0.1f, 0.4f, 0.1f), CAIRN_BODY_DYNAMIC);
    }
}

TEST("a joint is checked by reading the links above and below it, not all joints") {
    for (uint32_t leaves_first = 0; leaves_first < 2; ++leaves_first) {
        cairn_world_def def = cairn_world_def_default();
        def.body_capacity = 4096;
        def.shape_capacity = 4096;
        def.joint_capacity = 4096;
        SCOPED(cairn_world) *world = kit_world(&def);
        for (uint32_t i = 0; i < 100; ++i) {
            cairn_body_id bodies[CHAIN_LINKS];
            make_chain(world, 2.0f * (float)i, bodies);
            join_chain(world, bodies, CHAIN_LINKS, leaves_first != 0);
        }
        // Of a leaf two for each of at most 29 links below, and those above.
        assert_true(world->hangs->visited < (uint64_t)100 * CHAIN_LINKS * 64);
        EXPECT_OK(cairn_world_validate(world, NULL));
    }
}

static void expect_refused(cairn_world *world, cairn_body_id a, cairn_body_id b) {
    const cairn_joint_def def =
        kit_hang(world, CAIRN_JOINT_HINGE, a, b, kit_read(world, b).position, X);
    cairn_joint_id joint = 0;
    assert_int_equal(cairn_joint_create(world, &def, &joint), CAIRN_INVALID_ARGUMENT);
    EXPECT_OK(cairn_world_validate(world, NULL));
}

TEST("what hangs on what is known after joints go, and after a load, a decode and a fork") {
    SCOPED(cairn_world) *world = kit_articulated_world(9.81f);
    SCOPED(cairn_world) *decoded = kit_articulated_world(9.81f);
    cairn_body_id bodies[CHAIN_LINKS];
    cairn_body_id others[CHAIN_LINKS];
    cairn_joint_id joints[2 * CHAIN_LINKS];
    make_chain(world, 0.0f, bodies);
    make_chain(world, 2.0f, others);
    join_chain(world, bodies, CHAIN_LINKS, true);
    join_chain(world, others, CHAIN_LINKS, false);
    SCOPED(kit_bytes) saved = kit_save(world);
    expect_refused(world, bodies[29], bodies[0]); // a ring
    expect_refused(world, others[0], bodies[5]);  // which hangs already
    // From the eleventh body of the first chain up: 19 links that nothing holds.
    assert_int_equal(cairn_world_joints(world, joints, 2 * CHAIN_LINKS), 2 * (CHAIN_LINKS - 1));
    cairn_joint_def read;
    EXPECT_OK(cairn_joint_read(world, joints[CHAIN_LINKS - 1 - 11], &read));
    assert_int_equal(read.body_b, bodies[11]);
    EXPECT_OK(cairn_joint_destroy(world, joints[CHAIN_LINKS - 1 - 11]));
    expect_refused(world, bodies[29], bodies[11]);
    EXPECT_OK(cairn_body_destroy(world, others[15]));
    const cairn_joint_def onto =
        kit_hang(world, CAIRN_JOINT_HINGE, others[14], bodies[11], vec3_zero(), X);
    SCOPED(cairn_world) *fork = kit_fork(world);
    (void)kit_joint(world, &onto);
    expect_refused(world, bodies[29], others[0]);
    expect_refused(world, bodies[10], others[14]);
    (void)kit_joint(fork, &onto);
    expect_refused(fork, bodies[29], others[0]);
    SCOPED(kit_bytes) encoded = kit_encode(world);
    EXPECT_OK(cairn_world_decode(decoded, encoded.bytes, encoded.size, NULL));
    expect_refused(decoded, bodies[29], others[0]);
    expect_refused(decoded, bodies[0], bodies[11]);
    EXPECT_OK(cairn_world_load(world, saved.bytes, saved.size));
    expect_refused(world, bodies[29], bodies[0]);
    expect_refused(world, others[14], bodies[11]); // hangs on bodies[10] again
    const cairn_joint_def whole =
        kit_hang(world, CAIRN_JOINT_HINGE, bodies[29], others[0], vec3_zero(), X);
    (void)kit_joint(world, &whole);
    EXPECT_OK(cairn_world_validate(world, NULL));
}
