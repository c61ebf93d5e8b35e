// SPDX-License-Identifier: MIT
// The laboratory solvers in worlds: they take the place of the PGS solver's sweeps and of nothing
// else, their steps are measured, and what they cannot solve is counted.

#include "tests/sim/world_kit.h"

#include "sim/pgs/pgs.h"
#include <cairn/measure.h>

#define GRAVITY 10.0f
#define STEP (1.0f / 60.0f)

static cairn_world_def world_with(uint32_t solver) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = solver;
    def.gravity = vec3(0.0f, -GRAVITY, 0.0f);
    def.body_capacity = 64;
    def.shape_capacity = 64;
    def.joint_capacity = 16;
    def.contact_capacity = 128;
    def.iterations = 50;
    return def;
}

#define FOR_LABORATORY(solver)                                                                     \
    for (uint32_t solver = CAIRN_SOLVER_DIRECT; solver <= CAIRN_SOLVER_PSSOR; ++(solver))

static cairn_measure measured_step(cairn_world *world, uint32_t exact) {
    cairn_measure measure;
    EXPECT_OK(cairn_world_step_measured(world, NULL, 0, exact, &measure));
    return measure;
}

static void build_stack(cairn_world *world, uint32_t count) {
    kit_ground(world);
    for (uint32_t i = 0; i < count; ++i) {
        kit_cube(world, vec3(0.0f, 0.499f + 0.999f * (float)i, 0.0f));
    }
}

// Two cubes of 1000 kg at rest: the floor carries 2 m g h and the lower cube m g h.
TEST("a stack of two has the impulses of its weight, and no residual") {
    cairn_world_def def = world_with(CAIRN_SOLVER_DIRECT);
    def.warm_start = 0;
    SCOPED(cairn_world) *world = kit_world(&def);
    build_stack(world, 2);
    const cairn_measure measure = measured_step(world, 1);
    assert_int_equal(measure.contacts, 2);
    assert_int_equal(measure.rows, 24);
    assert_int_equal(measure.bodies, 2);
    assert_int_equal(measure.exact, 1);
    assert_true(measure.residual < 1e-6 && measure.approach < 1e-6);
    assert_true(measure.cone < 1e-6 && measure.complementarity < 1e-3);
    assert_true(measure.momentum < 1e-6 && measure.distance < 1e-6);
    // The impulses stop what fell at g h.
    const double fall = (double)GRAVITY * (double)STEP;
    assert_true(measure.work < -999.9 * fall * fall && measure.work > -1000.1 * fall * fall);
    for (uint32_t i = 0; i < 2; ++i) {
        const cairn_contact *contact = &world->state.contacts[i];
        float sum = 0.0f;
        for (uint32_t k = 0; k < contact->point_count; ++k) {
            sum += contact->points[k].normal_impulse;
        }
        const float carried = contact->body_a == 1 ? 2000.0f : 1000.0f;
        assert_true(float_abs(sum - carried * GRAVITY * STEP) < 1e-3f * carried);
    }
    assert_int_equal(cairn_world_counters_read(world).solver_fallbacks, 0);
}

TEST("a measured step is the step, and few iterations leave a residual") {
    for (uint32_t solver = CAIRN_SOLVER_SOFT_STEP; solver <= CAIRN_SOLVER_PSSOR; ++solver) {
        cairn_world_def def = world_with(solver);
        def.iterations = 2;
        SCOPED(cairn_world) *world = kit_world(&def);
        SCOPED(cairn_world) *twin = kit_world(&def);
        build_stack(world, 5);
        build_stack(twin, 5);
        for (uint32_t i = 0; i < 20; ++i) {
            const cairn_measure measure = measured_step(world, i % 2);
            kit_run(twin, 1);
            assert_true(kit_equal(world, twin));
            if (measure.rows < 24 || measure.exact != i % 2) {
                fail_msg("solver %u: step %u: %u rows, exact %u", solver, i, measure.rows,
                    measure.exact);
            }
            const bool direct = solver == CAIRN_SOLVER_DIRECT;
            assert_true(direct ? measure.residual < 1e-4 : i > 0 || measure.residual > 1e-4);
        }
    }
}

