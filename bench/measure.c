// SPDX-License-Identifier: MIT
#include "bench/measure.h"

#include "bench/kit.h"
#include "bench/samples.h"
#include "program/system.h"

// The world's bodies and contacts are counted once per this many steps, outside the measured time.
#define COUNT_EVERY 10
// Steps after the run, each followed by one timed hash.
#define HASHED_STEPS 9

static const char *const names[BENCH_FIGURE_COUNT] = {[BENCH_STEP_MEAN] = "mean",
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
    [BENCH_AWAKE] = "awake",
    [BENCH_CONTACTS] = "contacts",
    [BENCH_POINTS] = "points"};

const char *bench_figure_name(bench_figure figure) {
    return names[figure];
}

const char *bench_figure_unit(bench_figure figure) {
    return figure < BENCH_AWAKE ? "us" : "";
}

// The stage that the time since the last mark belongs to.
typedef struct stage_clock {
    uint64_t mark_ns;
    uint64_t spent_ns[CAIRN_STAGE_COUNT];
} stage_clock;

static void note_stage(void *context, uint32_t stage) {
    stage_clock *clock = context;
    const uint64_t now_ns = cairn_system_now_ns();
    clock->spent_ns[stage] += now_ns - clock->mark_ns;
    clock->mark_ns = now_ns;
}

typedef struct counted {
    double awake;
    double contacts;
    double points;
    uint32_t times;
} counted;

static void count(counted *c, const cairn_world *world) {
    const cairn_world_counts counts = cairn_world_counts_read(world);
    c->awake += counts.bodies_awake;
    c->contacts += counts.contacts;
    c->points += counts.contact_points;
    c->times += 1;
}

static void keep_counts(bench_run *run, const counted *c) {
    run->figures[BENCH_AWAKE] = c->awake / c->times;
    run->figures[BENCH_CONTACTS] = c->contacts / c->times;
    run->figures[BENCH_POINTS] = c->points / c->times;
}

static void keep_times(
    bench_run *run, bench_samples *times, const stage_clock *clock, uint64_t steps) {
    const bench_summary step = bench_samples_summary(times);
    double rest_us = step.mean_us;
    run->figures[BENCH_STEP_MEAN] = step.mean_us;
    run->figures[BENCH_STEP_MEDIAN] = step.median_us;
    run->figures[BENCH_STEP_P99] = step.p99_us;
    run->figures[BENCH_STEP_MAX] = step.max_us;
    for (int i = 0; i < CAIRN_STAGE_COUNT; ++i) {
        const double stage_us = (double)clock->spent_ns[i] / (double)steps / 1e3;
        run->figures[BENCH_STAGE_FIRST + i] = stage_us;
        rest_us -= stage_us;
    }
    run->figures[BENCH_STAGE_REST] = rest_us;
}

static void time_steps(
    const bench_scene *scene, cairn_world *world, uint64_t steps, bench_run *run) {
    bench_samples times = bench_samples_create(steps);
    stage_clock clock = {.mark_ns = 0};
    counted seen = {.times = 0};
    cairn_world_set_stage_probe(world, note_stage, &clock);
    for (uint64_t i = 0; i < steps; ++i) {
        if (i % COUNT_EVERY == 0) {
            count(&seen, world);
        }
        bench_scene_disturb(scene, world);
        const uint64_t begin_ns = cairn_system_now_ns();
        clock.mark_ns = begin_ns;
        cairn_world_step(world, NULL, 0);
        bench_samples_add(&times, cairn_system_now_ns() - begin_ns);
    }
    cairn_world_set_stage_probe(world, NULL, NULL);
    keep_counts(run, &seen);
    keep_times(run, &times, &clock, steps);
    bench_samples_destroy(&times);
}

// Each hash follows a step, so that it may use its cache as in a real run.
static void time_hashes(const bench_scene *scene, cairn_world *world, bench_run *run) {
    bench_samples times = bench_samples_create(HASHED_STEPS);
    for (int i = 0; i < HASHED_STEPS; ++i) {
        bench_scene_disturb(scene, world);
        cairn_world_step(world, NULL, 0);
        const uint64_t begin_ns = cairn_system_now_ns();
        run->hash = cairn_world_hash_read(world).visible;
        bench_samples_add(&times, cairn_system_now_ns() - begin_ns);
    }
    run->figures[BENCH_HASH] = bench_samples_summary(&times).median_us;
    bench_samples_destroy(&times);
}

static uint64_t steps_of(const bench_scene *scene, const bench_execution *execution) {
    return execution->steps != 0 ? execution->steps : scene->steps;
}

static cairn_world *create(const bench_scene *scene, const bench_execution *execution) {
    cairn_world *world = bench_scene_create(scene);
    bool ok = cairn_world_set_lanes(world, execution->lanes) == CAIRN_OK;
    if (execution->pool != NULL) {
        const cairn_parallel parallel = {.context = execution->pool,
            .workers = cairn_pool_workers(execution->pool),
            .run = cairn_pool_parallel};
        ok = ok && cairn_world_set_parallel(world, &parallel) == CAIRN_OK;
    }
    bench_require(ok, "the world cannot be stepped with these settings");
    return world;
}

void bench_step_alone(const bench_scene *scene, const bench_execution *execution) {
    const uint64_t steps = steps_of(scene, execution);
    cairn_world *world = create(scene, execution);
    for (uint64_t i = 0; i < steps; ++i) {
        bench_scene_disturb(scene, world);
        cairn_world_step(world, NULL, 0);
    }
    cairn_world_destroy(world);
}

bench_run bench_measure(const bench_scene *scene, const bench_execution *execution) {
    const uint64_t steps = steps_of(scene, execution);
    bench_run run = {.bodies = 0};
    cairn_world *world = create(scene, execution);
    bench_scene_warm_up(scene, world);
    time_steps(scene, world, steps, &run);
    run.bodies = cairn_world_counts_read(world).bodies;
    run.counters = cairn_world_counters_read(world);
    time_hashes(scene, world, &run);
    cairn_world_destroy(world);
    return run;
}
