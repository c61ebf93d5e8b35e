// SPDX-License-Identifier: MIT
// The iterative solvers of the laboratory, against the direct one and against each other.

#include "tests/sim/mlcp_kit.h"

// A tower of balls with a plate on top, and friction at each contact.
static void build_tower(mlcp_kit *kit, uint32_t height, uint32_t kind) {
    static const double below[3] = {0.05, -0.5, 0.02};
    static const double above[3] = {0.03, 0.5, -0.04};
    uint32_t under = CAIRN_MLCP_FIXED;
    for (uint32_t i = 0; i < height; ++i) {
        const uint32_t ball = kit_add_ball(kit, 1.0 + (double)(i % 3), 0.16);
        kit->system.bodies[ball].velocity[0] = 0.02 * (double)i;
        kit_add_rough_contact(kit, under, above, ball, below, 0.6, kind);
        under = ball;
    }
    cairn_mlcp_prepare(&kit->system);
}

// Algorithm 3 of Catto 2005 with bounds, on A itself.
static void sweep_matrix(const cairn_mlcp *system, double *x) {
    for (uint32_t i = 0; i < system->row_count; ++i) {
        double w = system->rows[i].offset;
        for (uint32_t k = 0; k < system->row_count; ++k) {
            w += cairn_mlcp_entry(system, i, k) * x[k];
        }
        const double next = x[i] - w / cairn_mlcp_entry(system, i, i);
        x[i] = next < system->rows[i].lower ? system->rows[i].lower : next;
        x[i] = x[i] > system->rows[i].upper ? system->rows[i].upper : x[i];
    }
}

typedef struct twin {
    const cairn_mlcp *system;
    double x[KIT_ROWS_MAX];
    double error;
} twin;

static void compare_sweep(void *context, uint32_t iteration, const double *x) {
    twin *t = context;
    (void)iteration;
    sweep_matrix(t->system, t->x);
    for (uint32_t i = 0; i < t->system->row_count; ++i) {
        const double error = x[i] > t->x[i] ? x[i] - t->x[i] : t->x[i] - x[i];
        t->error = error > t->error ? error : t->error;
    }
}

// The same impulses after each of 30 sweeps, row by row.
TEST("sequential impulses are projected Gauss-Seidel, number by number") {
    SCOPED(mlcp_kit) *kit = kit_create();
    build_tower(kit, 10, CAIRN_MLCP_LENGTH);
    for (uint32_t i = 0; i < kit->system.block_count; ++i) {
        cairn_mlcp_block *block = &kit->system.blocks[i];
        block->kind = CAIRN_MLCP_BOUNDS;
        for (uint32_t k = 0; block->count == 2 && k < 2; ++k) {
            kit->system.rows[block->first + k].lower = -0.05;
            kit->system.rows[block->first + k].upper = 0.05;
        }
    }
    cairn_mlcp_prepare(&kit->system); // other bounds
    twin t = {.system = &kit->system};
    const cairn_solve_options options = {.solver = CAIRN_SOLVER_PSOR,
        .iterations = 30,
        .over_relaxation = 1.0,
        .observe = compare_sweep,
        .context = &t};
    cairn_solve(&kit->system, &options, &kit->work, kit->x);
    assert_true(kit->x[0] > 0.1);
    assert_true(t.error < 1e-14);
}

static const char *const names[] = {
    "soft step", "pgs", "direct", "psor", "split", "gradient", "mprgp", "apgd"};

