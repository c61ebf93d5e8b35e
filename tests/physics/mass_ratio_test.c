// SPDX-License-Identifier: MIT
// Heavy bodies on light ones: what is below is squeezed, and must hold as rock would.

#include "tests/physics/mechanics_kit.h"

static cairn_body_id add_box(
    cairn_world *world, cairn_vec3 position, cairn_vec3 half_extents, float mass) {
    const float volume = 8.0f * half_extents.x * half_extents.y * half_extents.z;
    return kit_box(world, position, half_extents, mass / volume);
}

static cairn_world *world_without_sleep(void) {
    cairn_world_def def = cairn_world_def_default();
    def.sleep = 0;
    cairn_world *world = kit_world(&def);
    kit_ground(world);
    return world;
}

static void expect_rest(const cairn_world *world, cairn_body_id body, float height) {
    const cairn_body_state now = kit_read(world, body);
    EXPECT_MEASURED(now.position.y, height, 0.05f);
    EXPECT_MEASURED(now.position.x, 0.0f, 0.05f);
    assert_true(vec3_length(now.linear_velocity) < 0.001f);
    assert_true(vec3_length(now.angular_velocity) < 0.001f);
}

TEST("a cube carries one of up to ten thousand times its mass") {
    static const float ratios[] = {1.0f, 10.0f, 30.0f, 100.0f, 300.0f, 1000.0f, 10000.0f};
    static const cairn_vec3 half = {0.5f, 0.5f, 0.5f};
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; ++i) {
        SCOPED(cairn_world) *world = world_without_sleep();
        add_box(world, vec3(0.0f, 0.5f, 0.0f), half, 10.0f);
        const cairn_body_id top = add_box(world, vec3(0.0f, 1.5f, 0.0f), half, 10.0f * ratios[i]);
        float lowest = 1.5f;
        for (uint32_t tick = 0; tick < 600; ++tick) {
            kit_run(world, 1);
            lowest = float_min(lowest, kit_read(world, top).position.y);
        }
        expect_rest(world, top, 1.5f);
        assert_true(lowest > 1.5f - 0.1f); // while the load arrives
    }
}

// The load passes through each of them, in whatever order the bodies were made.
TEST("a pile carries a cube of a hundred to ten thousand times the mass of each") {
    static const int piles[] = {2, 3, 10};
    static const float ratios[] = {100.0f, 1000.0f, 10000.0f};
    static const cairn_vec3 half = {0.5f, 0.5f, 0.5f};
    for (uint32_t i = 0; i < 18; ++i) {
        SCOPED(cairn_world) *world = world_without_sleep();
        const int pile = piles[i % 3];
        const float ratio = ratios[i / 6];
        cairn_body_id top = 0;
        for (int k = 0; k <= pile; ++k) {
            const int at = i / 3 % 2 == 0 ? k : pile - k;
            const cairn_body_id body = add_box(world, vec3(0.0f, 0.5f + (float)at, 0.0f), half,
                at == pile ? 10.0f * ratio : 10.0f);
            top = at == pile ? body : top;
        }
        kit_run(world, 600);
        const cairn_body_state now = kit_read(world, top);
        EXPECT_MEASURED(now.position.y, 0.5f + (float)pile, pile < 10 ? 0.01f : 0.04f);
        EXPECT_MEASURED(now.position.x, 0.0f, pile < 10 ? 0.01f : 0.3f);
        assert_true(vec3_length(now.linear_velocity) < (pile < 10 ? 1e-3f : 0.1f));
    }
}

// Each cube adds to the load as what it is taken for, which is never more than the heavy one.
TEST("a pile of forty carries a cube of a thousand times the mass of each") {
    SCOPED(cairn_world) *world = world_without_sleep();
    static const cairn_vec3 half = {0.5f, 0.5f, 0.5f};
    for (int i = 0; i < 40; ++i) {
        add_box(world, vec3(0.0f, 0.5f + (float)i, 0.0f), half, 10.0f);
    }
    const cairn_body_id top = add_box(world, vec3(0.0f, 40.5f, 0.0f), half, 10000.0f);
    kit_run(world, 900);
    EXPECT_MEASURED(kit_read(world, top).position.y, 40.5f, 0.2f);
}

