// SPDX-License-Identifier: MIT
#pragma once

// A storm is a fault-injection test: it runs a server and its clients in memory, on virtual time,
// with your rules, and injects faults from one seed. It checks that your rules keep the contract of
// docs/DETERMINISM.md and that your own checks hold while clients join and leave, paths lose and
// stall, clocks drift, the server dies and an attacker sends bytes. Link cairn_storm;
// docs/example_storm.c is a complete program.
//
// The seed draws a small world (or the storm takes yours), a tick rate, clients of every mode in
// one room or two, their paths (loss up to three in ten, duplicates, flipped bits, up to 200 ms
// each way, jitter that reorders, stalls of seconds), clocks (up to 1000 ppm fast or slow), the
// inputs of the players, the requests of an operator (pause, step, rate, spawn, move, delete; and
// reset, load, seek and fork, which replace worlds),
// hosts that stop for seconds, corrupted memory, partitions, leaves, rejoins, restarts of the
// server, the attacker's datagrams, and in two storms of five hostile clients with valid tokens
// that lie about roots, ask for states, play with acknowledgements, windows and tokens, join in
// loops, are late on purpose, and send in the name of other clients. Every third storm is of IPv6,
// with global and link-local addresses. All bounds below hold for the other clients meanwhile. Two
// storms of five record: then the disk fails single writes, takes parts of them, is full for a
// while or hangs, and the process has no free file descriptor for a while. With memory_fails, the
// server's allocations fail for a while. Now and then nobody reads the server's log for some
// seconds. (The same of whole processes: tests/programs/test_limits.py and
// tests/server/log_writer_test.c.) The last CAIRN_STORM_QUIESCENCE_S seconds are free of faults,
// and every client must catch up. The same seed, config and build of the rules give the same storm
// on every machine, datagram by datagram; repeat a finding by its seed.
//
// After every turn of an endpoint the storm checks for each cairn_storm_finding below. Nothing here
// reads a clock, a file or a socket. One storm runs on the calling thread; several storms may run
// on several threads.

#include <stdbool.h>
#include <stdint.h>

#include <cairn/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_rules; // <cairn/sim.h>
struct cairn_world; // <cairn/sim.h>
struct cairn_scene;

// A running storm; hooks receive it.
typedef struct cairn_storm cairn_storm;

// The longest storm, s.
#define CAIRN_STORM_SECONDS_MAX 10000000
// Datagrams in a thousand that the worst path loses.
#define CAIRN_STORM_LOSS_PERMILLE_MAX 300
// Number of modes: every cairn_client_mode is below.
#define CAIRN_STORM_MODES 4
// Client slots of a storm. A slot is empty or has one client at a time.
#define CAIRN_STORM_CLIENT_SLOTS_MAX 6
// Time without faults at the end of a storm, s. A storm shorter than twice this is free of faults
// for its second half.
#define CAIRN_STORM_QUIESCENCE_S 8
// A client that connects over an undisturbed path plays within this whatever the path is, s. What
// is expected of it follows from its path: round trip, loss, rate, and bytes of the world. A
// perfect path of 20 ms each way and a world of 30 kB: 0.6 s (storm/path_bounds.c).
#define CAIRN_STORM_JOIN_S 15
// A client may lag for this long after the last fault that touched it, s. Then its last world or
// snapshot is at most so old as its path explains: 0.31 s at 30 Hz on that path.
#define CAIRN_STORM_RECOVERY_S 6

// A room steps at least this share of the ticks due in so many seconds without a fault, s and
// percent; the second is for rooms that wait for late inputs.
#define CAIRN_STORM_RATE_S 4
#define CAIRN_STORM_RATE_PERCENT 97
#define CAIRN_STORM_RATE_WAIT_PERCENT 60

