// SPDX-License-Identifier: MIT
#pragma once

// Shares the work of a step among threads. The thread that called cairn_world_step is the main
// thread, worker 0: it runs the step, and where a stage has many independent items, each worker
// gets a share of them. Helper threads, if the host has provided any, are the other workers. The
// main thread works on a share itself if its helper has not begun with it, so a stage does not wait
// for a helper that the system does not run. Which thread works on a share cannot change the
// result: shares of a stage write no memory that another one reads.

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include <cairn/sim.h>

#define CAIRN_WORKERS_MAX 64

// Works on the items begin .. end - 1 of a stage.
typedef void cairn_task(const void *context, uint32_t begin, uint32_t end);

typedef struct cairn_task_scheduler cairn_task_scheduler;

// A worker that runs a task together with others, all of them at the same time. They agree on how
// far each has come by phases, which all members go through in the same order: one cache line that
// passes from each to the others, where a stage takes four.
typedef struct cairn_team_member {
    cairn_task_scheduler *scheduler;
    uint32_t rank;  // 0: the main thread
    uint32_t size;  // members
    uint32_t phase; // the last one that this member has begun
    bool begun;     // it is not published yet; always false in a team of one
} cairn_team_member;
typedef void cairn_team_task(void *context, cairn_team_member *member);

// A phase has a part that other members wait for, and a rest. Begin waits until all members have
// published the phase before, so what this member does next may read and write what their parts
// did. The rest, after publishing, must not touch what other members touch in their next part.
void cairn_team_begin_phase(cairn_team_member *member);
// Begins a phase without waiting: this member has nothing to do in the part that others wait for.
void cairn_team_skip_to_phase(cairn_team_member *member);
void cairn_team_publish_phase(cairn_team_member *member);
// Whether the next phase would begin without waiting.
bool cairn_team_phase_is_ready(const cairn_team_member *member);
// Waits until all members have come here: a phase of its own.
void cairn_team_meet(cairn_team_member *member);

// What helpers and the main thread tell each other about a worker's share. Alone in its cache line:
// a line that two processors write takes them as long as the work of a small stage.
typedef struct cairn_task_share {
    atomic_uint progress; // 2 s - 1: a thread has begun the share of stage s; 2 s: it is done
    atomic_uint present;  // 0 or 1: a helper waits for stages
    uint32_t late;        // 0 or 1, of the main thread: it has last had to take this share over
    unsigned char apart[CAIRN_CACHE_LINE - 3 * sizeof(uint32_t)];
} cairn_task_share;

// How far a member of a team has come, alone in its cache line for the same reason.
typedef struct cairn_team_progress {
    atomic_uint published; // the last phase
    unsigned char apart[CAIRN_CACHE_LINE - sizeof(atomic_uint)];
} cairn_team_progress;

struct cairn_task_scheduler {
    const cairn_parallel *parallel; // NULL: the main thread alone
    void (*main)(void *argument);   // of the session
    void *argument;
    bool in_session;
    uint32_t stage_count;                  // of the session
    unsigned char apart[CAIRN_CACHE_LINE]; // from what only the main thread uses
    // The stage on offer: its number, from 1, and in the low bits how many shares it has.
    atomic_uint stage;
    // The stage itself. Only a thread that has begun a share of it reads these, and they are not
    // written again until every share is done.
    uint32_t begin;
    uint32_t end;
    uint32_t block; // items, of a stage that is handed out in blocks; otherwise 0
    cairn_task *task;
    const void *context;
    unsigned char apart_from_stage[CAIRN_CACHE_LINE];
    // The blocks that nobody has claimed: see task_scheduler.c.
    atomic_uint offer;
    unsigned char apart_from_offer[CAIRN_CACHE_LINE];
    cairn_task_share shares[CAIRN_WORKERS_MAX]; // element 0 is unused
    // The team of a stage: written by the main thread before it stores the number of the stage.
    atomic_uint team_stage;
    uint32_t team_size;
    unsigned char team_ranks[CAIRN_WORKERS_MAX]; // of the workers that are members
    unsigned char apart_from_team[CAIRN_CACHE_LINE];
    cairn_team_progress team[CAIRN_WORKERS_MAX]; // by rank
};

// How many workers there are, with the main thread.
uint32_t cairn_task_scheduler_workers(const cairn_task_scheduler *scheduler);
// Calls main(argument) on this thread in a session: helpers wait for the next stage without
// leaving, for some milliseconds. For stages that follow each other quickly. Must not be
// called in a session.
void cairn_task_scheduler_run_session(
    cairn_task_scheduler *scheduler, void (*main)(void *argument), void *argument);
// Runs the task on the items begin .. end - 1 and returns when all are done. The items are handed
// out in blocks of at least `block_min`: for items of unequal cost. `block_min` items should take
// several microseconds: less, and handing them out costs as much as the work.
void cairn_task_scheduler_parallel_for(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t block_min);
// The same in one share for each worker, as equal as can be, in order: for items of equal cost. In
// a session each worker gets the same part of the same items in every stage, which is then in its
// cache. A stage of `shared_min` items or fewer is run by the main thread; it should take two
// microseconds.
void cairn_task_scheduler_split(cairn_task_scheduler *scheduler, cairn_task *task,
    const void *context, uint32_t begin, uint32_t end, uint32_t shared_min);
// Runs the task on the main thread and on each helper that answers within two microseconds, at most
// `size_max` members in all, and returns when all have ended. Outside a session the main thread is
// the only member.
void cairn_task_scheduler_run_team(
    cairn_task_scheduler *scheduler, cairn_team_task *task, void *context, uint32_t size_max);
