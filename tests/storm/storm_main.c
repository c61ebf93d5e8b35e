// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/storm/storm.h"

typedef struct arguments {
    uint64_t first;
    uint64_t count;
    uint64_t hours; // of virtual time in all; 0: count decides
    bool twice;     // each seed is played again and must be the same run
    storm_options options;
} arguments;

static int usage(void) {
    fprintf(stderr,
        "usage: storm [--seeds FIRST COUNT] [--seconds S] [--hours H] [--events] [--twice]\n"
        "             [--break hash|snapshot|drop-count]\n"
        "Plays COUNT storms of S seconds of virtual time each, or as many as H hours\n"
        "take, and stops at the first finding. --events prints what happens to whom,\n"
        "--twice plays each seed again and compares, --break plants a fault that must\n"
        "be found.\n");
    return 2;
}

static bool read_number(const char *text, uint64_t *out) {
    char *end = NULL;
    *out = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == 0;
}

static bool read_break(const char *text, storm_break *out) {
    static const char *const names[] = {"nothing", "hash", "snapshot", "drop-count"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) == 0) {
            *out = (storm_break)i;
            return true;
        }
    }
    return false;
}

static bool read_arguments(int count, char **texts, arguments *a) {
    for (int i = 1; i < count; i++) {
        const int left = count - 1 - i;
        bool sound = false;
        if (strcmp(texts[i], "--seeds") == 0 && left >= 2) {
            sound = read_number(texts[i + 1], &a->first) && read_number(texts[i + 2], &a->count);
            i += 2;
        } else if (strcmp(texts[i], "--seconds") == 0 && left >= 1) {
            sound = read_number(texts[++i], &a->options.seconds);
        } else if (strcmp(texts[i], "--hours") == 0 && left >= 1) {
            sound = read_number(texts[++i], &a->hours);
        } else if (strcmp(texts[i], "--break") == 0 && left >= 1) {
            sound = read_break(texts[++i], &a->options.broken);
        } else if (strcmp(texts[i], "--events") == 0) {
            sound = a->options.events = true;
        } else if (strcmp(texts[i], "--twice") == 0) {
            sound = a->twice = true;
        }
        if (!sound) {
            return false;
        }
    }
    return true;
}

static void add(storm_report *all, const storm_report *one) {
    all->virtual_ns += one->virtual_ns;
    all->ticks += one->ticks;
    all->datagrams += one->datagrams;
    all->hostile += one->hostile;
    all->joins += one->joins;
    all->cuts += one->cuts;
    all->restarts += one->restarts;
    all->roots_compared += one->roots_compared;
    all->snapshots_compared += one->snapshots_compared;
}

static void print_summary(const storm_report *all, uint64_t seeds) {
    printf("%" PRIu64 " seeds, %.1f h of virtual time, %" PRIu64 " ticks, %" PRIu64
           " datagrams (%" PRIu64 " hostile)\n",
        seeds, (double)all->virtual_ns / 3.6e12, all->ticks, all->datagrams, all->hostile);
    printf("%" PRIu64 " joins, %" PRIu64 " cuts, %" PRIu64 " server restarts; %" PRIu64
           " roots and %" PRIu64 " snapshots compared, all equal\n",
        all->joins, all->cuts, all->restarts, all->roots_compared, all->snapshots_compared);
}

static storm_report play(const arguments *a, uint64_t seed) {
    storm_report report = storm_run(seed, &a->options);
    if (a->twice && report.finding[0] == 0) {
        const storm_report again = storm_run(seed, &a->options);
        if (!cairn_hash_equal(report.digest, again.digest)) {
            snprintf(report.finding, sizeof report.finding, "played again it was another storm");
        }
    }
    return report;
}

static int fail(const arguments *a, const storm_report *report, uint64_t seed) {
    printf("seed %" PRIu64 ", at %.3f s: %s\n", seed, (double)report->found_ns * 1e-9,
        report->finding);
    printf("again with: storm --seeds %" PRIu64 " 1 --seconds %" PRIu64 " --events\n", seed,
        a->options.seconds);
    return 1;
}

int main(int argc, char **argv) {
    arguments a = {.first = 1, .count = 200, .options = {.seconds = 20}};
    if (!read_arguments(argc, argv, &a) || a.options.seconds == 0) {
        return usage();
    }
    storm_report all = {0};
    uint64_t seeds = 0;
    const uint64_t enough_ns = a.hours * 3600u * 1000000000u;
    while (a.hours > 0 ? all.virtual_ns < enough_ns : seeds < a.count) {
        const uint64_t seed = a.first + seeds++;
        const storm_report report = play(&a, seed);
        add(&all, &report);
        if (report.finding[0] != 0) {
            return fail(&a, &report, seed);
        }
        if (a.hours > 0 && seeds % 100 == 0) {
            print_summary(&all, seeds);
            fflush(stdout);
        }
    }
    print_summary(&all, seeds);
    return 0;
}
