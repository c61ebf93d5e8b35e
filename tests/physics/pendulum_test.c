// SPDX-License-Identifier: MIT
// Pendulums. Without friction a pendulum swings for ever between the same heights. A time-stepping
// solver changes its energy a little in each substep; these tests say by how much in a minute.

#include <math.h>

#include "sim/state/world.h"
#include "tests/physics/energy_kit.h"
#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

#define GRAVITY 9.81f

static const char *const kind_names[] = {[CAIRN_JOINT_BALL] = "ball",
    [CAIRN_JOINT_DISTANCE] = "distance",
    [CAIRN_JOINT_HINGE] = "hinge",
    [CAIRN_JOINT_CONE] = "cone"};

// Nothing sleeps: at its highest point a pendulum is slow for a while.
static cairn_world *air(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    def.solver = solver;
    def.gravity = vec3(0.0f, -GRAVITY, 0.0f);
    return kit_world(&def);
}

static cairn_body_id add_hook(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id hook = 0;
    def.kind = CAIRN_BODY_STATIC;
    EXPECT_OK(cairn_body_create(world, &def, &hook));
    return hook;
}

// Hangs `bob` to the middle of `from` by an arm without mass. A distance joint holds it by its
// middle, the other kinds hold it rigidly. Hinges turn about z. `reach`: rad, how far from straight
// down the limits of hinges and cones are; 0: they have none.
static void hang_within(
    cairn_world *world, uint32_t kind, cairn_body_id from, cairn_body_id bob, float reach) {
    const cairn_vec3 arm = vec3_sub(kit_read(world, bob).position, kit_read(world, from).position);
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = from;
    def.body_b = bob;
    def.anchor_b = kind == CAIRN_JOINT_DISTANCE ? vec3_zero() : vec3_negate(arm);
    def.length = vec3_length(arm);
    def.axis_a = vec3(0.0f, 0.0f, 1.0f);
    def.axis_b = def.axis_a;
    def.normal_a = reach > 0.0f ? vec3(0.0f, -1.0f, 0.0f) : vec3(1.0f, 0.0f, 0.0f);
    def.normal_b = vec3(1.0f, 0.0f, 0.0f);
    def.limited = reach > 0.0f;
    def.lower = 0.0f - reach;
    def.upper = reach;
    def.cone = reach > 0.0f ? reach : def.cone;
    (void)kit_joint(world, &def);
}

static void hang(cairn_world *world, uint32_t kind, cairn_body_id from, cairn_body_id bob) {
    hang_within(world, kind, from, bob, 0.0f);
}

// The highest place that the body reaches in these ticks.
static float highest_in(cairn_world *world, cairn_body_id body, uint32_t ticks) {
    float highest = -1e6f;
    for (uint32_t i = 0; i < ticks; ++i) {
        kit_run(world, 1);
        highest = float_max(highest, kit_read(world, body).position.y);
    }
    return highest;
}

TEST("a pendulum let go from the side still rises to the side after a minute") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id bob = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
        hang(world, kind, hook, bob);
        kit_run(world, 57 * 60);
        // It swings once in 2.4 s.
        const float top = highest_in(world, bob, 3 * 60);
        if (!(float_abs(top) < 0.01f)) {
            fail_msg("%s: it rises to %.4f m", kind_names[kind], (double)top);
        }
    }
}

TEST("limits that a pendulum does not reach take nothing from it in a minute") {
    for (uint32_t kind = CAIRN_JOINT_HINGE; kind <= CAIRN_JOINT_CONE; ++kind) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id bob = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
        hang_within(world, kind, hook, bob, 2.0f);
        kit_run(world, 57 * 60);
        const float top = highest_in(world, bob, 3 * 60);
        if (!(float_abs(top) < 0.01f)) {
            fail_msg("%s: it rises to %.4f m", kind_names[kind], (double)top);
        }
    }
}

TEST("its arm keeps its length while the pull changes from none to three times its weight") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id bob = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
        hang(world, kind, hook, bob);
        for (uint32_t i = 0; i < 600; ++i) {
            kit_run(world, 1);
            EXPECT_MEASURED(vec3_length(kit_read(world, bob).position), 1.0f, 0.001f);
        }
    }
}

