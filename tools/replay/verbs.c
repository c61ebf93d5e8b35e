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
    if (stat(input, &a) != 0 || stat(output, &b) != 0 || a.st_dev != b.st_dev ||
        a.st_ino != b.st_ino) {
        return true;
    }
    (void)cairn_replay_complain(CAIRN_EXIT_UNUSABLE, output,
        "is the input, which would be lost; give the output another name");
    return false;
}

static bool map_file(int descriptor, cairn_replay_file *out) {
    static const uint64_t nothing = 0;
    struct stat about;
    if (fstat(descriptor, &about) != 0) {
        return false;
    }
    out->size = (size_t)about.st_size;
    out->bytes = (const uint8_t *)&nothing;
    if (out->size == 0) {
        return true;
    }
    out->map = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (out->map == MAP_FAILED) {
        out->map = NULL;
        return false;
    }
    out->bytes = out->map;
    return true;
}

bool cairn_replay_file_open(const char *path, cairn_replay_file *out) {
    *out = (cairn_replay_file){.bytes = NULL};
    int descriptor = open(path, O_RDONLY);
    bool good = descriptor >= 0 && map_file(descriptor, out);
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
    *file = (cairn_replay_file){.bytes = NULL};
}
