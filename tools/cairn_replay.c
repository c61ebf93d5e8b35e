// SPDX-License-Identifier: MIT
// Reads recordings, steps them again, and makes new ones. Each verb has a file in tools/replay.

#include <signal.h>
#include <string.h>

#include "net/crypto.h"
#include "program/flags.h"
#include "rules_file/rules_flag.h"
#include "tools/replay/verbs.h"
#include "workers/pool.h"
#include <cairn/programs.h>
#include <cairn/server.h>

static const cairn_flags_verb verbs[] = {
    {"info", "FILE", "what a recording holds and which key it says signed it"},
    {"verify", "FILE", "step it again and compare every state hash, keyframe and the seal"},
    {"seek", "FILE TICK", "the world at a tick: state hash, sections, counts"},
    {"cut", "FILE FROM TO OUT", "write the ticks from FROM to TO as a recording"},
    {"join", "FOLDER OUT", "write what cairnd --publish left in a room's folder as one recording"},
    {"diff", "A B", "where two recordings of one run begin to differ"},
    {"explain", "FILE", "why two peers computed the step of a desync capsule differently"},
    {"export", "FILE OUT", "write trajectories (.csv) or a tick as glTF (.glb)"},
    {"film", "FILE OUT", "write a tick as a picture (.png), or ticks as a film (.webm)"},
    {"page", "FILE OUT", "write one .html that plays it in a browser, without a server"},
    {"make", "OUT", "record a scene that is stepped at full speed"},
    {"shrink", "FILE OUT", "write the smallest scene, commands and C test that fail as it does"},
};

static cairn_replay_verb *const functions[] = {
    cairn_replay_info,
    cairn_replay_verify,
    cairn_replay_seek,
    cairn_replay_cut,
    cairn_replay_join,
    cairn_replay_diff,
    cairn_replay_explain,
    cairn_replay_export,
    cairn_replay_film,
    cairn_replay_page,
    cairn_replay_make,
    cairn_replay_shrink,
};
#define VERB_COUNT (sizeof verbs / sizeof *verbs)
_Static_assert(VERB_COUNT == sizeof functions / sizeof *functions, "a function for each verb");

static const char notes[] =
    "Exits with\n"
    "  0  success\n"
    "  1  a state hash differs, or two recordings do\n"
    "  2  an argument, a file or memory is at fault, or a tick is not in the "
    "recording\n"
    "  3  the recording needs another version of the simulation or of its rules\n"
    "  4  the seal is broken, or was not made with the key of --key\n"
    "  5  the recording is damaged; the part before the damage agrees";

#define SHRINK_FLAG_COUNT 9

// Those of shrink, and of make for what shrink wrote.
static void list_shrink_flags(cairn_replay_options *o, cairn_flag out[SHRINK_FLAG_COUNT]) {
    const cairn_flag flags[] = {
        {"--commands", NULL, "FILE", "play the commands and ticks of this file, which shrink wrote",
            CAIRN_FLAG_TEXT, .out = &o->commands, .verbs = "make"},
        {"--difference", NULL, NULL, "it fails if a state hash differs (the default)",
            CAIRN_FLAG_SWITCH, .out = &o->difference, .verbs = "shrink"},
        {"--predicate", NULL, "TEXT", "it fails if this holds, as in 'body 17 y < body 1 y'",
            CAIRN_FLAG_TEXT, .out = &o->predicate, .verbs = "shrink"},
        {"--assertion", NULL, NULL, "it fails if the rules end the program", CAIRN_FLAG_SWITCH,
            .out = &o->assertion, .verbs = "shrink"},
        {"--oracle", NULL, "COMMAND", "it fails if COMMAND RECORDING does not exit with 0 or 125",
            CAIRN_FLAG_TEXT, .out = &o->oracle, .verbs = "shrink"},
        {"--start", NULL, "TEXT", "begin with the last tick before at which this predicate holds",
            CAIRN_FLAG_TEXT, .out = &o->start, .verbs = "shrink"},
        {"--lead", NULL, "N", "or N ticks before the failure (--predicate: one second; else 1)",
            CAIRN_FLAG_U64, .out = &o->lead, .least = 1, .most = 1000000000, .verbs = "shrink"},
        {"--keep", NULL, "ID,ID", "bodies that must stay", CAIRN_FLAG_CUSTOM, .out = &o->bodies,
            .read = cairn_replay_read_bodies, .verbs = "shrink"},
        {"--minutes", NULL, "N", "end after this time with the smallest found so far (10)",
            CAIRN_FLAG_U64, .out = &o->minutes, .least = 1, .most = 10000, .verbs = "shrink"},
    };
    _Static_assert(sizeof flags / sizeof *flags == SHRINK_FLAG_COUNT, "room for each");
    memcpy(out, flags, sizeof flags);
}

