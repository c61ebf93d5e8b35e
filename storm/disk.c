// SPDX-License-Identifier: MIT
#include "storm/disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "recording/survey.h"

void cairn_disk_init(cairn_disk *disk, uint64_t seed, bool replays) {
    *disk = (cairn_disk){.random = cairn_random_of(seed),
        .descriptor_random = cairn_random_of(seed + 1),
        .used = true,
        .replays = replays};
}

void cairn_disk_destroy(cairn_disk *disk) {
    CAIRN_ASSERT(disk->task_count == 0);
    for (uint32_t r = 0; r < CAIRN_SYSTEM_ROOMS_MAX; r++) {
        free(disk->rooms[r].bytes);
        free(disk->segments[r].bytes);
    }
    *disk = (cairn_disk){0};
}

static void note_start(cairn_disk_file *file, const cairn_world *world) {
    const cairn_hash128 root = cairn_world_hash_read(world).full;
    const bool follows =
        cairn_world_tick(world) == file->end_tick && cairn_hash_equal(root, file->end);
    file->breaks += file->files > 0 && !follows ? 1 : 0;
}

static void note_end(cairn_disk_file *file, const cairn_world *world) {
    file->end = cairn_world_hash_read(world).full;
    file->end_tick = cairn_world_tick(world);
}

// Steps the file and compares every recorded root. The first reason for which it does not agree.
static const char *replay(cairn_disk_file *file) {
    char text[CAIRN_PLAYER_TEXT_SIZE];
    cairn_player *player;
    if (cairn_player_create(file->bytes, file->size, &player, text) != CAIRN_OK) {
        return "a file cannot be opened";
    }
    const char *damage = NULL;
    cairn_player_event event;
    note_start(file, cairn_player_world(player));
    while ((event = cairn_player_next(player)) != CAIRN_PLAYER_END && damage == NULL) {
        const cairn_hash128 root = cairn_world_hash_read(cairn_player_world(player)).full;
        if (event == CAIRN_PLAYER_REFUSED) {
            damage = "a file cannot be played to its end";
        } else if (event == CAIRN_PLAYER_TICK) {
            file->held = cairn_hash_words(file->held, (const uint32_t *)(const void *)&root, 4).lo;
            damage = cairn_hash_equal(root, cairn_player_recorded_hash(player))
                         ? NULL
                         : "a replayed tick has another root than was recorded";
        }
    }
    note_end(file, cairn_player_world(player));
    cairn_player_destroy(player);
    return damage;
}

// Returns how many ticks are in it.
static uint64_t verify(const cairn_disk *disk, cairn_disk_file *file) {
    cairn_survey survey = cairn_survey_of(file->bytes, file->size);
    const uint64_t ticks = survey.ticks;
    const char *damage = NULL;
    if (survey.damage[0] != '\0') {
        damage = "the chunks of a file do not follow each other";
    } else if (survey.seal != CAIRN_SEAL_NONE && survey.seal != CAIRN_SEAL_UNSIGNED) {
        damage = "the seal of a file does not agree";
    } else if (disk->replays) {
        damage = replay(file);
    }
    file->ticks += ticks;
    file->damage = file->damage == NULL ? damage : file->damage;
    cairn_survey_end(&survey);
    return ticks;
}

static bool append(
    const cairn_disk *disk, cairn_disk_file *file, const uint8_t *bytes, size_t size) {
    const bool opens = file->open || disk->descriptors_ns == 0;
    if (!opens || file->size + size > CAIRN_DISK_FILE_SIZE_MAX) {
        return false;
    }
    if (file->size + size > file->capacity) {
        const size_t capacity = 2 * (file->size + size);
        uint8_t *grown = realloc(file->bytes, capacity);
        if (grown == NULL) {
            return false;
        }
        file->bytes = grown;
        file->capacity = capacity;
    }
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
    file->open = true;
    return true;
}

static uint32_t room_of(const char *room) {
    return strcmp(room, CAIRN_SYSTEM_SECOND_ROOM) == 0 ? 1 : 0;
}

static bool fails(cairn_disk *disk) {
    return cairn_random_below(&disk->random, 1000) < disk->fail_permille;
}

static void close_file(cairn_disk_file *file) {
    file->files++;
    file->size = 0;
    file->open = false;
    file->failed = false;
}

bool cairn_disk_record(cairn_disk *disk, const char *room, const uint8_t *bytes, size_t size) {
    cairn_disk_file *file = &disk->rooms[room_of(room)];
    const bool failed = fails(disk);
    if (size > 0) {
        return !failed && append(disk, file, bytes, size);
    }
    if (file->open) {
        (void)verify(disk, file);
        close_file(file);
    }
    return !failed;
}

static void close_segment(
    const cairn_disk *disk, cairn_disk_file *file, const cairn_server_segment *segment) {
    const bool later = file->files == 0 || segment->number > file->number;
    const uint64_t ticks = verify(disk, file);
    const bool right = ticks == segment->tick_count || file->failed;
    if (file->damage == NULL && (!later || !right)) {
        file->damage = later ? "a segment has other ticks than the server says"
                             : "the numbers of segments do not grow";
    }
    file->number = segment->number;
    close_file(file);
}

bool cairn_disk_publish(
    cairn_disk *disk, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    cairn_disk_file *file = &disk->segments[room_of(segment->room)];
    const bool failed = fails(disk);
    if (size > 0) {
        const bool written = !failed && append(disk, file, bytes, size);
        file->failed = file->failed || !written;
        return written;
    }
    if (file->open) {
        close_segment(disk, file, segment);
    }
    return !failed;
}

bool cairn_disk_take_task(cairn_disk *disk, cairn_server_task *task) {
    if (!disk->slow || disk->task_count == CAIRN_DISK_TASKS_MAX) {
        return false;
    }
    disk->tasks[disk->task_count++] = task;
    return true;
}

const char *cairn_disk_fail(cairn_disk *disk, uint64_t until_ns) {
    const uint64_t way = cairn_random_below(&disk->random, 3);
    disk->until_ns = until_ns;
    disk->slow = way == 0;
    disk->fail_permille = way == 0 ? 0 : way == 1 ? 1000 : 300;
    return way == 0 ? "sees the disk hang" : way == 1 ? "sees the disk full" : "sees the disk fail";
}

void cairn_disk_mend(cairn_disk *disk, cairn_server *server, uint64_t now_ns) {
    disk->slow = false;
    disk->fail_permille = 0;
    disk->until_ns = 0;
    for (uint32_t i = 0; i < disk->task_count; i++) {
        cairn_server_task_run(disk->tasks[i]);
        cairn_server_task_done(server, now_ns, disk->tasks[i]);
    }
    disk->task_count = 0;
}

static void forget(cairn_disk_file *file) {
    *file = (cairn_disk_file){.bytes = file->bytes, .capacity = file->capacity};
}

void cairn_disk_forget(cairn_disk *disk) {
    for (uint32_t r = 0; r < CAIRN_SYSTEM_ROOMS_MAX; r++) {
        forget(&disk->rooms[r]);
        forget(&disk->segments[r]);
    }
}
