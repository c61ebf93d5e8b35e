// SPDX-License-Identifier: MIT
#pragma once

// The state of a running storm and the functions of its parts, each in a file of its name.

#include "base/line_ring.h"
#include "base/random.h"
#include "server/core/server_state.h"
#include "storm/attacker.h"
#include "storm/disk.h"
#include "storm/draw.h"
#include "storm/hostile.h"
#include "storm/oracle.h"
#include "storm/system.h"
#include <cairn/storm.h>

// A room of the server and the history of its world.
typedef struct cairn_storm_room {
    uint32_t id; // in the running server
    cairn_oracle *oracle;
    uint64_t server_tick;     // the last one recorded; UINT64_MAX: none
    uint64_t ticks_recorded;  // of a server that ends: stepped and not counted as lost
    uint64_t ticks_published; // the same of the segments
    cairn_hash128 end;        // of the server's world when it ends
    bool disturbed;           // its disk or memory failed
    uint64_t quiescence_tick; // the server's when quiescence began
    uint64_t rate_tick;       // the server's at rate_ns
    uint64_t worlds_replaced; // of the running server's room, as far as it was noticed
    uint64_t rate_ns;         // since when nothing but clients could slow the room; 0: not set
} cairn_storm_room;

// Hostile clients of a storm.
#define CAIRN_STORM_HOSTILES_MAX 3

// The log of the server, and who reads it.
#define CAIRN_STORM_LOG_SIZE 400 // a reader that stops for some seconds misses lines
#define CAIRN_STORM_LOG_LINE_SIZE 64
typedef struct cairn_storm_reader {
    cairn_random random;
    cairn_line_ring ring;
    char bytes[CAIRN_STORM_LOG_SIZE];
    char line[CAIRN_STORM_LOG_LINE_SIZE]; // as far as it was read
    size_t line_size;
    uint64_t written;          // lines
    uint64_t expected;         // the number of the last line that was read or counted as lost
    uint64_t stopped_until_ns; // virtual
} cairn_storm_reader;

// Clients of the server, honest or not; and what it did for one of them.
#define CAIRN_STORM_SESSIONS_MAX 32
typedef struct cairn_storm_turn {
    uint64_t at_ns; // virtual
    uint64_t read;  // payloads
    uint64_t sent;
    uint64_t made; // messages and kilobytes
} cairn_storm_turn;

// Bodies that an operator has looked up. Some may have been deleted since.
#define CAIRN_STORM_OPERATOR_BODIES 12

// A client slot: one client after another occupies it.
typedef struct cairn_storm_slot {
    bool present;
    uint32_t room;    // index in the storm's rooms
    bool leaving;     // disconnected, and removed soon
    bool cut;         // by a partition
    bool degraded;    // its connection may break without a finding: it was cut or stalled for long,
                      // or the server restarted
    bool server_died; // its state is of the previous server; it must still notice
    uint64_t undisturbed_since_ns; // time of the last fault; in the future while a stall lasts
    uint64_t path_since_ns;        // since when it has this path and address
    bool fresh;                    // nothing touched it since it began to join
    uint64_t playing_ns;           // since when it plays, UINT64_MAX: it does not
    uint64_t checked;              // confirmed ticks below this were compared
    uint64_t world_tick;           // last confirmed, UINT64_MAX: none
    uint64_t snapshot_tick;
    uint64_t quiescent_ns;   // from when it can catch up in quiescence; UINT64_MAX: not yet, 0: it
                             // has caught up
    bool quiescence_equal;   // a tick of the quiescence was compared
    uint64_t loaded_tick;    // of the last full state it received
    uint64_t rollbacks_seen; // in this connection
    uint64_t steps_seen;     // of its world, in this connection
    uint64_t window_steps;   // since window_ns
    uint64_t window_ns;
    uint64_t late_from_ns; // since when its late inputs are counted; 0: they are not
    uint64_t late_seen;    // late inputs then
    uint64_t late_sent;    // datagrams that it had sent then
    uint64_t late_wait_ns; // how long its room had waited for inputs then
    bool damaged;          // on purpose, and not repaired yet
    uint64_t damaged_tick;
    uint64_t damaged_ns;
    uint64_t repaired_ns; // time of the last repair; 0: never
    uint64_t heals_seen;
    uint64_t differences_seen; // roots that differed while a difference was expected
    int64_t warm_bytes;        // of memory when it became warm; 0: it is not warm yet
} cairn_storm_slot;

