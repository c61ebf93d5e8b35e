// SPDX-License-Identifier: MIT

// What a step and each operation on the state cost. Every scene is run for a second of its time for
// nobody, then several times whole; a figure is the median of the runs, with least and greatest.

#include <stdlib.h>
#include <string.h>

#include "bench/kit.h"
#include "bench/report.h"
#include "bench/stability.h"
#include "tools/flags.h"

#define RUNS_MAX 99
#define WARM_UP_STEPS 60
// Numbers of workers that one call can compare.
#define MANNERS_MAX 4

typedef struct options {
    const char *scenes; // letters or names with commas between; NULL: all
    const char *csv;
    const char *chart;
    const char *beside;
    uint64_t steps; // 0: as many as the scene has
    uint64_t runs;
    uint64_t lanes;
    uint64_t workers[MANNERS_MAX];
    uint32_t worker_count; // numbers in the list
    bool profile;
    bool stability;
    bool state; // alone
    bool help;
} options;

typedef struct session {
    const options *chosen;
    char series[MANNERS_MAX][16];
    bench_manner manners[MANNERS_MAX];
    FILE *csv; // NULL: none
    bench_result results[BENCH_RESULTS_MAX];
    uint32_t count;
} session;

// Whether the list of names has this one.
static bool listed(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) {
            return true;
        }
    }
    return false;
}

static bool wanted(const bench_scene *scene, const char *names) {
    return names == NULL || listed(names, scene->letter) || listed(names, scene->name);
}

// Every run of a scene goes the same way, in every manner, or its figures are worth nothing.
static void check_hash(
    const session *s, const bench_scene *scene, const bench_run *before, const bench_run *run) {
    for (uint32_t i = 0; before == NULL && i < s->count; ++i) {
        before = s->results[i].scene == scene ? &s->results[i].last : NULL;
    }
    bench_require(before == NULL || cairn_hash_equal(before->hash, run->hash),
        "two runs of one scene ended differently");
}

static void measure(session *s, const bench_scene *scene, uint32_t which) {
    static double figures[BENCH_FIGURE_COUNT][RUNS_MAX];
    const uint32_t runs = (uint32_t)s->chosen->runs;
    bench_manner manner = s->manners[which];
    bench_result *result = &s->results[s->count];
    *result = (bench_result){.scene = scene, .series = s->series[which], .runs = runs};
    manner.steps = WARM_UP_STEPS;
    bench_measure(scene, &manner);
    manner.steps = s->chosen->steps;
    for (uint32_t i = 0; i < runs; ++i) {
        const bench_run run = bench_measure(scene, &manner);
        for (int k = 0; k < BENCH_FIGURE_COUNT; ++k) {
            figures[k][i] = run.figures[k];
        }
        check_hash(s, scene, i > 0 ? &result->last : NULL, &run);
        result->last = run;
        bench_csv_run(s->csv, result, i + 1, &run);
    }
    for (int k = 0; k < BENCH_FIGURE_COUNT; ++k) {
        result->figures[k] = bench_spread_of(figures[k], runs);
    }
    s->count += 1;
    bench_report_steps(result);
}

static void measure_steps(session *s) {
    bench_report_steps_head();
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        for (uint32_t k = 0; k < s->chosen->worker_count; ++k) {
            if (wanted(&bench_scenes[i], s->chosen->scenes)) {
                measure(s, &bench_scenes[i], k);
            }
        }
    }
    bench_report_stages(s->results, s->count);
}

static void measure_state(session *s) {
    bench_state_figure figures[BENCH_STATE_FIGURES_MAX];
    const uint32_t count = bench_state_measure(figures);
    bench_report_state(figures, count);
    bench_csv_state(s->csv, figures, count);
}

// The steps of the scenes and nothing else.
static void step_for_profiler(const options *chosen) {
    const bench_manner manner = {.steps = chosen->steps, .lanes = (uint32_t)chosen->lanes};
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        if (wanted(&bench_scenes[i], chosen->scenes)) {
            bench_step_alone(&bench_scenes[i], &manner);
        }
    }
}

static void open_manners(session *s) {
    for (uint32_t i = 0; i < s->chosen->worker_count; ++i) {
        const uint32_t workers = (uint32_t)s->chosen->workers[i];
        s->manners[i].lanes = (uint32_t)s->chosen->lanes;
        snprintf(s->series[i], sizeof s->series[i], "%u worker%s", (unsigned)workers,
            workers == 1 ? "" : "s");
        bench_require(workers == 1 || cairn_pool_create(workers, &s->manners[i].pool) == CAIRN_OK,
            "no threads to be had");
    }
}

