// SPDX-License-Identifier: MIT
// A body whose origin is not its centre of mass. A hammer has a handle of 10
// kg around its origin and a head of 20 kg whose middle is 0.6 m from there along x, so its centre
// of mass is at x = 0.4 m. About that it has, across its axis z,
//
//     I = 10 (1 + 0.01) / 12 + 10 0.4^2 + 20 (0.04 + 0.25) / 12 + 20 0.2^2 kg m^2

#include "tests/physics/mechanics_kit.h"

#define CENTRE 0.4f
#define MASS 30.0f

static const float inertia =
    10.0f * 1.01f / 12.0f + 10.0f * 0.16f + 20.0f * 0.29f / 12.0f + 20.0f * 0.04f;

static cairn_body_id add_hammer(cairn_world *world, cairn_vec3 position, cairn_quat rotation) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id hammer = 0;
    cairn_shape_id id = 0;
    def.position = position;
    def.rotation = rotation;
    EXPECT_OK(cairn_body_create(world, &def, &hammer));
    const cairn_shape_def handle = box(0.5f, 0.05f, 0.05f);
    cairn_shape_def head = box(0.1f, 0.25f, 0.1f);
    head.pose.position.x = 0.6f;
    EXPECT_OK(cairn_shape_create(world, hammer, &handle, &id));
    EXPECT_OK(cairn_shape_create(world, hammer, &head, &id));
    return hammer;
}

static cairn_vec3 centre_of(const cairn_world *world, cairn_body_id hammer) {
    const cairn_body_state now = kit_read(world, hammer);
    return vec3_add(now.position, quat_rotate(now.rotation, vec3(CENTRE, 0.0f, 0.0f)));
}

// An impulse P at the distance d from the centre of mass: P / m and P d / I.
TEST("an impulse acts about the centre of mass, not about the origin") {
    FOR_BOTH_SOLVERS(solver) {
        for (int i = -2; i <= 2; ++i) {
            SCOPED(cairn_world) *world = world_in_space(solver);
            const cairn_vec3 at = vec3(3.0f, -2.0f, 1.0f);
            const cairn_body_id hammer = add_hammer(world, at, quat_identity());
            const float d = 0.25f * (float)i;
            const cairn_vec3 point = vec3_add(at, vec3(CENTRE + d, 0.0f, 0.0f));
            expect_near(cairn_body_mass(world, hammer), MASS, 1e-3f);
            EXPECT_OK(cairn_body_apply_impulse(world, hammer, vec3(0.0f, 60.0f, 0.0f), point));
            kit_run(world, 1);
            const cairn_body_state now = kit_read(world, hammer);
            expect_vec3(now.linear_velocity, vec3(0.0f, 60.0f / MASS, 0.0f), 1e-4f);
            expect_vec3(now.angular_velocity, vec3(0.0f, 0.0f, 60.0f * d / inertia), 1e-3f);
        }
    }
}

// A force acts at the centre of mass, so it turns nothing.
TEST("a force alone does not turn a hammer, and gravity neither") {
    FOR_BOTH_SOLVERS(solver) {
        SCOPED(cairn_world) *world = world_on_earth(solver);
        const cairn_body_id hammer =
            add_hammer(world, vec3_zero(), turned(vec3(0.0f, 0.0f, 1.0f), 0.7f));
        for (uint32_t tick = 0; tick < 60; ++tick) {
            EXPECT_OK(cairn_body_apply_force(world, hammer, vec3(30.0f, 0.0f, 15.0f), vec3_zero()));
            kit_run(world, 1);
        }
        const cairn_body_state now = kit_read(world, hammer);
        expect_vec3(now.angular_velocity, vec3_zero(), 1e-6f);
        expect_vec3(now.linear_velocity, vec3(1.0f, -GRAVITY, 0.5f), 2e-3f);
    }
}

