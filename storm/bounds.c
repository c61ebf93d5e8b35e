// SPDX-License-Identifier: MIT
#include <inttypes.h>

#include "client_lib/client_parts.h"
#include "storm/parts.h"

static const uint64_t second_ns = 1000000000;
// Who connects plays by then: three handshake trips, a state of some 30 kB and a snapshot, all over
// a path that loses up to three in ten.
static const uint64_t join_bound_ns = CAIRN_STORM_JOIN_S * 1000000000ull;
static const uint64_t recovery_bound_ns = CAIRN_STORM_RECOVERY_S * 1000000000ull;

static void check_server_counters(cairn_storm *s) {
    cairn_server_statistics c;
    cairn_server_statistics_read(s->system.server, &c);
    uint64_t told = 0;
    for (uint32_t i = 0; i < CAIRN_NETCODE_DROP_COUNT; i++) {
        told += c.drops_netcode[i];
    }
    const uint64_t handed =
        s->system.handed_to_server + (s->config.broken == CAIRN_STORM_BREAK_DROP_COUNT ? 1 : 0);
    if (told != handed || c.datagrams_received != s->system.handed_to_server) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_COUNT,
            "server: %" PRIu64 " datagrams handed over, %" PRIu64 " counted", handed, told);
    }
    bool excused = false;
    for (uint32_t i = 0; i < CAIRN_STORM_PLACES_MAX; i++) {
        excused = excused || cairn_storm_excused(s, i);
    }
    s->server_alarms = excused ? c.roots_differed : s->server_alarms;
    if (c.roots_differed != s->server_alarms) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_ALARM, "server: told of %" PRIu64 " differing roots",
            c.roots_differed);
    }
}

static void check_client_counters(cairn_storm *s, uint32_t i) {
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
        cairn_storm_find(s, CAIRN_STORM_FOUND_COUNT,
            "client %" PRIu32 ": %" PRIu64 " datagrams handed over, %" PRIu64 " counted, %" PRIu64
            " of %" PRIu64 " since it connected",
            i, handed, told, c.datagrams_received, handed_now);
    }
    cairn_storm_place *place = &s->places[i];
    const bool excused = cairn_storm_excused(s, i) || c.roots_differed < place->alarms_seen;
    place->alarms_seen = excused ? c.roots_differed : place->alarms_seen;
    if (c.roots_differed != place->alarms_seen) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_ALARM,
            "client %" PRIu32 ": false alarm at tick %" PRIu64, i, c.first_difference_tick);
    }
    if (client->drops_snapshot[CAIRN_SNAPSHOT_DELTA_MALFORMED] != 0) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_SNAPSHOT,
            "client %" PRIu32 ": a delta did not fit its baseline", i);
    }
}

uint64_t cairn_storm_whole_ns(const cairn_storm *s, uint32_t i) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    return now_ns > s->places[i].healthy_ns ? now_ns - s->places[i].healthy_ns : 0;
}

uint64_t cairn_storm_lag_ns(const cairn_storm *s, uint32_t i) {
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    const uint64_t here =
        cairn_storm_exact(s, i) ? s->places[i].world_tick : s->places[i].snapshot_tick;
    if (here == UINT64_MAX) {
        return UINT64_MAX;
    }
    const uint64_t tick = s->rooms[s->places[i].room].server_tick;
    const uint64_t behind = tick > here ? tick - here : 0;
    return behind * second_ns / s->system.config.tick_rate_hz;
}

// What a client may be behind by: the path, some round trips of the stream that brings what was
// lost, what interpolation holds back, and updates lost in a row. Two of three may be lost, when
// they travel in three fragments over the worst path drawn; a storm of a week asks some 10^7 times,
// so 40 in a row are to be expected.
static uint64_t lag_bound_ns(const cairn_storm *s, uint32_t i) {
    const bool lockstep = cairn_storm_exact(s, i);
    const uint64_t rate_hz =
        lockstep ? s->system.config.tick_rate_hz : s->system.config.snapshot_rate_hz;
    const uint64_t lost = s->calm ? 3 : 40;
    return (s->calm ? 600000000u : 4000000000u) + lost * second_ns / rate_hz;
}

