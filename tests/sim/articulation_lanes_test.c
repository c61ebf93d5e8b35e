// SPDX-License-Identifier: MIT
// Trees that are solved beside others, in lanes.

#include "tests/sim/articulation_kit.h"

#include "base/random.h"

#include <string.h>

// A pendulum on a base that moves and turns; if `beside`, two rods fall on the ground, too.
static cairn_body_id add_turning_pendulum(cairn_world *world, bool beside) {
    (void)kit_ground(world);
    const cairn_body_id base =
        kit_link(world, vec3(0.0f, 3.0f, 0.0f), vec3(0.1f, 0.1f, 0.1f), CAIRN_BODY_KINEMATIC);
    const cairn_body_id rods[2] = {
        kit_link(world, vec3(0.5f, 3.0f, 0.0f), vec3(0.5f, 0.05f, 0.05f), CAIRN_BODY_DYNAMIC),
        kit_link(world, vec3(1.5f, 3.0f, 0.0f), vec3(0.5f, 0.05f, 0.05f), CAIRN_BODY_DYNAMIC)};
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_joint_def def = kit_hang(world, CAIRN_JOINT_HINGE, i == 0 ? base : rods[0],
            rods[i], vec3((float)i, 3.0f, 0.0f), Z);
        (void)kit_joint(world, &def);
    }
    EXPECT_OK(cairn_body_set_velocity(world, base, vec3(0.5f, 0.0f, 0.0f), vec3(0.0f, 2.0f, 1.0f)));
    if (beside) {
        const cairn_body_id on =
            kit_link(world, vec3(20.0f, 0.5f, 0.0f), vec3(0.5f, 0.05f, 0.05f), CAIRN_BODY_DYNAMIC);
        const cairn_body_id body =
            kit_link(world, vec3(21.0f, 0.5f, 0.0f), vec3(0.5f, 0.05f, 0.05f), CAIRN_BODY_DYNAMIC);
        const cairn_joint_def def =
            kit_hang(world, CAIRN_JOINT_HINGE, on, body, vec3(20.5f, 0.5f, 0.0f), Z);
        (void)kit_joint(world, &def);
    }
    return rods[1];
}

TEST("a tree moves as it does without the trees beside it, bit by bit") {
    SCOPED(cairn_world) *alone = kit_articulated_world(10.0f);
    SCOPED(cairn_world) *among = kit_articulated_world(10.0f);
    const cairn_body_id a = add_turning_pendulum(alone, false);
    const cairn_body_id b = add_turning_pendulum(among, true);
    for (uint32_t i = 0; i < 120; ++i) {
        cairn_world_step(alone, NULL, 0);
        cairn_world_step(among, NULL, 0);
        const cairn_body_state one = kit_read(alone, a);
        const cairn_body_state other = kit_read(among, b);
        assert_memory_equal(&one.position, &other.position, sizeof one.position);
        assert_memory_equal(&one.rotation, &other.rotation, sizeof one.rotation);
    }
}

TEST("a world that has no room for joints steps at every number of lanes") {
    static const uint32_t widths[5] = {0, 1, 4, 8, 16};
    cairn_world_def def = cairn_world_def_default();
    def.joint_capacity = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    for (uint32_t i = 0; i < 5; ++i) {
        if (cairn_world_set_lanes(world, widths[i]) == CAIRN_OK) {
            kit_run(world, 2);
        }
    }
}

TEST("a weld that is not articulated holds the end of a tree in the air") {
    SCOPED(cairn_world) *world = kit_articulated_world(10.0f);
    const cairn_vec3 half = vec3(0.5f, 0.05f, 0.05f);
    const cairn_body_id wall =
        kit_link(world, vec3_zero(), vec3(0.05f, 0.05f, 0.05f), CAIRN_BODY_STATIC);
    const cairn_body_id near = kit_link(world, vec3(0.5f, 0.0f, 0.0f), half, CAIRN_BODY_DYNAMIC);
    const cairn_body_id far = kit_link(world, vec3(1.5f, 0.0f, 0.0f), half, CAIRN_BODY_DYNAMIC);
    cairn_joint_def def = kit_hang(world, CAIRN_JOINT_HINGE, wall, near, vec3_zero(), Z);
    (void)kit_joint(world, &def);
    def = kit_hang(world, CAIRN_JOINT_HINGE, near, far, vec3(1.0f, 0.0f, 0.0f), Z);
    (void)kit_joint(world, &def);
    def = kit_hang(world, CAIRN_JOINT_WELD, wall, far, vec3(2.0f, 0.0f, 0.0f), Z);
    def.articulated = 0;
    (void)kit_joint(world, &def);
    kit_run(world, 60);
    EXPECT_NEAR(kit_read(world, far).position.y, 0.0f, 0.02f);
}

