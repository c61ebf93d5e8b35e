// SPDX-License-Identifier: MIT
#include "tests/storm/storm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "tests/storm/storm_parts.h"

static const uint64_t ms_ns = 1000000;
static const uint64_t second_ns = 1000000000;
// The last part of a storm is calm: whole paths, no trouble, and everybody catches up.
static const uint64_t calm_ns = 8 * 1000000000ull;

static uint64_t below(storm *s, uint64_t bound) {
    return cairn_random_below(&s->random, bound);
}

static bool chance(storm *s, uint64_t permille) {
    return below(s, 1000) < permille;
}

static void tell(const storm *s, const char *what, uint32_t i) {
    if (s->options->events) {
        printf(
            "  %9.3f s: %s %" PRIu32 "\n", (double)cairn_system_now_ns(&s->system) * 1e-9, what, i);
    }
}

static int32_t draw_drift(storm *s) {
    return chance(s, 500) ? 0 : (int32_t)below(s, 2001) - 1000;
}

static cairn_virtual_clock draw_clock(storm *s) {
    return (cairn_virtual_clock){
        .drift_ppm = draw_drift(s), .offset_ns = second_ns + below(s, 1000) * second_ns};
}

// From a local network to a bad mobile one. Round trips stay below a second. Rooms of more than 64
// Hz are for good paths: lockstep of six players at 240 Hz tells 65 kB/s, and over half a second of
// round trip with a tenth lost it cannot catch up.
static cairn_virtual_path draw_path(storm *s) {
    const bool bad = chance(s, 400) && s->system.config.tick_rate_hz <= 64;
    return (cairn_virtual_path){
        .loss_permille = (uint32_t)below(s, bad ? 301 : 31),
        .repeat_permille = chance(s, 300) ? (uint32_t)below(s, 200) : 0,
        .corrupt_permille = chance(s, 200) ? (uint32_t)below(s, 50) : 0,
        .delay_ns = below(s, bad ? 200 : 60) * ms_ns + below(s, ms_ns),
        .jitter_ns = chance(s, 500) ? 1 + below(s, bad ? 100 : 20) * ms_ns : 0,
    };
}

static uint32_t draw_tick_rate(storm *s) {
    static const uint32_t rates[] = {10, 10, 12, 15, 20, 20, 20, 25, 30, 30, 30, 60};
    static const uint32_t high[] = {60, 64, 100, 120, 128, 144, 240};
    return chance(s, 60) ? high[below(s, 7)] : rates[below(s, 12)];
}

// From now on the client's path is whole and its time counts.
static void mend(storm *s, uint32_t i) {
    s->clients[i].healthy_ns = cairn_system_now_ns(&s->system);
}

static void join(storm *s, uint32_t i) {
    cairn_client_config config = cairn_client_config_default();
    config.mode = chance(s, 500) ? CAIRN_CLIENT_LOCKSTEP : CAIRN_CLIENT_INTERPOLATE;
    config.spectator = chance(s, 150);
    config.bodies_max = STORM_BODY_CAPACITY;
    const cairn_virtual_path path = draw_path(s);
    s->clients[i] = (storm_client){.present = true,
        .world_tick = UINT64_MAX,
        .snapshot_tick = UINT64_MAX,
        .playing_ns = UINT64_MAX};
    const bool joined = cairn_system_join(&s->system, i, &config, draw_clock(s), &path);
    CAIRN_ASSERT(joined);
    s->report.joins++;
    mend(s, i);
    tell(s, config.mode == CAIRN_CLIENT_LOCKSTEP ? "lockstep joins" : "interpolate joins", i);
}

static void rejoin(storm *s, uint32_t i) {
    s->clients[i] = (storm_client){.present = true,
        .cut = s->clients[i].cut,
        .hurt = s->clients[i].cut,
        .world_tick = UINT64_MAX,
        .snapshot_tick = UINT64_MAX,
        .playing_ns = UINT64_MAX};
    const bool joined = cairn_system_rejoin(&s->system, i);
    CAIRN_ASSERT(joined);
    s->report.joins++;
    mend(s, i);
    tell(s, "rejoins", i);
}

