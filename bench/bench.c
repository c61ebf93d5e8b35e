// SPDX-License-Identifier: MIT
// The cost of a step and of each operation on the state. Every scene is warmed up for a second of
// its time and then run several times; a figure is the median of the runs, with least and greatest.

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/figures.h"
#include "bench/kit.h"
#include "bench/queries.h"
#include "bench/report.h"
#include "bench/solvers.h"
#include "bench/stability.h"
#include "program/flags.h"

#define RUNS_MAX 99
#define WARM_UP_STEPS 60
// Numbers of workers that one call compares.
#define EXECUTIONS_MAX 4
#define BUSY_MAX 8

typedef struct options {
    const char *scenes; // letters or names, separated by commas; NULL: all
    const char *csv;
    const char *chart;
    const char *beside;
    uint64_t steps; // 0: as many as the scene has
    uint64_t runs;
    uint64_t lanes;
    uint64_t workers[EXECUTIONS_MAX];
    uint32_t worker_count; // numbers in the list
    uint64_t busy;         // processes that keep processors busy
    bool profile;
    bool stability;
    bool queries;
    bool solvers;
    bool figures;
    bool state; // only
} options;

typedef struct session {
    const options *chosen;
    char series[EXECUTIONS_MAX][16];
    bench_execution executions[EXECUTIONS_MAX];
    FILE *csv; // NULL: none
    bench_result results[BENCH_RESULTS_MAX];
    uint32_t count;
} session;

static bool is_wanted(const bench_scene *scene, const char *names) {
    return names == NULL
               ? scene < bench_scenes + bench_peer_scene_count
               : bench_is_listed(names, scene->letter) || bench_is_listed(names, scene->name);
}

// The runs with different numbers of workers take turns, so that a machine that slows down for a
// while does so for all of them.
static void measure_scene(session *s, const bench_scene *scene) {
    static double figures[EXECUTIONS_MAX][BENCH_FIGURE_COUNT][RUNS_MAX];
    const uint32_t runs = (uint32_t)s->chosen->runs;
    const uint32_t series = s->chosen->worker_count;
    bench_result *results = &s->results[s->count];
    bench_require(s->count + series <= BENCH_RESULTS_MAX, "too many results");
    for (uint32_t k = 0; k < series; ++k) {
        results[k] = (bench_result){.scene = scene, .series = s->series[k], .runs = runs};
        bench_execution warm_up = s->executions[k];
        warm_up.steps = WARM_UP_STEPS;
        bench_measure(scene, &warm_up);
    }
    for (uint32_t i = 0; i < runs * series; ++i) {
        const uint32_t k = i % series;
        bench_execution execution = s->executions[k];
        execution.steps = s->chosen->steps;
        const bench_run run = bench_measure(scene, &execution);
        for (int figure = 0; figure < BENCH_FIGURE_COUNT; ++figure) {
            figures[k][figure][i / series] = run.figures[figure];
        }
        // Every run of a scene must reach the same state, however it is executed; otherwise the
        // figures are not comparable.
        bench_require(i == 0 || cairn_hash_equal(results[0].last.hash, run.hash),
            "two runs of one scene ended differently");
        results[k].last = run;
        bench_csv_run(s->csv, &results[k], i / series + 1, &run);
    }
    for (uint32_t k = 0; k < series; ++k) {
        for (int figure = 0; figure < BENCH_FIGURE_COUNT; ++figure) {
            results[k].figures[figure] = bench_spread_of(figures[k][figure], runs);
        }
        bench_report_steps(&results[k], &results[0]);
    }
    s->count += series;
}

static void measure_steps(session *s) {
    bench_report_steps_head();
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        if (is_wanted(&bench_scenes[i], s->chosen->scenes)) {
            measure_scene(s, &bench_scenes[i]);
        }
    }
    bench_report_stages(s->results, s->count);
}

