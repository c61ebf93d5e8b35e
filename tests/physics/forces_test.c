// SPDX-License-Identifier: MIT
// The way by forces: what holds a body now, and how it accelerates, without a step
// (cairn_world_forces_read). Newton's laws have closed forms for all of these.

#include <cairn/measure.h>

#include "tests/physics/mechanics_kit.h"

enum { BODIES_MAX = 16 };

typedef struct held {
    cairn_forces sum;
    cairn_body_forces bodies[BODIES_MAX];
} held;

static held forces_in(const cairn_world *world) {
    held now;
    const cairn_hash128 before = kit_hash(world);
    EXPECT_OK(cairn_world_forces_read(world, BODIES_MAX, now.bodies, &now.sum));
    const cairn_hash128 after = kit_hash(world);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(now.sum.solved, 1);
    assert_true(now.sum.residual < 1e-4);
    return now;
}

static const cairn_body_forces *of_body(const held *now, cairn_body_id body) {
    for (uint32_t i = 0; i < now->sum.bodies; ++i) {
        if (now->bodies[i].body == body) {
            return &now->bodies[i];
        }
    }
    fail_msg("body %u is not there", body);
    return NULL;
}

static cairn_vec3 vector(const double v[3]) {
    return vec3((float)v[0], (float)v[1], (float)v[2]);
}

static cairn_body_id hook_at(cairn_world *world, cairn_vec3 position) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = position;
    return kit_body(world, &def, NULL);
}

TEST("the floor carries what lies on it, awake or asleep, and nothing accelerates") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    (void)kit_ground(world);
    const cairn_body_id lower = kit_cube(world, vec3(0.0f, 0.5f, 0.0f));
    const cairn_body_id upper = kit_cube(world, vec3(0.1f, 1.5f, 0.0f)); // 1000 kg
    for (uint32_t i = 0; i < 2; ++i) {
        const held now = forces_in(world);
        assert_int_equal(now.sum.bodies, 2);
        assert_int_equal(now.sum.touching, 8);
        expect_vec3(vector(of_body(&now, lower)->force), vec3(0.0f, 9810.0f, 0.0f), 1.0f);
        expect_vec3(vector(of_body(&now, upper)->force), vec3(0.0f, 9810.0f, 0.0f), 1.0f);
        expect_vec3(vector(of_body(&now, upper)->linear), vec3_zero(), 1e-4f);
        expect_vec3(vector(of_body(&now, lower)->angular), vec3_zero(), 1e-4f);
        kit_run(world, 120);
    }
    assert_int_equal(kit_read(world, upper).awake, 0);
}

TEST("a box slides down a slope with g (sin - mu cos), up it brakes with g (sin + mu cos)") {
    for (uint32_t i = 0; i < 3; ++i) {
        const float angle = 0.35f;
        const float mu = i == 0 ? 0.5f : 0.2f;
        SCOPED(cairn_world) *world = world_with(CAIRN_SOLVER_SOFT_STEP, gravity_on_slope(angle));
        (void)kit_ground(world);
        cairn_body_def def = cairn_body_def_default();
        cairn_shape_def shape = box(0.5f, 0.5f, 0.5f);
        shape.friction = mu * mu / 0.5f; // of the ground it is 0.5: the geometric mean is mu
        def.position = vec3(0.0f, 0.5f, 0.0f);
        def.linear_velocity = vec3(i == 2 ? -3.0f : 0.0f, 0.0f, 0.0f);
        const cairn_body_id slider = kit_body(world, &def, &shape);
        const held now = forces_in(world);
        const float drag = i == 2 ? mu : -mu;
        const float expected = i == 0 ? 0.0f : GRAVITY * (sinf(angle) + drag * cosf(angle));
        expect_vec3(vector(of_body(&now, slider)->linear), vec3(expected, 0.0f, 0.0f), 1e-3f);
        expect_near((float)of_body(&now, slider)->force[1], 9810.0f * cosf(angle), 1.0f);
    }
}