// After the quiescence begins (20 ms each way, no loss) a playing client holds the server's world
// of a tick of the quiescence within this many ticks, or within this many milliseconds if that is
// longer.
#define CAIRN_STORM_EQUAL_TICKS 30
#define CAIRN_STORM_EQUAL_MS 2000
// In each CAIRN_STORM_WORK_S seconds of playing a client steps at most this multiple of the ticks
// in that time and one second more. Lockstep steps each tick once; prediction steps a tick again
// for each rollback over it.
#define CAIRN_STORM_WORK_S 10
#define CAIRN_STORM_WORK_LOCKSTEP 2
#define CAIRN_STORM_WORK_PREDICT 10

// Nothing allocates per tick. A client is warm when it has played for CAIRN_STORM_WARM_S seconds;
// from then on it grows by at most CAIRN_STORM_CLIENT_GROWTH_BYTES, and by the frames of a view. A
// server that has run as long grows by at most CAIRN_STORM_SERVER_GROWTH_BYTES for each of the most
// clients that were connected at once, and twice for the copy of a world from which an operator's
// save is made, one at a time; for each room by what a server with one room takes at its start, for
// the world that repairs compare with; and by CAIRN_STORM_RECORDING_BYTES for each
// room, since a recording that begins again while the end of the last one waits for the disk has
// its memory twice. The state histories of its rooms and the snapshots that they keep do not count:
// these have bounds of their own.
#define CAIRN_STORM_WARM_S 5
// The reliable stream of its link takes 64 KiB and a few more while much of it is under way.
#define CAIRN_STORM_CLIENT_GROWTH_BYTES (80 * 1024)
#define CAIRN_STORM_SERVER_GROWTH_BYTES (1792 * 1024)
#define CAIRN_STORM_RECORDING_BYTES (11u << 20)

// In one turn the server makes at most so many messages and kilobytes for one client, together.
#define CAIRN_STORM_TURN_MADE 128

