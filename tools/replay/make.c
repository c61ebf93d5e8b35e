// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/game_input.h"
#include "bridge/scene_world.h"
#include "program/progress.h"
#include "program/scene_file.h"
#include "program/system.h"
#include "schema/scene.h"
#include "tools/replay/output.h"
#include "tools/replay/shrink/commands_file.h"
#include "tools/replay/verbs.h"

#define TURN 6.283185307179586

static float random_axis(uint64_t tick, uint64_t slot, uint64_t stream) {
    return (float)(cairn_random_at(1, tick, slot, stream) >> 40) / 8388608.0f - 1.0f;
}

// An input of the layout that the rules declare; the same for 16 ticks. Returns how many commands.
static uint32_t declared_input(
    const cairn_rules *rules, uint64_t tick, uint32_t slot, cairn_command *out) {
    uint32_t input[CAIRN_INPUT_FIELDS_MAX];
    cairn_random random = cairn_random_of(cairn_random_at(1, tick / 16, slot, 10));
    cairn_input_draw(rules->input, rules->input_count, &random, input);
    return cairn_commands_of_input(rules, slot, (uint32_t)tick, input, out);
}

static cairn_command player_command(uint64_t tick, uint32_t slot) {
    if (tick == slot) {
        return (cairn_command){.kind = CAIRN_COMMAND_JOIN, .slot = slot};
    }
    const uint64_t dice = cairn_random_at(1, tick, slot, 9);
    const uint64_t when = tick / 16;
    return (cairn_command){.kind = CAIRN_COMMAND_INPUT,
        .slot = slot,
        .sequence = (uint32_t)tick,
        .buttons = dice % 64 == 0   ? CAIRN_SANDBOX_PUSH
                   : dice % 64 == 1 ? CAIRN_SANDBOX_JUMP
                                    : 0,
        .move = {.x = random_axis(when, slot, 1), .z = random_axis(when, slot, 2)},
        .aim = {.x = random_axis(when, slot, 3), .y = 0.1f, .z = random_axis(when, slot, 4)}};
}

// Players join at the first ticks; the body is pushed as in the benchmark's first scene.
static uint32_t make_commands(const cairn_replay_options *options, const cairn_world *world,
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX]) {
    const uint64_t tick = cairn_world_tick(world);
    const cairn_rules *rules = cairn_world_settings(world)->rules;
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < options->players && slot <= tick; slot++) {
        if (rules != NULL && rules->input_count > 0 && tick > slot) {
            count += declared_input(rules, tick, slot, &commands[count]);
        } else {
            commands[count++] = player_command(tick, slot);
        }
    }
    if (options->plough > 0) {
        const uint32_t rate_hz = cairn_world_settings(world)->tick_rate_hz;
        const double seconds = (double)tick / rate_hz;
        // 60 kN along x with a period of 6 s, 30 kN along z with one of 4 s, for one tick.
        commands[count++] = (cairn_command){.kind = CAIRN_COMMAND_IMPULSE,
            .slot = CAIRN_SLOT_OPERATOR,
            .buttons = options->plough,
            .move = {.x = (float)(60000.0 * cos(TURN * seconds / 6.0) / rate_hz),
                .z = (float)(30000.0 * sin(TURN * seconds / 4.0) / rate_hz)}};
    }
    cairn_commands_sort(commands, count);
    return count;
}

static void step_all(
    const cairn_replay_options *options, cairn_world *world, cairn_replay_output *out) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint64_t ticks = options->seconds * cairn_world_settings(world)->tick_rate_hz;
    cairn_progress progress;
    cairn_progress_begin(&progress, "ticks", ticks);
    for (uint64_t i = 0; i < ticks && !cairn_recorder_failed(out->recorder); i++) {
        uint64_t tick = cairn_world_tick(world);
        uint32_t count = make_commands(options, world, commands);
        cairn_world_step(world, commands, count);
        cairn_replay_output_tick(
            out, world, tick, commands, count, cairn_world_hash_read(world).full);
        cairn_progress_step(&progress, 1);
    }
    cairn_progress_end(&progress);
}

// The commands of a file, which has its own ticks.
static void play_file(const cairn_play *play, cairn_world *world, cairn_replay_output *out) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t next = 0;
    for (uint64_t at = 0; at < play->ticks && !cairn_recorder_failed(out->recorder); at++) {
        const uint32_t count = cairn_play_next(play, at, &next, commands);
        cairn_world_step(world, commands, count);
        cairn_replay_output_tick(
            out, world, at, commands, count, cairn_world_hash_read(world).full);
    }
}

static int record_scene(
    const cairn_replay_options *options, const cairn_scene *scene, const cairn_play *play) {
    char error[CAIRN_SCENE_ERROR_SIZE];
    cairn_world *world;
    if (cairn_scene_world_create(scene, NULL, &world, error) != CAIRN_OK) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->scene, error);
    }
    cairn_replay_output out;
    uint64_t start_ns = cairn_monotonic_ns();
    int code =
        cairn_replay_output_open(&out, options->words[1], &options->sign, scene->name, world);
    if (code == CAIRN_EXIT_GOOD && play->ticks > 0) {
        play_file(play, world, &out);
    } else if (code == CAIRN_EXIT_GOOD) {
        step_all(options, world, &out);
    }
    code = cairn_replay_output_close(&out, code);
    if (code == CAIRN_EXIT_GOOD) {
        printf("%s: %.9g s of world in %.1f s, %llu bytes\n", options->words[1],
            (double)cairn_world_tick(world) / cairn_world_settings(world)->tick_rate_hz,
            (double)(cairn_monotonic_ns() - start_ns) * 1e-9, (unsigned long long)out.bytes);
    }
    cairn_world_destroy(world);
    return code;
}

int cairn_replay_make(const cairn_replay_options *options, const cairn_system_map *input) {
    (void)input;
    if (!cairn_replay_differs(options->scene, options->words[1]) ||
        !cairn_replay_differs(options->sign.file, options->words[1]) ||
        !cairn_replay_differs(options->commands, options->words[1]) ||
        !cairn_replay_is_recording(options->words[1])) {
        return CAIRN_EXIT_UNUSABLE;
    }
    cairn_scene *scene = cairn_scene_file_load("cairn-replay", options->scene);
    if (scene == NULL) {
        return CAIRN_EXIT_UNUSABLE;
    }
    if (options->awake) {
        scene->world.sleep = 0;
    }
    char error[CAIRN_COMMANDS_FILE_ERROR_SIZE];
    cairn_play play = {.commands = NULL};
    const bool read =
        options->commands == NULL || cairn_commands_read(options->commands, &play, error);
    const int code = read ? record_scene(options, scene, &play)
                          : cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->commands, error);
    free(play.commands);
    cairn_scene_destroy(scene);
    return code;
}
