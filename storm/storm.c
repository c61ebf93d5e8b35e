// SPDX-License-Identifier: MIT
#include <cairn/storm.h>

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "schema/scene.h"
#include "storm/state.h"

static const uint64_t ms_ns = 1000000;
static const uint16_t attacker_port = 6666;

const char *cairn_storm_finding_name(cairn_storm_finding finding) {
    static const char *const names[CAIRN_STORM_FINDING_COUNT] = {
        [CAIRN_STORM_FOUND_NOTHING] = "nothing",
        [CAIRN_STORM_FOUND_WORLD] = "world",
        [CAIRN_STORM_FOUND_SNAPSHOT] = "snapshot",
        [CAIRN_STORM_FOUND_ALARM] = "alarm",
        [CAIRN_STORM_FOUND_UNHEALED] = "unhealed",
        [CAIRN_STORM_FOUND_MODE] = "mode",
        [CAIRN_STORM_FOUND_COUNT] = "count",
        [CAIRN_STORM_FOUND_BROKEN] = "broken",
        [CAIRN_STORM_FOUND_JOIN] = "join",
        [CAIRN_STORM_FOUND_LAG] = "lag",
        [CAIRN_STORM_FOUND_ROLLBACK] = "rollback",
        [CAIRN_STORM_FOUND_WORK] = "work",
        [CAIRN_STORM_FOUND_MEMORY] = "memory",
        [CAIRN_STORM_FOUND_SPIN] = "spin",
        [CAIRN_STORM_FOUND_NETWORK] = "network",
        [CAIRN_STORM_FOUND_RATE] = "rate",
        [CAIRN_STORM_FOUND_LATE] = "late",
        [CAIRN_STORM_FOUND_TOKEN] = "token",
        [CAIRN_STORM_FOUND_RECORDING] = "recording",
        [CAIRN_STORM_FOUND_TURN] = "turn",
        [CAIRN_STORM_FOUND_LOG] = "log",
        [CAIRN_STORM_FOUND_OWN] = "own",
    };
    return (uint32_t)finding < CAIRN_STORM_FINDING_COUNT ? names[finding] : "unknown";
}

cairn_storm_config cairn_storm_config_default(void) {
    return (cairn_storm_config){.seed = 1,
        .seconds = 20,
        .modes = CAIRN_STORM_ALL_MODES,
        .loss_permille_max = CAIRN_STORM_LOSS_PERMILLE_MAX,
        .bottleneck_permille = 250,
        .view_permille = 150};
}

static const char *config_error(const cairn_storm_config *config) {
    if (config->seconds == 0 || config->seconds > CAIRN_STORM_SECONDS_MAX) {
        return "seconds must be 1 .. 10000000";
    }
    if ((config->modes & ((1u << CAIRN_STORM_MODES) - 1)) == 0) {
        return "modes must name at least one mode";
    }
    if (config->client_slots > CAIRN_STORM_CLIENT_SLOTS_MAX) {
        return "client_slots must be at most 6";
    }
    if (config->loss_permille_max > CAIRN_STORM_LOSS_PERMILLE_MAX) {
        return "loss_permille_max must be at most 300";
    }
    if (config->bottleneck_permille > 1000) {
        return "bottleneck_permille must be at most 1000";
    }
    if (config->view_permille > 1000) {
        return "view_permille must be at most 1000";
    }
    return NULL;
}

static void take_event(void *storm, const cairn_server_event *event) {
    cairn_storm *s = storm;
    cairn_storm_log(s, event);
    for (uint32_t i = 0; i < s->hostile_count && strcmp(event->name, "client_connected") == 0;
         i++) {
        cairn_hostile_admitted(&s->hostiles[i], event->client_id);
    }
}

// The disk is no part of the server, so it has memory.
static bool record(void *storm, const char *room, const uint8_t *bytes, size_t size) {
    cairn_storm *s = storm;
    const bool serving = s->system.serving;
    cairn_system_fail_memory(&s->system, false);
    const bool written = cairn_disk_record(&s->disk, room, bytes, size);
    cairn_system_fail_memory(&s->system, serving);
    return written;
}

