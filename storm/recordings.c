// SPDX-License-Identifier: MIT
// Storms record what their server plays, on a disk that fails.
#include "storm/state.h"

#include <inttypes.h>

static const uint64_t ms_ns = 1000000;

void cairn_storm_create_disk(cairn_storm *s) {
    cairn_random random = cairn_random_of(s->config.seed * 40503u + 11);
    if (!s->config.no_faults && cairn_random_below(&random, 1000) < 400) {
        cairn_disk_init(&s->disk, cairn_random_next(&random), s->config.rules == NULL);
    }
}

static uint64_t server_now_ns(const cairn_storm *s) {
    return cairn_virtual_local_ns(s->system.network, s->system.server_endpoint);
}

void cairn_storm_serve_disk(cairn_storm *s) {
    cairn_disk *disk = &s->disk;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    if (!disk->used) {
        return;
    }
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
    cairn_disk_mend(&s->disk, s->system.server, server_now_ns(s));
    for (uint32_t r = 0; r < s->room_count; r++) {
        cairn_server_room_statistics statistics;
        cairn_server_room_statistics_read(s->system.server, s->rooms[r].id, &statistics);
        s->rooms[r].ticks_recorded = statistics.tick - statistics.recording_ticks_lost;
        s->report.recorded_ticks_lost += statistics.recording_ticks_lost;
    }
}

void cairn_storm_check_files(void *user) {
    cairn_storm *s = user;
    for (uint32_t r = 0; r < s->room_count && s->disk.used; r++) {
        const cairn_disk_file *file = &s->disk.rooms[r];
        s->report.recorded_files += file->files;
        s->report.recorded_ticks += file->ticks;
        if (file->damage != NULL || file->open) {
            cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RECORDING, "room %" PRIu32 ": %s", r,
                file->damage != NULL ? file->damage : "its last file was not closed");
        } else if (file->ticks != s->rooms[r].ticks_recorded) {
            cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RECORDING,
                "room %" PRIu32 ": %" PRIu64 " ticks are in its files, %" PRIu64
                " were stepped and not counted as lost",
                r, file->ticks, s->rooms[r].ticks_recorded);
        }
    }
    cairn_disk_forget(&s->disk);
}
