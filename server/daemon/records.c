// SPDX-License-Identifier: MIT
#include "server/daemon/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/player.h"
#include <cairn/server.h>

#define PATH_SIZE_MAX 4096
#define NUMBER_MAX 9999

typedef struct record {
    struct record *next;
    FILE *file;               // NULL: complete
    const char *wanted;       // path, stored after this struct
    char path[PATH_SIZE_MAX]; // of the file: `wanted`, with a number if it existed
    char room[CAIRN_ROOM_NAME_SIZE];
} record;

struct cairn_records {
    cairn_records_listener on_open;
    void *user;
    record *list; // in the order in which they were added
};

cairn_status cairn_records_create(cairn_records_listener on_open, void *user, cairn_records **out) {
    cairn_records *records = calloc(1, sizeof *records);
    *out = records;
    if (records == NULL) {
        return CAIRN_OUT_OF_MEMORY;
    }
    *records = (cairn_records){.on_open = on_open, .user = user};
    return CAIRN_OK;
}

static record *find_record(const cairn_records *records, const char *room) {
    CAIRN_ASSERT(records != NULL && room != NULL);
    record *at = records->list;
    while (at != NULL && strcmp(at->room, room) != 0) {
        at = at->next;
    }
    return at;
}

// Creates the file of the first number that is free.
static bool open_file(const cairn_records *records, record *opened) {
    CAIRN_ASSERT(opened->wanted != NULL && opened->wanted[0] != '\0');
    CAIRN_ASSERT(opened->file == NULL);
    for (int number = 0; number <= NUMBER_MAX && opened->file == NULL; ++number) {
        const int size = snprintf(
            opened->path, PATH_SIZE_MAX, number == 0 ? "%s" : "%s.%d", opened->wanted, number);
        if (size < 0 || size >= PATH_SIZE_MAX) {
            errno = ENAMETOOLONG;
            return false;
        }
        opened->file = fopen(opened->path, "wbx");
        if (opened->file == NULL && errno != EEXIST) {
            return false;
        }
    }
    if (opened->file != NULL) {
        records->on_open(records->user, opened->room, opened->path);
    }
    return opened->file != NULL;
}

bool cairn_records_add(cairn_records *records, const char *room, const char *path) {
    CAIRN_ASSERT(room[0] != '\0' && path[0] != '\0');
    const size_t size = strlen(path) + 1;
    record *added = calloc(1, sizeof *added + size);
    if (added == NULL) {
        return false;
    }
    snprintf(added->room, sizeof added->room, "%s", room);
    added->wanted = memcpy(added + 1, path, size);
    if (!open_file(records, added)) {
        free(added);
        return false;
    }
    record **end = &records->list;
    while (*end != NULL) {
        end = &(*end)->next;
    }
    *end = added;
    return true;
}

bool cairn_records_has(const cairn_records *records, const char *room) {
    return find_record(records, room) != NULL;
}

bool cairn_records_close(cairn_records *records) {
    bool good = true;
    while (records != NULL && records->list != NULL) {
        record *closed = records->list;
        records->list = closed->next;
        good = (closed->file == NULL || fclose(closed->file) == 0) && good;
        free(closed);
    }
    free(records);
    return good;
}

// A room that has the name of one that was closed gets a file of its own. A room without a file
// gets one beside the first room's; its name is a valid file name.
static record *find_open(cairn_records *records, const char *room) {
    CAIRN_ASSERT(room[0] != '\0');
    record *written = find_record(records, room);
    if (written != NULL) {
        return written->file != NULL || open_file(records, written) ? written : NULL;
    }
    char path[PATH_SIZE_MAX];
    const record *first = records->list;
    const int size = first == NULL ? -1 : snprintf(path, sizeof path, "%s.%s", first->wanted, room);
    return size > 0 && size < PATH_SIZE_MAX && cairn_records_add(records, room, path)
               ? find_record(records, room)
               : NULL;
}

bool cairn_records_write(
    cairn_records *records, const char *room, const uint8_t *bytes, size_t size) {
    CAIRN_ASSERT(bytes != NULL || size == 0);
    if (size == 0) {
        record *ended = find_record(records, room);
        FILE *file = ended == NULL ? NULL : ended->file;
        if (ended != NULL) {
            ended->file = NULL;
        }
        return file == NULL || fclose(file) == 0;
    }
    const record *written = find_open(records, room);
    return written != NULL && fwrite(bytes, 1, size, written->file) == size &&
           fflush(written->file) == 0;
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

struct cairn_world *cairn_records_seek(
    const cairn_records *records, const char *room, uint64_t tick) {
    const record *sought = find_record(records, room);
    size_t size = 0;
    uint8_t *bytes = sought == NULL ? NULL : read_whole(sought->path, &size);
    cairn_world *world = bytes == NULL ? NULL : cairn_player_world_at(bytes, size, tick);
    free(bytes);
    return world;
}
