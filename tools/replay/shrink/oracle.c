// SPDX-License-Identifier: MIT
#include "tools/replay/shrink/oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "sim/debug/poison.h"
#include "sim/state/world.h"
#include "tools/replay/output.h"

const char *cairn_oracle_text(const cairn_oracle *oracle) {
    static const char *const texts[] = {
        [CAIRN_ORACLE_PREDICATE] = "the predicate holds",
        [CAIRN_ORACLE_RECORDED] = "the recorded state hash differs",
        [CAIRN_ORACLE_RESTORE] = "each step in a world that was loaded differs",
        [CAIRN_ORACLE_FILL] = "steps read memory that is not state",
        [CAIRN_ORACLE_LANES] = "one constraint at a time differs",
        [CAIRN_ORACLE_WORKERS] = "two threads differ from one",
        [CAIRN_ORACLE_TRIAL] = "",
        [CAIRN_ORACLE_RULES] = "the rules end the program",
        [CAIRN_ORACLE_COMMAND] = "the command says so",
    };
    return oracle->kind == CAIRN_ORACLE_TRIAL ? oracle->trial->words : texts[oracle->kind];
}

// ---------------------------------------------------------------- which function of rules runs

enum { PART_NONE, PART_START, PART_STEP, PART_AFTER, PART_HOST, PART_MESSAGE };

static struct {
    const cairn_rules *rules;
    cairn_rules marked;
    cairn_answer *answer;
} marks; // of a child process; rules have no argument for it

const char *cairn_oracle_part_text(uint32_t part) {
    static const char *const texts[] = {"none", "start", "step", "after_step", "host", "message"};
    return texts[part % (sizeof texts / sizeof *texts)];
}

static void marked_start(cairn_world *world, void *state) {
    marks.answer->part = PART_START;
    marks.rules->start(world, state);
    marks.answer->part = PART_NONE;
}

static void marked_step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t count) {
    marks.answer->part = PART_STEP;
    marks.rules->step(world, state, commands, count);
    marks.answer->part = PART_NONE;
}

static void marked_after(cairn_world *world, void *state) {
    marks.answer->part = PART_AFTER;
    marks.rules->after_step(world, state);
    marks.answer->part = PART_NONE;
}

static void marked_host(cairn_world *world, void *state, const cairn_command *command) {
    marks.answer->part = PART_HOST;
    marks.rules->host(world, state, command);
    marks.answer->part = PART_NONE;
}

static void marked_message(
    cairn_world *world, void *state, uint32_t slot, const uint8_t *bytes, uint32_t size) {
    marks.answer->part = PART_MESSAGE;
    marks.rules->message(world, state, slot, bytes, size);
    marks.answer->part = PART_NONE;
}

static void mark_rules(cairn_world *world, cairn_answer *answer) {
    const cairn_rules *rules = world->def.rules;
    if (rules == NULL) {
        return;
    }
    marks.rules = rules;
    marks.answer = answer;
    marks.marked = *rules;
    marks.marked.start = rules->start != NULL ? marked_start : NULL;
    marks.marked.step = rules->step != NULL ? marked_step : NULL;
    marks.marked.after_step = rules->after_step != NULL ? marked_after : NULL;
    marks.marked.host = rules->host != NULL ? marked_host : NULL;
    marks.marked.message = rules->message != NULL ? marked_message : NULL;
    world->def.rules = &marks.marked;
}

// ------------------------------------------------------------------------------------- watching