TEST("a table top of eight hundred times the mass of a leg stands") {
    SCOPED(cairn_world) *world = world_without_sleep();
    for (int i = 0; i < 4; ++i) {
        const float x = (i & 1) != 0 ? 0.8f : -0.8f;
        add_box(world, vec3(x, 0.5f, (i & 2) != 0 ? 0.8f : -0.8f), vec3(0.1f, 0.5f, 0.1f), 5.0f);
    }
    const cairn_body_id top =
        add_box(world, vec3(0.0f, 1.1f, 0.0f), vec3(1.0f, 0.1f, 1.0f), 4000.0f);
    kit_run(world, 600);
    expect_rest(world, top, 1.1f);
}

// A squeezed body is solved as if it were heavier; one that lies loose on a heavy one must not be.
// A beam of 1000 kg is pivoted at its middle. A crumb of 1 kg at its end turns it with the torque
// of one kilogram: m g r / (M l^2 / 12 + m r^2), with l = 4 m and r = 1.9 m.
TEST("a crumb on a seesaw weighs what it weighs") {
    SCOPED(cairn_world) *world = world_without_sleep();
    cairn_joint_def hinge = cairn_joint_def_default();
    cairn_body_def post = cairn_body_def_default();
    post.kind = CAIRN_BODY_STATIC;
    post.position.y = 2.0f;
    EXPECT_OK(cairn_body_create(world, &post, &hinge.body_a));
    hinge.body_b = add_box(world, vec3(0.0f, 2.0f, 0.0f), vec3(2.0f, 0.1f, 0.5f), 1000.0f);
    hinge.kind = CAIRN_JOINT_HINGE;
    hinge.axis_a = hinge.axis_b = vec3(0.0f, 0.0f, 1.0f);
    hinge.normal_a = hinge.normal_b = vec3(1.0f, 0.0f, 0.0f);
    kit_joint(world, &hinge);
    add_box(world, vec3(1.9f, 2.15f, 0.0f), vec3(0.05f, 0.05f, 0.05f), 1.0f);
    kit_run(world, 60);
    const float inertia = 1000.0f * (16.0f + 0.04f) / 12.0f + 1.9f * 1.9f;
    const float wanted = 9.81f * 1.9f / inertia;
    EXPECT_MEASURED(-kit_read(world, hinge.body_b).angular_velocity.z, wanted, 0.03f * wanted);
}

// Tonge 2012: pieces with sizes from 1 to 30, and so masses from 1 to 27000. The large ones fall on
// the small ones and rock on them for some seconds.
TEST("debris of sizes from 1 to 30 comes to rest, and nothing is lost") {
    cairn_world_def def = cairn_world_def_default();
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_id pieces[200];
    const uint32_t count = sizeof pieces / sizeof pieces[0];
    kit_ground(world);
    for (uint32_t i = 0; i < count; ++i) {
        const bool large = i % 25 == 24;
        const float size = large ? 1.5f : 0.05f * (float)(1 + i * 7 % 6);
        const cairn_vec3 at =
            large ? vec3(0.9f * (float)(i / 25 % 4) - 1.4f, 1.5f, -1.0f + 2.0f * (float)(i / 100))
                  : vec3(0.4f * (float)(i % 14) - 2.6f, size, 0.4f * (float)(i / 14) - 2.8f);
        pieces[i] = kit_box(world, at, vec3(0.5f * size, 0.4f * size, 0.3f * size), 1000.0f);
    }
    uint32_t ticks = 0;
    while (ticks < 900 && cairn_world_counts_read(world).bodies_awake > 0) {
        kit_run(world, 1);
        ++ticks;
    }
    EXPECT_MEASURED(ticks, 0, 899);
    for (uint32_t i = 0; i < count; ++i) {
        const cairn_body_state now = kit_read(world, pieces[i]);
        EXPECT_NEAR(now.position.x, 0.0f, 10.0f);
        EXPECT_NEAR(now.position.z, 0.0f, 10.0f);
        assert_true(now.position.y > 0.01f);
    }
}
