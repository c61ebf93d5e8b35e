// SPDX-License-Identifier: MIT
// What a collision of two free bodies keeps: momentum and angular momentum always, and the energy
// if restitution is 1 and nothing rubs. No collision adds energy. Cubes and balls alone: their
// inertia is the same about every axis, so that a free one keeps its spin.

#include "tests/physics/mechanics_kit.h"

static uint32_t collision_count(void) {
    return test_is_thorough() ? 300 : 60;
}

typedef struct sums {
    cairn_vec3 momentum;         // kg m/s
    cairn_vec3 angular_momentum; // kg m^2/s, about the origin
    float energy;                // J
} sums;

typedef struct solid {
    cairn_body_id body;
    float mass;    // kg
    float inertia; // kg m^2
} solid;

static float number_at(uint64_t *count, float lower, float upper) {
    const uint64_t bits = cairn_random_at(9, 0, 0, (*count)++);
    return lower + (upper - lower) * (float)(bits >> 40) * 0x1p-24f;
}

static cairn_vec3 vector_at(uint64_t *count, float most) {
    const float x = number_at(count, -most, most);
    const float y = number_at(count, -most, most);
    return vec3(x, y, number_at(count, -most, most));
}

static solid add_solid(cairn_world *world, uint64_t *count, cairn_vec3 position,
    cairn_vec3 velocity, float friction, float restitution) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    const float half = number_at(count, 0.2f, 0.5f);
    const cairn_vec3 turn = vector_at(count, 1.0f);
    const bool is_ball = number_at(count, 0.0f, 1.0f) < 0.4f;
    shape.kind = is_ball ? CAIRN_SHAPE_SPHERE : CAIRN_SHAPE_BOX;
    shape.half_extents = vec3(half, half, half);
    shape.radius = half;
    shape.friction = friction;
    shape.restitution = restitution;
    shape.density = number_at(count, 500.0f, 2000.0f);
    def.position = position;
    def.rotation = quat_normalize((cairn_quat){turn.x, turn.y, turn.z, 1.0f});
    def.linear_velocity = velocity;
    def.angular_velocity = vector_at(count, 3.0f);
    solid out = {.body = kit_body(world, &def, &shape)};
    out.mass = cairn_body_mass(world, out.body);
    out.inertia = out.mass * half * half * (is_ball ? 2.0f / 5.0f : 2.0f / 3.0f);
    return out;
}

static sums sums_of(const cairn_world *world, const solid solids[2]) {
    sums out = {.energy = 0.0f};
    for (int i = 0; i < 2; ++i) {
        const cairn_body_state s = kit_read(world, solids[i].body);
        const cairn_vec3 p = vec3_scale(s.linear_velocity, solids[i].mass);
        const cairn_vec3 spin = vec3_scale(s.angular_velocity, solids[i].inertia);
        out.momentum = vec3_add(out.momentum, p);
        out.angular_momentum =
            vec3_add(out.angular_momentum, vec3_add(vec3_cross(s.position, p), spin));
        out.energy += 0.5f * (vec3_dot(p, s.linear_velocity) + vec3_dot(spin, s.angular_velocity));
    }
    return out;
}

// Throws two solids at each other, as chance will have it. Returns how the energy changed, as a
// fraction; NAN if they missed each other.
static float energy_change(uint32_t solver, uint64_t seed, float friction, float restitution) {
    cairn_world_def def = cairn_world_def_default();
    uint64_t count = 1000 * seed;
    def.solver = solver;
    def.gravity = vec3_zero();
    def.restitution_threshold = 0.0f;
    def.body_capacity = def.shape_capacity = def.contact_capacity = 4;
    def.tick_rate_hz = 240; // so that they meet before they overlap by much
    SCOPED(cairn_world) *world = kit_world(&def);
    const float speed = number_at(&count, 2.0f, 10.0f);
    const cairn_vec3 aim = vector_at(&count, 0.2f);
    const solid solids[2] = {add_solid(world, &count, vec3(-1.0f, aim.y, aim.z),
                                 vec3(speed, 0.0f, 0.0f), friction, restitution),
        add_solid(world, &count, vec3(1.0f, 0.0f, 0.0f), vec3(-speed, 0.0f, 0.0f), friction,
            restitution)};
    const sums before = sums_of(world, solids);
    const cairn_vec3 spin = kit_read(world, solids[0].body).angular_velocity;
    kit_run(world, (uint32_t)(240.0f * 3.0f / speed));
    const sums after = sums_of(world, solids);
    const float mass = solids[0].mass + solids[1].mass;
    const float lost = vec3_distance(before.momentum, after.momentum);
    EXPECT_MEASURED(lost, 0.0f, 1e-4f * mass * speed);
    // The points of a contact are those of the poses at which it was found; the bodies may then
    // move by a few centimetres before it acts.
    const float turned = vec3_distance(before.angular_momentum, after.angular_momentum);
    EXPECT_MEASURED(turned, 0.0f, 0.05f * mass * speed);
    const bool missed =
        vec3_distance(spin, kit_read(world, solids[0].body).angular_velocity) == 0.0f &&
        kit_read(world, solids[0].body).linear_velocity.x == speed;
    return missed ? NAN : after.energy / before.energy - 1.0f;
}

