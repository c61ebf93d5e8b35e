// SPDX-License-Identifier: MIT
#include "tests/kit/test.h"

#include <string.h>

#include "tests/sim/hull_kit.h"

// What is true of every hull: a closed surface of convex faces with one winding, every vertex on it
// and none above it.
static void expect_closed(const cairn_hull *hull) {
    assert_in_range(hull->vertex_count, 4, CAIRN_HULL_VERTICES_MAX);
    assert_int_equal(hull->vertex_count + hull->face_count, hull->edge_count + 2);
    assert_int_equal(hull->face_first[hull->face_count], 2 * hull->edge_count);
    bool used[CAIRN_HULL_VERTICES_MAX] = {false};
    for (uint32_t i = 0; i < hull->edge_count; ++i) {
        const cairn_hull_edge *edge = &hull->edges[i];
        const cairn_vec3 along = vec3_sub(hull->vertices[edge->to], hull->vertices[edge->from]);
        const cairn_vec3 turn =
            vec3_cross(hull->planes[edge->left].normal, hull->planes[edge->right].normal);
        assert_int_not_equal(edge->left, edge->right);
        assert_true(vec3_dot(turn, along) > 0.0f);
        used[edge->from] = used[edge->to] = true;
    }
    for (uint32_t i = 0; i < hull->vertex_count; ++i) {
        assert_true(used[i]);
    }
    for (uint32_t i = 0; i < hull->face_count; ++i) {
        assert_true(float_abs(vec3_length(hull->planes[i].normal) - 1.0f) < 1e-6f);
        for (uint32_t k = 0; k < hull->vertex_count; ++k) {
            assert_true(
                vec3_dot(hull->planes[i].normal, hull->vertices[k]) <= hull->planes[i].offset);
        }
        for (uint32_t k = hull->face_first[i]; k < hull->face_first[i + 1]; ++k) {
            const float height = hull->planes[i].offset -
                                 vec3_dot(hull->planes[i].normal, hull->vertices[hull->corners[k]]);
            assert_true(height <= 1e-3f * hull->outer);
        }
    }
    assert_true(hull->inner > 0.0f && hull->inner <= hull->outer);
    assert_true(hull->volume > 0.0f);
}

typedef struct hull_case {
    const char *rule;
    uint32_t count;
    cairn_vec3 points[16];
    uint32_t vertices;
    uint32_t edges;
    uint32_t faces;
    float volume;
} hull_case;

// clang-format off
#define CUBE {-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {1, 1, -1}, {-1, -1, 1}, {1, -1, 1}, {-1, 1, 1}, {1, 1, 1}
// clang-format on

static const hull_case hull_cases[] = {
    {"tetrahedron", 4, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, 4, 6, 4, 1.0f / 6.0f},
    {"tetrahedron with its points in another order", 4,
        {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 1}}, 4, 6, 4, 1.0f / 6.0f},
    {"cube", 8, {CUBE}, 8, 12, 6, 8.0f},
    {"cube with a point inside", 9, {{0.1f, 0.2f, 0.3f}, CUBE}, 8, 12, 6, 8.0f},
    {"cube with points doubled", 11, {CUBE, {1, 1, 1}, {-1, -1, -1}, {1, 1, 1.00001f}}, 8, 12, 6,
        8.0f},
    {"cube with points in faces and edges", 14,
        {{1, 0, 0}, {0, 1, 0.3f}, {0, 0, -1}, {1, 0, 1}, {-1, 0.99f, -1}, CUBE, {0.5f, 1, 1}}, 8,
        12, 6, 8.0f},
    {"cube with one face all but flat", 9, {CUBE, {1.000001f, 0, 0}}, 8, 12, 6, 8.0f},
    {"cube with a roof", 9, {CUBE, {0, 2, 0}}, 9, 16, 9, 8.0f + 4.0f / 3.0f},
    {"octahedron", 6, {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}}, 6, 12,
        8, 4.0f / 3.0f},
    {"wedge", 6, {{-1, 0, -1}, {1, 0, -1}, {-1, 0, 1}, {1, 0, 1}, {-1, 1, 0}, {1, 1, 0}}, 6, 9, 5,
        2.0f},
    {"a pebble", 4, {{0, 0, 0}, {0.01f, 0, 0}, {0, 0.01f, 0}, {0, 0, 0.01f}}, 4, 6, 4, 1e-6f / 6},
    {"a hill", 4, {{0, 0, 0}, {9000, 0, 0}, {0, 9000, 0}, {0, 0, 9000}}, 4, 6, 4, 1.215e11f},
};

