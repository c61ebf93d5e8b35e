// SPDX-License-Identifier: MIT
// The direct solver on systems without a world: closed forms, exact fractions
// (reference_numbers.py), redundant contacts, and everything that must be refused.

#include "tests/sim/mlcp_kit.h"

#include "sim/reference/direct.h"

// The body and the contacts of reference_numbers.py.
static void build_numbers(mlcp_kit *kit, uint32_t contacts) {
    static const double inertia[3] = {0.5, 0.75, 1.0};
    static const double velocity[6] = {0.25, -1.0, 0.0, 0.5, 0.0, -0.25};
    static const double arms[3][3] = {{-1.0, -0.5, -0.5}, {1.0, -0.5, -0.5}, {0.25, -0.5, 1.0}};
    const uint32_t body = kit_add_body(kit, 2.0, inertia, velocity);
    for (uint32_t i = 0; i < contacts; ++i) {
        kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, body, arms[i]);
    }
    cairn_mlcp_prepare(&kit->system);
}

TEST("one, two and three contacts have the impulses of exact fractions") {
    static const double expected[3][3] = {
        {0.25, 0.0, 0.0}, {0.25, 0.5, 0.0}, {9.0 / 16.0, 29.0 / 48.0, 5.0 / 6.0}};
    for (uint32_t count = 1; count <= 3; ++count) {
        SCOPED(mlcp_kit) *kit = kit_create();
        build_numbers(kit, count);
        const cairn_solve_report report = kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0);
        assert_int_equal(report.outcome, CAIRN_SOLVE_STOPPED);
        assert_int_equal(report.iterations, 0); // by the matrix, without a pivot
        for (uint32_t i = 0; i < count; ++i) {
            kit_expect_near(kit->x[i], expected[count - 1][i], 1e-15);
        }
        assert_true(kit_residual(kit) < 1e-14);
    }
}

// i = -v / Gamma (Solid contact physics): Gamma of a point at arm r is 1 / m + (r x n).I^-1 (r x
// n).
TEST("one contact gets the velocity over Gamma, or nothing if it parts") {
    static const double inertia[3] = {0.5, 0.5, 0.5};
    static const double arm[3] = {0.5, -0.5, 0.0};
    for (int sign = -1; sign <= 1; sign += 2) {
        SCOPED(mlcp_kit) *kit = kit_create();
        const double velocity[6] = {0.0, 3.0 * sign, 0.0, 0.0, 0.0, 0.0};
        const uint32_t body = kit_add_body(kit, 4.0, inertia, velocity);
        kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, body, arm);
        cairn_mlcp_prepare(&kit->system);
        kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0);
        const double gamma = 1.0 / 4.0 + 0.5 * 0.5 / 0.5;
        kit_expect_near(kit->x[0], sign < 0 ? 3.0 / gamma : 0.0, 1e-15);
    }
}

// With a, b and c in f = a + b x + c z, the forces of least norm that carry the weight and its
// moments.
TEST("a table on four legs has the forces of least norm") {
    static const double legs[4][2] = {{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}};
    for (uint32_t shifted = 0; shifted < 2; ++shifted) {
        SCOPED(mlcp_kit) *kit = kit_create();
        const double x = shifted != 0 ? 0.2 : 0.0;
        const double z = shifted != 0 ? 0.1 : 0.0;
        const uint32_t table = kit_add_ball(kit, 8.0, 0.5);
        for (uint32_t i = 0; i < 4; ++i) {
            const double arm[3] = {legs[i][0] - x, -1.0, legs[i][1] - z};
            kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, table, arm);
        }
        cairn_mlcp_prepare(&kit->system);
        assert_int_equal(kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0).outcome, CAIRN_SOLVE_STOPPED);
        for (uint32_t i = 0; i < 4; ++i) {
            const double share = 0.25 * (1.0 + x * legs[i][0] + z * legs[i][1]);
            kit_expect_near(kit->x[i], 8.0 * 0.5 * share, 1e-8);
        }
        assert_true(kit_residual(kit) < 1e-12);
    }
}

