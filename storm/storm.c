// SPDX-License-Identifier: MIT
#include <cairn/storm.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema/scene.h"
#include "storm/parts.h"

static const uint64_t ms_ns = 1000000;
static const uint64_t second_ns = 1000000000;

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
        [CAIRN_STORM_FOUND_OWN] = "own",
    };
    return (uint32_t)finding < CAIRN_STORM_FINDING_COUNT ? names[finding] : "unknown";
}

const char *cairn_storm_break_name(cairn_storm_break broken) {
    static const char *const names[CAIRN_STORM_BREAK_COUNT] = {
        [CAIRN_STORM_BREAK_NOTHING] = "nothing",
        [CAIRN_STORM_BREAK_HASH] = "hash",
        [CAIRN_STORM_BREAK_SNAPSHOT] = "snapshot",
        [CAIRN_STORM_BREAK_DROP_COUNT] = "drop-count",
        [CAIRN_STORM_BREAK_ROLLBACK] = "rollback",
        [CAIRN_STORM_BREAK_WORK] = "work",
        [CAIRN_STORM_BREAK_ALARM] = "alarm",
        [CAIRN_STORM_BREAK_HEAL] = "heal",
        [CAIRN_STORM_BREAK_MODE] = "mode",
        [CAIRN_STORM_BREAK_MEMORY] = "memory",
        [CAIRN_STORM_BREAK_CALM] = "calm",
    };
    return (uint32_t)broken < CAIRN_STORM_BREAK_COUNT ? names[broken] : "unknown";
}

cairn_storm_config cairn_storm_config_default(void) {
    return (cairn_storm_config){.seed = 1,
        .seconds = 20,
        .modes = CAIRN_STORM_ALL_MODES,
        .loss_permille_max = CAIRN_STORM_LOSS_PERMILLE_MAX};
}

bool cairn_storm_chance(cairn_storm *s, uint64_t permille) {
    return cairn_storm_below(s, 1000) < permille;
}

void cairn_storm_find(cairn_storm *s, cairn_storm_finding finding, const char *format, ...) {
    if (s->report.finding != CAIRN_STORM_FOUND_NOTHING) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->report.words, sizeof s->report.words, format, arguments);
    va_end(arguments);
    s->report.finding = finding;
    s->report.found_ns = cairn_system_now_ns(&s->system);
}

static const char *refusal_of(const cairn_storm_config *config) {
    if (config->seconds == 0 || config->seconds > CAIRN_STORM_SECONDS_MAX) {
        return "seconds must be 1 .. 10000000";
    }
    if ((config->modes & ((1u << CAIRN_STORM_MODES) - 1)) == 0) {
        return "modes names no mode there is";
    }
    if (config->places > CAIRN_STORM_PLACES_MAX) {
        return "places must be at most CAIRN_STORM_PLACES_MAX";
    }
    if (config->loss_permille_max > CAIRN_STORM_LOSS_PERMILLE_MAX) {
        return "loss_permille_max must be at most 300";
    }
    return NULL;
}

static cairn_system_config draw_system(cairn_storm *s) {
    const cairn_rules *rules = s->config.rules;
    cairn_storm_draw_scene(&s->drawn, &s->random, rules == NULL ? "sandbox" : rules->name);
    s->scene = s->config.scene != NULL ? s->config.scene : &s->drawn.scene;
    cairn_system_config config = cairn_system_config_default(s->scene);
    config.rules = rules;
    config.memory_bytes = s->config.memory_bytes;
    config.memory_user = s->config.user;
    config.seed = cairn_random_next(&s->random);
    config.tick_rate_hz = cairn_storm_draw_tick_rate(&s->random);
    config.tick_rate_hz = s->config.scene != NULL ? s->scene->tick_rate_hz : config.tick_rate_hz;
    config.tick_rate_hz =
        s->config.tick_rate_hz != 0 ? s->config.tick_rate_hz : config.tick_rate_hz;
    const uint64_t snapshot_rate_hz = 4 + cairn_storm_below(s, 27);
    config.snapshot_rate_hz =
        snapshot_rate_hz < config.tick_rate_hz ? (uint32_t)snapshot_rate_hz : config.tick_rate_hz;
    config.wait_ms = cairn_storm_chance(s, 200) ? (uint32_t)cairn_storm_below(s, 300) : 0;
    s->operated = cairn_storm_chance(s, 300) && !s->config.quiet;
    config.operated = s->operated;
    s->room_count = cairn_storm_chance(s, 300) && !s->config.quiet ? CAIRN_SYSTEM_ROOMS_MAX : 1;
    config.rooms = s->room_count;
    config.clients_max = 32;
    config.players_max = 32;
    config.server_clock = cairn_storm_draw_clock(&s->random);
    return config;
}