static bool publish(
    void *storm, const cairn_server_segment *segment, const uint8_t *bytes, size_t size) {
    cairn_storm *s = storm;
    const bool serving = s->system.serving;
    cairn_system_fail_memory(&s->system, false);
    const bool written = cairn_disk_publish(&s->disk, segment, bytes, size);
    cairn_system_fail_memory(&s->system, serving);
    return written;
}

static const struct cairn_scene *find_scene(void *storm, const char *name) {
    const cairn_storm *s = storm;
    return strcmp(name, s->scene->name) == 0 ? s->scene : NULL;
}

static struct cairn_world *seek(void *storm, const char *room, uint64_t tick) {
    cairn_storm *s = storm;
    const bool serving = s->system.serving;
    cairn_system_fail_memory(&s->system, false);
    struct cairn_world *world = cairn_disk_seek(&s->disk, room, tick);
    cairn_system_fail_memory(&s->system, serving);
    return world;
}

static bool take_task(void *storm, cairn_server_task *task) {
    cairn_storm *s = storm;
    return cairn_disk_take_task(&s->disk, task);
}

static uint64_t read_clock(void *storm) {
    const cairn_storm *s = storm;
    return cairn_system_unix_ns(&s->system) + (uint64_t)s->server_clock_ns;
}

static void configure_server(void *storm, cairn_server_config *config) {
    const cairn_storm *s = storm;
    config->unix_ns = read_clock;
    config->on_event = take_event;
    config->on_record = s->disk.used ? record : NULL;
    config->on_segment = s->disk.publishes ? publish : NULL;
    config->run_task = s->disk.used ? take_task : NULL;
    config->on_seek = s->disk.used ? seek : NULL;
    config->find_scene = find_scene;
    config->user = storm;
    config->first_room.view_distance_m = s->view_distance_m;
    config->first_room.client_bytes_per_second = s->view_bytes_per_second;
    // In a quarter of the storms most snapshots code bodies alone.
    const uint64_t seed = s->config.seed;
    config->first_room.coded_together_max = seed % 4 == 1 ? 1 + (uint32_t)(seed / 4 % 12) : 0;
}

static cairn_system_config draw_system(cairn_storm *s) {
    const cairn_rules *rules = s->config.rules;
    cairn_storm_draw_scene(&s->drawn, &s->random, rules == NULL ? "sandbox" : rules->name);
    s->scene = s->config.scene != NULL ? s->config.scene : &s->drawn.scene;
    cairn_system_config config = cairn_system_config_default(s->scene);
    config.rules = rules;
    config.memory_bytes = s->config.memory_bytes;
    config.memory_fails = s->config.memory_fails;
    config.memory_user = s->config.user;
    config.configure = configure_server;
    config.configure_user = s;
    config.seed = cairn_random_next(&s->random);
    config.tick_rate_hz = cairn_storm_draw_tick_rate(&s->random);
    config.tick_rate_hz =
        s->config.scene != NULL ? s->scene->world.tick_rate_hz : config.tick_rate_hz;
    config.tick_rate_hz =
        s->config.tick_rate_hz != 0 ? s->config.tick_rate_hz : config.tick_rate_hz;
    const uint64_t snapshot_rate_hz = 4 + cairn_storm_below(s, 27);
    config.snapshot_rate_hz =
        snapshot_rate_hz < config.tick_rate_hz ? (uint32_t)snapshot_rate_hz : config.tick_rate_hz;
    config.wait_ms = cairn_storm_chance(s, 200) ? (uint32_t)cairn_storm_below(s, 300) : 0;
    s->operated = cairn_storm_chance(s, 300) && !s->config.no_faults;
    config.operator_slots = s->operated ? 1 : 0;
    s->room_count = cairn_storm_chance(s, 300) && !s->config.no_faults ? CAIRN_SYSTEM_ROOMS_MAX : 1;
    config.rooms = s->room_count;
    config.clients_max = CAIRN_STORM_SESSIONS_MAX;
    config.players_max = 32;
    config.ipv6 = s->config.seed % 3 == 0;
    config.server_clock = cairn_storm_draw_clock(&s->random);
    return config;
}

static void deliver_to_hostile(void *storm, const cairn_virtual_datagram *datagram) {
    cairn_storm *s = storm;
    for (uint32_t i = 0; i < s->hostile_count; i++) {
        if (s->hostiles[i].endpoint == datagram->to) {
            cairn_hostile_receive(&s->hostiles[i], datagram);
        }
    }
}

