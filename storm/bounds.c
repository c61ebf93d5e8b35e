// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>

#include "client_lib/client_probe.h"
#include "net/netcode_drop.h"

// Whatever the path is.
static const uint64_t join_bound_ns = CAIRN_STORM_JOIN_S * CAIRN_NS_PER_S;
static const uint64_t recovery_bound_ns = CAIRN_STORM_RECOVERY_S * CAIRN_NS_PER_S;
// An operator pauses the room for two seconds, and its requests may be on their way as long.
static const uint64_t pause_bound_ns = 4 * CAIRN_NS_PER_S;

static void check_server_counters(cairn_storm *s) {
    cairn_server_statistics c;
    cairn_server_statistics_read(s->system.server, &c);
    uint64_t counted = 0;
    for (uint32_t i = 0; i < CAIRN_NETCODE_DROP_COUNT; i++) {
        counted += c.drops_netcode[i];
    }
    const uint64_t delivered = s->system.delivered_to_server;
    if (counted != delivered || c.datagrams_received != delivered) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_COUNT,
            "server: %" PRIu64 " datagrams delivered, %" PRIu64 " counted", delivered, counted);
    }
    bool expected = s->hostile_count > 0; // they lie
    for (uint32_t i = 0; i < CAIRN_STORM_CLIENT_SLOTS_MAX; i++) {
        expected = expected || cairn_storm_difference_expected(s, i);
    }
    s->server_differences = expected ? c.total.roots_differed : s->server_differences;
    if (c.total.roots_differed != s->server_differences) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_ALARM,
            "server: clients reported %" PRIu64 " roots that differ although nothing was damaged; "
            "do your rules keep something outside their state?",
            c.total.roots_differed);
    }
}

static void check_client_counters(cairn_storm *s, uint32_t i) {
    const cairn_client_probe client = cairn_client_probe_of(s->system.clients[i].client);
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    const uint64_t *drops = cairn_netcode_client_drops(client.connection->netcode);
    uint64_t counted = 0;
    for (uint32_t d = 0; d < CAIRN_NETCODE_DROP_COUNT; d++) {
        counted += drops[d];
    }
    const uint64_t delivered = s->system.clients[i].delivered;
    // Statistics start again with each connection, the drop counters do not.
    const uint64_t delivered_now = delivered - s->system.clients[i].delivered_before;
    if (counted != delivered || c.connection.datagrams_received != delivered_now) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_COUNT,
            "client %" PRIu32 ": %" PRIu64 " datagrams delivered, %" PRIu64 " counted; since "
            "it connected %" PRIu64 " counted of %" PRIu64,
            i, delivered, counted, c.connection.datagrams_received, delivered_now);
    }
    cairn_storm_slot *slot = &s->slots[i];
    const bool expected = cairn_storm_difference_expected(s, i) ||
                          c.simulation.roots_differed < slot->differences_seen;
    slot->differences_seen = expected ? c.simulation.roots_differed : slot->differences_seen;
    if (c.simulation.roots_differed != slot->differences_seen) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_ALARM,
            "client %" PRIu32 ": its world differs from the server's at tick %" PRIu64 " although "
            "nothing was damaged; do your rules keep something outside their state?",
            i, c.simulation.first_difference_tick);
    }
    if (client.snapshot_drops[CAIRN_SNAPSHOT_MALFORMED] != 0 ||
        client.snapshot_drops[CAIRN_SNAPSHOT_DIFFERS] != 0) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_SNAPSHOT,
            "client %" PRIu32 ": a snapshot did not fit those that it was coded against", i);
    }
}

// How long a client may need until it plays: from its join, or from the last fault since. A fault
// leaves timeouts behind that have grown to two seconds each.
static uint64_t join_bound_now_ns(const cairn_storm *s, uint32_t i) {
    uint64_t bound_ns = cairn_storm_join_bound_ns(s, i);
    bound_ns += s->slots[i].fresh ? 0 : recovery_bound_ns;
    bound_ns += s->operated ? pause_bound_ns : 0;
    return bound_ns < join_bound_ns ? bound_ns : join_bound_ns;
}

// Since when nothing touched the client and its path.
static uint64_t calm_ns_of(const cairn_storm *s, uint32_t i) {
    const uint64_t path_ns = cairn_system_now_ns(&s->system) - s->slots[i].path_since_ns;
    const uint64_t undisturbed_ns = cairn_storm_undisturbed_ns(s, i);
    return path_ns < undisturbed_ns ? path_ns : undisturbed_ns;
}

static void note_percent(uint64_t *worst, uint64_t value, uint64_t bound) {
    const uint64_t percent = value * 100 / bound;
    *worst = percent > *worst ? percent : *worst;
}