TEST("known points have the hull of the table") {
    for (size_t i = 0; i < sizeof(hull_cases) / sizeof(hull_cases[0]); ++i) {
        const hull_case *c = &hull_cases[i];
        cairn_hull hull;
        const char *why = cairn_hull_build_stable(c->points, c->count, &hull);
        if (why != NULL) {
            fail_msg("%s: %s", c->rule, why);
        }
        if (hull.vertex_count != c->vertices || hull.edge_count != c->edges ||
            hull.face_count != c->faces) {
            fail_msg(
                "%s: %u, %u, %u", c->rule, hull.vertex_count, hull.edge_count, hull.face_count);
        }
        assert_true(float_abs(hull.volume - c->volume) <= 1e-4f * c->volume);
        expect_closed(&hull);
    }
    const cairn_hull ball = icosahedron(0.5f);
    assert_int_equal(ball.vertex_count, 12);
    assert_int_equal(ball.edge_count, 30);
    assert_int_equal(ball.face_count, 20);
    assert_true(float_abs(ball.inner - 0.39732f) < 1e-4f);
    expect_closed(&ball);
}

// The vertices are the points that are corners, bit for bit, in the order given.
TEST("vertices keep their bits and order") {
    cairn_random random = cairn_random_of(41);
    for (uint32_t round = 0; round < 100; ++round) {
        cairn_vec3 points[40];
        cairn_hull hull;
        for (uint32_t i = 0; i < 40; ++i) {
            points[i] = random_vec3(&random, 1.0f);
        }
        assert_true(builds(points, 40, &hull));
        uint32_t at = 0;
        for (uint32_t i = 0; i < 40 && at < hull.vertex_count; ++i) {
            at += memcmp(&points[i], &hull.vertices[at], sizeof points[i]) == 0 ? 1 : 0;
        }
        assert_int_equal(at, hull.vertex_count);
        for (uint32_t i = 0; i < 40; ++i) {
            for (uint32_t k = 0; k < hull.face_count; ++k) {
                assert_true(
                    vec3_dot(hull.planes[k].normal, points[i]) <= hull.planes[k].offset + 1e-3f);
            }
        }
        expect_closed(&hull);
    }
}

TEST("a hull built from its own vertices is the same") {
    cairn_random random = cairn_random_of(42);
    for (uint32_t round = 0; round < 100; ++round) {
        const uint32_t count = 6 + round % 20;
        const cairn_hull hull = random_hull(&random, count, random_vec3(&random, 3.0f));
        cairn_hull again;
        assert_null(cairn_hull_build(hull.vertices, hull.vertex_count, &again));
        assert_memory_equal(&hull, &again, sizeof hull);
    }
}

TEST("a box and its hull have the same mass") {
    const cairn_geometry crate = box(0.5f, 0.75f, 1.0f);
    const cairn_mass expected = mass_of(&crate, 700.0f);
    const cairn_vec3 centre = vec3(5, -3, 2);
    const cairn_hull hull = box_hull(crate.half_extents, centre);
    const cairn_shape_view solid = hull_view(&hull);
    const cairn_mass mass = cairn_shape_view_mass(&solid, 700.0f);
    assert_true(vec3_distance(mass.centre, centre) < 1e-5f);
    assert_true(float_abs(mass.mass - expected.mass) <= 1e-5f * expected.mass);
    for (uint32_t i = 0; i < 6; ++i) {
        const float error = float_abs(mass.inertia[i] - expected.inertia[i]);
        assert_true(error <= 1e-4f * expected.inertia[0]);
    }
}

