// SPDX-License-Identifier: MIT
#pragma once

// What a recording asks of the operating system, so that tests and storms can make it fail. For
// cairnd and the storm.

#include <stddef.h>
#include <stdint.h>

#define CAIRN_RECORD_PATH_SIZE 4096

// Each returns -1, with errno, on failure.
typedef struct cairn_file_calls {
    int (*create)(void *user, const char *path); // for writing; EEXIST if it exists
    int64_t (*write)(void *user, int file, const void *bytes, size_t size);
    int (*sync)(void *user, int file);
    int (*truncate)(void *user, int file, int64_t size);
    int (*rename)(void *user, const char *from, const char *to); // EEXIST if `to` exists
    int (*sync_folder)(void *user, const char *path_in_it);
    int (*close)(void *user, int file);
    int (*remove)(void *user, const char *path);
    void *user;
} cairn_file_calls;
extern const cairn_file_calls cairn_file_calls_system;