// A pendulum of length r and amplitude A takes 2 pi sqrt(I / (m g r)) (1 + A^2 / 16 + 11 A^4 /
// 3072) for a swing; a ball of radius a about a point at the distance r from its centre has I = m
// (r^2 + 2 a^2 / 5).
TEST("a small swing takes as long as Huygens said") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        const double a = 0.3;
        // On a distance joint the ball does not turn with its arm.
        const double about_centre = kind == CAIRN_JOINT_DISTANCE ? 0.0 : 0.4 * 0.1 * 0.1;
        const double expected = 2.0 * 3.14159265358979 * sqrt((1.0 + about_centre) / 9.81) *
                                (1.0 + a * a / 16.0 + 11.0 * a * a * a * a / 3072.0);
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id bob =
            kit_sphere(world, vec3((float)sin(a), -(float)cos(a), 0.0f), 0.1f);
        hang(world, kind, hook, bob);
        // The times at which it passes the middle to the left, by linear interpolation.
        double first = 0.0;
        double last = 0.0;
        uint32_t swings = 0;
        float x = kit_read(world, bob).position.x;
        for (uint32_t i = 1; i <= 1260; ++i) {
            kit_run(world, 1);
            const float now = kit_read(world, bob).position.x;
            if (x >= 0.0f && now < 0.0f) {
                last = ((double)i - (double)(now / (now - x))) / 60.0;
                first = swings == 0 ? last : first;
                ++swings;
            }
            x = now;
        }
        assert_true(swings == 10 || swings == 11);
        EXPECT_MEASURED((last - first) / (swings - 1), expected, 0.001 * expected);
    }
}

// From the side it takes 1.18034 times as long as a small swing: K(sin 45 degrees) / (pi / 2).
TEST("a swing from the side takes a sixth longer than a small one") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id bob = kit_sphere(world, vec3(2.0f, 0.0f, 0.0f), 0.1f);
        hang(world, kind, hook, bob);
        uint32_t ticks = 0;
        float fastest = 0.0f;
        do { // to the turning point on the other side
            kit_run(world, 1);
            ++ticks;
            fastest = float_max(fastest, vec3_length(kit_read(world, bob).linear_velocity));
        } while (ticks < 300 && !(kit_read(world, bob).linear_velocity.y < 0.0f &&
                                    kit_read(world, bob).position.x < -1.0f));
        EXPECT_MEASURED(ticks, 60.0 * 1.18034 * 3.14159265 * sqrt(2.0 / 9.81), 1.5);
        EXPECT_MEASURED(fastest, sqrt(2.0 * 9.81 * 2.0), 0.02);
    }
}

// Two bobs, let go level. Its motion is chaotic, so energy is all that can be compared: in units of
// what one bob has at the height of one arm.
TEST("a double pendulum keeps its energy for a minute") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id upper = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
        const cairn_body_id lower = kit_sphere(world, vec3(2.0f, 0.0f, 0.0f), 0.1f);
        hang(world, kind, hook, upper);
        hang(world, kind, upper, lower);
        const double unit = (double)(cairn_body_mass(world, lower) * GRAVITY);
        const double start = energy(world);
        for (uint32_t second = 0; second < 60; ++second) {
            kit_run(world, 60);
            const double change = (energy(world) - start) / unit;
            if (!(fabs(change) < 0.05)) {
                fail_msg("%s: %.3f of its energy after %u s", kind_names[kind], change, second + 1);
            }
        }
    }
}

// Greatest change of energy in a minute, as a part of what the two weights can give: a pendulum of
// 1 m with 4.2 kg, and at its end one of `length` with a bob of radius `radius`, both let go from
// the side.
static double lost_by_double_pendulum(uint32_t kind, float length, float radius) {
    SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
    const cairn_body_id hook = add_hook(world);
    const cairn_body_id upper = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
    const cairn_body_id lower = kit_sphere(world, vec3(1.0f + length, 0.0f, 0.0f), radius);
    hang(world, kind, hook, upper);
    hang(world, kind, upper, lower);
    const float weights =
        cairn_body_mass(world, upper) + (1.0f + length) * cairn_body_mass(world, lower);
    const double start = energy(world);
    double most = 0.0;
    for (uint32_t second = 0; second < 60; ++second) {
        kit_run(world, 60);
        most = fmax(most, fabs(energy(world) - start));
    }
    return most / (double)(weights * GRAVITY);
}

