// SPDX-License-Identifier: MIT
#include "bench/report.h"

#include <inttypes.h>

void bench_report_steps_head(void) {
    printf("%-3s %-9s %-10s %7s %7s %8s %8s  %9s %9s %9s %9s %9s %6s  %s\n", "", "scene", "",
        "bodies", "awake", "contacts", "points", "ms/step", "least", "greatest", "p99", "max",
        "ratio", "ends as");
}

static double ms(const bench_result *result, bench_figure figure) {
    return result->figures[figure].median / 1e3;
}

void bench_report_steps(const bench_result *result, const bench_result *first) {
    const bench_spread *mean = &result->figures[BENCH_STEP_MEAN];
    const cairn_world_counters *counters = &result->last.counters;
    char ends[CAIRN_HASH_TEXT_SIZE];
    printf("%-3s %-9s %-10s %7" PRIu32
           " %7.0f %8.0f %8.0f  %9.3f %9.3f %9.3f %9.3f %9.3f %6.2f  %.8s\n",
        result->scene->letter, result->scene->name, result->series, result->last.bodies,
        result->figures[BENCH_AWAKE].median, result->figures[BENCH_CONTACTS].median,
        result->figures[BENCH_POINTS].median, mean->median / 1e3, mean->low / 1e3, mean->high / 1e3,
        ms(result, BENCH_STEP_P99), ms(result, BENCH_STEP_MAX),
        mean->median / first->figures[BENCH_STEP_MEAN].median,
        cairn_hash_print(result->last.hash, ends));
    if (counters->contacts_dropped != 0 || counters->bodies_disabled != 0) {
        printf("    %" PRIu32 " contacts dropped, %" PRIu32 " bodies disabled\n",
            counters->contacts_dropped, counters->bodies_disabled);
    }
    fflush(stdout);
}

void bench_report_stages(const bench_result *results, uint32_t count) {
    printf("\nus per step, median of the runs; the hash is not part of the step\n");
    printf("%-3s %-9s %-10s", "", "scene", "");
    for (int k = BENCH_STAGE_FIRST; k <= BENCH_CPU_ALL; ++k) {
        printf(" %9s", bench_figure_names[k]);
    }
    printf("\n");
    for (uint32_t i = 0; i < count; ++i) {
        const bench_result *result = &results[i];
        printf("%-3s %-9s %-10s", result->scene->letter, result->scene->name, result->series);
        for (int k = BENCH_STAGE_FIRST; k <= BENCH_CPU_ALL; ++k) {
            printf(" %9.1f", result->figures[k].median);
        }
        printf("\n");
    }
}

void bench_report_state(const bench_state_figure *figures, uint32_t count) {
    printf("\n%-9s %-24s %11s %11s %11s %11s  %s\n", "state", "", "median", "least", "greatest",
        "at most", "");
    for (uint32_t i = 0; i < count; ++i) {
        const bench_state_figure *f = &figures[i];
        char goal[32] = "";
        if (f->at_most > 0.0) {
            snprintf(goal, sizeof goal, "%.1f", f->at_most);
        }
        printf("%-9s %-24s %11.1f %11.1f %11.1f %11s  %s\n", f->scene, f->name, f->spread.median,
            f->spread.low, f->spread.high, goal, f->unit);
    }
}

void bench_csv_run(FILE *file, const bench_result *result, uint32_t number, const bench_run *run) {
    for (int k = 0; k < BENCH_FIGURE_COUNT && file != NULL; ++k) {
        fprintf(file, "%s,%s,%" PRIu32 ",%s,%s,%.3f\n", result->scene->letter, result->series,
            number, bench_figure_names[k], k < BENCH_AWAKE ? "us" : "", run->figures[k]);
    }
}

void bench_csv_state(FILE *file, const bench_state_figure *figures, uint32_t count) {
    for (uint32_t i = 0; i < count && file != NULL; ++i) {
        const bench_state_figure *f = &figures[i];
        fprintf(
            file, "%s,state,median,\"%s\",%s,%.3f\n", f->scene, f->name, f->unit, f->spread.median);
    }
}