// What a storm can find. The first finding ends the storm. Its text names the client by its slot,
// the tick if there is one, and the virtual time. Run the seed again with on_event to see what led
// to it.
typedef enum cairn_storm_finding {
    CAIRN_STORM_FOUND_NOTHING = 0,
    // The full root of a tick that a client holds as confirmed is not the root of the server's
    // world at that tick. The rules are not a pure function of world, state and commands: look for
    // statics, pointers, padding, uninitialised memory and the C library's mathematics in them.
    CAIRN_STORM_FOUND_WORLD,
    // The bodies in a snapshot that an interpolating client holds are not, bit for bit, the
    // server's at that tick, or a delta did not fit its baseline. Of a room that sends views: a
    // sample of a body is not the server's, or in quiescence the client lacks a body that was near
    // for three seconds, holds one that was far for as long, or shows one as it was before. Rules
    // cannot cause this: report it as a bug of cairn with the seed.
    CAIRN_STORM_FOUND_SNAPSHOT,
    // A client or the server reported a difference, or a client repaired one, although the storm
    // damaged nothing. The cause is the same as for WORLD: the rules kept something outside their
    // state. If the rules are pure and the storm did not find WORLD first, it is a bug of cairn.
    CAIRN_STORM_FOUND_ALARM,
    // The world of a client that repairs itself (modes heal and predict) was damaged on purpose and
    // CAIRN_STORM_JOIN_S later, over an undisturbed path, is still not the server's. That is enough
    // time to send the complete state. A bug of cairn, or rules as for WORLD.
    CAIRN_STORM_FOUND_UNHEALED,
    // A client is not in the mode that it asked for although no fault explains it; the text has the
    // client's own reason.
    CAIRN_STORM_FOUND_MODE,
    // A datagram was delivered to an endpoint that neither accepted it nor counted a reason to drop
    // it. A bug of cairn.
    CAIRN_STORM_FOUND_COUNT,
    // A connection broke without a fault; the text has the client's own reason. If it says that a
    // state is too large or that rules are unknown, the config is at fault.
    CAIRN_STORM_FOUND_BROKEN,
    // No fault touched a client for as long as a join over its path may take, and it does not play.
    // Hostile clients do not count as a fault, here and in the two below.
    CAIRN_STORM_FOUND_JOIN,
    // No fault touched a client for CAIRN_STORM_RECOVERY_S and its last world or snapshot is too
    // old for its path; or, in quiescence, it has not reached a tick of the quiescence.
    CAIRN_STORM_FOUND_LAG,
    // More inputs of a client that simulates came too late than its path explains: one in twenty,
    // and as many as it loses, in CAIRN_STORM_RATE_S seconds without a fault in which it sent a
    // datagram for each tick and its room waited for no input.
    CAIRN_STORM_FOUND_LATE,
    // A predicting client names no cause for a rollback, or one that the server's history of that
    // tick does not confirm. A bug of cairn.
    CAIRN_STORM_FOUND_ROLLBACK,
    // A client stepped more ticks than CAIRN_STORM_WORK_PREDICT (or _LOCKSTEP) allows. Players who
    // change their input many times a second make predictions fail: see predict_ticks_max.
    CAIRN_STORM_FOUND_WORK,
    // A warm endpoint took more memory than stated above (only with memory_bytes). Rules or hooks
    // that allocate, or a leak of cairn.
    CAIRN_STORM_FOUND_MEMORY,
    // An endpoint's deadline was in the past although it had nothing to do: its host would use a
    // core. A bug of cairn.
    CAIRN_STORM_FOUND_SPIN,
    // The counters of the virtual network do not add up, or it was full. A bug of cairn, or hooks
    // that send.
    CAIRN_STORM_FOUND_NETWORK,
    // A room stepped fewer ticks than CAIRN_STORM_RATE_PERCENT of those due in CAIRN_STORM_RATE_S
    // seconds without a fault (CAIRN_STORM_RATE_WAIT_PERCENT if it waits for late inputs). Hostile
    // clients do not count as a fault: a client slowed the room. A bug of cairn.
    CAIRN_STORM_FOUND_RATE,
    // A token made a second session, or one although it lives longer than the server allows. A
    // bug of cairn.
    CAIRN_STORM_FOUND_TOKEN,
    // A recording or broadcast does not verify, its files lack a tick that the server does not
    // count as lost, or the segments of a room hold other ticks than its recording. A bug of cairn,
    // or rules as for WORLD.
    CAIRN_STORM_FOUND_RECORDING,
    // One turn of the server did more for one client than CAIRN_STORM_TURN_MADE allows, or read
    // more payloads of it than it may send in a second; or in one second it read more than twice as
    // many. Others wait meanwhile. A bug of cairn.
    CAIRN_STORM_FOUND_TURN,
    // A line of the server's log is missing and not counted as lost, or is not where it belongs,
    // after the reader of the log had stopped. A bug of cairn.
    CAIRN_STORM_FOUND_LOG,
    // A hook of yours called cairn_storm_fail.
    CAIRN_STORM_FOUND_OWN,
    CAIRN_STORM_FINDING_COUNT
} cairn_storm_finding;
const char *cairn_storm_finding_name(cairn_storm_finding finding); // "world", "snapshot", ...

#define CAIRN_STORM_ALL_MODES 0xffffffffu