// Begins a window of inputs if the client's path allows a judgement, and judges the last one.
static void check_late(cairn_storm *s, uint32_t i, bool judged) {
    cairn_storm_slot *slot = &s->slots[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    cairn_client_statistics c;
    cairn_client_statistics_read(s->system.clients[i].client, &c);
    // A room that waits for inputs delays its schedule, and the clocks of its clients follow.
    const uint64_t wait_ns = cairn_storm_server_room(s, slot->room)->statistics.input_wait_ns;
    judged = judged && !s->operated && c.inputs.sent > 0 && c.inputs.late >= slot->late_seen;
    if (!judged || slot->late_from_ns == 0 || wait_ns != slot->late_wait_ns) {
        slot->late_from_ns = judged ? now_ns : 0;
        slot->late_seen = c.inputs.late;
        slot->late_sent = c.connection.datagrams_sent;
        slot->late_wait_ns = wait_ns;
        return;
    }
    const uint64_t passed_ns = now_ns - slot->late_from_ns;
    if (passed_ns < CAIRN_STORM_RATE_S * CAIRN_NS_PER_S) {
        return;
    }
    slot->late_from_ns = 0;
    const uint64_t late = c.inputs.late - slot->late_seen;
    const uint64_t ticks = passed_ns * s->system.config.tick_rate_hz / CAIRN_NS_PER_S;
    if (c.connection.datagrams_sent - slot->late_sent < ticks) {
        return; // after losses its rate is too low for a datagram a tick
    }
    const uint64_t bound = cairn_storm_late_bound(s, i, ticks);
    note_percent(&s->report.late_percent_max, late, bound);
    if (late > bound) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_LATE,
            "client %" PRIu32 ": %" PRIu64 " of its inputs in %" PRIu64
            " ticks came too late on an undisturbed path, at most %" PRIu64 " may",
            i, late, ticks, bound);
    }
}

// How far the client lags, and how many of its inputs are late.
static void check_keeps_up(cairn_storm *s, uint32_t i) {
    const cairn_storm_slot *slot = &s->slots[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    // While a world is repaired it stands still, and over a narrow line the state takes long.
    const bool repaired =
        slot->damaged || (slot->repaired_ns > 0 && now_ns <= slot->repaired_ns + recovery_bound_ns);
    const bool judged = !repaired && now_ns - slot->path_since_ns > cairn_storm_settling_ns(s, i);
    const uint64_t behind_ns = cairn_storm_lag_ns(s, i);
    uint64_t bound_ns = cairn_storm_lag_bound_ns(s, i);
    if (judged) {
        note_percent(&s->report.lag_percent_max, behind_ns, bound_ns);
    } else {
        bound_ns += recovery_bound_ns;
    }
    if (behind_ns > bound_ns) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_LAG,
            "client %" PRIu32 ": %" PRIu64 " ms behind the server after %" PRIu64
            " ms on an undisturbed path, at most %" PRIu64 " are expected",
            i, behind_ns / 1000000, cairn_storm_undisturbed_ns(s, i) / 1000000, bound_ns / 1000000);
    }
    check_late(s, i, judged);
}

// On an undisturbed path a client plays within the join bound and keeps up after the recovery
// bound.
static void check_liveness(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const cairn_client *client = s->system.clients[i].client;
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const uint64_t undisturbed_ns = cairn_storm_undisturbed_ns(s, i);
    const cairn_client_state state = cairn_client_state_read(client);
    if (state != CAIRN_CLIENT_PLAYING) {
        slot->playing_ns = UINT64_MAX;
    } else if (slot->playing_ns == UINT64_MAX) {
        slot->playing_ns = now_ns;
        if (slot->fresh && !s->operated) {
            note_percent(&s->report.join_percent_max, undisturbed_ns, join_bound_now_ns(s, i));
        }
    }
    if (state == CAIRN_CLIENT_FAILED && !slot->degraded) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_BROKEN,
            "client %" PRIu32 ": failed without a fault: %s", i, cairn_client_failure_text(client));
    }
    if (slot->cut || slot->degraded) {
        return;
    }
    const uint64_t calm_ns = calm_ns_of(s, i);
    if (state != CAIRN_CLIENT_PLAYING && calm_ns > join_bound_now_ns(s, i)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_JOIN,
            "client %" PRIu32 ": does not play but is in state %d after %" PRIu64
            " ms on an undisturbed path, %" PRIu64 " are expected",
            i, (int)state, calm_ns / 1000000, join_bound_now_ns(s, i) / 1000000);
    }
    if (undisturbed_ns <= recovery_bound_ns || state != CAIRN_CLIENT_PLAYING ||
        now_ns - slot->playing_ns <= recovery_bound_ns) {
        slot->late_from_ns = 0;
        return;
    }
    check_keeps_up(s, i);
}