// The lower arm of half a metre rotates at up to 30 rad/s.
TEST("a double pendulum keeps its energy with a short lower arm, a long one and a light bob") {
    const float lengths[] = {0.5f, 1.0f, 2.0f};
    const float radii[] = {0.067f, 0.1f}; // of a third and of the whole of the upper mass
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        for (uint32_t i = 0; i < 6; ++i) {
            const double lost = lost_by_double_pendulum(kind, lengths[i % 3], radii[i / 3]);
            if (!(lost < 0.03)) {
                fail_msg("%s, %.1f m, %.3f m: %.3f of its energy", kind_names[kind],
                    (double)lengths[i % 3], (double)radii[i / 3], lost);
            }
        }
    }
}

// The upper bob is a light link, whose joints are solved together. Without that the row of ten
// times its mass lost up to 83 %, that of twice on half a metre 6 %.
TEST("a double pendulum keeps its energy with a lower bob of up to ten times the upper one") {
    const float lengths[] = {0.5f, 1.0f, 2.0f};
    const float radii[] = {0.126f, 0.144f, 0.171f, 0.2154f}; // of 2, 3, 5 and 10 times the mass
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        for (uint32_t i = 0; i < 12 && kind != CAIRN_JOINT_DISTANCE; ++i) {
            const double lost = lost_by_double_pendulum(kind, lengths[i % 3], radii[i / 3]);
            if (!(lost < 0.05)) {
                fail_msg("%s, %.1f m, %.3f m: %.3f of its energy", kind_names[kind],
                    (double)lengths[i % 3], (double)radii[i / 3], lost);
            }
        }
    }
}

// A stone on a sling, without gravity: its speed and the pull m v^2 / r stay.
TEST("a stone on a sling keeps its speed") {
    for (uint32_t kind = CAIRN_JOINT_BALL; kind <= CAIRN_JOINT_HINGE; ++kind) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        cairn_body_def def = cairn_body_def_default();
        cairn_shape_def ball = cairn_shape_def_default();
        const float spin = kind == CAIRN_JOINT_DISTANCE ? 0.0f : 10.0f;
        ball.kind = CAIRN_SHAPE_SPHERE;
        ball.radius = 0.1f;
        def.position = vec3(1.0f, 0.0f, 0.0f);
        def.linear_velocity = vec3(0.0f, 10.0f, 0.0f);
        def.angular_velocity = vec3(0.0f, 0.0f, spin);
        def.gravity_scale = 0.0f;
        const cairn_body_id stone = kit_body(world, &def, &ball);
        hang(world, kind, hook, stone);
        kit_run(world, 60 * 60);
        const cairn_body_state end = kit_read(world, stone);
        EXPECT_MEASURED(vec3_length(end.linear_velocity), 10.0f, 0.2f);
        EXPECT_MEASURED(vec3_length(end.position), 1.0f, 0.001f);
    }
}

// ---- hinges of small bodies on long arms

static const cairn_vec3 hinge_axes[] = {{0.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 0.0f},
    {0.64f, 0.0f, 0.768375f}, {0.48f, 0.36f, 0.8f}, {0.0f, -0.28f, 0.96f}};

static cairn_joint_id hang_by_hinge(cairn_world *world, uint32_t kind, cairn_body_id from,
    cairn_body_id bob, cairn_vec3 axis, cairn_vec3 along) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = kind;
    def.body_a = from;
    def.body_b = bob;
    def.anchor_b = vec3_sub(kit_read(world, from).position, kit_read(world, bob).position);
    def.axis_a = def.axis_b = axis;
    def.normal_a = def.normal_b = along;
    return kit_joint(world, &def);
}