// Only the steps of the scenes.
static void step_for_profiler(const options *chosen) {
    const bench_execution execution = {.steps = chosen->steps, .lanes = (uint32_t)chosen->lanes};
    for (uint32_t i = 0; i < bench_scene_count; ++i) {
        if (is_wanted(&bench_scenes[i], chosen->scenes)) {
            bench_step_alone(&bench_scenes[i], &execution);
        }
    }
}

static void start_workers(session *s) {
    for (uint32_t i = 0; i < s->chosen->worker_count; ++i) {
        const uint32_t workers = (uint32_t)s->chosen->workers[i];
        s->executions[i].lanes = (uint32_t)s->chosen->lanes;
        snprintf(s->series[i], sizeof s->series[i], "%u worker%s", (unsigned)workers,
            workers == 1 ? "" : "s");
        bench_require(
            workers == 1 || cairn_pool_create(workers, &s->executions[i].pool) == CAIRN_OK,
            "no threads can be started");
    }
}

// Processes that compute until they or this one are ended: they take processors from the workers.
static void start_busy_processes(uint32_t count, pid_t *out) {
    const pid_t parent = getpid();
    for (uint32_t i = 0; i < count; ++i) {
        out[i] = fork();
        bench_require(out[i] >= 0, "no process can be started");
        if (out[i] == 0) {
            volatile uint32_t k = 0;
            while (++k % (1u << 24) != 0 || getppid() == parent) {}
            _exit(0);
        }
    }
}

static void end_busy_processes(uint32_t count, const pid_t *processes) {
    for (uint32_t i = 0; i < count; ++i) {
        kill(processes[i], SIGKILL);
        waitpid(processes[i], NULL, 0);
    }
}

static bool run_all(const options *chosen) {
    static session s;
    pid_t busy[BUSY_MAX];
    s.chosen = chosen;
    start_busy_processes((uint32_t)chosen->busy, busy);
    start_workers(&s);
    if (chosen->csv != NULL) {
        s.csv = fopen(chosen->csv, "w");
        bench_require(s.csv != NULL, "--csv: the file cannot be written");
        fputs("scene,series,run,figure,unit,value\n", s.csv);
    }
    if (!chosen->state) {
        measure_steps(&s);
    }
    end_busy_processes((uint32_t)chosen->busy, busy);
    for (uint32_t i = 0; i < chosen->worker_count; ++i) {
        cairn_pool_destroy(s.executions[i].pool);
    }
    if (chosen->scenes == NULL) {
        bench_state_figure figures[BENCH_STATE_FIGURES_MAX];
        const uint32_t count = bench_state_measure(figures);
        bench_report_state(figures, count);
        bench_csv_state(s.csv, figures, count);
    }
    if (s.csv != NULL) {
        fclose(s.csv);
    }
    return chosen->chart == NULL || s.count == 0 ||
           bench_report_chart(s.results, s.count, chosen->beside, chosen->chart);
}

static const char *read_scenes(void *out, const char *value, bool first) {
    (void)first;
    for (const char *at = value; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (bench_scene_find(name) == NULL && !bench_solvers_have_scene(name)) {
            return "must be letters or names of scenes, separated by commas, such as A,C2";
        }
    }
    *(const char **)out = value;
    return NULL;
}

static const char *read_workers(void *out, const char *value, bool first) {
    options *o = out;
    o->worker_count = first ? 0 : o->worker_count;
    for (const char *at = value; at != NULL; at = strchr(at, ',')) {
        at += *at == ',' ? 1 : 0;
        char number[8], error[CAIRN_FLAGS_ERROR_SIZE];
        snprintf(number, sizeof number, "%.*s", (int)strcspn(at, ","), at);
        if (o->worker_count == EXECUTIONS_MAX ||
            !cairn_flags_number(
                "", number, 1, CAIRN_POOL_WORKERS_MAX, &o->workers[o->worker_count], error)) {
            return "must be one to four numbers of threads, separated by commas, such as 1,2";
        }
        o->worker_count += 1;
    }
    return NULL;
}