typedef struct cairn_storm_config {
    uint64_t seed;
    uint64_t seconds; // of virtual time, 1 .. CAIRN_STORM_SECONDS_MAX; default 20

    // What is played. The storm does not keep these pointers after the run.
    const struct cairn_rules *rules; // of server and clients; NULL: the sandbox
    const struct cairn_scene *scene; // NULL: a floor and some bodies are drawn, 64 at most
    uint32_t tick_rate_hz;           // 0: the scene's, or drawn with the scene

    uint32_t modes;             // bit set of 1 << cairn_client_mode; default CAIRN_STORM_ALL_MODES
    uint32_t client_slots;      // 1 .. CAIRN_STORM_CLIENT_SLOTS_MAX; 0, the default: drawn
    uint32_t loss_permille_max; // of a bad path; default and at most CAIRN_STORM_LOSS_PERMILLE_MAX
    // Paths in a thousand that lead through bottlenecks, one each way: 60 to 500 kB/s, a queue of
    // 50 to 200 ms, sometimes the smallest MTU of IPv6, which leaves 1232 bytes to a datagram: the
    // longest of cairn, 1225, passes. Default 250; rooms above 64 Hz have none.
    uint32_t bottleneck_permille;
    // In so many of a thousand storms the first room sends each client a part of its snapshots: the
    // bodies within 4 to 19 m of the player, or 12 to 32 kB/s, or both. Default 150.
    uint32_t view_permille;
    bool no_faults; // no faults and no attacker: joins, paths and clocks alone

    // If the rules take messages, each player also sends random ones, and takes what the rules
    // send. Called when the player in `slot` changes its input (about twice a second). *input is
    // what the storm drew (four buttons, all directions), and is used unless the hook changes it.
    // Draw random numbers with cairn_storm_below, so that they depend on the seed.
    void (*on_input)(void *user, cairn_storm *storm, uint32_t slot, cairn_client_input *input);
    // The same if the rules declare an input: a struct of rules->input_size bytes.
    void (*on_game_input)(void *user, cairn_storm *storm, uint32_t slot, void *input);
    // Called after each turn in which the server's world advanced; it may have stepped several
    // ticks. Do not change the world.
    void (*on_server)(void *user, cairn_storm *storm, const struct cairn_world *world);
    // Called after each turn of a client; cairn_storm_client returns the client.
    void (*on_client)(void *user, cairn_storm *storm, uint32_t slot);
    // Returns the bytes that the process has allocated, from its allocator (glibc: mallinfo2).
    // NULL: memory is not checked; nothing else changes.
    uint64_t (*memory_bytes)(void *user);
    // From now on every `every`-th allocation of the process fails; 0: none. Called around the
    // turns of a server that is short of memory. Wrap the allocator for it, as
    // tests/storm/storm_main.c does. NULL: memory is never short.
    void (*memory_fails)(void *user, uint32_t every);
    // Called with each fault of the client in `slot`, as a phrase: "is cut off", "stalls". Static
    // text.
    void (*on_event)(void *user, uint64_t at_ns, uint32_t slot, const char *what);
    void *user; // yours, passed to every hook
} cairn_storm_config;

cairn_storm_config cairn_storm_config_default(void);