static cairn_flags_result read_flags(int argc, char **argv, cairn_replay_options *o) {
    const cairn_flag general[] = {
        {"--json", NULL, NULL, "answer with one JSON object", CAIRN_FLAG_SWITCH, .out = &o->json,
            .verbs = "info verify seek diff explain shrink"},
        {"--workers", NULL, "N", "threads that share the work (1)", CAIRN_FLAG_U32,
            .out = &o->workers, .least = 1, .most = CAIRN_POOL_WORKERS_MAX,
            .verbs = "verify film shrink"},
        {"--key", NULL, "HEX|FILE", "the public key that must have signed it", CAIRN_FLAG_CUSTOM,
            .out = &o->key, .read = cairn_key_flag_public, .verbs = "verify join"},
        {"--body", NULL, "ID", "also print this body", CAIRN_FLAG_U32, .out = &o->body, .least = 1,
            .verbs = "seek"},
        {"--state", NULL, "FILE", "write the encoded state", CAIRN_FLAG_TEXT, .out = &o->state,
            .verbs = "seek"},
        {"--every", NULL, "N", "only each Nth tick (1)", CAIRN_FLAG_U64, .out = &o->every,
            .least = 1, .most = 1000000000, .verbs = "export"},
        {"--bodies", NULL, "ID,ID", "only these bodies", CAIRN_FLAG_CUSTOM, .out = &o->bodies,
            .read = cairn_replay_read_bodies, .verbs = "export"},
        {"--rules", "CAIRN_RULES", "FILE", "rules of a game (a shared object); repeatable",
            CAIRN_FLAG_CUSTOM, .out = o, .read = cairn_rules_flag_read,
            .verbs = "verify seek cut join diff explain export film make shrink"},
        {"--tick", NULL, "N", ".glb, .png: the world after N ticks (the last)", CAIRN_FLAG_U64,
            .out = &o->tick, .most = CAIRN_TICK_NONE - 1, .verbs = "export film"},
        {"--from", NULL, "N", ".webm: begin after N ticks (the first)", CAIRN_FLAG_U64,
            .out = &o->from, .most = CAIRN_TICK_NONE - 1, .verbs = "film"},
        {"--to", NULL, "N", ".webm: end after N ticks (the last)", CAIRN_FLAG_U64, .out = &o->to,
            .most = CAIRN_TICK_NONE - 1, .verbs = "film"},
        {"--fps", NULL, "N", ".webm: pictures for each second of the world's time (30)",
            CAIRN_FLAG_U32, .out = &o->pictures_hz, .least = 1, .most = 120, .verbs = "film"},
        {"--size", NULL, "WxH", "pixels (960x540)", CAIRN_FLAG_CUSTOM, .out = &o->view,
            .read = cairn_replay_read_size, .verbs = "film"},
        {"--eye", NULL, "X,Y,Z", "where one looks from (so that all moving bodies fit)",
            CAIRN_FLAG_CUSTOM, .out = &o->view, .read = cairn_replay_read_eye, .verbs = "film"},
        {"--target", NULL, "X,Y,Z", "what one looks at; with --eye", CAIRN_FLAG_CUSTOM,
            .out = &o->view, .read = cairn_replay_read_target, .verbs = "film"},
        {"--follow", NULL, "ID", "look at this body, from its side or as --eye is to --target",
            CAIRN_FLAG_U32, .out = &o->view.follows, .least = 1, .verbs = "film"},
        {"--page", NULL, "FILE", "the page to put it in (share/cairn/web/standalone.html)",
            CAIRN_FLAG_TEXT, .out = &o->page, .verbs = "page"},
        {"--sign", NULL, "FILE", "sign with the private key in this file of mode 600",
            CAIRN_FLAG_CUSTOM, .out = &o->sign, .read = cairn_key_flag_file,
            .verbs = "cut join make", .secret = true},
        {"--scene", NULL, "NAME|FILE", "built-in scene or JSON file (demo)", CAIRN_FLAG_TEXT,
            .out = &o->scene, .verbs = "make"},
        {"--seconds", NULL, "N", "seconds of the world's time (10)", CAIRN_FLAG_U64,
            .out = &o->seconds, .least = 1, .most = 1000000, .verbs = "make"},
        {"--players", NULL, "N", "players with random inputs (0)", CAIRN_FLAG_U32,
            .out = &o->players, .most = CAIRN_SLOTS_MAX, .verbs = "make"},
        {"--plough", NULL, "ID", "push this body along an ellipse", CAIRN_FLAG_U32,
            .out = &o->plough, .least = 1, .verbs = "make"},
        {"--awake", NULL, NULL, "no body may sleep", CAIRN_FLAG_SWITCH, .out = &o->awake,
            .verbs = "make"},
    };
    cairn_flag flags[sizeof general / sizeof *general + SHRINK_FLAG_COUNT];
    memcpy(flags, general, sizeof general);
    list_shrink_flags(o, flags + sizeof general / sizeof *general);
    cairn_flags_program program = {
        .name = "cairn-replay",
        .usage = "VERB [ARGUMENTS] [FLAGS]",
        .about = "Reads recordings of cairnd, steps them again, and makes new ones.",
        .notes = notes,
        .flags = flags,
        .flag_count = sizeof flags / sizeof *flags,
        .verbs = verbs,
        .verb_count = VERB_COUNT,
    };
    const cairn_flags_result result = cairn_flags_read(&program, argc, argv, NULL);
    memcpy(o->words, program.words, sizeof o->words);
    return result;
}