static cairn_flags_result read_options(int argc, char **argv, options *out) {
    const cairn_flag flags[] = {
        {"--scenes", NULL, "A,C2", "only these scenes, by letter or name, and no state",
            CAIRN_FLAG_CUSTOM, .out = &out->scenes, .read = read_scenes},
        {"--steps", NULL, "N", "steps of a run (0: as many as the scene has)", CAIRN_FLAG_U64,
            .out = &out->steps, .most = 1000000},
        {"--runs", NULL, "N", "runs after the warm-up (5)", CAIRN_FLAG_U64, .out = &out->runs,
            .least = 1, .most = RUNS_MAX},
        {"--workers", NULL, "N,M", "threads; several numbers are compared (1)", CAIRN_FLAG_CUSTOM,
            .out = out, .read = read_workers},
        {"--busy", NULL, "N", "processes that take processor time from the workers (0)",
            CAIRN_FLAG_U64, .out = &out->busy, .most = BUSY_MAX},
        {"--lanes", "CAIRN_LANES", "N", "SIMD width: 1, 4, 8 or 16 (0: the CPU's)", CAIRN_FLAG_U64,
            .out = &out->lanes, .most = 16},
        {"--csv", NULL, "FILE", "write every figure of every run", CAIRN_FLAG_TEXT,
            .out = &out->csv},
        {"--chart", NULL, "FILE", "draw the times of a step as an SVG", CAIRN_FLAG_TEXT,
            .out = &out->chart},
        {"--beside", NULL, "FILE", "lines 'series,scene,ms' for further bars of the chart",
            CAIRN_FLAG_TEXT, .out = &out->beside},
        {"--profile", NULL, NULL, "one run without warm-up or figures, for a profiler",
            CAIRN_FLAG_SWITCH, .out = &out->profile},
        {"--state", NULL, NULL, "only saving, restoring, hashing and stepping again",
            CAIRN_FLAG_SWITCH, .out = &out->state},
        {"--stability", NULL, NULL, "measure how well piles and joints hold instead",
            CAIRN_FLAG_SWITCH, .out = &out->stability},
        {"--queries", NULL, NULL, "measure rays, overlaps and casts beside their targets instead",
            CAIRN_FLAG_SWITCH, .out = &out->queries},
        {"--solvers", NULL, NULL,
            "compare the laboratory's solvers instead; --scenes: stack, heavy, chain, wall, "
            "debris, pile",
            CAIRN_FLAG_SWITCH, .out = &out->solvers},
        {"--figures", NULL, NULL,
            "compare a humanoid in joint coordinates with one of ordinary hinges instead; --steps: "
            "on the ground (3600)",
            CAIRN_FLAG_SWITCH, .out = &out->figures},
    };
    cairn_flags_program program = {.name = "bench",
        .usage = "[FLAGS]",
        .about = "Measures what steps of the benchmark's scenes and operations on the state cost.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    return cairn_flags_read(&program, argc, argv, NULL);
}

int main(int argc, char **argv) {
    options chosen = {.runs = 5, .workers = {1}, .worker_count = 1};
    const cairn_flags_result result = read_options(argc, argv, &chosen);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? 2 : 0;
    }
    if (chosen.profile) {
        step_for_profiler(&chosen);
        return 0;
    }
    if (chosen.stability) {
        return bench_stability() ? 0 : 1;
    }
    if (chosen.queries) {
        return bench_queries() ? 0 : 1;
    }
    if (chosen.solvers) {
        return bench_solvers(chosen.scenes, chosen.csv, chosen.chart) ? 0 : 1;
    }
    if (chosen.figures) {
        return bench_figures(chosen.steps) ? 0 : 1;
    }
    return run_all(&chosen) ? 0 : 1;
}