// Links on random earlier ones of their tree, with limits, motors, friction and springs.
static void add_random_tree(cairn_world *world, cairn_random *random, cairn_vec3 at) {
    static const uint32_t kinds[4] = {
        CAIRN_JOINT_HINGE, CAIRN_JOINT_HINGE, CAIRN_JOINT_PRISMATIC, CAIRN_JOINT_WELD};
    const cairn_vec3 axes[3] = {X, Y, Z};
    const cairn_vec3 half = vec3(0.1f, 0.06f, 0.08f);
    cairn_body_id links[12];
    const uint32_t count = 2 + (uint32_t)cairn_random_below(random, 11);
    const bool fixed = cairn_random_below(random, 4) == 0;
    links[0] = kit_link(world, at, half, fixed ? CAIRN_BODY_STATIC : CAIRN_BODY_DYNAMIC);
    for (uint32_t i = 1; i < count && i < 12; ++i) {
        const cairn_body_id on = links[cairn_random_below(random, i)];
        const cairn_vec3 from = kit_read(world, on).position;
        const cairn_vec3 way = vec3_scale(axes[cairn_random_below(random, 3)], 0.25f);
        links[i] = kit_link(world, vec3_add(from, way), half, CAIRN_BODY_DYNAMIC);
        cairn_joint_def def = kit_hang(world, kinds[cairn_random_below(random, 4)], on, links[i],
            vec3_add_scaled(from, way, 0.5f), axes[cairn_random_below(random, 3)]);
        const uint64_t drive = cairn_random_below(random, 5);
        def.limited = def.kind != CAIRN_JOINT_WELD && drive != 0 ? 1 : 0;
        def.lower = -0.1f;
        def.upper = 0.2f;
        if (def.kind != CAIRN_JOINT_WELD) {
            def.joint_friction = drive == 1 ? 0.3f : 0.0f;
            def.drive_stiffness = drive == 2 ? 40.0f : 0.0f;
            def.motor = drive == 3 ? 1 : 0;
            def.motor_speed = 2.0f;
            def.motor_force = 3.0f;
        }
        (void)kit_joint(world, &def);
    }
}

static cairn_world *random_trees(uint32_t lanes, uint32_t trees, uint64_t seed) {
    cairn_world_def def = cairn_world_def_default();
    cairn_random random = cairn_random_of(seed);
    def.sleep = 0;
    cairn_world *world = kit_world(&def);
    (void)kit_ground(world);
    for (uint32_t i = 0; i < trees; ++i) {
        add_random_tree(world, &random, vec3(4.0f * (float)(i % 6), 1.0f, 4.0f * (float)(i / 6)));
    }
    if (cairn_world_set_lanes(world, lanes) != CAIRN_OK) {
        cairn_world_destroy(world);
        return NULL;
    }
    kit_run(world, 90);
    return world;
}

TEST("trees of many shapes move alike at every number of lanes, bit by bit") {
    static const uint32_t counts[4] = {1, 5, 9, 40};
    static const uint32_t widths[4] = {0, 4, 8, 16};
    for (uint32_t i = 0; i < 4; ++i) {
        SCOPED(cairn_world) *one = random_trees(1, counts[i], i + 1);
        assert_non_null(one);
        for (uint32_t k = 0; k < 4; ++k) {
            SCOPED(cairn_world) *wide = random_trees(widths[k], counts[i], i + 1);
            assert_true(wide == NULL || kit_equal(one, wide));
        }
    }
}
