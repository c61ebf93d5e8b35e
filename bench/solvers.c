// SPDX-License-Identifier: MIT
// For clock_gettime.
#define _POSIX_C_SOURCE 200809L
#include "bench/solvers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/kit.h"
#include "bench/solvers_chart.h"
#include <cairn/measure.h>

#define POINTS_MAX 400
#define SERIES_MAX 8
#define SCENES_MAX 8

typedef struct solver_scene {
    const char *name;
    const char *what;
    uint32_t ticks;      // before the step that is solved
    uint32_t iterations; // of each solver
    bool large;          // only if it is named
    uint32_t solver;     // of the steps before
    void (*build)(cairn_world *world);
} solver_scene;

// A solver with its options.
typedef struct contender {
    const char *name;
    uint32_t solver;
    uint32_t friction_model;
    float over_relaxation;
    uint32_t symmetric;
} contender;

static const contender contenders[SERIES_MAX] = {
    {"PGS", CAIRN_SOLVER_PSOR, CAIRN_FRICTION_COULOMB, 1.0f, 0},
    {"PSOR 1.3", CAIRN_SOLVER_PSOR, CAIRN_FRICTION_COULOMB, 1.3f, 0},
    {"symmetric PGS", CAIRN_SOLVER_PSOR, CAIRN_FRICTION_COULOMB, 1.0f, 1},
    {"mass splitting", CAIRN_SOLVER_SPLIT, CAIRN_FRICTION_COULOMB, 1.0f, 0},
    {"gradient", CAIRN_SOLVER_GRADIENT, CAIRN_FRICTION_COULOMB, 1.0f, 0},
    {"MPRGP", CAIRN_SOLVER_MPRGP, CAIRN_FRICTION_COULOMB, 1.0f, 0},
    {"APGD", CAIRN_SOLVER_APGD, CAIRN_FRICTION_COULOMB, 1.0f, 0},
    {"APGD, cone", CAIRN_SOLVER_APGD, CAIRN_FRICTION_CONE, 1.0f, 0},
};

// ---- Scenes

// Table 1 of Catto 2005 in SI: 70 x 35 x 70 cm, 110 kg, 3.5 cm apart.
static cairn_shape_def table_box(float density) {
    cairn_shape_def shape = bench_box(0.35f, 0.175f, 0.35f);
    shape.density = density;
    shape.friction = 0.2f;
    return shape;
}

static void build_table_stack(cairn_world *world, int count, float bottom) {
    bench_floor(world, 20.0f);
    for (int i = 0; i < count; ++i) {
        const cairn_shape_def shape = table_box(i == 0 ? bottom * 641.0f : 641.0f);
        bench_drop(world, &shape, bench_at(0.0f, 0.21f + 0.385f * (float)i, 0.0f));
    }
}

static void build_stack(cairn_world *world) {
    build_table_stack(world, 10, 1.0f);
}

static void build_heavy(cairn_world *world) {
    build_table_stack(world, 2, 0.001f);
}

// Forty balls on ball joints with a weight of a thousand times their mass at the end.
static void build_chain(cairn_world *world) {
    const cairn_shape_def link = bench_ball(0.1f);
    cairn_shape_def weight = bench_ghost(bench_ball(0.1f));
    weight.density = 1e6f;
    const cairn_shape_def hook = bench_ghost(bench_box(0.1f, 0.1f, 0.1f));
    cairn_body_id last = bench_fix(world, &hook, bench_at(0.0f, 20.0f, 0.0f));
    for (int i = 0; i < 40; ++i) {
        const float x = 0.25f * (float)i;
        const cairn_shape_def shape = i == 39 ? weight : bench_ghost(link);
        const cairn_body_id body = bench_drop(world, &shape, bench_at(x + 0.25f, 20.0f, 0.0f));
        bench_pin(world, last, body, bench_at(x, 20.0f, 0.0f));
        last = body;
    }
}

