// SPDX-License-Identifier: MIT
// For popen.
#define _POSIX_C_SOURCE 200809L
#include "bench/report.h"

#include <stdlib.h>
#include <string.h>

#include "bench/kit.h"

#define SERIES_MAX 8
#define NAME_SIZE 32

// Bars of one colour: this program with one number of workers, or another program.
typedef struct series {
    char name[NAME_SIZE];
    bench_spread ms[BENCH_RESULTS_MAX]; // by scene; 0: not run
} series;

typedef struct table {
    const bench_scene *scenes[BENCH_RESULTS_MAX];
    uint32_t scene_count;
    series series[SERIES_MAX];
    uint32_t series_count;
} table;

// The series of that name, which is added if it is new. NULL if there are too many.
static series *find_series(table *t, const char *name) {
    uint32_t i = 0;
    while (i < t->series_count && strcmp(t->series[i].name, name) != 0) {
        ++i;
    }
    if (i == SERIES_MAX) {
        return NULL;
    }
    if (i == t->series_count) {
        snprintf(t->series[i].name, NAME_SIZE, "%s", name);
        t->series_count += 1;
    }
    return &t->series[i];
}

static void put_bar(table *t, const char *name, const char *letter, bench_spread ms) {
    for (uint32_t i = 0; i < t->scene_count; ++i) {
        series *of_name = strcmp(t->scenes[i]->letter, letter) == 0 ? find_series(t, name) : NULL;
        if (of_name != NULL) {
            of_name->ms[i] = ms;
        }
    }
}

static void put_results(table *t, const bench_result *results, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
        const bench_spread us = results[i].figures[BENCH_STEP_MEAN];
        if (i == 0 || results[i - 1].scene != results[i].scene) {
            t->scenes[t->scene_count++] = results[i].scene;
        }
        put_bar(t, results[i].series, results[i].scene->letter,
            (bench_spread){.low = us.low / 1e3, .median = us.median / 1e3, .high = us.high / 1e3});
    }
}

// Lines "series,scene,ms" of other programs; scenes that were not run here are left out.
static bool put_file(table *t, const char *path) {
    FILE *file = fopen(path, "r");
    char line[256], name[NAME_SIZE], letter[NAME_SIZE];
    double ms;
    if (file == NULL) {
        fprintf(stderr, "bench: --beside %s: cannot be read\n", path);
        return false;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%31[^,],%31[^,],%lf", name, letter, &ms) == 3) {
            put_bar(t, name, letter, (bench_spread){.low = ms, .median = ms, .high = ms});
        }
    }
    fclose(file);
    return true;
}

static void write_quoted(FILE *gnuplot, const char *text) {
    fputc('\'', gnuplot);
    for (const char *at = text; *at != '\0'; ++at) {
        fputs(*at == '\'' ? "''" : (char[]){*at, '\0'}, gnuplot);
    }
    fputc('\'', gnuplot);
}

static void write_script(FILE *gnuplot, const table *t, const char *path) {
    fputs("$steps << END\n", gnuplot);
    for (uint32_t i = 0; i < t->scene_count; ++i) {
        fprintf(gnuplot, "\"%s %s\"", t->scenes[i]->letter, t->scenes[i]->name);
        for (uint32_t k = 0; k < t->series_count; ++k) {
            const bench_spread *ms = &t->series[k].ms[i];
            fprintf(
                gnuplot, ms->median > 0 ? " %g %g %g" : " ? ? ?", ms->median, ms->low, ms->high);
        }
        fputc('\n', gnuplot);
    }
    // Scenes differ by more than a factor of ten.
    fprintf(gnuplot, "END\nset terminal svg size %u,480 background 'white'\nset output ",
        160 + 40 * t->scene_count * (t->series_count + 1));
    write_quoted(gnuplot, path);
    fputs("\nset title 'Time of a step: median of the runs, with least and greatest'\n"
          "set ylabel 'ms'\nset logscale y\nset grid ytics\nset datafile missing '?'\n"
          "set style data histograms\nset style histogram errorbars gap 1\nset style fill "
          "solid\nset errorbars linecolor black\n"
          "set key outside top horizontal\nset xtics rotate by -30\nplot ",
        gnuplot);
    for (uint32_t k = 0; k < t->series_count; ++k) {
        fprintf(gnuplot, "%s$steps using %u:%u:%u:xtic(1) title ", k == 0 ? "" : ", ", 2 + 3 * k,
            3 + 3 * k, 4 + 3 * k);
        write_quoted(gnuplot, t->series[k].name);
    }
    fputc('\n', gnuplot);
}

bool bench_report_chart(
    const bench_result *results, uint32_t count, const char *beside, const char *path) {
    bench_require(count <= BENCH_RESULTS_MAX, "too many results for a chart");
    table t = {.series_count = 0};
    put_results(&t, results, count);
    if (beside != NULL && !put_file(&t, beside)) {
        return false;
    }
    FILE *gnuplot = popen("gnuplot", "w");
    if (gnuplot != NULL) {
        write_script(gnuplot, &t, path);
    }
    if (gnuplot == NULL || pclose(gnuplot) != 0) {
        fprintf(stderr, "bench: --chart %s: gnuplot cannot draw it (Debian: gnuplot-nox)\n", path);
        return false;
    }
    return true;
}
