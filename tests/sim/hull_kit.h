// SPDX-License-Identifier: MIT
#pragma once

// Hulls and their shape views.

#include "sim/shape/hull.h"
#include "tests/sim/geometry_kit.h"

static inline cairn_shape_view hull_view(const cairn_hull *hull) {
    static const cairn_geometry geometry = {.kind = CAIRN_SHAPE_HULL};
    return (cairn_shape_view){.geometry = &geometry, .hull = hull};
}

static inline bool builds(const cairn_vec3 *points, uint32_t count, cairn_hull *out) {
    return cairn_hull_build_stable(points, count, out) == NULL;
}

static inline cairn_hull box_hull(cairn_vec3 half_extents, cairn_vec3 centre) {
    const cairn_vec3 h = half_extents;
    cairn_vec3 points[8];
    cairn_hull hull;
    for (uint32_t i = 0; i < 8; ++i) {
        const cairn_vec3 corner = vec3(
            (i & 1u) != 0 ? h.x : -h.x, (i & 2u) != 0 ? h.y : -h.y, (i & 4u) != 0 ? h.z : -h.z);
        points[i] = vec3_add(centre, corner);
    }
    assert_true(builds(points, 8, &hull));
    return hull;
}

// The twelve corners (0, +-1, +-g) and their rotations, g the golden ratio, on a ball of `radius`.
static inline cairn_hull icosahedron(float radius) {
    const float one = 0.52573111f * radius;
    const float golden = 0.85065081f * radius;
    cairn_vec3 points[12];
    cairn_hull hull;
    for (uint32_t i = 0; i < 4; ++i) {
        const float a = (i & 1u) != 0 ? one : -one;
        const float b = (i & 2u) != 0 ? golden : -golden;
        points[i] = vec3(0.0f, a, b);
        points[4 + i] = vec3(a, b, 0.0f);
        points[8 + i] = vec3(b, 0.0f, a);
    }
    assert_true(builds(points, 12, &hull));
    return hull;
}

// Points on an ellipsoid about `centre` with radii between 0.3 and 1: nearly all are corners.
static inline cairn_hull random_hull(cairn_random *random, uint32_t count, cairn_vec3 centre) {
    cairn_vec3 points[CAIRN_HULL_POINTS_MAX];
    cairn_hull hull;
    do {
        const float x = random_between(random, 0.3f, 1.0f);
        const float y = random_between(random, 0.3f, 1.0f);
        const float z = random_between(random, 0.3f, 1.0f);
        for (uint32_t i = 0; i < count; ++i) {
            const cairn_vec3 direction = vec3_normalize(random_vec3(random, 1.0f), vec3(1, 0, 0));
            points[i] = vec3_add(centre, vec3_multiply(direction, vec3(x, y, z)));
        }
    } while (!builds(points, count, &hull));
    return hull;
}