bool cairn_shrink_watch_begin(cairn_shrink_watch *watch, const cairn_oracle *oracle,
    const cairn_predicate *predicate, cairn_world *world, cairn_answer *answer) {
    *watch = (cairn_shrink_watch){
        .oracle = oracle, .predicate = predicate, .world = world, .answer = answer};
    const bool twin = oracle->kind >= CAIRN_ORACLE_RESTORE && oracle->kind <= CAIRN_ORACLE_TRIAL;
    if (oracle->kind == CAIRN_ORACLE_RULES) {
        mark_rules(world, answer);
    }
    if (twin && cairn_world_fork(world, &watch->other) != CAIRN_OK) {
        return false;
    }
    if (oracle->kind == CAIRN_ORACLE_RESTORE) {
        watch->save_size = cairn_world_save_size_max(world);
        watch->save = malloc(watch->save_size);
        return watch->save != NULL;
    }
    if (oracle->kind == CAIRN_ORACLE_LANES) {
        return cairn_world_set_lanes(watch->other, cairn_world_lanes(world) == 1 ? 4 : 1) ==
               CAIRN_OK;
    }
    if (oracle->kind == CAIRN_ORACLE_WORKERS) {
        if (cairn_pool_create(2, &watch->pool) != CAIRN_OK) {
            return false;
        }
        const cairn_parallel parallel = {.context = watch->pool,
            .workers = 2,
            .run = cairn_pool_parallel,
            .wait = cairn_pool_wait};
        return cairn_world_set_parallel(watch->other, &parallel) == CAIRN_OK;
    }
    return true;
}

void cairn_shrink_watch_end(cairn_shrink_watch *watch) {
    cairn_world_destroy(watch->other);
    cairn_pool_destroy(watch->pool);
    free(watch->save);
}

// The first body that differs says around what to look.
static uint32_t differing_body(const cairn_world *a, const cairn_world *b) {
    cairn_difference found[64];
    const uint32_t all = cairn_world_diff(a, b, found, 64);
    cairn_body_state *bodies = calloc(CAIRN_BODIES_MAX, sizeof *bodies);
    uint32_t id = CAIRN_ID_NULL;
    const uint32_t count = bodies != NULL ? cairn_world_bodies(a, bodies, CAIRN_BODIES_MAX) : 0;
    for (uint32_t i = 0; i < all && i < 64 && id == CAIRN_ID_NULL; ++i) {
        for (uint32_t k = 0; k < count && found[i].section == CAIRN_SECTION_BODIES; ++k) {
            id = cairn_id_index(bodies[k].id) == found[i].element ? bodies[k].id : id;
        }
    }
    free(bodies);
    return id;
}

static bool differs(cairn_shrink_watch *watch) {
    const bool same = cairn_hash_equal(
        cairn_world_hash_read(watch->world).full, cairn_world_hash_read(watch->other).full);
    if (!same) {
        watch->answer->body = differing_body(watch->world, watch->other);
    }
    return !same;
}

static bool step_twin(cairn_shrink_watch *watch, const cairn_command *commands, uint32_t count) {
    switch (watch->oracle->kind) {
    case CAIRN_ORACLE_FILL:
        (void)cairn_world_copy(watch->other, watch->world);
        cairn_world_poison(watch->other, 0xff);
        break;
    case CAIRN_ORACLE_RESTORE: {
        const size_t size = cairn_world_save(watch->world, watch->save, watch->save_size);
        (void)cairn_world_load(watch->other, watch->save, size);
        break;
    }
    case CAIRN_ORACLE_TRIAL:
        cairn_world_step(watch->world, commands, count);
        cairn_trial_step(watch->oracle->trial, watch->other, commands, count, NULL);
        return differs(watch);
    default:
        break;
    }
    cairn_world_step(watch->world, commands, count);
    cairn_world_step(watch->other, commands, count);
    return differs(watch);
}

bool cairn_shrink_watch_step(cairn_shrink_watch *watch, const cairn_command *commands,
    uint32_t count, const cairn_hash128 *recorded) {
    watch->answer->tick = cairn_world_tick(watch->world) + 1;
    if (watch->other != NULL) {
        return step_twin(watch, commands, count);
    }
    cairn_world_step(watch->world, commands, count);
    if (watch->oracle->kind == CAIRN_ORACLE_PREDICATE) {
        return cairn_predicate_holds(watch->predicate, watch->world, &watch->answer->body);
    }
    return watch->oracle->kind == CAIRN_ORACLE_RECORDED && recorded != NULL &&
           !cairn_hash_equal(*recorded, cairn_world_hash_read(watch->world).full);
}

// -------------------------------------------------------------------------------------- asking

