// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flags.h"
#include <cairn/storm.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

// Figures of a whole run that may have a minimum, so that a run which never did something cannot
// pass as evidence that it works.
typedef enum figure {
    FIGURE_JOINS,
    FIGURE_CUTS,
    FIGURE_STALLS,
    FIGURE_RESTARTS,
    FIGURE_HOSTILE,
    FIGURE_EDITS,
    FIGURE_ROOTS,
    FIGURE_SNAPSHOTS,
    FIGURE_ROLLBACKS,
    FIGURE_DAMAGES,
    FIGURE_HEALS,                                             // and one for each further cause
    FIGURE_SECONDS = FIGURE_HEALS + CAIRN_RESYNC_CAUSE_COUNT, // and one for each further mode
    FIGURE_COUNT = FIGURE_SECONDS + CAIRN_STORM_MODES
} figure;

static const char *const figure_names[FIGURE_COUNT] = {[FIGURE_JOINS] = "joins",
    [FIGURE_CUTS] = "cuts",
    [FIGURE_STALLS] = "stalls",
    [FIGURE_RESTARTS] = "restarts",
    [FIGURE_HOSTILE] = "hostile",
    [FIGURE_EDITS] = "edits",
    [FIGURE_ROOTS] = "roots",
    [FIGURE_SNAPSHOTS] = "snapshots",
    [FIGURE_ROLLBACKS] = "rollbacks",
    [FIGURE_DAMAGES] = "damages",
    [FIGURE_HEALS + CAIRN_RESYNC_BY_STEPPING] = "heals-stepping",
    [FIGURE_HEALS + CAIRN_RESYNC_BY_ELEMENTS] = "heals-elements",
    [FIGURE_HEALS + CAIRN_RESYNC_BY_STATE] = "heals-state",
    [FIGURE_SECONDS + CAIRN_CLIENT_INTERPOLATE] = "seconds-interpolate",
    [FIGURE_SECONDS + CAIRN_CLIENT_LOCKSTEP] = "seconds-lockstep",
    [FIGURE_SECONDS + CAIRN_CLIENT_PREDICT] = "seconds-predict",
    [FIGURE_SECONDS + CAIRN_CLIENT_HEAL] = "seconds-heal"};

static uint64_t figure_of(const cairn_storm_report *all, figure which) {
    const uint64_t counts[FIGURE_HEALS] = {[FIGURE_JOINS] = all->joins,
        [FIGURE_CUTS] = all->cuts,
        [FIGURE_STALLS] = all->stalls,
        [FIGURE_RESTARTS] = all->restarts,
        [FIGURE_HOSTILE] = all->hostile,
        [FIGURE_EDITS] = all->edits,
        [FIGURE_ROOTS] = all->roots_compared,
        [FIGURE_SNAPSHOTS] = all->snapshots_compared,
        [FIGURE_ROLLBACKS] = all->rollbacks_checked,
        [FIGURE_DAMAGES] = all->damages};
    if (which < FIGURE_HEALS) {
        return counts[which];
    }
    return which < FIGURE_SECONDS ? all->heals[which - FIGURE_HEALS]
                                  : all->playing_ns[which - FIGURE_SECONDS] / CAIRN_NS_PER_S;
}

typedef struct arguments {
    uint64_t first;
    uint64_t count;
    uint64_t hours; // of virtual time in all; 0: count decides
    bool twice;     // each seed is run again and must give the same digest
    uint64_t minima[FIGURE_COUNT];
    cairn_storm_config config;
} arguments;

