// SPDX-License-Identifier: MIT
#pragma once

// What a failure is, and whether a run has it.

#include <stdbool.h>
#include <stdint.h>

#include "recording/chunk_reader.h"
#include "tools/replay/shrink/children.h"
#include "tools/replay/shrink/repro.h"
#include "tools/replay/trial.h"
#include "workers/pool.h"
#include <cairn/sim.h>

typedef enum cairn_oracle_kind {
    CAIRN_ORACLE_PREDICATE = 0, // it holds after a step, and not before
    CAIRN_ORACLE_RECORDED,      // the recorded state hash is another one: only of a whole recording
    // From here on a run has another state hash when it is computed another way.
    CAIRN_ORACLE_RESTORE, // each step in a world that was loaded before
    CAIRN_ORACLE_FILL,    // memory that is not state is filled with 0xff before each step
    CAIRN_ORACLE_LANES,   // constraints one at a time
    CAIRN_ORACLE_WORKERS, // two threads
    CAIRN_ORACLE_TRIAL,   // a hazard (tools/replay/trial.h)
    CAIRN_ORACLE_RULES,   // a function of the rules does not return: an assertion, a crash
    CAIRN_ORACLE_COMMAND, // a command says so by its exit code
} cairn_oracle_kind;

typedef struct cairn_oracle {
    cairn_oracle_kind kind;
    const cairn_trial *trial;
    uint32_t part;       // of the rules; 0: any
    const char *command; // it gets a recording's path as its last argument
    int code;            // the exit code that says that it fails; -1: not known yet
    uint64_t ticks_min;  // a run that fails in fewer ticks is another failure
} cairn_oracle;

// Lower case, static: "each step in a restored world".
const char *cairn_oracle_text(const cairn_oracle *oracle);

// A world that is stepped and watched. In a child process, since rules may crash.
typedef struct cairn_shrink_watch {
    const cairn_oracle *oracle;
    const cairn_predicate *predicate;
    cairn_world *world; // the caller's
    cairn_world *other; // owned; NULL: none is needed
    cairn_pool *pool;   // owned
    cairn_answer *answer;
    void *save; // owned
    size_t save_size;
} cairn_shrink_watch;

// False: out of memory. Pair with end in any case.
bool cairn_shrink_watch_begin(cairn_shrink_watch *watch, const cairn_oracle *oracle,
    const cairn_predicate *predicate, cairn_world *world, cairn_answer *answer);
// Steps and says whether this step failed; the answer has the tick and perhaps a body. `recorded`
// may be NULL.
bool cairn_shrink_watch_step(cairn_shrink_watch *watch, const cairn_command *commands,
    uint32_t count, const cairn_hash128 *recorded);
void cairn_shrink_watch_end(cairn_shrink_watch *watch);

// Runs a reproduction and answers. In a child process.
void cairn_oracle_ask(const cairn_oracle *oracle, const cairn_repro *repro, cairn_answer *answer);
// After the child has ended: what a crash means.
void cairn_oracle_judge(const cairn_oracle *oracle, cairn_answer *answer);
// "start", "step", ...; static.
const char *cairn_oracle_part_text(uint32_t part);

// Writes the reproduction as a recording, with the state hashes of this program. False: errno, or
// out of memory.
bool cairn_repro_record(const cairn_repro *repro, const char *path);