#define SMALL_BOBS 25

// The world of bob i of SMALL_BOBS, of one of five radii on an arm of 1 m about one of five axes. A
// torque on a bob of radius r and of mass m moves a hinge at a distance c by m c^2 / I times what
// it turns the whole: up to 25,000 times here.
static cairn_world *small_bob(uint32_t i, uint32_t solver, cairn_joint_id *hinge) {
    static const float radii[] = {0.3f, 0.1f, 0.05f, 0.02f, 0.01f};
    const cairn_vec3 axis = hinge_axes[i / 5];
    const cairn_vec3 side =
        vec3_normalize(vec3_cross(axis, vec3(0.0f, 1.0f, 0.0f)), vec3(1.0f, 0.0f, 0.0f));
    cairn_world *world = air(solver);
    const cairn_body_id hook = add_hook(world);
    const cairn_body_id bob = kit_sphere(world, side, radii[i % 5]);
    *hinge = hang_by_hinge(world, CAIRN_JOINT_HINGE, hook, bob, axis, side);
    return world;
}

static float step_and_read_gap(cairn_world *world, cairn_joint_id hinge) {
    float gap = 1.0f;
    kit_run(world, 1);
    EXPECT_OK(cairn_joint_error(world, hinge, &gap));
    return gap;
}

TEST("a hinge about any axis holds a small bob on a long arm, and keeps its energy") {
    for (uint32_t i = 0; i < SMALL_BOBS; ++i) {
        cairn_joint_id hinge;
        SCOPED(cairn_world) *world = small_bob(i, CAIRN_SOLVER_SOFT_STEP, &hinge);
        const double start = energy(world);
        const double scale = (double)(world->state.bodies[1].mass * GRAVITY);
        for (uint32_t tick = 0; tick < 20 * 60; ++tick) {
            EXPECT_MEASURED(step_and_read_gap(world, hinge), 0.0f, 2e-4f);
        }
        EXPECT_MEASURED(energy(world) / scale, start / scale, 0.01);
        assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
    }
}

// Its velocity constraints keep neither energy nor place as well as the default solver's.
TEST("with PGS as well, such a hinge neither opens nor gains energy") {
    for (uint32_t i = 0; i < SMALL_BOBS; ++i) {
        cairn_joint_id hinge;
        SCOPED(cairn_world) *world = small_bob(i, CAIRN_SOLVER_PGS, &hinge);
        const double start = energy(world);
        const double scale = (double)(world->state.bodies[1].mass * GRAVITY);
        for (uint32_t tick = 0; tick < 20 * 60; ++tick) {
            EXPECT_MEASURED(step_and_read_gap(world, hinge), 0.0f, 0.03f);
            assert_true(energy(world) < start + 0.05 * scale);
        }
    }
}

// The hinges of a light link hold each other's torques, which turn the heavy end with hardly any
// part of the link.
TEST("two hinges about any axis hold a heavy ball by a light one, as two ball joints do") {
    for (uint32_t i = 0; i < 5; ++i) {
        const cairn_vec3 axis = hinge_axes[i];
        const cairn_vec3 side =
            vec3_normalize(vec3_cross(axis, vec3(0.0f, 1.0f, 0.0f)), vec3(1.0f, 0.0f, 0.0f));
        float worst[2] = {0.0f, 0.0f};
        for (uint32_t k = 0; k < 2; ++k) {
            SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
            const uint32_t kind = k == 0 ? CAIRN_JOINT_BALL : CAIRN_JOINT_HINGE;
            const cairn_body_id hook = add_hook(world);
            cairn_shape_def ball = cairn_shape_def_default();
            ball.kind = CAIRN_SHAPE_SPHERE;
            ball.mask = 0;
            ball.radius = 0.1f;
            const cairn_body_id link = kit_drop(world, vec3_scale(side, 0.5f), &ball);
            ball.radius = 0.25f;
            const cairn_body_id end = kit_drop(world, side, &ball);
            const cairn_joint_id joints[2] = {hang_by_hinge(world, kind, hook, link, axis, side),
                hang_by_hinge(world, kind, link, end, axis, side)};
            for (uint32_t tick = 0; tick < 20 * 60; ++tick) {
                kit_run(world, 1);
                for (uint32_t j = 0; j < 2; ++j) {
                    float gap = 1.0f;
                    EXPECT_OK(cairn_joint_error(world, joints[j], &gap));
                    worst[k] = float_max(worst[k], gap);
                }
            }
            assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
        }
        EXPECT_MEASURED(worst[0], 0.0f, 0.04f);
        EXPECT_MEASURED(worst[1], 0.0f, 0.04f);
    }
}

