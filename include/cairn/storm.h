// SPDX-License-Identifier: MIT
#pragma once

// A storm: a server, its clients and everything that can go wrong between them, played in memory
// from one seed, on virtual time, with your rules. It is how you find out whether your rules keep
// the contract (docs/DETERMINISM.md) and whether your checks hold while clients join and leave,
// paths lose and stall, clocks drift, the server dies and a stranger throws bytes. Link
// cairn_storm; docs/example_storm.c is a whole program.
//
// One seed draws a small world (or takes yours), a tick rate, clients of every mode in one room or
// two, their paths (loss up to three in ten, repeats, flipped bits, up to 200 ms each way, jitter
// that reorders, stalls of seconds), clocks (up to 1000 ppm fast or slow), what they press, what an
// operator does to the room (pauses, steps, slows and hastens it, spawns, moves and deletes
// bodies), hosts that stop for seconds, memory that goes bad, partitions, leaves, rejoins, restarts
// of the server, and the stranger. The last CAIRN_STORM_CALM_S seconds are calm: whole paths, and
// everybody must catch up. The same seed, the same config and the same build of the rules give the
// same storm on every machine, datagram by datagram; a finding is played again by its seed.
//
// What is checked, at every turn of an endpoint, is the list of cairn_storm_finding below.
// Nothing here reads a clock, a file or a socket. One storm runs on the calling thread; several may
// run on several threads.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include <cairn/client.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cairn_rules;  // include/cairn/sim.h
struct cairn_scene;  // schema/scene.h
struct cairn_server; // include/cairn/server.h
struct cairn_world;  // include/cairn/sim.h

// A storm that is running; what hooks are handed.
typedef struct cairn_storm cairn_storm;

// The longest storm, s.
#define CAIRN_STORM_SECONDS_MAX 10000000
// What the worst path loses.
#define CAIRN_STORM_LOSS_PERMILLE_MAX 300
// Modes there are: cairn_client_mode is below this.
#define CAIRN_STORM_MODES 4
// Places for clients in one storm.
#define CAIRN_STORM_PLACES_MAX 6
// The calm at the end of a storm, s; of a storm shorter than twice as long it is the second half.
#define CAIRN_STORM_CALM_S 8
// Who connects over a path that is left alone plays within this, s.
#define CAIRN_STORM_JOIN_S 15
// How long after its path was mended a client may still lag, s.
#define CAIRN_STORM_RECOVERY_S 6

// From the moment the network is whole (20 ms each way, nothing lost) a client that plays holds the
// server's world of a tick of the calm within this many ticks, and this time where ticks are long.
#define CAIRN_STORM_EQUAL_TICKS 30
#define CAIRN_STORM_EQUAL_MS 2000
// In each CAIRN_STORM_WORK_S seconds of playing a client steps at most so many times the ticks of a
// second more. Lockstep: each tick once; predict: those that are guessed wrongly again and again.
#define CAIRN_STORM_WORK_S 10
#define CAIRN_STORM_WORK_LOCKSTEP 2
#define CAIRN_STORM_WORK_PREDICT 10

// A client that has played for CAIRN_STORM_WARM_S seconds takes no more memory from then on, give
// or take so many bytes: nobody allocates for a tick. A server that has run as long takes
// so many for each client of the most there ever were at once and as many for each room, beside the
// rooms' pasts, which are kept while somebody may have to be healed and have a bound of their own.
#define CAIRN_STORM_WARM_S 5
#define CAIRN_STORM_CLIENT_GROWTH_BYTES (64 * 1024)
#define CAIRN_STORM_SERVER_GROWTH_BYTES (1536 * 1024)

