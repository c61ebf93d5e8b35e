// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/flags.h"
#include "rules_file/rules_flag.h"
#include "tests/storm/allocated.h"
#include <cairn/storm.h>

// A number of a report. Those with a name may have a minimum, so that a run which never did
// something cannot pass as evidence that it works.
typedef struct figure {
    const char *name;
    size_t offset; // in the report
    bool is_ns;    // its minimum is in seconds
    bool is_worst; // of several storms; otherwise their sum
} figure;

#define AT(member) .offset = offsetof(cairn_storm_report, member)
#define WORST(member)                                                                              \
    { AT(member), .is_worst = true }
static const figure figures[] = {
    {"joins", AT(joins)},
    {"returns", AT(returns)},
    {"cuts", AT(cuts)},
    {"stalls", AT(stalls)},
    {"restarts", AT(restarts)},
    {"hostile", AT(hostile)},
    {"hostile-messages", AT(hostile_messages)},
    {"hostile-sessions", AT(hostile_sessions)},
    {"hostile-ipv6", AT(hostile_ipv6)},
    {"hostile-moves", AT(hostile_moves)},
    {"edits", AT(edits)},
    {"replacements", AT(worlds_replaced)},
    {"forks", AT(forks)},
    {"clock-faults", AT(clock_faults)},
    {"over-budget", AT(payloads_over_budget)},
    {"roots", AT(roots_compared)},
    {"snapshots", AT(snapshots_compared)},
    {"rollbacks", AT(rollbacks_checked)},
    {"damages", AT(damages)},
    {"heals-stepping", AT(heals[CAIRN_RESYNC_BY_STEPPING])},
    {"heals-elements", AT(heals[CAIRN_RESYNC_BY_ELEMENTS])},
    {"heals-state", AT(heals[CAIRN_RESYNC_BY_STATE])},
    {"seconds-interpolate", AT(playing_ns[CAIRN_CLIENT_INTERPOLATE]), .is_ns = true},
    {"seconds-lockstep", AT(playing_ns[CAIRN_CLIENT_LOCKSTEP]), .is_ns = true},
    {"seconds-predict", AT(playing_ns[CAIRN_CLIENT_PREDICT]), .is_ns = true},
    {"seconds-heal", AT(playing_ns[CAIRN_CLIENT_HEAL]), .is_ns = true},
    {"segments", AT(segments_compared)},
    {"view-samples", AT(view_samples_compared)},
    {"views", AT(views_compared)},
    {"descriptor-faults", AT(descriptor_faults)},
    {"log-stops", AT(log_stops)},
    {"short-writes", AT(short_writes)},
    {"torn-files", AT(torn_files)},
    {"recorded-replacements", AT(recorded_replacements)},
    {"recorded-seeks", AT(recorded_seeks)},
    {AT(virtual_ns)},
    {AT(ticks)},
    {AT(datagrams)},
    {AT(rollbacks)},
    {AT(operator_acts)},
    {AT(damages_repaired)},
    {AT(memory_faults)},
    {AT(disk_faults)},
    {AT(log_lines)},
    {AT(log_lines_lost)},
    {AT(recorded_files)},
    {AT(recorded_ticks)},
    {AT(recorded_ticks_lost)},
    WORST(join_percent_max),
    WORST(lag_percent_max),
    WORST(late_percent_max),
    WORST(repair_ms_max),
    WORST(work_percent_max[CAIRN_CLIENT_LOCKSTEP]),
    WORST(work_percent_max[CAIRN_CLIENT_PREDICT]),
    WORST(work_percent_max[CAIRN_CLIENT_HEAL]),
    WORST(client_bytes_max),
    WORST(client_growth_max),
    WORST(server_bytes_max),
    WORST(server_growth_max),
    WORST(equal_ticks_max),
    WORST(equal_ms_max),
    WORST(turn_read_max),
    WORST(turn_made_max),
    WORST(second_read_max),
    WORST(second_made_max),
};
enum { FIGURE_COUNT = sizeof figures / sizeof *figures, NAMED_COUNT = 35 };
_Static_assert(CAIRN_RESYNC_CAUSE_COUNT == 3 && CAIRN_STORM_MODES == 4, "a row for each");

static uint64_t *value_of(const figure *f, cairn_storm_report *report) {
    return (uint64_t *)(void *)((char *)report + f->offset);
}

typedef struct arguments {
    uint64_t first;
    uint64_t count;
    uint64_t hours;               // of virtual time in all; 0: count decides
    bool twice;                   // each seed is run again and must give the same digest
    uint64_t minima[NAMED_COUNT]; // of the figures
    cairn_storm_config config;
} arguments;

static const char *const mode_names[CAIRN_STORM_MODES] = {
    [CAIRN_CLIENT_INTERPOLATE] = "interpolate",
    [CAIRN_CLIENT_LOCKSTEP] = "lockstep",
    [CAIRN_CLIENT_PREDICT] = "predict",
    [CAIRN_CLIENT_HEAL] = "heal",
};

// Every so many allocations of the program's libraries fail; the linker routes them here (--wrap,
// see CMakeLists.txt).
static uint32_t failing_every, allocations;

static void memory_fails(void *user, uint32_t every) {
    (void)user;
    failing_every = every;
}

