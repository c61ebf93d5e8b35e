// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cairn/storm.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

typedef struct arguments {
    uint64_t first;
    uint64_t count;
    uint64_t hours; // of virtual time in all; 0: count decides
    bool twice;     // each seed is played again and must be the same run
    bool expecting; // the finding named must come, and it is a failure when none does
    cairn_storm_finding expected;
    cairn_storm_config config;
} arguments;

static const char *const mode_names[CAIRN_STORM_MODES] = {
    [CAIRN_CLIENT_INTERPOLATE] = "interpolate",
    [CAIRN_CLIENT_LOCKSTEP] = "lockstep",
    [CAIRN_CLIENT_PREDICT] = "predict",
    [CAIRN_CLIENT_HEAL] = "heal",
};

static int usage(void) {
    fprintf(stderr,
        "usage: storm [--seeds FIRST COUNT] [--seconds S] [--hours H] [--mode NAME]\n"
        "             [--events] [--twice] [--break NAME] [--expect FINDING]\n"
        "Plays COUNT storms of S seconds of virtual time each, or as many as H hours\n"
        "take, and stops at the first finding. --mode (more than once: several) leaves\n"
        "out the other modes, --events prints what happens to whom, --twice plays each\n"
        "seed again and compares, --break plants a fault, --expect ends well when that\n"
        "finding comes and not otherwise.\nModes:");
    for (uint32_t i = 0; i < CAIRN_STORM_MODES; i++) {
        fprintf(stderr, " %s", mode_names[i]);
    }
    fprintf(stderr, "\nFaults:");
    for (uint32_t i = 1; i < CAIRN_STORM_BREAK_COUNT; i++) {
        fprintf(stderr, " %s", cairn_storm_break_name((cairn_storm_break)i));
    }
    fprintf(stderr, "\nFindings:");
    for (uint32_t i = 1; i < CAIRN_STORM_FINDING_COUNT; i++) {
        fprintf(stderr, " %s", cairn_storm_finding_name((cairn_storm_finding)i));
    }
    fprintf(stderr, "\n");
    return 2;
}