// A uniform rod of length 1 m on a pivot at its end: 3 g / 2 L, and the pivot carries m g / 4.
TEST("a rod that is let go turns with 3 g / 2 L, and its pivot carries a quarter") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    cairn_body_def def = cairn_body_def_default();
    const cairn_shape_def shape = box(0.5f, 1e-3f, 1e-3f);
    cairn_joint_def pivot = cairn_joint_def_default();
    pivot.kind = CAIRN_JOINT_HINGE;
    pivot.axis_a = pivot.axis_b = vec3(0.0f, 0.0f, 1.0f);
    pivot.normal_a = pivot.normal_b = vec3(1.0f, 0.0f, 0.0f);
    pivot.body_a = hook_at(world, vec3(-0.5f, 0.0f, 0.0f));
    pivot.body_b = kit_body(world, &def, &shape);
    pivot.anchor_b = vec3(-0.5f, 0.0f, 0.0f);
    (void)kit_joint(world, &pivot);
    const held now = forces_in(world);
    const float weight = GRAVITY * 1000.0f * 1.0f * 2e-3f * 2e-3f;
    expect_near((float)of_body(&now, pivot.body_b)->angular[2], -1.5f * GRAVITY, 1e-3f);
    expect_near((float)of_body(&now, pivot.body_b)->force[1], 0.25f * weight, 1e-5f);
}

// m (g cos + v^2 / L) along the arm; ball, distance and hinge, plain and with a bound (driven).
TEST("the arm of a pendulum pulls with its weight and v^2 / L") {
    for (uint32_t i = 0; i < 6; ++i) {
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        const float angle = 0.7f, length = 2.0f, speed = 3.0f;
        const cairn_vec3 down = vec3(sinf(angle), -cosf(angle), 0.0f);
        const cairn_vec3 ahead = vec3(cosf(angle), sinf(angle), 0.0f);
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = ball(0.05f);
        static const uint32_t kinds[] = {CAIRN_JOINT_BALL, CAIRN_JOINT_DISTANCE, CAIRN_JOINT_HINGE};
        cairn_joint_def arm = cairn_joint_def_default();
        arm.kind = kinds[i % 3];
        def.position = vec3_scale(down, length);
        def.linear_velocity = vec3_scale(ahead, speed);
        def.angular_velocity = vec3(0.0f, 0.0f, speed / length);
        arm.body_a = hook_at(world, vec3_zero());
        arm.body_b = kit_body(world, &def, &shape);
        arm.anchor_b = arm.kind == CAIRN_JOINT_DISTANCE ? vec3_zero() : vec3_scale(down, -length);
        arm.length = length;
        arm.axis_a = arm.axis_b = vec3(0.0f, 0.0f, 1.0f);
        arm.normal_a = arm.normal_b = vec3(1.0f, 0.0f, 0.0f);
        if (i >= 3) {
            arm.breakable = 1;
            arm.break_force = 1e9f;
            arm.break_torque = 1e9f;
        }
        (void)kit_joint(world, &arm);
        const held now = forces_in(world);
        const cairn_body_forces *bob = of_body(&now, arm.body_b);
        cairn_mass_properties mass;
        EXPECT_OK(cairn_body_read_mass(world, arm.body_b, &mass));
        const float pull = mass.mass * (GRAVITY * cosf(angle) + speed * speed / length);
        expect_near(0.0f - vec3_dot(vector(bob->force), down), pull, 1e-3f * pull);
        expect_near(0.0f - vec3_dot(vector(bob->linear), down), speed * speed / length, 1e-3f);
    }
}

// Rolling without slipping: a = 5/7 g sin, and friction gives the other 2/7.
TEST("a ball rolls down a slope with five sevenths of g sin, however fast it is") {
    for (uint32_t i = 0; i < 2; ++i) {
        const float angle = 0.3f, speed = i == 0 ? 0.0f : 8.0f;
        SCOPED(cairn_world) *world = world_with(CAIRN_SOLVER_SOFT_STEP, gravity_on_slope(angle));
        (void)kit_ground(world);
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = ball(0.5f);
        def.position = vec3(0.0f, 0.5f, 0.0f);
        def.linear_velocity = vec3(speed, 0.0f, 0.0f);
        def.angular_velocity = vec3(0.0f, 3.0f * (float)i, 0.0f - speed / 0.5f);
        const cairn_body_id rolls = kit_body(world, &def, &shape);
        const held now = forces_in(world);
        const cairn_body_forces *of = of_body(&now, rolls);
        const float a = 5.0f / 7.0f * GRAVITY * sinf(angle);
        expect_vec3(vector(of->linear), vec3(a, 0.0f, 0.0f), 1e-3f);
        expect_vec3(vector(of->angular), vec3(0.0f, 0.0f, 0.0f - a / 0.5f), 1e-2f);
    }
}

