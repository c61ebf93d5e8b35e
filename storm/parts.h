// SPDX-License-Identifier: MIT
#pragma once

// The inside of a storm: storm.c draws and plays it, weather.c is what happens to whom, check.c
// compares what clients hold, bounds.c judges counters and liveness, work.c and memory.c
// what it costs them, damage.c spoils what they hold.

#include "base/random.h"
#include "server/room/room_table.h"
#include "storm/attacker.h"
#include "storm/draw.h"
#include "storm/oracle.h"
#include "storm/system.h"
#include <cairn/storm.h>

// A room of the server and what it was, tick by tick.
typedef struct cairn_storm_room {
    uint32_t id; // of the server that runs
    cairn_witness *witness;
    uint64_t server_tick; // newest noted
    uint64_t calm_tick;   // the server's when the calm began
} cairn_storm_room;

// Bodies that an operator has looked up, of which some may be gone again.
#define CAIRN_STORM_OPERATOR_BODIES 12

typedef struct cairn_storm_place {
    bool present;
    uint32_t room; // of the storm's
    bool leaving;  // said goodbye, soon removed
    bool cut;
    bool hurt;           // its connection may rightly break: it was cut or stalled for long, or
                         // the server died
    bool orphan;         // its server died: whatever it seems to hold, it must still notice
    uint64_t healthy_ns; // since when nothing was done to it; to come, while something stalls
    uint64_t playing_ns; // since when it plays, UINT64_MAX: it does not
    uint64_t checked;    // confirmed ticks below this were compared
    uint64_t world_tick; // newest confirmed, UINT64_MAX: none
    uint64_t snapshot_tick;
    uint64_t calm_ns;     // since when it could have caught up with the calm; UINT64_MAX: not yet
    bool calm_equal;      // it has: something of a tick of the calm was compared
    uint64_t loaded_tick; // of the newest state it was sent
    uint64_t rollbacks_seen; // of this connection
    uint64_t steps_seen;     // likewise, of its world
    uint64_t window_steps;   // since window_ns
    uint64_t window_ns;
    bool damaged; // on purpose, and not mended yet
    uint64_t damaged_tick;
    uint64_t damaged_ns;
    uint64_t healed_ns; // when it last was mended; 0: never
    uint64_t heals_seen;
    uint64_t alarms_seen; // roots that differed, while that was to be expected
    int64_t warm_bytes;   // of memory when it was warm; 0: it is not yet
    uint64_t leaked;      // by a planted fault
} cairn_storm_place;

struct cairn_storm {
    cairn_storm_config config;
    cairn_storm_report report;
    cairn_random random;
    cairn_storm_scene drawn;
    const struct cairn_scene *scene;
    cairn_system system;
    cairn_stranger stranger;
    uint32_t stranger_permille; // that it acts in a step
    uint32_t trouble_permille;  // that something happens in a step
    uint32_t place_count;
    bool operated;      // the client at place 0 is an operator
    uint64_t resume_ns; // when it is to bend time back; 0: time is as usual
    cairn_body_id operator_bodies[CAIRN_STORM_OPERATOR_BODIES];
    cairn_storm_place places[CAIRN_STORM_PLACES_MAX];
    cairn_body_state *bodies; // owned; room for a world's
    cairn_storm_room rooms[CAIRN_SYSTEM_ROOMS_MAX];
    uint32_t room_count;
    uint64_t server_ns;     // how long this server has run
    int64_t server_warm;    // its bytes when it was warm; 0: it is not yet
    uint32_t server_most;   // clients there were at once
    uint64_t server_alarms; // roots it was told of that differ, while that was to be expected
    bool calm;              // the last seconds: the network is whole and everybody must catch up
};

bool cairn_storm_chance(cairn_storm *s, uint64_t permille);
// The first finding stands.
void cairn_storm_find(cairn_storm *s, cairn_storm_finding finding, const char *format, ...);

// Somebody new at an empty place.
void cairn_storm_join(cairn_storm *s, uint32_t place);
// What happens to whom between two turns.
void cairn_storm_weather(cairn_storm *s);
void cairn_storm_begin_calm(cairn_storm *s);

// Hooks of the system, after each turn.
void cairn_storm_note_server(void *user);
void cairn_storm_note_client(void *user, uint32_t place);
// Another server begins: nothing of the last is compared any more.
void cairn_storm_forget(cairn_storm *s);

// The server's room at the index, and the one that the place is in.
cairn_room *cairn_storm_room_of(const cairn_storm *s, uint32_t room);
cairn_storm_room *cairn_storm_home(cairn_storm *s, uint32_t place);
// Whether the client at the place steps the world itself.
bool cairn_storm_exact(const cairn_storm *s, uint32_t place);
// How long nothing was done to the client at the place.
uint64_t cairn_storm_whole_ns(const cairn_storm *s, uint32_t place);
// How far the client's newest world or snapshot is behind the server's; UINT64_MAX without any.
uint64_t cairn_storm_lag_ns(const cairn_storm *s, uint32_t place);
// What the client at the place does as an operator, if it plays.
void cairn_storm_operate(cairn_storm *s, uint32_t place);
// The room runs as usual from now on, as if its operator had said so.
void cairn_storm_leave_time_alone(cairn_storm *s);
// Whether a tick has an operator's commands; it must be held.
bool cairn_storm_edited(const cairn_command_log *history, uint64_t tick);
// Damages the client's world, if it is one that mends itself.
void cairn_storm_damage(cairn_storm *s, uint32_t place);
// Whether the client may rightly say that its world differs.
bool cairn_storm_excused(const cairn_storm *s, uint32_t place);
// A damaged world was found to be the server's again.
void cairn_storm_mended(cairn_storm *s, uint32_t place);
// Damages are mended, and nobody is moved down; part of cairn_storm_check.
void cairn_storm_check_damage(cairn_storm *s, uint32_t place);
// The work that clients do, and why they do it again; part of the next.
void cairn_storm_check_work(cairn_storm *s, uint32_t place, uint64_t passed_ns);
// The memory that endpoints hold; likewise.
void cairn_storm_check_memory(cairn_storm *s, uint64_t passed_ns);
// What must hold at any time between turns; `passed_ns` of virtual time after the last check.
void cairn_storm_check(cairn_storm *s, uint64_t passed_ns);
