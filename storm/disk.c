// SPDX-License-Identifier: MIT
#include "storm/disk.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "recording/survey.h"

void cairn_disk_init(cairn_disk *disk, uint64_t seed, bool replays) {
    *disk = (cairn_disk){.random = cairn_random_of(seed), .used = true, .replays = replays};
}

void cairn_disk_destroy(cairn_disk *disk) {
    CAIRN_ASSERT(disk->task_count == 0);
    for (uint32_t r = 0; r < CAIRN_SYSTEM_ROOMS_MAX; r++) {
        free(disk->rooms[r].bytes);
    }
    *disk = (cairn_disk){0};
}

// Steps the file and compares every recorded root. The first reason for which it does not agree.
static const char *replay(const uint8_t *bytes, size_t size) {
    char text[CAIRN_PLAYER_TEXT_SIZE];
    cairn_player *player;
    if (cairn_player_create(bytes, size, &player, text) != CAIRN_OK) {
        return "a file cannot be opened";
    }
    const char *damage = NULL;
    cairn_player_event event;
    while ((event = cairn_player_next(player)) != CAIRN_PLAYER_END && damage == NULL) {
        const cairn_hash128 root = cairn_world_hash_read(cairn_player_world(player)).full;
        if (event == CAIRN_PLAYER_REFUSED) {
            damage = "a file cannot be played to its end";
        } else if (event == CAIRN_PLAYER_TICK &&
                   !cairn_hash_equal(root, cairn_player_recorded_hash(player))) {
            damage = "a replayed tick has another root than was recorded";
        }
    }
    cairn_player_destroy(player);
    return damage;
}

static void verify(const cairn_disk *disk, cairn_disk_file *file) {
    cairn_survey survey = cairn_survey_of(file->bytes, file->size);
    const char *damage = NULL;
    if (survey.damage[0] != '\0') {
        damage = "the chunks of a file do not follow each other";
    } else if (survey.seal != CAIRN_SEAL_NONE && survey.seal != CAIRN_SEAL_UNSIGNED) {
        damage = "the seal of a file does not agree";
    } else if (disk->replays) {
        damage = replay(file->bytes, file->size);
    }
    file->ticks += survey.ticks;
    file->damage = file->damage == NULL ? damage : file->damage;
    cairn_survey_end(&survey);
}

static bool append(cairn_disk_file *file, const uint8_t *bytes, size_t size) {
    if (file->size + size > CAIRN_DISK_FILE_SIZE_MAX) {
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

bool cairn_disk_record(cairn_disk *disk, const char *room, const uint8_t *bytes, size_t size) {
    cairn_disk_file *file = &disk->rooms[strcmp(room, CAIRN_SYSTEM_SECOND_ROOM) == 0 ? 1 : 0];
    const bool fails = cairn_random_below(&disk->random, 1000) < disk->fail_permille;
    if (size > 0) {
        return !fails && append(file, bytes, size);
    }
    if (file->open) {
        verify(disk, file);
        file->files++;
        file->size = 0;
        file->open = false;
    }
    return !fails;
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

void cairn_disk_forget(cairn_disk *disk) {
    for (uint32_t r = 0; r < CAIRN_SYSTEM_ROOMS_MAX; r++) {
        disk->rooms[r].size = 0;
        disk->rooms[r].open = false;
        disk->rooms[r].files = 0;
        disk->rooms[r].ticks = 0;
    }
}
