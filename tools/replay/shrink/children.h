// SPDX-License-Identifier: MIT
#pragma once

// Questions that are answered in child processes, some at a time: rules may crash or hang there,
// and what they keep outside their state is as it was for each question.

#include <stdbool.h>
#include <stdint.h>

#define CAIRN_CHILDREN_MAX 64

typedef enum cairn_outcome {
    CAIRN_OUTCOME_UNKNOWN = 0, // it could not be tried, or not in time
    CAIRN_OUTCOME_PASSES,
    CAIRN_OUTCOME_FAILS,
} cairn_outcome;

// In memory that both processes see, so that it says where a child ended.
typedef struct cairn_answer {
    uint32_t outcome; // cairn_outcome
    uint32_t body;    // a body that has to do with the failure; 0: none
    uint32_t part;    // of the rules that runs, 0: none; what is left after a crash
    uint32_t code;    // exit code of a command, or how many ticks a run had
    bool crashed;     // it did not end by itself
    uint64_t tick;    // of the world, after the step that failed
    uint64_t start;   // the last tick at which a start is allowed, CAIRN_TICK_NONE: no such tick
    char text[160];   // one sentence; "": nothing to say
} cairn_answer;

// Runs in a child with standard output and error closed; fills the answer, which begins as zeros.
typedef void cairn_children_task(void *context, uint32_t index, cairn_answer *answer);

// Runs the task for each index below `count` (at most CAIRN_CHILDREN_MAX), `workers` at a time, and
// kills what still runs at the deadline. False: the system gave no process or memory.
bool cairn_children_run(cairn_children_task *task, void *context, uint32_t count, uint32_t workers,
    uint64_t deadline_ns, cairn_answer *answers);
