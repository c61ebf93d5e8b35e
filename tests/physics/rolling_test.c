// SPDX-License-Identifier: MIT
// Rolling. A round body of inertia I = k m r^2 that rolls down a slope without slipping has
// a = g sin(A) / (1 + k): k = 2/5 for a ball. The slope must give it the force m a k, so friction
// holds while tan(A) < mu (1 + 1 / k); beyond that it slips, with a = g (sin - mu cos), and
// friction spins it at mu g cos / (k r).

#include "tests/physics/mechanics_kit.h"

typedef struct roller {
    const char *name;
    cairn_shape_def shape;
    cairn_quat rotation; // so that it rolls along x
    float radius;
    float k;
} roller;

// A capsule is a cylinder (k = 1/2) and a ball (k = 2/5); it lies along z.
static roller lying_capsule(float radius, float half_height) {
    const float cylinder = 2.0f * half_height;
    const float sphere = 4.0f / 3.0f * radius;
    return (roller){.name = "capsule",
        .shape = capsule(radius, half_height),
        .rotation = turned(vec3(1.0f, 0.0f, 0.0f), 0.5f * PI),
        .radius = radius,
        .k = (0.5f * cylinder + 0.4f * sphere) / (cylinder + sphere)};
}

static roller rolling_ball(float radius) {
    return (roller){.name = "ball",
        .shape = ball(radius),
        .rotation = quat_identity(),
        .radius = radius,
        .k = 0.4f};
}

static cairn_body_id put_on_ground(
    cairn_world *world, const roller *r, float friction, float speed, float spin) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = r->shape;
    shape.friction = friction;
    def.position.y = r->radius;
    def.rotation = r->rotation;
    def.linear_velocity.x = speed;
    def.angular_velocity.z = -spin; // rolls along +x
    const cairn_body_id body = kit_body(world, &def, &shape);
    def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    shape.kind = CAIRN_SHAPE_HALF_SPACE;
    kit_body(world, &def, &shape);
    return body;
}

TEST("a round body rolls down a slope with g sin / (1 + k), or slips") {
    const roller rollers[] = {rolling_ball(0.5f), rolling_ball(0.1f), lying_capsule(0.3f, 0.6f)};
    static const struct {
        float degrees, friction;
    } slopes[] = {{5.0f, 0.5f}, {20.0f, 0.5f}, {40.0f, 0.5f}, {55.0f, 0.9f}, {30.0f, 0.1f},
        {45.0f, 0.2f}, {30.0f, 0.0f}};
    FOR_BOTH_SOLVERS(solver) {
        for (size_t i = 0; i < sizeof slopes / sizeof slopes[0]; ++i) {
            for (size_t j = 0; j < sizeof rollers / sizeof rollers[0]; ++j) {
                const roller *r = &rollers[j];
                const float angle = slopes[i].degrees * PI / 180.0f;
                const float mu = slopes[i].friction;
                const bool slips = tanf(angle) > mu * (1.0f + 1.0f / r->k);
                const float rolling = GRAVITY * sinf(angle) / (1.0f + r->k);
                const float slipping = GRAVITY * (sinf(angle) - mu * cosf(angle));
                const float acceleration = slips ? slipping : rolling;
                const float spin_up =
                    slips ? mu * GRAVITY * cosf(angle) / (r->k * r->radius) : rolling / r->radius;
                SCOPED(cairn_world) *world = world_with(solver, gravity_on_slope(angle));
                const cairn_body_id body = put_on_ground(world, r, mu, 0.0f, 0.0f);
                kit_run(world, 30);
                const cairn_body_state before = kit_read(world, body);
                kit_run(world, 60);
                const cairn_body_state now = kit_read(world, body);
                expect_near(now.linear_velocity.x - before.linear_velocity.x, acceleration,
                    0.005f * GRAVITY);
                expect_near(before.angular_velocity.z - now.angular_velocity.z, spin_up,
                    0.005f * GRAVITY / r->radius);
                expect_near(now.linear_velocity.z, 0.0f, 0.01f);
            }
        }
    }
}

// Angular momentum about a line on the ground stays: v + k r w. So the body rolls at last with
// (v + k r w) / (1 + k), after |v - r w| k / ((1 + k) mu g).
TEST("a round body that slides or spins ends rolling") {
    const roller rollers[] = {rolling_ball(0.5f), lying_capsule(0.3f, 0.6f)};
    static const struct {
        float speed, surface; // v and r w
    } starts[] = {{5.0f, 0.0f}, {0.0f, 5.0f}, {4.0f, -4.0f}, {3.0f, -9.0f}, {2.0f, 6.0f}};
    FOR_BOTH_SOLVERS(solver) {
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
            for (size_t j = 0; j < sizeof rollers / sizeof rollers[0]; ++j) {
                const roller *r = &rollers[j];
                const float mu = 0.4f;
                const float v = starts[i].speed;
                const float u = starts[i].surface;
                SCOPED(cairn_world) *world = world_on_earth(solver);
                const cairn_body_id body = put_on_ground(world, r, mu, v, u / r->radius);
                const float wanted = (v + r->k * u) / (1.0f + r->k);
                const float duration = fabsf(v - u) * r->k / ((1.0f + r->k) * mu * GRAVITY);
                kit_run(world, (uint32_t)(0.5f * duration * TICKS_PER_SECOND));
                const cairn_body_state half = kit_read(world, body);
                // Half way it still slips.
                assert_true(fabsf(half.linear_velocity.x + r->radius * half.angular_velocity.z) >
                            0.3f * fabsf(v - u));
                kit_run(world, (uint32_t)(0.5f * duration * TICKS_PER_SECOND) + 6);
                const cairn_body_state now = kit_read(world, body);
                expect_near(now.linear_velocity.x, wanted, 0.01f * fabsf(v - u));
                expect_near(-r->radius * now.angular_velocity.z, wanted, 0.01f * fabsf(v - u));
            }
        }
    }
}

TEST("a ball that rolls goes on for a minute") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        const roller r = rolling_ball(0.5f);
        const cairn_body_id body = put_on_ground(world, &r, 0.5f, 5.0f, 10.0f);
        kit_run(world, 60 * TICKS_PER_SECOND);
        const cairn_body_state now = kit_read(world, body);
        expect_near(now.linear_velocity.x, 5.0f, 0.005f);
        expect_near(now.position.x, 300.0f, 0.3f);
        expect_near(now.position.z, 0.0f, 0.01f);
    }
}