// In quiescence every playing client soon holds a world of a tick of the quiescence.
static void check_equal(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    if (!s->quiescent || slot->degraded || slot->damaged || slot->playing_ns == UINT64_MAX) {
        return;
    }
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    slot->quiescent_ns = slot->quiescent_ns == UINT64_MAX ? now_ns : slot->quiescent_ns;
    if (slot->quiescent_ns == 0) {
        return;
    }
    const uint64_t ms = (now_ns - slot->quiescent_ns) / 1000000;
    const uint64_t ticks = ms * s->system.config.tick_rate_hz / 1000;
    if (slot->quiescence_equal) {
        slot->quiescent_ns = 0;
        s->report.equal_ms_max = ms > s->report.equal_ms_max ? ms : s->report.equal_ms_max;
        s->report.equal_ticks_max =
            ticks > s->report.equal_ticks_max ? ticks : s->report.equal_ticks_max;
    } else if (ticks > CAIRN_STORM_EQUAL_TICKS && ms > CAIRN_STORM_EQUAL_MS) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_LAG,
            "client %" PRIu32 ": not equal to the server %" PRIu64 " ticks after quiescence began",
            i, ticks);
    }
}

static void check_client_memory(cairn_storm *s, uint32_t i) {
    cairn_storm_slot *slot = &s->slots[i];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const int64_t bytes = s->system.clients[i].host.bytes;
    if (bytes > (int64_t)s->report.client_bytes_max) {
        s->report.client_bytes_max = (uint64_t)bytes;
    }
    if (slot->playing_ns == UINT64_MAX ||
        now_ns - slot->playing_ns < CAIRN_STORM_WARM_S * CAIRN_NS_PER_S) {
        slot->warm_bytes = 0;
        return;
    }
    slot->warm_bytes = slot->warm_bytes == 0 ? bytes : slot->warm_bytes;
    const int64_t growth = bytes - slot->warm_bytes;
    if (growth > (int64_t)s->report.client_growth_max) {
        s->report.client_growth_max = (uint64_t)growth;
    }
    // The frames of a view take room when it opens, and grow with it.
    const size_t view_bytes =
        s->views ? (CAIRN_SNAPSHOTS_MAX + 1) * s->scene->world.body_capacity * CAIRN_FRAME_BODY_SIZE
                 : 0;
    if (growth > CAIRN_STORM_CLIENT_GROWTH_BYTES + (int64_t)view_bytes) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MEMORY,
            "client %" PRIu32 ": grew by %" PRId64 " bytes since it was warm", i, growth);
    }
}

static void check_server_memory(cairn_storm *s, uint64_t passed_ns) {
    size_t history_bytes = 0, snapshot_bytes = 0; // these have bounds of their own
    for (uint32_t r = 0; r < s->room_count; r++) {
        const cairn_room *room = cairn_storm_server_room(s, r);
        history_bytes += cairn_state_history_statistics_read(room->state_history).reserved;
        snapshot_bytes += cairn_baselines_bytes(room->replication->baselines);
    }
    const int64_t bytes =
        s->system.server_host.bytes - (int64_t)history_bytes - (int64_t)snapshot_bytes;
    cairn_server_statistics c;
    cairn_server_statistics_read(s->system.server, &c);
    s->server_clients_most =
        c.clients > s->server_clients_most ? c.clients : s->server_clients_most;
    s->server_ns += passed_ns;
    if (bytes > (int64_t)s->report.server_bytes_max) {
        s->report.server_bytes_max = (uint64_t)bytes;
    }
    if (s->server_ns < CAIRN_STORM_WARM_S * CAIRN_NS_PER_S) {
        s->server_warm_bytes = bytes > s->server_warm_bytes ? bytes : s->server_warm_bytes;
        return;
    }
    if (cairn_server_room_find(s->system.server, "fork") != 0) {
        return; // a room more
    }
    const int64_t growth = bytes - s->server_warm_bytes;
    if (growth > (int64_t)s->report.server_growth_max) {
        s->report.server_growth_max = (uint64_t)growth;
    }
    // Beside the bound a history has tables.
    if (history_bytes > s->room_count * (CAIRN_ROOM_STATE_HISTORY_BYTES_MAX + (1u << 20))) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MEMORY,
            "server: the state histories of its rooms take %zu bytes", history_bytes);
    }
    // The world that repairs compare with and the one in which edits are tried are created on first
    // use, each as large as the room's (seed 12006429).
    const uint64_t shares = s->server_clients_most + 2;
    const uint64_t worlds = 2 * s->room_count * (uint64_t)s->system.server_start_bytes;
    const uint64_t recordings =
        s->room_count * CAIRN_STORM_RECORDING_BYTES * (s->disk.publishes ? 2 : 1);
    if (growth > (int64_t)(shares * CAIRN_STORM_SERVER_GROWTH_BYTES + worlds + recordings)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_MEMORY,
            "server: grew by %" PRId64 " bytes since it was warm", growth);
    }
}