// The moments of a regular tetrahedron of side a are m a^2 / 20 about every axis.
TEST("a regular tetrahedron has the known moments") {
    const cairn_vec3 points[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    cairn_hull hull;
    assert_true(builds(points, 4, &hull));
    const float expected = hull.volume * 8.0f / 20.0f;
    for (uint32_t i = 0; i < 3; ++i) {
        assert_true(float_abs(hull.inertia[i] - expected) < 1e-5f);
        assert_true(float_abs(hull.inertia[3 + i]) < 1e-5f);
    }
}

TEST("bounds and ray casts of a box and its hull are the same") {
    cairn_random random = cairn_random_of(43);
    const cairn_geometry crate = box(0.5f, 0.75f, 1.0f);
    const cairn_hull hull = box_hull(vec3(0.5f, 0.75f, 1.0f), vec3_zero());
    const cairn_shape_view solid = hull_view(&hull);
    uint32_t hits = 0;
    for (uint32_t round = 0; round < 2000; ++round) {
        const cairn_pose pose = random_pose(&random, 1.0f);
        const cairn_aabb a = bounds_of(&crate, &pose);
        const cairn_aabb b = cairn_shape_view_aabb(&solid, &pose);
        assert_true(vec3_distance(a.lower, b.lower) < 1e-5f);
        assert_true(vec3_distance(a.upper, b.upper) < 1e-5f);
        const cairn_vec3 origin = random_vec3(&random, 2.0f);
        const cairn_vec3 translation = random_vec3(&random, 4.0f);
        float at[2] = {0};
        cairn_vec3 normals[2];
        const bool met = ray_hits(&crate, &pose, origin, translation, &at[0], &normals[0]);
        assert_int_equal(
            cairn_shape_view_ray_cast(&solid, &pose, origin, translation, &at[1], &normals[1]),
            met);
        if (met) {
            assert_true(float_abs(at[0] - at[1]) < 1e-4f);
            assert_true(vec3_distance(normals[0], normals[1]) < 1e-4f);
            hits += 1;
        }
    }
    assert_true(hits > 100);
}

typedef struct refusal_case {
    const char *reason;
    uint32_t count;
    cairn_vec3 points[12];
} refusal_case;

TEST("points that form no hull are refused with a reason") {
    const float infinite = float_of_bits(0x7f800000u);
    const float not_a_number = float_of_bits(0x7fc00000u);
    const refusal_case cases[] = {{"fewer than four points", 3, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}},
        {"fewer than four points", 0, {{0, 0, 0}}},
        {"a coordinate is not a number", 4, {{0, 0, 0}, {1, 0, 0}, {0, infinite, 0}, {0, 0, 1}}},
        {"a coordinate is not a number", 4,
            {{0, 0, 0}, {1, 0, not_a_number}, {0, 1, 0}, {0, 0, 1}}},
        {"a coordinate is too large", 4, {{0, 0, 0}, {1, 0, 0}, {0, 10001, 0}, {0, 0, 1}}},
        {"the points are too close together", 4,
            {{0, 0, 0}, {1e-3f, 0, 0}, {0, 1e-3f, 0}, {0, 0, 1e-3f}}},
        {"the points are too close together", 5,
            {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}},
        {"the points are too close together", 6,
            {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 0}}},
        {"the points lie in a plane, or all but", 4, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}},
        {"the points lie in a plane, or all but", 5,
            {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}, {4, 4, 4}}},
        {"the points lie in a plane, or all but", 4,
            {{0, 0, 0}, {1000, 0, 0}, {0, 1000, 0}, {1000, 1000, 5e-4f}}},
        {"the hull is too thin", 4, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.3f, 0.3f, 1.9e-3f}}}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        cairn_hull hull;
        const char *why = cairn_hull_build_stable(cases[i].points, cases[i].count, &hull);
        if (why == NULL || strcmp(why, cases[i].reason) != 0) {
            fail_msg("%zu: %s, not %s", i, why == NULL ? "taken" : why, cases[i].reason);
        }
    }
}

TEST("a hull has as many vertices as points; more are refused") {
    cairn_random random = cairn_random_of(44);
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX + 1];
    cairn_hull hull;
    for (uint32_t i = 0; i <= CAIRN_HULL_POINTS_MAX; ++i) {
        points[i] = vec3_normalize(random_vec3(&random, 1.0f), vec3(1, 0, 0));
    }
    assert_string_equal(cairn_hull_build_stable(points, CAIRN_HULL_POINTS_MAX + 1, &hull),
        "more points than a hull may be made of");
    assert_null(cairn_hull_build_stable(points, CAIRN_HULL_POINTS_MAX, &hull));
    assert_int_equal(hull.vertex_count, CAIRN_HULL_VERTICES_MAX);
    assert_int_equal(hull.face_count, CAIRN_HULL_FACES_MAX);
    assert_int_equal(hull.edge_count, CAIRN_HULL_EDGES_MAX);
    expect_closed(&hull);
}

// A nearly degenerate cloud may be refused. A hull that is built from it is valid, and the same if
// built from its own vertices.
TEST("nearly degenerate clouds give valid hulls or none") {
    cairn_random random = cairn_random_of(45);
    uint32_t taken = 0;
    uint32_t refused = 0;
    for (uint32_t round = 0; round < 600; ++round) {
        static const float noises[] = {0.0f, 1e-7f, 1e-6f, 1e-5f, 1e-4f, 1e-3f};
        const float noise = noises[cairn_random_below(&random, 6)];
        const uint32_t steps = 2 + (uint32_t)cairn_random_below(&random, 3);
        const float size = round % 3 == 0 ? 50.0f : 1.0f;
        const cairn_quat turn = random_quat(&random);
        cairn_vec3 points[CAIRN_HULL_POINTS_MAX];
        const uint32_t count = 4 + (uint32_t)cairn_random_below(&random, 40);
        for (uint32_t i = 0; i < count; ++i) {
            const float x = (float)cairn_random_below(&random, steps);
            const float y = (float)cairn_random_below(&random, steps);
            const float z = (float)cairn_random_below(&random, steps);
            const cairn_vec3 p = vec3_add(vec3(x, y, z), random_vec3(&random, noise));
            points[i] = quat_rotate(turn, vec3_scale(p, size));
        }
        cairn_hull hull;
        cairn_hull again;
        if (cairn_hull_build_stable(points, count, &hull) != NULL) {
            refused += 1;
            continue;
        }
        expect_closed(&hull);
        assert_null(cairn_hull_build(hull.vertices, hull.vertex_count, &again));
        assert_memory_equal(&hull, &again, sizeof hull);
        taken += 1;
    }
    assert_true(taken > 300);
    assert_true(refused > 10);
}
