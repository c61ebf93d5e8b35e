// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "client_lib/client_parts.h"
#include "tests/storm/storm_parts.h"

static const uint64_t second_ns = 1000000000;
// Who connects plays by then: three handshake trips, a state of some 30 kB and a snapshot, all over
// a path that loses up to three in ten.
static const uint64_t join_bound_ns = 15 * 1000000000ull;
// How long after a path healed a client may lag.
static const uint64_t recovery_bound_ns = 6 * 1000000000ull;

void storm_find(storm *s, const char *format, ...) {
    if (s->report.finding[0] != 0) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->report.finding, sizeof s->report.finding, format, arguments);
    va_end(arguments);
    s->report.found_ns = cairn_system_now_ns(&s->system);
}

void storm_forget(storm *s) {
    cairn_witness_forget(s->past);
    s->server_tick = UINT64_MAX;
    for (uint32_t i = 0; i < STORM_CLIENTS_MAX; i++) {
        s->clients[i].world_tick = UINT64_MAX;
        s->clients[i].snapshot_tick = UINT64_MAX;
    }
}

void storm_note_server(void *user) {
    storm *s = user;
    const cairn_world *world = cairn_server_world(s->system.server, CAIRN_ROOM_MAIN);
    const uint64_t tick = cairn_world_tick(world);
    if (tick == s->server_tick) {
        return;
    }
    s->report.ticks += s->server_tick == UINT64_MAX ? 0 : tick - s->server_tick;
    s->server_tick = tick;
    cairn_witness_note(s->past, world);
    const cairn_witness_tick *past = cairn_witness_find(s->past, tick);
    const cairn_hash128 parts[2] = {s->report.digest, past->root};
    s->report.digest = cairn_hash_list(tick, parts, 2);
}

static void nudge(const cairn_world *world) {
    // The storm breaks a world it may only read, on purpose.
    cairn_world *broken = (cairn_world *)(uintptr_t)world;
    cairn_body_state bodies[2];
    if (cairn_world_bodies(world, bodies, 2) > 1) {
        bodies[1].linear_velocity.x += 0.001f;
        cairn_body_set_velocity(
            broken, bodies[1].id, bodies[1].linear_velocity, bodies[1].angular_velocity);
    }
}

static void check_world(storm *s, uint32_t i) {
    const cairn_world *world = cairn_client_world(s->system.clients[i].client);
    if (world == NULL || cairn_world_tick(world) == s->clients[i].world_tick) {
        return;
    }
    const uint64_t tick = cairn_world_tick(world);
    const cairn_witness_tick *past = cairn_witness_find(s->past, tick);
    s->clients[i].world_tick = tick;
    if (past == NULL) {
        return; // a world of before the server's restart, or of a tick inside one advance
    }
    s->report.roots_compared++;
    if (!cairn_hash_equal(past->root, cairn_world_hash_read(world).full)) {
        storm_find(
            s, "client %" PRIu32 ": world differs from the server's at tick %" PRIu64, i, tick);
    }
    if (s->options->broken == STORM_BREAK_HASH && s->report.roots_compared == 40) {
        nudge(world);
    }
}

static void check_snapshot(storm *s, uint32_t i) {
    const cairn_client *client = s->system.clients[i].client;
    const cairn_snapshot *newest = cairn_snapshots_newest(&client->snapshots);
    if (newest == NULL || newest->tick == s->clients[i].snapshot_tick) {
        return;
    }
    const cairn_witness_tick *past = cairn_witness_find(s->past, newest->tick);
    s->clients[i].snapshot_tick = newest->tick;
    if (past == NULL) {
        return;
    }
    s->report.snapshots_compared++;
    if (s->options->broken == STORM_BREAK_SNAPSHOT && s->report.snapshots_compared == 40) {
        uint32_t word;
        memcpy(&word, &newest->bodies[0].position.y, sizeof word);
        word ^= 1;
        memcpy(&newest->bodies[0].position.y, &word, sizeof word);
    }
    if (!cairn_witness_bodies_equal(past, newest->bodies, newest->body_count)) {
        storm_find(s, "client %" PRIu32 ": snapshot of tick %" PRIu64 " is not the server's", i,
            newest->tick);
    }
}

void storm_note_client(void *user, uint32_t i) {
    storm *s = user;
    if (s->clients[i].leaving) {
        return;
    }
    if (s->system.clients[i].config.mode == CAIRN_CLIENT_LOCKSTEP) {
        check_world(s, i);
    } else {
        check_snapshot(s, i);
    }
}

static void check_server_counters(storm *s) {
    cairn_server_statistics c;
    cairn_server_statistics_read(s->system.server, &c);
    uint64_t told = 0;
    for (uint32_t i = 0; i < CAIRN_NETCODE_DROP_COUNT; i++) {
        told += c.drops_netcode[i];
    }
    const uint64_t handed =
        s->system.handed_to_server + (s->options->broken == STORM_BREAK_DROP_COUNT ? 1 : 0);
    if (told != handed || c.datagrams_received != s->system.handed_to_server) {
        storm_find(
            s, "server: %" PRIu64 " datagrams handed over, %" PRIu64 " counted", handed, told);
    }
    if (c.roots_differed != 0) {
        storm_find(s, "server: told of %" PRIu64 " differing roots", c.roots_differed);
    }
}