// On top of another ball it is held with m (g cos - v^2 / (R + r)): it leaves it at 10/17.
TEST("a ball that rolls over a ball presses less, the faster it is, and leaves it at cos = 10/17") {
    const float above = acosf(10.0f / 17.0f);
    for (uint32_t i = 0; i < 3; ++i) {
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        const float angle = i == 0 ? 0.4f : above + (i == 1 ? -0.01f : 0.01f);
        const float way = 1.5f; // R + r
        const cairn_vec3 out = vec3(sinf(angle), cosf(angle), 0.0f);
        const float square = 10.0f / 7.0f * GRAVITY * way * (1.0f - cosf(angle)); // energy
        const float speed = sqrtf(square);
        cairn_shape_def large = ball(1.0f), small = ball(0.5f);
        large.friction = small.friction = 5.0f;
        cairn_body_def fixed = cairn_body_def_default();
        fixed.kind = CAIRN_BODY_STATIC;
        (void)kit_body(world, &fixed, &large);
        cairn_body_def def = cairn_body_def_default();
        def.position = vec3_scale(out, way);
        def.linear_velocity = vec3(speed * cosf(angle), 0.0f - speed * sinf(angle), 0.0f);
        def.angular_velocity = vec3(0.0f, 0.0f, 0.0f - speed / 0.5f);
        const cairn_body_id rolls = kit_body(world, &def, &small);
        const held now = forces_in(world);
        const cairn_body_forces *of = of_body(&now, rolls);
        cairn_mass_properties mass;
        EXPECT_OK(cairn_body_read_mass(world, rolls, &mass));
        const float pressure = fmaxf(mass.mass * (GRAVITY * cosf(angle) - square / way), 0.0f);
        expect_near(vec3_dot(vector(of->force), out), pressure, 1e-3f * mass.mass * GRAVITY);
        if (i == 0) { // along the way: 5/7 g sin
            const float along =
                (float)of->linear[0] * cosf(angle) - (float)of->linear[1] * sinf(angle);
            expect_near(along, 5.0f / 7.0f * GRAVITY * sinf(angle), 2e-3f);
        }
    }
}

TEST("a turntable takes a box along as long as mu g is more than w^2 r") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        const float w = i == 0 ? 1.5f : 4.0f, r = 1.0f;
        cairn_body_def table = cairn_body_def_default();
        const cairn_shape_def plate = box(2.0f, 0.1f, 2.0f);
        table.kind = CAIRN_BODY_KINEMATIC;
        table.position = vec3(0.0f, -0.1f, 0.0f);
        table.angular_velocity = vec3(0.0f, w, 0.0f);
        (void)kit_body(world, &table, &plate);
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = box(0.1f, 0.1f, 0.1f);
        def.position = vec3(r, 0.1f, 0.0f);
        def.linear_velocity = vec3(0.0f, 0.0f, 0.0f - w * r);
        def.angular_velocity = vec3(0.0f, w, 0.0f);
        const cairn_body_id rides = kit_body(world, &def, &shape);
        const held now = forces_in(world);
        const cairn_body_forces *of = of_body(&now, rides);
        const float held_by = 0.5f * GRAVITY; // friction at most
        const float needed = w * w * r;
        expect_near((float)of->linear[1], 0.0f, 1e-3f);
        expect_near(
            (float)of->linear[0], 0.0f - fminf(needed, held_by), i == 0 ? 2e-3f : 0.1f * held_by);
    }
}

// A bead on a wire that turns at w: r'' = w^2 r, and the wire pushes with 2 m w r'.
TEST("a bead on a turning wire is flung with w^2 r and pushed with 2 m w v") {
    SCOPED(cairn_world) *world = world_in_space(CAIRN_SOLVER_SOFT_STEP);
    const float w = 4.0f, r = 1.5f, v = 2.0f;
    cairn_body_def wire = cairn_body_def_default();
    wire.kind = CAIRN_BODY_KINEMATIC;
    wire.angular_velocity = vec3(0.0f, w, 0.0f);
    cairn_joint_def slider = cairn_joint_def_default();
    slider.kind = CAIRN_JOINT_PRISMATIC;
    slider.axis_a = slider.axis_b = vec3(1.0f, 0.0f, 0.0f);
    slider.normal_a = slider.normal_b = vec3(0.0f, 1.0f, 0.0f);
    slider.body_a = kit_body(world, &wire, NULL);
    cairn_body_def bead = cairn_body_def_default();
    const cairn_shape_def shape = ball(0.05f);
    bead.position = vec3(r, 0.0f, 0.0f);
    bead.linear_velocity = vec3(v, 0.0f, 0.0f - w * r);
    bead.angular_velocity = vec3(0.0f, w, 0.0f);
    slider.body_b = kit_body(world, &bead, &shape);
    (void)kit_joint(world, &slider);
    const held now = forces_in(world);
    const cairn_body_forces *of = of_body(&now, slider.body_b);
    cairn_mass_properties mass;
    EXPECT_OK(cairn_body_read_mass(world, slider.body_b, &mass));
    // In the axes of space the bead feels the wire alone, across it.
    expect_vec3(vector(of->linear), vec3(0.0f, 0.0f, -2.0f * w * v), 1e-2f);
    expect_near((float)of->force[2], -2.0f * mass.mass * w * v, 1e-2f * mass.mass);
}

