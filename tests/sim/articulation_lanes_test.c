// SPDX-License-Identifier: MIT
// Trees that are solved beside others, in lanes.

#include "tests/sim/articulation_kit.h"

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