static void check_client_counters(storm *s, uint32_t i) {
    const cairn_client *client = s->system.clients[i].client;
    cairn_client_statistics c;
    cairn_client_statistics_read(client, &c);
    const uint64_t *drops = cairn_netcode_client_drops(client->netcode);
    uint64_t told = 0;
    for (uint32_t d = 0; d < CAIRN_NETCODE_DROP_COUNT; d++) {
        told += drops[d];
    }
    const uint64_t handed = s->system.clients[i].handed;
    // Statistics begin anew with each connection, the counters of drops do not.
    const uint64_t handed_now = handed - s->system.clients[i].handed_before;
    if (told != handed || c.datagrams_received != handed_now) {
        storm_find(s,
            "client %" PRIu32 ": %" PRIu64 " datagrams handed over, %" PRIu64 " counted, %" PRIu64
            " of %" PRIu64 " since it connected",
            i, handed, told, c.datagrams_received, handed_now);
    }
    if (c.roots_differed != 0) {
        storm_find(
            s, "client %" PRIu32 ": false alarm at tick %" PRIu64, i, c.first_difference_tick);
    }
    if (client->drops_snapshot[CAIRN_SNAPSHOT_DELTA_MALFORMED] != 0) {
        storm_find(s, "client %" PRIu32 ": a delta did not fit its baseline", i);
    }
}

uint64_t storm_lag_ns(const storm *s, uint32_t i) {
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    const uint64_t here = s->system.clients[i].config.mode == CAIRN_CLIENT_LOCKSTEP
                              ? s->clients[i].world_tick
                              : s->clients[i].snapshot_tick;
    if (here == UINT64_MAX) {
        return UINT64_MAX;
    }
    const uint64_t behind = s->server_tick > here ? s->server_tick - here : 0;
    return behind * second_ns / s->system.config.tick_rate_hz;
}

// What a client may be behind by: the path, some round trips of the stream that brings what was
// lost, what interpolation holds back, and updates lost in a row. Two of three may be lost, when
// they travel in three fragments over the worst path drawn; a storm of a week asks some 10^7 times,
// so 40 in a row are to be expected.
static uint64_t lag_bound_ns(const storm *s, uint32_t i) {
    const bool lockstep = s->system.clients[i].config.mode == CAIRN_CLIENT_LOCKSTEP;
    const uint64_t rate_hz =
        lockstep ? s->system.config.tick_rate_hz : s->system.config.snapshot_rate_hz;
    const uint64_t lost = s->calm ? 3 : 40;
    return (s->calm ? 600000000u : 4000000000u) + lost * second_ns / rate_hz;
}

// A whole path must carry: playing within the join bound, close behind after the recovery bound.
static void check_liveness(storm *s, uint32_t i) {
    storm_client *c = &s->clients[i];
    const cairn_client *client = s->system.clients[i].client;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t whole_ns = now_ns - c->healthy_ns;
    const cairn_client_state state = cairn_client_state_read(client);
    if (state != CAIRN_CLIENT_PLAYING) {
        c->playing_ns = UINT64_MAX;
    } else if (c->playing_ns == UINT64_MAX) {
        c->playing_ns = now_ns;
    }
    if (state == CAIRN_CLIENT_FAILED && !c->hurt) {
        storm_find(s, "client %" PRIu32 ": failed for no reason: %s", i,
            cairn_client_failure_text(client));
    }
    if (c->cut || c->hurt) {
        return;
    }
    if (whole_ns > join_bound_ns && state != CAIRN_CLIENT_PLAYING) {
        storm_find(s, "client %" PRIu32 ": in state %d after %" PRIu64 " ms on a whole path", i,
            (int)state, whole_ns / 1000000);
    }
    if (whole_ns <= recovery_bound_ns || state != CAIRN_CLIENT_PLAYING ||
        now_ns - c->playing_ns <= recovery_bound_ns) {
        return;
    }
    const uint64_t behind_ns = storm_lag_ns(s, i);
    if (behind_ns > lag_bound_ns(s, i)) {
        storm_find(s,
            "client %" PRIu32 ": %" PRIu64 " ms behind after %" PRIu64 " ms on a whole path", i,
            behind_ns / 1000000, whole_ns / 1000000);
    }
}

void storm_check(storm *s) {
    check_server_counters(s);
    for (uint32_t i = 0; i < s->places; i++) {
        if (s->clients[i].present && !s->clients[i].leaving) {
            check_client_counters(s, i);
            check_liveness(s, i);
        }
    }
    if (!cairn_virtual_adds_up(s->system.network)) {
        storm_find(s, "the network itself lost count");
    }
    if (cairn_virtual_counters_read(s->system.network).overflow != 0) {
        storm_find(s, "more datagrams under way than the network holds");
    }
    if (s->system.spins != 0) {
        storm_find(s, "an endpoint asked to be woken at once with nothing to do");
    }
}
