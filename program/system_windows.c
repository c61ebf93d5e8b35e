// SPDX-License-Identifier: MIT
#include "program/system.h"

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include <winsock2.h>

#include <ntsecapi.h>

#include <cairn/types.h>

// errno after a function of Windows failed.
static bool fail(void) {
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        errno = ENOENT;
        break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        errno = EACCES;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
        errno = ENOMEM;
        break;
    default:
        errno = EIO;
    }
    return false;
}

uint64_t cairn_monotonic_ns(void) {
    LARGE_INTEGER frequency, count;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&count);
    const uint64_t per_s = (uint64_t)frequency.QuadPart;
    const uint64_t whole = (uint64_t)count.QuadPart / per_s;
    const uint64_t part = (uint64_t)count.QuadPart % per_s;
    return whole * CAIRN_NS_PER_S + part * CAIRN_NS_PER_S / per_s;
}

void cairn_system_sleep_ms(uint32_t ms) {
    Sleep(ms);
}

void cairn_system_forbid_core_dumps(void) {
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
}

bool cairn_system_random(void *out, size_t size) {
    return size <= 256 && RtlGenRandom(out, (ULONG)size);
}

void cairn_system_start_sockets(void) {
    static bool started;
    WSADATA data;
    started = started || WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

static HANDLE open_file(const char *path, DWORD access) {
    const DWORD share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    return CreateFileA(path, access, share, NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

bool cairn_system_map_open(const char *path, cairn_system_map *out) {
    static const uint64_t nothing = 0;
    *out = (cairn_system_map){.bytes = (const uint8_t *)&nothing};
    const HANDLE file = open_file(path, GENERIC_READ);
    LARGE_INTEGER size = {0};
    bool good = file != INVALID_HANDLE_VALUE && (GetFileSizeEx(file, &size) || fail());
    if (good && size.QuadPart > 0) {
        // The view keeps the mapping.
        const HANDLE mapping = CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL);
        out->map = mapping == NULL ? NULL : MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
        good = out->map != NULL || fail();
        if (mapping != NULL) {
            CloseHandle(mapping);
        }
        out->size = good ? (size_t)size.QuadPart : 0;
        out->bytes = good ? out->map : out->bytes;
    }
    if (file != INVALID_HANDLE_VALUE) {
        CloseHandle(file);
    } else {
        (void)fail();
    }
    return good;
}

void cairn_system_map_close(cairn_system_map *map) {
    if (map->map != NULL) {
        UnmapViewOfFile(map->map);
    }
}

static bool identity(const char *path, BY_HANDLE_FILE_INFORMATION *out) {
    const HANDLE file = open_file(path, 0);
    const bool good = file != INVALID_HANDLE_VALUE && GetFileInformationByHandle(file, out);
    if (file != INVALID_HANDLE_VALUE) {
        CloseHandle(file);
    }
    return good;
}

bool cairn_system_is_same_file(const char *a, const char *b) {
    BY_HANDLE_FILE_INFORMATION first, second;
    return identity(a, &first) && identity(b, &second) &&
           first.dwVolumeSerialNumber == second.dwVolumeSerialNumber &&
           first.nFileIndexHigh == second.nFileIndexHigh &&
           first.nFileIndexLow == second.nFileIndexLow;
}

char *cairn_system_real_path(const char *path) {
    return _access(path, 0) == 0 ? _fullpath(NULL, path, 0) : NULL;
}

bool cairn_system_beside_program(const char *path, char *out, size_t size) {
    char program_path[MAX_PATH];
    const DWORD length = GetModuleFileNameA(NULL, program_path, sizeof program_path);
    const char *slash = length == 0 || length == MAX_PATH ? NULL : strrchr(program_path, '\\');
    const int written = slash == NULL ? -1
                                      : snprintf(out, size, "%.*s/%s", (int)(slash - program_path),
                                            program_path, path);
    return written >= 0 && (size_t)written < size;
}

FILE *cairn_system_open_output(const char *path, bool create, unsigned mode) {
    const int flags = _O_WRONLY | _O_BINARY | _O_NOINHERIT | (create ? _O_CREAT | _O_EXCL : 0);
    const int file = _open(path, flags, (int)(mode & (_S_IREAD | _S_IWRITE)));
    FILE *stream = file < 0 ? NULL : _fdopen(file, "wb");
    if (file >= 0 && stream == NULL) {
        const int code = errno;
        _close(file);
        if (create) {
            (void)remove(path);
        }
        errno = code;
    }
    return stream;
}

bool cairn_system_replace(const char *from, const char *to) {
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) || fail();
}

cairn_system_secret cairn_system_read_secret(
    const char *path, bool is_private, char *out, size_t most, size_t *size) {
    (void)is_private;
    const int file = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    int got = file < 0 ? -1 : 1;
    *size = 0;
    while (*size < most && got > 0) {
        got = _read(file, out + *size, (unsigned)(most - *size));
        *size += got > 0 ? (size_t)got : 0;
    }
    const int code = errno;
    if (file >= 0) {
        _close(file);
    }
    errno = code;
    return got < 0 ? CAIRN_SECRET_FAILED : CAIRN_SECRET_READ;
}
