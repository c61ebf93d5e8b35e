// SPDX-License-Identifier: MIT
#include "server/daemon/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/player.h"
#include <cairn/server.h>

#define PATH_SIZE_MAX 4096

typedef struct record {
    struct record *next;
    FILE *file; // NULL: complete
    char *path; // owned
    char room[CAIRN_ROOM_NAME_SIZE];
} record;

struct cairn_records {
    record *list; // in order of their coming
};

cairn_records *cairn_records_open(void) {
    return calloc(1, sizeof(cairn_records));
}

static record *find(const cairn_records *records, const char *room) {
    record *at = records->list;
    while (at != NULL && strcmp(at->room, room) != 0) {
        at = at->next;
    }
    return at;
}

static bool drop(record *dropped) {
    const bool sound = dropped->file == NULL || fclose(dropped->file) == 0;
    free(dropped->path);
    free(dropped);
    return sound;
}

bool cairn_records_add(cairn_records *records, const char *room, const char *path) {
    record *added = calloc(1, sizeof *added);
    if (added == NULL) {
        return false;
    }
    snprintf(added->room, sizeof added->room, "%s", room);
    added->path = malloc(strlen(path) + 1);
    added->file = added->path == NULL ? NULL : fopen(strcpy(added->path, path), "wb");
    if (added->file == NULL) {
        drop(added);
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
    return find(records, room) != NULL;
}

// Room names are file names: letters, digits, dashes and dots, none in front.
static bool add_beside(cairn_records *records, const char *room) {
    char path[PATH_SIZE_MAX];
    const record *first = records->list;
    const int size = first == NULL ? -1 : snprintf(path, sizeof path, "%s.%s", first->path, room);
    return size > 0 && size < PATH_SIZE_MAX && cairn_records_add(records, room, path);
}

bool cairn_records_close(cairn_records *records) {
    bool sound = true;
    while (records != NULL && records->list != NULL) {
        record *closed = records->list;
        records->list = closed->next;
        sound = drop(closed) && sound;
    }
    free(records);
    return sound;
}

// A room that is made again under the name of one that was closed begins its file anew.
static record *begin(cairn_records *records, const char *room) {
    record *written = find(records, room);
    if (written == NULL) {
        return add_beside(records, room) ? find(records, room) : NULL;
    }
    written->file = written->file == NULL ? fopen(written->path, "wb") : written->file;
    return written->file == NULL ? NULL : written;
}

static bool end(record *ended) {
    FILE *file = ended->file;
    ended->file = NULL;
    return file == NULL || fclose(file) == 0;
}

bool cairn_records_write(
    cairn_records *records, const char *room, const uint8_t *bytes, size_t size) {
    if (size == 0) {
        record *ended = find(records, room);
        return ended == NULL || end(ended);
    }
    const record *written = begin(records, room);
    return written != NULL && fwrite(bytes, 1, size, written->file) == size &&
           fflush(written->file) == 0;
}

// malloc's memory starts on 8 bytes.
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

static cairn_world *world_at(const uint8_t *bytes, size_t size, uint64_t tick) {
    cairn_recording_index index;
    cairn_player player;
    cairn_world *world = NULL;
    if (cairn_recording_index_of(bytes, size, &index) != CAIRN_OK) {
        return NULL;
    }
    if (cairn_player_open(&player, bytes, size, NULL) && cairn_player_seek(&player, &index, tick)) {
        world = player.world;
        player.world = NULL;
    }
    cairn_player_close(&player);
    cairn_recording_index_end(&index);
    return world;
}

struct cairn_world *cairn_records_seek(
    const cairn_records *records, const char *room, uint64_t tick) {
    const record *sought = find(records, room);
    size_t size = 0;
    uint8_t *bytes = sought == NULL ? NULL : read_whole(sought->path, &size);
    cairn_world *world = bytes == NULL ? NULL : world_at(bytes, size, tick);
    free(bytes);
    return world;
}
