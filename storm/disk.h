// SPDX-License-Identifier: MIT
#pragma once

// The disk to which the server of a storm records, and publishes segments of its rooms, by the code
// that writes the files of cairnd (server/daemon/record_file.h). It fails single writes, is full
// for a while, writes less than it was asked for, does not cut or sync a file, or is so slow that
// its tasks wait; or the process has no descriptor left, so that no file can be opened while those
// that are open can be written. Every file that was closed must verify to its last whole chunk, and
// together with the ticks that the server counts as lost the files must hold every tick. A world
// that an operator seeks must be the one that was recorded. A segment begins with the state that
// the one before ended with, and if nothing was lost the segments of a room hold what its recording
// holds.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "server/daemon/record_file.h"
#include "storm/system.h"
#include <cairn/types.h>

#define CAIRN_DISK_TASKS_MAX 64
#define CAIRN_DISK_FILE_SIZE_MAX (4u << 20) // a write beyond it fails
// The rooms of the system, and one that an operator forks now and then.
#define CAIRN_DISK_FORK "fork"
#define CAIRN_DISK_ROOMS (CAIRN_SYSTEM_ROOMS_MAX + 1)

// The file of one room that is open, and what closed ones held. Of segments each is a file.
typedef struct cairn_disk_file {
    uint8_t *bytes; // owned; CAIRN_DISK_FILE_SIZE_MAX at most
    size_t size;
    size_t capacity;
    cairn_record_file file; // open if `open`
    bool open;
    bool unsynced;      // whole chunks of it were reported as lost because a sync failed
    uint64_t files;     // closed
    uint64_t ticks;     // in them
    uint64_t held;      // hash of the roots of all ticks in them, in order
    const char *damage; // of the first that did not verify; NULL: none
    cairn_hash128 end;  // the root after the last tick
    uint64_t end_tick;
    // Of segments.
    bool continues; // one of the same room was closed
    bool failed;    // a write of the open one
    uint64_t number;
    uint64_t breaks; // those that begin with another state
} cairn_disk_file;

typedef struct cairn_disk {
    cairn_random random;
    bool used; // the storm records
    bool publishes;
    bool replays; // the rules are built in, so files can be stepped
    cairn_disk_file rooms[CAIRN_DISK_ROOMS];
    cairn_disk_file segments[CAIRN_DISK_ROOMS];
    uint64_t fail_permille; // of writes
    bool slow;              // tasks wait
    uint64_t until_ns;      // virtual; when it is well again; 0: it is well
    cairn_random part_random;
    bool parts;            // writes are short, and calls besides writes fail
    uint64_t short_writes; // that took a part of the bytes
    uint64_t torn_files;   // closed with a part of a chunk at their end
    uint64_t seeks;        // answered with a world
    cairn_random descriptor_random;
    uint64_t descriptors_ns; // virtual; until when there is no descriptor; 0: there are some
    cairn_server_task *tasks[CAIRN_DISK_TASKS_MAX];
    uint32_t task_count;
    // While a file is used.
    cairn_disk_file *current;
    bool failing; // its calls fail
    bool torn;    // the last write took a part, and the next one fails
} cairn_disk;

// A disk of its own sequence of random numbers. Pair with cairn_disk_destroy.
void cairn_disk_init(cairn_disk *disk, uint64_t seed, bool replays);
void cairn_disk_destroy(cairn_disk *disk);

// For cairn_server_config: what they stand for there.
bool cairn_disk_record(cairn_disk *disk, const char *room, const uint8_t *bytes, size_t size);
bool cairn_disk_publish(
    cairn_disk *disk, const cairn_server_segment *segment, const uint8_t *bytes, size_t size);
struct cairn_world *cairn_disk_seek(cairn_disk *disk, const char *room, uint64_t tick);
bool cairn_disk_take_task(cairn_disk *disk, cairn_server_task *task);

// Begins to fail in one of its ways, until `until_ns`. Returns which, as a phrase.
const char *cairn_disk_fail(cairn_disk *disk, uint64_t until_ns);
// The disk is well from now on, and the tasks that waited are done. `now_ns` is the server's.
void cairn_disk_mend(cairn_disk *disk, cairn_server *server, uint64_t now_ns);
// A new server begins with empty files.
void cairn_disk_forget(cairn_disk *disk);