// A whole path must carry: playing within the join bound, close behind after the recovery bound.
static void check_liveness(cairn_storm *s, uint32_t i) {
    cairn_storm_place *c = &s->places[i];
    const cairn_client *client = s->system.clients[i].client;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t whole_ns = cairn_storm_whole_ns(s, i);
    const cairn_client_state state = cairn_client_state_read(client);
    if (state != CAIRN_CLIENT_PLAYING) {
        c->playing_ns = UINT64_MAX;
    } else if (c->playing_ns == UINT64_MAX) {
        c->playing_ns = now_ns;
    }
    if (state == CAIRN_CLIENT_FAILED && !c->hurt) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_BROKEN,
            "client %" PRIu32 ": failed for no reason: %s", i, cairn_client_failure_text(client));
    }
    if (c->cut || c->hurt) {
        return;
    }
    if (whole_ns > join_bound_ns && state != CAIRN_CLIENT_PLAYING) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_JOIN,
            "client %" PRIu32 ": in state %d after %" PRIu64 " ms on a whole path", i, (int)state,
            whole_ns / 1000000);
    }
    if (whole_ns <= recovery_bound_ns || state != CAIRN_CLIENT_PLAYING ||
        now_ns - c->playing_ns <= recovery_bound_ns) {
        return;
    }
    const uint64_t behind_ns = cairn_storm_lag_ns(s, i);
    if (behind_ns > lag_bound_ns(s, i)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_LAG,
            "client %" PRIu32 ": %" PRIu64 " ms behind after %" PRIu64 " ms on a whole path", i,
            behind_ns / 1000000, whole_ns / 1000000);
    }
}

// In the calm everybody who plays soon holds a world of the calm.
static void check_equal(cairn_storm *s, uint32_t i) {
    cairn_storm_place *c = &s->places[i];
    if (!s->calm || c->hurt || c->damaged || c->playing_ns == UINT64_MAX) {
        return;
    }
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    c->calm_ns = c->calm_ns == UINT64_MAX ? now_ns : c->calm_ns;
    if (c->calm_ns == 0) {
        return;
    }
    const uint64_t ms = (now_ns - c->calm_ns) / 1000000;
    const uint64_t ticks = ms * s->system.config.tick_rate_hz / 1000;
    if (c->calm_equal) {
        c->calm_ns = 0; // and no longer asked for
        s->report.equal_ms_max = ms > s->report.equal_ms_max ? ms : s->report.equal_ms_max;
        s->report.equal_ticks_max =
            ticks > s->report.equal_ticks_max ? ticks : s->report.equal_ticks_max;
    } else if (ticks > CAIRN_STORM_EQUAL_TICKS && ms > CAIRN_STORM_EQUAL_MS) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_LAG,
            "client %" PRIu32 ": not equal to the server %" PRIu64 " ticks after the network was "
            "whole again",
            i, ticks);
    }
}

static void count_playing(cairn_storm *s, uint32_t i, uint64_t passed_ns) {
    if (s->places[i].playing_ns != UINT64_MAX) {
        s->report.playing_ns[s->system.clients[i].config.mode] += passed_ns;
    }
}

void cairn_storm_check(cairn_storm *s, uint64_t passed_ns) {
    check_server_counters(s);
    for (uint32_t i = 0; i < s->place_count; i++) {
        if (s->places[i].present && !s->places[i].leaving) {
            check_client_counters(s, i);
            check_liveness(s, i);
            check_equal(s, i);
            cairn_storm_check_damage(s, i);
            cairn_storm_check_work(s, i, passed_ns);
            count_playing(s, i, passed_ns);
        }
    }
    cairn_storm_check_memory(s, passed_ns);
    if (!cairn_virtual_adds_up(s->system.network)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_NETWORK, "the network itself lost count");
    }
    if (cairn_virtual_counters_read(s->system.network).overflow != 0) {
        cairn_storm_find(
            s, CAIRN_STORM_FOUND_NETWORK, "more datagrams under way than the network holds");
    }
    if (s->system.spins != 0) {
        cairn_storm_find(
            s, CAIRN_STORM_FOUND_SPIN, "an endpoint asked to be woken at once with nothing to do");
    }
}