typedef struct cairn_storm_report {
    cairn_storm_finding finding;
    char words[512];    // the finding in a sentence; "" if nothing was found
    uint64_t found_ns;  // virtual time of the finding
    uint64_t digest[2]; // of the complete run: the same seed gives the same
    uint64_t virtual_ns;
    uint64_t playing_ns[CAIRN_STORM_MODES]; // virtual time that clients played, by mode
    uint64_t ticks;                         // of the server
    uint64_t datagrams;
    uint64_t hostile;          // datagrams of the attacker
    uint64_t hostile_messages; // of hostile clients
    uint64_t hostile_sessions;
    uint64_t hostile_ipv6;     // of these over IPv6
    uint64_t hostile_moves;    // times that one had another address, or used that of another client
    uint64_t game_messages;    // and events that the rules sent and players took
    uint64_t rate_percent_min; // of the ticks due that a room stepped, worst; 0: never measured
    // Worst of the bounds above, percent of what is allowed: joins, lag, late inputs.
    uint64_t join_percent_max;
    uint64_t lag_percent_max;
    uint64_t late_percent_max;
    // The most in one turn of the server, and in a second, for one client: payloads that it read,
    // messages and kilobytes that it made.
    uint64_t turn_read_max;
    uint64_t turn_made_max;
    uint64_t second_read_max;
    uint64_t second_made_max;
    uint64_t joins;
    uint64_t returns; // of these with the client id of a session before
    uint64_t cuts;
    uint64_t stalls;
    uint64_t address_changes;
    uint64_t bottlenecks;  // paths that led through one
    uint64_t queue_losses; // datagrams that found the queue of one full
    uint64_t restarts;
    uint64_t memory_faults;         // spans in which allocations of the server failed
    uint64_t disk_faults;           // spans in which the disk of the recordings failed
    uint64_t descriptor_faults;     // spans in which no file could be opened
    uint64_t log_stops;             // spans in which nobody read the server's log
    uint64_t log_lines;             // read
    uint64_t log_lines_lost;        // counted as such
    uint64_t short_writes;          // of recordings, that took a part of the bytes
    uint64_t torn_files;            // of these closed with a part of a chunk at their end
    uint64_t recorded_files;        // closed, each verified
    uint64_t recorded_ticks;        // in these
    uint64_t recorded_replacements; // of worlds, in these
    uint64_t recorded_seeks;        // of operators, answered from these
    uint64_t recorded_ticks_lost;   // as the server counts
    uint64_t segments_compared;     // of broadcasts, with the recording of their room
    uint64_t worlds_replaced;       // by operators
    uint64_t forks;                 // of rooms, by operators
    uint64_t clock_faults;          // spans in which a wall clock was wrong
    uint64_t payloads_over_budget;  // of hostile clients, not read
    uint64_t operator_acts;         // requests sent
    uint64_t edits;                 // ticks in which the server executed an operator's commands
    uint64_t roots_compared;        // of confirmed ticks, each with the server's
    uint64_t snapshots_compared;    // bit for bit
    uint64_t view_samples_compared; // of bodies in parts, bit for bit
    uint64_t views_compared;        // in quiescence, with what they owe
    uint64_t rollbacks;
    uint64_t rollbacks_checked;                   // against the server's history
    uint64_t work_percent_max[CAIRN_STORM_MODES]; // ticks stepped per tick of the server, worst
    uint64_t damages;                             // of worlds, on purpose
    uint64_t damages_repaired;                    // the rest ended with their connection
    uint64_t repair_ms_max; // from a damage to equal roots, over undisturbed paths
    uint64_t heals[CAIRN_RESYNC_CAUSE_COUNT]; // as clients report them
    uint64_t client_bytes_max;                // of memory, for one client
    uint64_t client_growth_max;               // of a warm client
    uint64_t server_bytes_max;
    uint64_t server_growth_max;
    // From the start of the quiescence to a world of the quiescence, worst of all clients.
    uint64_t equal_ticks_max;
    uint64_t equal_ms_max;
} cairn_storm_report;

// Runs one storm to its end or to its first finding and fills *report; both pointers must not be
// NULL. Returns false if it could
// not start: a number of the config is out of range, no world can be created from the scene with
// these rules, or memory is exhausted; report->words says which.
bool cairn_storm_run(const cairn_storm_config *config, cairn_storm_report *report);

// For hooks.

// Virtual time since the storm began.
uint64_t cairn_storm_now_ns(const cairn_storm *storm);
// The server's world; NULL before there is one.
const struct cairn_world *cairn_storm_world(const cairn_storm *storm);
// Number of client slots in this storm.
uint32_t cairn_storm_client_slots(const cairn_storm *storm);
// The client in `slot`, below cairn_storm_client_slots; NULL if the slot is empty. Valid until the
// hook returns.
cairn_client *cairn_storm_client(const cairn_storm *storm, uint32_t slot);
// Uniform in [0, bound), bound > 0, from the storm's own sequence.
uint64_t cairn_storm_below(cairn_storm *storm, uint64_t bound);
// Ends the storm with CAIRN_STORM_FOUND_OWN and copies `words` into the report.
void cairn_storm_fail(cairn_storm *storm, const char *words);

#ifdef __cplusplus
}
#endif
