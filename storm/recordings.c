// SPDX-License-Identifier: MIT
// Storms record what their server plays, on a disk that fails.
#include "storm/state.h"

#include <inttypes.h>

static const uint64_t ms_ns = 1000000;

void cairn_storm_create_disk(cairn_storm *s) {
    cairn_random random = cairn_random_of(s->config.seed * 40503u + 11);
    if (!s->config.no_faults && cairn_random_below(&random, 1000) < 400) {
        cairn_disk_init(&s->disk, cairn_random_next(&random), s->config.rules == NULL);
        s->disk.publishes = cairn_random_below(&random, 2) == 0;
    }
}

static uint64_t server_now_ns(const cairn_storm *s) {
    return cairn_virtual_local_ns(s->system.network, s->system.server_endpoint);
}

// Something else takes every descriptor for a while.
static void exhaust_descriptors(cairn_storm *s, uint64_t now_ns) {
    cairn_disk *disk = &s->disk;
    if (disk->descriptors_ns != 0 && (s->quiescent || now_ns >= disk->descriptors_ns)) {
        disk->descriptors_ns = 0;
    } else if (disk->descriptors_ns == 0 && !s->quiescent &&
               cairn_random_below(&disk->descriptor_random, 1000) < 6) {
        disk->descriptors_ns =
            now_ns + (500 + cairn_random_below(&disk->descriptor_random, 5000)) * ms_ns;
        s->report.descriptor_faults++;
        if (s->config.on_event != NULL) {
            s->config.on_event(s->config.user, now_ns, 0, "sees no descriptor left");
        }
    }
}

void cairn_storm_serve_disk(cairn_storm *s) {
    cairn_disk *disk = &s->disk;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    if (!disk->used) {
        return;
    }
    exhaust_descriptors(s, now_ns);
    if (s->quiescent && disk->until_ns != 0) {
        cairn_disk_mend(disk, s->system.server, server_now_ns(s));
    } else if (disk->until_ns != 0 && now_ns >= disk->until_ns) {
        cairn_disk_mend(disk, s->system.server, server_now_ns(s));
    } else if (disk->until_ns == 0 && !s->quiescent &&
               cairn_random_below(&disk->random, 1000) < 10) {
        const uint64_t lasts_ns = (100 + cairn_random_below(&disk->random, 4000)) * ms_ns;
        const char *what = cairn_disk_fail(disk, now_ns + lasts_ns);
        s->report.disk_faults++;
        if (s->config.on_event != NULL) {
            s->config.on_event(s->config.user, now_ns, 0, what);
        }
    }
}

void cairn_storm_close_disk(cairn_storm *s) {
    if (!s->disk.used || s->system.server == NULL) {
        return;
    }
    s->disk.descriptors_ns = 0;
    cairn_disk_mend(&s->disk, s->system.server, server_now_ns(s));
    cairn_server_statistics all;
    cairn_server_statistics_read(s->system.server, &all);
    // What is left of the sums are rooms that an operator forked, some of which are closed.
    s->forks_recorded = all.total.ticks_stepped - all.total.recording_ticks_lost;
    s->forks_published = all.total.ticks_stepped - all.total.broadcast_ticks_lost;
    s->report.recorded_ticks_lost += all.total.recording_ticks_lost;
    for (uint32_t r = 0; r < s->room_count; r++) {
        cairn_server_room_statistics statistics;
        cairn_server_room_statistics_read(s->system.server, s->rooms[r].id, &statistics);
        s->rooms[r].ticks_recorded = statistics.ticks_stepped - statistics.recording_ticks_lost;
        s->rooms[r].ticks_published = statistics.ticks_stepped - statistics.broadcast_ticks_lost;
        s->rooms[r].disturbed = statistics.recording_ticks_lost > 0 ||
                                statistics.broadcast_ticks_lost > 0 ||
                                statistics.broadcast_failures > 0 || statistics.broadcast_gaps > 0;
        s->rooms[r].worlds_replaced = statistics.worlds_replaced;
        s->rooms[r].end =
            cairn_world_hash_read(cairn_server_world(s->system.server, s->rooms[r].id)).full;
        s->forks_recorded -= s->rooms[r].ticks_recorded;
        s->forks_published -= s->rooms[r].ticks_published;
    }
}

static void check_file(
    cairn_storm *s, const char *room, const cairn_disk_file *file, uint64_t ticks) {
    if (file->damage != NULL || file->open) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RECORDING, "room %s: %s", room,
            file->damage != NULL ? file->damage : "its last file was not closed");
    } else if (file->ticks != ticks) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RECORDING,
            "room %s: %" PRIu64 " ticks are in its files, %" PRIu64
            " were stepped and not counted as lost",
            room, file->ticks, ticks);
    }
}

// A recording that lost nothing is one file, however often the world was replaced, and ends with
// the world of the room.
static void check_end(cairn_storm *s, uint32_t r) {
    const cairn_disk_file *recorded = &s->disk.rooms[r];
    if (!s->disk.replays || s->rooms[r].disturbed || recorded->files == 0) {
        return;
    }
    if (recorded->files > 1 || !cairn_hash_equal(recorded->end, s->rooms[r].end)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RECORDING, "room %s: its recording %s",
            cairn_storm_room_name(r),
            recorded->files > 1 ? "is more than one file although nothing was lost"
                                : "ends with another world than the room");
    }
}

// Where an operator replaced the world a segment begins with another state than the one before it
// ended with.
static void check_segments(cairn_storm *s, uint32_t r) {
    const cairn_disk_file *segments = &s->disk.segments[r];
    const cairn_disk_file *recorded = &s->disk.rooms[r];
    check_file(s, cairn_storm_room_name(r), segments, s->rooms[r].ticks_published);
    if (!s->disk.replays || s->rooms[r].disturbed) {
        return;
    }
    s->report.segments_compared += segments->files;
    if (segments->held != recorded->held || segments->breaks > s->rooms[r].worlds_replaced) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RECORDING, "room %s: its segments %s",
            cairn_storm_room_name(r),
            segments->held != recorded->held ? "hold other ticks than its recording"
                                             : "do not follow each other");
    }
}

static void check_forks(cairn_storm *s) {
    const cairn_disk_file *file = &s->disk.rooms[CAIRN_SYSTEM_ROOMS_MAX];
    s->report.recorded_files += file->files;
    s->report.recorded_ticks += file->ticks;
    check_file(s, CAIRN_DISK_FORK, file, s->forks_recorded);
    if (s->disk.publishes) {
        check_file(
            s, CAIRN_DISK_FORK, &s->disk.segments[CAIRN_SYSTEM_ROOMS_MAX], s->forks_published);
    }
}

void cairn_storm_check_files(void *user) {
    cairn_storm *s = user;
    for (uint32_t r = 0; r < s->room_count && s->disk.used; r++) {
        const cairn_disk_file *file = &s->disk.rooms[r];
        s->report.recorded_files += file->files;
        s->report.recorded_ticks += file->ticks;
        s->report.recorded_replacements += s->rooms[r].worlds_replaced;
        check_file(s, cairn_storm_room_name(r), file, s->rooms[r].ticks_recorded);
        check_end(s, r);
        if (s->disk.publishes) {
            check_segments(s, r);
        }
    }
    if (s->disk.used) {
        check_forks(s);
        s->report.short_writes = s->disk.short_writes;
        s->report.torn_files = s->disk.torn_files;
        s->report.recorded_seeks = s->disk.seeks;
    }
    cairn_disk_forget(&s->disk);
}