// Tonge 2012: debris with sizes from 1 to 30. Nothing overlaps where it starts: small pieces lie on
// a grid, and large ones come down beside each other on them.
static void build_debris(cairn_world *world) {
    bench_yard(world, 4.0f);
    for (int i = 0; i < 232; ++i) {
        const float size = 0.05f * (float)(1 + i * 7 % 6);
        const cairn_shape_def shape = bench_box(0.5f * size, 0.4f * size, 0.3f * size);
        const cairn_vec3 at =
            bench_at((float)(i % 16) * 0.48f - 3.6f, 0.45f * size, (float)(i / 16) * 0.5f - 3.5f);
        bench_drop_turned(world, &shape, at, bench_turn(i, 1.0f));
    }
    for (int i = 0; i < 8; ++i) {
        const cairn_shape_def shape = bench_box(0.75f, 0.6f, 0.45f);
        const cairn_vec3 at =
            bench_at((float)(i % 4) * 1.9f - 2.85f, 1.2f, (float)(i / 4) * 3.0f - 1.5f);
        bench_drop_turned(world, &shape, at, bench_turn(i, 1.0f));
    }
}

static void build_wall(cairn_world *world) {
    const cairn_shape_def brick = bench_box(0.5f, 0.25f, 0.25f);
    bench_floor(world, 30.0f);
    for (int row = 0; row < 12; ++row) {
        for (int i = 0; i < 10; ++i) {
            const float x = (float)i + 0.5f * (float)(row % 2) - 5.0f;
            bench_drop(world, &brick, bench_at(x, 0.249f + 0.499f * (float)row, 0.0f));
        }
    }
}

static void build_pile(cairn_world *world) {
    const cairn_shape_def cube = bench_box(0.2f, 0.2f, 0.2f);
    bench_yard(world, 6.0f);
    for (int i = 0; i < 10000; ++i) {
        const cairn_vec3 at = bench_at((float)(i % 20 - 10) * 0.55f + 0.27f,
            0.3f + 0.45f * (float)(i / 400), (float)(i / 20 % 20 - 10) * 0.55f + 0.27f);
        bench_drop_turned(world, &cube, at, bench_turn(i, 0.5f));
    }
}

static const solver_scene scenes[] = {
    {"stack", "ten boxes of Catto 2005", 30, 400, false, CAIRN_SOLVER_PGS, build_stack},
    {"heavy", "a box of 1000 times the mass on a light one", 30, 400, false, CAIRN_SOLVER_PGS,
        build_heavy},
    {"chain", "forty joints, 1000 times the mass at the end", 5, 400, false, CAIRN_SOLVER_PGS,
        build_chain},
    {"wall", "120 bricks", 10, 400, false, CAIRN_SOLVER_PGS, build_wall},
    {"debris", "240 boxes with sizes from 1 to 30 (Tonge 2012)", 120, 400, false,
        CAIRN_SOLVER_SOFT_STEP, build_debris},
    {"pile", "10,000 boxes", 90, 400, true, CAIRN_SOLVER_SOFT_STEP, build_pile},
};
#define SCENE_COUNT (sizeof scenes / sizeof scenes[0])

static cairn_world_def settings_of(const solver_scene *scene) {
    cairn_world_def def = cairn_world_def_default();
    def.solver = scene->solver;
    def.sleep = 0;
    def.body_capacity = def.shape_capacity = scene->large ? 10100 : 512;
    def.contact_capacity = scene->large ? 65536 : 4096;
    return def;
}

// ---- One step by every solver

typedef struct curve {
    double residuals[POINTS_MAX]; // after each iteration
    double seconds[POINTS_MAX];   // since the start
    uint32_t count;
    struct timespec start;
    cairn_trial_result result;
} curve;

static double seconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

static void note_residual(void *context, uint32_t iteration, double residual) {
    curve *c = context;
    c->residuals[iteration - 1] = residual;
    c->count = iteration;
}