TEST("a box on the floor sticks up to its friction and slides beyond it") {
    static const double sides[4][3] = {
        {-0.5, -0.5, -0.5}, {0.5, -0.5, -0.5}, {0.5, -0.5, 0.5}, {-0.5, -0.5, 0.5}};
    static const double inertia[3] = {1.0, 1.0, 1.0};
    for (uint32_t i = 0; i < 8; ++i) {
        SCOPED(mlcp_kit) *kit = kit_create();
        // Towards a direction that is along no axis of friction: 3, 4, 5.
        const double fast = i < 4 ? 0.2 : 2.0;
        const double velocity[6] = {0.6 * fast, -1.0, 0.8 * fast, 0.0, 0.0, 0.0};
        const uint32_t box = kit_add_body(kit, 6.0, inertia, velocity);
        const uint32_t points = i % 4 == 0 ? 1 : 4;
        for (uint32_t k = 0; k < points; ++k) {
            const double below[3] = {0.0, 0.0, 0.0};
            kit_add_rough_contact(kit, CAIRN_MLCP_FIXED, kit_centre, box,
                points == 1 ? below : sides[k], 0.5, CAIRN_MLCP_LENGTH);
        }
        cairn_mlcp_prepare(&kit->system);
        assert_int_equal(kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0).outcome, CAIRN_SOLVE_STOPPED);
        cairn_mlcp_respond(&kit->system, kit->x);
        const double left = i < 4 ? 0.0 : fast - 0.5; // the normal impulse stops 1 m/s
        if (points == 1) {
            kit_expect_near(velocity[0] + kit->system.change[0][0], 0.6 * left, 1e-9);
            kit_expect_near(velocity[2] + kit->system.change[0][2], 0.8 * left, 1e-9);
        }
        assert_true(kit_residual(kit) < (points == 1 ? 1e-9 : 1e-6));
    }
}

// The box starts to slide in this very solution: the lower friction holds at once.
TEST("what starts to slide has the friction of sliding") {
    static const double below[3] = {0.0, 0.0, 0.0};
    for (uint32_t fast = 0; fast < 2; ++fast) {
        SCOPED(mlcp_kit) *kit = kit_create();
        const double velocity[6] = {fast != 0 ? 0.9 : 0.7, -1.0, 0.0, 0.0, 0.0, 0.0};
        static const double inertia[3] = {1.0, 1.0, 1.0};
        const uint32_t box = kit_add_body(kit, 3.0, inertia, velocity);
        kit_add_rough_contact(
            kit, CAIRN_MLCP_FIXED, kit_centre, box, below, 0.8, CAIRN_MLCP_LENGTH);
        kit->system.blocks[1].sliding = 0.3;
        cairn_mlcp_prepare(&kit->system);
        kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0);
        cairn_mlcp_respond(&kit->system, kit->x);
        const double left = fast != 0 ? 0.9 - 0.3 : 0.0;
        kit_expect_near(velocity[0] + kit->system.change[0][0], left, 1e-9);
    }
}

// Rows without bounds, bounds on both sides, one side and lengths, at random.
static void build_random(mlcp_kit *kit, uint64_t seed) {
    kit->random = seed;
    for (uint32_t i = 0; i < 8; ++i) {
        const double mass = 1.0 + 0.9 * kit_draw(kit);
        const double inertia[3] = {0.3 * mass, 0.4 * mass + 0.1 * kit_draw(kit) * mass, 0.5 * mass};
        double velocity[6];
        for (uint32_t k = 0; k < 6; ++k) {
            velocity[k] = kit_draw(kit);
        }
        kit_add_body(kit, mass, inertia, velocity);
    }
    for (uint32_t i = 0; i < 20; ++i) {
        const uint32_t b = i % 8;
        const uint32_t a = i < 4 ? CAIRN_MLCP_FIXED : (b + 1 + i / 8) % 8;
        double arms[2][3];
        for (uint32_t k = 0; k < 6; ++k) {
            arms[k / 3][k % 3] = kit_draw(kit);
        }
        if (i % 3 == 0) {
            kit_add_rough_contact(kit, a, arms[0], b, arms[1], 0.4, CAIRN_MLCP_LENGTH);
            continue;
        }
        cairn_mlcp_add_group(&kit->system, a, b);
        cairn_mlcp_add_block(&kit->system, CAIRN_MLCP_BOUNDS);
        cairn_mlcp_row *row = kit_add_row(kit, kit_up, arms[0], arms[1]);
        row->target = 0.3 * kit_draw(kit);
        if (i % 3 == 1) {
            row->lower = -0.2;
            row->upper = 0.3;
        }
    }
    cairn_mlcp_prepare(&kit->system);
}

