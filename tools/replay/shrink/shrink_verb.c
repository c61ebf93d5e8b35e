// SPDX-License-Identifier: MIT
// The verb shrink: finds the failure, makes it small, writes it, and asks again of what was
// written.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bridge/scene_world.h"
#include "program/output_file.h"
#include "program/scene_file.h"
#include "tools/replay/shrink/commands_file.h"
#include "tools/replay/shrink/reduce.h"
#include "tools/replay/shrink/scene_write.h"
#include "tools/replay/shrink/test_write.h"

#define PATH_SIZE 4096

enum { OUT_SCENE, OUT_COMMANDS, OUT_RECORDING, OUT_TEST, OUT_COUNT };
static const char *const endings[OUT_COUNT] = {".json", ".commands.json", ".cairn", ".c"};

typedef struct outputs {
    char paths[OUT_COUNT][PATH_SIZE];
} outputs;

static bool name_outputs(const cairn_replay_options *options, outputs *out) {
    const char *prefix = options->words[2];
    const size_t size = strlen(prefix);
    if (size == 0 || size + 16 > PATH_SIZE || prefix[size - 1] == '/') {
        (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, prefix,
            "must be the beginning of file names, to which .json, .commands.json, .cairn and .c "
            "are added");
        return false;
    }
    for (int i = 0; i < OUT_COUNT; ++i) {
        snprintf(out->paths[i], PATH_SIZE, "%s%s", prefix, endings[i]);
        if (!cairn_replay_differs(options->words[1], out->paths[i])) {
            return false;
        }
    }
    return true;
}

// ------------------------------------------------------------------------------------ arguments

static bool parse(const char *flag, const char *text, cairn_predicate *out) {
    char error[CAIRN_PREDICATE_ERROR_SIZE];
    const bool good = text == NULL || cairn_predicate_parse(text, out, error);
    if (!good) {
        (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, flag, error);
    }
    return good;
}

static bool read_arguments(cairn_shrink *shrink) {
    const cairn_replay_options *o = shrink->options;
    const int ways = (o->predicate != NULL) + (o->oracle != NULL) + o->assertion + o->difference;
    if (ways > 1) {
        (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "shrink",
            "give one of --difference, --predicate, --assertion and --oracle: they say what a "
            "failure is");
        return false;
    }
    shrink->oracle = (cairn_oracle){.kind = o->predicate != NULL ? CAIRN_ORACLE_PREDICATE
                                            : o->oracle != NULL  ? CAIRN_ORACLE_COMMAND
                                            : o->assertion       ? CAIRN_ORACLE_RULES
                                                                 : CAIRN_ORACLE_RECORDED,
        .command = o->oracle,
        .code = -1,
        .ticks_min = 1};
    return parse("--predicate", o->predicate, &shrink->predicate) &&
           parse("--start", o->start, &shrink->start);
}

// A second of a predicate, so that the test shows what led to it; one tick of what else fails.
static void choose_lead(cairn_shrink *shrink) {
    const cairn_replay_options *o = shrink->options;
    cairn_player player;
    shrink->lead = o->lead > 0 ? o->lead : 1;
    if (o->lead == 0 && o->predicate != NULL &&
        cairn_player_open(&player, shrink->input->bytes, shrink->input->size, NULL)) {
        shrink->lead = cairn_world_settings(player.world)->tick_rate_hz;
        cairn_player_close(&player);
    }
}

// -------------------------------------------------------------------------------------- writing

