// SPDX-License-Identifier: MIT
#define _POSIX_C_SOURCE 200809L
#include "server/daemon/records.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "recording/player.h"
#include <cairn/server.h>

typedef struct record {
    struct record *next;
    char room[CAIRN_ROOM_NAME_SIZE];
    bool named_by_user; // on the command line; others are forgotten when they are complete
    // The thread that writes.
    cairn_record_file file;
    bool open;
    int reported; // errno of the last failure that was reported; 0: it works
    // Under the mutex.
    char last_path[CAIRN_RECORD_PATH_SIZE]; // "": no file has its name yet
    char wanted[];                          // path
} record;

struct cairn_records {
    cairn_records_config config;
    // Guards the list and the paths. It is never held while a file is used.
    pthread_mutex_t mutex;
    record *list; // in the order in which they were added
};

cairn_status cairn_records_create(const cairn_records_config *config, cairn_records **out) {
    cairn_records *records = calloc(1, sizeof *records);
    *out = records;
    if (records == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    records->config = *config;
    if (config->calls == NULL) {
        records->config.calls = &cairn_file_calls_system;
    }
    pthread_mutex_init(&records->mutex, NULL);
    return CAIRN_OK;
}

// The mutex is held.
static record *find_record(const cairn_records *records, const char *room) {
    CAIRN_ASSERT(records != NULL && room != NULL);
    record *at = records->list;
    while (at != NULL && strcmp(at->room, room) != 0) {
        at = at->next;
    }
    return at;
}

// NULL: out of memory.
static record *create_record(const char *room, const char *path) {
    const size_t size = strlen(path) + 1;
    record *created = calloc(1, sizeof *created + size);
    if (created != NULL) {
        snprintf(created->room, sizeof created->room, "%s", room);
        memcpy(created->wanted, path, size);
    }
    return created;
}

// The mutex is held.
static void append_record(cairn_records *records, record *added) {
    record **end = &records->list;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = added;
}

// Whether two paths name one file: the same name in the same folder.
static bool is_same_file(const char *a, const char *b) {
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    char folder_a[CAIRN_RECORD_PATH_SIZE], folder_b[CAIRN_RECORD_PATH_SIZE];
    struct stat stat_a, stat_b;
    if (strcmp(slash_a == NULL ? a : slash_a + 1, slash_b == NULL ? b : slash_b + 1) != 0) {
        return false;
    }
    snprintf(folder_a, sizeof folder_a, "%.*s.", slash_a == NULL ? 0 : (int)(slash_a - a) + 1, a);
    snprintf(folder_b, sizeof folder_b, "%.*s.", slash_b == NULL ? 0 : (int)(slash_b - b) + 1, b);
    return stat(folder_a, &stat_a) == 0 && stat(folder_b, &stat_b) == 0
               ? stat_a.st_dev == stat_b.st_dev && stat_a.st_ino == stat_b.st_ino
               : strcmp(a, b) == 0;
}

const char *cairn_records_add(cairn_records *records, const char *room, const char *path) {
    CAIRN_ASSERT(room[0] != '\0' && path[0] != '\0');
    for (const record *at = records->list; at != NULL; at = at->next) {
        if (is_same_file(at->wanted, path)) {
            return "two rooms cannot be recorded to one file";
        }
    }
    record *added = create_record(room, path);
    if (added == NULL) {
        return "out of memory";
    }
    added->named_by_user = true;
    pthread_mutex_lock(&records->mutex);
    append_record(records, added);
    pthread_mutex_unlock(&records->mutex);
    return NULL;
}

bool cairn_records_has(cairn_records *records, const char *room) {
    pthread_mutex_lock(&records->mutex);
    const bool has = find_record(records, room) != NULL;
    pthread_mutex_unlock(&records->mutex);
    return has;
}

static void report_error(cairn_records *records, record *failed) {
    char why[160];
    if (failed->reported != failed->file.error) {
        failed->reported = failed->file.error;
        snprintf(why, sizeof why, "%s (%s)", strerror(failed->file.error), failed->file.failed);
        records->config.on_error(records->config.user, failed->room,
            failed->file.named ? failed->file.path : failed->wanted, why);
    }
}

static bool close_file(cairn_records *records, record *closed) {
    const bool was_reported = closed->reported != 0;
    const bool good = cairn_record_file_close(&closed->file);
    closed->open = false;
    if (!good && !was_reported) {
        report_error(records, closed);
    }
    return good;
}

bool cairn_records_close(cairn_records *records) {
    bool good = true;
    while (records != NULL && records->list != NULL) {
        record *closed = records->list;
        records->list = closed->next;
        good = (!closed->open || close_file(records, closed)) && good;
        free(closed);
    }
    if (records != NULL) {
        pthread_mutex_destroy(&records->mutex);
    }
    free(records);
    return good;
}

// A room without a file gets one beside the first room's; its name is a valid file name.
static record *find_or_add(cairn_records *records, const char *room) {
    CAIRN_ASSERT(room[0] != '\0');
    char path[CAIRN_RECORD_PATH_SIZE];
    pthread_mutex_lock(&records->mutex);
    record *found = find_record(records, room);
    const record *first = records->list;
    if (found == NULL && first != NULL) {
        const int size = snprintf(path, sizeof path, "%s.%s", first->wanted, room);
        found = size > 0 && size < CAIRN_RECORD_PATH_SIZE ? create_record(room, path) : NULL;
        if (found != NULL) {
            append_record(records, found);
        }
    }
    pthread_mutex_unlock(&records->mutex);
    return found;
}

// The file is complete, or no more can be written to it.
static bool end_file(cairn_records *records, const char *room) {
    pthread_mutex_lock(&records->mutex);
    record *ended = find_record(records, room);
    pthread_mutex_unlock(&records->mutex);
    if (ended == NULL) {
        return true;
    }
    const bool good = !ended->open || close_file(records, ended);
    // What failed is remembered, so that it is reported once.
    if (!ended->named_by_user && ended->reported == 0) {
        pthread_mutex_lock(&records->mutex);
        record **at = &records->list;
        while (*at != ended) {
            at = &(*at)->next;
        }
        *at = ended->next;
        pthread_mutex_unlock(&records->mutex);
        free(ended);
    }
    return good;
}

bool cairn_records_write(
    cairn_records *records, const char *room, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    if (size == 0) {
        return end_file(records, room);
    }
    record *written = find_or_add(records, room);
    if (written == NULL) {
        return false;
    }
    bool named = false;
    if (!written->open) {
        written->open = cairn_record_file_open(
            &written->file, records->config.calls, records->config.sync, written->wanted);
    }
    const bool good = written->open && cairn_record_file_append(
                                           &written->file, written->wanted, bytes, size, &named);
    if (named) {
        pthread_mutex_lock(&records->mutex);
        memcpy(written->last_path, written->file.path, sizeof written->last_path);
        pthread_mutex_unlock(&records->mutex);
        records->config.on_open(records->config.user, room, written->file.path);
    }
    if (good) {
        written->reported = 0;
    } else {
        report_error(records, written);
    }
    return good;
}

// malloc's memory is aligned to 8.
static uint8_t *read_whole(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    long end = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        end = ftell(file);
        rewind(file);
    }
    uint8_t *bytes = end > 0 ? malloc((size_t)end) : NULL;
    *size = bytes == NULL ? 0 : fread(bytes, 1, (size_t)end, file);
    if (file != NULL) {
        fclose(file);
    }
    return bytes;
}

struct cairn_world *cairn_records_seek(cairn_records *records, const char *room, uint64_t tick) {
    char path[CAIRN_RECORD_PATH_SIZE] = "";
    pthread_mutex_lock(&records->mutex);
    const record *sought = find_record(records, room);
    if (sought != NULL) {
        memcpy(path, sought->last_path, sizeof path);
    }
    pthread_mutex_unlock(&records->mutex);
    size_t size = 0;
    uint8_t *bytes = path[0] == '\0' ? NULL : read_whole(path, &size);
    cairn_world *world = bytes == NULL ? NULL : cairn_player_world_at(bytes, size, tick);
    free(bytes);
    return world;
}
