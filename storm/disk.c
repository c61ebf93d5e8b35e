// SPDX-License-Identifier: MIT
#include "storm/disk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "recording/player.h"
#include "recording/survey.h"

void cairn_disk_init(cairn_disk *disk, uint64_t seed, bool replays) {
    *disk = (cairn_disk){.random = cairn_random_of(seed),
        .descriptor_random = cairn_random_of(seed + 1),
        .part_random = cairn_random_of(seed + 2),
        .used = true,
        .replays = replays};
}

void cairn_disk_destroy(cairn_disk *disk) {
    CAIRN_ASSERT(disk->task_count == 0);
    for (uint32_t r = 0; r < CAIRN_DISK_ROOMS; r++) {
        free(disk->rooms[r].bytes);
        free(disk->segments[r].bytes);
    }
    *disk = (cairn_disk){0};
}

// ------------------------------------------------------------------------------ its files

// Drawn only while the disk writes in parts, so that other storms stay as they were.
static bool part_chance(cairn_disk *disk, uint64_t permille) {
    return disk->parts && cairn_random_below(&disk->part_random, 1000) < permille;
}

static int failure(int code) {
    errno = code;
    return -1;
}

static int create_file(void *user, const char *path) {
    cairn_disk *disk = user;
    (void)path;
    if (disk->descriptors_ns != 0) {
        return failure(EMFILE);
    }
    disk->current->size = 0;
    return disk->failing ? failure(ENOSPC) : 3;
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
    return true;
}

// How many of so many bytes one call takes.
static size_t draw_part(cairn_disk *disk, size_t size) {
    return size > 1 && part_chance(disk, 700)
               ? 1 + (size_t)cairn_random_below(&disk->part_random, size - 1)
               : size;
}

static int64_t write_file(void *user, int number, const void *bytes, size_t size) {
    cairn_disk *disk = user;
    (void)number;
    if (part_chance(disk, 100)) {
        return failure(EINTR);
    }
    const size_t part = disk->torn ? size : draw_part(disk, size);
    if (disk->failing && (disk->torn || part == size)) {
        return failure(ENOSPC);
    }
    disk->torn = disk->failing;
    disk->short_writes += part < size ? 1 : 0;
    return append(disk->current, bytes, part) ? (int64_t)part : failure(EFBIG);
}

static int sync_file(void *user, int number) {
    cairn_disk *disk = user;
    (void)number;
    return part_chance(disk, 30) ? failure(EIO) : 0;
}

static int truncate_file(void *user, int number, int64_t size) {
    cairn_disk *disk = user;
    (void)number;
    if (part_chance(disk, 500)) {
        return failure(EIO);
    }
    cairn_disk_file *file = disk->current;
    file->size = (size_t)size < file->size ? (size_t)size : file->size;
    return 0;
}

static int rename_file(void *user, const char *from, const char *to) {
    cairn_disk *disk = user;
    (void)from;
    (void)to;
    return part_chance(disk, 100) ? failure(EIO) : 0;
}

static int sync_folder(void *user, const char *path) {
    (void)path;
    return sync_file(user, 0);
}

static int close_number(void *user, int number) {
    const cairn_disk *disk = user;
    (void)number;
    return disk->failing ? failure(EIO) : 0;
}

static int remove_file(void *user, const char *path) {
    cairn_disk *disk = user;
    (void)path;
    disk->current->size = 0;
    return 0;
}

static const cairn_file_calls file_calls = {
    .create = create_file,
    .write = write_file,
    .sync = sync_file,
    .truncate = truncate_file,
    .rename = rename_file,
    .sync_folder = sync_folder,
    .close = close_number,
    .remove = remove_file,
};

// Until the call about the file returns.
static cairn_file_calls use(cairn_disk *disk, cairn_disk_file *file) {
    cairn_file_calls calls = file_calls;
    disk->current = file;
    disk->failing = cairn_random_below(&disk->random, 1000) < disk->fail_permille;
    disk->torn = false;
    calls.user = disk;
    return calls;
}

