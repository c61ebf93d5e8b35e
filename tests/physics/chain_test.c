// SPDX-License-Identifier: MIT
// Chains. A chain that hangs between two hooks is pulled by the same horizontal force H everywhere,
// and link k of n by a vertical one of k - (n - 1) / 2 link weights at its middle. So the tangent
// of its slope is c (k - (n - 1) / 2), where c = weight / H makes the links as wide as the hooks
// are apart. (In the limit of short links that is the catenary of Bernoulli 1691.)

#include <math.h>

#include "sim/state/world.h"
#include "tests/physics/energy_kit.h"
#include "tests/physics/mechanics_kit.h"

#define LINKS 40
#define LINK_LENGTH 0.25f

static cairn_body_id add_hook(cairn_world *world, float x) {
    cairn_body_def def = cairn_body_def_default();
    cairn_body_id hook = 0;
    def.kind = CAIRN_BODY_STATIC;
    def.position.x = x;
    EXPECT_OK(cairn_body_create(world, &def, &hook));
    return hook;
}

static void join(cairn_world *world, cairn_body_id a, float at_a, cairn_body_id b, float at_b) {
    cairn_joint_def def = cairn_joint_def_default();
    def.kind = CAIRN_JOINT_BALL;
    def.body_a = a;
    def.body_b = b;
    def.anchor_a.x = at_a;
    def.anchor_b.x = at_b;
    kit_joint(world, &def);
}

// The links start as a zigzag between the hooks and come to rest by their damping.
static void hang_chain(cairn_world *world, float width, cairn_body_id links[LINKS]) {
    const cairn_shape_def shape = box(0.5f * LINK_LENGTH, 0.02f, 0.02f);
    const float lean = acosf(width / (LINKS * LINK_LENGTH));
    cairn_body_id above = add_hook(world, 0.0f);
    for (uint32_t i = 0; i < LINKS; ++i) {
        cairn_body_def def = cairn_body_def_default();
        const bool down = i % 2 == 0;
        def.position.x = width * ((float)i + 0.5f) / LINKS;
        def.position.y = -0.5f * LINK_LENGTH * sinf(lean);
        def.rotation = turned(vec3(0.0f, 0.0f, 1.0f), down ? -lean : lean);
        def.linear_damping = def.angular_damping = 3.0f;
        links[i] = kit_body(world, &def, &shape);
        join(world, above, i == 0 ? 0.0f : 0.5f * LINK_LENGTH, links[i], -0.5f * LINK_LENGTH);
        above = links[i];
    }
    join(world, above, 0.5f * LINK_LENGTH, add_hook(world, width), 0.0f);
}

static float slope_angle(float c, uint32_t link) {
    return atanf(c * ((float)link - 0.5f * (LINKS - 1)));
}

// The c with which the links are that wide, by bisection.
static float find_c(float width) {
    float low = 0.0f;
    float high = 100.0f;
    for (int i = 0; i < 60; ++i) {
        const float c = 0.5f * (low + high);
        float sum = 0.0f;
        for (uint32_t k = 0; k < LINKS; ++k) {
            sum += LINK_LENGTH * cosf(slope_angle(c, k));
        }
        if (sum > width) {
            low = c;
        } else {
            high = c;
        }
    }
    return 0.5f * (low + high);
}

// Each joint opens by a millimetre at most, so that the chain is longer by a part in 250. (The PGS
// solver does not bring forty links to rest with ten iterations.)
TEST("a chain between two hooks hangs in a catenary") {
    static const float widths[] = {2.0f, 4.0f, 7.0f};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; ++i) {
        SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
        cairn_body_id links[LINKS];
        const float c = find_c(widths[i]);
        const float tolerance = 0.004f * LINKS * LINK_LENGTH;
        float x = 0.0f;
        float y = 0.0f;
        hang_chain(world, widths[i], links);
        kit_run(world, 15 * TICKS_PER_SECOND);
        for (uint32_t k = 0; k < LINKS; ++k) {
            const cairn_body_state link = kit_read(world, links[k]);
            const float half_x = 0.5f * LINK_LENGTH * cosf(slope_angle(c, k));
            const float half_y = 0.5f * LINK_LENGTH * sinf(slope_angle(c, k));
            expect_near(link.position.x, x + half_x, tolerance);
            expect_near(link.position.y, y + half_y, tolerance);
            assert_true(vec3_length(link.linear_velocity) < 1e-3f);
            x += 2.0f * half_x;
            y += 2.0f * half_y;
        }
    }
}

TEST("each half of a chain that is cut hangs straight down from its hook") {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    cairn_body_id links[LINKS];
    const float width = 7.0f;
    hang_chain(world, width, links);
    kit_run(world, 15 * TICKS_PER_SECOND);
    EXPECT_OK(cairn_body_destroy(world, links[LINKS / 2]));
    const float before = kit_read(world, links[LINKS / 2 - 1]).position.y;
    kit_run(world, 60);
    assert_true(kit_read(world, links[LINKS / 2 - 1]).position.y < before - 1.0f);
    kit_run(world, 15 * TICKS_PER_SECOND);
    for (uint32_t k = 0; k < LINKS / 2; ++k) {
        const cairn_body_state link = kit_read(world, links[k]);
        expect_near(link.position.x, 0.0f, 0.02f);
        expect_near(link.position.y, -LINK_LENGTH * ((float)k + 0.5f), 0.02f);
    }
}