static void close_manners(session *s) {
    for (uint32_t i = 0; i < s->chosen->worker_count; ++i) {
        cairn_pool_destroy(s->manners[i].pool);
    }
}

static bool run_all(const options *chosen) {
    static session s;
    s.chosen = chosen;
    open_manners(&s);
    if (chosen->csv != NULL) {
        s.csv = fopen(chosen->csv, "w");
        bench_require(s.csv != NULL, "the file of --csv cannot be written");
        bench_csv_head(s.csv);
    }
    if (!chosen->state) {
        measure_steps(&s);
    }
    close_manners(&s);
    if (chosen->scenes == NULL) {
        measure_state(&s);
    }
    if (s.csv != NULL) {
        fclose(s.csv);
    }
    return chosen->chart == NULL || s.count == 0 ||
           bench_report_chart(s.results, s.count, chosen->beside, chosen->chart);
}

static bool known_scenes(const char *names, char error[CAIRN_FLAG_ERROR_SIZE]) {
    for (const char *at = names; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (bench_scene_find(name) == NULL) {
            snprintf(error, CAIRN_FLAG_ERROR_SIZE, "there is no scene '%s'", name);
            return false;
        }
    }
    return true;
}

static bool read_workers(const char *list, options *out, char error[CAIRN_FLAG_ERROR_SIZE]) {
    char number[8];
    for (const char *at = list; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        if (out->worker_count == MANNERS_MAX) {
            snprintf(error, CAIRN_FLAG_ERROR_SIZE, "--workers: at most %d numbers", MANNERS_MAX);
            return false;
        }
        snprintf(number, sizeof number, "%.*s", (int)strcspn(at, ","), at);
        if (!cairn_flag_number("--workers", number, 1, CAIRN_POOL_WORKERS_MAX,
                &out->workers[out->worker_count], error)) {
            return false;
        }
        out->worker_count += 1;
    }
    return true;
}

static bool read_options(int argc, char **argv, options *out, char error[CAIRN_FLAG_ERROR_SIZE]) {
    const char *steps = "0";
    const char *runs = "5";
    const char *workers = "1";
    const char *lanes = getenv("CAIRN_LANES");
    const char *profile = NULL;
    const char *stability = NULL;
    const char *state = NULL;
    const char *help = NULL;
    const cairn_flag flags[] = {
        {"--scenes", "A,C2", "these scenes alone, by letter or name, and no state", &out->scenes},
        {"--steps", "N", "steps of a run; 0: as many as the scene has", &steps},
        {"--runs", "N", "runs after the warm-up", &runs},
        {"--workers", "N,M", "with so many threads; several numbers are compared", &workers},
        {"--lanes", "N", "1, 4, 8 or 16 side by side; 0: the CPU's, or CAIRN_LANES", &lanes},
        {"--csv", "FILE", "every figure of every run", &out->csv},
        {"--chart", "FILE", "the times of a step as an SVG", &out->chart},
        {"--beside", "FILE", "lines 'series,scene,ms' for further bars", &out->beside},
        {"--profile", NULL, "one run without warm-up or figures, for a profiler", &profile},
        {"--state", NULL, "saving, restoring, hashing and stepping again alone", &state},
        {"--stability", NULL, "what stands and how well, instead of what it costs", &stability},
        {"--help", NULL, "this text", &help},
    };
    const size_t flag_count = sizeof flags / sizeof flags[0];
    if (!cairn_flags_read(argc, argv, flags, flag_count, NULL, 0, error)) {
        return false;
    }
    out->profile = profile != NULL;
    out->stability = stability != NULL;
    out->state = state != NULL;
    out->help = help != NULL;
    if (out->help) {
        cairn_flags_help("bench [flags]", flags, flag_count);
        return true;
    }
    lanes = lanes != NULL ? lanes : "0";
    return known_scenes(out->scenes, error) && read_workers(workers, out, error) &&
           cairn_flag_number("--lanes", lanes, 0, 16, &out->lanes, error) &&
           cairn_flag_number("--steps", steps, 0, 1000000, &out->steps, error) &&
           cairn_flag_number("--runs", runs, 1, RUNS_MAX, &out->runs, error);
}

int main(int argc, char **argv) {
    options chosen = {.scenes = NULL};
    char error[CAIRN_FLAG_ERROR_SIZE];
    if (!read_options(argc, argv, &chosen, error)) {
        fprintf(stderr, "bench: %s\n", error);
        return 2;
    }
    if (chosen.help) {
        return 0;
    }
    if (chosen.profile) {
        step_for_profiler(&chosen);
        return 0;
    }
    if (chosen.stability) {
        return bench_stability() ? 0 : 1;
    }
    return run_all(&chosen) ? 0 : 1;
}
