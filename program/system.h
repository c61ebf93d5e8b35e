// SPDX-License-Identifier: MIT
#pragma once

// What programs ask the operating system for: clocks, sleep, random bytes, and what C's own
// functions for files leave out. system.c is for POSIX, system_windows.c for Windows.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

uint64_t cairn_monotonic_ns(void);       // monotonic
void cairn_system_sleep_ms(uint32_t ms); // returns early if a signal arrives
// The process writes no core file and shows its memory to no debugger of its user: it holds keys.
void cairn_system_forbid_core_dumps(void);
bool cairn_system_random(void *out, size_t size); // fit for keys; false: the system failed
// Before the first look-up of a host's name. Only Windows needs it.
void cairn_system_start_sockets(void);

// A file whose bytes are in memory; pages that are not read are never loaded.
typedef struct cairn_system_map {
    const uint8_t *bytes; // aligned to 8; never NULL
    size_t size;
    void *map; // NULL: the file is empty
} cairn_system_map;

// False: errno says why.
bool cairn_system_map_open(const char *path, cairn_system_map *out);
void cairn_system_map_close(cairn_system_map *map);

// Whether two paths lead to one file; false if either leads to none.
bool cairn_system_is_same_file(const char *a, const char *b);
// What a path with links leads to; NULL: there is no such file. The caller frees it.
char *cairn_system_real_path(const char *path);
// `path`, which is relative, from the folder of the running program. False: the system does not say
// where that is, or the text is too long.
bool cairn_system_beside_program(const char *path, char *out, size_t size);
// For writing, and no child process inherits it. `create`: a new file with the permissions `mode`,
// less the umask; an error if there is one. NULL: errno says why.
FILE *cairn_system_open_output(const char *path, bool create, unsigned mode);
// Gives a file a name that another file may have, which is replaced. False: errno says why.
bool cairn_system_replace(const char *from, const char *to);

typedef enum cairn_system_secret {
    CAIRN_SECRET_READ,
    CAIRN_SECRET_FAILED, // errno says why
    CAIRN_SECRET_SHARED, // others than its owner may read the file; nothing was read
} cairn_system_secret;

// Reads at most `most` bytes of a file without a buffer on the heap, where a secret would stay.
// Permissions are asked only if `is_private`, and not on Windows, where a file has none of this
// kind.
cairn_system_secret cairn_system_read_secret(
    const char *path, bool is_private, char *out, size_t most, size_t *size);
