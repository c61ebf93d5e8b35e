// SPDX-License-Identifier: MIT
#include <stdio.h>

#include "program/progress.h"
#include "tools/replay/output.h"
#include "tools/replay/verbs.h"

static int complain_at_tick(const cairn_player *player, const char *why) {
    char words[CAIRN_RECORDING_ERROR_SIZE];
    snprintf(words, sizeof words, "at tick %llu %s",
        (unsigned long long)cairn_world_tick(player->world), why);
    return cairn_replay_complain(CAIRN_EXIT_DIFFERS, "cut", words);
}

// Records the tick that the player has just stepped.
static int copy_tick(const cairn_player *player, cairn_replay_output *out) {
    cairn_command commands[CAIRN_COMMANDS_PER_TICK_MAX];
    uint32_t count = 0;
    const cairn_wire_tick *tick = player->tick;
    const cairn_hash128 root = cairn_world_hash_read(player->world).full;
    if (!cairn_hash_equal(root, player->recorded_hash)) {
        return complain_at_tick(player, "the state hash differs: the cut would not verify");
    }
    if (!cairn_recorded_commands(&player->walk.chunk.ticks, tick, commands, &count)) {
        return complain_at_tick(player, "a command is invalid");
    }
    cairn_replay_output_tick(out, player->world, tick->tick, commands, count, root);
    return CAIRN_EXIT_GOOD;
}

static int copy_event(
    const cairn_player *player, cairn_player_event event, cairn_replay_output *out) {
    switch (event) {
    case CAIRN_PLAYER_TICK:
        return copy_tick(player, out);
    case CAIRN_PLAYER_REPLACED:
        return complain_at_tick(player, "the world is replaced: cut before this tick or after it");
    case CAIRN_PLAYER_END:
        return complain_at_tick(player, "the recording ends");
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
