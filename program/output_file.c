// SPDX-License-Identifier: MIT
#include "program/output_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "program/system.h"

#define NUMBER_MAX 99

static bool refuse_name(void) {
    errno = ENAMETOOLONG;
    return false;
}

// Follows links, so that the file is renamed to what they lead to.
static bool find_path(cairn_output_file *out, const char *path) {
    char *real = cairn_system_real_path(path);
    const char *found = real != NULL ? real : path;
    const size_t size = strlen(found) + 1;
    const bool fits = size <= sizeof out->path;
    if (fits) {
        memcpy(out->path, found, size);
    }
    free(real);
    return fits || refuse_name();
}

static FILE *create_temporary(cairn_output_file *out, unsigned mode) {
    FILE *file = NULL;
    errno = EEXIST;
    for (int number = 0; number <= NUMBER_MAX && file == NULL && errno == EEXIST; ++number) {
        const int size =
            number == 0
                ? snprintf(out->temporary, sizeof out->temporary, "%s.part", out->path)
                : snprintf(out->temporary, sizeof out->temporary, "%s.%d.part", out->path, number);
        if (size < 0 || (size_t)size >= sizeof out->temporary) {
            (void)refuse_name();
            return NULL;
        }
        file = cairn_system_open_output(out->temporary, true, mode);
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
    out->file =
        direct ? cairn_system_open_output(out->path, false, 0) : create_temporary(out, mode);
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
    if (keep && cairn_system_replace(out->temporary, out->path)) {
        return true;
    }
    const int code = errno;
    (void)remove(out->temporary);
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