static void note_time(void *context, uint32_t iteration, double residual) {
    curve *c = context;
    (void)residual;
    c->seconds[iteration - 1] = seconds_since(&c->start);
    if (iteration == 1) {
        clock_gettime(CLOCK_MONOTONIC, &c->start); // the first one begins with copying the world
        c->seconds[0] = 0.0;
    }
}

// The exact solution is left out for large scenes: Lemke's algorithm would take an hour for it.
static void measure(
    const cairn_world *world, const solver_scene *scene, const contender *method, curve *c) {
    cairn_solver_trial trial = cairn_solver_trial_default();
    trial.solver = method->solver;
    trial.friction_model = method->friction_model;
    trial.over_relaxation = method->over_relaxation;
    trial.symmetric_sweeps = method->symmetric;
    trial.iterations = scene->iterations;
    trial.warm_start = 0;
    trial.context = c;
    trial.observe = note_time;
    bench_require(cairn_world_try_solver(world, &trial, &c->result) == CAIRN_OK, "no memory");
    trial.observe = note_residual;
    trial.residuals = 1;
    trial.exact = method->friction_model != CAIRN_FRICTION_CONE && !scene->large ? 1 : 0;
    bench_require(cairn_world_try_solver(world, &trial, &c->result) == CAIRN_OK, "no memory");
    bench_require(c->count > 0, "a solver that does iterations");
}

// The first iteration with at most this residual; 0 if every residual is larger.
static uint32_t iterations_to(const curve *c, double residual) {
    for (uint32_t i = 0; i < c->count; ++i) {
        if (c->residuals[i] <= residual) {
            return i + 1;
        }
    }
    return 0;
}

static void print_row(const contender *method, const curve *c) {
    const uint32_t good = iterations_to(c, 1e-2);
    const uint32_t last = c->count - 1;
    char to[24] = "-", ms[24] = "-", distance[24] = "-";
    if (good > 0) {
        snprintf(to, sizeof to, "%" PRIu32, good);
        const double each = last > 0 ? c->seconds[last] / (double)last : 0.0;
        snprintf(ms, sizeof ms, "%.3f", 1e3 * each * (double)good);
    }
    if (c->result.exact != 0) {
        snprintf(distance, sizeof distance, "%.2e", c->result.distance);
    }
    printf("  %-15s %9.2e %9.2e %9.2e %9.2e  %6s %9s %10.4f  %s\n", method->name, c->residuals[0],
        c->residuals[9 < last ? 9 : last], c->residuals[49 < last ? 49 : last], c->residuals[last],
        to, ms, last > 0 ? 1e3 * c->seconds[last] / (double)last : 0.0, distance);
}

static void print_winners(const curve *curves) {
    uint32_t fewest = SERIES_MAX, fastest = SERIES_MAX;
    double least = HUGE_VAL, shortest = HUGE_VAL;
    for (uint32_t k = 0; k < SERIES_MAX; ++k) {
        const uint32_t good = iterations_to(&curves[k], 1e-2);
        const uint32_t last = curves[k].count - 1;
        const double time = curves[k].seconds[last] / (double)(last > 0 ? last : 1) * good;
        if (good > 0 && good < least) {
            least = good;
            fewest = k;
        }
        if (good > 0 && time < shortest) {
            shortest = time;
            fastest = k;
        }
    }
    if (fewest < SERIES_MAX) {
        printf("  to 1 cm/s: fewest iterations %s, least time %s\n", contenders[fewest].name,
            contenders[fastest].name);
    } else {
        printf("  to 1 cm/s: none\n");
    }
}

static void write_csv(FILE *csv, const solver_scene *scene, const curve *curves) {
    for (uint32_t k = 0; csv != NULL && k < SERIES_MAX; ++k) {
        for (uint32_t i = 0; i < curves[k].count; ++i) {
            fprintf(csv, "%s,%s,%" PRIu32 ",%.6g,%.6g\n", scene->name, contenders[k].name, i + 1,
                curves[k].seconds[i], curves[k].residuals[i]);
        }
    }
}

