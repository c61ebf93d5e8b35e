// SPDX-License-Identifier: MIT
#pragma once

// One recording as a file. It is created under a temporary name and gets its own name when its
// first chunk is complete, so that no file ever has the name of a recording without being one. No
// file is ever replaced: when NAME exists, it becomes NAME.1, NAME.2 and so on. After a failed
// write the file is cut to its last whole chunk. For cairnd and the storm.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "server/daemon/file_calls.h"

// When a file's bytes are forced to the disk. What the system has taken survives the end of the
// process in any case; this is about power loss.
typedef enum cairn_record_sync {
    CAIRN_RECORD_SYNC_NONE = 0,
    CAIRN_RECORD_SYNC_CHUNK = 1, // after each chunk
    CAIRN_RECORD_SYNC_CLOSE = 2, // after the first chunk and when it is closed
} cairn_record_sync;

typedef struct cairn_record_file {
    const cairn_file_calls *calls;
    cairn_record_sync sync;
    int file;                          // -1: not open
    bool named;                        // has its own name
    int64_t size;                      // of whole chunks
    int error;                         // errno of the last failure
    const char *failed;                // the call that failed: "open", "write", ...; static
    char path[CAIRN_RECORD_PATH_SIZE]; // the temporary name, then its own
} cairn_record_file;

// Creates the file that will be named `wanted`. False: error and failed say why.
bool cairn_record_file_open(cairn_record_file *out, const cairn_file_calls *calls,
    cairn_record_sync sync, const char *wanted);
// Appends whole chunks. *named: this call gave the file its name, `wanted` or `wanted` with a
// number. False: nothing was appended, and the file must be closed.
bool cairn_record_file_append(
    cairn_record_file *file, const char *wanted, const uint8_t *bytes, size_t size, bool *named);
// Closes the file, and removes it if it holds no whole chunk. False: its last chunks may be lost.
bool cairn_record_file_close(cairn_record_file *file);