int cairn_replay_main(int argc, char **argv, const cairn_rules *const *rules, uint32_t count) {
    if (!cairn_rules_take("cairn-replay", rules, count)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    cairn_replay_options options = {.workers = 1,
        .every = 1,
        .tick = CAIRN_TICK_NONE,
        .from = CAIRN_TICK_NONE,
        .to = CAIRN_TICK_NONE,
        .view = {.width = 960, .height = 540},
        .scene = CAIRN_SCENE_DEFAULT,
        .seconds = 10,
        .minutes = 10};
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); // a write that meets a limit fails, and the file is removed
#endif
    const cairn_flags_result result = read_flags(argc, argv, &options);
    if (result != CAIRN_FLAGS_READ) {
        return result == CAIRN_FLAGS_REFUSED ? CAIRN_EXIT_UNUSABLE : CAIRN_EXIT_GOOD;
    }
    size_t i = 0;
    while (strcmp(verbs[i].name, options.words[0]) != 0) {
        i++;
    }
    const bool has_input = functions[i] != cairn_replay_make && functions[i] != cairn_replay_join;
    cairn_system_map input = {.bytes = NULL};
    if (has_input && !cairn_replay_file_open(options.words[1], &input)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    const int code = functions[i](&options, has_input ? &input : NULL);
    cairn_wipe(&options.sign, sizeof options.sign);
    if (has_input) {
        cairn_system_map_close(&input);
    }
    return code;
}
