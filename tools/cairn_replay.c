// SPDX-License-Identifier: MIT
// Reads recordings, steps them again, and makes new ones out of them. A verb is a file of
// tools/replay.

#include <stdio.h>
#include <string.h>

#include "tools/flags.h"
#include "tools/replay/verbs.h"

static const char usage[] =
    "cairn-replay VERB ...\n"
    "  info FILE                 what a recording holds and whom it names as its signer\n"
    "  verify FILE               step it again, compare every root, keyframe and the seal\n"
    "  seek FILE TICK            the world of a tick: roots, sections, counts\n"
    "  cut FILE FROM TO OUT      the ticks from FROM to TO as a recording of their own\n"
    "  diff A B                  where two recordings of one run part\n"
    "  explain FILE              why two peers took the step of a capsule differently\n"
    "  export FILE OUT.csv       trajectories: tick, body, position, rotation, velocities\n"
    "  make OUT                  record a scene that is stepped at full speed\n"
    "\n"
    "Ends with 0 when all is well, 1 when a root differs, a file is damaged or two recordings\n"
    "part, 2 when it cannot be done (arguments, files, ticks that are not there), 3 when the\n"
    "recording needs another version of the simulation or its rules, 4 when the seal is broken or\n"
    "is not of the key that was asked for.";

typedef struct verb {
    const char *name;
    int word_count; // with the verb
    int (*run)(const cairn_replay_order *order);
} verb;

static const verb verbs[] = {
    {"info", 2, cairn_replay_info},
    {"verify", 2, cairn_replay_verify},
    {"seek", 3, cairn_replay_seek},
    {"cut", 5, cairn_replay_cut},
    {"diff", 3, cairn_replay_diff},
    {"explain", 2, cairn_replay_explain},
    {"export", 3, cairn_replay_export},
    {"make", 2, cairn_replay_make},
};

static const verb *find_verb(const char *name) {
    for (size_t i = 0; name != NULL && i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            return &verbs[i];
        }
    }
    return NULL;
}

static int run(const cairn_replay_order *order) {
    const verb *chosen = find_verb(order->words[0]);
    if (chosen == NULL) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "a verb is needed",
            "info, verify, seek, cut, diff, explain, export, make");
    }
    int count = 0;
    while (count < 5 && order->words[count] != NULL) {
        count++;
    }
    if (count != chosen->word_count) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, chosen->name,
            count < chosen->word_count ? "something is missing behind it, see --help"
                                       : "too much behind it, see --help");
    }
    return chosen->run(order);
}

int main(int argc, char **argv) {
    cairn_replay_order order = {.json = NULL};
    const char *help = NULL;
    const cairn_flag flags[] = {
        {"--json", NULL, "answer with one JSON object", &order.json},
        {"--workers", "N", "verify: share the work out to this many threads (1)", &order.workers},
        {"--key", "PUBLIC", "verify: it has to be signed by this key (hex or file)", &order.key},
        {"--body", "ID", "seek: tell of this body", &order.body},
        {"--state", "FILE", "seek: write the encoded state", &order.state},
        {"--every", "N", "export: each Nth tick alone (1)", &order.every},
        {"--bodies", "ID,ID", "export: these bodies alone", &order.bodies},
        {"--sign", "KEY", "cut, make: sign with this private key (hex or file)", &order.sign},
        {"--scene", "NAME|FILE", "make: built-in scene or JSON file (demo)", &order.scene},
        {"--seconds", "N", "make: of world (10)", &order.seconds},
        {"--players", "N", "make: who press at random (0)", &order.players},
        {"--plough", "ID", "make: push this body round an ellipse", &order.plough},
        {"--awake", NULL, "make: nothing sleeps", &order.awake},
        {"--help", NULL, "this text", &help},
    };
    char error[CAIRN_FLAG_ERROR_SIZE];
    if (!cairn_flags_read(
            argc, argv, flags, sizeof flags / sizeof flags[0], order.words, 5, error)) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "arguments", error);
    }
    if (help != NULL) {
        cairn_flags_help(usage, flags, sizeof flags / sizeof flags[0]);
        return CAIRN_EXIT_GOOD;
    }
    return run(&order);
}
