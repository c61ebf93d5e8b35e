// SPDX-License-Identifier: MIT
#include "tools/replay/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/flags.h"

int cairn_replay_complain(int code, const char *what, const char *why) {
    fprintf(stderr, "cairn-replay: %s: %s\n", what, why);
    return code;
}

int cairn_replay_complain_at(const cairn_player *player, const char *verb, const char *why) {
    char words[CAIRN_RECORDING_ERROR_SIZE];
    snprintf(words, sizeof words, "at tick %llu %s",
        (unsigned long long)cairn_world_tick(player->world), why);
    return cairn_replay_complain(CAIRN_EXIT_DIFFERS, verb, words);
}

bool cairn_replay_number(
    const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *out) {
    char error[CAIRN_FLAGS_ERROR_SIZE];
    const bool good = cairn_flags_number(name, text, least, most, out, error);
    if (!good) {
        fprintf(stderr, "cairn-replay: %s\n", error);
    }
    return good;
}

void cairn_replay_print_json(cairn_json *json) {
    cairn_json_print(json, stdout);
    cairn_json_destroy(json);
}

bool cairn_replay_differs(const char *input, const char *output) {
    if (input == NULL || !cairn_system_is_same_file(input, output)) {
        return true;
    }
    (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, output,
        "is the input, which would be overwritten; choose another output file");
    return false;
}

const char *cairn_replay_extension(const char *path) {
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash != NULL ? slash : path, '.');
    return dot == NULL || strncmp(path, "/dev/", 5) == 0 ? "" : dot + 1;
}

bool cairn_replay_is_recording(const char *path) {
    const char *extension = cairn_replay_extension(path);
    const bool good = extension[0] == '\0' || strcmp(extension, "cairn") == 0;
    if (!good) {
        (void)cairn_replay_complain(
            CAIRN_EXIT_UNUSABLE, path, "a recording is written; its name must end in .cairn");
    }
    return good;
}

bool cairn_replay_file_open(const char *path, cairn_system_map *out) {
    const bool good = cairn_system_map_open(path, out);
    if (!good) {
        (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    return good;
}

int cairn_replay_player_open(
    cairn_player *player, const cairn_replay_options *options, const cairn_system_map *input) {
    if (cairn_player_open(player, input->bytes, input->size, NULL)) {
        return CAIRN_EXIT_GOOD;
    }
    const bool version = player->refusal == CAIRN_RECORDED_VERSION;
    return cairn_replay_complain(
        version ? CAIRN_EXIT_VERSION : CAIRN_EXIT_UNUSABLE, options->words[1], player->error);
}

int cairn_replay_player_seek(cairn_player *player, const cairn_replay_options *options,
    uint64_t tick, uint64_t *state_tick) {
    const cairn_recording_reader *file = &player->walk.file;
    cairn_recording_index index;
    if (cairn_recording_index_of(file->bytes, file->size, &index) != CAIRN_OK) {
        return cairn_replay_complain(CAIRN_EXIT_UNUSABLE, options->words[1], "out of memory");
    }
    int code = CAIRN_EXIT_GOOD;
    if (cairn_player_seek(player, &index, tick)) {
        *state_tick = cairn_recording_index_find(&index, tick)->tick;
    } else {
        code = player->refusal == CAIRN_RECORDED_OK ? CAIRN_EXIT_UNUSABLE : CAIRN_EXIT_DAMAGED;
        (void)cairn_replay_complain(code, options->words[1], player->error);
    }
    cairn_recording_index_end(&index);
    return code;
}