TEST("a collision keeps momentum, and its energy if it is elastic and smooth") {
    FOR_BOTH_SOLVERS(solver) {
        float worst = 0.0f;
        uint32_t hits = 0;
        for (uint64_t seed = 0; seed < collision_count(); ++seed) {
            const float change = energy_change(solver, seed, 0.0f, 1.0f);
            hits += isnan(change) ? 0 : 1;
            worst = isnan(change) ? worst : float_max(worst, fabsf(change));
        }
        assert_true(hits > collision_count() / 2);
        // One corner meets a face at 20 m/s and is found 14 mm deep by the PGS solver.
        EXPECT_MEASURED(worst, 0.0f, solver == CAIRN_SOLVER_SOFT_STEP ? 0.003f : 0.02f);
    }
}

TEST("no collision adds energy") {
    // Newton's law of restitution may itself add some where the bodies rub (Kane 1984).
    static const struct {
        float friction, restitution, gain_max;
    } rows[] = {{0.5f, 1.0f, 0.04f}, {0.5f, 0.5f, 0.01f}, {0.0f, 0.5f, 0.01f}, {0.5f, 0.0f, 0.01f},
        {1.0f, 0.3f, 0.01f}};
    FOR_BOTH_SOLVERS(solver) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
            for (uint64_t seed = 0; seed < collision_count() / 3; ++seed) {
                const float change =
                    energy_change(solver, seed, rows[i].friction, rows[i].restitution);
                assert_true(isnan(change) || change < rows[i].gain_max);
            }
        }
    }
}

// ---- closed forms

static cairn_world *still_space(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.gravity = vec3_zero();
    def.sleep = 0;
    def.restitution_threshold = 0.0f;
    return kit_world(&def);
}

static cairn_body_id add_body(cairn_world *world, cairn_vec3 position, cairn_vec3 velocity,
    cairn_shape_def shape, float restitution) {
    cairn_body_def def = cairn_body_def_default();
    def.position = position;
    def.linear_velocity = velocity;
    shape.restitution = restitution;
    shape.friction = 0.0f;
    return kit_body(world, &def, &shape);
}

// The normal lies along the line of centres: with an offset d of two balls of radius r the sine of
// its angle with the motion is d / 2 r. The struck ball leaves along it, the other one at a right
// angle to that.
TEST("two equal balls part at a right angle") {
    for (uint32_t i = 0; i < 2 * 8; ++i) {
        SCOPED(cairn_world) *world = still_space(i % 2);
        const float sine = 0.1f * (float)(i / 2 + 1);
        const float cosine = sqrtf(1.0f - sine * sine);
        const cairn_body_id thrown = add_body(
            world, vec3(-1.0f, -0.5f * sine, 0.0f), vec3(2.0f, 0.0f, 0.0f), ball(0.25f), 1.0f);
        const cairn_body_id struck = add_body(world, vec3_zero(), vec3_zero(), ball(0.25f), 1.0f);
        kit_run(world, 60);
        const cairn_vec3 u = kit_read(world, thrown).linear_velocity;
        const cairn_vec3 v = kit_read(world, struck).linear_velocity;
        EXPECT_MEASURED(v.x, 2.0f * cosine * cosine, 0.1f);
        EXPECT_MEASURED(v.y, 2.0f * cosine * sine, 0.1f);
        EXPECT_MEASURED(u.x, 2.0f * sine * sine, 0.1f);
        EXPECT_MEASURED(vec3_dot(u, v), 0.0f, 0.01f);
        EXPECT_MEASURED(vec3_length_squared(u) + vec3_length_squared(v), 4.0f, 0.02f);
    }
}