static void remove_client(storm *s, uint32_t i) {
    cairn_system_cut(&s->system, i, false);
    cairn_system_remove(&s->system, i);
    s->clients[i].present = false;
    tell(s, "is gone", i);
}

static void set_cut(storm *s, uint32_t i, bool cut) {
    cairn_system_cut(&s->system, i, cut);
    s->clients[i].cut = cut;
    s->clients[i].hurt = true;
    s->report.cuts += cut ? 1 : 0;
    mend(s, i);
    tell(s, cut ? "cut" : "healed", i);
}

static void restart_server(storm *s) {
    const bool restarted = cairn_system_restart_server(&s->system);
    CAIRN_ASSERT(restarted);
    storm_forget(s);
    s->report.restarts++;
    for (uint32_t i = 0; i < s->places; i++) {
        s->clients[i].hurt = true;
        s->clients[i].orphan = true;
        mend(s, i);
    }
    tell(s, "server restarts", 0);
}

static void change_path(storm *s, uint32_t i) {
    cairn_virtual_path path = draw_path(s);
    path.cut = s->clients[i].cut;
    cairn_virtual_connect(
        s->system.network, s->system.clients[i].endpoint, s->system.server_endpoint, &path);
    tell(s, "has another path", i);
}

// Whether a client that was hurt has come through: it keeps up, or had ample time to fail. A server
// that gave it up is noticed late when the stranger brings datagrams that were lost before. Behind
// a server that began anew nobody lags, so an orphan is not judged by that.
static bool came_through(const storm *s, uint32_t i) {
    const uint64_t since_ns = cairn_system_now_ns(&s->system) - s->clients[i].healthy_ns;
    const bool keeps_up = !s->clients[i].orphan &&
                          since_ns > (CAIRN_SYSTEM_TIMEOUT_S + 3) * second_ns &&
                          storm_lag_ns(s, i) < 3 * second_ns;
    return keeps_up || since_ns > 5 * CAIRN_SYSTEM_TIMEOUT_S * second_ns;
}

static void recover(storm *s, uint32_t i) {
    storm_client *c = &s->clients[i];
    const cairn_client_state state = cairn_client_state_read(s->system.clients[i].client);
    if (state == CAIRN_CLIENT_FAILED && c->hurt) {
        rejoin(s, i);
    } else if (c->hurt && !c->cut && came_through(s, i)) {
        c->hurt = false;
        c->orphan = false;
        mend(s, i);
    }
}

static void trouble_for(storm *s, uint32_t i) {
    storm_client *c = &s->clients[i];
    const uint64_t what = below(s, 100);
    if (!c->present) {
        join(s, i);
    } else if (c->leaving) {
        remove_client(s, i);
    } else if (c->cut) {
        set_cut(s, i, false);
    } else if (what < 30) {
        set_cut(s, i, true);
    } else if (what < 55) {
        change_path(s, i);
    } else if (what < 65) {
        c->leaving = true;
        cairn_system_disconnect(&s->system, i);
        tell(s, "says goodbye", i);
    } else if (what < 70) {
        remove_client(s, i);
    } else if (what == 70 && s->report.restarts < 3) {
        restart_server(s);
    }
}

static void press(storm *s, uint32_t i) {
    cairn_client_input input = {.buttons = (uint32_t)below(s, 16)};
    for (uint32_t axis = 0; axis < 3; axis++) {
        input.move[axis] = (float)below(s, 201) / 100.0f - 1.0f;
        input.aim[axis] = (float)below(s, 201) / 100.0f - 1.0f;
    }
    cairn_client_push_input(s->system.clients[i].client, &input);
}

static void hostile_act(storm *s) {
    const uint32_t i = (uint32_t)below(s, s->places);
    const uint32_t victim = s->clients[i].present && chance(s, 300) ? s->system.clients[i].endpoint
                                                                    : s->system.server_endpoint;
    cairn_stranger_act(
        &s->stranger, s->system.network, cairn_virtual_address(s->system.network, victim));
    s->report.hostile++;
}

