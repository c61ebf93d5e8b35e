// SPDX-License-Identifier: MIT

// What a step and each operation on the state cost. Every scene is run several times, and once
// before that for nobody; a figure is the median of the runs, with the least and the greatest.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench_scenes.h"
#include "bench/samples.h"
#include "tools/flags.h"
#include "tools/system.h"

#define RUNS_MAX 99
// Operations on the state are timed this often in each run, after its last step.
#define STATE_REPEATS 25

typedef struct options {
    const bench_scene *scene; // NULL: all
    uint64_t steps;           // 0: as many as the scene has
    uint64_t runs;
    bool help;
} options;

// What is told of one run.
typedef enum figure {
    FIGURE_STEP_MEAN,
    FIGURE_STEP_MEDIAN,
    FIGURE_STEP_MAX,
    FIGURE_SAVE,
    FIGURE_LOAD,
    FIGURE_HASH,
    FIGURE_ENCODE,
    FIGURE_DECODE,
    FIGURE_COUNT
} figure;

static const char *const figure_names[FIGURE_COUNT] = {
    [FIGURE_STEP_MEAN] = "step, mean",
    [FIGURE_STEP_MEDIAN] = "step, median",
    [FIGURE_STEP_MAX] = "step, max",
    [FIGURE_SAVE] = "save",
    [FIGURE_LOAD] = "load",
    [FIGURE_HASH] = "full hash",
    [FIGURE_ENCODE] = "encode",
    [FIGURE_DECODE] = "decode",
};

typedef struct run_result {
    double figures_us[FIGURE_COUNT];
    cairn_world_counts counts;
    cairn_hash128 hash;
    size_t saved_size;
    size_t encoded_size;
} run_result;

typedef struct subject {
    cairn_world *world;
    unsigned char *bytes;
    size_t saved_size;
    size_t encoded_size;
    cairn_hash128 hash;
} subject;

typedef void operation(subject *s);

static void require(bool ok, const char *what) {
    if (!ok) {
        fprintf(stderr, "bench: %s\n", what);
        exit(1);
    }
}

static void do_save(subject *s) {
    require(cairn_world_save(s->world, s->bytes, s->saved_size) == s->saved_size, "save failed");
}

static void do_load(subject *s) {
    require(cairn_world_load(s->world, s->bytes, s->saved_size) == CAIRN_OK, "load failed");
}

static void do_hash(subject *s) {
    s->hash = cairn_world_hash_read(s->world).full;
}

static void do_encode(subject *s) {
    require(cairn_world_encode(s->world, s->bytes, s->encoded_size) == s->encoded_size,
        "encode failed");
}

static void do_decode(subject *s) {
    require(
        cairn_world_decode(s->world, s->bytes, s->encoded_size, NULL) == CAIRN_OK, "decode failed");
}

static double time_of(operation *do_it, subject *s) {
    bench_samples times = bench_samples_create(STATE_REPEATS);
    for (int i = 0; i < STATE_REPEATS; ++i) {
        const uint64_t begin_ns = cairn_system_now_ns();
        do_it(s);
        bench_samples_add(&times, cairn_system_now_ns() - begin_ns);
    }
    const bench_summary result = bench_samples_summary(&times);
    bench_samples_destroy(&times);
    return result.median_us;
}

static void time_state(cairn_world *world, run_result *result) {
    subject s = {.world = world,
        .saved_size = cairn_world_save_size(world),
        .encoded_size = cairn_world_encode_size(world)};
    s.bytes = malloc(s.saved_size > s.encoded_size ? s.saved_size : s.encoded_size);
    require(s.bytes != NULL, "no memory for a saved state");
    result->figures_us[FIGURE_SAVE] = time_of(do_save, &s);
    result->figures_us[FIGURE_LOAD] = time_of(do_load, &s);
    result->figures_us[FIGURE_HASH] = time_of(do_hash, &s);
    result->figures_us[FIGURE_ENCODE] = time_of(do_encode, &s);
    result->figures_us[FIGURE_DECODE] = time_of(do_decode, &s);
    result->saved_size = s.saved_size;
    result->encoded_size = s.encoded_size;
    result->hash = s.hash;
    free(s.bytes);
}