TEST("Atwood's machine accelerates with g (M - m) / (M + m)") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    cairn_joint_def rope = cairn_joint_def_default();
    rope.kind = CAIRN_JOINT_PULLEY;
    rope.body_a = kit_sphere(world, vec3(-1.0f, 0.0f, 0.0f), 0.2f);
    rope.body_b = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f); // an eighth
    rope.fixed_a = vec3(-1.0f, 3.0f, 0.0f);
    rope.fixed_b = vec3(1.0f, 3.0f, 0.0f);
    rope.length = 6.0f;
    rope.ratio = 1.0f;
    (void)kit_joint(world, &rope);
    const held now = forces_in(world);
    const float a = GRAVITY * 7.0f / 9.0f;
    expect_near((float)of_body(&now, rope.body_a)->linear[1], 0.0f - a, 1e-2f);
    expect_near((float)of_body(&now, rope.body_b)->linear[1], a, 1e-2f);
}

// Three rods on hinges in motion: what a very short step does.
TEST("forces are the limit of the impulses of short steps") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_DIRECT);
    cairn_joint_def hinge = cairn_joint_def_default();
    hinge.kind = CAIRN_JOINT_HINGE;
    hinge.axis_a = hinge.axis_b = vec3(0.0f, 0.0f, 1.0f);
    hinge.normal_a = hinge.normal_b = vec3(1.0f, 0.0f, 0.0f);
    hinge.body_a = hook_at(world, vec3_zero());
    cairn_body_id rods[3];
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = box(0.5f, 0.1f, 0.1f);
        def.position = vec3(0.5f + (float)i, 0.0f, 0.0f);
        rods[i] = hinge.body_b = kit_body(world, &def, &shape);
        hinge.anchor_a = i == 0 ? vec3_zero() : vec3(0.5f, 0.0f, 0.0f);
        hinge.anchor_b = vec3(-0.5f, 0.0f, 0.0f);
        (void)kit_joint(world, &hinge);
        hinge.body_a = rods[i];
    }
    EXPECT_OK(cairn_world_set_step_rate(world, 2000.0f));
    kit_run(world, 1200); // 0.6 s: they swing
    const held now = forces_in(world);
    cairn_body_state before[3];
    for (uint32_t i = 0; i < 3; ++i) {
        before[i] = kit_read(world, rods[i]);
    }
    kit_run(world, 1);
    for (uint32_t i = 0; i < 3; ++i) {
        const cairn_body_state after = kit_read(world, rods[i]);
        const float a = (after.angular_velocity.z - before[i].angular_velocity.z) * 2000.0f;
        expect_near((float)of_body(&now, rods[i])->angular[2], a, 0.05f * fabsf(a) + 0.5f);
    }
}

TEST("what collides needs an impulse first, and what parts is not held") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        (void)kit_ground(world);
        cairn_body_def def = cairn_body_def_default();
        const cairn_shape_def shape = ball(0.5f);
        def.position = vec3(0.0f, 0.5f, 0.0f);
        def.linear_velocity = vec3(0.0f, i == 0 ? -5.0f : 5.0f, 0.0f);
        const cairn_body_id flies = kit_body(world, &def, &shape);
        const held now = forces_in(world);
        assert_int_equal(now.sum.impacts, i == 0 ? 1 : 0);
        assert_int_equal(now.sum.touching, 0);
        expect_near((float)of_body(&now, flies)->linear[1], 0.0f - GRAVITY, 1e-5f);
    }
}

TEST("more bodies than there is room for are refused, and an empty world has none") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_PGS);
    cairn_forces sum;
    EXPECT_OK(cairn_world_forces_read(world, 0, NULL, &sum));
    assert_int_equal(sum.bodies, 0);
    (void)kit_cube(world, vec3_zero());
    (void)kit_cube(world, vec3(0.0f, 5.0f, 0.0f));
    cairn_body_forces one;
    assert_int_equal(cairn_world_forces_read(world, 1, &one, &sum), CAIRN_BUFFER_TOO_SMALL);
    assert_int_equal(sum.bodies, 2);
    const held now = forces_in(world);
    assert_int_equal(now.sum.rows, 0);
    expect_near((float)now.bodies[1].linear[1], 0.0f - GRAVITY, 1e-6f);
}