bool cairn_repro_record(const cairn_repro *repro, const char *path) {
    static const cairn_key no_key;
    cairn_replay_output out;
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    cairn_world *world = cairn_repro_world(repro);
    uint32_t next = 0;
    if (world == NULL) {
        return false;
    }
    int code = cairn_replay_output_open(&out, path, &no_key, "shrunk", world);
    for (uint64_t at = 0; code == 0 && at < repro->play.ticks; ++at) {
        const uint64_t tick = cairn_world_tick(world);
        const uint32_t count = cairn_play_next(&repro->play, at, &next, commands);
        cairn_world_step(world, commands, count);
        cairn_replay_output_tick(
            &out, world, tick, commands, count, cairn_world_hash_read(world).full);
    }
    code = cairn_replay_output_close(&out, code);
    cairn_world_destroy(world);
    return code == 0;
}

// The command gets a recording of the candidate; what it says is its exit code, as git bisect run
// has it: 125 means that it cannot be tried.
static void ask_command(
    const cairn_oracle *oracle, const cairn_repro *repro, cairn_answer *answer) {
    char path[] = "/tmp/cairn-shrink-XXXXXX.cairn";
    const int file = mkstemps(path, 6);
    if (file < 0) {
        return;
    }
    close(file);
    const size_t size = strlen(oracle->command) + sizeof path + 2;
    char *line = malloc(size);
    if (line != NULL && cairn_repro_record(repro, path)) {
        snprintf(line, size, "%s %s", oracle->command, path);
        const int status = system(line);
        answer->code = status != -1 && WIFEXITED(status) ? (uint32_t)WEXITSTATUS(status) : 125;
        answer->tick += repro->play.ticks;
        const bool fails = oracle->code >= 0 ? answer->code == (uint32_t)oracle->code
                                             : answer->code != 0 && answer->code != 125;
        answer->outcome = answer->code == 125 ? CAIRN_OUTCOME_UNKNOWN
                          : fails             ? CAIRN_OUTCOME_FAILS
                                              : CAIRN_OUTCOME_PASSES;
    }
    free(line);
    unlink(path);
}

static void run(const cairn_oracle *oracle, const cairn_repro *repro, cairn_world *world,
    cairn_answer *answer) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    const uint64_t first = cairn_world_tick(world);
    uint32_t next = 0;
    cairn_shrink_watch watch;
    answer->tick = first;
    if (!cairn_shrink_watch_begin(&watch, oracle, &repro->predicate, world, answer)) {
        cairn_shrink_watch_end(&watch);
        return;
    }
    bool failed = false;
    for (uint64_t at = 0; at < repro->play.ticks && !failed; ++at) {
        const uint32_t count = cairn_play_next(&repro->play, at, &next, commands);
        failed = cairn_shrink_watch_step(&watch, commands, count, NULL);
    }
    answer->outcome = failed && answer->tick - first >= oracle->ticks_min ? CAIRN_OUTCOME_FAILS
                                                                          : CAIRN_OUTCOME_PASSES;
    cairn_shrink_watch_end(&watch);
}

void cairn_oracle_ask(const cairn_oracle *oracle, const cairn_repro *repro, cairn_answer *answer) {
    if (repro->missing) {
        answer->outcome = CAIRN_OUTCOME_PASSES;
        return;
    }
    cairn_world *world = cairn_repro_world(repro);
    if (world == NULL) {
        return;
    }
    const bool begins =
        repro->start.node_count == 0 || cairn_predicate_holds(&repro->start, world, NULL);
    const bool already = oracle->kind == CAIRN_ORACLE_PREDICATE &&
                         cairn_predicate_holds(&repro->predicate, world, NULL);
    if (!begins || already) {
        answer->outcome = CAIRN_OUTCOME_PASSES;
    } else if (oracle->kind == CAIRN_ORACLE_COMMAND) {
        answer->tick = cairn_world_tick(world);
        ask_command(oracle, repro, answer);
    } else {
        run(oracle, repro, world, answer);
    }
    cairn_world_destroy(world);
}

void cairn_oracle_judge(const cairn_oracle *oracle, cairn_answer *answer) {
    if (!answer->crashed) {
        return;
    }
    const bool same = oracle->kind == CAIRN_ORACLE_RULES && answer->part != PART_NONE &&
                      (oracle->part == PART_NONE || oracle->part == answer->part);
    answer->outcome = same ? CAIRN_OUTCOME_FAILS : CAIRN_OUTCOME_UNKNOWN;
}
