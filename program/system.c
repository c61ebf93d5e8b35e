// SPDX-License-Identifier: MIT
#include "program/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cairn/types.h>

uint64_t cairn_monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CAIRN_NS_PER_S + (uint64_t)now.tv_nsec;
}

void cairn_system_sleep_ms(uint32_t ms) {
    const struct timespec length = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    nanosleep(&length, NULL);
}

void cairn_system_forbid_core_dumps(void) {
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    // A pipe to a crash handler does not ask for the limit.
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

bool cairn_system_random(void *out, size_t size) {
    return size <= 256 && getrandom(out, size, 0) == (ssize_t)size;
}

void cairn_system_start_sockets(void) {
}

bool cairn_system_map_open(const char *path, cairn_system_map *out) {
    static const uint64_t nothing = 0;
    *out = (cairn_system_map){.bytes = (const uint8_t *)&nothing};
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    bool good = file >= 0 && fstat(file, &about) == 0;
    if (good && about.st_size > 0) {
        out->size = (size_t)about.st_size;
        void *map = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, file, 0);
        good = map != MAP_FAILED;
        out->map = good ? map : NULL;
        out->bytes = good ? map : out->bytes;
    }
    const int code = errno;
    if (file >= 0) {
        close(file);
    }
    errno = code;
    return good;
}

void cairn_system_map_close(cairn_system_map *map) {
    if (map->map != NULL) {
        munmap(map->map, map->size);
    }
}

bool cairn_system_is_same_file(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

char *cairn_system_real_path(const char *path) {
    return realpath(path, NULL);
}

// A root without /proc, such as a fresh one of chroot, knows the path at which the program was
// started. NULL: it is not known.
static char *own_path(void) {
    char *path = cairn_system_real_path("/proc/self/exe");
    const unsigned long started = path == NULL ? getauxval(AT_EXECFN) : 0;
    return started == 0 ? path : cairn_system_real_path((const char *)(uintptr_t)started);
}

bool cairn_system_beside_program(const char *path, char *out, size_t size) {
    char *program_path = own_path();
    const char *slash = program_path == NULL ? NULL : strrchr(program_path, '/');
    const int written = slash == NULL ? -1
                                      : snprintf(out, size, "%.*s/%s", (int)(slash - program_path),
                                            program_path, path);
    free(program_path);
    return written >= 0 && (size_t)written < size;
}

FILE *cairn_system_open_output(const char *path, bool create, unsigned mode) {
    const int flags = O_WRONLY | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0);
    const int file = open(path, flags, (mode_t)mode);
    FILE *stream = file < 0 ? NULL : fdopen(file, "wb");
    if (file >= 0 && stream == NULL) {
        const int code = errno;
        close(file);
        if (create) {
            unlink(path);
        }
        errno = code;
    }
    return stream;
}

bool cairn_system_replace(const char *from, const char *to) {
    return rename(from, to) == 0;
}

cairn_system_secret cairn_system_read_secret(
    const char *path, bool is_private, char *out, size_t most, size_t *size) {
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return CAIRN_SECRET_FAILED;
    }
    const bool shared = is_private && fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                        (about.st_mode & 077) != 0;
    ssize_t got = shared ? 0 : 1;
    *size = 0;
    while (*size < most && got > 0) {
        got = read(file, out + *size, most - *size);
        *size += got > 0 ? (size_t)got : 0;
        got = got < 0 && errno == EINTR ? 1 : got;
    }
    const int code = errno;
    close(file);
    errno = code;
    return shared ? CAIRN_SECRET_SHARED : got < 0 ? CAIRN_SECRET_FAILED : CAIRN_SECRET_READ;
}
