// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "program/progress.h"
#include "tools/replay/output.h"
#include "tools/replay/verbs.h"

static int copy_event(
    const cairn_player *player, cairn_player_event event, cairn_replay_output *out) {
    switch (event) {
    case CAIRN_PLAYER_TICK:
        return cairn_replay_output_copy(out, player, "cut");
    case CAIRN_PLAYER_REPLACED:
        return cairn_replay_complain_at(
            player, "cut", "the world is replaced: cut before this tick or after it");
    case CAIRN_PLAYER_END:
        return cairn_replay_complain_at(player, "cut", "the recording ends");
    case CAIRN_PLAYER_REFUSED:
        return cairn_replay_complain(CAIRN_EXIT_DAMAGED, "cut", player->error);
    case CAIRN_PLAYER_KEYFRAME:
        break;
    }
    return CAIRN_EXIT_GOOD;
}

static int copy_ticks(const cairn_replay_options *options, cairn_player *player, uint64_t to,
    const char *scene_name) {
    cairn_replay_output out;
    int code = cairn_replay_output_open(
        &out, options->words[4], &options->sign, scene_name, player->world);
    cairn_progress progress;
    cairn_progress_begin(&progress, "ticks", to - cairn_world_tick(player->world));
    while (code == CAIRN_EXIT_GOOD && cairn_world_tick(player->world) < to) {
        code = copy_event(player, cairn_player_next(player), &out);
        cairn_progress_step(&progress, 1);
    }
    cairn_progress_end(&progress);
    return cairn_replay_output_close(&out, code);
}

int cairn_replay_cut(const cairn_replay_options *options, const cairn_system_map *input) {
    uint64_t from, to, state_tick;
    if (!cairn_replay_number("FROM", options->words[2], 0, UINT64_MAX - 1, &from) ||
        !cairn_replay_number("TO", options->words[3], from + 1, UINT64_MAX, &to) ||
        !cairn_replay_differs(options->words[1], options->words[4]) ||
        !cairn_replay_differs(options->sign.file, options->words[4]) ||
        !cairn_replay_is_recording(options->words[4])) {
        return CAIRN_EXIT_UNUSABLE;
    }
    cairn_player player;
    int code = cairn_replay_player_open(&player, options, input);
    if (code == CAIRN_EXIT_GOOD) {
        char scene_name[32];
        snprintf(scene_name, sizeof scene_name, "%.31s", player.walk.chunk.start.scene_name);
        code = cairn_replay_player_seek(&player, options, from, &state_tick);
        code = code == CAIRN_EXIT_GOOD ? copy_ticks(options, &player, to, scene_name) : code;
    }
    cairn_player_close(&player);
    return code;
}
