// SPDX-License-Identifier: MIT
#include "rules_file/trial.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bridge/scene_world.h"
#include "rules_file/child.h"
#include "rules_file/play.h"

#define TRIAL_TIMEOUT_S 10
#define TICKS 120
#define CANARY 0xa5

// Of the child alone, because rules have no argument for it. The state that the rules are given
// ends where a forbidden page begins; the bytes before it hold canaries.
static struct {
    const cairn_rules *rules;
    uint8_t *low; // first canary
    uint8_t *state;
    const char *broken; // the function that overwrote a canary
} trial;

static void begin_call(const char *part, const void *state) {
    cairn_child_enter(part);
    memcpy(trial.state, state, trial.rules->state_size);
}

static void end_call(const char *part, void *state) {
    cairn_child_enter("the simulation");
    memcpy(state, trial.state, trial.rules->state_size);
    for (const uint8_t *at = trial.low; at < trial.state; ++at) {
        trial.broken = *at != CANARY && trial.broken == NULL ? part : trial.broken;
    }
}

static void guarded_start(cairn_world *world, void *state) {
    begin_call("start", state);
    trial.rules->start(world, trial.state);
    end_call("start", state);
}

static void guarded_step(
    cairn_world *world, void *state, const cairn_command *commands, uint32_t command_count) {
    begin_call("step", state);
    trial.rules->step(world, trial.state, commands, command_count);
    end_call("step", state);
}

static void guarded_after_step(cairn_world *world, void *state) {
    begin_call("after_step", state);
    trial.rules->after_step(world, trial.state);
    end_call("after_step", state);
}

static void guarded_host(cairn_world *world, void *state, const cairn_command *command) {
    begin_call("host", state);
    trial.rules->host(world, trial.state, command);
    end_call("host", state);
}

static void guarded_message(
    cairn_world *world, void *state, uint32_t slot, const uint8_t *bytes, uint32_t size) {
    begin_call("message", state);
    trial.rules->message(world, trial.state, slot, bytes, size);
    end_call("message", state);
}

static bool create_guards(const cairn_rules *rules) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t inside = (rules->state_size + page) / page * page; // at least one canary
    uint8_t *all =
        mmap(NULL, inside + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED || mprotect(all, page, PROT_NONE) != 0 ||
        mprotect(all + page + inside, page, PROT_NONE) != 0) {
        return false;
    }
    trial.rules = rules;
    trial.low = all + page;
    trial.state = trial.low + inside - rules->state_size;
    memset(trial.low, CANARY, (size_t)(trial.state - trial.low));
    cairn_child_guard(all, all + page);
    cairn_child_guard(all + page + inside, all + page + inside + page);
    return true;
}

typedef struct setting {
    const cairn_scene *scene;
    const cairn_rules *rules;
    uint32_t players_max;
} setting;

static bool run_trial(void *context, char *text) {
    const setting *s = context;
    cairn_rules guarded = *s->rules;
    guarded.start = s->rules->start == NULL ? NULL : guarded_start;
    guarded.step = guarded_step;
    guarded.host = s->rules->host == NULL ? NULL : guarded_host;
    guarded.message = s->rules->message == NULL ? NULL : guarded_message;
    guarded.after_step = s->rules->after_step == NULL ? NULL : guarded_after_step;
    if (!create_guards(s->rules)) {
        snprintf(text, CAIRN_RULES_FILE_ERROR_SIZE, "out of memory");
        return false;
    }
    cairn_child_enter("the simulation");
    cairn_world *world = NULL;
    char error[CAIRN_SCENE_ERROR_SIZE];
    if (cairn_scene_world_create(s->scene, &guarded, &world, error) != CAIRN_OK) {
        return true; // the room's own attempt says what is wrong with the scene
    }
    for (uint64_t tick = 0; tick < TICKS && trial.broken == NULL; ++tick) {
        cairn_command commands[CAIRN_RULES_PLAY_MAX];
        const uint32_t count = cairn_rules_play(s->rules, s->players_max, 1, tick, TICKS, commands);
        cairn_world_step(world, commands, count);
    }
    if (trial.broken != NULL) {
        snprintf(text, CAIRN_RULES_FILE_ERROR_SIZE, "they write outside their state in %s",
            trial.broken);
    }
    return trial.broken == NULL;
}

bool cairn_rules_trial(const cairn_scene *scene, const cairn_rules *rules, uint32_t players_max,
    char error[CAIRN_RULES_FILE_ERROR_SIZE]) {
    setting s = {.scene = scene, .rules = rules, .players_max = players_max};
    return cairn_child_run(run_trial, &s, TRIAL_TIMEOUT_S, error);
}
