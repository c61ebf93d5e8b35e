// SPDX-License-Identifier: MIT
#include "bench/report.h"

#include <stdlib.h>
#include <string.h>

#include "bench/chart.h"

#define NAME_SIZE 32

typedef struct table {
    char series[BENCH_CHART_SERIES_MAX][NAME_SIZE];
    uint32_t series_count;
    const bench_scene *scenes[BENCH_RESULTS_MAX];
    uint32_t scene_count;
    bench_bar cells[BENCH_RESULTS_MAX][BENCH_CHART_SERIES_MAX];
} table;

// The column of that name, made when it is new; as many as there can be: no room.
static uint32_t series_of(table *t, const char *name) {
    uint32_t i = 0;
    while (i < t->series_count && strcmp(t->series[i], name) != 0) {
        ++i;
    }
    if (i == t->series_count && i < BENCH_CHART_SERIES_MAX) {
        snprintf(t->series[i], NAME_SIZE, "%s", name);
        t->series_count += 1;
    }
    return i;
}

static uint32_t scene_of(table *t, const bench_scene *scene) {
    uint32_t i = 0;
    while (i < t->scene_count && t->scenes[i] != scene) {
        ++i;
    }
    if (i == t->scene_count) {
        t->scenes[i] = scene;
        t->scene_count += 1;
    }
    return i;
}

static void put_results(table *t, const bench_result *results, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const bench_spread *mean = &results[i].figures[BENCH_STEP_MEAN];
        const uint32_t series = series_of(t, results[i].series);
        if (series < BENCH_CHART_SERIES_MAX) {
            t->cells[scene_of(t, results[i].scene)][series] = (bench_bar){
                .value = mean->median / 1e3, .low = mean->low / 1e3, .high = mean->high / 1e3};
        }
    }
}

// Of scenes that were not run here nothing is shown.
static void put_other(table *t, char *line) {
    char *scene = strchr(line, ',');
    char *value = scene != NULL ? strchr(scene + 1, ',') : NULL;
    if (value == NULL) {
        return;
    }
    *scene = '\0';
    *value = '\0';
    const double time_ms = strtod(value + 1, NULL);
    for (uint32_t i = 0; i < t->scene_count; ++i) {
        if (strcmp(t->scenes[i]->letter, scene + 1) == 0) {
            const uint32_t series = series_of(t, line);
            if (series < BENCH_CHART_SERIES_MAX) {
                t->cells[i][series] =
                    (bench_bar){.value = time_ms, .low = time_ms, .high = time_ms};
            }
        }
    }
}

static bool put_others(table *t, const char *path) {
    FILE *file = fopen(path, "r");
    char line[256];
    if (file == NULL) {
        fprintf(stderr, "bench: %s cannot be read\n", path);
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        put_other(t, line);
    }
    fclose(file);
    return true;
}

static bool draw(const table *t, const char *path) {
    char labels[BENCH_RESULTS_MAX][NAME_SIZE];
    const char *groups[BENCH_RESULTS_MAX];
    bench_bar bars[BENCH_RESULTS_MAX * BENCH_CHART_SERIES_MAX];
    bench_chart chart = {.title = "Time of a step",
        .note = "ms, mean over the scene: median of the runs, with least and greatest; "
                "each scene has its own scale",
        .unit = "ms",
        .series_count = t->series_count,
        .group_count = t->scene_count,
        .groups = groups,
        .bars = bars};
    for (uint32_t i = 0; i < t->series_count; ++i) {
        chart.series[i] = t->series[i];
    }
    for (uint32_t i = 0; i < t->scene_count; ++i) {
        snprintf(labels[i], NAME_SIZE, "%s  %s", t->scenes[i]->letter, t->scenes[i]->name);
        groups[i] = labels[i];
        memcpy(&bars[i * t->series_count], t->cells[i], t->series_count * sizeof bars[0]);
    }
    return bench_chart_write(&chart, path);
}

bool bench_report_chart(
    const bench_result *results, uint32_t count, const char *beside, const char *path) {
    table t = {.series_count = 0};
    put_results(&t, results, count);
    if (beside != NULL && !put_others(&t, beside)) {
        return false;
    }
    const bool ok = draw(&t, path);
    if (!ok) {
        fprintf(stderr, "bench: %s cannot be written\n", path);
    }
    return ok;
}