// The same impulses as the PGS solver's, to rounding: 20 sweeps of a stack that lands askew, with
// Coulomb's friction.
TEST("PSOR in a world is the PGS solver, number by number") {
    cairn_world_def def = world_with(CAIRN_SOLVER_PGS);
    def.iterations = 20;
    SCOPED(cairn_world) *pgs = kit_world(&def);
    def.solver = CAIRN_SOLVER_PSOR;
    SCOPED(cairn_world) *psor = kit_world(&def);
    cairn_world *worlds[2] = {pgs, psor};
    for (uint32_t i = 0; i < 2; ++i) {
        kit_ground(worlds[i]);
        for (uint32_t k = 0; k < 6; ++k) {
            kit_box(worlds[i], vec3(0.1f * (float)(k % 2), 0.249f + 0.499f * (float)k, 0.0f),
                vec3(0.5f, 0.25f, 0.5f), 500.0f + 100.0f * (float)k);
        }
        kit_run(worlds[i], 1);
    }
    uint32_t compared = 0;
    for (uint32_t i = 0; i < pgs->state.settings->contact_count; ++i) {
        const cairn_contact *a = &pgs->state.contacts[i];
        const cairn_contact *b = &psor->state.contacts[i];
        for (uint32_t k = 0; k < a->point_count; ++k) {
            const float normal = a->points[k].normal_impulse;
            assert_true(float_abs(normal - b->points[k].normal_impulse) < 2e-3f);
            assert_true(float_abs(a->tangent_impulse[2 * k] - b->tangent_impulse[2 * k]) < 2e-3f);
            compared += normal > 1.0f ? 1 : 0;
        }
    }
    assert_true(compared > 12);
}

typedef struct heard {
    uint32_t iterations;
    double first, last;
} heard;

static void hear(void *context, uint32_t iteration, double residual) {
    heard *h = context;
    assert_int_equal(iteration, h->iterations + 1);
    h->first = iteration == 1 ? residual : h->first;
    h->last = residual;
    h->iterations = iteration;
}

TEST("a trial solves the next step with any solver and leaves the world as it is") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    build_stack(world, 5);
    kit_run(world, 3);
    const cairn_hash128 before = kit_hash(world);
    for (uint32_t solver = CAIRN_SOLVER_DIRECT; solver <= CAIRN_SOLVER_APGD; ++solver) {
        cairn_solver_trial trial = cairn_solver_trial_default();
        cairn_trial_result result;
        heard h = {.iterations = 0};
        trial.solver = solver;
        trial.iterations = 400;
        trial.warm_start = 0;
        trial.observe = hear;
        trial.context = &h;
        trial.residuals = 1;
        trial.exact = 1;
        EXPECT_OK(cairn_world_try_solver(world, &trial, &result));
        assert_true(cairn_hash_equal(before, kit_hash(world)));
        assert_true(result.rows == 60 && result.solved == 1 && result.exact == 1);
        if (solver == CAIRN_SOLVER_DIRECT) {
            assert_true(result.residual < 1e-6 && result.distance < 1e-9);
        } else {
            assert_int_equal(h.iterations, 400);
            assert_true(h.first > 0.05 && h.last < 0.1 * h.first && h.last == result.residual);
            assert_true(result.distance < 0.02);
        }
    }
}