// What a storm may find. The first finding ends the storm. Each names the client (by its place),
// the tick where there is one, and the virtual time; play the seed again with on_event to see what
// led to it.
typedef enum cairn_storm_finding {
    CAIRN_STORM_FOUND_NOTHING = 0,
    // The full root of a tick that a client holds for confirmed is not the root of the server's
    // world at that tick. The rules are no pure function of world, state and commands: look for
    // statics, pointers, padding, uninitialised memory and the C library's mathematics in them.
    CAIRN_STORM_FOUND_WORLD,
    // The bodies of a snapshot that an interpolating client holds are not, bit for bit, the
    // server's at that tick, or a delta did not fit its baseline. Not to be caused by rules: report
    // it as a bug of cairn with the seed.
    CAIRN_STORM_FOUND_SNAPSHOT,
    // A client or the server told of a difference, or mended one, although nothing was damaged. As
    // for WORLD; when WORLD is not found before it, it is a bug of cairn.
    CAIRN_STORM_FOUND_ALARM,
    // The world of a client that mends itself (modes heal and predict) was damaged on purpose and
    // is, CAIRN_STORM_JOIN_S later over a path left alone, still not the server's: time enough for
    // the whole state. A bug of cairn, or rules as for WORLD.
    CAIRN_STORM_FOUND_UNHEALED,
    // A client is not in the mode it asked for although nothing was done that explains it; the text
    // has the client's words.
    CAIRN_STORM_FOUND_MODE,
    // A datagram was handed over and neither taken nor counted as dropped for a reason. A bug of
    // cairn.
    CAIRN_STORM_FOUND_COUNT,
    // A connection broke that nothing was done to; the text has the client's own reason. When it
    // says that a state is too large or rules are unknown, the config is at fault.
    CAIRN_STORM_FOUND_BROKEN,
    // Nothing was done to a client's path for CAIRN_STORM_JOIN_S and it does not play.
    CAIRN_STORM_FOUND_JOIN,
    // Nothing was done to a client's path for CAIRN_STORM_RECOVERY_S and its newest world or
    // snapshot is too old; or, in the calm, has not reached a tick of the calm.
    CAIRN_STORM_FOUND_LAG,
    // A client that predicts went back for a reason that the server's history of that tick does not
    // bear out, or for none. A bug of cairn.
    CAIRN_STORM_FOUND_ROLLBACK,
    // A client stepped more ticks than CAIRN_STORM_WORK_PREDICT (or _LOCKSTEP) allows. Players who
    // press something else many times a second make predictions fail: see predict_ticks_max.
    CAIRN_STORM_FOUND_WORK,
    // An endpoint took more memory after it was warm than is stated above (only with
    // memory_bytes). Rules and hooks that allocate, or a leak of cairn's.
    CAIRN_STORM_FOUND_MEMORY,
    // An endpoint asked to be woken at once with nothing to do: its host would burn a core. A bug
    // of cairn.
    CAIRN_STORM_FOUND_SPIN,
    // The virtual network lost count of its datagrams or was full. A bug of cairn, or hooks that
    // send.
    CAIRN_STORM_FOUND_NETWORK,
    // What a hook of yours said by cairn_storm_fail.
    CAIRN_STORM_FOUND_OWN,
    CAIRN_STORM_FINDING_COUNT
} cairn_storm_finding;
const char *cairn_storm_finding_name(cairn_storm_finding finding); // "world", "snapshot", ...

// Faults planted on purpose: a storm that cannot fail proves nothing.
typedef enum cairn_storm_break {
    CAIRN_STORM_BREAK_NOTHING = 0,
    CAIRN_STORM_BREAK_HASH,       // a lockstep client's world is nudged: WORLD
    CAIRN_STORM_BREAK_SNAPSHOT,   // a bit of a held snapshot is flipped: SNAPSHOT
    CAIRN_STORM_BREAK_DROP_COUNT, // a datagram vanishes without being counted: COUNT
    CAIRN_STORM_BREAK_ROLLBACK,   // the causes of rollbacks are exchanged: ROLLBACK
    CAIRN_STORM_BREAK_WORK,       // steps are counted that were never done: WORK
    CAIRN_STORM_BREAK_ALARM,      // worlds are damaged without a word to the checks: ALARM
    CAIRN_STORM_BREAK_HEAL,       // that worlds were mended goes unseen: UNHEALED
    CAIRN_STORM_BREAK_MODE,       // a client asks to be moved down: MODE
    CAIRN_STORM_BREAK_MEMORY,     // a client leaks a kilobyte in each step: MEMORY
    CAIRN_STORM_BREAK_CALM,       // paths stay cut in the calm: LAG
    CAIRN_STORM_BREAK_COUNT
} cairn_storm_break;
const char *cairn_storm_break_name(cairn_storm_break broken); // "nothing", "hash", ...

#define CAIRN_STORM_ALL_MODES 0xffffffffu

