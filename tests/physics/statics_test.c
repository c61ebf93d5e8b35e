// SPDX-License-Identifier: MIT
// Statics: bodies that rest against each other, and the angle or place from which on they do not.

#include "tests/physics/mechanics_kit.h"

static cairn_body_id put(cairn_world *world, uint32_t kind, cairn_vec3 position,
    cairn_quat rotation, cairn_shape_def shape, float friction) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = kind;
    def.position = position;
    def.rotation = quat_normalize(rotation);
    shape.friction = friction;
    return kit_body(world, &def, &shape);
}

static cairn_body_id put_box(
    cairn_world *world, uint32_t kind, cairn_vec3 position, cairn_vec3 half, float friction) {
    return put(world, kind, position, quat_identity(), box(half.x, half.y, half.z), friction);
}

// The force of a contact between these two bodies, N.
static float force_between(const cairn_world *world, cairn_body_id a, cairn_body_id b) {
    cairn_contact_data contacts[8];
    const uint32_t count = cairn_body_contacts(world, a, contacts, 8);
    float force = 0.0f;
    assert_true(count <= 8);
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < contacts[i].point_count; ++k) {
            if (contacts[i].body_a == b || contacts[i].body_b == b) {
                force += contacts[i].points[k].normal_force;
            }
        }
    }
    return force;
}

// A beam of mass m lies on two supports at -1 and 1 m and carries a block of mass M at x: the right
// one bears m g / 2 + M g (1 + x) / 2.
TEST("two supports share the load of a beam by the law of the lever") {
    FOR_BOTH_SOLVERS(solver) {
        for (int i = 0; i <= 4; ++i) {
            SCOPED(cairn_world) *world = world_on_earth(solver);
            const float x = 0.2f * (float)i;
            const cairn_vec3 post = vec3(0.05f, 0.5f, 0.3f);
            const cairn_body_id left =
                put_box(world, CAIRN_BODY_STATIC, vec3(-1.0f, 0.5f, 0.0f), post, 0.5f);
            const cairn_body_id right =
                put_box(world, CAIRN_BODY_STATIC, vec3(1.0f, 0.5f, 0.0f), post, 0.5f);
            const cairn_body_id beam = put_box(
                world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 1.05f, 0.0f), vec3(1.05f, 0.05f, 0.2f), 0.5f);
            const cairn_body_id load = put_box(
                world, CAIRN_BODY_DYNAMIC, vec3(x, 1.2f, 0.0f), vec3(0.1f, 0.1f, 0.1f), 0.5f);
            kit_run(world, 180);
            const float m = GRAVITY * cairn_body_mass(world, beam);
            const float w = GRAVITY * cairn_body_mass(world, load);
            expect_near(force_between(world, beam, left) + force_between(world, beam, right), m + w,
                0.01f * (m + w));
            // The beam rests on the inner or the outer edges of the posts, 5 cm off their middles.
            expect_near(force_between(world, beam, right), 0.5f * m + 0.5f * w * (1.0f + x),
                0.05f * (m + w));
        }
    }
}

// The ladder leans on a wall without friction. It stands while mu >= 1 / (2 tan(A)), with A its
// angle with the ground.
TEST("a ladder slides if it stands too flat") {
    static const struct {
        float degrees, friction;
    } rows[] = {{45.0f, 0.6f}, {45.0f, 0.4f}, {60.0f, 0.35f}, {60.0f, 0.23f}, {70.0f, 0.22f},
        {70.0f, 0.14f}};
    FOR_BOTH_SOLVERS(solver) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
            SCOPED(cairn_world) *world = world_on_earth(solver);
            const float angle = rows[i].degrees * PI / 180.0f;
            const float length = 2.0f;
            const float thick = 0.02f; // half
            put_box(
                world, CAIRN_BODY_STATIC, vec3(0.0f, -0.5f, 0.0f), vec3(5.0f, 0.5f, 2.0f), 1.0f);
            put_box(world, CAIRN_BODY_STATIC, vec3(0.5f, 2.0f, 0.0f), vec3(0.5f, 2.0f, 2.0f), 0.0f);
            // Its lower right and upper right edges touch ground and wall.
            const cairn_vec3 middle = vec3(-0.5f * length * cosf(angle) - thick * sinf(angle),
                0.5f * length * sinf(angle) + thick * cosf(angle), 0.0f);
            const cairn_body_id ladder = put(world, CAIRN_BODY_DYNAMIC, middle,
                turned(vec3(0.0f, 0.0f, 1.0f), angle), box(0.5f * length, thick, 0.3f),
                rows[i].friction * rows[i].friction); // the ground has 1: their mean is mu
            kit_run(world, 180);
            const float fallen = middle.y - kit_read(world, ladder).position.y;
            const bool stands = rows[i].friction > 0.5f / tanf(angle);
            if (stands != (fallen < 0.02f)) {
                fail_msg("%s: a ladder at %.0f degrees with %.2f has fallen %.3f m",
                    solver_names[solver], (double)rows[i].degrees, (double)rows[i].friction,
                    (double)fallen);
            }
        }
    }
}

