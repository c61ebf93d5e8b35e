// SPDX-License-Identifier: MIT
// What is kept from step to step of a contact: its points, and the impulses that carry a load.

#include "tests/physics/mechanics_kit.h"

// A cube slides at v over the edge of a table without friction. When its centre is x beyond the
// edge, the edge pushes with m g k^2 / (k^2 + x^2), where k^2 = 1/6 m^2 is its squared radius of
// gyration, and turns it: w = g / (2 v) ln(1 + x^2 / k^2), while it has turned by little.
TEST("a cube that slides over an edge tips when its centre passes it") {
    FOR_BOTH_SOLVERS(solver) {
        cairn_world_def def = cairn_world_def_default();
        def.solver = solver;
        SCOPED(cairn_world) *world = kit_world(&def);
        cairn_body_def body = cairn_body_def_default();
        cairn_shape_def shape = cairn_shape_def_default();
        shape.friction = 0.0f;
        body.position = vec3(-1.0f, 0.5f, 0.0f);
        body.linear_velocity.x = 1.0f;
        const cairn_body_id cube = kit_body(world, &body, &shape);
        body = cairn_body_def_default();
        body.kind = CAIRN_BODY_STATIC;
        body.position = vec3(-5.0f, -0.5f, 0.0f);
        shape.half_extents = vec3(5.0f, 0.5f, 5.0f);
        kit_body(world, &body, &shape);
        while (kit_read(world, cube).position.x < -0.02f) {
            assert_true(vec3_length(kit_read(world, cube).angular_velocity) < 0.005f);
            kit_run(world, 1);
        }
        while (kit_read(world, cube).position.x < 0.15f) {
            kit_run(world, 1);
        }
        const float x = kit_read(world, cube).position.x;
        const float wanted = 9.81f / 2.0f * logf(1.0f + 6.0f * x * x);
        // A contact keeps its points while the cube moves by 2 cm.
        EXPECT_MEASURED(-kit_read(world, cube).angular_velocity.z, wanted, 0.3f * wanted);
    }
}

static cairn_body_state top_of_stack(uint32_t warm_start, int count) {
    cairn_world_def def = cairn_world_def_default();
    def.warm_start = warm_start;
    def.sleep = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_body_id top = 0;
    kit_ground(world);
    for (int i = 0; i < count; ++i) {
        top = kit_cube(world, vec3(0.0f, 0.5f + (float)i, 0.0f));
    }
    kit_run(world, 600);
    return kit_read(world, top);
}

TEST("the impulses of the last step hold a stack still, and without them it sinks") {
    const cairn_body_state warm = top_of_stack(1, 8);
    const cairn_body_state cold = top_of_stack(0, 8);
    EXPECT_MEASURED(warm.position.y, 7.5f, 0.01f);
    assert_true(vec3_length(warm.linear_velocity) < 1e-4f);
    assert_true(cold.position.y < 7.5f - 0.03f);
    assert_true(vec3_length(cold.linear_velocity) > 1e-3f);
}
