// SPDX-License-Identifier: MIT
#pragma once

// A file that a program writes as a whole. It is created under a temporary name beside its own and
// renamed when it is complete, so that a failure leaves what was there before.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CAIRN_OUTPUT_PATH_SIZE 4096

typedef struct cairn_output_file {
    FILE *file;                             // for writing; NULL: not open
    char path[CAIRN_OUTPUT_PATH_SIZE];      // what a link leads to
    char temporary[CAIRN_OUTPUT_PATH_SIZE]; // "": `path` is a device or a pipe, written directly
} cairn_output_file;

// `mode`: permissions of the new file, less the umask. False: errno says why.
bool cairn_output_file_open(cairn_output_file *out, const char *path, unsigned mode);
// Gives the file its name if `complete`, which replaces an older one, and removes it otherwise.
// False: errno says why the file is not there.
bool cairn_output_file_close(cairn_output_file *out, bool complete);
// Opens, writes and closes. False: errno says why.
bool cairn_output_file_write(const char *path, unsigned mode, const void *bytes, size_t size);