TEST("Lemke solves systems of every kind of row") {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED(mlcp_kit) *kit = kit_create();
        build_random(kit, seed);
        const cairn_solve_report report = kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0);
        if (report.outcome != CAIRN_SOLVE_STOPPED) {
            fail_msg("seed %d: outcome %u", (int)seed, report.outcome);
        }
        assert_true(report.iterations > 0);
        // What sticks must fit into a pyramid inside the cone, so only rows without friction are
        // exact.
        cairn_mlcp_residual(&kit->system, kit->x, kit->w);
        for (uint32_t b = 0; b < kit->system.block_count; ++b) {
            const cairn_mlcp_block *block = &kit->system.blocks[b];
            const cairn_mlcp_row *row = &kit->system.rows[block->first];
            if (block->kind != CAIRN_MLCP_BOUNDS) {
                continue;
            }
            const double x = kit->x[block->first];
            const double w = kit->w[block->first];
            assert_true(x >= row->lower - 1e-9 && x <= row->upper + 1e-9);
            assert_true(x <= row->lower + 1e-7 || w < 1e-6);
            assert_true(x >= row->upper - 1e-7 || w > -1e-6);
        }
    }
}

// ---- Refusals

TEST("rows that contradict each other are inconsistent, and keep their impulses") {
    SCOPED(mlcp_kit) *kit = kit_create();
    const uint32_t body = kit_add_ball(kit, 1.0, 0.0);
    cairn_mlcp_add_group(&kit->system, CAIRN_MLCP_FIXED, body);
    for (uint32_t i = 0; i < 2; ++i) {
        cairn_mlcp_add_block(&kit->system, CAIRN_MLCP_BOUNDS);
        kit_add_row(kit, kit_up, kit_centre, kit_centre)->target = (double)i;
    }
    cairn_mlcp_prepare(&kit->system);
    kit->x[0] = 0.125;
    const cairn_solve_report report = kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0);
    assert_int_equal(report.outcome, CAIRN_SOLVE_INCONSISTENT);
    assert_int_equal(report.failed, 1);
    assert_true(kit->x[0] == 0.125 && kit->x[1] == 0.0);
}

TEST("redundant rows that agree share the impulse") {
    SCOPED(mlcp_kit) *kit = kit_create();
    const uint32_t body = kit_add_ball(kit, 2.0, 3.0);
    cairn_mlcp_add_group(&kit->system, CAIRN_MLCP_FIXED, body);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_mlcp_add_block(&kit->system, CAIRN_MLCP_BOUNDS);
        kit_add_row(kit, kit_up, kit_centre, kit_centre);
    }
    cairn_mlcp_prepare(&kit->system);
    assert_int_equal(kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0).outcome, CAIRN_SOLVE_STOPPED);
    for (uint32_t i = 0; i < 3; ++i) {
        kit_expect_near(kit->x[i], 2.0, 1e-6);
    }
}