static void step(storm *s) {
    while (chance(s, s->stranger_permille)) {
        hostile_act(s);
    }
    if (!s->calm && chance(s, s->trouble_permille)) {
        trouble_for(s, (uint32_t)below(s, s->places));
    }
    for (uint32_t i = 0; i < s->places; i++) {
        if (s->clients[i].present && !s->clients[i].leaving) {
            recover(s, i);
            if (chance(s, 200)) {
                press(s, i);
            }
        }
    }
}

static void begin_calm(storm *s) {
    const cairn_virtual_path whole = {.delay_ns = 20 * ms_ns};
    s->calm = true;
    for (uint32_t i = 0; i < s->places; i++) {
        if (!s->clients[i].present || s->clients[i].leaving) {
            continue;
        }
        if (s->clients[i].cut) {
            set_cut(s, i, false);
        }
        cairn_virtual_connect(
            s->system.network, s->system.clients[i].endpoint, s->system.server_endpoint, &whole);
        mend(s, i);
    }
    tell(s, "calm", 0);
}

static void draw(storm *s, uint64_t seed) {
    s->random = cairn_random_of(seed * 2654435761u + 17);
    storm_scene_draw(&s->scene, &s->random);
    cairn_system_config config = cairn_system_config_default(&s->scene.scene);
    config.seed = cairn_random_next(&s->random);
    config.tick_rate_hz = draw_tick_rate(s);
    const uint64_t snapshot_rate_hz = 4 + below(s, 27);
    config.snapshot_rate_hz =
        snapshot_rate_hz < config.tick_rate_hz ? (uint32_t)snapshot_rate_hz : config.tick_rate_hz;
    config.clients_max = 32;
    config.players_max = 32;
    config.server_clock = draw_clock(s);
    s->places = 1 + (uint32_t)below(s, chance(s, 200) ? STORM_CLIENTS_MAX : 3);
    s->stranger_permille = chance(s, 600) ? (uint32_t)below(s, 500) : 0;
    s->trouble_permille = 2 + (uint32_t)below(s, 30);
    cairn_stranger_init(&s->stranger, cairn_random_next(&s->random));
    const bool started = cairn_system_start(&s->system, &config);
    CAIRN_ASSERT(started);
    cairn_virtual_tap(s->system.network, cairn_stranger_see, &s->stranger);
    s->system.after_server = storm_note_server;
    s->system.after_client = storm_note_client;
    s->system.user = s;
    storm_forget(s);
    for (uint32_t i = 0; i < s->places; i++) {
        if (i == 0 || chance(s, 700)) {
            join(s, i);
        }
    }
}

static void play(storm *s) {
    const uint64_t end_ns = s->options->seconds * second_ns;
    const uint64_t calm_from_ns = end_ns > 2 * calm_ns ? end_ns - calm_ns : end_ns / 2;
    while (cairn_system_now_ns(&s->system) < end_ns && s->report.finding[0] == 0) {
        if (!s->calm && cairn_system_now_ns(&s->system) >= calm_from_ns) {
            begin_calm(s);
        }
        step(s);
        cairn_system_run_until(
            &s->system, cairn_system_now_ns(&s->system) + (20 + below(s, 80)) * ms_ns);
        storm_check(s);
    }
}

static void finish(storm *s) {
    const cairn_virtual_counters c = cairn_virtual_counters_read(s->system.network);
    const uint32_t words[4] = {(uint32_t)c.sent, (uint32_t)c.lost, (uint32_t)c.delivered,
        (uint32_t)s->report.roots_compared};
    const cairn_hash128 parts[2] = {s->report.digest, cairn_hash_words(1, words, 4)};
    s->report.digest = cairn_hash_list(0, parts, 2);
    s->report.datagrams = c.sent + c.injected;
    s->report.virtual_ns = cairn_system_now_ns(&s->system);
}

storm_report storm_run(uint64_t seed, const storm_options *options) {
    storm *s = calloc(1, sizeof *s);
    CAIRN_ASSERT(s != NULL);
    s->past = cairn_witness_create(STORM_BODY_CAPACITY);
    CAIRN_ASSERT(s->past != NULL);
    s->options = options;
    draw(s, seed);
    play(s);
    finish(s);
    const storm_report report = s->report;
    cairn_system_stop(&s->system);
    cairn_witness_destroy(s->past);
    free(s);
    return report;
}
