// SPDX-License-Identifier: MIT
#pragma once

// The hands of a step. The caller's thread leads: it goes through the step, and where a stage has
// many independent parts it lays them out in blocks; whoever else has come takes blocks, too. The
// leader waits for nobody who has not taken a block, so a step ends even if no helper ever comes.
// Who does what cannot matter: blocks of a stage touch nothing in common.

#include <stdatomic.h>
#include <stdint.h>

#include <cairn/sim.h>

// Works on the parts begin .. end - 1 of a stage.
typedef void cairn_crew_work(const void *context, uint32_t begin, uint32_t end);

typedef struct cairn_crew cairn_crew;
struct cairn_crew {
    const cairn_parallel *parallel; // NULL: the leader alone
    void (*lead)(void *argument);
    void *argument;
    // The stage on offer: its number in the high half, blocks not yet taken in the low half.
    atomic_uint offer;
    atomic_uint finished; // blocks of it that are done
    // What the stage is. Read by those alone who hold a block of it; until that is done nobody
    // writes here.
    cairn_crew_work *work;
    const void *context;
    uint32_t begin;
    uint32_t end;
    uint32_t block;
};

// Calls lead(argument) on this thread, with helpers at hand if the crew has a parallel-for.
void cairn_crew_run(cairn_crew *crew, void (*lead)(void *argument), void *argument);
// From within lead: work on begin .. end - 1, cut into blocks of at least `block` parts; returns
// when all is done.
void cairn_crew_share(cairn_crew *crew, cairn_crew_work *work, const void *context, uint32_t begin,
    uint32_t end, uint32_t block);