static bool fails_now(void) {
    return failing_every != 0 && ++allocations % failing_every == 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_realloc(void *memory, size_t size);

void *__wrap_malloc(size_t size) {
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size) {
    return fails_now() ? NULL : __real_realloc(memory, size);
}

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
    for (uint32_t i = 0; i < NAMED_COUNT; i++) {
        if (strlen(figures[i].name) == length && strncmp(value, figures[i].name, length) == 0 &&
            read_number_after(value, '=', &a->minima[i])) {
            return NULL;
        }
    }
    return "must be FIGURE=N, such as restarts=9; --help lists the figures";
}

static const char *figures_text(void) {
    static char text[1024] = "Figures:";
    for (uint32_t i = 0; i < NAMED_COUNT; i++) {
        const size_t used = strlen(text);
        snprintf(
            text + used, sizeof text - used, "%s%s", i % 8 == 0 ? "\n  " : " ", figures[i].name);
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
        {"--views", NULL, "PERMILLE", "storms whose first room sends parts of its snapshots (150)",
            CAIRN_FLAG_U32, .out = &a->config.view_permille},
        {"--rules", NULL, "FILE", "play the rules of a shared object instead of the sandbox",
            CAIRN_FLAG_CUSTOM, .out = a, .read = cairn_rules_flag_read},
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
    a->config.rules = cairn_rules_last();
    return result;
}

static void add(cairn_storm_report *all, cairn_storm_report *one) {
    for (const figure *f = figures; f < figures + FIGURE_COUNT; f++) {
        uint64_t *sum = value_of(f, all);
        const uint64_t value = *value_of(f, one);
        *sum = !f->is_worst ? *sum + value : value > *sum ? value : *sum;
    }
}

static void print_summary(const cairn_storm_report *all, uint64_t seeds) {
    printf("%" PRIu64 " seeds, %.1f h of virtual time, %" PRIu64 " ticks, %" PRIu64
           " datagrams (%" PRIu64 " hostile)\n",
        seeds, (double)all->virtual_ns / 3.6e12, all->ticks, all->datagrams, all->hostile);
    printf("%" PRIu64 " joins, %" PRIu64 " cuts, %" PRIu64 " stalls, %" PRIu64
           " server restarts; %" PRIu64 " roots and %" PRIu64 " snapshots compared, all equal\n",
        all->joins, all->cuts, all->stalls, all->restarts, all->roots_compared,
        all->snapshots_compared);
    printf("%" PRIu64 " samples of views and %" PRIu64 " settled views compared, all equal\n",
        all->view_samples_compared, all->views_compared);
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
           "joins, lags and late inputs at most at %" PRIu64 ", %" PRIu64 " and %" PRIu64
           " percent of their bounds\n"
           "%" PRIu64 " times short of memory; %" PRIu64 " faults of the disk, %" PRIu64
           " short writes, %" PRIu64 " torn files, %" PRIu64 " times short of descriptors; %" PRIu64
           " stops of the log's reader, %" PRIu64 " lines read, %" PRIu64
           " counted as lost; %" PRIu64 " recordings verified, %" PRIu64 " ticks, %" PRIu64
           " more counted as lost, %" PRIu64 " worlds replaced, %" PRIu64 " sought; %" PRIu64
           " segments compared\n"
           "one turn of the server, for one client: at most %" PRIu64 " payloads read, %" PRIu64
           " messages and kB made; in a second %" PRIu64 " and %" PRIu64 "\n"
           "equal after quiescence began: within %" PRIu64 " ticks, %" PRIu64 " ms\n"
           "memory: client %" PRIu64 " kB, growth when warm %" PRIu64 " kB; server %" PRIu64
           " kB, growth %" PRIu64 " kB\n",
        all->rollbacks, all->rollbacks_checked, all->join_percent_max, all->lag_percent_max,
        all->late_percent_max, all->memory_faults, all->disk_faults, all->short_writes,
        all->torn_files, all->descriptor_faults, all->log_stops, all->log_lines,
        all->log_lines_lost, all->recorded_files, all->recorded_ticks, all->recorded_ticks_lost,
        all->recorded_replacements, all->recorded_seeks, all->segments_compared, all->turn_read_max,
        all->turn_made_max, all->second_read_max, all->second_made_max, all->equal_ticks_max,
        all->equal_ms_max, all->client_bytes_max / 1024, all->client_growth_max / 1024,
        all->server_bytes_max / 1024, all->server_growth_max / 1024);
}

static void run(arguments *a, cairn_storm_report *report) {
    allocations = 0;
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
    printf("repeat with: storm --seeds %" PRIu64 ",1 --seconds %" PRIu64 " --events\n",
        a->config.seed, a->config.seconds);
    return 1;
}

static int check_minima(const arguments *a, cairn_storm_report *all) {
    int result = 0;
    for (uint32_t i = 0; i < NAMED_COUNT; i++) {
        const uint64_t value =
            *value_of(&figures[i], all) / (figures[i].is_ns ? CAIRN_NS_PER_S : 1);
        if (value < a->minima[i]) {
            printf("too little was tested: %s is %" PRIu64 ", the minimum is %" PRIu64 "\n",
                figures[i].name, value, a->minima[i]);
            result = 1;
        }
    }
    return result;
}

int main(int argc, char **argv) {
    arguments a = {.first = 1, .count = 200, .config = cairn_storm_config_default()};
    a.config.memory_bytes = allocated_bytes;
    a.config.memory_fails = memory_fails;
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