TEST("every method comes to the solution of the direct one") {
    static const uint32_t iterations[] = {0, 0, 0, 3000, 20000, 20000, 3000, 3000};
    for (uint32_t solver = CAIRN_SOLVER_PSOR; solver <= CAIRN_SOLVER_APGD; ++solver) {
        SCOPED(mlcp_kit) *kit = kit_create();
        SCOPED(mlcp_kit) *exact = kit_create();
        build_tower(kit, 8, CAIRN_MLCP_LENGTH);
        build_tower(exact, 8, CAIRN_MLCP_LENGTH);
        assert_int_equal(
            kit_solve(exact, CAIRN_SOLVER_DIRECT, 1, 1.0).outcome, CAIRN_SOLVE_STOPPED);
        kit_solve(kit, solver, iterations[solver], 1.0);
        for (uint32_t i = 0; i < kit->system.row_count; ++i) {
            const double error = kit->x[i] - exact->x[i];
            if (!(error < 1e-6 && error > -1e-6)) {
                fail_msg(
                    "%s: row %u: %.9g instead of %.9g", names[solver], i, kit->x[i], exact->x[i]);
            }
        }
    }
}

TEST("methods for cones agree, and what slides parts at mu times its speed") {
    static const double below[3] = {0.0, -0.5, 0.0};
    for (uint32_t solver = CAIRN_SOLVER_PSOR; solver <= CAIRN_SOLVER_APGD; ++solver) {
        SCOPED(mlcp_kit) *kit = kit_create();
        if (solver == CAIRN_SOLVER_MPRGP) {
            continue; // boxes
        }
        const uint32_t ball = kit_add_ball(kit, 2.0, 1.0);
        kit->system.bodies[ball].velocity[0] = 4.0;
        memset(kit->system.bodies[ball].inverse_inertia, 0, 6 * sizeof(double));
        kit_add_rough_contact(kit, CAIRN_MLCP_FIXED, kit_centre, ball, below, 0.5, CAIRN_MLCP_CONE);
        cairn_mlcp_prepare(&kit->system);
        kit_solve(kit, solver, 2000, 1.0);
        assert_true(kit_residual(kit) < 1e-9);
        // On the edge of the cone: minimise over (n, t) = n (1, -mu).
        const double normal = 2.0 * (1.0 + 0.5 * 4.0) / (1.0 + 0.25);
        kit_expect_near(kit->x[0], normal, 1e-8);
        kit_expect_near(kit->x[1], -0.5 * normal, 1e-8);
        kit_expect_near(kit->w[0], 0.5 * kit->w[1], 1e-8);
    }
}

// ---- Order

typedef struct shuffle {
    uint64_t random;
    uint32_t calls;
} shuffle;

