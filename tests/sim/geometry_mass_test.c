// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include "tests/sim/geometry_kit.h"

static void expect_near(const char *what, float actual, float expected, float relative) {
    if (!(float_abs(actual - expected) <= relative * float_abs(expected))) {
        fail_msg("%s is %.7g, not %.7g", what, (double)actual, (double)expected);
    }
}

TEST("masses follow the closed forms") {
    const struct {
        const char *what;
        cairn_geometry geometry;
        float density;
        float mass;
        float xx, yy, zz;
    } cases[] = {// 4/3 pi r^3 and 2/5 m r^2
        {"sphere", sphere(2), 3, 100.530965f, 160.849544f, 160.849544f, 160.849544f},
        // a b c and m/12 (b^2 + c^2) of the full sides 2, 4, 6
        {"box", box(1, 2, 3), 10, 480, 2080, 1600, 800},
        // a ball and a cylinder: 4/3 pi + 4 pi; about the axis 2/5 and 1/2 of these
        {"capsule", capsule(1, 2), 1, 16.7551608f, 44.6106157f, 7.95870139f, 44.6106157f},
        {"capsule without a side", capsule(2, 0), 3, 100.530965f, 160.849544f, 160.849544f,
            160.849544f}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        const cairn_mass mass = mass_of(&cases[i].geometry, cases[i].density);
        expect_near(cases[i].what, mass.mass, cases[i].mass, 1e-6f);
        expect_near(cases[i].what, mass.inertia[0], cases[i].xx, 1e-6f);
        expect_near(cases[i].what, mass.inertia[1], cases[i].yy, 1e-6f);
        expect_near(cases[i].what, mass.inertia[2], cases[i].zz, 1e-6f);
        assert_true(vec3_length(mass.centre) == 0.0f);
        assert_true(mass.inertia[3] == 0.0f && mass.inertia[4] == 0.0f && mass.inertia[5] == 0.0f);
    }
}

TEST("a half space has no mass") {
    const cairn_geometry ground = half_space();
    const cairn_mass mass = mass_of(&ground, 1000.0f);
    assert_true(mass.mass == 0.0f && mass.inertia[0] == 0.0f);
}

// Cells of a grid over the shape, each a point mass: needs no closed form.
TEST("masses agree with a grid of point masses") {
    const cairn_geometry shapes[] = {sphere(0.9f), capsule(0.6f, 0.8f), box(0.5f, 1.1f, 0.8f)};
    enum { CELLS = 60 };
    const float cell = 3.0f / CELLS;
    const cairn_pose pose = at(0, 0, 0);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); ++i) {
        float inside = 0.0f;
        cairn_vec3 squares = vec3_zero();
        for (uint32_t k = 0; k < CELLS * CELLS * CELLS; ++k) {
            const cairn_vec3 index =
                vec3((float)(k % CELLS), (float)(k / CELLS % CELLS), (float)(k / (CELLS * CELLS)));
            const cairn_vec3 half = vec3(0.5f, 0.5f, 0.5f);
            const cairn_vec3 point =
                vec3_sub(vec3_scale(vec3_add(index, half), cell), vec3(1.5f, 1.5f, 1.5f));
            if (contains(&shapes[i], &pose, point, 0.0f)) {
                inside += 1.0f;
                squares = vec3_add(squares, vec3_multiply(point, point));
            }
        }
        const float weight = cell * cell * cell * 7.0f;
        const cairn_mass mass = mass_of(&shapes[i], 7.0f);
        expect_near("mass", inside * weight, mass.mass, 0.02f);
        expect_near("xx", (squares.y + squares.z) * weight, mass.inertia[0], 0.03f);
        expect_near("yy", (squares.x + squares.z) * weight, mass.inertia[1], 0.03f);
        expect_near("zz", (squares.x + squares.y) * weight, mass.inertia[2], 0.03f);
    }
}

TEST("the bounds of a half space contain everything and are finite") {
    const cairn_geometry ground = half_space();
    const cairn_pose pose = at(1e5f, -1e5f, 0);
    const cairn_aabb bounds = bounds_of(&ground, &pose);
    assert_true(vec3_finite(bounds.lower) && vec3_finite(bounds.upper));
    assert_true(bounds.lower.x < -1e6f && bounds.upper.y > 1e6f);
}
