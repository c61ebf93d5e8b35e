// SPDX-License-Identifier: MIT
// The rules of docs/example_buoyancy.c: boxes in water below y = 0.

#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

#include <math.h>

#define GRAVITY 9.81f

extern const cairn_rules example_buoyancy;

static cairn_world *water(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.rules = &example_buoyancy;
    return kit_world(&def);
}

static cairn_body_id upright_cube(cairn_world *world, float height, float density) {
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.position = vec3(0.0f, height, 0.0f);
    def.locks = CAIRN_LOCK_ANGULAR_X | CAIRN_LOCK_ANGULAR_Y | CAIRN_LOCK_ANGULAR_Z;
    shape.density = density;
    return kit_body(world, &def, &shape);
}

// Archimedes: the share that is submerged is the ratio of the densities.
TEST("a cube of half the density of water floats half immersed, one of a quarter by a quarter") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        for (int quarter = 0; quarter < 2; ++quarter) {
            SCOPED(cairn_world) *world = water(solver);
            const float density = quarter != 0 ? 250.0f : 500.0f;
            const cairn_body_id cube = upright_cube(world, 0.4f, density);
            kit_run(world, 60 * 90);
            EXPECT_MEASURED(kit_read(world, cube).position.y, 0.5f - density / 1000.0f, 1e-3f);
            EXPECT_MEASURED(kit_read(world, cube).linear_velocity.y, 0.0f, 1e-3f);
        }
    }
}

// Pushed down by x it is pushed up by rho g a^2 x, so it bobs with w^2 = g / (a s) and
// T = 2 pi sqrt(a s / g), s the ratio of the densities.
TEST("a cube of half the density of water bobs with its period") {
    for (uint32_t solver = 0; solver < 2; ++solver) {
        SCOPED(cairn_world) *world = water(solver);
        const cairn_body_id cube = upright_cube(world, 0.3f, 500.0f);
        float last = 0.3f;
        float first_crossing = 0.0f;
        float crossing = 0.0f;
        int crossings = 0;
        for (int tick = 1; crossings < 11; ++tick) {
            kit_run(world, 1);
            const float height = kit_read(world, cube).position.y;
            if ((last > 0.0f) != (height > 0.0f)) {
                crossing = ((float)tick - height / (height - last)) / 60.0f;
                first_crossing = crossings == 0 ? crossing : first_crossing;
                ++crossings;
            }
            last = height;
            assert_true(tick < 1200);
        }
        const float period = 2.0f * 3.14159265f * sqrtf(0.5f / GRAVITY);
        EXPECT_MEASURED((crossing - first_crossing) / 5.0f, period, 0.01f * period);
    }
}

// An upright cube of half the density of water is unstable: its metacentre is a / 6 above its
// centre of buoyancy, its centre of mass a / 4. It tips, and is still half immersed.
TEST("a cube of half the density that may turn tips over and stays half immersed") {
    SCOPED(cairn_world) *world = water(0);
    cairn_body_def def = cairn_body_def_default();
    cairn_shape_def shape = cairn_shape_def_default();
    def.rotation = cairn_quat_of_axis_angle(vec3(0.0f, 0.0f, 1.0f), 0.05f);
    shape.density = 500.0f;
    const cairn_body_id cube = kit_body(world, &def, &shape);
    kit_run(world, 60 * 30);
    const cairn_body_state state = kit_read(world, cube);
    const cairn_vec3 up = vec3_abs(quat_rotate(state.rotation, vec3(0.0f, 1.0f, 0.0f)));
    EXPECT_MEASURED(state.position.y, 0.0f, 0.02f);
    assert_true(up.y < 0.95f);
}