// A cube of 1000 kg on the floor: four points with a normal and two tangents each. A normal row has
// 1 / m + (r x n).I^-1 (r x n) on the diagonal, with I = m / 6 and levers of half a metre.
TEST("the matrix of a step is dense, symmetric and as worked out by hand") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    double matrix[12 * 12], offset[12];
    cairn_matrix_row bounds[12];
    uint32_t rows = 1;
    EXPECT_OK(cairn_world_matrix_read(world, 12, matrix, offset, bounds, &rows));
    assert_int_equal(rows, 0);
    build_stack(world, 1);
    assert_int_equal(
        cairn_world_matrix_read(world, 11, matrix, offset, NULL, &rows), CAIRN_BUFFER_TOO_SMALL);
    assert_int_equal(rows, 12);
    EXPECT_OK(cairn_world_matrix_read(world, 12, matrix, offset, NULL, &rows));
    EXPECT_OK(cairn_world_matrix_read(world, 12, matrix, offset, bounds, &rows));
    uint32_t normals = 0;
    for (uint32_t i = 0; i < 12; ++i) {
        const double diagonal = 1000.0 * matrix[12 * i + i];
        normals += diagonal > 3.99 && diagonal < 4.01 && offset[i] < -0.1 ? 1 : 0;
        for (uint32_t k = 0; k < 12; ++k) {
            const double difference = matrix[12 * i + k] - matrix[12 * k + i];
            assert_true(difference < 1e-9 && difference > -1e-9);
        }
        // Two rows of friction for each normal, together within the friction of two shapes.
        const cairn_matrix_row *row = &bounds[i];
        if (row->friction == 0.0) {
            assert_true(row->lower == 0.0 && row->upper == 1e30 && offset[i] < -0.1);
            assert_true(row->block_first == i && row->block_count == 1);
            assert_int_equal(row->normal_first, CAIRN_MATRIX_NONE);
        } else {
            assert_true(row->friction == (double)cairn_shape_def_default().friction);
            assert_true(row->lower == 0.0 && row->upper == 0.0 && row->block_count == 2);
            assert_true(row->block_first == i || row->block_first == i - 1);
            assert_true(row->normal_count == 1 && bounds[row->normal_first].friction == 0.0);
        }
    }
    assert_int_equal(normals, 4);
}

TEST("joints in joint coordinates are counted, and are no rows") {
    cairn_world_def def = world_with(CAIRN_SOLVER_SOFT_STEP);
    SCOPED(cairn_world) *world = kit_world(&def);
    cairn_joint_def hang = cairn_joint_def_default();
    hang.body_a = kit_cube(world, vec3(0.0f, 9.0f, 0.0f));
    hang.body_b = kit_cube(world, vec3(0.0f, 7.0f, 0.0f));
    hang.anchor_a = vec3(0.0f, -1.0f, 0.0f);
    hang.anchor_b = vec3(0.0f, 1.0f, 0.0f);
    hang.articulated = 1;
    kit_joint(world, &hang);
    hang.body_a = hang.body_b;
    hang.body_b = kit_cube(world, vec3(0.0f, 5.0f, 0.0f));
    hang.articulated = 0;
    kit_joint(world, &hang);
    const cairn_measure measure = measured_step(world, 0);
    assert_true(measure.articulated == 1 && measure.joints == 1 && measure.rows == 3);
}

TEST("a trial with numbers out of range is refused") {
    SCOPED(cairn_world) *world = kit_world(NULL);
    static const struct {
        uint32_t solver, friction, iterations;
        float relaxation;
    } rows[] = {{CAIRN_SOLVER_PGS, 0, 1, 1.0f}, {CAIRN_SOLVER_APGD + 1, 0, 1, 1.0f},
        {CAIRN_SOLVER_PSOR, 4, 1, 1.0f}, {CAIRN_SOLVER_PSOR, 0, 0, 1.0f},
        {CAIRN_SOLVER_PSOR, 0, CAIRN_TRIAL_ITERATIONS_MAX + 1, 1.0f},
        {CAIRN_SOLVER_PSOR, 0, 1, 0.0f}, {CAIRN_SOLVER_PSOR, 0, 1, 2.0f},
        {CAIRN_SOLVER_PSOR, 0, 1, __builtin_nanf("")}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        cairn_solver_trial trial = cairn_solver_trial_default();
        cairn_trial_result result;
        trial.solver = rows[i].solver;
        trial.friction_model = rows[i].friction;
        trial.iterations = rows[i].iterations;
        trial.over_relaxation = rows[i].relaxation;
        assert_int_equal(cairn_world_try_solver(world, &trial, &result), CAIRN_INVALID_ARGUMENT);
    }
}

