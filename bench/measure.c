// SPDX-License-Identifier: MIT
#include "bench/measure.h"

#include <stdlib.h>
#include <time.h>

#include "bench/kit.h"
#include "program/system.h"

// The world's bodies and contacts are counted once per this many steps, outside the measured time.
#define COUNT_EVERY 10
// Steps after the run, each followed by one timed hash.
#define HASHED_STEPS 9

const char *const bench_figure_names[BENCH_FIGURE_COUNT] = {[BENCH_STEP_MEAN] = "mean",
    [BENCH_STEP_MEDIAN] = "median",
    [BENCH_STEP_P99] = "p99",
    [BENCH_STEP_MAX] = "max",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_RULES] = "rules",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_PAIRS] = "pairs",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_COLLIDE] = "collide",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_ISLANDS] = "islands",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_PREPARE] = "prepare",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_SOLVE] = "solve",
    [BENCH_STAGE_FIRST + CAIRN_STAGE_INTEGRATE] = "integrate",
    [BENCH_STAGE_REST] = "rest",
    [BENCH_HASH] = "hash",
    [BENCH_CPU_MAIN] = "cpu main",
    [BENCH_CPU_ALL] = "cpu all",
    [BENCH_AWAKE] = "awake",
    [BENCH_CONTACTS] = "contacts",
    [BENCH_POINTS] = "points"};

static int compare_figures(const void *a, const void *b) {
    const double first = *(const double *)a;
    const double second = *(const double *)b;
    return (first > second) - (first < second);
}

bench_spread bench_spread_of(double *figures, size_t count) {
    qsort(figures, count, sizeof *figures, compare_figures);
    return (bench_spread){
        .median = figures[count / 2], .low = figures[0], .high = figures[count - 1]};
}

// The time of each stage. The probe reports the end of a stage; the mark is the end of the last
// one.
typedef struct stage_clock {
    uint64_t mark_ns;
    uint64_t spent_ns[CAIRN_STAGE_COUNT];
} stage_clock;

static void note_stage(void *context, uint32_t stage) {
    stage_clock *clock = context;
    const uint64_t now_ns = cairn_monotonic_ns();
    clock->spent_ns[stage] += now_ns - clock->mark_ns;
    clock->mark_ns = now_ns;
}

static void keep_times(
    bench_run *run, double *times_us, uint64_t steps, const uint64_t *stages_ns) {
    double *figures = run->figures;
    double sum_us = 0.0;
    for (uint64_t i = 0; i < steps; ++i) {
        sum_us += times_us[i];
    }
    const bench_spread spread = bench_spread_of(times_us, steps);
    figures[BENCH_STEP_MEAN] = sum_us / (double)steps;
    figures[BENCH_STEP_MEDIAN] = spread.median;
    figures[BENCH_STEP_P99] = times_us[steps * 99 / 100];
    figures[BENCH_STEP_MAX] = spread.high;
    figures[BENCH_STAGE_REST] = figures[BENCH_STEP_MEAN];
    for (int i = 0; i < CAIRN_STAGE_COUNT; ++i) {
        figures[BENCH_STAGE_FIRST + i] = (double)stages_ns[i] / (double)steps / 1e3;
        figures[BENCH_STAGE_REST] -= figures[BENCH_STAGE_FIRST + i];
    }
}

// Processor time does not count while another process has the processor, so it can be compared on a
// machine that is busy.
static double cpu_us(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void time_steps(
    const bench_scene *scene, cairn_world *world, uint64_t steps, bench_run *run) {
    double *times_us = calloc(steps, sizeof *times_us);
    bench_require(times_us != NULL, "no memory for the times of the steps");
    stage_clock clock = {.mark_ns = 0};
    const double count = (double)((steps + COUNT_EVERY - 1) / COUNT_EVERY);
    cairn_world_set_stage_probe(world, note_stage, &clock);
    for (uint64_t i = 0; i < steps; ++i) {
        if (i % COUNT_EVERY == 0) {
            const cairn_world_counts counts = cairn_world_counts_read(world);
            run->figures[BENCH_AWAKE] += counts.bodies_awake / count;
            run->figures[BENCH_CONTACTS] += counts.contacts / count;
            run->figures[BENCH_POINTS] += counts.contact_points / count;
        }
        bench_scene_disturb(scene, world);
        const double main_us = cpu_us(CLOCK_THREAD_CPUTIME_ID);
        const double all_us = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
        const uint64_t begin_ns = cairn_monotonic_ns();
        clock.mark_ns = begin_ns;
        cairn_world_step(world, NULL, 0);
        times_us[i] = (double)(cairn_monotonic_ns() - begin_ns) / 1e3;
        run->figures[BENCH_CPU_MAIN] += (cpu_us(CLOCK_THREAD_CPUTIME_ID) - main_us) / (double)steps;
        run->figures[BENCH_CPU_ALL] += (cpu_us(CLOCK_PROCESS_CPUTIME_ID) - all_us) / (double)steps;
    }
    cairn_world_set_stage_probe(world, NULL, NULL);
    keep_times(run, times_us, steps, clock.spent_ns);
    free(times_us);
}

// Each hash follows a step, so that it may use its cache as in a real run.
static void time_hashes(const bench_scene *scene, cairn_world *world, bench_run *run) {
    double times_us[HASHED_STEPS];
    for (int i = 0; i < HASHED_STEPS; ++i) {
        bench_scene_step(scene, world);
        const uint64_t begin_ns = cairn_monotonic_ns();
        run->hash = cairn_world_hash_read(world).visible;
        times_us[i] = (double)(cairn_monotonic_ns() - begin_ns) / 1e3;
    }
    run->figures[BENCH_HASH] = bench_spread_of(times_us, HASHED_STEPS).median;
}

static cairn_world *create_world(const bench_scene *scene, const bench_execution *execution) {
    cairn_world *world = bench_scene_create(scene);
    bool ok = cairn_world_set_lanes(world, execution->lanes) == CAIRN_OK;
    if (execution->pool != NULL) {
        const cairn_parallel parallel = {.context = execution->pool,
            .workers = cairn_pool_workers(execution->pool),
            .run = cairn_pool_parallel,
            .wait = cairn_pool_wait};
        ok = ok && cairn_world_set_parallel(world, &parallel) == CAIRN_OK;
    }
    bench_require(ok, "the world cannot be stepped with these settings");
    return world;
}

// A function of its own: `./dev bench --instructions` counts what is done in it, and not the steps
// of the warm-up.
__attribute__((noinline)) static void step_after_warm_up(
    const bench_scene *scene, cairn_world *world, uint64_t steps) {
    for (uint64_t i = 0; i < steps; ++i) {
        bench_scene_step(scene, world);
    }
}

void bench_step_alone(const bench_scene *scene, const bench_execution *execution) {
    cairn_world *world = create_world(scene, execution);
    step_after_warm_up(scene, world, execution->steps != 0 ? execution->steps : scene->steps);
    cairn_world_destroy(world);
}

bench_run bench_measure(const bench_scene *scene, const bench_execution *execution) {
    bench_run run = {.bodies = 0};
    cairn_world *world = create_world(scene, execution);
    time_steps(scene, world, execution->steps != 0 ? execution->steps : scene->steps, &run);
    run.bodies = cairn_world_counts_read(world).bodies;
    run.counters = cairn_world_counters_read(world);
    time_hashes(scene, world, &run);
    cairn_world_destroy(world);
    return run;
}