static void run_scene(const solver_scene *scene, curve *curves, FILE *csv) {
    const cairn_world_def def = settings_of(scene);
    cairn_world *world = NULL;
    bench_require(cairn_world_create(&def, &world) == CAIRN_OK, "no memory for a world");
    scene->build(world);
    for (uint32_t i = 0; i < scene->ticks; ++i) {
        cairn_world_step(world, NULL, 0);
    }
    for (uint32_t k = 0; k < SERIES_MAX; ++k) {
        measure(world, scene, &contenders[k], &curves[k]);
    }
    printf("%s: %s, %" PRIu32 " rows\n", scene->name, scene->what, curves[0].result.rows);
    printf("  %-15s %9s %9s %9s %9s  %6s %9s %10s  %s\n", "residual, m/s", "after 1", "10", "50",
        "all", "to .01", "in ms", "ms each", "m/s from exact");
    for (uint32_t k = 0; k < SERIES_MAX; ++k) {
        print_row(&contenders[k], &curves[k]);
    }
    print_winners(curves);
    write_csv(csv, scene, curves);
    cairn_world_destroy(world);
    fflush(stdout);
}

// ---- The plot: two panels for each scene, by iterations and by time

static bool write_chart(
    const char *path, const uint32_t *which, uint32_t count, curve (*curves)[SERIES_MAX]) {
    static bench_line lines[SCENES_MAX][2][SERIES_MAX];
    static double iterations[POINTS_MAX], ms[SCENES_MAX][SERIES_MAX][POINTS_MAX];
    bench_panel panels[2 * SCENES_MAX];
    for (uint32_t i = 0; i < POINTS_MAX; ++i) {
        iterations[i] = (double)i + 1.0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        for (uint32_t k = 0; k < SERIES_MAX; ++k) {
            const curve *c = &curves[i][k];
            for (uint32_t m = 0; m < c->count; ++m) {
                ms[i][k][m] = 1e3 * c->seconds[m];
            }
            for (uint32_t by = 0; by < 2; ++by) {
                lines[i][by][k] = (bench_line){.name = contenders[k].name,
                    .x = by == 0 ? iterations : ms[i][k],
                    .y = c->residuals,
                    .count = c->count};
            }
        }
        for (uint32_t by = 0; by < 2; ++by) {
            panels[2 * i + by] = (bench_panel){.title = scenes[which[i]].name,
                .x_title = by == 0 ? "iterations; residual in m/s" : "ms; residual in m/s",
                .lines = lines[i][by],
                .line_count = SERIES_MAX};
        }
    }
    return bench_solvers_chart(path, panels, 2 * count);
}

// ---- Section 9 of Catto 2005

static const char *const solver_names[] = {
    "soft step", "PGS", "direct", "PSOR", "split", "gradient", "MPRGP", "APGD"};

typedef struct stack_result {
    uint32_t fell_at; // tick; 0: it stands
    double residual;  // m/s, mean over the steps while it stood
} stack_result;

