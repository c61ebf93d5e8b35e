// SPDX-License-Identifier: MIT
#include "program/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"

#define NUMBER_MAX 99

static bool refuse_name(void) {
    errno = ENAMETOOLONG;
    return false;
}

// Follows links, so that the file is renamed to what they lead to.
static bool find_path(cairn_output_file *out, const char *path) {
    char *real = realpath(path, NULL);
    const char *found = real != NULL ? real : path;
    const size_t size = strlen(found) + 1;
    const bool fits = size <= sizeof out->path;
    if (fits) {
        memcpy(out->path, found, size);
    }
    free(real);
    return fits || refuse_name();
}

static int create_temporary(cairn_output_file *out, unsigned mode) {
    int file = -1;
    errno = EEXIST;
    for (int number = 0; number <= NUMBER_MAX && file < 0 && errno == EEXIST; ++number) {
        const int size =
            number == 0
                ? snprintf(out->temporary, sizeof out->temporary, "%s.part", out->path)
                : snprintf(out->temporary, sizeof out->temporary, "%s.%d.part", out->path, number);
        if (size < 0 || (size_t)size >= sizeof out->temporary) {
            (void)refuse_name();
            return -1;
        }
        file = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    }
    return file;
}

bool cairn_output_file_open(cairn_output_file *out, const char *path, unsigned mode) {
    struct stat about;
    *out = (cairn_output_file){.file = NULL};
    if (!find_path(out, path)) {
        return false;
    }
    const bool direct = stat(out->path, &about) == 0 && !S_ISREG(about.st_mode);
    const int file = direct ? open(out->path, O_WRONLY | O_CLOEXEC) : create_temporary(out, mode);
    if (file < 0) {
        return false;
    }
    out->file = fdopen(file, "wb");
    if (out->file == NULL) {
        const int code = errno;
        close(file);
        if (!direct) {
            unlink(out->temporary);
        }
        errno = code;
    }
    return out->file != NULL;
}

bool cairn_output_file_close(cairn_output_file *out, bool complete) {
    CAIRN_ASSERT(out->file != NULL);
    errno = EIO;
    bool good = !ferror(out->file);
    good = fclose(out->file) == 0 && good;
    out->file = NULL;
    if (out->temporary[0] == '\0') {
        return good;
    }
    const bool keep = complete && good;
    if (keep && rename(out->temporary, out->path) == 0) {
        return true;
    }
    const int code = errno;
    unlink(out->temporary);
    errno = code;
    return good && !keep;
}

bool cairn_output_file_write(const char *path, unsigned mode, const void *bytes, size_t size) {
    cairn_output_file out;
    if (!cairn_output_file_open(&out, path, mode)) {
        return false;
    }
    // Not through a buffer of the heap, where a secret would stay.
    setvbuf(out.file, NULL, _IONBF, 0);
    const bool complete = fwrite(bytes, 1, size, out.file) == size;
    return cairn_output_file_close(&out, complete) && complete;
}