static void draw_weather(cairn_storm *s) {
    const uint64_t most = cairn_storm_chance(s, 200) ? CAIRN_STORM_PLACES_MAX : 3;
    s->place_count = 1 + (uint32_t)cairn_storm_below(s, most);
    s->place_count = s->config.places > 0 ? s->config.places : s->place_count;
    s->stranger_permille = cairn_storm_chance(s, 600) ? (uint32_t)cairn_storm_below(s, 500) : 0;
    s->stranger_permille = s->config.quiet ? 0 : s->stranger_permille;
    s->trouble_permille = 2 + (uint32_t)cairn_storm_below(s, 30);
    cairn_stranger_init(&s->stranger, cairn_random_next(&s->random));
}

// False: the words say what could not be made.
static bool draw(cairn_storm *s) {
    s->random = cairn_random_of(s->config.seed * 2654435761u + 17);
    const cairn_system_config config = draw_system(s);
    draw_weather(s);
    bool sound = true;
    for (uint32_t r = 0; r < s->room_count; r++) {
        s->rooms[r].witness = cairn_witness_create(s->scene->body_capacity);
        sound = sound && s->rooms[r].witness != NULL;
    }
    s->bodies = malloc(s->scene->body_capacity * sizeof *s->bodies);
    if (!sound || s->bodies == NULL) {
        strcpy(s->report.words, "memory is short");
        return false;
    }
    if (!cairn_system_start(&s->system, &config)) {
        strcpy(s->report.words, "no server: the scene with these rules makes no world");
        return false;
    }
    cairn_virtual_tap(s->system.network, cairn_stranger_see, &s->stranger);
    s->system.after_server = cairn_storm_note_server;
    s->system.after_client = cairn_storm_note_client;
    s->system.user = s;
    cairn_storm_forget(s);
    for (uint32_t i = 0; i < s->place_count; i++) {
        if (i == 0 || cairn_storm_chance(s, 700)) {
            cairn_storm_join(s, i);
        }
    }
    return true;
}

static void play(cairn_storm *s) {
    const uint64_t end_ns = s->config.seconds * second_ns;
    const uint64_t calm_ns = CAIRN_STORM_CALM_S * second_ns;
    const uint64_t calm_from_ns = end_ns > 2 * calm_ns ? end_ns - calm_ns : end_ns / 2;
    while (cairn_system_now_ns(&s->system) < end_ns &&
           s->report.finding == CAIRN_STORM_FOUND_NOTHING) {
        if (!s->calm && cairn_system_now_ns(&s->system) >= calm_from_ns) {
            cairn_storm_begin_calm(s);
        }
        cairn_storm_weather(s);
        const uint64_t step_ns = (20 + cairn_storm_below(s, 80)) * ms_ns;
        cairn_system_run_until(&s->system, cairn_system_now_ns(&s->system) + step_ns);
        cairn_storm_check(s, step_ns);
    }
}

static void finish(cairn_storm *s) {
    const cairn_virtual_counters c = cairn_virtual_counters_read(s->system.network);
    const uint32_t words[4] = {(uint32_t)c.sent, (uint32_t)c.lost, (uint32_t)c.delivered,
        (uint32_t)s->report.roots_compared};
    const cairn_hash128 parts[2] = {s->report.digest, cairn_hash_words(1, words, 4)};
    s->report.digest = cairn_hash_list(0, parts, 2);
    s->report.datagrams = c.sent + c.injected;
    s->report.virtual_ns = cairn_system_now_ns(&s->system);
}

bool cairn_storm_run(const cairn_storm_config *config, cairn_storm_report *report) {
    *report = (cairn_storm_report){0};
    const char *refusal = refusal_of(config);
    cairn_storm *s = refusal == NULL ? calloc(1, sizeof *s) : NULL;
    if (s == NULL) {
        strcpy(report->words, refusal != NULL ? refusal : "memory is short");
        return false;
    }
    s->config = *config;
    const bool drawn = draw(s);
    if (drawn) {
        play(s);
        finish(s);
    }
    *report = s->report;
    cairn_system_stop(&s->system);
    for (uint32_t r = 0; r < s->room_count; r++) {
        cairn_witness_destroy(s->rooms[r].witness);
    }
    free(s->bodies);
    free(s);
    return drawn;
}

uint64_t cairn_storm_now_ns(const cairn_storm *s) {
    return cairn_system_now_ns(&s->system);
}

const cairn_world *cairn_storm_world(const cairn_storm *s) {
    return s->system.server == NULL ? NULL : cairn_server_world(s->system.server, CAIRN_ROOM_MAIN);
}

uint32_t cairn_storm_places(const cairn_storm *s) {
    return s->place_count;
}

cairn_client *cairn_storm_client(const cairn_storm *s, uint32_t place) {
    return place < s->place_count ? s->system.clients[place].client : NULL;
}

uint64_t cairn_storm_below(cairn_storm *s, uint64_t bound) {
    return cairn_random_below(&s->random, bound);
}

void cairn_storm_fail(cairn_storm *s, const char *words) {
    cairn_storm_find(s, CAIRN_STORM_FOUND_OWN, "%s", words);
}
