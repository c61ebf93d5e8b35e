// SPDX-License-Identifier: MIT
#include "server/daemon/record_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"

// Names that are tried.
#define NUMBER_MAX 9999

static bool set_failed(cairn_record_file *file, const char *call) {
    file->error = errno;
    file->failed = call;
    return false;
}

static bool print_path(
    char out[CAIRN_RECORD_PATH_SIZE], const char *wanted, int number, const char *ending) {
    const int size = number == 0
                         ? snprintf(out, CAIRN_RECORD_PATH_SIZE, "%s%s", wanted, ending)
                         : snprintf(out, CAIRN_RECORD_PATH_SIZE, "%s.%d%s", wanted, number, ending);
    if (size < 0 || size >= CAIRN_RECORD_PATH_SIZE) {
        errno = ENAMETOOLONG;
        return false;
    }
    return true;
}

bool cairn_record_file_open(cairn_record_file *out, const cairn_file_calls *calls,
    cairn_record_sync sync, const char *wanted) {
    CAIRN_ASSERT(wanted[0] != '\0');
    *out = (cairn_record_file){.calls = calls, .sync = sync, .file = -1};
    errno = EEXIST;
    for (int number = 0; number <= NUMBER_MAX && errno == EEXIST; ++number) {
        if (!print_path(out->path, wanted, number, ".part")) {
            break;
        }
        out->file = calls->create(calls->user, out->path);
        if (out->file >= 0) {
            return true;
        }
    }
    return set_failed(out, "open");
}

static bool name_file(cairn_record_file *file, const char *wanted) {
    const cairn_file_calls *calls = file->calls;
    char path[CAIRN_RECORD_PATH_SIZE];
    errno = EEXIST;
    for (int number = 0; number <= NUMBER_MAX && errno == EEXIST && !file->named; ++number) {
        if (!print_path(path, wanted, number, "")) {
            break;
        }
        file->named = calls->rename(calls->user, file->path, path) == 0;
    }
    if (!file->named) {
        return set_failed(file, "rename");
    }
    memcpy(file->path, path, sizeof path);
    return file->sync == CAIRN_RECORD_SYNC_NONE ||
           calls->sync_folder(calls->user, file->path) == 0 || set_failed(file, "sync");
}

// Writes everything, in as many calls as it takes.
static bool write_all(cairn_record_file *file, const uint8_t *bytes, size_t size) {
    size_t at = 0;
    while (at < size) {
        const int64_t written =
            file->calls->write(file->calls->user, file->file, bytes + at, size - at);
        if (written > 0) {
            at += (size_t)written;
        } else if (written == 0 || errno != EINTR) {
            errno = written == 0 ? EIO : errno;
            return false;
        }
    }
    return true;
}

bool cairn_record_file_append(
    cairn_record_file *file, const char *wanted, const uint8_t *bytes, size_t size, bool *named) {
    CAIRN_ASSERT(file->file >= 0 && size > 0);
    const cairn_file_calls *calls = file->calls;
    *named = false;
    if (!write_all(file, bytes, size)) {
        (void)set_failed(file, "write");
        // If this fails too, the file still verifies to its last whole chunk.
        (void)calls->truncate(calls->user, file->file, file->size);
        return false;
    }
    const bool first = file->size == 0;
    const bool sync =
        file->sync == CAIRN_RECORD_SYNC_CHUNK || (file->sync == CAIRN_RECORD_SYNC_CLOSE && first);
    if (sync && calls->sync(calls->user, file->file) != 0) {
        return set_failed(file, "sync");
    }
    file->size += (int64_t)size;
    const bool good = !first || name_file(file, wanted);
    *named = first && file->named;
    return good;
}

bool cairn_record_file_close(cairn_record_file *file) {
    CAIRN_ASSERT(file->file >= 0);
    const cairn_file_calls *calls = file->calls;
    bool good = true;
    if (file->named && file->sync != CAIRN_RECORD_SYNC_NONE &&
        calls->sync(calls->user, file->file) != 0) {
        good = set_failed(file, "sync");
    }
    if (calls->close(calls->user, file->file) != 0) {
        good = set_failed(file, "close");
    }
    file->file = -1;
    if (!file->named) {
        (void)calls->remove(calls->user, file->path);
    }
    return good;
}
