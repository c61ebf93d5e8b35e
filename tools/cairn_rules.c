// SPDX-License-Identifier: MIT
// Checks a game's rules before they are played: each check runs in a child process.

#include <inttypes.h>
#include <stdio.h>

#include "program/flags.h"
#include "program/scene_file.h"
#include "rules_file/child.h"
#include "rules_file/rules_flag.h"
#include "rules_file/trial.h"
#include "tools/rules/check.h"
#include <cairn/programs.h>
#include <cairn/rules_registry.h>
#include <cairn/server.h>

enum { EXIT_SOUND = 0, EXIT_FAULTY = 1, EXIT_USAGE = 2 };

#define CHECK_TIMEOUT_S 600

typedef struct options {
    const char *file; // NULL: the rules that are linked
    const char *scene_name;
    uint64_t seeds;
    uint64_t ticks;
    uint64_t storm_seconds;
    uint32_t players_max;
} options;

// What a child process checks.
typedef struct check {
    const cairn_scene *scene; // NULL: a storm draws one
    const cairn_rules *rules;
    const options *options;
} check;

static bool replay_in_child(void *context, char *words) {
    const check *c = context;
    bool good = true;
    cairn_child_enter("a step of random play");
    for (uint64_t seed = 1; good && seed <= c->options->seeds; ++seed) {
        good = cairn_rules_check_replay(c->scene, c->rules, seed, c->options->ticks, words);
    }
    return good;
}

static bool storm_in_child(void *context, char *words) {
    const check *c = context;
    bool good = true;
    cairn_child_enter("a storm");
    for (uint64_t seed = 1; good && seed <= c->options->seeds; ++seed) {
        good = cairn_rules_check_storm(c->scene, c->rules, seed, c->options->storm_seconds, words);
    }
    return good;
}

static bool report(const char *what, bool good, const char *words) {
    printf("%-9s %s%s\n", what, good ? "sound" : "FAULT: ", good ? "" : words);
    fflush(stdout);
    return good;
}

static bool check_rules(const cairn_rules *rules, const cairn_scene *scene, const options *o) {
    char words[CAIRN_RULES_FILE_ERROR_SIZE];
    check c = {.scene = scene, .rules = rules, .options = o};
    printf("rules %s, version %" PRIu32 ", %" PRIu32 " bytes of state, digest %016" PRIx64 "\n",
        rules->name, rules->version, rules->state_size, cairn_rules_digest(rules));
    if (!report("trial", cairn_rules_trial(scene, rules, o->players_max, words), words) ||
        !report("replay", cairn_child_run(replay_in_child, &c, CHECK_TIMEOUT_S, words), words)) {
        return false;
    }
    c.scene = o->scene_name == NULL ? NULL : scene;
    return o->storm_seconds == 0 ||
           report("storms", cairn_child_run(storm_in_child, &c, CHECK_TIMEOUT_S, words), words);
}

static int check_all(const options *o) {
    char words[CAIRN_RULES_FILE_ERROR_SIZE];
    cairn_scene *scene = NULL;
    uint32_t first = 1; // after the sandbox
    if (o->file != NULL) {
        while (cairn_rules_registered(first) != NULL) {
            ++first;
        }
        // Before its code runs.
        if (!report("imports", cairn_rules_check_imports(o->file, words), words)) {
            return EXIT_FAULTY;
        }
        if (!cairn_rules_load(o->file, words)) {
            (void)report("load", false, words);
            return EXIT_FAULTY;
        }
    }
    if (cairn_rules_registered(first) == NULL) {
        fprintf(stderr, "cairn-rules: name a rules file, or link rules into this program\n");
        return EXIT_USAGE;
    }
    const char *name = o->scene_name == NULL ? CAIRN_SCENE_DEFAULT : o->scene_name;
    if ((scene = cairn_scene_file_load("cairn-rules", name)) == NULL) {
        return EXIT_USAGE;
    }
    bool good = true;
    for (const cairn_rules *r; good && (r = cairn_rules_registered(first)) != NULL; ++first) {
        good = check_rules(r, scene, o);
    }
    cairn_scene_destroy(scene);
    return good ? EXIT_SOUND : EXIT_FAULTY;
}

int cairn_rules_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count) {
    static const cairn_flags_verb verbs[] = {
        {"check", "[FILE]", "whether rules keep the contract: imports, restores, storms"}};
    options o = {
        .seeds = 2, .ticks = 600, .storm_seconds = 20, .players_max = CAIRN_PLAYERS_DEFAULT};
    if (!cairn_rules_take("cairn-rules", rules, count)) {
        return EXIT_USAGE;
    }
    const cairn_flag flags[] = {
        {"--scene", NULL, "NAME|FILE", "built-in scene or JSON file to play in (demo; storms draw)",
            CAIRN_FLAG_TEXT, .out = &o.scene_name},
        {"--seeds", NULL, "N", "games and storms, each with its own seed (2)", CAIRN_FLAG_U64,
            .out = &o.seeds, .least = 1, .most = 1000000},
        {"--ticks", NULL, "N", "of a game (600)", CAIRN_FLAG_U64, .out = &o.ticks, .least = 20,
            .most = 1000000},
        {"--players-max", NULL, "N", "of the room in which they are tried first (64)",
            CAIRN_FLAG_U32, .out = &o.players_max, .least = 1, .most = CAIRN_SLOTS_MAX},
        {"--storm-seconds", NULL, "S", "virtual time of a storm; 0: no storms (20)", CAIRN_FLAG_U64,
            .out = &o.storm_seconds, .most = 3600},
    };
    cairn_flags_program program = {
        .name = "cairn-rules",
        .usage = "check [FILE] [FLAGS]",
        .about = "Checks the rules of a file, or those that are linked into this program.",
        .notes = "Exits with 0 if they are sound, 1 after the first fault, and 2 if an argument is "
                 "wrong.",
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .verbs = verbs,
        .verb_count = sizeof verbs / sizeof *verbs,
    };
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? EXIT_USAGE : EXIT_SOUND;
    }
    o.file = program.words[1];
    return check_all(&o);
}