// ---- Behaviour

TEST("a box on a slope holds or slides by the laws of friction, with every solver and model") {
    FOR_LABORATORY(solver) {
        for (uint32_t model = CAIRN_FRICTION_COULOMB; model <= CAIRN_FRICTION_CONE; ++model) {
            for (uint32_t slides = 0; slides < 2; ++slides) {
                cairn_world_def def = world_with(solver);
                def.friction_model = model;
                // A slope of 0.5, as the direction of gravity.
                def.gravity = vec3(slides != 0 ? 6.0f : 4.0f, -10.0f, 0.0f);
                def.sleep = 0;
                SCOPED(cairn_world) *world = kit_world(&def);
                cairn_shape_def shape = cairn_shape_def_default();
                cairn_body_def ground = cairn_body_def_default();
                ground.kind = CAIRN_BODY_STATIC;
                shape.kind = CAIRN_SHAPE_HALF_SPACE;
                shape.friction = 0.5f;
                kit_body(world, &ground, &shape);
                shape.kind = CAIRN_SHAPE_BOX;
                shape.half_extents = vec3(1.0f, 0.2f, 1.0f);
                const cairn_body_id box = kit_drop(world, vec3(0.0f, 0.199f, 0.0f), &shape);
                kit_run(world, 60);
                const float speed = kit_read(world, box).linear_velocity.x;
                // CONSTANT bounds by m g of the whole gravity.
                const float weight = model == CAIRN_FRICTION_CONSTANT ? 11.6619f : 10.0f;
                const float expected = slides != 0 ? 6.0f - 0.5f * weight : 0.0f;
                if (!(float_abs(speed - expected) < 0.06f)) {
                    fail_msg("solver %u, model %u: %g instead of %g m/s", solver, model,
                        (double)speed, (double)expected);
                }
            }
        }
    }
}

TEST("chains, doors and driven joints hold with every solver") {
    FOR_LABORATORY(solver) {
        cairn_world_def def = world_with(solver);
        def.iterations = 100;
        SCOPED(cairn_world) *world = kit_world(&def);
        cairn_body_id last = kit_ground(world);
        static const uint32_t kinds[] = {CAIRN_JOINT_BALL, CAIRN_JOINT_HINGE, CAIRN_JOINT_CONE,
            CAIRN_JOINT_DISTANCE, CAIRN_JOINT_WELD, CAIRN_JOINT_PRISMATIC};
        for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
            cairn_joint_def joint = cairn_joint_def_default();
            const float x = (float)i;
            joint.kind = kinds[i];
            joint.body_a = last;
            joint.body_b =
                kit_box(world, vec3(x + 0.5f, 10.0f, 0.0f), vec3(0.4f, 0.1f, 0.1f), 100.0f);
            joint.anchor_a = i == 0 ? vec3(0.0f, 10.0f, 0.0f) : vec3(0.5f, 0.0f, 0.0f);
            joint.anchor_b = vec3(-0.5f, 0.0f, 0.0f);
            joint.length = 0.001f;
            joint.limited = kinds[i] == CAIRN_JOINT_PRISMATIC ? 1 : 0;
            joint.lower = -0.1f;
            joint.upper = 0.1f;
            kit_joint(world, &joint);
            last = joint.body_b;
        }
        kit_run(world, 60);
        for (cairn_joint_id joint = 1; joint <= 5; ++joint) {
            float error = 0.0f;
            EXPECT_OK(cairn_joint_error(world, joint, &error));
            if (!(error < 0.25f)) {
                fail_msg("solver %u: joint %u is %g m apart", solver, joint, (double)error);
            }
        }
        assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
        assert_int_equal(cairn_world_counters_read(world).solver_fallbacks, 0);
    }
}