TEST("a component that is too large is left alone, others are solved") {
    SCOPED(mlcp_kit) *kit = kit_create();
    const uint32_t large = kit_add_ball(kit, 1.0, 1.0);
    const uint32_t small = kit_add_ball(kit, 1.0, 1.0);
    for (uint32_t i = 0; i < CAIRN_DIRECT_ROWS_MAX + 1; ++i) {
        kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, large, kit_centre);
    }
    kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, small, kit_centre);
    cairn_mlcp_prepare(&kit->system);
    const cairn_solve_report report = kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0);
    assert_int_equal(report.outcome, CAIRN_SOLVE_TOO_LARGE);
    assert_int_equal(report.failed, 1);
    assert_true(kit->x[0] == 0.0);
    kit_expect_near(kit->x[CAIRN_DIRECT_ROWS_MAX + 1], 1.0, 1e-12);
}

TEST("a velocity that is not a number is refused") {
    SCOPED(mlcp_kit) *kit = kit_create();
    const uint32_t body = kit_add_ball(kit, 1.0, 1.0);
    for (uint32_t i = 0; i < 5; ++i) {
        kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, body, kit_centre);
    }
    kit->system.bodies[body].velocity[1] = __builtin_nan("");
    cairn_mlcp_prepare(&kit->system);
    assert_int_equal(kit_solve(kit, CAIRN_SOLVER_DIRECT, 1, 1.0).outcome, CAIRN_SOLVE_INVALID);
}

TEST("a row that moves nothing gets nothing") {
    SCOPED(mlcp_kit) *kit = kit_create();
    const uint32_t body = kit_add_ball(kit, 1.0, 1.0);
    memset(kit->system.bodies[body].inverse_mass, 0, sizeof kit->system.bodies[0].inverse_mass);
    kit_add_contact(kit, CAIRN_MLCP_FIXED, kit_centre, body, kit_centre);
    cairn_mlcp_prepare(&kit->system);
    for (uint32_t solver = CAIRN_SOLVER_DIRECT; solver <= CAIRN_SOLVER_APGD; ++solver) {
        assert_int_not_equal(kit_solve(kit, solver, 5, 1.0).outcome, CAIRN_SOLVE_INVALID);
        assert_true(kit->x[0] == 0.0);
    }
}

// ---- Lemke alone

static void take_lemke(cairn_lemke *lemke, void **memory) {
    cairn_arena arena = {.memory = NULL};
    cairn_lemke_allocate(lemke, &arena);
    *memory = calloc(1, arena.at);
    arena = (cairn_arena){.memory = *memory};
    cairn_lemke_allocate(lemke, &arena);
}

static void set_problem(cairn_lemke *lemke, uint32_t size, const double *m, const double *p) {
    lemke->size = size;
    for (uint32_t i = 0; i < size; ++i) {
        memcpy(lemke->matrix + (size_t)i * CAIRN_LEMKE_SIZE_MAX, m + (size_t)i * size,
            size * sizeof *m);
        lemke->vector[i] = p[i];
    }
}

TEST("degenerate problems do not cycle, and problems without a solution end in a ray") {
    // Kostreva 1979, which cycles with other rules, and a problem in which every ratio ties.
    static const double cyclic[9] = {1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0};
    static const double tied[9] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    static const double minus[3] = {-1.0, -1.0, -1.0};
    static const double nothing[1] = {0.0};
    cairn_lemke lemke;
    void *memory = NULL;
    take_lemke(&lemke, &memory);
    set_problem(&lemke, 3, cyclic, minus);
    assert_int_equal(cairn_lemke_solve(&lemke), CAIRN_SOLVE_STOPPED);
    for (uint32_t i = 0; i < 3; ++i) {
        kit_expect_near(lemke.z[i], 1.0 / 3.0, 1e-14);
    }
    set_problem(&lemke, 3, tied, minus);
    assert_int_equal(cairn_lemke_solve(&lemke), CAIRN_SOLVE_STOPPED);
    kit_expect_near(lemke.z[0] + lemke.z[1] + lemke.z[2], 1.0, 1e-14);
    set_problem(&lemke, 1, nothing, minus);
    assert_int_equal(cairn_lemke_solve(&lemke), CAIRN_SOLVE_RAY);
    free(memory);
}