struct cairn_storm {
    cairn_storm_config config;
    cairn_storm_report report;
    cairn_hash128 digest; // of the run so far
    cairn_random random;
    cairn_random path_random;                              // of bottlenecks
    cairn_random id_random;                                // of client ids that come again
    uint32_t bottlenecks[CAIRN_STORM_CLIENT_SLOTS_MAX][2]; // to the server and back; 0: none yet
    cairn_storm_scene drawn;
    const struct cairn_scene *scene;
    cairn_system system;
    cairn_attacker attacker;
    cairn_disk disk;            // of the recordings
    uint64_t forks_recorded;    // ticks of a server that ends, of rooms that an operator forked:
    uint64_t forks_published;   // stepped and not counted as lost
    cairn_storm_reader reader;  // of the log
    cairn_random memory_random; // of faults of the server's memory
    uint64_t memory_until_ns;   // virtual; until when it fails; 0: it does not
    cairn_hostile hostiles[CAIRN_STORM_HOSTILES_MAX]; // with valid tokens
    uint32_t hostile_count;
    uint32_t attacker_permille; // probability of a hostile datagram in a step
    uint32_t fault_permille;    // probability of a fault in a step
    uint32_t slot_count;
    bool views; // the main room may send parts; of these two 0 is no limit
    uint32_t view_distance_m;
    uint32_t view_bytes_per_second;
    bool operated; // the client in slot 0 is an operator
    bool replaces; // and replaces worlds and forks rooms
    cairn_random replace_random;
    cairn_random clock_random; // of faults of wall clocks
    uint64_t clock_until_ns;   // virtual; until when one is wrong; 0: none is
    int64_t server_clock_ns;   // by how much the server's is wrong
    uint64_t resume_ns;        // when the operator restores the usual rate; 0: the rate is usual
    cairn_body_id operator_bodies[CAIRN_STORM_OPERATOR_BODIES];
    cairn_storm_slot slots[CAIRN_STORM_CLIENT_SLOTS_MAX];
    cairn_storm_turn turns[CAIRN_STORM_SESSIONS_MAX];        // up to the last turn
    cairn_storm_turn turn_seconds[CAIRN_STORM_SESSIONS_MAX]; // up to the second before
    uint64_t turn_second_ns;
    cairn_body_state *bodies; // owned scratch; capacity of a world's bodies
    cairn_storm_room rooms[CAIRN_SYSTEM_ROOMS_MAX];
    uint32_t room_count;
    uint64_t server_ns;           // how long this server has run
    int64_t server_warm_bytes;    // most of its memory before it was warm
    uint32_t server_clients_most; // connected at once
    uint64_t server_differences;  // differing roots reported to it while expected
    bool quiescent; // the last seconds: no more faults, and every client must catch up
};

bool cairn_storm_chance(cairn_storm *s, uint64_t permille);
// Records a finding; only the first is kept.
void cairn_storm_report_finding(
    cairn_storm *s, cairn_storm_finding finding, const char *format, ...);

const char *cairn_storm_room_name(uint32_t room);
// The server's room at the index.
cairn_room *cairn_storm_server_room(const cairn_storm *s, uint32_t room);
cairn_storm_room *cairn_storm_room_of_slot(cairn_storm *s, uint32_t slot);
// Whether the client steps the world itself.
bool cairn_storm_simulates(const cairn_storm *s, uint32_t slot);
// Time since the last fault that touched the client; 0 while a stall lasts.
uint64_t cairn_storm_undisturbed_ns(const cairn_storm *s, uint32_t slot);
// How far the client's last confirmed world or snapshot lags behind the server; UINT64_MAX if it
// has none.
uint64_t cairn_storm_lag_ns(const cairn_storm *s, uint32_t slot);
// Whether the client may report that its world differs: it was damaged or lost its server.
bool cairn_storm_difference_expected(const cairn_storm *s, uint32_t slot);
// Whether a tick, which the history must hold, has an operator's commands.
bool cairn_storm_edited(const cairn_command_log *log, uint64_t tick);

// ----------------------------------------------------------------------------- fault_injector.c

// Joins, leaves, partitions, stalls, restarts, damages, hostile datagrams and inputs: what happens
// to endpoints between two turns, drawn from the storm's seed.
void cairn_storm_inject_faults(cairn_storm *s);
// A new client in an empty slot.
void cairn_storm_join(cairn_storm *s, uint32_t slot);
// The wall clocks agree again.
void cairn_storm_end_clock_fault(cairn_storm *s);
// The world of its room was replaced: the client has to learn of it, as after a fault.
void cairn_storm_disturb(cairn_storm *s, uint32_t slot);
// Removes every fault and injects no more.
void cairn_storm_begin_quiescence(cairn_storm *s);

