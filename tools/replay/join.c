// SPDX-License-Identifier: MIT
// A broadcast's segments (server/daemon/broadcast.h) as one recording. Each must begin with the
// state that the one before ended with, so nothing can be missing between them.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tools/replay/output.h"
#include "tools/replay/verbs.h"

typedef struct joined {
    const cairn_replay_options *options;
    cairn_replay_output out;
    cairn_world_hash end; // of the segment before
    uint64_t tick;
    uint64_t segments;
} joined;

static bool is_signed(const cairn_replay_options *options, const cairn_system_map *segment) {
    uint8_t key[CAIRN_RECORDING_KEY_SIZE];
    return !options->key.given ||
           (cairn_recording_check_seal(segment->bytes, segment->size, key) == CAIRN_SEAL_SIGNED &&
               memcmp(key, options->key.bytes, sizeof key) == 0);
}

// The first segment begins the output, each other one continues it.
static int begin_segment(joined *j, const cairn_player *player) {
    char scene_name[32];
    if (j->segments == 0) {
        snprintf(scene_name, sizeof scene_name, "%.31s", player->walk.chunk.start.scene_name);
        return cairn_replay_output_open(
            &j->out, j->options->words[2], &j->options->sign, scene_name, player->world);
    }
    const cairn_world_hash start = cairn_world_hash_read(player->world);
    return cairn_world_tick(player->world) == j->tick && cairn_hash_equal(start.full, j->end.full)
               ? CAIRN_EXIT_GOOD
               : cairn_replay_complain_at(
                     player, "join", "a segment does not continue the one before");
}

static int copy_segment(joined *j, cairn_player *player) {
    int code = begin_segment(j, player);
    cairn_player_event event = CAIRN_PLAYER_TICK;
    while (code == CAIRN_EXIT_GOOD && event != CAIRN_PLAYER_END) {
        event = cairn_player_next(player);
        if (event == CAIRN_PLAYER_TICK) {
            code = cairn_replay_output_copy(&j->out, player, "join");
        } else if (event == CAIRN_PLAYER_REFUSED) {
            code = cairn_replay_complain(CAIRN_EXIT_DAMAGED, "join", player->error);
        } else if (event == CAIRN_PLAYER_REPLACED) {
            code = cairn_replay_complain_at(player, "join", "the world is replaced");
        }
    }
    if (code == CAIRN_EXIT_GOOD && !cairn_player_complete(player)) {
        code = cairn_replay_complain(CAIRN_EXIT_DAMAGED, "join", "a segment is cut off");
    }
    j->end = cairn_world_hash_read(player->world);
    j->tick = cairn_world_tick(player->world);
    return code;
}

static int join_segment(joined *j, const char *path, const cairn_system_map *segment) {
    if (!is_signed(j->options, segment)) {
        return cairn_replay_complain(CAIRN_EXIT_SEAL, path, "not signed with the key of --key");
    }
    cairn_player player;
    int code = cairn_replay_player_open(&player, j->options, segment);
    code = code == CAIRN_EXIT_GOOD ? copy_segment(j, &player) : code;
    cairn_player_close(&player);
    j->segments += 1;
    return code;
}

// The number of the first segment that the index says is still there.
static bool read_oldest(const char *folder, uint64_t *number) {
    char path[CAIRN_OUTPUT_PATH_SIZE];
    cairn_system_map index;
    double oldest = -1;
    snprintf(path, sizeof path, "%s/index.json", folder);
    if (!cairn_system_map_open(path, &index)) {
        (void)cairn_replay_complain(0, path, strerror(errno));
        return false;
    }
    cairn_json *json = cairn_json_parse((const char *)index.bytes, index.size);
    const bool good = cairn_json_get_number(json, "oldest", &oldest) && oldest >= 0 && oldest < 1e9;
    *number = good ? (uint64_t)oldest : 0;
    cairn_json_destroy(json);
    cairn_system_map_close(&index);
    if (!good) {
        (void)cairn_replay_complain(0, path, "not the index of a broadcast");
    }
    return good;
}

int cairn_replay_join(const cairn_replay_options *options, const cairn_system_map *input) {
    (void)input;
    joined j = {.options = options};
    const char *folder = options->words[1];
    char path[CAIRN_OUTPUT_PATH_SIZE];
    uint64_t number;
    cairn_system_map segment;
    int code = CAIRN_EXIT_GOOD;
    if (!cairn_replay_is_recording(options->words[2]) ||
        !cairn_replay_differs(options->sign.file, options->words[2]) ||
        !read_oldest(folder, &number)) {
        return CAIRN_EXIT_UNUSABLE;
    }
    for (; code == CAIRN_EXIT_GOOD; ++number) {
        snprintf(path, sizeof path, "%s/" CAIRN_SEGMENT_NAME, folder, number);
        if (!cairn_system_map_open(path, &segment)) {
            break;
        }
        code = join_segment(&j, path, &segment);
        cairn_system_map_close(&segment);
    }
    if (j.segments == 0) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    return j.out.path == NULL ? code : cairn_replay_output_close(&j.out, code);
}
