// SPDX-License-Identifier: MIT
// Hulls of up to 128 vertices: their measures against those of the bodies that they approximate,
// and how they rest, stack and roll.

#include "tests/physics/stack_kit.h"

#include "sim/shape/hull.h"

#define PI 3.14159265358979

// Points that lie evenly on a ball (Fibonacci's spiral).
static void ball_points(cairn_vec3 *points, uint32_t count, double radius) {
    for (uint32_t i = 0; i < count; ++i) {
        const double y = 1.0 - (2.0 * i + 1.0) / count;
        const double angle = i * PI * (3.0 - sqrt(5.0));
        const double ring = sqrt(1.0 - y * y);
        points[i] = vec3((float)(radius * ring * cos(angle)), (float)(radius * y),
            (float)(radius * ring * sin(angle)));
    }
}

// The corners of a prism with `sides` sides around y.
static void prism_points(cairn_vec3 *points, uint32_t sides, double radius, double half_height) {
    for (uint32_t i = 0; i < 2 * sides; ++i) {
        const double angle = 2.0 * PI * (i / 2) / sides;
        points[i] = vec3((float)(radius * cos(angle)),
            (float)(i % 2 == 0 ? -half_height : half_height), (float)(radius * sin(angle)));
    }
}

static cairn_shape_def shape_of_points(
    cairn_world *world, const cairn_vec3 *points, uint32_t count) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_HULL;
    EXPECT_OK(cairn_hull_create(world, points, count, &shape.hull));
    return shape;
}

// A ball of radius r has the volume 4/3 pi r^3 and the inertia 2/5 m r^2. The polyhedron of n
// points on it is smaller by a part of about 4 pi / (sqrt(3) n) of the surface's distance: 5.6 %.
TEST("128 points on a ball make a hull of 252 faces with nearly the ball's inertia") {
    cairn_vec3 points[128];
    cairn_hull hull;
    ball_points(points, 128, 0.5);
    assert_null(cairn_hull_build_stable(points, 128, &hull));
    assert_int_equal(hull.vertex_count, 128);
    assert_int_equal(hull.face_count, 252);
    assert_int_equal(hull.edge_count, 378);
    const double volume = 4.0 / 3.0 * PI * 0.125;
    assert_true((double)hull.volume > 0.94 * volume && (double)hull.volume < volume);
    for (uint32_t i = 0; i < 3; ++i) {
        const double inertia = (double)hull.inertia[i] / (double)hull.volume;
        assert_true(fabs(inertia / (0.4 * 0.25) - 1.0) < 0.05);
        assert_true(fabsf(hull.inertia[3 + i]) < 2e-3f * hull.inertia[0]);
    }
}

// A prism of n sides: area n/2 r^2 sin(2 pi / n); Ixx and Izz by Steiner from the disc's moment.
TEST("a prism of 64 sides has the closed form's volume and inertia") {
    cairn_vec3 points[128];
    cairn_hull hull;
    const double n = 64;
    const double r = 0.5;
    const double h = 0.25;
    prism_points(points, 64, r, h);
    assert_null(cairn_hull_build_stable(points, 128, &hull));
    assert_int_equal(hull.vertex_count, 128);
    assert_int_equal(hull.face_count, 66);
    const double volume = n / 2 * r * r * sin(2 * PI / n) * 2 * h;
    const double side = 2 * r * sin(PI / n);
    const double polar = r * r / 2 * (1 - side * side / (6 * r * r)); // per mass, about y
    assert_true(fabs((double)hull.volume / volume - 1.0) < 1e-5);
    assert_true(fabs((double)hull.inertia[1] / (volume * polar) - 1.0) < 1e-4);
    assert_true(fabs((double)hull.inertia[0] / (volume * (polar / 2 + h * h / 3)) - 1.0) < 1e-4);
}

// Ten prisms of 128 vertices on each other: faces of 64 corners meet.
TEST("ten prisms of 64 sides stand on each other and sleep") {
    SCOPED(pile) p = pile_create(PILE_OF_HULLS);
    cairn_vec3 points[128];
    prism_points(points, 64, 0.5, 0.25);
    const cairn_shape_def shape = shape_of_points(p.world, points, 128);
    for (uint32_t i = 0; i < 10; ++i) {
        pile_add_shape(&p, shape, vec3(0, 0.25f + 0.5f * (float)i, 0),
            pile_turn(vec3(0, 1, 0), 0.3f * (float)i));
    }
    pile_expect(&p, "ten prisms", &(pile_bounds){.sink = 0.0152f, .drift = 0.02f, .asleep = 2.0f});
}

// Stones of 128 vertices fall onto each other: none sinks into the floor, none is flung away, and
// they come to rest.
TEST("a heap of stones of 128 vertices comes to rest") {
    SCOPED(pile) p = pile_create(PILE_OF_HULLS);
    cairn_vec3 points[128];
    ball_points(points, 128, 0.5);
    for (uint32_t i = 0; i < 128; ++i) {
        points[i] = vec3_multiply(points[i], vec3(1.0f, 0.6f, 0.8f));
    }
    const cairn_shape_def shape = shape_of_points(p.world, points, 128);
    for (uint32_t i = 0; i < 12; ++i) {
        pile_add_shape(&p, shape,
            vec3(0.2f * (float)(i % 3), 0.5f + 0.8f * (float)i, 0.15f * (float)(i % 2)),
            pile_turn(vec3(1, 2, 3), (float)i));
    }
    kit_run(p.world, 20 * PILE_TICK_RATE);
    for (uint32_t i = 0; i < p.count; ++i) {
        const cairn_body_state s = kit_read(p.world, p.bodies[i]);
        assert_true(s.position.y > 0.25f && vec3_length(s.position) < 20.0f);
        assert_true(vec3_length(s.linear_velocity) < 0.5f);
    }
}
