// SPDX-License-Identifier: MIT
#include "storm/state.h"

#include <inttypes.h>

#include "client_lib/client_probe.h"

void cairn_storm_forget_server(cairn_storm *s) {
    for (uint32_t r = 0; r < s->room_count; r++) {
        cairn_oracle_forget(s->rooms[r].oracle);
        s->rooms[r].server_tick = UINT64_MAX;
        s->rooms[r].id = s->system.rooms[r];
        s->rooms[r].worlds_replaced = 0;
    }
    cairn_storm_forget_turns(s);
    s->server_ns = 0;
    s->server_warm_bytes = 0;
    s->server_clients_most = 0;
    s->server_differences = 0;
    for (uint32_t i = 0; i < CAIRN_STORM_CLIENT_SLOTS_MAX; i++) {
        s->slots[i].checked = 0;
        s->slots[i].damaged = false;
        s->slots[i].world_tick = UINT64_MAX;
        s->slots[i].snapshot_tick = UINT64_MAX;
    }
}

// Records the roots of the ticks that one advance stepped before its last, from the room's history.
static void record_stepped_ticks(cairn_storm *s, uint32_t r, uint64_t tick) {
    const cairn_room *room = cairn_storm_server_room(s, r);
    const uint64_t known = s->rooms[r].server_tick;
    const uint64_t from = known == UINT64_MAX ? tick : known;
    for (uint64_t stepped = from; stepped < tick; stepped++) {
        cairn_hash128 root;
        if (cairn_command_log_root(room->command_log, stepped, &root)) {
            cairn_oracle_record_root(s->rooms[r].oracle, stepped + 1, root);
            s->report.edits += cairn_storm_edited(room->command_log, stepped) ? 1 : 0;
        }
    }
}

// What the clients of the room hold is of another world, until they have learnt of the new one.
static void forget_world(cairn_storm *s, uint32_t r) {
    cairn_storm_room *room = &s->rooms[r];
    cairn_oracle_forget(room->oracle);
    room->server_tick = UINT64_MAX;
    room->quiescence_tick = 0;
    for (uint32_t i = 0; i < s->slot_count; i++) {
        if (s->slots[i].present && s->slots[i].room == r) {
            s->slots[i].checked = 0;
            // What it reported of the damage may be counted still (seed 96).
            s->slots[i].repaired_ns =
                s->slots[i].damaged ? cairn_system_now_ns(&s->system) : s->slots[i].repaired_ns;
            s->slots[i].damaged = false;
            s->slots[i].world_tick = UINT64_MAX;
            s->slots[i].snapshot_tick = UINT64_MAX;
            cairn_storm_disturb(s, i);
        }
    }
}

static void compare_room(cairn_storm *s, uint32_t r) {
    cairn_storm_room *room = &s->rooms[r];
    const uint64_t replaced = cairn_storm_server_room(s, r)->statistics.worlds_replaced;
    if (replaced != room->worlds_replaced) {
        s->report.worlds_replaced += replaced - room->worlds_replaced;
        room->worlds_replaced = replaced;
        forget_world(s, r);
    }
    const cairn_world *world = cairn_server_world(s->system.server, room->id);
    const uint64_t tick = cairn_world_tick(world);
    if (tick == room->server_tick) {
        return;
    }
    record_stepped_ticks(s, r, tick);
    s->report.ticks += room->server_tick == UINT64_MAX ? 0 : tick - room->server_tick;
    room->server_tick = tick;
    const cairn_oracle_tick *recorded = cairn_oracle_find(room->oracle, tick);
    const cairn_hash128 root = cairn_world_hash_read(world).full;
    if (recorded != NULL && !cairn_hash_equal(recorded->root, root)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_WORLD,
            "the server's history of tick %" PRIu64 " has another root than its world", tick);
    }
    cairn_oracle_record(room->oracle, world);
    const cairn_hash128 parts[2] = {s->digest, root};
    s->digest = cairn_hash_list(tick, parts, 2);
    if (s->config.on_server != NULL) {
        s->config.on_server(s->config.user, s, world);
    }
}

void cairn_storm_compare_server(void *user) {
    cairn_storm *s = user;
    for (uint32_t r = 0; r < s->room_count; r++) {
        compare_room(s, r);
    }
    cairn_storm_check_turn(s);
}

// Compares the root that client `i` holds as confirmed for world tick `tick`.
static void check_root(cairn_storm *s, uint32_t i, uint64_t tick, cairn_hash128 root) {
    const cairn_oracle_tick *expected =
        cairn_oracle_find(cairn_storm_room_of_slot(s, i)->oracle, tick);
    if (expected == NULL) {
        return; // of the previous server, or older than the oracle remembers
    }
    s->report.roots_compared++;
    s->slots[i].quiescence_equal |=
        s->quiescent && tick > cairn_storm_room_of_slot(s, i)->quiescence_tick;
    if (!cairn_hash_equal(expected->root, root)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_WORLD,
            "client %" PRIu32 ": world differs from the server's at tick %" PRIu64, i, tick);
    }
}