static bool write_text(const char *path, char *text) {
    const bool good = text != NULL && cairn_output_file_write(path, 0666, text, strlen(text));
    free(text);
    return good;
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool write_test(const cairn_shrink *shrink, const char *path) {
    cairn_output_file file;
    if (!cairn_output_file_open(&file, path, 0666)) {
        return false;
    }
    const bool good = cairn_test_write(&shrink->best, &shrink->oracle, last_part(path),
        last_part(shrink->options->words[1]), file.file);
    return cairn_output_file_close(&file, good) && good;
}

// What a child does in the place of this process, since it steps worlds.
typedef struct recording_job {
    const cairn_repro *repro;
    const char *path;
} recording_job;

static void write_recording(void *context, uint32_t index, cairn_answer *answer) {
    const recording_job *job = context;
    (void)index;
    answer->outcome =
        cairn_repro_record(job->repro, job->path) ? CAIRN_OUTCOME_PASSES : CAIRN_OUTCOME_UNKNOWN;
}

// A run whose last step ends the program is recorded up to the step before.
static bool write_run(const cairn_shrink *shrink, const char *path) {
    cairn_repro run = shrink->best;
    run.play.ticks -= shrink->oracle.kind == CAIRN_ORACLE_RULES ? 1 : 0;
    recording_job job = {.repro = &run, .path = path};
    cairn_answer answer;
    return cairn_children_run(
               write_recording, &job, 1, 1, cairn_monotonic_ns() + 600 * CAIRN_NS_PER_S, &answer) &&
           answer.outcome == CAIRN_OUTCOME_PASSES;
}

static int write_all(const cairn_shrink *shrink, const outputs *out) {
    const bool scene = shrink->best.scene != NULL;
    for (int i = 0; i < OUT_COUNT; ++i) {
        errno = 0;
        const char *path = out->paths[i];
        const bool good = i == OUT_SCENE
                              ? !scene || write_text(path, cairn_scene_write(shrink->best.scene))
                          : i == OUT_COMMANDS
                              ? !scene || write_text(path, cairn_commands_write(&shrink->best.play))
                          : i == OUT_TEST ? write_test(shrink, path)
                                          : write_run(shrink, path);
        if (!good) {
            return cairn_replay_complain(
                CAIRN_EXIT_UNUSABLE, path, errno != 0 ? strerror(errno) : "cannot be written");
        }
    }
    return CAIRN_EXIT_GOOD;
}

// Reads what was written and asks it. False: it does not fail.
static bool check_scene(cairn_shrink *shrink, const outputs *out) {
    char error[CAIRN_COMMANDS_FILE_ERROR_SIZE] = "";
    cairn_play play;
    cairn_scene *scene = cairn_scene_file_load("cairn-replay", out->paths[OUT_SCENE]);
    bool fails = false;
    if (scene != NULL && cairn_commands_read(out->paths[OUT_COMMANDS], &play, error)) {
        cairn_repro written = shrink->best;
        written.scene = scene;
        written.play = play;
        fails = cairn_shrink_fails(shrink, &written, NULL);
        free(play.commands);
    }
    cairn_scene_destroy(scene);
    return fails;
}

static bool check_state(cairn_shrink *shrink, const outputs *out) {
    cairn_system_map map;
    cairn_player player;
    if (!cairn_replay_file_open(out->paths[OUT_RECORDING], &map)) {
        return false;
    }
    bool fails = false;
    if (cairn_player_open(&player, map.bytes, map.size, NULL)) {
        cairn_repro written = shrink->best;
        written.state = player.world;
        fails = cairn_shrink_fails(shrink, &written, NULL);
    }
    cairn_player_close(&player);
    cairn_system_map_close(&map);
    return fails;
}

// --------------------------------------------------------------------------------------- answer

static void print_answer(const cairn_shrink *shrink, const outputs *out) {
    const cairn_repro *best = &shrink->best;
    const uint32_t bodies = cairn_repro_count(best, CAIRN_SELECT_BODIES);
    const uint32_t joints = cairn_repro_count(best, CAIRN_SELECT_JOINTS);
    const double took_s = (double)(cairn_monotonic_ns() - shrink->begin_ns) * 1e-9;
    if (shrink->options->json) {
        cairn_json *json = cairn_json_create();
        cairn_json_put_text(json, "failure", cairn_oracle_text(&shrink->oracle));
        cairn_json_put_count(json, "tick_failed", shrink->tick_failed);
        cairn_json_put_count(json, "bodies", bodies);
        cairn_json_put_count(json, "joints", joints);
        cairn_json_put_count(json, "commands", best->play.count);
        cairn_json_put_count(json, "ticks", best->play.ticks);
        cairn_json_put_bool(json, "scene", best->scene != NULL);
        cairn_json_put_bool(json, "minimal", !shrink->stopped);
        cairn_json_put_count(json, "asked", shrink->asked);
        cairn_json_put_real(json, "took_s", took_s);
        cairn_replay_print_json(json);
        return;
    }
    printf(
        "%s: %u bodies, %u joints, %u commands and %llu ticks fail as tick %llu of %s does: %s\n",
        shrink->options->words[2], bodies, joints, best->play.count,
        (unsigned long long)best->play.ticks, (unsigned long long)shrink->tick_failed,
        shrink->options->words[1], cairn_oracle_text(&shrink->oracle));
    printf("%s: %llu candidates in %.1f s; %s\n", shrink->options->words[2],
        (unsigned long long)shrink->asked, took_s,
        shrink->stopped ? "the time was over, so it may be made smaller"
                        : "no body, joint or command can be left out alone");
    for (int i = best->scene != NULL ? OUT_SCENE : OUT_RECORDING; i < OUT_COUNT; ++i) {
        printf("%s\n", out->paths[i]);
    }
}

static int shrink_and_write(cairn_shrink *shrink, const outputs *out) {
    const int code = cairn_shrink_find(shrink);
    if (code != CAIRN_EXIT_GOOD) {
        return code;
    }
    cairn_shrink_reduce(shrink);
    cairn_shrink_simplify(shrink);
    const int written = write_all(shrink, out);
    if (written != CAIRN_EXIT_GOOD) {
        return written;
    }
    const bool stopped = shrink->stopped;
    shrink->stopped = false;
    shrink->deadline_ns = cairn_monotonic_ns() + 60 * CAIRN_NS_PER_S;
    const bool fails =
        shrink->best.scene != NULL ? check_scene(shrink, out) : check_state(shrink, out);
    shrink->stopped = stopped;
    if (!fails) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, shrink->options->words[2],
            "what was written does not fail when it is read again: the failure is not the same "
            "each time");
    }
    print_answer(shrink, out);
    return CAIRN_EXIT_GOOD;
}

int cairn_replay_shrink(const cairn_replay_options *options, const cairn_system_map *input) {
    outputs out;
    cairn_shrink *shrink = calloc(1, sizeof *shrink);
    if (shrink == NULL) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, "shrink", "out of memory");
    }
    shrink->options = options;
    shrink->input = input;
    shrink->begin_ns = cairn_monotonic_ns();
    shrink->deadline_ns = shrink->begin_ns + options->minutes * 60 * CAIRN_NS_PER_S;
    int code = CAIRN_EXIT_UNUSABLE;
    if (read_arguments(shrink) && name_outputs(options, &out)) {
        choose_lead(shrink);
        code = shrink_and_write(shrink, &out);
    }
    cairn_repro_end(&shrink->best);
    free(shrink);
    return code;
}
