// SPDX-License-Identifier: MIT
#pragma once

// What the chapters of mechanics share: worlds of either solver, and shapes by their measures.

#include "tests/physics/measured.h"
#include "tests/sim/world_kit.h"

#include <math.h>

#define GRAVITY 9.81f
#define PI 3.14159265f
#define TICKS_PER_SECOND 60

static const char *const solver_names[] = {"soft step", "PGS"};

// The body of the loop runs for both solvers.
#define FOR_BOTH_SOLVERS(solver)                                                                   \
    for (uint32_t solver = CAIRN_SOLVER_SOFT_STEP; solver <= CAIRN_SOLVER_PGS; ++(solver))

// Nothing in it sleeps.
static inline cairn_world *world_with(uint32_t solver, cairn_vec3 gravity) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.gravity = gravity;
    def.sleep = 0;
    return kit_world(&def);
}

static inline cairn_world *world_on_earth(uint32_t solver) {
    return world_with(solver, vec3(0.0f, -GRAVITY, 0.0f));
}

static inline cairn_world *world_in_space(uint32_t solver) {
    return world_with(solver, vec3_zero());
}

// Gravity on a slope of that angle that falls along +x, in the axes of the slope: the ground of the
// kit then is the slope.
static inline cairn_vec3 gravity_on_slope(float angle) {
    return vec3(GRAVITY * sinf(angle), -GRAVITY * cosf(angle), 0.0f);
}

// How long one integration step of the solver takes, s: velocities change at its beginning.
static inline float solver_step(uint32_t solver) {
    const cairn_world_def def = cairn_world_def_default();
    const float substeps = solver == CAIRN_SOLVER_SOFT_STEP ? (float)def.substeps : 1.0f;
    return 1.0f / (TICKS_PER_SECOND * substeps);
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

static inline cairn_quat turned(cairn_vec3 axis, float angle) {
    const float sine = sinf(0.5f * angle);
    return (cairn_quat){
        .x = axis.x * sine, .y = axis.y * sine, .z = axis.z * sine, .w = cosf(0.5f * angle)};
}

static inline void expect_near(float actual, float expected, float tolerance) {
    measured((double)actual, (double)expected, (double)tolerance);
    if (!(fabsf(actual - expected) <= tolerance)) {
        fail_msg("%.7g, not %.7g within %.2g", (double)actual, (double)expected, (double)tolerance);
    }
}

static inline void expect_vec3(cairn_vec3 actual, cairn_vec3 expected, float tolerance) {
    expect_near(actual.x, expected.x, tolerance);
    expect_near(actual.y, expected.y, tolerance);
    expect_near(actual.z, expected.z, tolerance);
}
