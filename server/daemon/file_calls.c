// SPDX-License-Identifier: MIT
// For renameat2.
#define _GNU_SOURCE
#include "server/daemon/file_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int system_create(void *user, const char *path) {
    (void)user;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
}

static int64_t system_write(void *user, int file, const void *bytes, size_t size) {
    (void)user;
    return write(file, bytes, size);
}

static int system_sync(void *user, int file) {
    (void)user;
    return fdatasync(file);
}

static int system_truncate(void *user, int file, int64_t size) {
    (void)user;
    return ftruncate(file, size); // nothing is appended afterwards
}

static int system_rename(void *user, const char *from, const char *to) {
    (void)user;
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    // Some file systems do not know the flag; a hard link does not replace either.
    if ((errno != EINVAL && errno != ENOSYS) || link(from, to) != 0) {
        return -1;
    }
    return unlink(from);
}

static int system_sync_folder(void *user, const char *path_in_it) {
    (void)user;
    char folder[CAIRN_RECORD_PATH_SIZE];
    const char *slash = strrchr(path_in_it, '/');
    const int length = slash == NULL ? 0 : (int)(slash - path_in_it) + 1;
    snprintf(folder, sizeof folder, "%.*s.", length, path_in_it);
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Not every file system can sync a folder.
    const int synced = file < 0 ? -1 : fsync(file) == 0 || errno == EINVAL ? 0 : -1;
    if (file >= 0) {
        const int code = errno;
        close(file);
        errno = code;
    }
    return synced;
}

static int system_close(void *user, int file) {
    (void)user;
    return close(file);
}

static int system_remove(void *user, const char *path) {
    (void)user;
    return unlink(path);
}

const cairn_file_calls cairn_file_calls_system = {
    .create = system_create,
    .write = system_write,
    .sync = system_sync,
    .truncate = system_truncate,
    .rename = system_rename,
    .sync_folder = system_sync_folder,
    .close = system_close,
    .remove = system_remove,
};