TEST("worlds of every solver continue from a save at every tick") {
    FOR_LABORATORY(solver) {
        cairn_world_def def = world_with(solver);
        def.iterations = 10;
        SCOPED(cairn_world) *world = kit_world(&def);
        SCOPED(cairn_world) *twin = kit_world(&def);
        kit_ground(world);
        for (uint32_t i = 0; i < 4; ++i) {
            kit_cube(world, vec3(0.3f * (float)(i % 3), 0.6f + 1.1f * (float)i, 0.0f));
        }
        for (uint32_t i = 0; i < 60; ++i) {
            kit_step_beside_reloaded(world, twin);
        }
        assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
    }
}

// ---- Refusals and bounds

TEST("settings that no solver has are refused") {
    cairn_world_def def = world_with(CAIRN_SOLVER_PGS);
    cairn_world *world = NULL;
    def.friction_model = CAIRN_FRICTION_CONE;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_INVALID_ARGUMENT);
    def.solver = CAIRN_SOLVER_PSSOR + 1;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_INVALID_ARGUMENT);
    def = world_with(CAIRN_SOLVER_PSOR);
    def.stop_tolerance = -1.0f;
    assert_int_equal(cairn_world_create(&def, &world), CAIRN_INVALID_ARGUMENT);
}

TEST("a pile too large for the direct solver is swept, counted and hashed") {
    cairn_world_def def = world_with(CAIRN_SOLVER_DIRECT);
    SCOPED(cairn_world) *world = kit_world(&def);
    build_stack(world, 48); // 12 rows each
    const cairn_measure measure = measured_step(world, 1);
    assert_true(measure.rows == 48 * 12 && measure.exact == 0);
    assert_int_equal(cairn_world_counters_read(world).solver_fallbacks, 1);
    SCOPED(cairn_world) *twin = kit_fork(world);
    twin->state.settings->solver_fallbacks = 0;
    assert_false(kit_equal(world, twin));
    kit_run(world, 20);
    assert_int_equal(cairn_world_counters_read(world).solver_fallbacks, 21);
    assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
}

// Five cubes, four on them, three, two, one: 25 contacts of four points with friction.
static void build_pyramid(cairn_world *world) {
    kit_ground(world);
    for (uint32_t level = 0; level < 5; ++level) {
        for (uint32_t i = 0; i < 5 - level; ++i) {
            const float x = 1.02f * ((float)i + 0.5f * (float)level);
            kit_cube(world, vec3(x, 0.499f + 0.999f * (float)level, 0.0f));
        }
    }
}

TEST("three hundred rows with friction are solved directly") {
    cairn_world_def def = world_with(CAIRN_SOLVER_DIRECT);
    SCOPED(cairn_world) *world = kit_world(&def);
    build_pyramid(world);
    const cairn_measure measure = measured_step(world, 1);
    assert_int_equal(measure.rows, 300);
    assert_int_equal(measure.exact, 1);
    assert_int_equal(cairn_world_counters_read(world).solver_fallbacks, 0);
    assert_true(measure.residual < 1e-6 && measure.cone < 1e-4 && measure.distance < 1e-5);
    // A reference for others: sweeps come nearer to it the more there are.
    double before = 1.0;
    for (uint32_t iterations = 10; iterations <= 1000; iterations *= 10) {
        cairn_solver_trial trial = cairn_solver_trial_default();
        cairn_trial_result result;
        trial.warm_start = 0;
        trial.iterations = iterations;
        trial.exact = 1;
        EXPECT_OK(cairn_world_try_solver(world, &trial, &result));
        assert_true(result.exact == 1 && result.distance < 0.5 * before);
        before = result.distance;
    }
}