// ---------------------------------------------------------------------------------- operator.c

// A client whose token gives it the operator's right sends the requests of docs/PROTOCOL.md,
// Control, over its own link, now and then while it plays. No world may differ because of them, and
// the rollbacks they cause must name the operator as their cause.
void cairn_storm_operate(cairn_storm *s, uint32_t slot);
// Decides whether the operator of this storm also replaces worlds, from a sequence of its own.
void cairn_storm_draw_replacements(cairn_storm *s);
// The operator's room runs at its usual rate from now on, as if the operator had requested that.
void cairn_storm_restore_time(cairn_storm *s);

// ------------------------------------------------------------------------------------ damage.c

// Damages the client's world if its mode is one that repairs itself.
void cairn_storm_damage(cairn_storm *s, uint32_t slot);
// Damages the client's world once more while it waits for the server's repair, so that the repair
// cannot make the roots equal and the client needs the whole state.
void cairn_storm_damage_again(cairn_storm *s, uint32_t slot);
// The damaged world equals the server's again.
void cairn_storm_repaired(cairn_storm *s, uint32_t slot);
// Damages are repaired in time, nothing else is repaired, and no client is demoted.
void cairn_storm_check_damage(cairn_storm *s, uint32_t slot);

// ------------------------------------------------------------------------------------- views.c

// Whether the main room sends its clients parts of its snapshots.
void cairn_storm_draw_views(cairn_storm *s);
// Whether the client's newest snapshot is made of parts.
bool cairn_storm_has_view(const cairn_storm *s, uint32_t slot);
// Compares the newest picture of a client with a view, of the tick `expected`, with the server.
void cairn_storm_check_view(cairn_storm *s, uint32_t slot, const cairn_oracle_tick *expected);

// ----------------------------------------------------------------------------------- compare.c

// Compare the worlds and snapshots of clients with the server's, tick by tick. The system calls
// them after each turn of an endpoint; `storm` is a cairn_storm.
void cairn_storm_compare_server(void *storm);
void cairn_storm_compare_client(void *storm, uint32_t slot);
// A new server starts: nothing of the previous one is compared from now on.
void cairn_storm_forget_server(cairn_storm *s);

// ------------------------------------------------------------------------------ recordings.c

// Creates the disk, in some storms. Part of create.
void cairn_storm_create_disk(cairn_storm *s);
// A fault of the disk begins or ends, drawn from a sequence of its own.
void cairn_storm_serve_disk(cairn_storm *s);
// Before the server is destroyed: what waits is written.
void cairn_storm_close_disk(cairn_storm *s);
// After it was destroyed: the closed files verify, and hold every tick that is not counted as lost.
// The system calls it; `storm` is a cairn_storm.
void cairn_storm_check_files(void *storm);

// ------------------------------------------------------------------------------- path_bounds.c

// A client that joins over its present path plays within this time.
uint64_t cairn_storm_join_bound_ns(const cairn_storm *s, uint32_t slot);
// How long after a change of its path a client may lag. The congestion control of both sides learns
// over some round trips that a loss of the path is no congestion (seed 5203).
uint64_t cairn_storm_settling_ns(const cairn_storm *s, uint32_t slot);
// How far a client on its present path may lag.
uint64_t cairn_storm_lag_bound_ns(const cairn_storm *s, uint32_t slot);
// How many inputs of so many ticks may come too late.
uint64_t cairn_storm_late_bound(const cairn_storm *s, uint32_t slot, uint64_t ticks);

// ----------------------------------------------------------------------------------- reader.c

void cairn_storm_create_reader(cairn_storm *s);
// The server's line. It never waits.
void cairn_storm_log(cairn_storm *s, const cairn_server_event *event);
// The reader reads everything, or has stopped.
void cairn_storm_read_log(cairn_storm *s);

// ------------------------------------------------------------------------------------ turns.c

// What the server's last turn did for each client. After each turn.
void cairn_storm_check_turn(cairn_storm *s);
void cairn_storm_forget_turns(cairn_storm *s); // a new server begins

// ---------------------------------------------------------------------------- bounds.c, work.c

// Checks what must hold between two turns: counters, liveness, work and memory. `passed_ns` of
// virtual time have passed since the last check.
void cairn_storm_check(cairn_storm *s, uint64_t passed_ns);
// The ticks that the client steps, and the causes of its rollbacks.
void cairn_storm_check_work(cairn_storm *s, uint32_t slot, uint64_t passed_ns);
