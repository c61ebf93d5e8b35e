// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <string.h>

#include "client_lib/client_parts.h"
#include "server/room/room_table.h"
#include "storm/parts.h"

void cairn_storm_forget(cairn_storm *s) {
    for (uint32_t r = 0; r < s->room_count; r++) {
        cairn_witness_forget(s->rooms[r].witness);
        s->rooms[r].server_tick = UINT64_MAX;
        s->rooms[r].id = s->system.rooms[r];
    }
    s->server_ns = 0;
    s->server_warm = 0;
    s->server_most = 0;
    s->server_alarms = 0;
    for (uint32_t i = 0; i < CAIRN_STORM_PLACES_MAX; i++) {
        s->places[i].checked = 0;
        s->places[i].damaged = false;
        s->places[i].world_tick = UINT64_MAX;
        s->places[i].snapshot_tick = UINT64_MAX;
    }
}

// Roots of the ticks that one advance stepped before its last, as the room's history has them.
static void note_between(cairn_storm *s, uint32_t r, uint64_t tick) {
    const cairn_room *room = cairn_storm_room_of(s, r);
    const uint64_t known = s->rooms[r].server_tick;
    const uint64_t from = known == UINT64_MAX ? tick : known;
    for (uint64_t stepped = from; stepped < tick; stepped++) {
        cairn_hash128 root;
        if (cairn_command_log_root(room->command_log, stepped, &root)) {
            cairn_witness_note_root(s->rooms[r].witness, stepped + 1, root);
            s->report.edits += cairn_storm_edited(room->command_log, stepped) ? 1 : 0;
        }
    }
}

static void note_room(cairn_storm *s, uint32_t r) {
    cairn_storm_room *room = &s->rooms[r];
    const cairn_world *world = cairn_server_world(s->system.server, room->id);
    const uint64_t tick = cairn_world_tick(world);
    if (tick == room->server_tick) {
        return;
    }
    note_between(s, r, tick);
    s->report.ticks += room->server_tick == UINT64_MAX ? 0 : tick - room->server_tick;
    room->server_tick = tick;
    const cairn_witness_tick *told = cairn_witness_find(room->witness, tick);
    const cairn_hash128 root = cairn_world_hash_read(world).full;
    if (told != NULL && !cairn_hash_equal(told->root, root)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_WORLD,
            "the server's history of tick %" PRIu64 " is not its world", tick);
    }
    cairn_witness_note(room->witness, world);
    const cairn_hash128 parts[2] = {s->report.digest, root};
    s->report.digest = cairn_hash_list(tick, parts, 2);
    if (s->config.on_server != NULL) {
        s->config.on_server(s->config.user, s, world);
    }
}

void cairn_storm_note_server(void *user) {
    cairn_storm *s = user;
    for (uint32_t r = 0; r < s->room_count; r++) {
        note_room(s, r);
    }
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

// The root of world tick `tick`, which client `i` holds for the server's.
static void check_root(cairn_storm *s, uint32_t i, uint64_t tick, cairn_hash128 root) {
    const cairn_witness_tick *witness = cairn_witness_find(cairn_storm_home(s, i)->witness, tick);
    if (witness == NULL) {
        return; // of before the server's restart, or longer ago than is remembered
    }
    s->report.roots_compared++;
    s->places[i].calm_equal |= s->calm && tick > cairn_storm_home(s, i)->calm_tick;
    if (!cairn_hash_equal(witness->root, root)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_WORLD,
            "client %" PRIu32 ": world differs from the server's at tick %" PRIu64, i, tick);
    }
}

// A damaged world is the server's again when the newest sure tick is, and came after the damage.
static void check_mended(cairn_storm *s, uint32_t i, const cairn_timeline *timeline) {
    const uint64_t sure = timeline->adopted ? cairn_timeline_confirmed_tick(timeline) : 0;
    const cairn_witness_tick *witness = cairn_witness_find(cairn_storm_home(s, i)->witness, sure);
    s->places[i].world_tick = timeline->adopted ? sure : s->places[i].world_tick;
    if (sure <= s->places[i].damaged_tick || sure == timeline->first || witness == NULL) {
        return;
    }
    if (cairn_hash_equal(cairn_timeline_tick_read(timeline, sure - 1)->root, witness->root)) {
        cairn_storm_mended(s, i);
    }
}

