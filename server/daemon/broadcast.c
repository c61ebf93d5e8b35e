// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "server/daemon/broadcast.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/assert.h"
#include "program/json.h"
#include "program/output_file.h"
#include "recording/file.h"
#include <cairn/version.h>

#define NUMBER_DIGITS 8 // of CAIRN_SEGMENT_NAME
#define NUMBER_END UINT64_C(100000000)

typedef struct listed_segment {
    uint64_t number;
    uint64_t first_tick;
    uint64_t tick_count;
    uint64_t size;
} listed_segment;

// A room's files. The numbers oldest .. next - 1 may exist.
typedef struct room_files {
    struct room_files *next_room;
    char room[CAIRN_ROOM_NAME_SIZE];
    uint64_t oldest;
    uint64_t next;
    listed_segment listed[CAIRN_BROADCAST_LISTED_MAX]; // by number modulo the size
    uint32_t listed_count;
    cairn_record_file file;
    bool open;
    bool damaged; // a write failed: nobody is to see the file
    int reported; // errno of the last failure that was reported; 0: it works
} room_files;

struct cairn_broadcast {
    cairn_broadcast_config config;
    room_files *rooms;
};

cairn_status cairn_broadcast_create(const cairn_broadcast_config *config, cairn_broadcast **out) {
    CAIRN_ASSERT(config->folder[0] != '\0');
    cairn_broadcast *broadcast = calloc(1, sizeof *broadcast);
    *out = broadcast;
    if (broadcast == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    broadcast->config = *config;
    if (config->calls == NULL) {
        broadcast->config.calls = &cairn_file_calls_system;
    }
    return CAIRN_OK;
}

void cairn_broadcast_close(cairn_broadcast *broadcast) {
    while (broadcast != NULL && broadcast->rooms != NULL) {
        room_files *closed = broadcast->rooms;
        broadcast->rooms = closed->next_room;
        if (closed->open) {
            (void)cairn_record_file_close(&closed->file);
        }
        free(closed);
    }
    free(broadcast);
}

// ------------------------------------------------------------------------------------- names

// FOLDER/ROOM/NAME. False, with errno: too long.
static bool path_of(const cairn_broadcast *broadcast, const char *room, const char *name,
    char out[CAIRN_RECORD_PATH_SIZE]) {
    const int size =
        snprintf(out, CAIRN_RECORD_PATH_SIZE, "%s/%s/%s", broadcast->config.folder, room, name);
    errno = ENAMETOOLONG;
    return size > 0 && size < CAIRN_RECORD_PATH_SIZE;
}

static bool segment_path(const cairn_broadcast *broadcast, const char *room, uint64_t number,
    char out[CAIRN_RECORD_PATH_SIZE]) {
    char name[48];
    snprintf(name, sizeof name, CAIRN_SEGMENT_NAME, number);
    return path_of(broadcast, room, name, out);
}

// False: the file has another name than a segment.
static bool read_number(const char *name, uint64_t *out) {
    char *end;
    if (strspn(name, "0123456789") != NUMBER_DIGITS) {
        return false;
    }
    *out = strtoull(name, &end, 10);
    return strcmp(end, ".cairn") == 0;
}

// ------------------------------------------------------------------------------------- rooms

static bool make_folder(const char *path) {
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

// Makes the room's folder, and finds the numbers that an earlier run has used.
static bool open_folder(cairn_broadcast *broadcast, room_files *files) {
    char path[CAIRN_RECORD_PATH_SIZE];
    DIR *folder = NULL;
    if (!path_of(broadcast, files->room, "", path) || !make_folder(broadcast->config.folder) ||
        !make_folder(path) || (folder = opendir(path)) == NULL) {
        return false;
    }
    files->oldest = NUMBER_END;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        uint64_t number;
        if (read_number(entry->d_name, &number)) {
            files->oldest = number < files->oldest ? number : files->oldest;
            files->next = number >= files->next ? number + 1 : files->next;
        }
    }
    closedir(folder);
    files->oldest = files->oldest < files->next ? files->oldest : files->next;
    return true;
}

static void report_error(
    cairn_broadcast *broadcast, room_files *files, int error, const char *call) {
    char path[CAIRN_RECORD_PATH_SIZE] = "";
    char why[160];
    if (files->reported != error) {
        files->reported = error;
        (void)path_of(broadcast, files->room, "", path);
        snprintf(why, sizeof why, "%s (%s)", strerror(error), call);
        broadcast->config.on_error(broadcast->config.user, files->room, path, why);
    }
}

// NULL: out of memory.
static room_files *find_or_add(cairn_broadcast *broadcast, const char *room) {
    room_files *found = broadcast->rooms;
    while (found != NULL && strcmp(found->room, room) != 0) {
        found = found->next_room;
    }
    if (found == NULL && (found = calloc(1, sizeof *found)) != NULL) {
        snprintf(found->room, sizeof found->room, "%s", room);
        found->next_room = broadcast->rooms;
        broadcast->rooms = found;
    }
    return found;
}

static void forget(cairn_broadcast *broadcast, const room_files *forgotten) {
    room_files **at = &broadcast->rooms;
    while (*at != forgotten) {
        at = &(*at)->next_room;
    }
    *at = forgotten->next_room;
}

// ------------------------------------------------------------------------------------- the index

static size_t print_index(
    const room_files *files, const cairn_server_segment *segment, char *out, size_t size) {
    cairn_json *index = cairn_json_create();
    cairn_json_put_count(index, "format", 1);
    cairn_json_put_text(index, "room", segment->room);
    cairn_json_put_text(index, "scene", segment->scene);
    cairn_json_put_count(index, "tick_rate_hz", segment->tick_rate_hz);
    cairn_json_put_count(index, "simulation", CAIRN_SIM_VERSION);
    cairn_json_put_bool(index, "live", !segment->last);
    cairn_json_put_count(index, "oldest", files->oldest);
    cairn_json *list = cairn_json_put_array(index, "segments");
    for (uint64_t number = files->next - files->listed_count; number < files->next; ++number) {
        const listed_segment *at = &files->listed[number % CAIRN_BROADCAST_LISTED_MAX];
        cairn_json *entry = cairn_json_put_object(list, NULL);
        cairn_json_put_count(entry, "number", at->number);
        cairn_json_put_count(entry, "first_tick", at->first_tick);
        cairn_json_put_count(entry, "ticks", at->tick_count);
        cairn_json_put_count(entry, "bytes", at->size);
    }
    const size_t written = cairn_json_write(index, out, size);
    cairn_json_destroy(index);
    return written;
}

// A viewer sees the old index or the new one.
static bool write_index(
    cairn_broadcast *broadcast, room_files *files, const cairn_server_segment *segment) {
    char path[CAIRN_RECORD_PATH_SIZE];
    char text[CAIRN_BROADCAST_LISTED_MAX * 128 + 512];
    const size_t size = print_index(files, segment, text, sizeof text);
    errno = ENOMEM;
    if (size > 0 && path_of(broadcast, files->room, "index.json", path) &&
        cairn_output_file_write(path, 0644, text, size)) {
        return true;
    }
    report_error(broadcast, files, errno, "index");
    return false;
}

// ------------------------------------------------------------------------------------- segments

// Deletes the segments that are older than they are kept: one that was made by another run, too.
static void delete_old(cairn_broadcast *broadcast, room_files *files) {
    const cairn_file_calls *calls = broadcast->config.calls;
    const time_t now = time(NULL);
    char path[CAIRN_RECORD_PATH_SIZE];
    struct stat status;
    while (broadcast->config.keep_s > 0 && files->oldest + files->listed_count < files->next &&
           segment_path(broadcast, files->room, files->oldest, path)) {
        const bool exists = stat(path, &status) == 0;
        if (exists && (now - status.st_mtime < (time_t)broadcast->config.keep_s ||
                          calls->remove(calls->user, path) != 0)) {
            return;
        }
        files->oldest += 1;
    }
}

static void list_segment(room_files *files, const cairn_server_segment *segment, uint64_t size) {
    files->listed[files->next % CAIRN_BROADCAST_LISTED_MAX] =
        (listed_segment){.number = files->next,
            .first_tick = segment->first_tick,
            .tick_count = segment->tick_count,
            .size = size};
    files->next += 1;
    files->listed_count += files->listed_count < CAIRN_BROADCAST_LISTED_MAX ? 1 : 0;
}

static bool end_segment(
    cairn_broadcast *broadcast, room_files *files, const cairn_server_segment *segment) {
    bool good = true;
    if (files->open) {
        const bool named = files->file.named;
        good = cairn_record_file_close(&files->file);
        files->open = false;
        if (!good) {
            report_error(broadcast, files, files->file.error, files->file.failed);
        }
        if (named && files->damaged) {
            (void)broadcast->config.calls->remove(broadcast->config.calls->user, files->file.path);
        } else if (named) {
            list_segment(files, segment, (uint64_t)files->file.size);
        }
    }
    delete_old(broadcast, files);
    good = write_index(broadcast, files, segment) && good;
    if (segment->last) {
        forget(broadcast, files);
        free(files);
    }
    return good;
}

static bool append(
    cairn_broadcast *broadcast, room_files *files, const uint8_t *bytes, size_t size) {
    char path[CAIRN_RECORD_PATH_SIZE];
    bool named;
    if (!segment_path(broadcast, files->room, files->next, path)) {
        report_error(broadcast, files, errno, "open");
        return false;
    }
    if (!files->open) {
        files->open = cairn_record_file_open(
            &files->file, broadcast->config.calls, CAIRN_RECORD_SYNC_NONE, path);
        files->damaged = false;
    }
    if (files->open && cairn_record_file_append(&files->file, path, bytes, size, &named)) {
        files->reported = 0;
        return true;
    }
    files->damaged = true;
    report_error(broadcast, files, files->file.error, files->file.failed);
    return false;
}

bool cairn_broadcast_write(cairn_broadcast *broadcast, const cairn_server_segment *segment,
    const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    room_files *files = find_or_add(broadcast, segment->room);
    if (files == NULL) {
        return false;
    }
    if (files->next == 0 && !files->open && !open_folder(broadcast, files)) {
        report_error(broadcast, files, errno, "folder");
        return false;
    }
    return size == 0 ? end_segment(broadcast, files, segment)
                     : append(broadcast, files, bytes, size);
}