typedef struct cairn_storm_config {
    uint64_t seed;
    uint64_t seconds; // of virtual time, 1 .. CAIRN_STORM_SECONDS_MAX; default 20

    // What is played. The storm keeps none of these after the run.
    const struct cairn_rules *rules; // of server and clients; NULL: the sandbox
    const struct cairn_scene *scene; // NULL: a floor and some stones are drawn, 64 bodies at most
    uint32_t tick_rate_hz;           // 0: the scene's, or drawn with the scene

    uint32_t modes;             // bit set of 1 << cairn_client_mode; default CAIRN_STORM_ALL_MODES
    uint32_t places;            // 1 .. CAIRN_STORM_PLACES_MAX; 0, the default: drawn
    uint32_t loss_permille_max; // of a bad path; default and at most
                                // CAIRN_STORM_LOSS_PERMILLE_MAX
    bool quiet;                 // no troubles and no stranger: joins, paths and clocks alone
    cairn_storm_break broken;

    // What the player at `place` holds from now on, when it presses anew (about twice a second).
    // *input is what the storm drew: four buttons, all directions. NULL: that is pressed.
    // Randomness is cairn_storm_below's, so that the storm stays that of its seed.
    void (*on_input)(void *user, cairn_storm *storm, uint32_t place, cairn_client_input *input);
    // After each turn in which the server's world advanced, with that world; it may have stepped
    // several ticks. Read only.
    void (*on_server)(void *user, cairn_storm *storm, const struct cairn_world *world);
    // After each turn of a client that is there: read it by cairn_storm_client.
    void (*on_client)(void *user, cairn_storm *storm, uint32_t place);
    // Bytes of memory that the process holds now, by the word of its allocator (glibc: mallinfo2).
    // NULL: memory is not checked. It changes nothing else.
    uint64_t (*memory_bytes)(void *user);
    // What happens to whom, as a phrase: "is cut", "server restarts". Static text.
    void (*on_event)(void *user, uint64_t at_ns, uint32_t place, const char *what);
    void *user; // yours, handed to every hook
} cairn_storm_config;

cairn_storm_config cairn_storm_config_default(void);

typedef struct cairn_storm_report {
    cairn_storm_finding finding;
    char words[512];      // the finding in a sentence; "" when everything held
    uint64_t found_ns;    // virtual time of the finding
    cairn_hash128 digest; // of the whole run: the same seed gives the same
    uint64_t virtual_ns;
    uint64_t playing_ns[CAIRN_STORM_MODES]; // virtual time that clients played, by mode
    uint64_t ticks;                         // of the server
    uint64_t datagrams;
    uint64_t hostile;
    uint64_t joins;
    uint64_t cuts;
    uint64_t stalls;
    uint64_t restarts;
    uint64_t operator_acts;      // asked for
    uint64_t edits;              // ticks with what came of them
    uint64_t roots_compared;     // of confirmed ticks, each with the server's
    uint64_t snapshots_compared; // bit for bit
    uint64_t rollbacks;
    uint64_t rollbacks_checked;                   // against the server's history
    uint64_t work_percent_max[CAIRN_STORM_MODES]; // ticks stepped for each of the server's, worst
    uint64_t damages;                             // planted
    uint64_t damages_mended;                      // others went with their connection
    uint64_t mend_ms_max;                     // from a damage to equal roots, over paths left alone
    uint64_t heals[CAIRN_RESYNC_CAUSE_COUNT]; // as clients tell
    uint64_t client_bytes_max;                // of memory, at most for one of them
    uint64_t client_growth_max;               // of one that was warm
    uint64_t server_bytes_max;
    uint64_t server_growth_max;
    uint64_t equal_ticks_max; // from the calm to a world of the calm, worst of all clients
    uint64_t equal_ms_max;    // likewise
} cairn_storm_report;

// Plays one storm to its end or its first finding. False when the storm could not be made and
// nothing was played: a number of the config is out of range, the scene with these rules makes no
// world, or memory is short; report->words says which.
bool cairn_storm_run(const cairn_storm_config *config, cairn_storm_report *report);

// For hooks.

// Virtual time since the storm began.
uint64_t cairn_storm_now_ns(const cairn_storm *storm);
// The server's world; NULL before there is one.
const struct cairn_world *cairn_storm_world(const cairn_storm *storm);
uint32_t cairn_storm_places(const cairn_storm *storm);
// The client at `place`, below cairn_storm_places; NULL when nobody is there. Ask again each time.
cairn_client *cairn_storm_client(const cairn_storm *storm, uint32_t place);
// Uniform in [0, bound), bound > 0, from the storm's own sequence.
uint64_t cairn_storm_below(cairn_storm *storm, uint64_t bound);
// Ends the storm with CAIRN_STORM_FOUND_OWN and these words, copied.
void cairn_storm_fail(cairn_storm *storm, const char *words);

#ifdef __cplusplus
}
#endif