#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
static uint64_t memory_bytes(void *user) {
    (void)user;
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#else
#define memory_bytes NULL
#endif

static void print_event(void *user, uint64_t at_ns, uint32_t place, const char *what) {
    (void)user;
    printf("  %9.3f s: client %" PRIu32 " %s\n", (double)at_ns * 1e-9, place, what);
}

static bool read_number(const char *text, uint64_t *out) {
    char *end = NULL;
    *out = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == 0;
}

static bool read_break(const char *text, cairn_storm_break *out) {
    for (uint32_t i = 0; i < CAIRN_STORM_BREAK_COUNT; i++) {
        if (strcmp(text, cairn_storm_break_name((cairn_storm_break)i)) == 0) {
            *out = (cairn_storm_break)i;
            return true;
        }
    }
    return false;
}

static bool read_mode(const char *text, uint32_t *modes) {
    for (uint32_t i = 0; i < CAIRN_STORM_MODES; i++) {
        if (strcmp(text, mode_names[i]) == 0) {
            *modes = (*modes == CAIRN_STORM_ALL_MODES ? 0 : *modes) | 1u << i;
            return true;
        }
    }
    return false;
}

static bool read_finding(const char *text, cairn_storm_finding *out) {
    for (uint32_t i = 1; i < CAIRN_STORM_FINDING_COUNT; i++) {
        if (strcmp(text, cairn_storm_finding_name((cairn_storm_finding)i)) == 0) {
            *out = (cairn_storm_finding)i;
            return true;
        }
    }
    return false;
}

static bool read_word(const char *option, const char *value, arguments *a) {
    if (strcmp(option, "--seconds") == 0) {
        return read_number(value, &a->config.seconds);
    }
    if (strcmp(option, "--hours") == 0) {
        return read_number(value, &a->hours);
    }
    if (strcmp(option, "--mode") == 0) {
        return read_mode(value, &a->config.modes);
    }
    if (strcmp(option, "--break") == 0) {
        return read_break(value, &a->config.broken);
    }
    a->expecting = strcmp(option, "--expect") == 0;
    return a->expecting && read_finding(value, &a->expected);
}

static bool read_arguments(int count, char **texts, arguments *a) {
    for (int i = 1; i < count; i++) {
        const int left = count - 1 - i;
        bool sound = true;
        if (strcmp(texts[i], "--events") == 0) {
            a->config.on_event = print_event;
        } else if (strcmp(texts[i], "--twice") == 0) {
            a->twice = true;
        } else if (strcmp(texts[i], "--seeds") == 0 && left >= 2) {
            sound = read_number(texts[i + 1], &a->first) && read_number(texts[i + 2], &a->count);
            i += 2;
        } else {
            sound = left >= 1 && read_word(texts[i], texts[i + 1], a);
            i++;
        }
        if (!sound) {
            return false;
        }
    }
    return true;
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
    all->damages_mended += one->damages_mended;
    all->mend_ms_max = larger(all->mend_ms_max, one->mend_ms_max);
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
    printf("hours played:");
    for (uint32_t i = 0; i < CAIRN_STORM_MODES; i++) {
        printf(" %s %.1f", mode_names[i], (double)all->playing_ns[i] / 3.6e12);
    }
    printf("\n%" PRIu64 " acts of operators, %" PRIu64 " ticks with edits", all->operator_acts,
        all->edits);
    printf("\n%" PRIu64 " worlds damaged, %" PRIu64 " mended, within %" PRIu64 " ms:", all->damages,
        all->damages_mended, all->mend_ms_max);
    for (uint32_t i = 0; i < CAIRN_RESYNC_CAUSE_COUNT; i++) {
        printf(" %" PRIu64 " %s%s", all->heals[i],
            cairn_client_resync_cause_text((cairn_client_resync_cause)i),
            i + 1 < CAIRN_RESYNC_CAUSE_COUNT ? "," : "");
    }
    printf("\nticks stepped for each of the server's, at worst:");
    for (uint32_t i = 1; i < CAIRN_STORM_MODES; i++) {
        printf(" %s %.2f", mode_names[i], (double)all->work_percent_max[i] / 100);
    }
    printf("; %" PRIu64 " rollbacks, %" PRIu64 " of them held against the server's history\n"
           "equal after the network was whole again: %" PRIu64 " ticks, %" PRIu64 " ms at worst\n"
           "memory: %" PRIu64 " kB of a client, %" PRIu64 " kB grown when warm; %" PRIu64
           " kB of the server, %" PRIu64 " kB\n",
        all->rollbacks, all->rollbacks_checked, all->equal_ticks_max, all->equal_ms_max,
        all->client_bytes_max / 1024, all->client_growth_max / 1024, all->server_bytes_max / 1024,
        all->server_growth_max / 1024);
}

static void run(arguments *a, cairn_storm_report *report) {
    if (!cairn_storm_run(&a->config, report)) {
        fprintf(stderr, "no storm: %s\n", report->words);
        exit(2);
    }
}

static void play(arguments *a, cairn_storm_report *report) {
    run(a, report);
    if (a->twice && report->finding == CAIRN_STORM_FOUND_NOTHING) {
        cairn_storm_report again;
        run(a, &again);
        if (!cairn_hash_equal(report->digest, again.digest)) {
            report->finding = CAIRN_STORM_FOUND_OWN;
            strcpy(report->words, "played again it was another storm");
        }
    }
}

static int fail(const arguments *a, const cairn_storm_report *report) {
    printf("seed %" PRIu64 ", at %.3f s, found %s: %s\n", a->config.seed,
        (double)report->found_ns * 1e-9, cairn_storm_finding_name(report->finding), report->words);
    if (a->expecting && report->finding == a->expected) {
        return 0;
    }
    printf("again with: storm --seeds %" PRIu64 " 1 --seconds %" PRIu64 " --events\n",
        a->config.seed, a->config.seconds);
    return 1;
}

int main(int argc, char **argv) {
    arguments a = {.first = 1, .count = 200, .config = cairn_storm_config_default()};
    a.config.memory_bytes = memory_bytes;
    if (!read_arguments(argc, argv, &a)) {
        return usage();
    }
    cairn_storm_report all = {0};
    uint64_t seeds = 0;
    const uint64_t enough_ns = a.hours * 3600u * 1000000000u;
    while (a.hours > 0 ? all.virtual_ns < enough_ns : seeds < a.count) {
        cairn_storm_report report;
        a.config.seed = a.first + seeds++;
        play(&a, &report);
        add(&all, &report);
        if (report.finding != CAIRN_STORM_FOUND_NOTHING) {
            return fail(&a, &report);
        }
        if (a.hours > 0 && seeds % 100 == 0) {
            print_summary(&all, seeds);
            fflush(stdout);
        }
    }
    print_summary(&all, seeds);
    return a.expecting ? 1 : 0;
}