// A damaged world is repaired when its last confirmed tick is after the damage and equals the
// server's.
static void check_repaired(cairn_storm *s, uint32_t i, const cairn_timeline *timeline) {
    const uint64_t confirmed = timeline->adopted ? cairn_timeline_confirmed_tick(timeline) : 0;
    const cairn_oracle_tick *expected =
        cairn_oracle_find(cairn_storm_room_of_slot(s, i)->oracle, confirmed);
    s->slots[i].world_tick = timeline->adopted ? confirmed : s->slots[i].world_tick;
    if (confirmed <= s->slots[i].damaged_tick || confirmed == timeline->first || expected == NULL) {
        return;
    }
    if (cairn_hash_equal(cairn_timeline_tick_read(timeline, confirmed - 1)->root, expected->root)) {
        cairn_storm_repaired(s, i);
    }
}

// Compares every tick confirmed since the last turn, and the world itself if its tick is confirmed.
static void check_timeline(cairn_storm *s, uint32_t i, const cairn_timeline *timeline) {
    cairn_storm_slot *slot = &s->slots[i];
    const uint64_t confirmed =
        timeline->adopted ? cairn_timeline_confirmed_tick(timeline) : timeline->first;
    const uint64_t before = slot->checked;
    const bool reloaded = before < timeline->first || before > confirmed;
    slot->loaded_tick = reloaded ? timeline->first : slot->loaded_tick;
    if (slot->damaged) {
        slot->checked = confirmed;
        check_repaired(s, i, timeline);
        return;
    }
    for (uint64_t tick = reloaded ? timeline->first : before; tick < confirmed; tick++) {
        check_root(s, i, tick + 1, cairn_timeline_tick_read(timeline, tick)->root);
    }
    slot->checked = confirmed;
    // In a room that is paused at tick 0, after a reset, no tick comes (seed 42000265).
    slot->world_tick = timeline->adopted ? confirmed : slot->world_tick;
    if (!timeline->adopted || (confirmed == before && !reloaded)) {
        return;
    }
    if (timeline->head_tick == confirmed) {
        check_root(s, i, confirmed, cairn_world_hash_read(timeline->world).full);
    }
}

static void check_snapshot(cairn_storm *s, uint32_t i) {
    const cairn_snapshot *newest =
        cairn_snapshots_newest(cairn_client_probe_of(s->system.clients[i].client).snapshots);
    if (newest == NULL || newest->tick == s->slots[i].snapshot_tick) {
        return;
    }
    const cairn_oracle_tick *expected =
        cairn_oracle_find(cairn_storm_room_of_slot(s, i)->oracle, newest->tick);
    s->slots[i].snapshot_tick = newest->tick;
    if (expected == NULL || !expected->whole) {
        return;
    }
    s->report.snapshots_compared++;
    s->slots[i].quiescence_equal |=
        s->quiescent && newest->tick > cairn_storm_room_of_slot(s, i)->quiescence_tick;
    if (cairn_storm_has_view(s, i)) {
        cairn_storm_check_view(s, i, expected);
        return;
    }
    const cairn_quantisation quantisation = cairn_quantisation_default();
    if (!cairn_oracle_bodies_equal(expected, &quantisation, newest->bodies, newest->body_count)) {
        cairn_storm_report_finding(s, CAIRN_STORM_FOUND_SNAPSHOT,
            "client %" PRIu32 ": snapshot of tick %" PRIu64 " is not the server's", i,
            newest->tick);
    }
}

// Whether the client knows of every replacement of its room's world that it was told.
static bool knows_world(cairn_storm *s, uint32_t i) {
    const cairn_server *server = s->system.server;
    const uint32_t epoch = cairn_client_probe_of(s->system.clients[i].client).world_epoch;
    bool known = cairn_storm_room_of_slot(s, i)->worlds_replaced == 0;
    for (uint32_t k = 0; k < server->config.clients_max && !known; k++) {
        const cairn_session *session = &server->sessions[k];
        known = cairn_session_is_admitted(session) &&
                session->client_id == s->system.clients[i].client_id &&
                session->world_epoch == epoch;
    }
    return known;
}

void cairn_storm_compare_client(void *user, uint32_t i) {
    cairn_storm *s = user;
    if (s->slots[i].leaving || s->slots[i].server_died || !knows_world(s, i)) {
        return; // its world is the previous server's, or was replaced
    }
    if (cairn_storm_simulates(s, i)) {
        check_timeline(s, i, cairn_client_probe_of(s->system.clients[i].client).timeline);
    } else {
        check_snapshot(s, i);
    }
    if (s->config.on_client != NULL) {
        s->config.on_client(s->config.user, s, i);
    }
}
