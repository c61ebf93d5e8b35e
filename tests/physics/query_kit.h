// SPDX-License-Identifier: MIT
#pragma once

// Shapes and comparisons that the tests of queries share.

#include "tests/sim/world_kit.h"

#include <math.h>

static inline cairn_query_filter all_shapes(void) {
    return cairn_query_filter_default();
}

static inline cairn_pose pose_at(cairn_vec3 position) {
    return (cairn_pose){.position = position, .rotation = quat_identity()};
}

static inline cairn_shape_def ball(float radius) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_SPHERE;
    shape.radius = radius;
    return shape;
}

static inline cairn_shape_def box(float x, float y, float z) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.half_extents = vec3(x, y, z);
    return shape;
}

static inline cairn_shape_def capsule(float radius, float half_height) {
    cairn_shape_def shape = cairn_shape_def_default();
    shape.kind = CAIRN_SHAPE_CAPSULE;
    shape.radius = radius;
    shape.half_height = half_height;
    return shape;
}

static inline cairn_body_id put(
    cairn_world *world, uint32_t kind, cairn_vec3 position, const cairn_shape_def *shape) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = kind;
    def.position = position;
    return kit_body(world, &def, shape);
}

static inline cairn_body_id put_static(
    cairn_world *world, cairn_vec3 position, const cairn_shape_def *shape) {
    return put(world, CAIRN_BODY_STATIC, position, shape);
}

static inline void expect_near(float actual, float expected, float tolerance) {
    if (!(fabsf(actual - expected) <= tolerance)) {
        fail_msg("%.7g, not %.7g within %.2g", (double)actual, (double)expected, (double)tolerance);
    }
}

static inline void expect_vec3(cairn_vec3 actual, cairn_vec3 expected, float tolerance) {
    expect_near(actual.x, expected.x, tolerance);
    expect_near(actual.y, expected.y, tolerance);
    expect_near(actual.z, expected.z, tolerance);
}