static void check_memory(cairn_storm *s, uint64_t passed_ns) {
    if (s->config.memory_bytes == NULL) {
        return;
    }
    check_server_memory(s, passed_ns);
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].present && !s->slots[i].leaving) {
            check_client_memory(s, i);
        }
    }
}

// Whether something that the storm did to the server may slow its rooms; or to an honest client, if
// they wait for players.
static bool is_disturbed(const cairn_storm *s) {
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    bool disturbed = s->operated ||
                     s->system.server_host.stalled_until_ns + CAIRN_NS_PER_S > now_ns ||
                     s->server_ns < CAIRN_NS_PER_S;
    for (uint32_t i = 0; i < s->slot_count && s->system.config.wait_ms > 0; i++) {
        disturbed = disturbed || (s->slots[i].present && (s->slots[i].cut || s->slots[i].degraded ||
                                                             calm_ns_of(s, i) < CAIRN_NS_PER_S));
    }
    return disturbed;
}

// A room keeps its rate whatever clients do, as far as it does not wait for players.
static void check_rate(cairn_storm *s, uint32_t r) {
    cairn_storm_room *room = &s->rooms[r];
    const uint64_t now_ns = cairn_system_now_ns(&s->system);
    const bool known = room->server_tick != UINT64_MAX;
    if (!known || is_disturbed(s) || room->rate_ns == 0 || room->server_tick < room->rate_tick) {
        room->rate_ns = known && !is_disturbed(s) ? now_ns : 0;
        room->rate_tick = room->server_tick;
        return;
    }
    const uint64_t passed_ns = now_ns - room->rate_ns;
    if (passed_ns < CAIRN_STORM_RATE_S * CAIRN_NS_PER_S) {
        return;
    }
    const uint64_t ticks = room->server_tick - room->rate_tick;
    const uint64_t due = passed_ns * s->system.config.tick_rate_hz / CAIRN_NS_PER_S;
    const uint64_t percent =
        s->system.config.wait_ms == 0 ? CAIRN_STORM_RATE_PERCENT : CAIRN_STORM_RATE_WAIT_PERCENT;
    const uint64_t reached = (ticks + 2) * 100 / due;
    s->report.rate_percent_min =
        s->report.rate_percent_min == 0 || reached < s->report.rate_percent_min
            ? reached
            : s->report.rate_percent_min;
    if (reached < percent) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_RATE,
            "room %" PRIu32 ": stepped %" PRIu64 " of %" PRIu64 " ticks in %" PRIu64
            " ms without a fault",
            r, ticks, due, passed_ns / 1000000);
    }
    room->rate_ns = now_ns;
    room->rate_tick = room->server_tick;
}

static void check_hostiles(cairn_storm *s) {
    for (uint32_t i = 0; i < s->hostile_count; i++) {
        if (s->hostiles[i].admitted_twice > 0) {
            cairn_storm_report_finding(s, CAIRN_STORM_FOUND_TOKEN,
                "hostile client %" PRIu32 ": a token that was used before, or lives too long, made "
                "a session",
                i);
        }
    }
}

void cairn_storm_check(cairn_storm *s, uint64_t passed_ns) {
    check_server_counters(s);
    check_hostiles(s);
    for (uint32_t r = 0; r < s->room_count; r++) {
        check_rate(s, r);
    }
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].present && !s->slots[i].leaving) {
            check_client_counters(s, i);
            check_liveness(s, i);
            check_equal(s, i);
            cairn_storm_check_damage(s, i);
            cairn_storm_check_work(s, i, passed_ns);
            if (s->slots[i].playing_ns != UINT64_MAX) {
                s->report.playing_ns[s->system.clients[i].config.mode] += passed_ns;
            }
        }
    }
    check_memory(s, passed_ns);
    if (!cairn_virtual_adds_up(s->system.network)) {
        cairn_storm_report_finding(
            s, CAIRN_STORM_FOUND_NETWORK, "the counters of the virtual network do not add up");
    }
    if (cairn_virtual_counters_read(s->system.network).overflow != 0) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_NETWORK,
            "more datagrams in flight than the virtual network holds");
    }
    if (s->system.spins != 0) {
        cairn_storm_report_finding(
            s, CAIRN_STORM_FOUND_SPIN, "an endpoint asked to be woken at once with nothing to do");
    }
}