// Every tick that has become sure since the last turn, and the world itself where it is sure.
static void check_timeline(cairn_storm *s, uint32_t i, const cairn_timeline *timeline) {
    cairn_storm_place *place = &s->places[i];
    const uint64_t sure =
        timeline->adopted ? cairn_timeline_confirmed_tick(timeline) : timeline->first;
    const uint64_t before = place->checked;
    const bool anew = before < timeline->first || before > sure;
    place->loaded_tick = anew ? timeline->first : place->loaded_tick;
    if (place->damaged) {
        place->checked = sure;
        check_mended(s, i, timeline);
        return;
    }
    for (uint64_t tick = anew ? timeline->first : before; tick < sure; tick++) {
        check_root(s, i, tick + 1, cairn_timeline_tick_read(timeline, tick)->root);
    }
    place->checked = sure;
    if (!timeline->adopted || (sure == before && !anew)) {
        return;
    }
    place->world_tick = sure;
    if (timeline->head_tick == sure) {
        check_root(s, i, sure, cairn_world_hash_read(timeline->world).full);
    }
    if (s->config.broken == CAIRN_STORM_BREAK_HASH && s->report.roots_compared >= 40) {
        s->system.clients[i].client->resync.phase = CAIRN_RESYNC_GIVEN_UP; // would mend it
        nudge(timeline->world);
    }
}

static void check_snapshot(cairn_storm *s, uint32_t i) {
    const cairn_client *client = s->system.clients[i].client;
    const cairn_snapshot *newest = cairn_snapshots_newest(&client->snapshots);
    if (newest == NULL || newest->tick == s->places[i].snapshot_tick) {
        return;
    }
    const cairn_witness_tick *witness =
        cairn_witness_find(cairn_storm_home(s, i)->witness, newest->tick);
    s->places[i].snapshot_tick = newest->tick;
    if (witness == NULL || !witness->whole) {
        return;
    }
    s->report.snapshots_compared++;
    s->places[i].calm_equal |= s->calm && newest->tick > cairn_storm_home(s, i)->calm_tick;
    if (s->config.broken == CAIRN_STORM_BREAK_SNAPSHOT && s->report.snapshots_compared == 40) {
        uint32_t word;
        memcpy(&word, &newest->bodies[0].position.y, sizeof word);
        word ^= 1;
        memcpy(&newest->bodies[0].position.y, &word, sizeof word);
    }
    if (!cairn_witness_bodies_equal(witness, newest->bodies, newest->body_count)) {
        cairn_storm_find(s, CAIRN_STORM_FOUND_SNAPSHOT,
            "client %" PRIu32 ": snapshot of tick %" PRIu64 " is not the server's", i,
            newest->tick);
    }
}

cairn_room *cairn_storm_room_of(const cairn_storm *s, uint32_t room) {
    return cairn_room_table_find(s->system.server, s->rooms[room].id);
}

cairn_storm_room *cairn_storm_home(cairn_storm *s, uint32_t place) {
    return &s->rooms[s->places[place].room];
}

bool cairn_storm_exact(const cairn_storm *s, uint32_t i) {
    return cairn_client_simulates(s->system.clients[i].client);
}

void cairn_storm_note_client(void *user, uint32_t i) {
    cairn_storm *s = user;
    if (s->places[i].leaving || s->places[i].orphan) {
        return; // what an orphan still holds is another server's
    }
    if (cairn_storm_exact(s, i)) {
        check_timeline(s, i, &s->system.clients[i].client->lockstep.timeline);
    } else {
        check_snapshot(s, i);
    }
    if (s->config.on_client != NULL) {
        s->config.on_client(s->config.user, s, i);
    }
}