// A level chain that is let go swings down and cracks like a whip: its last links turn by half a
// radian in a substep, which no straight step can follow. Returns by how much a joint is open at
// most, m.
static float whip(uint32_t links) {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    cairn_shape_def shape = cairn_shape_def_default();
    cairn_body_id bodies[60];
    assert_true(links <= 60);
    shape.kind = CAIRN_SHAPE_CAPSULE;
    shape.radius = 0.05f;
    shape.half_height = 0.15f;
    shape.mask = 0;
    shape.pose.rotation = turned(vec3(0.0f, 0.0f, 1.0f), -0.5f * 3.14159265f);
    cairn_body_id before = add_hook(world, 0.0f);
    for (uint32_t i = 0; i < links; ++i) {
        cairn_body_def def = cairn_body_def_default();
        def.position.x = 0.4f * ((float)i + 0.5f);
        bodies[i] = kit_body(world, &def, &shape);
        join(world, before, i == 0 ? 0.0f : 0.2f, bodies[i], -0.2f);
        before = bodies[i];
    }
    float open = 0.0f;
    for (uint32_t tick = 0; tick < 600; ++tick) {
        cairn_vec3 end = vec3(0.0f, 0.0f, 0.0f);
        kit_run(world, 1);
        for (uint32_t i = 0; i < links; ++i) {
            const cairn_body_state link = kit_read(world, bodies[i]);
            const cairn_vec3 arm = quat_rotate(link.rotation, vec3(0.2f, 0.0f, 0.0f));
            open = float_max(open, vec3_distance(vec3_sub(link.position, arm), end));
            end = vec3_add(link.position, arm);
        }
    }
    return open;
}

TEST("a whip of 20 links opens its joints by 3 cm, and one of 60 by 7") {
    const float short_one = whip(20);
    const float long_one = whip(60);
    EXPECT_MEASURED(short_one, 0.0f, 0.031f);
    EXPECT_MEASURED(long_one, 0.0f, 0.072f);
}

// ---- Thin links

typedef struct thin_chain {
    float length, thickness; // m, thickness as a part of that
    float end;               // how many times as dense the last link is
    cairn_vec3 axis;         // of both hinges
} thin_chain;

// What two rods, let go level, gain at most within ten seconds, of what their weights can give.
static double gained(const thin_chain *chain) {
    SCOPED(cairn_world) *world = world_on_earth(CAIRN_SOLVER_SOFT_STEP);
    cairn_body_id before = add_hook(world, 0.0f);
    double weights = 0.0;
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_shape_def shape = cairn_shape_def_default();
        cairn_body_def def = cairn_body_def_default();
        shape.kind = CAIRN_SHAPE_CAPSULE;
        shape.radius = 0.5f * chain->thickness * chain->length;
        shape.half_height = 0.5f * chain->length;
        shape.mask = 0;
        shape.density *= i == 1 ? chain->end : 1.0f;
        shape.pose.rotation = turned(vec3(0.0f, 0.0f, 1.0f), -0.5f * 3.14159265f);
        def.position.x = ((float)i + 0.5f) * chain->length;
        const cairn_body_id link = kit_body(world, &def, &shape);
        weights += (double)(9.81f * cairn_body_mass(world, link) * def.position.x);
        cairn_joint_def joint = cairn_joint_def_default();
        const cairn_vec3 axis = vec3_scale(chain->axis, 1.0f / vec3_length(chain->axis));
        const cairn_vec3 across = vec3_cross(axis, vec3(0.36f, 0.48f, 0.8f));
        joint.kind = CAIRN_JOINT_HINGE;
        joint.body_a = before;
        joint.body_b = link;
        joint.anchor_a.x = i == 0 ? 0.0f : 0.5f * chain->length;
        joint.anchor_b.x = -0.5f * chain->length;
        joint.axis_a = axis;
        joint.axis_b = axis;
        joint.normal_a = vec3_scale(across, 1.0f / vec3_length(across));
        joint.normal_b = joint.normal_a;
        kit_joint(world, &joint);
        before = link;
    }
    const double start = energy(world);
    double most = 0.0;
    for (uint32_t tick = 0; tick < 600; ++tick) {
        kit_run(world, 1);
        most = fmax(most, energy(world) - start);
    }
    return most / weights;
}

// The first rod turns about its long axis by a thousandth of what turns it across. What the sweeps
// left of the two hinges' torques took such chains to a million times their energy.
TEST("two thin rods on tilted hinges gain no energy") {
    static const thin_chain chains[] = {{1.0f, 0.021f, 5.8f, {-0.34f, -0.93f, 0.13f}},
        {0.51f, 0.028f, 16.2f, {0.79f, -0.52f, -0.32f}},
        {0.8f, 0.027f, 14.9f, {0.01f, 0.65f, 0.76f}},
        {1.83f, 0.036f, 6.5f, {-0.77f, 0.38f, -0.52f}},
        {0.76f, 0.045f, 19.3f, {0.59f, 0.59f, -0.55f}},
        {1.29f, 0.02f, 4.6f, {-0.69f, 0.05f, -0.72f}},
        {0.35f, 0.058f, 17.2f, {0.5f, -0.61f, 0.61f}}};
    for (size_t i = 0; i < sizeof chains / sizeof chains[0]; ++i) {
        const double gain = gained(&chains[i]);
        if (!(gain < 0.05)) {
            fail_msg("chain %zu gains %.3f", i, gain);
        }
    }
}