// ---- Rows that contradict each other

// A body welded to three places at once.
static void build_contradiction(cairn_world *world) {
    cairn_body_def def = cairn_body_def_default();
    def.kind = CAIRN_BODY_STATIC;
    def.position = vec3(-2.0f, 0.0f, 0.0f);
    const cairn_body_id left = kit_body(world, &def, NULL);
    def.position = vec3(2.0f, 0.0f, 0.0f);
    const cairn_body_id right = kit_body(world, &def, NULL);
    const cairn_body_id held = kit_box(world, vec3_zero(), vec3(0.4f, 0.4f, 0.4f), 1000.0f);
    for (uint32_t i = 0; i < 3; ++i) {
        cairn_joint_def joint = cairn_joint_def_default();
        joint.kind = CAIRN_JOINT_WELD;
        joint.body_a = i == 0 ? left : right;
        joint.body_b = held;
        joint.anchor_a = vec3(i == 0 ? 1.0f : -1.0f - 0.3f * (float)i, 0.1f * (float)i, 0.0f);
        kit_joint(world, &joint);
    }
}

// A box between plates that close at 1 m/s each.
static void build_press(cairn_world *world) {
    kit_kinematic(world, vec3(-1.1f, 0.0f, 0.0f), vec3(1.0f, 0.0f, 0.0f));
    kit_kinematic(world, vec3(1.1f, 0.0f, 0.0f), vec3(-1.0f, 0.0f, 0.0f));
    kit_cube(world, vec3_zero());
}

TEST("rows that contradict each other disable no body, with any solver and any count") {
    static const uint32_t counts[] = {1, 3, 5, 8, 12, 20, 50, 200};
    FOR_LABORATORY(solver) {
        for (uint32_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
            for (uint32_t press = 0; press < 2; ++press) {
                cairn_world_def def = world_with(solver);
                def.iterations = counts[i];
                def.sleep = 0;
                SCOPED(cairn_world) *world = kit_world(&def);
                (press != 0 ? build_press : build_contradiction)(world);
                for (uint32_t tick = 0; tick < 30; ++tick) {
                    kit_run(world, 1);
                    const cairn_body_state state = kit_read(world, 3);
                    if (!(vec3_length(state.linear_velocity) < 1000.0f)) {
                        fail_msg("solver %u, %u iterations, press %u, tick %u: %g m/s", solver,
                            counts[i], press, tick, (double)vec3_length(state.linear_velocity));
                    }
                }
                assert_int_equal(cairn_world_counters_read(world).bodies_disabled, 0);
                const bool notices = solver == CAIRN_SOLVER_DIRECT ||
                                     (solver == CAIRN_SOLVER_MPRGP && counts[i] >= 50);
                if (notices && press == 0) {
                    assert_int_equal(cairn_world_counters_read(world).solver_fallbacks, 30);
                }
            }
        }
    }
}

TEST("the rule of a world's settings stops its solver") {
    cairn_world_def def = world_with(CAIRN_SOLVER_PSOR);
    def.iterations = 255;
    def.stop_tolerance = 1e-2f;
    uint32_t used[4];
    for (uint32_t rule = CAIRN_STOP_COUNT; rule <= CAIRN_STOP_PROGRESS; ++rule) {
        def.stop_rule = rule;
        SCOPED(cairn_world) *world = kit_world(&def);
        build_stack(world, 4);
        kit_run(world, 1);
        used[rule] = world->pgs->laboratory.report.iterations;
    }
    assert_int_equal(used[CAIRN_STOP_COUNT], 255);
    assert_true(used[CAIRN_STOP_RESIDUAL] > 1 && used[CAIRN_STOP_RESIDUAL] < 255);
    assert_true(used[CAIRN_STOP_CHANGE] > used[CAIRN_STOP_RESIDUAL]);
}