TEST("two bodies that do not bounce go on together") {
    for (uint32_t i = 0; i < 2 * 3; ++i) {
        static const float densities[] = {100.0f, 1000.0f, 8000.0f};
        SCOPED(cairn_world) *world = still_space(i % 2);
        cairn_shape_def light = cairn_shape_def_default();
        light.density = densities[i / 2];
        const cairn_body_id thrown =
            add_body(world, vec3(-1.5f, 0.0f, 0.0f), vec3(3.0f, 0.0f, 0.0f), light, 0.0f);
        const cairn_body_id struck =
            add_body(world, vec3_zero(), vec3_zero(), cairn_shape_def_default(), 0.0f);
        kit_run(world, 60);
        const float common = 3.0f * densities[i / 2] / (1000.0f + densities[i / 2]);
        EXPECT_MEASURED(kit_read(world, thrown).linear_velocity.x, common, 0.02f);
        EXPECT_MEASURED(kit_read(world, struck).linear_velocity.x, common, 0.02f);
    }
}

// A ball of mass m hits a bar of mass M and inertia I at the distance d from its centre. The
// impulse is J = (1 + e) v / (1 / m + 1 / M + d^2 / I); the bar leaves with J / M and turns with J
// d / I.
TEST("a bar that is struck off its centre moves and turns") {
    for (uint32_t i = 0; i < 2 * 2 * 5; ++i) {
        SCOPED(cairn_world) *world = still_space(i % 2);
        const float e = (i & 2u) != 0 ? 1.0f : 0.5f;
        const float d = 0.2f * (float)(i / 4);
        cairn_shape_def bar = cairn_shape_def_default();
        bar.half_extents = vec3(0.1f, 1.0f, 0.1f);
        const cairn_body_id struck = add_body(world, vec3_zero(), vec3_zero(), bar, e);
        const cairn_body_id thrown =
            add_body(world, vec3(-0.5f, d, 0.0f), vec3(2.0f, 0.0f, 0.0f), ball(0.2f), e);
        const float m = cairn_body_mass(world, thrown);
        const float mass = cairn_body_mass(world, struck);
        const float inertia = mass / 12.0f * (4.0f + 0.04f);
        const float impulse = (1.0f + e) * 2.0f / (1.0f / m + 1.0f / mass + d * d / inertia);
        while (kit_read(world, thrown).linear_velocity.x == 2.0f && cairn_world_tick(world) < 60) {
            kit_run(world, 1);
        }
        const cairn_body_state now = kit_read(world, struck);
        EXPECT_MEASURED(now.linear_velocity.x, impulse / mass, 0.02f);
        EXPECT_MEASURED(-now.angular_velocity.z, impulse * d / inertia, 0.03f);
        EXPECT_MEASURED(kit_read(world, thrown).linear_velocity.x, 2.0f - impulse / m, 0.02f);
    }
}

// A small ball on a large one, both falling with v: the large one turns back first, then the small
// one leaves with (3 M - m) / (M + m) v, nearly three times as fast.
TEST("a small ball on a large one jumps off with nearly three times its speed") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = still_space(solver);
        kit_ground(world);
        const cairn_vec3 v = vec3(0.0f, -5.0f, 0.0f);
        const cairn_body_id large = add_body(world, vec3(0.0f, 0.7f, 0.0f), v, ball(0.5f), 1.0f);
        const cairn_body_id small = add_body(world, vec3(0.0f, 1.302f, 0.0f), v, ball(0.1f), 1.0f);
        kit_run(world, 20);
        const float ratio = 1.0f / 125.0f; // of the masses
        EXPECT_MEASURED(
            kit_read(world, small).linear_velocity.y, 5.0f * (3.0f - ratio) / (1.0f + ratio), 0.3f);
        EXPECT_MEASURED(kit_read(world, large).linear_velocity.y,
            5.0f * (1.0f - 3.0f * ratio) / (1.0f + ratio), 0.15f);
    }
}