// Hostile clients draw from a sequence of their own, so that storms without them draw as before.
static bool create_hostiles(cairn_storm *s) {
    cairn_random random = cairn_random_of(s->config.seed * 40503u + 5);
    const bool any = !s->config.no_faults && cairn_random_below(&random, 1000) < 400;
    const uint32_t count =
        any ? 1 + (uint32_t)cairn_random_below(&random, CAIRN_STORM_HOSTILES_MAX) : 0;
    s->system.on_other = deliver_to_hostile;
    while (s->hostile_count < count) {
        const cairn_virtual_path path = {.delay_ns = (1 + cairn_random_below(&random, 60)) * ms_ns};
        const uint64_t seed = cairn_random_next(&random) % 100000 + s->hostile_count;
        const char *room =
            cairn_random_below(&random, s->room_count) == 0 ? "" : CAIRN_SYSTEM_SECOND_ROOM;
        if (!cairn_hostile_create(
                &s->hostiles[s->hostile_count++], &s->system, seed, room, &path)) {
            return false;
        }
    }
    return true;
}

// Returns false after writing what could not be created to the report's words.
static bool create_from_seed(cairn_storm *s) {
    s->random = cairn_random_of(s->config.seed * 2654435761u + 17);
    // Of its own, so that a storm without bottlenecks draws as it did before there were any.
    s->path_random = cairn_random_of(s->config.seed * 40503u + 5);
    s->memory_random = cairn_random_of(s->config.seed * 40503u + 13);
    s->id_random = cairn_random_of(s->config.seed * 40503u + 43);
    const cairn_system_config config = draw_system(s);
    cairn_storm_draw_views(s);
    const uint64_t most = cairn_storm_chance(s, 200) ? CAIRN_STORM_CLIENT_SLOTS_MAX : 3;
    s->slot_count = 1 + (uint32_t)cairn_storm_below(s, most);
    s->slot_count = s->config.client_slots > 0 ? s->config.client_slots : s->slot_count;
    s->attacker_permille = cairn_storm_chance(s, 600) ? (uint32_t)cairn_storm_below(s, 500) : 0;
    s->attacker_permille = s->config.no_faults ? 0 : s->attacker_permille;
    s->fault_permille = 2 + (uint32_t)cairn_storm_below(s, 30);
    const uint64_t attacker_seed = cairn_random_next(&s->random);
    bool allocated = true;
    for (uint32_t r = 0; r < s->room_count; r++) {
        allocated =
            cairn_oracle_create(s->scene->world.body_capacity, &s->rooms[r].oracle) == CAIRN_OK &&
            allocated;
    }
    s->bodies = malloc(s->scene->world.body_capacity * sizeof *s->bodies);
    if (!allocated || s->bodies == NULL) {
        strcpy(s->report.words, "out of memory");
        return false;
    }
    cairn_storm_create_disk(s);
    cairn_storm_create_reader(s);
    cairn_storm_draw_replacements(s);
    s->clock_random = cairn_random_of(s->config.seed * 40503u + 41);
    if (!cairn_system_start(&s->system, &config)) {
        strcpy(s->report.words,
            "the server could not start: no world can be created from the scene with these rules");
        return false;
    }
    const cairn_address own =
        cairn_system_address(&s->system, CAIRN_SYSTEM_HOSTILES, 66, attacker_port);
    cairn_attacker_init(&s->attacker, attacker_seed, &own);
    cairn_virtual_tap(s->system.network, cairn_attacker_observe, &s->attacker);
    s->system.after_server = cairn_storm_compare_server;
    s->system.after_client = cairn_storm_compare_client;
    s->system.after_destroy = cairn_storm_check_files;
    s->system.user = s;
    cairn_storm_forget_server(s);
    if (!create_hostiles(s)) {
        strcpy(s->report.words, "out of memory");
        return false;
    }
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (i == 0 || cairn_storm_chance(s, 700)) {
            cairn_storm_join(s, i);
        }
    }
    return true;
}