// Runs single items in a random order.
static void run_shuffled(void *self, cairn_mlcp_part *part, const void *context, uint32_t count) {
    shuffle *s = self;
    uint32_t order[KIT_ROWS_MAX];
    assert_true(count <= KIT_ROWS_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        order[i] = i;
    }
    for (uint32_t i = count; i > 1; --i) {
        s->random = s->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const uint32_t k = (uint32_t)(s->random >> 33) % i;
        const uint32_t other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
    for (uint32_t i = 0; i < count; ++i) {
        part(context, order[i], order[i] + 1);
    }
    s->calls += 1;
}

TEST("the methods for wide machines have the same bits in any order of their work") {
    for (uint32_t solver = CAIRN_SOLVER_SPLIT; solver <= CAIRN_SOLVER_APGD; ++solver) {
        for (uint32_t kind = CAIRN_MLCP_LENGTH; kind <= CAIRN_MLCP_CONE; ++kind) {
            SCOPED(mlcp_kit) *plain = kit_create();
            build_tower(plain, 40, kind);
            kit_solve(plain, solver, 50, 1.0);
            for (uint64_t seed = 1; seed <= 5; ++seed) {
                SCOPED(mlcp_kit) *kit = kit_create();
                shuffle s = {.random = seed};
                build_tower(kit, 40, kind);
                kit->system.runner = (cairn_mlcp_runner){.run = run_shuffled, .self = &s};
                kit_solve(kit, solver, 50, 1.0);
                // MPRGP and the gradients have loops over rows in each iteration, too.
                assert_true(s.calls > 50 * (solver == CAIRN_SOLVER_SPLIT ? 2u : 8u));
                assert_memory_equal(kit->x, plain->x, sizeof kit->x);
            }
        }
    }
}

// ---- Stop rules

static cairn_solve_report stop_by(
    mlcp_kit *kit, uint32_t rule, double tolerance, double over_relaxation, uint32_t symmetric) {
    const cairn_solve_options options = {.solver = CAIRN_SOLVER_PSOR,
        .iterations = 5000,
        .stop_rule = rule,
        .symmetric = symmetric,
        .tolerance = tolerance,
        .over_relaxation = over_relaxation};
    memset(kit->x, 0, sizeof kit->x);
    return cairn_solve(&kit->system, &options, &kit->work, kit->x);
}

TEST("each stop rule stops when it holds and not before") {
    SCOPED(mlcp_kit) *kit = kit_create();
    build_tower(kit, 10, CAIRN_MLCP_LENGTH);
    uint32_t before = 0;
    for (double tolerance = 1e-2; tolerance > 1e-7; tolerance *= 0.1) {
        const cairn_solve_report report = stop_by(kit, CAIRN_STOP_RESIDUAL, tolerance, 1.0, 0);
        assert_int_equal(report.outcome, CAIRN_SOLVE_STOPPED);
        assert_true(report.iterations > before);
        assert_true(kit_residual(kit) <= tolerance);
        before = report.iterations;
        kit_solve(kit, CAIRN_SOLVER_PSOR, 1, 1.0);
        memset(kit->x, 0, sizeof kit->x);
        kit_solve(kit, CAIRN_SOLVER_PSOR, report.iterations - 1, 1.0);
        assert_true(kit_residual(kit) > tolerance);
    }
    const cairn_solve_report change = stop_by(kit, CAIRN_STOP_CHANGE, 1e-6, 1.0, 0);
    assert_int_equal(change.outcome, CAIRN_SOLVE_STOPPED);
    double last[KIT_ROWS_MAX];
    memset(kit->x, 0, sizeof kit->x);
    kit_solve(kit, CAIRN_SOLVER_PSOR, change.iterations - 1, 1.0);
    memcpy(last, kit->x, sizeof last);
    memset(kit->x, 0, sizeof kit->x);
    kit_solve(kit, CAIRN_SOLVER_PSOR, change.iterations, 1.0);
    for (uint32_t i = 0; i < kit->system.row_count; ++i) {
        kit_expect_near(kit->x[i], last[i], 1e-6);
    }
    // A fraction of 1 holds as soon as no change grows; 0 holds when nothing changes any more.
    assert_int_equal(stop_by(kit, CAIRN_STOP_PROGRESS, 1.0, 1.0, 0).outcome, CAIRN_SOLVE_STOPPED);
    assert_true(stop_by(kit, CAIRN_STOP_PROGRESS, 0.0, 1.0, 0).iterations >
                stop_by(kit, CAIRN_STOP_PROGRESS, 1.0, 1.0, 0).iterations);
    assert_int_equal(stop_by(kit, CAIRN_STOP_COUNT, 1e9, 1.0, 0).outcome, CAIRN_SOLVE_COUNT);
}

TEST("over-relaxation needs fewer sweeps of a tower, symmetric sweeps end at the same place") {
    SCOPED(mlcp_kit) *kit = kit_create();
    double solution[KIT_ROWS_MAX];
    build_tower(kit, 12, CAIRN_MLCP_LENGTH);
    const uint32_t plain = stop_by(kit, CAIRN_STOP_RESIDUAL, 1e-8, 1.0, 0).iterations;
    memcpy(solution, kit->x, sizeof solution);
    assert_true(stop_by(kit, CAIRN_STOP_RESIDUAL, 1e-8, 1.4, 0).iterations < plain);
    assert_int_not_equal(stop_by(kit, CAIRN_STOP_RESIDUAL, 1e-8, 1.0, 1).iterations, plain);
    for (uint32_t i = 0; i < kit->system.row_count; ++i) {
        kit_expect_near(kit->x[i], solution[i], 1e-5);
    }
}
