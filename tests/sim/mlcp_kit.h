// SPDX-License-Identifier: MIT
#pragma once

// Systems for the tests of sim/reference, built by hand.

#include "tests/kit/test.h"

#include <stdlib.h>
#include <string.h>

#include "sim/reference/solve.h"

#define KIT_ROWS_MAX 1200

typedef struct mlcp_kit {
    cairn_mlcp system;
    cairn_solve_work work;
    double x[KIT_ROWS_MAX];
    double w[KIT_ROWS_MAX];
    double trial[KIT_ROWS_MAX];
    void *memory;
    uint64_t random; // for kit_draw
} mlcp_kit;

static void kit_take(mlcp_kit *kit, cairn_arena *from) {
    const cairn_mlcp_capacity capacity = {
        .bodies = 256, .rows = KIT_ROWS_MAX, .blocks = KIT_ROWS_MAX, .groups = KIT_ROWS_MAX};
    cairn_mlcp_allocate(&kit->system, from, &capacity);
    cairn_solve_allocate(&kit->work, from, KIT_ROWS_MAX, true);
}

static mlcp_kit *kit_create(void) {
    mlcp_kit *kit = calloc(1, sizeof *kit);
    cairn_arena arena = {.memory = NULL};
    assert_non_null(kit);
    kit_take(kit, &arena);
    kit->memory = calloc(1, arena.at);
    assert_non_null(kit->memory);
    arena = (cairn_arena){.memory = kit->memory};
    kit_take(kit, &arena);
    kit->random = 1;
    return kit;
}

static void kit_destroy(mlcp_kit *kit) {
    free(kit->memory);
    free(kit);
}
SCOPE_POINTER_ENDS(mlcp_kit, kit_destroy)

// In [-1, 1).
static inline double kit_draw(mlcp_kit *kit) {
    kit->random = kit->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(kit->random >> 33) / 1073741824.0 - 1.0;
}

static inline uint32_t kit_add_body(
    mlcp_kit *kit, double mass, const double inertia[3], const double velocity[6]) {
    cairn_mlcp_body *body = &kit->system.bodies[kit->system.body_count];
    *body = (cairn_mlcp_body){.inverse_mass = {1.0 / mass, 1.0 / mass, 1.0 / mass},
        .inverse_inertia = {1.0 / inertia[0], 1.0 / inertia[1], 1.0 / inertia[2], 0.0, 0.0, 0.0}};
    memcpy(body->velocity, velocity, sizeof body->velocity);
    return kit->system.body_count++;
}

static inline uint32_t kit_add_ball(mlcp_kit *kit, double mass, double down) {
    const double inertia[3] = {0.4 * mass, 0.4 * mass, 0.4 * mass};
    const double velocity[6] = {0.0, 0.0 - down, 0.0, 0.0, 0.0, 0.0};
    return kit_add_body(kit, mass, inertia, velocity);
}

// Along `axis` at points of a and b; without bounds.
static inline cairn_mlcp_row *kit_add_row(
    mlcp_kit *kit, const double axis[3], const double arm_a[3], const double arm_b[3]) {
    cairn_mlcp_row *row = cairn_mlcp_add_row(&kit->system);
    const double *arms[2] = {arm_a, arm_b};
    for (uint32_t side = 0; side < 2; ++side) {
        const double sign = side == 0 ? -1.0 : 1.0;
        double *j = row->jacobian[side];
        for (uint32_t k = 0; k < 3; ++k) {
            const uint32_t m = (k + 1) % 3;
            const uint32_t n = (k + 2) % 3;
            j[k] = sign * axis[k];
            j[3 + k] = sign * (arms[side][m] * axis[n] - arms[side][n] * axis[m]);
        }
    }
    return row;
}

static const double kit_up[3] = {0.0, 1.0, 0.0};
static const double kit_centre[3] = {0.0, 0.0, 0.0};

// A group of one normal row of b on a (a: CAIRN_MLCP_FIXED for the ground).
static inline void kit_add_contact(
    mlcp_kit *kit, uint32_t a, const double arm_a[3], uint32_t b, const double arm_b[3]) {
    cairn_mlcp_add_group(&kit->system, a, b);
    cairn_mlcp_add_block(&kit->system, CAIRN_MLCP_BOUNDS);
    kit_add_row(kit, kit_up, arm_a, arm_b)->lower = 0.0;
}

// The same with friction along x and z: `kind` CAIRN_MLCP_LENGTH or _CONE.
static inline void kit_add_rough_contact(mlcp_kit *kit, uint32_t a, const double arm_a[3],
    uint32_t b, const double arm_b[3], double friction, uint32_t kind) {
    static const double tangents[2][3] = {{1.0, 0.0, 0.0}, {0.0, 0.0, 1.0}};
    cairn_mlcp *system = &kit->system;
    cairn_mlcp_add_group(system, a, b);
    if (kind == CAIRN_MLCP_LENGTH) {
        cairn_mlcp_add_block(system, CAIRN_MLCP_BOUNDS);
        kit_add_row(kit, kit_up, arm_a, arm_b)->lower = 0.0;
    }
    cairn_mlcp_block *block = cairn_mlcp_add_block(system, kind);
    block->coefficient = friction;
    block->sliding = friction;
    block->normal_first = system->row_count - 1;
    block->normal_count = kind == CAIRN_MLCP_LENGTH ? 1 : 0;
    if (kind == CAIRN_MLCP_CONE) {
        kit_add_row(kit, kit_up, arm_a, arm_b)->lower = 0.0;
    }
    kit_add_row(kit, tangents[0], arm_a, arm_b);
    kit_add_row(kit, tangents[1], arm_a, arm_b);
}

static inline cairn_solve_report kit_solve(
    mlcp_kit *kit, uint32_t solver, uint32_t iterations, double over_relaxation) {
    const cairn_solve_options options = {
        .solver = solver, .iterations = iterations, .over_relaxation = over_relaxation};
    return cairn_solve(&kit->system, &options, &kit->work, kit->x);
}

static inline double kit_residual(mlcp_kit *kit) {
    return cairn_natural_residual(&kit->system, kit->x, kit->w, kit->trial);
}

static inline void kit_expect_near(double value, double expected, double tolerance) {
    const double error = value > expected ? value - expected : expected - value;
    if (!(error <= tolerance)) {
        fail_msg("%.17g instead of %.17g", value, expected);
    }
}