// Hung up by the end of its handle, at x = -0.5 m of its own frame, a hammer is a pendulum of
// length r = 0.9 m: it swings in 2 pi sqrt((I + m r^2) / (m g r)).
TEST("a hammer that hangs by its handle swings as a compound pendulum") {
    static const uint32_t kinds[] = {CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE};
    for (uint32_t k = 0; k < 2 * 2; ++k) {
        const uint32_t solver = k / 2;
        SCOPED(cairn_world) *world = world_on_earth(solver);
        const float r = CENTRE + 0.5f;
        const float lean = 0.1f;
        const cairn_quat down = turned(vec3(0.0f, 0.0f, 1.0f), -0.5f * PI + lean);
        const cairn_vec3 to_end = quat_rotate(down, vec3(-0.5f, 0.0f, 0.0f));
        const cairn_body_id hammer = add_hammer(world, vec3_negate(to_end), down);
        cairn_body_def hook = cairn_body_def_default();
        cairn_joint_def joint = cairn_joint_def_default();
        hook.kind = CAIRN_BODY_STATIC;
        EXPECT_OK(cairn_body_create(world, &hook, &joint.body_a));
        joint.kind = kinds[k % 2];
        joint.body_b = hammer;
        joint.anchor_b.x = -0.5f;
        joint.axis_a = joint.axis_b = vec3(0.0f, 0.0f, 1.0f);
        joint.normal_a = joint.normal_b = vec3(1.0f, 0.0f, 0.0f);
        kit_joint(world, &joint);
        const float period = 2.0f * PI * sqrtf((inertia + MASS * r * r) / (MASS * GRAVITY * r));
        // The passages through the middle, by linear interpolation.
        float first = 0.0f;
        float last = 0.0f;
        uint32_t passages = 0;
        float x = centre_of(world, hammer).x;
        for (uint32_t tick = 1; tick <= 600; ++tick) {
            kit_run(world, 1);
            const float now = centre_of(world, hammer).x;
            if (x >= 0.0f && now < 0.0f) {
                last = ((float)tick - now / (now - x)) / TICKS_PER_SECOND;
                first = passages == 0 ? last : first;
                ++passages;
            }
            x = now;
        }
        assert_in_range(passages, 4, 6);
        expect_near((last - first) / (float)(passages - 1), period, 0.004f * period);
        expect_near(vec3_length(centre_of(world, hammer)), r, 5e-3f);
    }
}

// On two posts the hammer's weight is shared by the distances from its centre of mass.
TEST("a hammer on two posts tips when its centre of mass is beyond them") {
    for (uint32_t i = 0; i < 2; ++i) {
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        const float inner = i == 0 ? 0.45f : 0.35f; // of the post under the head's end
        for (int side = 0; side < 2; ++side) {
            cairn_body_def def = cairn_body_def_default();
            const cairn_shape_def post = box(0.02f, 0.5f, 0.3f);
            def.kind = CAIRN_BODY_STATIC;
            def.position = vec3(side == 0 ? -0.3f : inner - 0.02f, 0.5f, 0.0f);
            kit_body(world, &def, &post);
        }
        const cairn_body_id hammer = add_hammer(world, vec3(0.0f, 1.05f, 0.0f), quat_identity());
        kit_run(world, 120);
        const bool rests = fabsf(kit_read(world, hammer).rotation.z) < 0.01f;
        assert_int_equal(rests, i == 0);
    }
}

// A shape that is added moves the centre of mass; the body's points keep their velocities.
TEST("a shape that is added does not change how the body turns") {
    SCOPED(cairn_world) *world = world_in_space(CAIRN_SOLVER_SOFT_STEP);
    cairn_shape_id id = 0;
    const cairn_body_id body = kit_cube(world, vec3_zero());
    const cairn_vec3 w = vec3(0.0f, 0.0f, 3.0f);
    EXPECT_OK(cairn_body_set_velocity(world, body, vec3(1.0f, 0.0f, 0.0f), w));
    cairn_shape_def more = box(0.5f, 0.5f, 0.5f);
    more.pose.position.x = 1.0f;
    EXPECT_OK(cairn_shape_create(world, body, &more, &id));
    // The centre is now at x = 0.5 and moves as that point did.
    const cairn_body_state now = kit_read(world, body);
    expect_vec3(now.linear_velocity, vec3(1.0f, 1.5f, 0.0f), 1e-5f);
    expect_vec3(now.angular_velocity, w, 1e-6f);
}