// The link of 4 kg between the hook and 42 kg is light: what one of its joints does not solve, the
// other one must not feed. The second arm leads aside, so that the pendulum is not plane.
TEST("two hinges on any two axes that hold a heavy ball by a light one gain no energy") {
    for (uint32_t i = 0; i < 25; ++i) {
        SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
        const cairn_body_id hook = add_hook(world);
        const cairn_body_id link = kit_sphere(world, vec3(0.6f, 0.0f, 0.0f), 0.1f);
        const cairn_body_id end = kit_sphere(world, vec3(0.9f, 0.1f, 0.3f), 0.2154f);
        const cairn_vec3 inner = hinge_axes[i % 5];
        const cairn_vec3 outer = hinge_axes[i / 5];
        const cairn_vec3 up = vec3(0.0f, 1.0f, 0.0f);
        const cairn_vec3 side = vec3(1.0f, 0.0f, 0.0f);
        const cairn_joint_id joints[2] = {hang_by_hinge(world, CAIRN_JOINT_HINGE, hook, link, inner,
                                              vec3_normalize(vec3_cross(inner, up), side)),
            hang_by_hinge(world, CAIRN_JOINT_HINGE, link, end, outer,
                vec3_normalize(vec3_cross(outer, up), side))};
        const double start = energy(world);
        const double scale = (double)(cairn_body_mass(world, end) * GRAVITY);
        for (uint32_t tick = 0; tick < 20 * 60; ++tick) {
            for (uint32_t j = 0; j < 2; ++j) {
                EXPECT_MEASURED(step_and_read_gap(world, joints[j]), 0.0f, 0.02f);
            }
            if (!(energy(world) < start + 0.03 * scale)) {
                fail_msg("axes %u and %u: gains energy", i % 5, i / 5);
            }
        }
    }
}

// A link becomes light, and is light no longer, while its joints stay: worlds that have followed,
// one that was restored each time, and new ones, must know it from the state alone.
TEST("a restored world goes on with the same light links") {
    SCOPED(cairn_world) *world = air(CAIRN_SOLVER_SOFT_STEP);
    SCOPED(cairn_world) *other = air(CAIRN_SOLVER_SOFT_STEP);
    const cairn_body_id hook = add_hook(world);
    const cairn_body_id upper = kit_sphere(world, vec3(1.0f, 0.0f, 0.0f), 0.1f);
    const cairn_body_id lower = kit_sphere(world, vec3(2.0f, 0.0f, 0.0f), 0.1f);
    hang(world, CAIRN_JOINT_BALL, upper, lower);
    hang(world, CAIRN_JOINT_BALL, hook, upper);
    for (uint32_t i = 0; i < 4; ++i) {
        EXPECT_OK(cairn_body_set_mass(world, lower, i % 2 == 0 ? 4.0f : 40.0f));
        kit_run(world, 10);
        SCOPED(kit_bytes) saved = kit_save(world);
        SCOPED(cairn_world) *fresh = air(CAIRN_SOLVER_SOFT_STEP);
        EXPECT_OK(cairn_world_load(other, saved.bytes, saved.size));
        EXPECT_OK(cairn_world_load(fresh, saved.bytes, saved.size));
        kit_run(world, 30);
        kit_run(other, 30);
        kit_run(fresh, 30);
        assert_memory_equal(world->state.motions, other->state.motions, 3 * sizeof(cairn_motion));
        assert_memory_equal(world->state.motions, fresh->state.motions, 3 * sizeof(cairn_motion));
    }
}