// A block of width b and height h on a slope tips if tan(A) > b / h, and slides if tan(A) > mu.
TEST("a block on a slope tips over its lower edge if its centre is beyond it") {
    static const float ratios[] = {0.25f, 0.4f, 0.6f};
    FOR_BOTH_SOLVERS(solver) {
        for (size_t i = 0; i < 2 * sizeof ratios / sizeof ratios[0]; ++i) {
            const float ratio = ratios[i / 2];
            const bool tips = i % 2 == 1;
            const float angle = atanf(ratio) + (tips ? 0.02f : -0.02f);
            SCOPED(cairn_world) *world = world_with(solver, gravity_on_slope(angle));
            kit_ground(world);
            const cairn_body_id block = put_box(
                world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 1.0f, 0.0f), vec3(ratio, 1.0f, 0.5f), 2.0f);
            kit_run(world, 180);
            const bool fallen = kit_read(world, block).position.y < 0.9f;
            if (fallen != tips) {
                fail_msg("%s: b / h = %.2f at %.3f rad %s", solver_names[solver], (double)ratio,
                    (double)angle, fallen ? "falls" : "stands");
            }
        }
    }
}

// Bricks of length L that overhang the edge of a table: n of them reach L / 2 (1 + 1/2 + .. + 1/n),
// each by L / 2k over the one below, counted from the top.
TEST("bricks overhang a table by half their length times the harmonic sum, and no more") {
    for (uint32_t i = 0; i < 2; ++i) {
        const float part = i == 0 ? 0.96f : 1.04f;
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        put_box(world, CAIRN_BODY_STATIC, vec3(-2.0f, -0.5f, 0.0f), vec3(2.0f, 0.5f, 1.0f), 0.5f);
        cairn_body_id top = 0;
        float x = -0.5f;
        for (int k = 5; k >= 1; --k) {
            x += part * 0.5f / (float)k;
            top = put_box(world, CAIRN_BODY_DYNAMIC, vec3(x, 0.1f + 0.2f * (float)(5 - k), 0.0f),
                vec3(0.5f, 0.1f, 0.3f), 0.5f);
        }
        kit_run(world, 600);
        const bool stands = kit_read(world, top).position.y > 0.85f;
        assert_int_equal(stands, i == 0);
        assert_true(x + 0.5f > (i == 0 ? 1.09f : 1.18f)); // the top one is beyond the edge
    }
}

// Pushed at the height y, a block slides if mu < b / (2 y), and tips if mu is greater.
TEST("a block that is pushed high tips, and one that is pushed low slides") {
    FOR_BOTH_SOLVERS(solver) {
        for (uint32_t i = 0; i < 2; ++i) {
            SCOPED(cairn_world) *world = world_on_earth(solver);
            const float mu = 0.5f; // tips if pushed above 0.8 m
            const float height = i == 0 ? 0.6f : 1.0f;
            kit_ground(world);
            const cairn_body_id block = put_box(
                world, CAIRN_BODY_DYNAMIC, vec3(0.0f, 0.8f, 0.0f), vec3(0.4f, 0.8f, 0.4f), 0.5f);
            const float push = 1.05f * mu * GRAVITY * cairn_body_mass(world, block);
            for (uint32_t tick = 0; tick < 60; ++tick) {
                // A force at a height is one at the centre and a torque.
                EXPECT_OK(cairn_body_apply_force(world, block, vec3(push, 0.0f, 0.0f),
                    vec3(0.0f, 0.0f, -push * (height - 0.8f))));
                kit_run(world, 1);
            }
            const cairn_body_state now = kit_read(world, block);
            const float lean = 2.0f * asinf(fabsf(now.rotation.z));
            if (i == 0) {
                expect_near(lean, 0.0f, 0.01f);
                expect_near(now.linear_velocity.x, 0.05f * mu * GRAVITY, 0.03f);
            } else {
                assert_true(lean > 0.03f);
            }
        }
    }
}