static const char *const mode_names[CAIRN_STORM_MODES] = {
    [CAIRN_CLIENT_INTERPOLATE] = "interpolate",
    [CAIRN_CLIENT_LOCKSTEP] = "lockstep",
    [CAIRN_CLIENT_PREDICT] = "predict",
    [CAIRN_CLIENT_HEAL] = "heal",
};

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
static uint64_t memory_bytes(void *user) {
    (void)user;
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
#define memory_bytes NULL
#endif

static void print_event(void *user, uint64_t at_ns, uint32_t slot, const char *what) {
    (void)user;
    printf("  %9.3f s: client %" PRIu32 " %s\n", (double)at_ns * 1e-9, slot, what);
}

// The number that ends `value` after `separator`, which has to be there.
static bool read_number_after(const char *value, char separator, uint64_t *out) {
    char error[CAIRN_FLAGS_ERROR_SIZE];
    const char *place = strchr(value, separator);
    return place != NULL && cairn_flags_number("", place + 1, 0, UINT64_MAX, out, error);
}

static const char *read_seeds(void *out, const char *value, bool first) {
    arguments *a = out;
    char error[CAIRN_FLAGS_ERROR_SIZE], number[24];
    (void)first;
    snprintf(number, sizeof number, "%.*s", (int)strcspn(value, ","), value);
    return cairn_flags_number("", number, 0, UINT64_MAX, &a->first, error) &&
                   read_number_after(value, ',', &a->count)
               ? NULL
               : "must be FIRST,COUNT, such as 1,30";
}

static const char *read_mode(void *out, const char *value, bool first) {
    uint32_t *modes = out;
    *modes = first ? 0 : *modes;
    for (uint32_t i = 0; i < CAIRN_STORM_MODES; i++) {
        if (strcmp(value, mode_names[i]) == 0) {
            *modes |= 1u << i;
            return NULL;
        }
    }
    return "must be interpolate, lockstep, predict or heal";
}

static const char *read_minimum(void *out, const char *value, bool first) {
    arguments *a = out;
    const size_t length = strcspn(value, "=");
    (void)first;
    for (uint32_t i = 0; i < FIGURE_COUNT; i++) {
        if (strlen(figure_names[i]) == length && strncmp(value, figure_names[i], length) == 0 &&
            read_number_after(value, '=', &a->minima[i])) {
            return NULL;
        }
    }
    return "must be FIGURE=N, such as restarts=9; --help lists the figures";
}

static const char *figures_text(void) {
    static char text[512] = "Figures:";
    for (uint32_t i = 0; i < FIGURE_COUNT; i++) {
        const size_t used = strlen(text);
        snprintf(
            text + used, sizeof text - used, "%s%s", i % 8 == 0 ? "\n  " : " ", figure_names[i]);
    }
    return text;
}

static cairn_flags_result read_arguments(int argc, char **argv, arguments *a) {
    bool events = false;
    const cairn_flag flags[] = {
        {"--seeds", NULL, "FIRST,COUNT", "seeds of the storms (1,200)", CAIRN_FLAG_CUSTOM, .out = a,
            .read = read_seeds},
        {"--seconds", NULL, "S", "virtual time of a storm", CAIRN_FLAG_U64,
            .out = &a->config.seconds, .least = 1},
        {"--hours", NULL, "H", "run storms until so much virtual time has passed, instead of COUNT",
            CAIRN_FLAG_U64, .out = &a->hours},
        {"--mode", NULL, "NAME",
            "clients use only this mode: interpolate, lockstep, predict or heal; repeatable",
            CAIRN_FLAG_CUSTOM, .out = &a->config.modes, .read = read_mode},
        {"--events", NULL, NULL, "print every fault and the client that it touches",
            CAIRN_FLAG_SWITCH, .out = &events},
        {"--twice", NULL, NULL, "run each seed again and fail if the two runs differ",
            CAIRN_FLAG_SWITCH, .out = &a->twice},
        {"--minimum", NULL, "FIGURE=N",
            "fail if the figure of all storms together is below N; repeatable", CAIRN_FLAG_CUSTOM,
            .out = a, .read = read_minimum},
    };
    cairn_flags_program program = {.name = "storm",
        .usage = "[FLAGS]",
        .about = "Runs storms: servers and clients on a virtual network with faults, one storm for "
                 "each seed.\n"
                 "Stops at the first finding.",
        .notes = figures_text(),
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags};
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    a->config.on_event = events ? print_event : NULL;
    return result;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void add(cairn_storm_report *all, const cairn_storm_report *one) {
    all->virtual_ns += one->virtual_ns;
    all->ticks += one->ticks;
    all->datagrams += one->datagrams;
    all->hostile += one->hostile;
    all->joins += one->joins;
    all->cuts += one->cuts;
    all->stalls += one->stalls;
    all->restarts += one->restarts;
    all->roots_compared += one->roots_compared;
    all->snapshots_compared += one->snapshots_compared;
    for (uint32_t i = 0; i < CAIRN_STORM_MODES; i++) {
        all->playing_ns[i] += one->playing_ns[i];
        all->work_percent_max[i] = larger(all->work_percent_max[i], one->work_percent_max[i]);
    }
    all->rollbacks += one->rollbacks;
    all->rollbacks_checked += one->rollbacks_checked;
    all->operator_acts += one->operator_acts;
    all->edits += one->edits;
    all->damages += one->damages;
    all->damages_repaired += one->damages_repaired;
    all->repair_ms_max = larger(all->repair_ms_max, one->repair_ms_max);
    for (uint32_t i = 0; i < CAIRN_RESYNC_CAUSE_COUNT; i++) {
        all->heals[i] += one->heals[i];
    }
    all->client_bytes_max = larger(all->client_bytes_max, one->client_bytes_max);
    all->client_growth_max = larger(all->client_growth_max, one->client_growth_max);
    all->server_bytes_max = larger(all->server_bytes_max, one->server_bytes_max);
    all->server_growth_max = larger(all->server_growth_max, one->server_growth_max);
    all->equal_ticks_max = larger(all->equal_ticks_max, one->equal_ticks_max);
    all->equal_ms_max = larger(all->equal_ms_max, one->equal_ms_max);
}

static void print_summary(const cairn_storm_report *all, uint64_t seeds) {
    printf("%" PRIu64 " seeds, %.1f h of virtual time, %" PRIu64 " ticks, %" PRIu64
           " datagrams (%" PRIu64 " hostile)\n",
        seeds, (double)all->virtual_ns / 3.6e12, all->ticks, all->datagrams, all->hostile);
    printf("%" PRIu64 " joins, %" PRIu64 " cuts, %" PRIu64 " stalls, %" PRIu64
           " server restarts; %" PRIu64 " roots and %" PRIu64 " snapshots compared, all equal\n",
        all->joins, all->cuts, all->stalls, all->restarts, all->roots_compared,
        all->snapshots_compared);
    printf("seconds played:");
    for (uint32_t i = 0; i < CAIRN_STORM_MODES; i++) {
        printf(" %s %.0f", mode_names[i], (double)all->playing_ns[i] / 1e9);
    }
    printf("\n%" PRIu64 " operator requests, %" PRIu64 " ticks with edits", all->operator_acts,
        all->edits);
    printf("\n%" PRIu64 " worlds damaged, %" PRIu64 " repaired, within %" PRIu64 " ms:",
        all->damages, all->damages_repaired, all->repair_ms_max);
    for (uint32_t i = 0; i < CAIRN_RESYNC_CAUSE_COUNT; i++) {
        printf(" %" PRIu64 " %s%s", all->heals[i],
            cairn_client_resync_cause_text((cairn_client_resync_cause)i),
            i + 1 < CAIRN_RESYNC_CAUSE_COUNT ? "," : "");
    }
    printf("\nticks stepped per tick of the server, worst:");
    for (uint32_t i = 1; i < CAIRN_STORM_MODES; i++) {
        printf(" %s %.2f", mode_names[i], (double)all->work_percent_max[i] / 100);
    }
    printf("; %" PRIu64 " rollbacks, %" PRIu64 " checked against the server's history\n"
           "equal after quiescence began: within %" PRIu64 " ticks, %" PRIu64 " ms\n"
           "memory: client %" PRIu64 " kB, growth when warm %" PRIu64 " kB; server %" PRIu64
           " kB, growth %" PRIu64 " kB\n",
        all->rollbacks, all->rollbacks_checked, all->equal_ticks_max, all->equal_ms_max,
        all->client_bytes_max / 1024, all->client_growth_max / 1024, all->server_bytes_max / 1024,
        all->server_growth_max / 1024);
}

static void run(arguments *a, cairn_storm_report *report) {
    if (!cairn_storm_run(&a->config, report)) {
        fprintf(stderr, "storm: %s\n", report->words);
        exit(2);
    }
}

static void run_seed(arguments *a, cairn_storm_report *report) {
    run(a, report);
    if (a->twice && report->finding == CAIRN_STORM_FOUND_NOTHING) {
        cairn_storm_report again;
        run(a, &again);
        if (memcmp(report->digest, again.digest, sizeof again.digest) != 0) {
            report->finding = CAIRN_STORM_FOUND_OWN;
            strcpy(report->words, "a second run of the seed gave another digest");
        }
    }
}

static int print_finding(const arguments *a, const cairn_storm_report *report) {
    printf("seed %" PRIu64 ", at %.3f s, found %s: %s\n", a->config.seed,
        (double)report->found_ns * 1e-9, cairn_storm_finding_name(report->finding), report->words);
    printf("repeat with: storm --seeds %" PRIu64 " 1 --seconds %" PRIu64 " --events\n",
        a->config.seed, a->config.seconds);
    return 1;
}

static int check_minima(const arguments *a, const cairn_storm_report *all) {
    int result = 0;
    for (uint32_t i = 0; i < FIGURE_COUNT; i++) {
        if (figure_of(all, (figure)i) < a->minima[i]) {
            printf("too little was tested: %s is %" PRIu64 ", the minimum is %" PRIu64 "\n",
                figure_names[i], figure_of(all, (figure)i), a->minima[i]);
            result = 1;
        }
    }
    return result;
}

int main(int argc, char **argv) {
    arguments a = {.first = 1, .count = 200, .config = cairn_storm_config_default()};
    a.config.memory_bytes = memory_bytes;
    const cairn_flags_result result = read_arguments(argc, argv, &a);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? 2 : 0;
    }
    cairn_storm_report all = {0};
    uint64_t seeds = 0;
    const uint64_t enough_ns = a.hours * 3600u * CAIRN_NS_PER_S;
    while (a.hours > 0 ? all.virtual_ns < enough_ns : seeds < a.count) {
        cairn_storm_report report;
        a.config.seed = a.first + seeds++;
        run_seed(&a, &report);
        add(&all, &report);
        if (report.finding != CAIRN_STORM_FOUND_NOTHING) {
            return print_finding(&a, &report);
        }
        if (a.hours > 0 && seeds % 100 == 0) {
            print_summary(&all, seeds);
            fflush(stdout);
        }
    }
    print_summary(&all, seeds);
    return check_minima(&a, &all);
}