static bool write_chunks(cairn_disk *disk, cairn_disk_file *file, cairn_record_sync sync,
    const uint8_t *bytes, size_t size) {
    const cairn_file_calls calls = use(disk, file);
    bool named;
    if (!file->open) {
        file->open = cairn_record_file_open(&file->file, &calls, sync, "file");
        file->unsynced = false;
    }
    file->file.calls = &calls;
    const int64_t before = file->file.size;
    const bool written =
        file->open && cairn_record_file_append(&file->file, "file", bytes, size, &named);
    file->unsynced = file->unsynced || (file->open && !written && file->file.size == before &&
                                           file->size == (size_t)before + size);
    file->file.calls = NULL;
    return written;
}

// Returns whether the calls succeeded.
static bool close_calls(cairn_disk *disk, cairn_disk_file *file) {
    const cairn_file_calls calls = use(disk, file);
    if (!file->open) {
        return !disk->failing;
    }
    file->file.calls = &calls;
    const bool closed = cairn_record_file_close(&file->file);
    file->file.calls = NULL;
    return closed;
}

// ------------------------------------------------------------------------------ what is in them

static void note_start(cairn_disk_file *file, const cairn_world *world) {
    const cairn_hash128 root = cairn_world_hash_read(world).full;
    const bool follows =
        cairn_world_tick(world) == file->end_tick && cairn_hash_equal(root, file->end);
    file->breaks += file->continues && !follows ? 1 : 0;
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

// What is behind the last whole chunk that was reported as written: nothing, a part of the next, or
// as a sync failed all of it.
static const char *check_tail(cairn_disk *disk, const cairn_disk_file *file, uint64_t ticks) {
    const size_t whole = (size_t)file->file.size;
    cairn_survey survey = cairn_survey_of(file->bytes, file->size);
    const uint64_t found = survey.ticks;
    cairn_survey_end(&survey);
    disk->torn_files += file->size > whole && !file->unsynced ? 1 : 0;
    return found < ticks                      ? "a file has fewer ticks than were written"
           : found > ticks && !file->unsynced ? "a file has ticks that were reported as lost"
                                              : NULL;
}

// Returns how many ticks are in the chunks that were reported as written.
static uint64_t verify(cairn_disk *disk, cairn_disk_file *file) {
    const size_t written = (size_t)file->file.size;
    cairn_survey survey = cairn_survey_of(file->bytes, file->size);
    cairn_survey whole = cairn_survey_of(file->bytes, written < file->size ? written : file->size);
    const uint64_t ticks = whole.ticks;
    const char *damage = NULL;
    if (written > file->size) {
        damage = "a file is shorter than what was written";
    } else if (survey.damage[0] != '\0' || whole.damage[0] != '\0') {
        damage = "the chunks of a file do not follow each other";
    } else if (survey.seal != CAIRN_SEAL_NONE && survey.seal != CAIRN_SEAL_UNSIGNED) {
        damage = "the seal of a file does not agree";
    } else if ((damage = check_tail(disk, file, ticks)) == NULL && disk->replays) {
        damage = replay(file);
    }
    file->ticks += ticks;
    file->damage = file->damage == NULL ? damage : file->damage;
    cairn_survey_end(&survey);
    cairn_survey_end(&whole);
    return ticks;
}

static uint32_t room_of(const char *room) {
    return strcmp(room, CAIRN_SYSTEM_SECOND_ROOM) == 0 ? 1
           : strcmp(room, CAIRN_DISK_FORK) == 0        ? CAIRN_SYSTEM_ROOMS_MAX
                                                       : 0;
}

static void forget_open(cairn_disk_file *file) {
    file->size = 0;
    file->open = false;
    file->failed = false;
}

bool cairn_disk_record(cairn_disk *disk, const char *room, const uint8_t *bytes, size_t size) {
    cairn_disk_file *file = &disk->rooms[room_of(room)];
    if (size > 0) {
        return write_chunks(disk, file, CAIRN_RECORD_SYNC_CHUNK, bytes, size);
    }
    const bool closed = close_calls(disk, file);
    if (file->open && file->file.named) {
        (void)verify(disk, file);
        file->files++;
    }
    forget_open(file);
    return closed;
}

static void check_segment(
    cairn_disk *disk, cairn_disk_file *file, const cairn_server_segment *segment) {
    const bool later = !file->continues || segment->number > file->number;
    const uint64_t ticks = verify(disk, file);
    const bool right = ticks == segment->tick_count || file->failed;
    if (file->damage == NULL && (!later || !right)) {
        file->damage = later ? "a segment has other ticks than the server says"
                             : "the numbers of segments do not grow";
    }
    file->number = segment->number;
    file->continues = true;
    file->files++;
}

bool cairn_disk_publish(
    cairn_disk *disk, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    cairn_disk_file *file = &disk->segments[room_of(segment->room)];
    if (size > 0) {
        const bool written = write_chunks(disk, file, CAIRN_RECORD_SYNC_NONE, bytes, size);
        file->failed = file->failed || !written;
        return written;
    }
    const bool closed = close_calls(disk, file);
    if (file->open && file->file.named) {
        check_segment(disk, file, segment);
    }
    forget_open(file);
    file->continues = file->continues && !segment->last;
    return closed;
}

// The root of the world when it had this tick last. False: it never had.
static bool find_root(const cairn_disk_file *file, uint64_t tick, cairn_hash128 *out) {
    char text[CAIRN_PLAYER_TEXT_SIZE];
    cairn_player *player;
    if (cairn_player_create(file->bytes, file->size, &player, text) != CAIRN_OK) {
        return false;
    }
    bool found = false;
    cairn_player_event event = CAIRN_PLAYER_TICK;
    while (event != CAIRN_PLAYER_END && event != CAIRN_PLAYER_REFUSED) {
        const cairn_world *world = cairn_player_world(player);
        if (cairn_world_tick(world) == tick) {
            *out = cairn_world_hash_read(world).full;
            found = true;
        }
        event = cairn_player_next(player);
    }
    cairn_player_destroy(player);
    return found;
}

cairn_world *cairn_disk_seek(cairn_disk *disk, const char *room, uint64_t tick) {
    cairn_disk_file *file = &disk->rooms[room_of(room)];
    cairn_hash128 expected = {0};
    if (!file->open || !file->file.named || !disk->replays) {
        return NULL;
    }
    cairn_world *world = cairn_player_world_at(file->bytes, file->size, tick);
    const bool recorded = find_root(file, tick, &expected);
    const bool right =
        world == NULL ? !recorded
                      : recorded && cairn_hash_equal(cairn_world_hash_read(world).full, expected);
    disk->seeks += world != NULL ? 1 : 0;
    if (!right && file->damage == NULL) {
        file->damage = "a seek does not find the tick as it was recorded";
    }
    return world;
}

bool cairn_disk_take_task(cairn_disk *disk, cairn_server_task *task) {
    if (!disk->slow || disk->task_count == CAIRN_DISK_TASKS_MAX) {
        return false;
    }
    disk->tasks[disk->task_count++] = task;
    return true;
}

const char *cairn_disk_fail(cairn_disk *disk, uint64_t until_ns) {
    static const char *const phrases[3][2] = {{"sees the disk hang", "sees the disk hang"},
        {"sees the disk full", "sees the disk full in the middle of writes"},
        {"sees the disk fail", "sees the disk write in parts and fail"}};
    const uint64_t way = cairn_random_below(&disk->random, 3);
    disk->until_ns = until_ns;
    disk->slow = way == 0;
    disk->fail_permille = way == 0 ? 0 : way == 1 ? 1000 : 300;
    disk->parts = way != 0 && cairn_random_below(&disk->part_random, 3) > 0;
    return phrases[way][disk->parts ? 1 : 0];
}

void cairn_disk_mend(cairn_disk *disk, cairn_server *server, uint64_t now_ns) {
    disk->slow = false;
    disk->parts = false;
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
    for (uint32_t r = 0; r < CAIRN_DISK_ROOMS; r++) {
        forget(&disk->rooms[r]);
        forget(&disk->segments[r]);
    }
}