static void time_steps(
    const bench_scene *scene, cairn_world *world, uint64_t steps, run_result *result) {
    bench_samples times = bench_samples_create(steps);
    for (uint32_t i = 0; i < scene->warm_up; ++i) {
        bench_scene_step(scene, world);
    }
    for (uint64_t i = 0; i < steps; ++i) {
        const uint64_t begin_ns = cairn_system_now_ns();
        bench_scene_step(scene, world);
        bench_samples_add(&times, cairn_system_now_ns() - begin_ns);
    }
    const bench_summary step = bench_samples_summary(&times);
    bench_samples_destroy(&times);
    result->figures_us[FIGURE_STEP_MEAN] = step.mean_us;
    result->figures_us[FIGURE_STEP_MEDIAN] = step.median_us;
    result->figures_us[FIGURE_STEP_MAX] = step.max_us;
    result->counts = cairn_world_counts_read(world);
}

static run_result run(const bench_scene *scene, uint64_t steps) {
    run_result result = {.saved_size = 0};
    cairn_world *world = bench_scene_create(scene);
    time_steps(scene, world, steps, &result);
    time_state(world, &result);
    cairn_world_destroy(world);
    return result;
}

static void print_head(const bench_scene *scene, uint64_t steps, const run_result *last) {
    const cairn_world_counts *counts = &last->counts;
    char text[CAIRN_HASH_TEXT_SIZE];
    printf("%s: %s\n", scene->name, scene->what);
    printf("  after %" PRIu32 " and %" PRIu64 " steps: %" PRIu32 " bodies, %" PRIu32
           " awake, %" PRIu32 " contacts, %" PRIu32 " points\n",
        scene->warm_up, steps, counts->bodies, counts->bodies_awake, counts->contacts,
        counts->contact_points);
    printf("  saved %zu bytes, encoded %zu bytes, full hash %s\n", last->saved_size,
        last->encoded_size, cairn_hash_print(last->hash, text));
}

static void measure(const bench_scene *scene, const options *chosen) {
    const uint64_t steps = chosen->steps != 0 ? chosen->steps : scene->steps;
    double figures[FIGURE_COUNT][RUNS_MAX];
    run_result last = run(scene, steps);
    for (uint64_t i = 0; i < chosen->runs; ++i) {
        last = run(scene, steps);
        for (int k = 0; k < FIGURE_COUNT; ++k) {
            figures[k][i] = last.figures_us[k];
        }
    }
    print_head(scene, steps, &last);
    if (chosen->runs == 0) {
        return;
    }
    printf("  %-14s %12s %12s %12s\n", "us", "median", "least", "greatest");
    for (int k = 0; k < FIGURE_COUNT; ++k) {
        const bench_spread s = bench_spread_of(figures[k], chosen->runs);
        printf("  %-14s %12.1f %12.1f %12.1f\n", figure_names[k], s.median, s.low, s.high);
    }
    fflush(stdout);
}

static bool read_options(int argc, char **argv, options *out, char error[CAIRN_FLAG_ERROR_SIZE]) {
    const char *scene = NULL;
    const char *steps = "0";
    const char *runs = "5";
    const char *help = NULL;
    const cairn_flag flags[] = {
        {"--scene", "NAME", "one scene alone: cubes901, pyramid or sleepers", &scene},
        {"--steps", "N", "steps of a run, 0: as many as the scene has", &steps},
        {"--runs", "N", "runs after the one for nobody; 0: that one alone, for a profiler", &runs},
        {"--help", NULL, "this text", &help},
    };
    const size_t flag_count = sizeof flags / sizeof flags[0];
    if (!cairn_flags_read(argc, argv, flags, flag_count, NULL, 0, error)) {
        return false;
    }
    out->help = help != NULL;
    if (out->help) {
        cairn_flags_help("bench [--scene NAME] [--steps N] [--runs N]", flags, flag_count);
        return true;
    }
    if (scene != NULL && (out->scene = bench_scene_find(scene)) == NULL) {
        snprintf(error, CAIRN_FLAG_ERROR_SIZE, "there is no scene '%s'", scene);
        return false;
    }
    return cairn_flag_number("--steps", steps, 0, 1000000, &out->steps, error) &&
           cairn_flag_number("--runs", runs, 0, RUNS_MAX, &out->runs, error);
}

int main(int argc, char **argv) {
    options chosen = {.scene = NULL};
    char error[CAIRN_FLAG_ERROR_SIZE];
    if (!read_options(argc, argv, &chosen, error)) {
        fprintf(stderr, "bench: %s\n", error);
        return 2;
    }
    if (chosen.help) {
        return 0;
    }
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        if (chosen.scene == NULL || chosen.scene == &bench_scenes[i]) {
            measure(&bench_scenes[i], &chosen);
        }
    }
    return 0;
}