static void run_to_end(cairn_storm *s) {
    const uint64_t end_ns = s->config.seconds * CAIRN_NS_PER_S;
    const uint64_t quiescent_ns = CAIRN_STORM_QUIESCENCE_S * CAIRN_NS_PER_S;
    const uint64_t quiescence_from_ns =
        end_ns > 2 * quiescent_ns ? end_ns - quiescent_ns : end_ns / 2;
    while (cairn_system_now_ns(&s->system) < end_ns &&
           s->report.finding == CAIRN_STORM_FOUND_NOTHING) {
        if (!s->quiescent && cairn_system_now_ns(&s->system) >= quiescence_from_ns) {
            cairn_storm_begin_quiescence(s);
        }
        if (s->quiescent) {
            // A request to pause may have been on its way when the quiescence began (seed 1710).
            cairn_storm_restore_time(s);
        }
        cairn_storm_inject_faults(s);
        cairn_storm_serve_disk(s);
        cairn_storm_read_log(s);
        const uint64_t step_ns = (20 + cairn_storm_below(s, 80)) * ms_ns;
        cairn_system_run_until(&s->system, cairn_system_now_ns(&s->system) + step_ns);
        cairn_storm_check(s, step_ns);
    }
}

static void complete_report(cairn_storm *s) {
    const cairn_virtual_counters c = cairn_virtual_counters_read(s->system.network);
    const uint32_t words[4] = {(uint32_t)c.sent, (uint32_t)c.lost, (uint32_t)c.delivered,
        (uint32_t)s->report.roots_compared};
    const cairn_hash128 parts[2] = {s->digest, cairn_hash_words(1, words, 4)};
    const cairn_hash128 digest = cairn_hash_list(0, parts, 2);
    s->report.digest[0] = digest.lo;
    s->report.digest[1] = digest.hi;
    s->report.datagrams = c.sent + c.injected;
    s->report.queue_losses = c.queue_full;
    s->report.virtual_ns = cairn_system_now_ns(&s->system);
    cairn_server_statistics statistics;
    cairn_server_statistics_read(s->system.server, &statistics);
    s->report.payloads_over_budget = statistics.payloads_over_budget;
}

bool cairn_storm_run(const cairn_storm_config *config, cairn_storm_report *report) {
    *report = (cairn_storm_report){0};
    const char *error = config_error(config);
    cairn_storm *s = error == NULL ? calloc(1, sizeof *s) : NULL;
    if (s == NULL) {
        strcpy(report->words, error != NULL ? error : "out of memory");
        return false;
    }
    s->config = *config;
    const bool created = create_from_seed(s);
    if (created) {
        run_to_end(s);
        complete_report(s);
    }
    for (uint32_t i = 0; i < s->hostile_count; i++) {
        s->report.hostile_messages += s->hostiles[i].messages;
        s->report.hostile_sessions += s->hostiles[i].sessions;
        s->report.hostile_moves += s->hostiles[i].moves;
        s->report.hostile_ipv6 += s->system.config.ipv6 ? s->hostiles[i].sessions : 0;
        cairn_hostile_destroy(&s->hostiles[i]);
    }
    cairn_storm_close_disk(s);
    cairn_system_stop(&s->system);
    *report = s->report;
    cairn_disk_destroy(&s->disk);
    for (uint32_t r = 0; r < s->room_count; r++) {
        cairn_oracle_destroy(s->rooms[r].oracle);
    }
    free(s->bodies);
    free(s);
    return created;
}

uint64_t cairn_storm_now_ns(const cairn_storm *s) {
    return cairn_system_now_ns(&s->system);
}

const cairn_world *cairn_storm_world(const cairn_storm *s) {
    return s->system.server == NULL ? NULL : cairn_server_world(s->system.server, CAIRN_ROOM_MAIN);
}

uint32_t cairn_storm_client_slots(const cairn_storm *s) {
    return s->slot_count;
}

cairn_client *cairn_storm_client(const cairn_storm *s, uint32_t slot) {
    return slot < s->slot_count ? s->system.clients[slot].client : NULL;
}

uint64_t cairn_storm_below(cairn_storm *s, uint64_t bound) {
    return cairn_random_below(&s->random, bound);
}

void cairn_storm_fail(cairn_storm *s, const char *words) {
    cairn_storm_report_finding(s, CAIRN_STORM_FOUND_OWN, "%s", words);
}