static stack_result run_stack(
    uint32_t solver, int boxes, float bottom, uint32_t warm, uint32_t ticks) {
    cairn_world_def def = cairn_world_def_default();
    cairn_world *world = NULL;
    stack_result out = {.fell_at = 0};
    def.solver = solver;
    def.friction_model = CAIRN_FRICTION_CONSTANT;
    def.gravity = bench_at(0.0f, -9.8f, 0.0f);
    def.baumgarte = 0.05f;
    def.warm_start = warm;
    def.sleep = 0;
    def.body_capacity = def.shape_capacity = 32;
    def.contact_capacity = 64;
    bench_require(cairn_world_create(&def, &world) == CAIRN_OK, "no memory for a world");
    build_table_stack(world, boxes, bottom);
    uint32_t tick = 0;
    while (tick < ticks && out.fell_at == 0) {
        cairn_measure step;
        cairn_body_state top;
        bench_require(cairn_world_step_measured(world, NULL, 0, 0, &step) == CAIRN_OK, "no memory");
        tick += 1;
        out.residual += step.residual;
        const cairn_body_id last = (cairn_body_id)(boxes + 1);
        bench_require(cairn_body_read(world, last, &top) == CAIRN_OK, "a box is missing");
        out.fell_at = top.position.y > ((float)boxes - 0.75f) * 0.35f ? 0 : tick;
    }
    out.residual /= (double)tick;
    cairn_world_destroy(world);
    return out;
}

static void print_catto(void) {
    static const struct {
        const char *what;
        int boxes;
        float bottom;
        uint32_t warm, ticks;
    } rows[] = {{"10, cache", 10, 1.0f, 1, 300}, {"10, none", 10, 1.0f, 0, 300},
        {"3, cache", 3, 1.0f, 1, 300}, {"3, none", 3, 1.0f, 0, 8400}, {"2: 10 %", 2, 0.1f, 1, 300},
        {"2: 3 %", 2, 0.03f, 1, 300}, {"2: 1 %", 2, 0.01f, 1, 300},
        {"2: 1 %, none", 2, 0.01f, 0, 300}};
    printf("\nCatto 2005, section 9: the tick at which a stack fell (-: it stands), and the mean "
           "residual of its steps, m/s\n%-13s",
        "boxes");
    for (uint32_t solver = 0; solver < sizeof solver_names / sizeof *solver_names; ++solver) {
        printf(" %15s", solver_names[solver]);
    }
    putchar('\n');
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        printf("%-13s", rows[i].what);
        for (uint32_t solver = 0; solver < sizeof solver_names / sizeof *solver_names; ++solver) {
            // Two minutes and more are for the solver of the paper.
            const uint32_t ticks =
                rows[i].ticks > 300 && solver != CAIRN_SOLVER_PGS ? 600 : rows[i].ticks;
            const stack_result r =
                run_stack(solver, rows[i].boxes, rows[i].bottom, rows[i].warm, ticks);
            char cell[24];
            snprintf(cell, sizeof cell, "%" PRIu32, r.fell_at);
            printf(" %6s %.2e", r.fell_at == 0 ? "-" : cell, r.residual);
            fflush(stdout);
        }
        putchar('\n');
    }
}

bool bench_solvers_have_scene(const char *name) {
    size_t i = 0;
    while (i < SCENE_COUNT && strcmp(scenes[i].name, name) != 0) {
        ++i;
    }
    return i < SCENE_COUNT;
}

bool bench_solvers(const char *names, const char *csv_path, const char *chart) {
    static curve curves[SCENES_MAX][SERIES_MAX];
    uint32_t which[SCENES_MAX];
    uint32_t count = 0;
    FILE *csv = csv_path != NULL ? fopen(csv_path, "w") : NULL;
    if (csv_path != NULL && csv == NULL) {
        fprintf(stderr, "bench: --csv %s: cannot be written\n", csv_path);
        return false;
    }
    if (csv != NULL) {
        fputs("scene,solver,iteration,seconds,residual\n", csv);
    }
    for (uint32_t i = 0; i < SCENE_COUNT; ++i) {
        if (names == NULL ? !scenes[i].large : bench_is_listed(names, scenes[i].name)) {
            run_scene(&scenes[i], curves[count], csv);
            which[count++] = i;
        }
    }
    if (names == NULL) {
        print_catto();
    }
    if (csv != NULL) {
        fclose(csv);
    }
    if (chart != NULL && count > 0 && !write_chart(chart, which, count, curves)) {
        fprintf(stderr, "bench: --chart %s: cannot be written\n", chart);
        return false;
    }
    return true;
}
