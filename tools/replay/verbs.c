// SPDX-License-Identifier: MIT
#include "tools/replay/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/flags.h"

int cairn_replay_complain(int code, const char *what, const char *why) {
    fprintf(stderr, "cairn-replay: %s: %s\n", what, why);
    return code;
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
    struct stat a, b;
    if (input == NULL || stat(input, &a) != 0 || stat(output, &b) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino) {
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

bool cairn_replay_file_open(const char *path, cairn_replay_file *out) {
    static const uint64_t nothing = 0;
    *out = (cairn_replay_file){.bytes = (const uint8_t *)&nothing};
    const int descriptor = open(path, O_RDONLY);
    struct stat about;
    bool good = descriptor >= 0 && fstat(descriptor, &about) == 0;
    if (good && about.st_size > 0) {
        out->size = (size_t)about.st_size;
        out->map = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
        out->bytes = out->map;
        good = out->map != MAP_FAILED;
    }
    if (!good) {
        (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, path, strerror(errno));
    }
    if (descriptor >= 0) {
        close(descriptor);
    }
    return good;
}

void cairn_replay_file_close(cairn_replay_file *file) {
    if (file->map != NULL) {
        munmap(file->map, file->size);
    }
}

int cairn_replay_player_open(
    cairn_player *player, const cairn_replay_options *options, const cairn_replay_file *input) {
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
