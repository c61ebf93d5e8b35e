// SPDX-License-Identifier: MIT
#pragma once

// A batch of ticks as a piece of work: it only steps, hashes and saves required states. It may run
// on another thread; until it is back, nothing else uses the world and the state history.

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "server/room/event_log.h"
#include "server/room/game_log.h"
#include "server/room/inbox.h"
#include "server/room/state_history.h"
#include <cairn/sim.h>

typedef struct cairn_job_tick {
    uint32_t command_count;
    cairn_hash128 root; // full, after the tick
    uint64_t cost_ns;   // 0 without a clock
} cairn_job_tick;

// cairn_server_job of cairn/server.h.
struct cairn_server_job {
    struct cairn_room *room;
    cairn_world *world;
    cairn_state_history *state_history;
    uint64_t (*clock_ns)(void *user); // NULL: costs are not measured
    void *clock_user;
    uint32_t tick_capacity;
    uint32_t commands_per_tick_max;
    uint64_t from; // the first tick to step
    uint32_t tick_count;
    uint32_t command_count;
    cairn_job_tick *ticks;   // owned; [tick_capacity]
    cairn_command *commands; // owned; tick after tick
    cairn_world_hash hash;   // after the last tick
    cairn_world_population population;
    cairn_event_log events;
    cairn_game_log game_messages; // of the rules
    cairn_game_log game_events;
    uint64_t game_refused; // by the world, of what the rules sent
    uint64_t mean_cost_ns; // of recent batches; 0: none of this world was measured
    uint64_t last_cost_ns; // of the last batch
    bool running;          // handed to the driver and not yet back
    bool stuck;            // reported
    uint64_t begun_ns;     // when it was handed over
};

// `ticks` is the most in one batch, `commands_per_tick_max` what the room's inbox gathers.
// CAIRN_OUT_OF_MEMORY; destroying is allowed then.
cairn_status cairn_job_create(struct cairn_server_job *job, struct cairn_room *room,
    cairn_world *world, cairn_state_history *state_history, uint32_t ticks,
    uint32_t commands_per_tick_max);
void cairn_job_destroy(struct cairn_server_job *job);

// Whether the batch may take much longer than those before, whatever these took: the last one did;
// so many bodies that their step would be long if they woke; edits of an operator that act on many.
// At most one batch of a room then takes others by surprise.
#define CAIRN_JOB_BODIES_MAX 512
#define CAIRN_JOB_EDITS_MAX 16
bool cairn_job_may_be_dear(const struct cairn_server_job *job, uint32_t bodies);

// Takes the commands of the next `ticks` ticks out of the inbox.
void cairn_job_begin(struct cairn_server_job *job, cairn_inbox *inbox, uint32_t ticks);
